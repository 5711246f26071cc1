"""Check every written equation exactly, and tell a slip from results that only carry it on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.equation_verdicts import EquationJudge, Finding, Slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import NamedTuple


class EquationClaims(NamedTuple):
    """The claims of all equations, the numbers that are wrong or carry a slip on, and all printed results."""

    claims: tuple[Claim, ...]
    slips: Mapping[Fraction, Slip]
    results: frozenset[Fraction]


def check(scene: Scene) -> EquationClaims:
    """Check the equations of a text.

    Returns:
        One claim for each printed result; the slips by the number that was printed.
    """
    slips: dict[Fraction, Slip] = {}
    judged = [EquationJudge(scene, chain) for chain in scene.chains]
    found = [list(one.claims({})) for one in judged]
    for _ in range(6):
        before = slips
        slips = _slips(found)
        changed = {number for number in slips.keys() | before.keys() if slips.get(number) != before.get(number)}
        if not changed:
            break
        either = slips.keys() | before.keys()
        for index, one in enumerate(judged):
            if not one.numbers.isdisjoint(changed) and one.is_computed_from(either):
                found[index] = list(one.claims(slips))
    ends = (side.term for chain in scene.chains for side in chain.sides[1:])
    results = frozenset(term.value for term in ends if isinstance(term, Token) and term.value is not None)
    return EquationClaims(tuple(claim for one in found for claim, _ in one), slips, results)


def claims_of(scene: Scene, chain: Chain) -> list[Claim]:
    """Judge one equation by itself."""
    return [claim for claim, _ in EquationJudge(scene, chain).claims({})]


def _slips(found: Sequence[Sequence[Finding]]) -> dict[Fraction, Slip]:
    """Return the wrong numbers that other equations may take up: large ones that are nowhere right."""
    slips = {slip[0]: slip[1] for one in found for _, slip in one if slip is not None and slip[0] >= 1000}
    right = {c.value for one in found for c, slip in one if slip is None and c.verdict == "exact"}
    return {number: slip for number, slip in slips.items() if number not in right}
