"""Formulas of a norm by the two vectors that it has, called by their statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components
from weighbridge.auditing.text.numbers import Token
from weighbridge.core.messages import mark

_MEAN = pattern(r"均值(?:和|与|、)方差|mean and (?:the )?variance|means and variances|均值、方差", re.IGNORECASE)


def mean_and_variance(scene: Scene, statement: Sequence[Token], about: Sequence[str | None]) -> Iterator[Claim]:
    """Note where a text takes a norm's statistics for its parameters."""
    for index in sorted({token.line for token in statement}):
        text = scene.lines[index].text
        match = _MEAN.search(text) if "方差" in text or "variance" in text.lower() else None
        if match is None or not re.search(r"可学习|可训练|参数|learn|trainable|parameter", text, re.IGNORECASE):
            continue
        if (
            "norm" in {m.subject for m in find_components(text)}
            and re.search(r"gain|shift|gamma|beta|γ|β|缩放|平移|scale", text, re.IGNORECASE) is None
        ):
            token = next(t for t in statement if t.line == index and t.end > match.start())
            place = token._replace(start=match.start(), end=match.end())
            reason = because(mark("a norm learns a gain and a shift; mean and variance are computed from its input"))
            yield claim(scene.lines, place, place, "component", "note", reason=reason)
