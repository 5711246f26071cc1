"""Arithmetic work that is claimed for one token: twice the parameters in FLOPs, as many multiply-adds, six times in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.amounts import PER_TOKEN
from weighbridge.auditing.checks.count_subjects import subject_of
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole, write_like
from weighbridge.auditing.thresholds import WORK_FAR, WORK_SAID_FAR, WORK_TOLERANCE
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

TIMES = (2, 1, 6, 3, 4, 8)
"""What people count for each parameter: FLOPs forward, multiply-adds, training, with recomputation."""
_REACH = 40
_SAID_REACH = 80
_MULTIPLE = pattern(
    r"(?<![A-Za-z0-9_.^])([1-9]) ?[×x*·]? ?(?:N|P|n_params|N_params)(?![\w²^])(?! ?[×x*·]? ?D\b)(?=[^。;；]*$)(?!.*(?:FLOP|batch|sequence|批))"
)
"""How many FLOPs for each parameter a text says it counts: ``2N = 13.5 GFLOPs``."""


_OF_NOMINAL = pattern(
    r"(?<![\w.-])(?P<count>\d+(?:\.\d+)?) ?B[- ](?:param\w*[- ])?model\s?[:,]?\s?(?:(?:needs|takes|uses|costs|requires|spends|does)\s)?(?:(?:about|around|roughly)\s)?[~≈]?\s?"
    r"(?P<figure>(?P<number>\d+(?:\.\d+)?) ?(?P<scale>billion|trillion|G|T)) ?FLOPs?(?= (?:per|for each|for every|a) (?:generated |new |output )?token)",
    re.IGNORECASE,
)
"""FLOPs for a token of a model that is called by its count alone."""
_TWICE = pattern(r"(?<![\w.])2 ?[×x*·]? ?(?:N|P)\b|\b(?:2|two) FLOPs? (?:per|for each) param", re.IGNORECASE)
_SCALES = {"billion": 10**9, "g": 10**9, "trillion": 10**12, "t": 10**12}


def check(scene: Scene) -> Iterator[Claim]:
    """Check figures in FLOPs or multiply-adds that are said of one token of a model."""
    for index, line in enumerate(scene.lines):
        if "FLOP" in line.text and _TWICE.search(line.text):
            for found in _OF_NOMINAL.finditer(line.text):
                yield from _of_nominal(scene, index, found)
    for _, _, token in scene.sorted_figures.of_work:
        text = scene.lines[token.line].text
        near = text[max(0, token.start - _REACH) : token.end + _REACH]
        if token.value and PER_TOKEN.search(near) and not _SPEED.search(text, 0, token.start):
            judged = _hold(scene, token, text)
            if judged is not None:
                yield judged


_SPEED = pattern(r"(?:[/÷]|\bat|\b(?:delivers|peak|dense|sustains?)|\b(?:[ABHLVT]\d{2,3}|GPU|TPU|RTX ?\d{4})\b[^.;。；]{0,40})[\s:：(（]*$")
"""Before what a device does in a second: ``140 GFLOPs / 312 TFLOPS``."""


def _of_nominal(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    """Hold FLOPs for a token against twice the count that its model is called by, where the text says that rule."""
    count = Fraction(found["count"]) * 10**9
    number = Fraction(found["number"]) * _SCALES[found["scale"].lower()]
    places = len(found["number"].partition(".")[2])
    token = Token("num", found["figure"], index, *found.span("figure"), Fraction(found["number"]), found["scale"].lower(), places)
    reason = because(mark("about two FLOPs for each of {count} parameters"), count=whole(count))
    if abs(number - 2 * count) <= 2 * count * WORK_TOLERANCE / 2:
        yield _claim(scene, token, "rounded", number, 2 * count, reason)
    elif all(abs(number - times * count) > times * count * WORK_TOLERANCE / 2 for times in TIMES):
        direction = should_be(is_higher=number > 2 * count)
        about = because(direction, right=write_like(token, 2 * count), number=write_like(token, abs(number - 2 * count)))
        yield _claim(scene, token, "wrong", number, 2 * count, about + reason)._replace(kind="arithmetic")


def _hold(scene: Scene, token: Token, text: str) -> Claim | None:
    subject, number = subject_of(scene, token, 0, len(text)), likeliest_value(token)
    counts = [
        count
        for model in (subject.models if subject is not None else ())
        for what in ("active", "non_embedding")
        if (count := own_count(model, what))
    ]
    if subject is None or number is None or not counts:
        return None
    said = [int(match[1]) for match in _MULTIPLE.finditer(text[max(0, token.start - _SAID_REACH) : token.start])][-1:]
    ways = [Fraction(count * times) for count in counts for times in (said or TIMES)]
    right = ways[0]
    if said and said[0] != TIMES[0]:
        reason = because(mark("{times} FLOPs for each of {count} parameters"), times=said[0], count=counts[0])
    else:
        reason = because(mark("about two FLOPs for each of {count} parameters"), count=counts[0])
    far = WORK_SAID_FAR if said else WORK_FAR
    named = scene.mentions.get(token.line, ())
    firm = subject.firm or (bool(said) and len({m.names for m in named}) == 1 and named[0].kind == MODEL)
    if any(abs(number - way) <= WORK_TOLERANCE * way for way in ways):
        return _claim(scene, token, "rounded", number, min(ways, key=lambda way: abs(number - way)), reason)
    if firm and all(number > far * way or number * far < way for way in ways):
        direction = should_be(is_higher=number > right)
        away = write_like(token, abs(number - right))
        return _claim(scene, token, "wrong", number, right, because(direction, right=write_like(token, right), number=away) + reason)
    return None


def _claim(scene: Scene, token: Token, verdict: str, number: Fraction, right: Fraction, reason: object) -> Claim:
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right), "reason": reason}
    return claim(scene.lines, token, token, "total", verdict, **facts)
