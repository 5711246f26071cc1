"""Tables of one model with a row for each dtype: ``| FP32 | 32 GB |``, ``| BF16 | 16 GB |`` below ``以 Llama 3 8B 为例:``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.amounts import Amount, hold, words_about
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.table_places import model_above
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tables import Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_ROWS, COLUMN_FAR, PACKED_FAR
from weighbridge.core.messages import mark

_WEIGHTS = pattern(
    r"\W*(?:(?:model |weights? )?(?:weights?|size|memory)|(?:模型)?(?:权重|参数)?(?:大小|权重|体积|内存))(?: ?[(（][^()（）]*[)）])?\W*",
    re.IGNORECASE,
)
"""The head of a column that holds the bytes of the weights and nothing more."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the bytes of each row; one is wrong where two others, and most, are those of the model in their rows' dtypes."""
    for table in scene.tables:
        subject = model_above(scene, table)
        count = own_count(subject.models[0]) if subject is not None and not is_of_their_own(scene, min(table.lines)) else None
        for place, head in enumerate(column_heads(table)) if count else ():
            if place and _WEIGHTS.fullmatch(head):
                yield from _column(scene, table, place, Fraction(count or 0))


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
        judged.append((hold(about, [amount], firm=False, base=1000), hold(about, [amount], firm=True, base=1000)))
    right = sum(found is not None and found.verdict == "rounded" for found, _ in judged)
    for found, firm in judged if right >= AGREED_ROWS and right * 2 > len(judged) else ():
        if (claim := found or firm) is not None:
            yield claim
