"""The text's own method with its slips mended, and what that method leaves out of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.arithmetic import EquationClaims
from weighbridge.auditing.checks.left_out import find_omissions
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import OmittedCount


def corrected_total(
    scene: Scene, checked: EquationClaims, held: Mapping[str, ReferenceCounts], found: Sequence[Offer]
) -> tuple[int | None, tuple[OmittedCount, ...]]:
    """Return the total that the text's method gives without its slips, and what it leaves out.

    The total is the last number computed as one; a text that computes none has the largest result near the model's count.
    A sum that lacks a part which the text counts by itself is no total of it: then nothing is said.
    """
    own = held.get("")
    if own is None or scene.main is None or not scene.main.firm:
        return None, ()
    own_text = [offer for offer in found if scene.context(offer.first.line, offer.first.start) == ""]
    plain = [o for o in own_text if o.number.denominator == 1 and not (o.figure is not None and o.figure.unit and not o.computed)]
    least = _named_parts(own_text, own)
    near = [o for o in plain if own.reference * 3 < o.number * 4 and o.number * 3 < own.reference * 4 and o.number >= least]
    totals = [o for o in near if (o.subject == "total" or o.whole) and o.computed] or [
        o for o in near if o.computed and o.subject in (None, "total") and (o.subject or o.number not in _all_layers(own))
    ]
    totals = totals or [o for o in near if o.subject == "total"]
    if not totals:
        return None, ()
    number = totals[-1].number
    slip = checked.slips.get(number)
    total = int(Fraction(slip.mended) if slip is not None else number)
    return total, find_omissions(own, total) or ()


def _all_layers(own: ReferenceCounts) -> set[int]:
    """Return what all layers hold together, with and without biases: a sum that is one, and called nothing, is no total."""
    layers = [cell for cell in own.cells if cell.layered]
    return {sum(cell.number * cell.copies for cell in layers), sum(cell.number * cell.copies for cell in layers if not cell.bias)}


def _named_parts(found: Sequence[Offer], own: ReferenceCounts) -> Fraction:
    """Return how much the parts that a text counts come to at least, in any way of counting them."""
    named = {offer.subject for offer in found}
    least = Fraction(0)
    for name in ("word", "position", "type", "pooler"):
        if name in named:
            least += min((holding.number for holding in own.components.get(name, ())), default=Fraction(0))
    for name in ("attention", "ffn"):
        if name in named:
            layers = max((cell.copies for cell in own.cells), default=1)
            least += min((holding.number for holding in own.components.get(name, ()) if holding.exact), default=Fraction(0)) * layers / 2
    return least
