"""Hold what a text says of components and totals against the model: exact, another convention, rounded, or wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks import modules
from weighbridge.auditing.checks.arithmetic import EquationClaims
from weighbridge.auditing.checks.component_counts import ComponentCount
from weighbridge.auditing.checks.computed_totals import computed_total
from weighbridge.auditing.checks.count_subjects import is_resized
from weighbridge.auditing.checks.offer_claims import claim_of, inherited_claim
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.own_counts import is_whole
from weighbridge.auditing.checks.reference_counts import ReferenceCounts, is_one_thing
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, scales, significant_digits
from weighbridge.auditing.thresholds import LARGE_NUMBER
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL


def check(
    scene: Scene,
    checked: EquationClaims,
    held: Mapping[str, ReferenceCounts],
    found: Sequence[Offer],
    *,
    firm: bool = True,
    tabled: Collection[int] = (),
) -> Iterator[Claim]:
    """Hold every count that is said to be a component's, or the whole model's, against the model.

    Args:
        found: What :func:`offers` yields.
        firm: Whether the model is sure enough to call a number wrong.
    """
    wrong = {(c.line, c.end) for c in checked.claims if c.verdict in ("wrong", "carried")}
    rest: set[tuple[Fraction, str]] = set()
    printed = modules.places(scene)
    for offer in found:
        if offer.first.line in printed:
            continue
        if offer.subject is None or offer.first.line in tabled:
            continue
        context = scene.context(offer.first.line, offer.first.start)
        own = held.get(context) if context is not None else None
        if own is None:
            continue
        if offer.subject == "total" and not offer.computed and offer.number not in checked.slips:
            continue  # a count that is only said: totals.py
        judged = computed_total(scene, offer, own, checked) if offer.subject == "total" else _component(scene, offer, own, checked)
        if judged is None and offer.whole and offer.number * 2 > own.reference:
            judged = computed_total(scene, offer, own, checked)
        if judged is None or (judged.line, judged.end) in wrong or (not firm and judged.verdict == "wrong"):
            continue
        if judged.verdict == "wrong" and (offer.number, offer.subject) in rest:
            continue
        rest.add((offer.number, offer.subject))
        yield judged


def _component(scene: Scene, offer: Offer, own: ReferenceCounts, checked: EquationClaims) -> Claim | None:
    name = offer.subject
    assert name is not None
    choices = own.components.get(name, ())
    if not choices:
        return None
    if offer.number in checked.slips and not offer.computed:
        return inherited_claim(scene, offer, "component", checked)
    for holding in choices:
        if holding.number == offer.number:
            return _fits(scene, offer, "component", holding)
    if offer.figure is not None and (offer.figure.unit or offer.figure.places):
        for holding in choices[:4]:
            agreed = fit(offer.figure, holding.number)
            if agreed is not None and agreed.verdict != "note":
                return claim_of(scene, offer, "component", "rounded", holding.number, agreed.reason + holding.convention)
    if not is_one_thing(own, name):
        return None
    if not offer.computed and not _is_labelled(scene, offer, choices):
        return None
    if not offer.firm or not _is_of_these_sizes(scene, offer) or _is_part(own, name, offer.number):
        return None
    model = scene.model_at(offer.first.line, offer.first.start)
    if model is not None and offer.number.denominator == 1 and is_whole(model, int(offer.number)):
        return None  # the whole model in some way of counting: DPR calls it its encoder
    if model is not None and offer.figure is not None and settle(offer.figure, (model,)) is not None:
        return None  # a figure of the whole model, beside words that name a part: ``4 heads and 12 layers (14M parameters)``
    if _is_of_other_parts(own, offer, checked):
        return None
    if offer.figure is not None and not offer.computed and is_resized(scene, offer.first.line, offer.first.start):
        return None
    adapted = _ADAPTED.search(scene.lines[offer.first.line].text, 0, offer.first.start) is not None
    if adapted or _TRAINED.match(scene.lines[offer.last.line].text, offer.last.end):
        return None  # what an adapter trains of it
    if offer.figure is not None and not offer.figure.unit and _is_a_width(scene, offer, choices):
        return None  # ``the MLP is 11008 wide``
    if scene.is_at_other_sizes(offer.first.line) or _OPERATIONS.match(scene.lines[offer.last.line].text, offer.last.end):
        return None
    if offer.figure is not None and offer.figure.unit:
        near = _is_near(offer.number, choices) or _is_said_plainly(scene, offer)
        if not near or _is_rounded_part(own, offer):
            return None
    nearest = min(choices, key=lambda h: (abs(h.number - offer.number), not h.exact))
    best = choices[0] if abs(choices[0].number - offer.number) <= 3 * abs(nearest.number - offer.number) else nearest
    reason = because(mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(name, name)), right=best.number)
    return claim_of(scene, offer, "component", "wrong", best.number, reason + best.convention)


_OPERATIONS = pattern(r"\W{0,3}(?:floating|operations?|ops\b|flops?\b|macs?\b|multipl|bytes?\b|次运算|次浮点|次乘)", re.IGNORECASE)

"""Behind a number that counts work or bytes, and no parameters."""

_WIDTH = pattern(
    r"[- ]?(?:wide\b|inputs?\b|outputs?\b|neurons?\b|channels?\b|units?\b|(?:hidden )?(?:dim(?:ension)?s?|units)\b|dimensional|个?(?:维|神经元|单元|通道))",
    re.IGNORECASE,
)
_LARGEST_WIDTH = 100_000
_COUNTED = pattern(r"param|weights?\b|参数|权重", re.IGNORECASE)


def _is_a_width(scene: Scene, offer: Offer, choices: Sequence[ComponentCount]) -> bool:
    """Tell whether a number is how wide a component is: it is said to be, or is far below every count of it and not called one."""
    text = scene.lines[offer.last.line].text
    small = offer.number < _LARGEST_WIDTH and all(choice.number > offer.number * _FAR for choice in choices) and not offer.computed
    return _WIDTH.match(text, offer.last.end) is not None or (small and _COUNTED.search(text) is None)


_FAR = 100
_ADAPTED = pattern(r"(?<![A-Za-z])(?:q?lora|dora|ia3|adapters?|r\s?=\s?\d+|rank\s?=\s?\d+)(?![A-Za-z])|低秩|秩为", re.IGNORECASE)
_TRAINED = pattern(r"\s?(?:trainable|parameters? to train|个?可训练)", re.IGNORECASE)
_LABELLED = pattern(
    r"(?:[:：=]|\bhas|\bhave|\bholds?|\bcontains?|为|是|有|共|is|are)\W*+(?:约|about|approximately|roughly|≈|a total of)?\W*+$",
    re.IGNORECASE,
)
_NEAR = 200
"""Letters before a number in which what labels it stands: a line of signs is not gone through from each of them."""


def _is_labelled(scene: Scene, offer: Offer, choices: Sequence[ComponentCount]) -> bool:
    """Tell whether a number that no equation computes stands right behind a colon or a verb of its component."""
    before = scene.lines[offer.first.line].text[: offer.first.start]
    celled = before.rstrip(" ~≈*").endswith("|") and before.count("|") <= 2
    clause = re.split(r"[,，;；。:：]", before)[-1].lower()
    named = find_components(clause)
    rounded = offer.figure is not None and bool(offer.figure.unit)
    adjacent = bool(named) and rounded and _is_near(offer.number, choices) and _ADJACENT.fullmatch(clause[named[-1].end :]) is not None
    return (celled or adjacent or bool(_LABELLED.search(before[-_NEAR:]))) and "model" not in before.lower()


_ADJACENT = pattern(
    r"\W*+(?:层|模块|部分|网络)?的?(?:总?参数(?:总?量|数量?)?|parameters?|params)?\W*+(?:约为?|大约|为|是|有|共|about|roughly|approximately)?\W*+",
    re.IGNORECASE,
)
"""Between a component's name and a rounded figure of it."""


