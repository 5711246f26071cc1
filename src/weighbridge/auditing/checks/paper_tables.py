"""Tables of the Transformer of 2017: a column, or a row, for ``base`` and one for ``big``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.paper_counts import is_computed
from weighbridge.auditing.checks.paper_lines import is_about_paper
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.paper_sizes import symbol_of
from weighbridge.auditing.text.rounding import fit, likeliest_value
from weighbridge.auditing.text.settings import kind_of_label
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.text.transformer_paper import BASE, BIG, PUBLISHED, speaks_otherwise
from weighbridge.auditing.thresholds import PAPER_SIZES_OF_BLOCK
from weighbridge.core.messages import mark

_BASE = pattern(
    r"(?:(?:the )?(?:original |vanilla )?transformer\s?)?[\s(（:_-]*(?:base|基础)(?:\s?(?:模型|版本?|model))?[)）]?(?:\s?[(（][^()（）\d]*[)）])?",
    re.IGNORECASE,
)
_BIG = pattern(
    r"(?:(?:the )?(?:original |vanilla )?transformer\s?)?[\s(（:_-]*(?:big|大)(?:\s?(?:模型|版本?|model))?[)）]?(?:\s?[(（][^()（）\d]*[)）])?",
    re.IGNORECASE,
)
_NAME = pattern(r"transformer", re.IGNORECASE)
_ROWS = {"base": BASE, "big": BIG}


def check(scene: Scene) -> Iterator[Claim]:
    """Check the tables of a text about the paper whose other cells agree with its Table 3."""
    if scene.given or not scene.tables or not any(_NAME.search(text) for text in scene.texts):
        return
    named = is_about_paper(scene)
    for table in scene.tables:
        cells = [*_by_columns(table), *_by_rows(table)]
        agreed = [size for cell, size, word in cells if _agrees(cell, size, word)]
        both = min(map(agreed.count, _ROWS)) >= PAPER_SIZES_OF_BLOCK  # no other two models have them
        if (both or (named and len(agreed) >= PAPER_SIZES_OF_BLOCK)) and len(agreed) * 2 > len(cells):
            claims = [claim for cell, size, word in cells for claim in _cell(scene, cell, size, word)]
            beside = scene.texts[max(0, table.first - _BESIDE) : max(table.lines) + 1 + _BESIDE]
            alone = sum(one.verdict == "wrong" for one in claims) <= 1 and not any(map(speaks_otherwise, beside))
            yield from (one for one in claims if alone or one.verdict != "wrong")


_BESIDE = 3
"""Lines around a table that may say whose models these are."""


def _size_named(text: str) -> str:
    plain = text.strip("*`$ ")
    return "base" if _BASE.fullmatch(plain) else "big" if _BIG.fullmatch(plain) else ""


def _by_columns(table: Table) -> Iterator[tuple[Cell, str, str]]:
    """Yield the cells of columns that are headed by one of the models."""
    named = {place: size for place, head in enumerate(column_heads(table)) if (size := _size_named(head))}
    for row in table.rows if named else ():
        word = _word(row.cells[0].text)
        for place, size in named.items() if word else ():
            if place < len(row.cells):
                yield row.cells[place], size, word


def _by_rows(table: Table) -> Iterator[tuple[Cell, str, str]]:
    """Yield the cells of rows that begin with one of the models."""
    words = [_word(head) for head in column_heads(table)]
    for row in table.rows:
        size = _size_named(row.cells[0].text)
        for place, cell in enumerate(row.cells) if size else ():
            if place and place < len(words) and words[place]:
                yield cell, size, words[place]


def _word(label: str) -> str:
    """Return which size, or the count, a label names."""
    plain = label.strip("*`$ ")
    word = (
        symbol_of(re.sub(r"\s?[(（].*[)）]$", "", plain))
        or kind_of_label(plain)
        or ("total" if _COUNT.search(plain) else "layers" if _LAYERS.match(plain) else "")
    )
    return word if word in BASE or word == "total" else ""


_COUNT = pattern(r"参数|param", re.IGNORECASE)
_LAYERS = pattern(r"(?:编码器|解码器|encoder|decoder)?\s?(?:层数|layers)", re.IGNORECASE)


def _figure(cell: Cell) -> Token | None:
    """Return the one number that a cell holds."""
    found = [token for token in tokens(cell.text, cell.line) if token.kind == "num"]
    return found[0] if len(found) == 1 else None


def _agrees(cell: Cell, size: str, word: str) -> bool:
    if word != "total":
        return whole_number(cell) == _ROWS[size][word]
    figure = _figure(cell)
    return figure is not None and _fits(figure, size)


def _fits(figure: Token, size: str) -> bool:
    """Tell whether a figure is the published count, whether or not the column's head has its unit."""
    millions = Token(figure.kind, figure.text, figure.line, figure.start, figure.end, figure.value, figure.unit or "m", figure.places)
    return fit(millions, PUBLISHED[size]) is not None


def _cell(scene: Scene, cell: Cell, size: str, word: str) -> Iterator[Claim]:
    if word == "total":
        yield from _total(scene, cell, size)
        return
    value, right = whole_number(cell), _ROWS[size][word]
    if value is not None:
        start = cell.start + cell.text.find(str(value)) if str(value) in cell.text else cell.start
        token = Token("num", cell.text, cell.line, start, start + len(str(value)) if str(value) in cell.text else cell.end)
        yield field_claim(scene, token, word, value, right, "exact" if value == right else "wrong")


_TIMES = 3


def _total(scene: Scene, cell: Cell, size: str) -> Iterator[Claim]:
    figure, right = _figure(cell), Fraction(PUBLISHED[size])
    if figure is None or figure.value is None:
        return
    token = Token(
        figure.kind, figure.text, cell.line, cell.start + figure.start, cell.start + figure.end, figure.value, figure.unit, figure.places
    )
    if _fits(figure, size):
        yield total_claim(scene, token, "rounded", right, because(mark("the figure of the paper's Table 3")))
    elif (
        figure.unit
        and not is_computed(likeliest_value(token) or Fraction(0), size)
        and right / _TIMES < (likeliest_value(token) or 0) < right * _TIMES
    ):
        yield total_claim(scene, token, "wrong", right, because(mark("the paper's Table 3 gives {right}"), right=int(right)))
