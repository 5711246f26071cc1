"""Numbers that stand alone and say again what the text has computed, or what a component of its model holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from weighbridge.auditing.checks import modules
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Reason, Sentence, because
from weighbridge.auditing.text.component_words import find_components, speaks_of_parameters
from weighbridge.auditing.text.exact import as_exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, significant_digits, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES, WORK
from weighbridge.auditing.thresholds import LARGE_NUMBER, RESTATED_DIGITS, SMALLEST_RESTATED
from weighbridge.core.messages import mark


class _KnownNumbers:
    """Exact numbers, with the reason why each is right, to be looked up exactly and by rounding."""

    def __init__(self, reasons: Mapping[Fraction, Reason]) -> None:
        self.reasons = reasons
        self.numbers = sorted(number.numerator if number.denominator == 1 else number for number in reasons)

    def find(self, token: Token) -> tuple[str, Fraction, Reason] | None:
        number = likeliest_value(token)
        if number is None or number < SMALLEST_RESTATED:
            return None
        if number in self.reasons and (significant_digits(token) > RESTATED_DIGITS or not token.unit):
            return "exact", number, self.reasons[number]
        if significant_digits(token) < RESTATED_DIGITS or not (token.unit or token.places):
            return None
        for scale in scales(token):
            low, high = value_bounds(token, scale)
            for right in self.numbers[bisect_left(self.numbers, low) : bisect_right(self.numbers, high)]:
                found = fit(token, right)
                if found is not None and found.verdict == "rounded":
                    exact = Fraction(right)
                    return "rounded", exact, found.reason + self.reasons[exact]
        return None


def check(scene: Scene, claims: Sequence[Claim], held: Mapping[str, ReferenceCounts]) -> Iterator[Claim]:
    """Confirm numbers that are right by the text's own computation, or as the count of a component; none is called wrong."""
    computed = _KnownNumbers(_reasons_by_value(claims))
    parts = cache(lambda context: _KnownNumbers(_parts(held[context])))
    covered = ClaimSpans(claims)
    printed_modules = modules.places(scene)
    for statement in scene.numbered:
        for index, token in scene.figures_of(statement):
            if token.kind != "num" or token.unit == "%" or token.unit in _OF_NO_COUNT or token.line in printed_modules:
                continue
            if (likeliest_value(token) or 0) < SMALLEST_RESTATED:
                continue
            line = scene.lines[token.line]
            begin, end = line.at[token.start], line.at[token.end - 1] + 1
            if covered.holds(line.number, begin, end):
                continue
            found = computed.find(token)
            if found is None:
                factor = any(other.text == "*" for other in statement[max(0, index - 1) : index + 2])  # ``4096 × 14336``, no norm's 4,096
                context = scene.context(token.line, token.start) if scene.has_models and not factor else None
                if context not in held or not _counts_something(line.text, token):
                    continue
                found = parts(context).find(token)
            if found and (token.value in computed.reasons or _counts_something(line.text, token)):
                yield _claim(scene, token, *found)


def _counts_something(text: str, token: Token) -> bool:
    """Tell whether the words about a number speak of parameters, or of a component."""
    near = text[max(0, token.start - _NEAR) : token.end + _NEAR]
    return speaks_of_parameters(near) or bool(find_components(near.lower()))


_OF_NO_COUNT = BYTES | WORK
_NEAR = 60
"""Characters about a number in which it must be said that it counts parameters, or a component."""


def _reasons_by_value(claims: Sequence[Claim]) -> dict[Fraction, Reason]:
    found: dict[Fraction, Reason] = {}
    for one in claims:
        proved = one.kind in ("arithmetic", "symbolic") and one.verdict == "exact" and one.value == one.expected
        if proved and isinstance(one.value, (int, Fraction)) and one.value >= SMALLEST_RESTATED and one.value not in found:
            found[as_exact(one.value)] = because(mark("as computed on line {line}"), line=one.line)
    for one in claims:  # the model's count, said in full, may stand in a table as well
        if one.kind == "total" and one.verdict == "exact" and isinstance(one.value, int) and one.value >= LARGE_NUMBER:
            found.setdefault(as_exact(one.value), one.reason)
    return found


def _parts(own: ReferenceCounts) -> dict[Fraction, Reason]:
    found: dict[Fraction, Reason] = {}
    for name, holdings in own.components.items():
        for holding in holdings:
            if holding.number >= SMALLEST_RESTATED:
                reason = because(mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(name, name)), right=holding.number)
                found.setdefault(holding.number, reason + holding.convention)
    return found


def _claim(scene: Scene, token: Token, verdict: str, right: Fraction, reason: Reason) -> Claim:
    number = likeliest_value(token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right), "reason": reason}
    return claim(scene.lines, token, token, "component", verdict, **facts)
