"""Tables of bytes of models that are only called by their counts, ``7B | 13B | 70B``: each line holds so many bytes for each parameter.

How many, the dtype of the line tells, or its own column of bytes, or the other models in it. Where nearly all the table is exactly that, the cell
that is not is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate

from weighbridge.auditing.byte_thresholds import GRID_CELLS, NOMINAL_FAR, PACKED_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_CALLED = pattern(
    r"[\W_]*(?P<number>\d{1,6}(?:\.\d{1,4})?)\s?(?P<unit>B|亿)[ -]?(?:个?参数|params?|parameters?|模型|models?|dense|LLM)?(?:\s?[(（](?:GB|GiB|G|单位[^()（）]*)[)）])?[\W_]*",
    re.IGNORECASE,
)
_FIGURE = pattern(r"[\s*`~≈约]*(?P<number>\d[\d,]{0,15}(?:\.\d{1,6})?)\s?(?P<unit>[MGT]i?B|G)?[\s*`]*", re.IGNORECASE)
_UNIT = pattern(r"[(（\[,，]\s?(?:in )?([MGT]i?B)\s?[)）\]]?|\bin ([MGT]i?B)\b", re.IGNORECASE)
_EACH = pattern(r"bytes?\s?(?:/|per)\s?(?:param\w*|weight)|每个?参数的?\s?(?:字节|bytes?)|字节\s?/\s?(?:每个?)?参数|字节数", re.IGNORECASE)
_NUMBER = pattern(r"[\s*`]*(?P<number>\d{1,2}(?:\.\d{1,2})?)(?:\s?(?:字节|bytes?|B))?[\s*`]*", re.IGNORECASE)
_PARAMS = pattern(r"\W*(?:#\s?)?(?:params?|parameters?|size|model size|参数|参数量|参数规模|模型规模|规模|大小)\W*", re.IGNORECASE)
_OTHERWISE = pattern(
    r"kv|cache|缓存|activation|激活|batch|context|上下文|gpu|card|显卡|recommend|推荐|min|最[低小]|lora|每卡|offload|disk|文件|tokens?|speed|[+＋]|overhead|开销",
    re.IGNORECASE,
)
"""Words of a line whose bytes are others than those of all parameters."""
_POWERS = {"m": 2, "g": 3, "t": 4}


_TRAINED = pattern(r"train|tun(?:e|ing)\b|method|训练|微调|方法", re.IGNORECASE)
_PARTS = pattern(r"component|part|item|state|组成|部分|项目?|类型", re.IGNORECASE)
"""Heads of rows by which they are ways to train, each with a need of its own, and those by which they are what training keeps."""


class _Placed(NamedTuple):
    """A cell with a figure: what it says, and the parameters of its model."""

    cell: Cell
    number: str
    unit: str
    parameters: Fraction

    @property
    def step(self) -> Fraction:
        return Fraction(1, 10 ** len(self.number.partition(".")[2]))

    def per_parameter(self, base: int) -> Fraction:
        return Fraction(self.number.replace(",", "")) * self.scale(base) / self.parameters

    def scale(self, base: int) -> int:
        return int((1024 if "i" in self.unit.lower() else base) ** _POWERS[self.unit[0].lower()])

    def bounds(self, base: int) -> tuple[Fraction, Fraction]:
        """Return the least and the most bytes for each parameter that a cell is, rounded."""
        middle, half = self.per_parameter(base), self.step * self.scale(base) / (2 * self.parameters)
        return middle - half, middle + half

    def is_of(self, size: Fraction, base: int, *, rounded: bool = True) -> bool:
        """Tell whether a cell is so many bytes for each parameter, rounded or else cut off at its last digit."""
        away = abs(Fraction(self.number.replace(",", "")) * self.scale(base) - self.parameters * size)
        unit = self.step * self.scale(base)
        return away * 2 <= unit if rounded else away < unit


class _Line(NamedTuple):
    """A line of a table: its cells, the bytes for each parameter that its label or its own column says, and the cell of that."""

    cells: Sequence[_Placed]
    said: Sequence[Fraction]
    each: tuple[Cell, Fraction] | None


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the cells of such tables against the bytes for each parameter that their line is agreed to hold."""
    for table in scene.tables:
        if not table.head or (_TRAINED.search(corner := column_heads(table)[0]) and not _PARTS.search(corner)):
            continue
        for lines in (_by_rows(table), _by_columns(table)):
            yield from _judge(scene, lines)


