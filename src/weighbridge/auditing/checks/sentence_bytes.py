"""Bytes that follow from a count and the bytes of each parameter, both said in words: ``a 7B model in FP16 takes 14 GB``, ``7B * 4 bytes = 28 GB``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.byte_thresholds import EXACT_PRODUCT_FAR, MEMORY_TOLERANCE, NOMINAL_FAR, PACKED_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.dtypes import bytes_each, dtype_sizes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_FIGURE = patterns.pattern(
    r"(?<![\w.,-])(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>(?:[MGT]i?B|mega|giga|tera)(?:byte)?s?)\b(?!\s?/\s?s)", re.IGNORECASE
)
_COUNT = r"(?P<count>\d+(?:\.\d+)?)\s?(?P<scale>B(?![a-z])|billions?)"
_REMARK = r"(?:\s?[(（][^()（）]{0,48}[)）])?"
_EACH = r"(?P<each>\d{1,2}(?:\.\d)?)\s?bytes?(?:\s?(?:/|per|for each|each)\s?(?:trainable |model )?(?:param\w*|weight))?"
_PRODUCTS = tuple(
    patterns.pattern(
        rf"(?<![\w.,*×/+-])(?<![*×/+]\s){first}{_REMARK}\s?[*×x]\s?{second}{_REMARK}\s?[=≈]\s?(?:~|≈|about |around )?\s?"
        rf"(?:\d+(?:\.\d+)?\s?(?:B|billion) bytes\s?[=≈]\s?)?(?={_FIGURE.pattern.replace('number', 'result').replace('unit', 'of')})",
        re.IGNORECASE,
    )
    for count in [_COUNT + r"(?:\s(?:model )?(?:param\w*|weights))?"]
    for first, second in ((count, _EACH), (_EACH, count))
)
"""A count times the bytes of each parameter, in either order, up to the figure that it is equal to."""
_MODEL = patterns.pattern(
    rf"(?<![\w.,-]){_COUNT}[\s-]?(?:param\w*)?[\s-]?(?:dense |base )?(?:models?|LLMs?|param(?:eter)?s)\b", re.IGNORECASE
)
_SIZES = patterns.pattern(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:B(?![a-z])|billion)", re.IGNORECASE)
_NAMED = patterns.pattern(r"(?:[A-Z][\w.]*[a-z]\w*|[A-Z]{2,}[\w.]*)[\s-]+$")
_OPENERS = frozenset("A An The For Our Same Each Any In On At To So Thus Hence Your With And One Dense Running Loading Storing".split())
_LINK = patterns.pattern(
    r"(?:[=≈~:→]|->|\b(?:is|takes?|needs?|requires?|occup(?:y|ies)|uses?|consumes?|weighs?|stored|(?:drops?|goes|falls|comes|shrinks|gets you) (?:down )?to|(?:lands?|sits?|comes in) at|about|around|roughly|approximately|only|just|another|of|or|means|becomes)\b)\W{0,3}$",
    re.IGNORECASE,
)
_ELSE = patterns.pattern(
    r"gradient|optimi[sz]er|adam|activation|\bkv\b|cache|train|tun(?:e|ing)|lora|adapter|overhead|\btotal|minimum|at least|up to|batch|context|offload|disk|file|download|swap|"
    r"recommend|more than|less than|\bover\b|under\b|below|above|almost|nearly|headroom|extra|\bplus\b|\+|\bper\b|\beach\b|every|shard|split|parallel|\btwo\b|\bboth\b|cop(?:y|ies)|active|expert|\bmoe\b|"
    r"\bnot\b|n['’]t\b|instead|fits?\b|\bon an?\b|\bgpus?\b|cards?\b|device|vram of|mixed|sav(?:e|ing)|reduc|shrink|from|than|down|half|twice|double|compar|bandwidth|/s\b",
    re.IGNORECASE,
)
"""Words by which a figure is of more than the weights, or of less, or of a machine."""
_BREAK = patterns.pattern(r"[;；。!?！？]|\.(?=\s|$)|\|")
_HOLDS = patterns.pattern(r"[,，]|\band\b", re.IGNORECASE)
_OF_PARAMETER = patterns.pattern(
    r"\b(?:per|each|every) (?:model )?(?:param\w*|weight)|\bof (?:gpu |video )?(?:memory|v?ram)\b|\bgpu memory\b", re.IGNORECASE
)
_BEHIND = patterns.pattern(
    r"\s?(?:of (?:gpu |video )?(?:memory|v?ram) )?(?:(?:is )?(?:required|needed) )?,?\s?for (?:an? |the )?(?=\d)", re.IGNORECASE
)
_ABOVE, _LONGEST = 3, 2_000
_SMALLEST = Fraction(1, 2)
_SMALL_NAME = 4
"""Billions below which what a model is called may be far from its count: a ``1B`` has 1.24, a ``2B`` 2.5."""
_UNITS = {"m": 10**6, "g": 10**9, "t": 10**12}


class _Product(NamedTuple):
    """A figure, the bytes that it should be, and how far it may be off."""

    line: int
    figure: re.Match[str]
    right: Fraction
    far: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Check every figure in bytes that a count and the bytes of each parameter, beside it, say."""
    for index, line in enumerate(scene.lines):
        text = line.text
        if len(text) > _LONGEST or not _SIZES.search(text) or _FIGURE.search(text) is None:
            continue
        found = {one.figure.start(): one for one in _find_products(scene, index)}
        found |= {one.figure.start(): one for one in _read_products(index, text)}
        for place in sorted(found):
            yield from _hold(scene, found[place])


_ARROW = patterns.pattern(r"\s?(?:→|->|⇒)")
"""Around a product and its result, each of which is then a change: ``7B × 2 → 14B × 2 = 14 GB → 28 GB``."""


