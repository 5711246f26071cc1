"""Bytes that are claimed: of weights by dtype, of gradients and optimizer states, of a key-value cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.byte_thresholds import AGREED_ROWS, COLUMN_FAR, MEMORY_FAR
from weighbridge.auditing.checks import cache_tables
from weighbridge.auditing.checks.amounts import words_about
from weighbridge.auditing.checks.caches import OF_CACHE, judge
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.dtypes_beside import words_around
from weighbridge.auditing.checks.memory_subjects import models_of_figure
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.table_places import head_of, length_of_row, stands_alone
from weighbridge.auditing.checks.weight_bytes import STORED, WEIGHTS, FigureInBytes, judge_weights
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table

_DEVICE = patterns.pattern(r"\W{0,3}(?:(?:显存|内存)的?\s?)?(?:gpu|显卡|[ah]\d{2,3}\b|cards?\b|rtx)", re.IGNORECASE)
_ON_DEVICE = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(?:[ABHLVT]\d{2,3}s?|GB\d{3}|MI\d{3}X?|RTX ?\d{4}(?: ?Ti)?|[2345]0[789]0(?: ?Ti)?|M[1-4](?: (?:Pro|Max|Ultra))?|TPU ?v\d\w?|gpus?|cards?|显卡|放[进入]|[装塞][进入]|\bfits? (?:in|into|on|within)(?: an?| the| one)?)[\s(（,-]{0,2}(?:with |has |of )?$",
    re.IGNORECASE,
)
"""A card around its memory: ``a 24 GB GPU``, ``2×H100 80GB``."""
_OF_CARDS = patterns.pattern(
    r"(?:[AHLV]\d{2,3}s?|RTX ?\d{4}|gpus?|cards?|显卡|卡)[^,，;；。.]{0,24}\d\s?Gi?B?[^,，;；。.]{0,12}[(（=≈][^,，;；。.]{0,12}$",
    re.IGNORECASE,
)
"""Cards with their memory, before what they hold together: ``8 A100s with 80 GB (640 GB)``."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check every figure in bytes that is said of a model's weights in a dtype, of its training, or of its cache."""
    tables: dict[int, Table] = {}
    columns: dict[tuple[int, str], list[tuple[Token, Table, Claim | None]]] = {}
    for laid in scene.tables:
        tables.update((line, laid) for line in laid.lines if line not in tables)
    for statement, index, token in scene.sorted_figures.in_bytes:
        if _is_amount_of_memory(token) and not _in_equation(scene, statement, index):
            table = tables.get(token.line)
            judged = _claim(scene, token, table)
            if table is not None:
                columns.setdefault((id(table), head_of(table, token)), []).append((token, table, judged))
            elif judged is not None:
                yield judged
    for (_, head), column in columns.items():
        yield from _of_column(scene, column, plain=not _PACKED.search(head))


_PACKED = patterns.pattern(r"gguf|ggml|gptq|awq|\bq\d|quanti|量化|disk|file|download", re.IGNORECASE)
"""Heads of columns whose figures hold scales and padding beside the values."""


def _of_column(scene: Scene, column: Sequence[tuple[Token, Table, Claim | None]], *, plain: bool) -> Iterator[Claim]:
    """Yield the claims of a column; where most of its figures are right, it is plain what it holds, and another is wrong when less far off."""
    right = sum(judged is not None and judged.verdict == "rounded" for *_, judged in column)
    agreed = plain and right >= AGREED_ROWS and right * 2 > len(column)
    for token, table, judged in column:
        if (found := judged or (_claim(scene, token, table, COLUMN_FAR) if agreed else None)) is not None:
            yield found


def _is_amount_of_memory(token: Token) -> bool:
    """Tell a memory figure from the bytes of one number: ``each parameter takes 2 bytes``."""
    return token.value is not None and token.value > 0 and (token.unit not in ("byte", "bytes", "字节") or token.value >= 10_000)


def _in_equation(scene: Scene, statement: Sequence[Token], index: int) -> bool:
    return any(chain.sides[0].start <= index < chain.end and len(chain.sides) > 1 for chain in scene.chains_of(statement))


def _claim(scene: Scene, token: Token, table: Table | None, far: Fraction = MEMORY_FAR) -> Claim | None:
    """Hold a figure against the cache, or against the weights or the training, that its words say it is of."""
    place, start = words_about(scene, token)
    place = place._replace(far=far)
    models, sure = models_of_figure(scene, token, start, table)
    head = head_of(table, token) if table is not None else ""
    if (
        table is not None
        and not models
        and length_of_row(table, token.line)
        and (found := cache_tables.of_lengths(place, table, head)) is not None
    ):
        return found
    around = words_around(scene, token.line, table, own=OF_CACHE.search(head) is not None)
    if head:
        place = place._replace(near=f"{head} {place.near}", sentence=f"{head} {place.sentence}", text=f"{head} | {place.text}")
    said = FigureInBytes(place, table, head, start, around, models, sure and (table is None or stands_alone(table, token)))
    if _SHARED_OUT.search(said.text, start, token.start):
        return None
    if _is_of_a_cache(said):
        other = table is not None and cache_tables.is_otherwise(scene, table, head)
        return judge(place, models, dtype_sizes(f"{place.sentence} {around}"), firm=said.sure and not other)
    return None if _is_of_a_card(said) else judge_weights(said)


def _is_of_a_cache(said: FigureInBytes) -> bool:
    """Tell whether the last word in a figure's clause on what it is of is the cache, or its table's and no word on weights."""
    text, token = said.text, said.place.token
    clause = text[said.start : token.end] + re.split(r"[,，;；。、]|加上?|\band\b|\bplus\b", text[token.end : token.end + 16])[0]
    of_cache, of_weights = ([m.start() for m in pattern.finditer(clause)] for pattern in (OF_CACHE, STORED))
    if of_cache and max(of_cache) > max(of_weights, default=-1):
        return True
    return OF_CACHE.search(said.around) is not None and WEIGHTS.search(said.place.sentence) is None


def _is_of_a_card(said: FigureInBytes) -> bool:
    """Tell whether a figure is what a card holds, which the model need not: ``a 24 GB GPU``."""
    text, token = said.text, said.place.token
    before = (pattern.search(text, said.start, token.start) for pattern in (_ON_DEVICE, _OF_CARDS))
    return _DEVICE.match(text, token.end) is not None or any(before)


_SHARED_OUT = patterns.pattern(
    r"(?:每[张块个]?\s?(?:卡|gpu|显卡)|zero-?[123]|单卡)[^;；。,，]{0,16}$|(?:kv\s?cache|缓存)[^;；。]{0,24}[,，]\s?(?:合计|总计|总共|共计|加起来|一共)[约为]?\s?$",
    re.IGNORECASE,
)
"""Before a figure that is of one card of several, or the sum of a cache and more."""
