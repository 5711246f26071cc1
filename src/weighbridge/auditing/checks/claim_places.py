"""Which claims stand where others do: of two about one place, one is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.claims import Claim


def overlap(one: Claim, other: Claim) -> bool:
    """Tell whether two claims share a character."""
    return one.line == other.line and one.start < other.end and other.start < one.end


def by_line(claims: Sequence[Claim]) -> dict[int, list[Claim]]:
    """Return claims by the line that each stands on."""
    found: dict[int, list[Claim]] = {}
    for one in claims:
        found.setdefault(one.line, []).append(one)
    return found


def of_another_verdict(found: Sequence[Claim], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims that say otherwise than those before them about the same words, or of which nothing is said."""
    places = by_line(claims) if found else {}
    for one in found:
        before = [other for other in places.get(one.line, ()) if overlap(one, other)]
        if not before or any((other.verdict == "wrong") != (one.verdict == "wrong") for other in before):
            yield one


_MOST_OF_LINE = 100
"""Claims of a line that are compared with each other; a line with more is no sentence."""


def drop_inner_sizes(claims: Sequence[Claim]) -> list[Claim]:
    """Leave out a size whose number stands within another claim of the same verdict: it is said once."""
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for one in claims:
        spans.setdefault(one.line, []).append((one.start, one.end, one.verdict))

    def is_inside(one: Claim) -> bool:
        if len(spans[one.line]) > _MOST_OF_LINE:
            return False
        return any(
            (start, end) != (one.start, one.end) and start <= one.start and one.end <= end and (one.verdict in ("exact", verdict))
            for start, end, verdict in spans[one.line]
        )

    return [one for one in claims if one.kind != "configuration" or one.verdict not in ("exact", "wrong") or not is_inside(one)]


def claims_elsewhere(later: Iterable[Claim], claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims about places that none of the others is about."""
    found = list(later)
    taken = ends_of(claims) if found else set()
    return list({(claim.line, claim.end): claim for claim in found if (claim.line, claim.end) not in taken}.values())


def claims_beside(later: Iterable[Claim], claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that none of the others holds within it."""
    apart = claims_elsewhere(later, claims)
    lines = {claim.line for claim in apart}
    covered = ClaimSpans([claim for claim in claims if claim.line in lines]) if apart else ClaimSpans(())
    return [claim for claim in apart if not covered.holds(claim.line, claim.start, claim.end)]


def put_before_rounded(claims: Sequence[Claim], found: Iterable[Claim]) -> list[Claim]:
    """Return claims with others, of which what is wrong stands for what was only near, and what is right for what nothing was said of.

    Of two that call a figure wrong, the one that needs the smaller change stands.
    """
    judged = [one for one in claims if one.verdict != "unsettled"]
    new = list(found)
    wrong = by_line([one for one in new if one.verdict == "wrong"])
    farther = {one for one in judged if one.verdict == "wrong" and any(_is_nearer(other, one) for other in wrong.get(one.line, ()))}
    taken = by_line([one for one in judged if one.verdict not in ("rounded", "note") and one not in farther])
    kept = [one for one in new if one.verdict != "wrong" or not any(overlap(one, other) for other in taken.get(one.line, ()))]
    left = [
        one
        for one in claims
        if (one.verdict != "rounded" and one not in farther)
        or not any(overlap(one, other) and other in kept for other in wrong.get(one.line, ()))
    ]
    return [*left, *(one for one in kept if one.verdict == "wrong"), *claims_beside([one for one in kept if one.verdict != "wrong"], left)]


def _is_nearer(one: Claim, other: Claim) -> bool:
    """Tell whether a claim is of the same figure as another, and makes less of a change to it."""
    mine, theirs = one.difference, other.difference
    counted = isinstance(mine, int | Fraction) and isinstance(theirs, int | Fraction)
    return counted and one.end == other.end and abs(mine) < abs(theirs)  # type: ignore[arg-type, operator]


def ends_of(claims: Iterable[Claim]) -> set[tuple[int, int]]:
    """Return where claims end: two of one line that end alike are about one number."""
    return {(claim.line, claim.end) for claim in claims}


def has_unit(claim: Claim) -> bool:
    """Tell whether a figure is rounded: what follows from rounded figures above it is off as they are, and not wrong for it."""
    return claim.text[-1:].isalpha()
