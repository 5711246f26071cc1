"""Bytes that Chinese sentences give to a model's numbers, where each clause was read word for word: ``13B 的模型，半精度下光权重就要 26G``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import MEMORY_FAR, MEMORY_TOLERANCE, NEEDED_FAR, NOMINAL_FAR, PACKED_FAR
from weighbridge.auditing.checks.amounts import is_within_digits, write_bytes
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.byte_clauses import SaidBytes, bytes_of_clauses
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_SAYS = pattern(r"\d\s?(?:[KMGT]i?B|G(?![A-Za-z]))", re.IGNORECASE)
_CHINESE = pattern(r"[\u4e00-\u9fff]")
_HEDGED = pattern(r"至少|以上|不到|超过|左右|峰值|开销|额外|每张|单卡|张卡|加上")
"""Words in a figure's own clause by which more or less than the numbers themselves may be meant."""
_WEIGHTS = pattern(r"权重|参数|文件|大小|体积")
_SUPPOSED = pattern(r"如果|假设|我们|自己|切分|分片|offload|zero|lora|剪枝", re.IGNORECASE)
"""And words of a line by which it may be about something else."""
_CLAUSE = pattern(r"[,，。;；、()（）]")


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold the bytes of clauses that were read word for word against the parameters and the bytes for each that the clauses say.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if index in tabled or "|" in text or len(text) > LONGEST or not _SAYS.search(text) or not _CHINESE.search(text):
            continue
        named = scene.mentions.get(index, ())
        figures = {token.start: token for token in tokens(text, index) if token.kind == "num" and token.value and token.unit}
        found = [said for said in bytes_of_clauses(text, [(m.column, m.end) for m in named]) if said.start in figures]
        doubtful = _SUPPOSED.search(text) is not None or is_of_their_own(scene, index)
        for said in found:
            token = figures[said.start]
            rights = _of_parts(said, figures) if said.parts else _of_count(scene, index, said)
            verdict = _verdict(said, token, rights, alone=_WEIGHTS.search(_clause_of(text, said)) is not None)
            if verdict == "rounded" or (verdict == "wrong" and not doubtful and not _is_hedged(text, said)):
                yield _claim(scene, token, min(rights, key=lambda right: abs(right - (likeliest_value(token) or 0))), verdict)


def _is_hedged(text: str, said: SaidBytes) -> bool:
    return _HEDGED.search(_clause_of(text, said)) is not None


def _clause_of(text: str, said: SaidBytes) -> str:
    start = max((sign.end() for sign in _CLAUSE.finditer(text, 0, said.start)), default=0)
    stop = _CLAUSE.search(text, said.end)
    return text[start : stop.start() if stop is not None else len(text)]


def _of_count(scene: Scene, index: int, said: SaidBytes) -> list[Fraction]:
    """Return what a figure may be: the parameters that a model has, or is called by, times the bytes for each."""
    counts: list[Fraction] = [said.parameters] if said.parameters is not None else []
    if said.name >= 0:
        mention = scene.mentions[index][said.name]
        subject = of_mention(scene, mention, firm=True) if mention.kind == MODEL else None
        counts = [Fraction(count) for model in subject.models if (count := own_count(model)) is not None] if subject is not None else []
    return [count * size for count in counts for size in said.sizes]


def _of_parts(said: SaidBytes, figures: dict[int, Token]) -> list[Fraction]:
    values = [likeliest_value(figures[start]) for start in said.parts if start in figures]
    return [sum((value for value in values if value is not None), Fraction(0))] if len(values) == len(said.parts) else []


def _verdict(said: SaidBytes, token: Token, rights: list[Fraction], *, alone: bool) -> str:
    """Return whether a figure is one of those that it may be, or far from all of them.

    Args:
        alone: The figure is said to be of the weights, and not of what runs them, which needs more.
    """
    assert token.value is not None
    values = [token.value * scale for scale in UNITS.get(token.unit, ())]
    if not values or not rights:
        return ""
    if any(abs(value - right) <= MEMORY_TOLERANCE * right for value in values for right in rights) or any(
        is_within_digits(token, right) for right in rights
    ):
        return "rounded"
    if all(value * _ELSEWHERE < right or right * _ELSEWHERE < value for value in values for right in rights):
        return ""
    smallest = min(said.sizes, default=Fraction(2))
    far = PACKED_FAR if smallest < 1 else NOMINAL_FAR
    above = far if alone or said.parts else NEEDED_FAR if smallest <= 1 else MEMORY_FAR
    if any(right <= value * far and value <= right * above for value in values for right in rights):
        return ""
    return "wrong"


_ELSEWHERE = 2_000
"""How many times a figure may be another before it is of something else: bytes of a token, or of a data set."""


def _claim(scene: Scene, token: Token, right: Fraction, verdict: str) -> Claim:
    mine = (token.value or Fraction(0)) * min(UNITS.get(token.unit, (1,)))
    facts: dict[str, object] = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    if verdict == "rounded":
        return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=because(mark("rounded")))
    direction = should_be(is_higher=mine > right)
    reason = because(direction, right=write_bytes(token, right, 1000), number=write_bytes(token, abs(mine - right), 1000))
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=reason)
