"""Bytes of weights in tables: models by dtypes, either of them the rows, in the unit of the cell or of the head of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.names import UNKNOWN, find_mentions
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.weights_said import WeightFigure, called_counts, read_figure
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.tables import Table

_ELSE = pattern(
    r"train|tun(?:e|ing)|lora|kv|cache|optimi[sz]er|gradient|activation|total(?! for)|batch|context|gpu|card|require|recommend|min|\bdisk|file|adam|bandwidth|speed|tokens?|微调|训练|缓存|梯度|优化器|激活|合计|显卡|推荐|最[低小]",
    re.IGNORECASE,
)
"""Words of a head by which its bytes are not those of the weights alone."""
_FIGURE = pattern(r"[\s*`~≈约]*(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>[KMGT]i?B|[kmgt]b)?[\s*`]*(?:[(（][^()（）\d]*[)）])?[\s*`]*")
_UNIT = pattern(r"[(（\[,，]\s?(?:in )?(?P<unit>[MGT]i?B)\s?[)）\]]?|\bin (?P<of>[MGT]i?B)\b|\s(?P<last>[MGT]i?B)$")
_MORE = pattern(r"[+＋]\s?(?P<share>\d{1,2})\s?%")
_LEAD = pattern(r"[\W_]*(?:bytes?|size|model size|weights?|memory|vram|params?)?[\W_]*", re.IGNORECASE)


def table_figures(scene: Scene, table: Table) -> Iterator[WeightFigure]:
    """Yield the figures of a table whose row and column say, between them, a model and a dtype."""
    heads = column_heads(table)
    if not table.head or _ELSE.search(heads[0]):
        return
    units = {unit for head in heads if (unit := _unit_of(head))}
    columns = [
        (place, head, dtype_sizes(head), _unit_of(head), more)
        for place, head in enumerate(heads)
        if not (_ELSE.search(_MORE.sub("", head)) or ((more := _MORE.search(head)) is None and _BEYOND.search(head)))
    ]
    for row in table.rows if columns else ():
        label = row.cells[0].text
        if _ELSE.search(label):
            continue
        by_row = dtype_sizes(label)
        for place, head, by_column, of_all, more in columns:
            sizes = by_column or by_row
            if not place or place >= len(row.cells) or len(sizes) != 1:
                continue
            cell = row.cells[place]
            found = _FIGURE.fullmatch(cell.text)
            unit = (found["unit"] if found is not None else None) or of_all or (next(iter(units)) if len(units) == 1 else None)
            counts = _counts(label) or _counts(head) if found is not None and unit is not None else ()
            if found is None or unit is None or not counts:
                continue
            place_of = (cell.line, cell.start + found.start("number"), cell.start + found.end("unit" if found["unit"] else "number"))
            share = Exact(100 + int(more["share"]), 100) if more is not None else Exact(1)
            yield read_figure(found["number"], unit, place_of, counts, sizes[0], share)


def _unit_of(head: str) -> str | None:
    """Return the unit that the head of a column says."""
    said = _UNIT.search(head)
    return (said["unit"] or said["of"] or said["last"]) if said is not None else None


_BEYOND = pattern(r"overhead|with\b|incl|[+＋]", re.IGNORECASE)
"""Words of a head that add something to the weights, and do not say how much."""


@once_for_each_text
def _counts(text: str) -> tuple[Fraction, ...]:
    """Return the parameters of the one model that a label names, or calls by its count."""
    named, called = list(find_mentions(text)), called_counts(text)
    if any(m.kind == UNKNOWN for m in named) or len({m.names for m in named}) > 1 or len(called) > 1:
        return ()
    own = [Exact(count) for m in named for name in m.names if (model := preset_model(name)) is not None and (count := own_count(model))]
    fitting = [count for count in own if not called or abs(called[0] - count) * _NEAR < count]
    return (*called, *(fitting if called else fitting[:1] if len(set(own)) == 1 else ()))


_NEAR = 4
"""What a model is called by is within one part of so many of its count."""
