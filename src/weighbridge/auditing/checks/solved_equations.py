"""Equations in letters that are to be solved, ``5h² = 36``: only where a model is talked about is a letter a size of it, and has a value before."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.core.messages import mark

_WORDS = pattern(
    r"hidden|embed|attention|\blayers?\b|vocab|\bffn\b|\bmlp\b|feed-?forward|transformer|parameters|params|weights|neuron|\bheads?\b|\bkv\b|cache|flops|d_model|d_ff|"
    r"seq_|tokens|encoder|decoder|\bbytes\b|参数|层|维|注意力|词|隐藏|嵌入|权重|显存|头|前馈|偏置",
    re.IGNORECASE,
)
"""Words of one who talks about a model."""
_NEAR = 25
"""Lines about an equation among which they stand."""


def leave_open(scene: Scene, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the claims, those unsettled that put a size for a letter where no model is talked about."""
    numbers: Sequence[int] = ()
    for one in claims:
        if one.kind == "symbolic" and one.verdict in ("wrong", "carried") and not _is_identity(one) and not _is_worked_out(one):
            numbers = numbers or [line.number for line in scene.lines]
            if one.value == 0 or not _is_among_words_of_a_model(scene, bisect_left(numbers, one.line), bisect_left(numbers, one.line + 1)):
                reason = because(mark("an equation to be solved, as it seems: no model is talked about near it"))
                one = one._replace(verdict="unsettled", expected=None, difference=None, reason=reason)
        yield one


def _is_identity(claim: Claim) -> bool:
    """Tell whether both sides are formulas of the same terms, and only their numbers differ: ``4h² + 8h² = 13h²``."""
    if not isinstance(claim.value, str) or not isinstance(claim.expected, str):
        return False
    said, right = ({_FACTOR.sub("", term) for term in _SIGN.split(side)} for side in (claim.value, claim.expected))
    return said == right


_SIGN = pattern(r" [+-] ")
_FACTOR = pattern(r"^-?(?:\d[\d./]*\*?)?")


def _is_worked_out(claim: Claim) -> bool:
    """Tell whether numbers stand in the place of the letters on the way to the result: ``2 × H = 2 × 768 = 1,636``."""
    return any(_PRODUCT.search(side) and not _LETTER.search(side) for side in _EQUALS.split(claim.text)[1:])


_EQUALS, _LETTER = pattern("[=≈]"), pattern(r"[A-Za-z]")
_PRODUCT = pattern(r"\d\s?[×x*·+/^-]\s?\(?\d")


def _is_among_words_of_a_model(scene: Scene, first: int, end: int) -> bool:
    """Tell whether some line near others talks about a model, or names one."""
    near = range(max(0, first - _NEAR), min(end + _NEAR, len(scene.lines)))
    named = any(mention.name for index in near for mention in scene.mentions.get(index, ()))
    return named or any(_WORDS.search(scene.lines[index].text) for index in near)
