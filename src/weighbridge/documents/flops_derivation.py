"""The derivation of the arithmetic: each product of matrices as formula, substitution and number, by module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weighbridge.accounts.flops import flops, flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry, Line
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Number, Product, Sum, Symbol, as_expression
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.sizes import Size, as_int
from weighbridge.core.tree import Tensor
from weighbridge.documents.document import Block, Document, Equation, Heading, Item, Paragraph
from weighbridge.documents.headline import headline
from weighbridge.explain.symbolic import symbolic

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

LENGTHS = {"seq": "n", "decoder": "m", "encoder": "e", "images": "i", "rows": "r", "columns": "c", "audios": "a", "question": "q"}
"""From a stream to the letter of its length."""

PRODUCT = mark(
    "Multiplying by a weight of outputs × inputs takes two operations for each element and token: a multiplication and an addition."
)
ATTENTION = mark("Attention multiplies queries by keys, and the scores by values: every token with every token, in every head.")


def document(model: ModelValue, given: Inputs, lang: str = "en") -> Document:
    """Lay out the derivation of the matrix arithmetic of one forward pass.

    >>> from weighbridge import model
    >>> document(model("bert-base-uncased"), Inputs()).figure
    '22,348,431,360 FLOPs'
    """
    say = translator(lang)
    book = flops_of(model, given).ledger
    tree, table, values = symbolic(model)
    batch = "b" if "B" in table else "B"
    lengths = given.lengths()
    known: dict[str, Size] = {name: Symbol(LENGTHS[name]) for name in lengths}
    values = {**values, batch: given.batch, **{LENGTHS[name]: tokens for name, tokens in lengths.items()}}
    lettered = flops(tree, known, Symbol(batch)).ledger
    blocks = (
        Paragraph(1, ", ".join(f"{letter} = {values[letter]:,}" for letter in (batch, *_letters(lengths)))),
        *_Author(say, values).inside(lettered, book, "", "", 1),
    )
    return Document(headline(model, say), f"{book.amount:,} FLOPs", blocks, lang)


def _letters(lengths: dict[str, int]) -> list[str]:
    """Return the letters of the lengths that were given, without a decoder's that is only the default."""
    return [LENGTHS[name] for name, tokens in lengths.items() if name != "decoder" or tokens != lengths["seq"]]


class _Author:
    """Writes the modules; says once what a kind of product is."""

    def __init__(self, say: Say, values: dict[str, int]) -> None:
        self.say = say
        self.values = values
        self.written: set[str] = set()

    def inside(self, lettered: Entry, counted: Entry, path: str, number: str, level: int) -> Iterator[Block]:
        """Write what a part holds, each line and module in turn, and their sum."""
        amounts: list[Size] = []
        for line, value in zip(lettered.lines, counted.lines, strict=True):
            if value.amount:
                amounts.append(value.amount)
                yield from self.line(line, path, level)
        for letters, numbers in zip(lettered.children, counted.children, strict=True):
            if numbers.amount:
                amounts.append(numbers.amount)
                yield from self.part(letters, numbers, _child_path(path, letters), f"{number}.{len(amounts)}".lstrip("."), level)
        if len(amounts) > 1:
            addends = Sum(tuple(Number(as_int(amount)) for amount in amounts))
            yield Equation(level, (addends, Number(as_int(counted.each))), self.say("{label}: ").format(label=self.say("sum")))

    def line(self, line: Line, path: str, level: int) -> Iterator[Block]:
        """Write one product."""
        sentence = PRODUCT if isinstance(line.node, Tensor) else ATTENTION
        yield Item(level, "", "", (f"{path}.{line.node.name}".lstrip("."),))
        if sentence not in self.written:
            self.written.add(sentence)
            yield Paragraph(level + 1, self.say(sentence))
        yield Equation(level + 1, chain(as_expression(line.amount), self.values))

    def part(self, lettered: Entry, counted: Entry, path: str, number: str, level: int) -> Iterator[Block]:
        """Write one module; one that only holds another is written as that other."""
        while counted.times == 1 and not any(line.amount for line in counted.lines):
            kept = [pair for pair in zip(lettered.children, counted.children, strict=True) if pair[1].amount]
            if len(kept) != 1:
                break
            lettered, counted = kept[0]
            path = _child_path(path, lettered)
        if counted.times == 1 and not any(child.amount for child in counted.children):
            yield from self.inside(lettered, counted, path, number, level)
            return
        copies = f" × {counted.times:,}" if counted.times != 1 else ""
        yield Heading(level, number, path + copies, f"{counted.amount:,}")
        yield from self.inside(lettered, counted, path, number, level + 1)
        if counted.times != 1:
            steps = chain(Product((as_expression(lettered.times), Number(as_int(counted.each)))), self.values)
            if str(steps[-1]) == str(Number(as_int(counted.amount))):
                yield Equation(level, steps)


def _child_path(path: str, entry: Entry) -> str:
    return f"{path}.{entry.name}".strip(".")
