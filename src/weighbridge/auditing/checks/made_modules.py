"""Modules that code makes, and the count remarked behind them: ``nn.Linear(768, 3072)  # 768 x 3072 + 3072 = 2,362,368``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core.messages import mark

_MADE = pattern(
    r"\b(?P<kind>Linear|Embedding|LayerNorm|RMSNorm|Conv1D)\(\s*(?P<sizes>\d{1,7}(?:\s*,\s*\d{1,7})?)\s*(?P<more>(?:,\s*\w+\s*=\s*[\w.\-]{1,12}\s*)*)\)[,;)]*\s*(?:#|//)(?P<comment>[^#]{1,160})$"
)
_NUMBER = pattern(r"(?<![\w.,])(?:\d{1,3}(?:[,_]\d{3})+|\d{1,12})(?![\w.]*\w|,\d)")
_PLAIN = pattern(r"[\s\d,_x×*·+()=≈]*(?:params?|parameters?|weights?|个?参数|权重|偏置|bias|biases|and|\W)*", re.IGNORECASE)
"""A comment that only counts: numbers, signs, and words for what is counted."""
_LEAST = 64
"""A smaller number may be any: layers, heads, a factor."""


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the last number of each such comment against the module's own count; of two sizes that differ by a slip, the code's is marked."""
    for index, text in enumerate(scene.texts):
        made = _MADE.search(text) if ("#" in text or "//" in text) and "(" in text else None
        numbers = list(_NUMBER.finditer(made["comment"])) if made is not None and _PLAIN.fullmatch(made["comment"]) else []
        if made is not None and numbers:
            yield from _hold(scene, index, made, numbers)


def _hold(scene: Scene, index: int, made: re.Match[str], numbers: Sequence[re.Match[str]]) -> Iterator[Claim]:
    sizes = [int(size) for size in re.findall(r"\d+", made["sizes"])]
    fair, said = _counts(made["kind"], sizes, made["more"]), [int(re.sub("[,_]", "", number[0])) for number in numbers]
    code = Token("num", made["sizes"], index, *made.span("sizes"))
    if said[-1] in fair:
        yield claim(scene.lines, code, code, "component", "exact", value=said[-1], expected=said[-1], difference=0)
        return
    meant = _meant_sizes(sizes, said[:-1])
    if meant is not None and said[-1] in _counts(made["kind"], meant, made["more"]):
        wrong, right = next((size, other) for size, other in zip(sizes, meant, strict=True) if size != other)
        reason = because(mark("what stands behind it counts {right}"), right=right)
        yield claim(scene.lines, code, code, "component", "wrong", value=wrong, expected=right, difference=wrong - right, reason=reason)
    elif (near := next((count for count in fair if is_slip(str(said[-1]), str(count))), None)) is not None:
        start, place = made.start("comment"), numbers[-1].span()
        number = Token("num", numbers[-1][0], index, start + place[0], start + place[1])
        reason = because(mark("should be {right}"), right=near)
        facts = {"value": said[-1], "expected": near, "difference": said[-1] - near, "reason": reason}
        yield claim(scene.lines, number, number, "component", "wrong", **facts)


def _counts(kind: str, sizes: Sequence[int], more: str) -> tuple[int, ...]:
    """Return what a module of some sizes may be said to hold: with its biases if it has them, first, and its weights alone."""
    if kind in ("LayerNorm", "RMSNorm"):
        return (2 * sizes[0], sizes[0]) if kind == "LayerNorm" and len(sizes) == 1 else (sizes[0],) if len(sizes) == 1 else ()
    if len(sizes) == 1:
        return ()
    weights = sizes[0] * sizes[1]
    biased = kind != "Embedding" and not re.search(r"bias\s*=\s*False", more)
    bias = sizes[0] if kind == "Conv1D" else sizes[1]
    return (weights + bias, weights) if biased else (weights,)


def _meant_sizes(sizes: Sequence[int], said: Sequence[int]) -> list[int] | None:
    """Return a module's sizes as its comment has them, where all but one stand there and the one differs by a slip."""
    odd = [size for size in sizes if size not in said]
    near = {other for other in said if other >= _LEAST and len(odd) == 1 and is_slip(str(odd[0]), str(other))}
    return [next(iter(near)) if size == odd[0] else size for size in sizes] if len(odd) == len(near) == 1 else None
