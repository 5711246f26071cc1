"""Everything about one model in one document: counts, tree, pictures, derivation, conventions, arithmetic, tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.accounts.accepted_inputs import usual_inputs
from weighbridge.accounts.compare import compare
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import ledger
from weighbridge.accounts.parameters import PARAMETERS, unique_of
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import flatten
from weighbridge.documents import counts, explain
from weighbridge.documents.document import Block, Column, Document, Heading, Paragraph, Picture, Row, Table
from weighbridge.documents.headline import headline
from weighbridge.documents.tree_rows import all_tensors, all_that_costs, tree_table
from weighbridge.explain.derive import derive

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

TREE = (mark("module"), mark("shape"), mark("elements"), mark("share"))
LISTING = (
    (mark("name"), "text"),
    (mark("shape"), "text"),
    (mark("elements"), "integer"),
    (mark("role"), "text"),
    (mark("tied to"), "text"),
)


def document(model: ModelValue, lang: str = "en", given: Inputs | None = None, *, tensors: bool = False) -> Document:
    """Lay everything about *model* out.

    Args:
        given: What is put in, for the arithmetic.
        tensors: Add the list of all tensors.

    >>> from weighbridge import model
    >>> document(model("bert-base-chinese"), "zh").figure
    '102,267,648 个参数'
    """
    say = translator(lang)
    blocks = (
        *_counts(model, say),
        *_parameters_section(model, say),
        *_derivation_section(model, lang, say),
        *_conventions(model, lang, say),
        *_arithmetic(model, given or usual_inputs(model), say),
        *(_tensor_table(model, say) if tensors else ()),
    )
    figure = say("{total} parameters").format(total=f"{unique_of(model):,}")
    return Document(headline(model, say), figure, blocks, lang)


def _counts(model: ModelValue, say: Say) -> Iterator[Block]:
    rows = tuple(Row((say(m.title), m.values[0])) for m in compare([model]).measures if m.group == "parameters")
    yield Table((Column(say("count")), Column(say("elements"), "integer")), rows)
    for note in model.notes:
        yield Paragraph(1, note)
    defaulted = model.defaulted
    if defaulted:
        yield Paragraph(1, say("Taken from the class defaults: {keys}.").format(keys=", ".join(defaulted)))
    if model.unknown:
        yield Paragraph(1, f"{say('Unknown fields, not taken into account')}: {', '.join(model.unknown)}")


def _parameters_section(model: ModelValue, say: Say) -> Iterator[Block]:
    book = ledger(model.tree, PARAMETERS)
    yield Heading(1, "", say("Where they are"))
    yield Picture(book)
    yield from _first_rows(_with_title(tree_table(book, all_tensors, most=MOST_ROWS + 1), TREE, say), say)
    yield Paragraph(1, say("Inside a repeated part counts are of one copy."))


def _with_title(table: Table, titles: tuple[str, ...], say: Say) -> Table:
    named = tuple(column._replace(title=say(title)) for column, title in zip(table.columns, titles, strict=False))
    return table._replace(columns=(*named, *table.columns[len(named) :]), headed=True)


MOST_ROWS = 10_000
"""Rows of one table of a report: a page beyond them is more than a browser draws."""


def _derivation_section(model: ModelValue, lang: str, say: Say) -> Iterator[Block]:
    if model.description is None:
        return
    yield Heading(1, "", say("Why"))
    for block in explain.document(derive(model, lang)).blocks:
        yield block._replace(level=block.level + 1) if isinstance(block, Heading) else block


def _conventions(model: ModelValue, lang: str, say: Say) -> Iterator[Block]:
    if model.description is None:
        return
    yield Heading(1, "", say("All legitimate counts"))
    yield from counts.document(model, lang).tables


def _arithmetic(model: ModelValue, given: Inputs, say: Say) -> Iterator[Block]:
    yield Heading(1, "", say("Arithmetic of one pass"))
    try:
        flops = flops_of(model, given)
    except UsageError as error:  # a few architectures do not tell their arithmetic, and no file's header does
        yield Paragraph(1, str(error))
        return
    numbers = (
        (say("examples"), given.batch),
        (say("tokens per example"), given.seq),
        (say("forward, products of matrices"), flops.forward_matmul),
        (say("backward, products of matrices"), flops.backward),
    )
    rows = tuple(Row((name, as_int(number))) for name, number in numbers)
    yield Table((Column(say("measure")), Column(say("value"), "integer")), rows)
    yield Paragraph(1, say("FLOPs; a multiply-add is two"))
    yield from _first_rows(
        _with_title(tree_table(flops.ledger, all_that_costs, most=MOST_ROWS + 1), (TREE[0], TREE[1], mark("FLOPs"), TREE[3]), say), say
    )


def _tensor_table(model: ModelValue, say: Say) -> Iterator[Block]:
    yield Heading(1, "", say("Every tensor"))
    rows = tuple(
        Row((row.name, " × ".join(map(str, row.shape)), as_int(row.count), row.role, row.tied_to or ""))
        for row in islice(flatten(model.tree), MOST_ROWS + 1)
    )
    more = say("Only the first {most} tensors are listed; weigh tensors lists all.").format(most=f"{MOST_ROWS:,}")
    yield Table(tuple(Column(say(title), kind) for title, kind in LISTING), rows[:MOST_ROWS])
    yield from (Paragraph(1, text) for text in (more,) * (len(rows) > MOST_ROWS))


def _first_rows(table: Table, say: Say) -> Iterator[Block]:
    """Yield a table's first rows, and say how many more there are."""
    yield table._replace(rows=table.rows[:MOST_ROWS])
    if len(table.rows) > MOST_ROWS:
        yield Paragraph(1, say("Only the first {most} rows are shown; weigh count shows all.").format(most=f"{MOST_ROWS:,}"))
