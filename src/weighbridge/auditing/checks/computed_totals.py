"""Hold a total that a text computes against the model."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.auditing.checks.arithmetic import EquationClaims
from weighbridge.auditing.checks.left_out import find_omissions
from weighbridge.auditing.checks.offer_claims import claim_of, inherited_claim
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.rounding import fit
from weighbridge.core.messages import mark


def computed_total(scene: Scene, offer: Offer, own: ReferenceCounts, checked: EquationClaims) -> Claim | None:
    """Judge a computed total: the method is the text's own, so a sum that is no count of the model is at most noted."""
    if offer.number in checked.slips and not offer.computed:
        return inherited_claim(scene, offer, "total", checked)
    if offer.number == own.reference:
        reason = because(mark("the count of {name}"), name=own.class_name)
        return claim_of(scene, offer, "total", "exact", Fraction(own.reference), reason)
    for name, count in own.classes.items():
        if offer.number == count:
            return claim_of(scene, offer, "total", "convention", Fraction(count), because(mark("the count of {name}"), name=name))
    if offer.figure is not None and (offer.figure.unit or offer.figure.places):
        return _rounded_total(scene, offer, own)
    far = offer.number < Fraction(own.reference, 4) or offer.number > 4 * own.reference
    if far and not _is_mistyped(int(offer.number), own.reference):
        return None
    parts = find_omissions(own, int(offer.number)) if offer.number.denominator == 1 else None
    if parts is not None:
        what = tuple(part.what for part in parts)
        return claim_of(scene, offer, "total", "convention", Fraction(own.reference), because(mark("without {what}"), what=what))
    model = scene.model_at(offer.first.line, offer.first.start)
    if offer.figure is not None and model is not None:
        found = settle(offer.figure, (model,))
        if found is not None:
            return claim_of(scene, offer, "total", found.verdict, found.expected, found.reason)
    reason = because(mark("{name} has {right}"), name=own.class_name, right=own.reference)
    return claim_of(scene, offer, "total", "note", Fraction(own.reference), reason) if offer.firm else None


def _is_mistyped(number: int, right: int) -> bool:
    """Tell whether a number differs from another in one digit, or is it with one digit more or less."""
    a, b = str(number), str(right)
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b, strict=True)) == 1
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _rounded_total(scene: Scene, offer: Offer, own: ReferenceCounts) -> Claim | None:
    assert offer.figure is not None
    loose = _is_hedged(scene, offer)
    for name, count in {own.class_name: own.reference, **own.classes}.items():
        agreed = fit(offer.figure, Fraction(count), loose=loose)
        if agreed is not None and agreed.verdict != "note":
            reason = agreed.reason + because(mark("{name} has {right}"), name=name, right=count)
            return claim_of(scene, offer, "total", "rounded", Fraction(count), reason)
    return None


def _is_hedged(scene: Scene, offer: Offer) -> bool:
    text = scene.lines[offer.first.line].text[: offer.first.start].rstrip(" (*")
    return text.endswith(("约", "≈", "about", "approximately", "roughly", "around", "nearly", "大约", "近", "接近"))
