"""The claim that an offer makes: where it stands, and what is right."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.auditing.checks.arithmetic import EquationClaims
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark


def inherited_claim(scene: Scene, offer: Offer, kind: str, checked: EquationClaims) -> Claim:
    """Return the claim of a number that follows from an error above it."""
    slip = checked.slips[offer.number]
    reason = because(mark("follows from the error on line {line}"), line=slip.line)
    return claim_of(scene, offer, kind, "carried", slip.mended, reason)


def claim_of(scene: Scene, offer: Offer, kind: str, verdict: str, true: Fraction, reason: tuple[Sentence, ...]) -> Claim:
    """Return the claim of an offered number: its place, what it says and what is true."""
    facts = {"value": whole(offer.number), "expected": whole(true), "difference": whole(offer.number - true), "reason": reason}
    first = offer.first if offer.first.line == offer.last.line else offer.last
    return claim(scene.lines, first, offer.last, kind, verdict, **facts)
