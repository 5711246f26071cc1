"""Two models compared by their counts: ``3.1 times larger than BERT-base``, ``40% fewer parameters than``, ``的 3 倍``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.published_figures import figures
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.thresholds import RATIO_FAR, RATIO_TOLERANCE
from weighbridge.core.messages import mark
from weighbridge.presets import preset
from weighbridge.presets.aliases import MODEL

_WORDS = {"twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_NUMBER = r"(?P<number>(?<![A-Za-z0-9_.])\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten)"
_TIMES = patterns.pattern(
    rf"(?:{_NUMBER} ?(?:x|×|times|[- ]fold)|(?P<twice>twice)) ?"
    r"(?:(?:the|as) (?:size|number of (?:total )?parameters|parameter count|parameters)(?: of)?|(?P<less>smaller|fewer parameters|less parameters)(?: than)?|"
    r"(?:larger|bigger|more parameters)(?: than)?|as (?:large|big|many (?:total )?parameters)(?: as)?)\W*(?:that of |of )?",
    re.IGNORECASE,
)
_SHARE = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(?P<number>\d{1,2}(?:\.\d+)?) ?%,? (?:(?P<less>fewer parameters|less parameters|smaller(?: in size)?)|more parameters|larger|bigger) than \W*",
    re.IGNORECASE,
)
_TIMES_ZH = patterns.pattern(r"\W{0,2}的?\W{0,2}(?P<number>(?<![\d.])\d+(?:\.\d+)?) ?倍")
_IS_ZH = patterns.pattern(
    r"\W*(?:模型)?(?:的)?(?:总)?(?:参数量?|参数规模|规模|参数总量|参数数量|大小)(?:大约|大概|约|就|几乎|接近)*(?:是|为|达到?|相当于)(?:了)?\W*"
)
_VERB = patterns.pattern(
    r"(?:\W|\b(?:is|are|was|has|have|being|with|at|about|roughly|around|approximately|some|model|which|contains?|base|parameters?)\b)*",
    re.IGNORECASE,
)
"""All that may stand between a model and what it is compared by."""
_ELSE_BEHIND = patterns.pattern(
    r"\W{0,3}(?:in|on|at|for|vocab|context|data|hidden|embedding|layer|model's|tokeni|attention|cache|memory|'s|’s|词表|上下文|数据|的(?!参数))",
    re.IGNORECASE,
)
"""Words behind the second model by which something else of it is compared."""
_GAP = 60


def check(scene: Scene) -> Iterator[Claim]:
    """Check every sentence that says how many times, or by how many percent, one known model is larger than another."""
    for index, named in scene.mentions.items():
        if len(named) < 2:
            continue
        text = scene.lines[index].text
        for one, other in pairwise(named):
            if one.kind == other.kind == MODEL and one.names != other.names and other.column - one.end <= 2 * _GAP:
                judged = _english(scene, index, text, one, other) or _chinese(scene, index, text, one, other)
                if judged is not None:
                    yield judged


def _english(scene: Scene, index: int, text: str, one: Mention, other: Mention) -> Claim | None:
    between = text[one.end : other.column]
    for pattern in (_TIMES, _SHARE):
        found = pattern.search(between)
        if found is None or found.end() != len(between) or not _VERB.fullmatch(between[: found.start()]):
            continue
        if _ELSE_BEHIND.match(text, other.end):
            return None
        word = found["number"] or "twice"
        number = Fraction(_WORDS.get(word.lower()) or word)
        less = found["less"] is not None
        ratios = _ratios(one, other)
        if pattern is _SHARE:
            truths = [100 * (1 - ratio if less else ratio - 1) for ratio in ratios]
        else:
            truths = [1 / ratio if less else ratio for ratio in ratios]
            truths += [ratio - 1 for ratio in truths if "more" in found[0].lower() or "larger" in found[0].lower()]
        return _hold(
            scene, index, (one.end + found.start(), one.end + found.end("number") if found["number"] else other.column), number, truths
        )
    return None


def _chinese(scene: Scene, index: int, text: str, one: Mention, other: Mention) -> Claim | None:
    found = _TIMES_ZH.match(text, other.end)
    if found is None or not _IS_ZH.fullmatch(text[one.end : other.column]):
        return None
    truths = _ratios(one, other)
    return _hold(scene, index, found.span("number"), Fraction(found["number"]), truths)


def _ratios(one: Mention, other: Mention) -> list[Fraction]:
    """Return how many times one model is another: by their own counts first, by published figures, and both without their embeddings."""
    bare = [Fraction(a) / b for a in _own_counts(one, "non_embedding") for b in _own_counts(other, "non_embedding")]
    return [Fraction(a) / b for a in _counts(one) for b in _counts(other)] + bare


def _own_counts(mention: Mention, what: str) -> list[int]:
    model = preset_model(mention.name or "")
    own = own_count(model, what) if model is not None else None
    return [own] if own else []


def _counts(mention: Mention) -> list[int | Fraction]:
    known = preset(mention.name or "")
    return [*_own_counts(mention, "total"), *(number for number, _ in (figures(known) if known is not None else ()) if number)]


def _hold(scene: Scene, index: int, span: tuple[int, int], number: Fraction, truths: list[Fraction]) -> Claim | None:
    if not truths or truths[0] <= 0 or number <= 0:
        return None
    token = Token("num", "", index, *span)
    right = Fraction(round(truths[0] * 100), 100)
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    if any(abs(number - one) <= max(RATIO_TOLERANCE * one, Fraction(1, 20)) or round(one) == number for one in truths):
        return claim(scene.lines, token, token, "share", "rounded", **facts, reason=because(mark("rounded")))
    if all(number > RATIO_FAR * one or number * RATIO_FAR < one for one in truths):
        return claim(
            scene.lines,
            token,
            token,
            "share",
            "wrong",
            **facts,
            reason=because(mark("their counts make it {right}"), right=f"{float(right):.2f}"),
        )
    return None
