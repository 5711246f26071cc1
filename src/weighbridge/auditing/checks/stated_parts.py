"""Counts that running text gives a component: wrong where one slip of the pen makes them right, and what stands beside them is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import repeat

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.own_counts import is_whole
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.checks.topics import topic
from weighbridge.auditing.checks.worded_components import is_plain_label
from weighbridge.auditing.claims import Claim, Sentence, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components, subject
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, significant_digits, whole, write_like
from weighbridge.auditing.text.size_words import BYTES, WORK
from weighbridge.auditing.thresholds import AGREED_PARTS, BESIDE_PARTS, SLIP_APART
from weighbridge.core.messages import mark

_REACH = 80
"""Characters before a figure that may be its label."""
_BREAK = pattern(r"[,，、;；。！？!?|()（）+=→:：]|\.(?!\d)|\b(?:and|plus|with|while|but|whereas)\b|和|与|加上|以及|而|\d", re.IGNORECASE)
_ITEM = pattern(r"\s*(?:[-*•·+]|\d{1,2}[.)、])\s+(?P<label>[^:：]{2,80}?)[*_`]*[:：]\s*[~≈约*_`]*$")
"""An item of a list up to its count: ``- output projection: 16.8M``."""
_LEAD = pattern(
    r"\b(?:so|thus|therefore|then|hence|here|also|another|again|adds?|takes?|costs?|comes? to|that|per|for|plus|only|just|~)\b|所以|因此|那么|其中|再|还|另外|又|占|各",
    re.IGNORECASE,
)
_OTHERWISE = pattern(
    r"^[^,，;；。.()（）]{0,24}?(?:\bper head|head\b|\bflop|\bmac|byte|token|%|dim|trainable|fewer|less|more|times|×|\*|/|bit|个头|维|字节|倍|节省|可训练|词|tokens?)",
    re.IGNORECASE,
)
_KINDS = ("component", "total", "arithmetic", "symbolic")
_RIGHT = ("exact", "rounded", "convention")


def check(scene: Scene, held: Mapping[str, ReferenceCounts], judged: Sequence[Claim]) -> Iterator[Claim]:
    """Check every count that has one component's plain name right before it and that nothing has judged.

    Args:
        judged: The claims so far: two right ones near by make the model and its convention sure, a wrong one leaves doubt.
    """
    spans = ClaimSpans(judged)
    right = Counter(one.line for one in judged if one.kind in _KINDS and one.verdict in _RIGHT)
    wrong = {one.line for one in judged if one.verdict in ("wrong", "carried")}
    for statement in scene.numbered:
        for index, token in scene.figures_of(statement):
            if not _is_count(token) or "|" in scene.lines[token.line].text or _is_operand(statement, index):
                continue
            line = scene.lines[token.line]
            if not _is_beside_right_ones(right, wrong, line.number):
                continue
            if not spans.holds(line.number, line.at[token.start], line.at[token.end - 1] + 1):
                yield from _judge(scene, held, token)


def _is_beside_right_ones(right: Mapping[int, int], wrong: Set[int], line: int) -> bool:
    """Tell whether enough right claims, and no wrong one, stand near a line."""
    near = range(line - BESIDE_PARTS, line + BESIDE_PARTS + 1)
    return sum(map(right.get, near, repeat(0))) >= AGREED_PARTS and wrong.isdisjoint(near)


def _is_count(token: Token) -> bool:
    if token.kind != "num" or not token.value or token.unit == "%" or token.unit in BYTES or token.unit in WORK:
        return False
    return bool(token.unit) or (token.value >= 1000 and not token.places)


def _is_operand(statement: Sequence[Token], index: int) -> bool:
    beside = [statement[i] for i in (index - 1, index + 1) if 0 <= i < len(statement)]
    return any(other.kind in ("op", "rel") and other.text != "≈" and not (other.text == "-" and other.spaced) for other in beside)


def _judge(scene: Scene, held: Mapping[str, ReferenceCounts], token: Token) -> Iterator[Claim]:
    context = scene.context(token.line, token.start)
    own, model = held.get(context) if context is not None else None, scene.model_at(token.line, token.start)
    name = _component(scene, token) if own is not None and model is not None else None
    if own is None or model is None or name is None or not own.components.get(name) or not _is_sure(scene, token, context or ""):
        return
    slipped = next((choice for choice in own.components[name] if _is_slip_of(token, choice.number)), None)
    if slipped is None:
        return  # as with nearly every figure: no reading of it need be tried
    layers = words_of(model).get("layers", 1)
    counts = [number * times for number in own.numbers | own.tensors for times in (1, layers)]
    number = likeliest_value(token) or Fraction(0)
    if any(fit(token, count) for count in counts) or settle(token, (model,)) is not None or is_whole(model, int(number)):
        return
    right = slipped.number
    direction = should_be(is_higher=number > right)
    reason = because(direction, right=write_like(token, right), number=write_like(token, abs(number - right)))
    reason += because(mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(name, name)), right=right) + slipped.convention
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    yield claim(scene.lines, token, token, "component", "wrong", **facts, reason=reason)


def _component(scene: Scene, token: Token) -> str | None:
    """Return the one component that the words right before a figure name, and nothing else."""
    text = scene.lines[token.line].text
    if _OTHERWISE.search(text[token.end :]):
        return None
    before = text[max(0, token.start - _REACH) : token.start]
    item = _ITEM.fullmatch(before) if token.start <= _REACH else None
    label = item["label"] if item is not None else _BREAK.split(before.rstrip(" ~≈约:：*_`（("))[-1]
    if not find_components(label):
        return None
    name, clear = subject(label)
    return name if name not in (None, "total") and clear and is_plain_label(_LEAD.sub(" ", label)) else None


def _is_sure(scene: Scene, token: Token, context: str) -> bool:
    """Tell whether the model of a place is given, or the one that its passage is about."""
    name = context or (scene.main.name if scene.main is not None else "")
    about = topic(scene, token.line, token.start)
    return scene.given or (about is not None and about.mention.name == name) or (scene.alternates.keys() == {name} and scene.known_only)


def _is_slip_of(token: Token, right: Fraction) -> bool:
    """Tell whether one slip of the pen makes a figure a number, and they are too far apart to be two ways of counting."""
    number = likeliest_value(token)
    if number is None or not right or token.value is None:
        return False
    if abs(number - right) * SLIP_APART[min(significant_digits(token), len(SLIP_APART) - 1)] < right:
        return False
    written = f"{float(right / scales(token)[0]):.{token.places}f}" if token.unit else str(int(right))
    digits = str(int(token.value * 10**token.places))
    return is_slip(digits, written.replace(".", ""))