def _read_products(index: int, text: str) -> Iterator[_Product]:
    """Read products: whatever they are of, the figure follows from them."""
    for pattern in _PRODUCTS:
        for match in pattern.finditer(text):
            figure = _FIGURE.match(text, match.end())
            changed = (
                figure is not None and _ARROW.match(text, figure.end()) is not None and _ARROW.search(text, 0, match.start()) is not None
            )
            if figure is not None and not changed:
                yield _Product(index, figure, _count(match) * Fraction(match["each"]), EXACT_PRODUCT_FAR)


def _find_products(scene: Scene, index: int) -> Iterator[_Product]:
    """Read sentences that say of a model, which they call by its count alone, what its weights take in one dtype."""
    text, before = scene.lines[index].text, 0
    for figure in _FIGURE.finditer(text):
        start = max([before, *(m.end() for m in _BREAK.finditer(text, 0, figure.start()))])
        stop = next((m.start() for m in _BREAK.finditer(text, figure.end())), len(text))
        before = figure.end()
        clause, behind = text[start : figure.start()], _HOLDS.split(text[figure.end() : stop])[0]
        model = _model(scene, index, figure, start)
        if model is None or not _LINK.search(clause) or _ELSE.search(_OF_PARAMETER.sub(" ", f"{clause} {behind}")):
            continue
        each = _bytes_each(scene, index, start, figure)
        if each is not None:
            loose = each <= _SMALLEST or Fraction(model["count"]) < _SMALL_NAME
            yield _Product(index, figure, _count(model) * each, PACKED_FAR if loose else NOMINAL_FAR)


def _model(scene: Scene, index: int, figure: re.Match[str], start: int) -> re.Match[str] | None:
    """Return the one model that a clause calls by its count; a name beside that makes it another: ``Gemma 7B`` has 8.5 billion."""
    text = scene.lines[index].text
    models = list(_MODEL.finditer(text, start, figure.start()))
    sizes = list(_SIZES.finditer(text, start, figure.start()))
    if not models and (ahead := _BEHIND.match(text, figure.end())) is not None:
        models = [m for m in (_MODEL.match(text, ahead.end()),) if m is not None]
        sizes = [*sizes, *models]
    if not sizes and not scene.mentions.get(index) and dtype_sizes(text[start : figure.start()]):
        models = _models_before(text, start)
        sizes = models[:1]
    if len(models) != 1 or len(sizes) != 1 or scene.mentions.get(index):
        return None
    named = _NAMED.search(text, 0, models[0].start())
    return models[0] if named is None or named[0].strip(" -") in _OPENERS else None


def _models_before(text: str, start: int) -> list[re.Match[str]]:
    """Return the model of the clauses before one that has a dtype of its own, if they call no other: ``At FP16, a 70B model takes 140 GB. INT8 lands at 70 GB``."""
    named = list(_MODEL.finditer(text, 0, start))
    counts = {re.split(r"[^\d.]", found[0])[0] for found in _SIZES.finditer(text, 0, start)}
    return named[-1:] if len(counts) == 1 and not _ELSE.search(_plain(text[:start])) else []


def _bytes_each(scene: Scene, index: int, start: int, figure: re.Match[str]) -> Fraction | None:
    """Return the bytes of the one dtype of a clause, or else of what its line or the item above it begins with."""
    text = scene.lines[index].text
    own = text[start : figure.start()]
    aside = re.match(r"\s?(?:of (?:gpu )?(?:memory|v?ram) )?(?:[(（][^()（）]{0,16}[)）]|in \S{3,9})", text[figure.end() :])
    places = [own + (aside[0] if aside else ""), text[:start], *_items_above(scene, index)]
    for place in places:
        sizes = {*dtype_sizes(place), *bytes_each(place)}
        if sizes and (_FIGURE.search(place) is None or place is places[1]):
            return next(iter(sizes)) if len(sizes) == 1 and (place is places[0] or not _ELSE.search(_plain(place))) else None
    return None


def _plain(text: str) -> str:
    """Leave out what stands in parentheses, and the words for a parameter: they say nothing of what is stored."""
    return _OF_PARAMETER.sub(" ", re.sub(r"[(（][^()（）]*[)）]", " ", text))


def _items_above(scene: Scene, index: int) -> Iterator[str]:
    """Yield the item that a line is an item of."""
    text = scene.lines[index].text
    depth = len(text) - len(text.lstrip())
    for above in range(index - 1, max(-1, index - 1 - _ABOVE), -1):
        other = scene.lines[above].text
        if other.strip() and len(other) - len(other.lstrip()) < depth:
            yield other
            return


def _count(match: re.Match[str]) -> Fraction:
    return Fraction(match["count"]) * 10**9


def _hold(scene: Scene, found: _Product) -> Iterator[Claim]:
    figure, right = found.figure, found.right
    power = _UNITS[figure["unit"][0].lower()]
    number = Fraction(figure["number"])
    places = len(figure["number"].partition(".")[2])
    said = [number * power, number * {10**6: 2**20, 10**9: 2**30, 10**12: 2**40}[power]]
    token = Token("num", figure[0], found.line, figure.start(), figure.end(), number, figure["unit"][0] + "B", places)
    step = Fraction(power, 2 * 10**places)
    facts = {"value": whole(said[0]), "expected": whole(right), "difference": whole(said[0] - right)}
    if any(abs(one - right) <= max(MEMORY_TOLERANCE * right, step) for one in said):
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif all(one > right * found.far or one * min(found.far, NOMINAL_FAR) < right for one in said):
        direction = should_be(is_higher=said[0] > right)
        reason = because(direction, right=write_bytes(token, right, 1000), number=write_bytes(token, abs(said[0] - right), 1000))
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)
