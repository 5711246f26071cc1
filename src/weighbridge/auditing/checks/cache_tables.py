"""Key-value caches in tables: a row for each length below the name of the model, or a column of caches beside models."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.amounts import Figure
from weighbridge.auditing.checks.caches import OF_CACHE, judge
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.table_places import length_of_row, model_above, stands_alone
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.tables import Table

_ABOVE = 4
"""Lines above a table that may say what it is of."""


def is_otherwise(scene: Scene, table: Table, head: str, above: int = _ABOVE) -> bool:
    """Tell whether a column holds caches that are smaller than the models keep them, or of several sequences, by its head and the lines above."""
    return _OTHER_CACHE.search(f"{head} {_lead(scene, table, above)}") is not None


def _lead(scene: Scene, table: Table, above: int = _ABOVE) -> str:
    """Return the lines right above a table."""
    first = table.first
    return " ".join(scene.lines[index].text for index in range(max(0, first - above), first))


def of_lengths(place: Figure, table: Table, head: str) -> Claim | None:
    """Check the cache in a table of lengths below the name of its model; wrong where its head says a cache and nothing else."""
    subject = model_above(place.scene, table)
    lead = _lead(place.scene, table)
    if subject is None or not (OF_CACHE.search(head) or OF_CACHE.search(lead)):
        return None
    length = length_of_row(table, place.token.line)
    told = dtype_sizes(head) or dtype_sizes(lead)
    heads = " ".join(column_heads(table))
    plain = OF_CACHE.search(head) is not None and not _PLAIN_CACHE.sub("", head).strip() and not _OTHER_CACHE.search(f"{heads} {lead}")
    place = place._replace(near=f"{head} of {length}", sentence=f"{head} {length}", text=f"{head} | {length}")
    return judge(
        place, subject.models, told, firm=plain and subject.firm and stands_alone(table, place.token) and all(size >= 1 for size in told)
    )


_PLAIN_CACHE = pattern(
    r"k[/-]?v[ -]?cache|kv ?缓存|键值缓存|\b(?:size|memory|usage|total|fp16|bf16|fp32|float16|bfloat16|[KMGT]i?B|of|in|per sequence)\b|大小|显存|占用|[()（）*`:：/]",
    re.IGNORECASE,
)
"""What the head of a column may say beside a cache and still be of the whole cache, as the model keeps it."""
_OTHER_CACHE = pattern(
    r"compress|quant|sav(?:e|ing)|reduc|baseline|batch|users?\b|concurren|requests?|int[48]|q[48]|[1-8]-bit|window|sliding|per gpu|tp\b|layers?\b(?! *[=:])|压缩|量化|节省|并发|批|窗口|每层",
    re.IGNORECASE,
)
