"""Tables whose rows, or columns, are models that no preset is: sizes beside the head width and the counts that follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.own_readings import OwnSizes, between, readings, whole_counts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.own_sizes import SIZES
from weighbridge.auditing.text.paper_sizes import symbol_of
from weighbridge.auditing.text.rounding import likeliest_value, scales, significant_digits, whole, whole_bounds
from weighbridge.auditing.text.settings import kind_of_label
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_LAYERS_ALONE = pattern(r"非嵌入|不含(?:词)?嵌入|non[- ]?emb|w/o emb|without emb", re.IGNORECASE)
_ODD = any_word(r"\b(?:experts?|moe|mamba|conv\w*|adapters?|lora|albert|patch|vit|image)\b|专家|卷积|适配器|视觉|图像")
_DIGITS, _FAIR = 3, 2


class _OwnColumn(NamedTuple):
    """A model of a table: its sizes, and the cells that say how wide a head is, how many parameters it has, and how many of them its layers."""

    sizes: OwnSizes
    head: Cell | None
    total: Cell | None
    layers: Cell | None


def check(scene: Scene) -> Iterator[Claim]:
    """Check such tables: the head width where the others are quotients, the counts where two others are readings of their models' sizes."""
    if scene.given or (scene.main is not None and scene.main.named):
        return
    odd = any(map(_ODD.search, scene.texts))
    vocab = {value for word, value in scene.stated_index.values if word == "vocab"}
    for table in scene.tables:
        if not any(scene.mentions.get(line) for line in table.lines):
            models = [model for cells in (*_by_columns(table), *_by_rows(table)) if (model := _model(cells, vocab)) is not None]
            if len(models) > 1:
                yield from _heads(scene, models)
                yield from () if odd else _counts(scene, models)


def _word(label: str) -> str:
    plain = label.strip("*`$ ")
    return symbol_of(plain) or kind_of_label(plain) or ""


def _by_columns(table: Table) -> Iterator[Mapping[str, Cell]]:
    """Yield the cells of each column by what the first cells of their rows name."""
    words = [(row, _word(row.cells[0].text)) for row in table.rows]
    width = max((len(row.cells) for row in table.rows), default=0)
    for place in range(1, width) if sum(word in SIZES for _, word in words) >= _LEAST else ():
        yield {_full(word, row.cells[0].text): row.cells[place] for row, word in words if word and place < len(row.cells)}


def _by_rows(table: Table) -> Iterator[Mapping[str, Cell]]:
    """Yield the cells of each row by what the heads of their columns name."""
    heads = column_heads(table)
    words = [_word(head) for head in heads]
    for row in table.rows if sum(word in SIZES for word in words) >= _LEAST else ():
        yield {_full(words[place], heads[place]): cell for place, cell in enumerate(row.cells) if place < len(words) and words[place]}


_LEAST = 2


def _full(word: str, label: str) -> str:
    return "non_embedding" if word == "total" and _LAYERS_ALONE.search(label) else word


def _model(cells: Mapping[str, Cell], vocab: set[int]) -> _OwnColumn | None:
    """Return the model of a column or row, if its width and its heads or layers are numbers."""
    said = {word: number for word in SIZES if word in cells and (number := whole_number(cells[word])) is not None}
    hidden = said.get("hidden", 0)
    if not hidden or len(said) < _LEAST:
        return None
    words = said.get("vocab") or (next(iter(vocab)) if len(vocab) == 1 else 0)
    sizes = OwnSizes(
        hidden, said.get("layers", 0), said.get("heads", 0), said.get("kv_heads", 0), 0, said.get("mlp", 0), words, said.get("positions", 0)
    )
    return _OwnColumn(sizes, cells.get("head_dim"), cells.get("total"), cells.get("non_embedding"))


def _heads(scene: Scene, models: Sequence[_OwnColumn]) -> Iterator[Claim]:
    """Check the widths of heads: one that is no quotient is wrong where all others are, and it is one digit from its own."""
    said = [
        (one.head, whole_number(one.head), one.sizes.hidden // one.sizes.heads)
        for one in models
        if one.head is not None and one.sizes.heads and one.sizes.hidden % one.sizes.heads == 0
    ]
    agreed = sum(value == right for _, value, right in said)
    for cell, value, right in said:
        if value is None:
            continue
        token = _token(cell, str(value))
        if value == right:
            yield field_claim(scene, token, "head_dim", value, right, "exact")
        elif agreed == len(said) - 1 and agreed and value % _SET and is_slip(str(value), str(right)):
            yield field_claim(scene, token, "head_dim", value, right, "wrong")


_SET = 16
"""A model that sets the width of its heads apart from its own takes a multiple of this."""


def _token(cell: Cell, text: str) -> Token:
    start = cell.start + max(cell.text.find(text), 0)
    return Token("num", text, cell.line, start, min(start + len(text), cell.end), Fraction(text) if text.isdigit() else None)


def _counts(scene: Scene, models: Sequence[_OwnColumn]) -> Iterator[Claim]:
    """Check the counts of models whose sizes give them: one that no reading gives is wrong where two others are readings."""
    said = [
        (figure, one.sizes, name)
        for one in models
        for cell, name in ((one.total, "total"), (one.layers, "stack"))
        if cell is not None and (figure := _figure(cell)) is not None
    ]
    fair = [_reading(figure, sizes, name) for figure, sizes, name in said]
    agreed = sum(found is not None for found in fair)
    for (figure, sizes, name), found in zip(said, fair, strict=True):
        number = likeliest_value(figure) or Fraction(0)
        if found is not None:
            yield _claim(scene, figure, found, right=True)
        elif agreed >= min(_FAIR, len(said) - 1) and agreed and significant_digits(figure) >= _DIGITS:
            slips = [count for count in _nominal(sizes, name) if is_slip(_digits(figure, number), _digits(figure, Fraction(count)))]
            if slips and agreed == len(said) - 1:
                yield _claim(scene, figure, min(slips), right=False)


def _figure(cell: Cell) -> Token | None:
    """Return the one count that a cell holds, with its place in the line."""
    found = [token for token in tokens(cell.text, cell.line) if token.kind == "num"]
    if len(found) != 1 or found[0].value is None or not (found[0].unit or found[0].value >= _SMALLEST):
        return None
    return found[0]._replace(start=cell.start + found[0].start, end=cell.start + found[0].end)


_SMALLEST = 10_000


def _reading(figure: Token, sizes: OwnSizes, name: str) -> int | None:
    low, high = whole_bounds(figure, scales(figure)[0])
    return whole_counts(sizes, low, high) if name == "total" else between(readings(sizes).get("stack", ()), low, high)


def _nominal(sizes: OwnSizes, name: str) -> Iterator[int]:
    words = sizes.vocab * sizes.hidden
    for stack in readings(sizes).get("stack", ()):
        yield from (stack,) if name == "stack" else (stack + words, stack + 2 * words) if words else ()


def _digits(figure: Token, number: Fraction) -> str:
    return str(round(number / scales(figure)[0] * 10**figure.places))


def _claim(scene: Scene, figure: Token, count: int, *, right: bool) -> Claim:
    number = likeliest_value(figure) or Fraction(0)
    reason = (
        because(mark("the sizes that the text states give it")) if right else because(mark("the sizes beside it give {right}"), right=count)
    )
    verdict = "wrong" if not right else "exact" if number == count else "rounded"
    return claim(
        scene.lines, figure, figure, "total", verdict, value=whole(number), expected=count, difference=whole(number - count), reason=reason
    )