def _is_said_plainly(scene: Scene, offer: Offer) -> bool:
    """Tell whether a line names one model, and a verb and ``parameters`` stand around a count: it is wrong however far off it is."""
    text, named = scene.lines[offer.first.line].text, scene.mentions.get(offer.first.line, ())
    return (
        not offer.computed
        and len(named) == 1
        and named[0].kind == MODEL
        and _LABELLED.search(text[max(offer.first.start - _NEAR, 0) : offer.first.start]) is not None
        and _PARAMETERS.match(text, offer.last.end) is not None
    )


_PARAMETERS = pattern(r"\s?(?:个\s?)?(?:parameters|params|参数)\s?(?:$|[.,;:)，。；）]|and\b|each\b)|\s?。", re.IGNORECASE)


def _is_near(number: Fraction, choices: Sequence[ComponentCount]) -> bool:
    return any(h.number / 3 < number < h.number * 3 for h in choices)


def _is_of_these_sizes(scene: Scene, offer: Offer) -> bool:
    """Tell whether a result was computed from the model's own sizes, as far as its numbers tell."""
    sizes = scene.sizes_at(offer.first.line, offer.first.start)
    known = set(sizes.values()) | {4 * sizes.get("hidden", 0), 64}
    plain = [t.value for t in offer.tokens if t.value is not None and 100 <= t.value < 100_000]
    return all(number in known for number in plain) or not offer.computed


def _is_rounded_part(own: ReferenceCounts, offer: Offer) -> bool:
    """Tell whether a rounded figure is that of another component, or of both tables of words: ``23.4M`` of an embedding layer."""
    assert offer.figure is not None
    both = {2 * h.number for name in ("word", "tables", "embeddings") for h in own.components.get(name, ())}
    return any(fit(offer.figure, number) is not None or _is_neighbour(offer.figure, number) for number in own.numbers | both)


def _is_neighbour(figure: Token, number: Fraction) -> bool:
    """Tell whether a figure of two digits is one off in its last: ``86M`` of 85.05 million, with or without something small."""
    assert figure.value is not None
    digits = significant_digits(figure)
    return digits <= 2 and not figure.places and any(abs(figure.value * scale - number) < scale for scale in scales(figure))


def _is_of_other_parts(own: ReferenceCounts, offer: Offer, checked: EquationClaims) -> bool:
    """Tell whether a result is computed from a large number that is no part of this model, nor an error of the text."""
    large = [t.value for t in offer.tokens if t.value is not None and t.value >= LARGE_NUMBER and not t.unit]
    return any(
        number not in own.numbers and number not in own.tensors and number not in checked.slips and number != offer.number
        for number in large
    )


def _is_part(own: ReferenceCounts, name: str, number: Fraction) -> bool:
    """Tell whether a number is a single tensor or module inside the component: one matrix of it, say."""
    return number in own.numbers or any(number / times in own.tensors for times in (1, 2, 3, 4, 12, 24))


def _fits(scene: Scene, offer: Offer, kind: str, holding: ComponentCount) -> Claim:
    verdict = "exact" if holding.exact else "convention"
    return claim_of(scene, offer, kind, verdict, holding.number, holding.convention)
