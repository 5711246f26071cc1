"""Totals as programs print them: ``Total params``, ``Trainable params``, ``Non-trainable params``, with their shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_PRINTED = pattern(
    r"(?<![A-Za-z])(?P<what>total|all|trainable|non[- ]?trainable|frozen|总|可训练|不可训练|冻结)\s?(?:params?|parameters|参数(?:量|数|总数)?)\W{0,12}(?P<count>\d[\d,_]{3,}|\d{1,3}(?![\d.,])(?!\s?(?:[KMBT万亿%]|million|billion)))",
    re.IGNORECASE,
)
_LAYERED = pattern(r"non[- ]?trainable params|layer \(type|param ?#", re.IGNORECASE)
_REACH = 4
"""Lines that stand together as one summary."""
ABOVE = 60
"""Lines above a printed total within which the layers that it sums up begin."""
_SHARE = pattern(r"\W{0,6}(?P<share>\d+(?:\.\d+)?)\s?%")


class _PrintedCount(NamedTuple):
    """A count that a summary prints: its line, what it counts, and its token."""

    line: int
    what: str
    token: Token


def is_summed(scene: Scene, line: int) -> bool:
    """Tell whether a total is what a program printed below the layers of some network: a sum of those, and no model's by name."""
    near = scene.lines[max(0, line - ABOVE) : line + _REACH]
    return _PRINTED.search(scene.lines[line].text) is not None and any(_LAYERED.search(one.text) for one in near)


def check(scene: Scene) -> Iterator[Claim]:
    """Check that what is trained and what is frozen add up to the total, and each share of it."""
    found = list(_printed_lines(scene))
    start = 0
    for index in range(1, len(found) + 1):
        if index == len(found) or found[index].line - found[index - 1].line > _REACH or found[index].what == found[start].what:
            yield from _judge_sum(scene, found[start:index])
            start = index


def _printed_lines(scene: Scene) -> Iterator[_PrintedCount]:
    for index, line in enumerate(scene.lines):
        if "||" in line.text or ("%" not in line.text and not re.search("aram|参数", line.text)):
            continue
        for match in _PRINTED.finditer(line.text):
            token = next(iter(tokens(match["count"].rstrip(",_"), index)), None)
            if token is not None and token.kind == "num" and token.value is not None:
                place = match.start("count")
                yield _PrintedCount(index, _kind(match["what"].lower()), token._replace(start=place, end=place + token.end))


def _kind(word: str) -> str:
    if word in ("total", "all", "总"):
        return "total"
    return "trainable" if word in ("trainable", "可训练") else "frozen"


def _judge_sum(scene: Scene, group: Sequence[_PrintedCount]) -> Iterator[Claim]:
    by_name = {one.what: one.token for one in group}
    total, trainable, frozen = (by_name.get(name) for name in ("total", "trainable", "frozen"))
    if total is None or total.value is None:
        return
    if trainable is not None and frozen is not None and trainable.value is not None and frozen.value is not None:
        right = trainable.value + frozen.value
        adds = because(mark("trainable and frozen parameters add up to {right}"), right=right)
        if right == total.value:
            for token in (total, trainable, frozen):
                yield _claim(scene, token, "exact", token.value or Fraction(0), adds)
        elif _is_of_model(scene, total) and not _is_of_model(scene, total._replace(value=right, text=str(right))):
            total_less_frozen = total.value - frozen.value
            yield _claim(scene, trainable, "wrong", total_less_frozen, because(mark("should be {right}"), right=total_less_frozen))
            return
        else:
            yield _claim(scene, total, "wrong", right, adds)
            return
    for one in group:
        if one.what != "total" and one.token.value is not None:
            yield from _share(scene, one, one.token.value / total.value)


def _is_of_model(scene: Scene, total: Token) -> bool:
    model = scene.model_at(total.line, total.start)
    return model is not None and settle(total, (model,)) is not None


def _share(scene: Scene, printed: _PrintedCount, right: Fraction) -> Iterator[Claim]:
    """Check the share that stands behind a count."""
    text = scene.lines[printed.line].text
    match = _SHARE.match(text, printed.token.end)
    if match is None:
        return
    places = len(match["share"].partition(".")[2])
    value = Fraction(match["share"]) / 100
    token = Token("num", match["share"], printed.line, match.start("share"), match.end(), value * 100, "%", places)
    close = abs(value - right) * 100 * 10**places <= 1
    reason = because(
        mark("{number} of {whole} is {share}%"),
        number=printed.token.value,
        whole=printed.token.value / right,  # type: ignore[operator]
        share=f"{float(right * 100):.2f}",
    )
    facts = {"value": value * 100, "expected": round(right * 100, max(2, places)), "reason": because(mark("rounded")) if close else reason}
    yield claim(
        scene.lines, token, token, "share", "rounded" if close else "wrong", **facts, difference=value * 100 - round(right * 100, 2)
    )


def _claim(scene: Scene, token: Token, verdict: str, right: Fraction, reason: Reason) -> Claim:
    assert token.value is not None
    facts = {"value": whole(token.value), "expected": whole(right), "difference": whole(token.value - right), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