def _judge(scene: Scene, lines: Sequence[_Line]) -> Iterator[Claim]:
    agreed = [(line, size) for line in lines if (size := _bytes_of_witnesses(line)) is not None]
    right = [placed for line, size in agreed for placed in line.cells if placed.is_of(size, 1000)]
    if len(right) < GRID_CELLS or len(right) * 4 < sum(len(line.cells) for line in lines) * 3:
        return
    fair = {id(placed) for placed in right}
    for line, size in agreed:
        odd = sum(id(placed) not in fair for placed in line.cells)
        if odd > 1 or (size <= 1 and len(line.cells) - odd <= 1):
            continue  # scales beside the values, or more than the weights
        plain = sum(placed.per_parameter(1000) == size for placed in line.cells) > 1  # nothing is added to values that are exact
        for placed in line.cells:
            if id(placed) in fair:
                yield _claim(scene, placed, size, "rounded")
            elif not any(placed.is_of(size, base, rounded=False) for base in (1000, 1024)) and (plain or not _is_packed(placed, size)):
                yield _claim(scene, placed, size, "wrong")
        if line.each is not None and len(line.cells) > 1:
            yield _each(scene, line.each[0], line.each[1], size)


def _is_packed(placed: _Placed, size: Fraction) -> bool:
    """Tell whether a cell may have scales beside values of a byte or less."""
    return size <= 1 and size < placed.per_parameter(1000) <= size * (NOMINAL_FAR if size == 1 else PACKED_FAR)


def _bytes_of_witnesses(line: _Line) -> Fraction | None:
    """Return the bytes for each parameter that a line holds: two of its witnesses say so, and more than anything else."""
    votes: Counter[Fraction] = Counter(line.said)
    if line.each is not None:
        votes[line.each[1]] += 1
    candidates = dict.fromkeys(size for size in (*votes, *(_plain(placed) for placed in line.cells)) if size > 0)
    agreeing = _cells_of_each(line.cells, candidates)
    for size in candidates:
        votes[size] = (size in line.said) + (line.each is not None and line.each[1] == size) + agreeing[size]
    ranked = votes.most_common(2)
    if not ranked or ranked[0][1] < 2 or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
        return None
    return ranked[0][0]


def _cells_of_each(cells: Sequence[_Placed], sizes: Iterable[Fraction]) -> dict[Fraction, int]:
    """Return how many cells are so many bytes for each parameter, for each of some sizes: a column has thousands of both."""
    order = sorted(sizes)
    begins, ends = [0] * (len(order) + 1), [0] * (len(order) + 1)
    for placed in cells:
        low, high = placed.bounds(1000)
        begins[bisect_left(order, low)] += 1
        ends[bisect_right(order, high)] += 1
    return dict(zip(order, accumulate(begin - end for begin, end in zip(begins, ends, strict=True)), strict=False))


def _plain(placed: _Placed) -> Fraction:
    """Return the bytes for each parameter of a cell as people say them: in halves."""
    return Fraction(round(placed.per_parameter(1000) * 2), 2)


