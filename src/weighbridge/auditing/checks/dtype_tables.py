"""Tables of weights in dtypes: of one model with a row for each (``| BF16 | 16 GB |`` below ``以 Llama 3 8B 为例:``), and of models by dtypes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import AGREED_ROWS, COLUMN_FAR, PACKED_FAR
from weighbridge.auditing.checks.amounts import Amount, hold, words_about
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.names import UNKNOWN, find_mentions
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.table_places import model_above
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_WEIGHTS = pattern(
    r"\W*(?:(?:model |weights? )?(?:weights?|size|memory)|(?:模型)?(?:权重|参数)?(?:大小|权重|体积|内存))(?: ?[(（][^()（）]*[)）])?\W*",
    re.IGNORECASE,
)
"""The head of a column that holds the bytes of the weights and nothing more."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the bytes of each row; one is wrong where two others, and most, are those of the model in their rows' dtypes."""
    for table in scene.tables:
        yield from _grid(scene, table)
        subject = model_above(scene, table)
        count = own_count(subject.models[0]) if subject is not None and not is_of_their_own(scene, table.first) else None
        for place, head in enumerate(column_heads(table)) if count else ():
            if place and _WEIGHTS.fullmatch(head):
                yield from _column(scene, table, place, Exact(count or 0))


def _grid(scene: Scene, table: Table) -> Iterator[Claim]:
    """Check the bytes of models by dtypes, either of them the rows; one is wrong where three others, and most, are right."""
    heads = column_heads(table)
    if not table.head or not dtype_sizes(" ".join((*heads, *(row.cells[0].text for row in table.rows)))) or _OTHERWISE.search(heads[0]):
        return
    judged: list[Claim | None] = []
    columns = [  # a column is left out that says otherwise: ``推荐 GPU（FP16）``
        (place, _counts(head), dtype_sizes(head))
        for place, head in enumerate(heads[1:], 1)
        if not _OTHERWISE.search(head) and (_counts(head) or dtype_sizes(head))
    ]
    for row in table.rows if columns else ():
        label = row.cells[0].text
        of_row = _counts(label), dtype_sizes(label)
        if _OTHERWISE.search(label) or not any(of_row):
            continue
        for place, of_column, by_column in columns:
            counts, sizes = of_row[0] or of_column, of_row[1] or by_column
            if place < len(row.cells) and counts and len(sizes) == 1:
                judged += _cell(scene, row.cells[place], counts, sizes[0])
    settled = [one for one in judged if one is not None]
    right = sum(one.verdict == "rounded" for one in settled)
    if right > AGREED_ROWS and right * 4 >= len(settled) * 3:
        yield from settled


def _cell(scene: Scene, cell: Cell, counts: Sequence[Fraction], size: Fraction) -> Iterator[Claim | None]:
    """Yield the claim of a cell that holds bytes and nothing else, as it is if it must be right."""
    figures = [t for t in tokens(cell.text, cell.line) if t.kind == "num"]
    if len(figures) != 1 or figures[0].unit not in BYTES or not figures[0].value:
        return
    about, _ = words_about(scene, figures[0]._replace(start=cell.start + figures[0].start, end=cell.start + figures[0].end))
    about = about._replace(far=COLUMN_FAR if size >= 1 else PACKED_FAR)
    facts = [{"count": int(count), "size": size} for count in counts]
    amounts = [Amount(count * size, mark("{count} parameters of {size} bytes"), fact) for count, fact in zip(counts, facts, strict=True)]
    yield hold(about, amounts, firm=True, base=1000)


@once_for_each_text
def _counts(text: str) -> list[Fraction]:
    """Return the parameters of the one model that a cell names, or calls by its count, as it has them and as it is called."""
    models = {m.names: m for m in find_mentions(text)}
    called = [Exact(found["number"]) * 10**9 for found in _CALLED.finditer(text)]
    if len(models) > 1 or any(m.kind == UNKNOWN for m in models.values()) or len(called) > 1:
        return []
    own = {
        count for names in models for name in names if (model := preset_model(name)) is not None and (count := own_count(model)) is not None
    }
    named = {count for count in own if not called or abs(called[0] - count) * 4 < count}
    return [*called, *(Exact(count) for count in sorted(named))] if (called or len(named) < 2) and not (models and not named) else []


_CALLED = pattern(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)\s?B(?![a-z0-9])")
_OTHERWISE = pattern(
    r"train|fine-?tun|lora|kv|cache|optimi[sz]er|gradient|activation|total|overhead|batch|context|gpu|card|vram needed|require|recommend|min|\bdisk|file|adam|微调|训练|缓存|梯度|优化器|激活|合计|总|显卡|推荐|最[低小]",
    re.IGNORECASE,
)
"""Words of a table whose bytes are not those of the weights alone."""


def _column(scene: Scene, table: Table, place: int, count: Fraction) -> Iterator[Claim]:
    judged = []
    for row in table.rows:
        sizes = dtype_sizes(row.cells[0].text)
        figures = [t for t in tokens(row.cells[place].text, row.cells[place].line) if t.kind == "num"] if place < len(row.cells) else []
        if len(sizes) != 1 or len(figures) != 1 or figures[0].unit not in BYTES or not figures[0].value:
            continue
        cell, size = row.cells[place], sizes[0]
        about, _ = words_about(scene, figures[0]._replace(start=cell.start + figures[0].start, end=cell.start + figures[0].end))
        about = about._replace(far=COLUMN_FAR if size >= 1 else PACKED_FAR)
        amount = Amount(count * size, mark("{count} parameters of {size} bytes"), {"count": int(count), "size": size})
        judged.append(hold(about, [amount], firm=True, base=1000))
    right = sum(found is not None and found.verdict == "rounded" for found in judged)
    for found in judged if right >= AGREED_ROWS and right * 2 > len(judged) else ():
        if found is not None:
            yield found