def _by_rows(table: Table) -> list[_Line]:
    """Read a table whose columns are models."""
    heads = column_heads(table)
    counts = {place: count for place, head in enumerate(heads) if place and (count := _count(head)) is not None}
    each = [place for place, head in enumerate(heads) if place and _EACH.search(head)]
    found = []
    for row in table.rows if len(counts) > 1 else ():
        cells = [(row.cells[place], heads[place], count) for place, count in counts.items() if place < len(row.cells)]
        said = _NUMBER.fullmatch(row.cells[each[0]].text) if len(each) == 1 and each[0] < len(row.cells) else None
        own = (row.cells[each[0]], Fraction(said["number"])) if said is not None and Fraction(said["number"]) else None
        found.append(_line(cells, row.cells[0].text, own))
    return found


def _by_columns(table: Table) -> list[_Line]:
    """Read a table whose rows are models."""
    heads = column_heads(table)
    key = next((place for place, head in enumerate(heads) if place and _PARAMS.fullmatch(head)), 0)
    counts = [(row, count) for row in table.rows if key < len(row.cells) and (count := _count(row.cells[key].text)) is not None]
    if len(counts) < 2:
        return []
    return [
        _line([(row.cells[place], head, count) for row, count in counts if place < len(row.cells)], head, None)
        for place, head in enumerate(heads)
        if place and place != key
    ]


def _line(cells: Sequence[tuple[Cell, str, Fraction]], label: str, each: tuple[Cell, Fraction] | None) -> _Line:
    placed = []
    for cell, head, count in cells:
        found = _FIGURE.fullmatch(cell.text)
        said = _UNIT.search(head) or _UNIT.search(label)
        unit = (found["unit"] or (said and (said[1] or said[2]))) if found is not None else None
        if found is not None and unit and Fraction(found["number"].replace(",", "")) > 0:
            start = cell.start + found.start("number")
            end = cell.start + found.end("unit" if found["unit"] else "number")
            placed.append(_Placed(Cell(cell.text, start, end, cell.line), found["number"], unit, count))
    return _Line(placed if not _OTHERWISE.search(label) else (), _said(label), each)


def _said(label: str) -> list[Fraction]:
    """Return the bytes of the one dtype of a label of weights."""
    sizes = dtype_sizes(label)
    return sizes if len(sizes) == 1 and not _STATES.search(label) else []


_STATES = pattern(r"adam|moment|optimi[sz]er|master|state|total|train|动量|优化器|主权重|状态|合计|总|训练|微调", re.IGNORECASE)


def _count(label: str) -> Fraction | None:
    found = _CALLED.fullmatch(label)
    return (
        Fraction(found["number"]) * (10**9 if found["unit"] in "bB" else 10**8) if found is not None and Fraction(found["number"]) else None
    )


def _claim(scene: Scene, placed: _Placed, size: Fraction, verdict: str) -> Claim:
    cell, right = placed.cell, placed.parameters * size
    mine = Fraction(placed.number.replace(",", "")) * placed.scale(1000)
    unit = placed.unit if len(placed.unit) > 1 else f"{placed.unit}B"
    text = scene.lines[cell.line].text[cell.start : cell.end]
    token = Token("num", text, cell.line, cell.start, cell.end, Fraction(1), unit.lower(), len(placed.number.partition(".")[2]))
    facts: dict[str, object] = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    if verdict == "rounded":
        return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=because(mark("rounded")))
    direction = should_be(is_higher=mine > right)
    reason = because(direction, right=write_bytes(token, right, 1000), number=write_bytes(token, abs(mine - right), 1000))
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=reason)


def _each(scene: Scene, cell: Cell, said: Fraction, size: Fraction) -> Claim:
    found = _NUMBER.fullmatch(cell.text)
    start = cell.start + (found.start("number") if found is not None else 0)
    end = cell.start + (found.end("number") if found is not None else len(cell.text))
    token = Token("num", cell.text, cell.line, start, end)
    facts: dict[str, object] = {"value": whole(said), "expected": whole(size), "difference": whole(said - size)}
    if said == size:
        return claim(scene.lines, token, token, "arithmetic", "exact", **facts)
    reason = because(mark("should be {right}"), right=size)
    return claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)
