"""One equation judged: each of its sides against the one before, and against every other way to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from fractions import Fraction

from weighbridge.auditing.checks.equation_doubts import holds_otherwise, is_unlike_in_its_unit, leaves_units_out
from weighbridge.auditing.checks.equation_readings import Equation
from weighbridge.auditing.checks.quoted_equations import is_argument, is_under_condition
from weighbridge.auditing.checks.readings import is_at_others, is_label, precision, too_much
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain, Side
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import Fit, fit, likeliest_value, significant_digits, whole
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.values import names, value
from weighbridge.auditing.thresholds import EXACT_DIGITS, NEAR_BY_SIGN
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from typing import TypeAlias


class Slip(NamedTuple):
    """A printed number that is wrong, and what it should be with every earlier slip mended."""

    mended: Fraction
    line: int


_CACHE = pattern(r"kv.?cache|键值缓存|kv ?缓存", re.IGNORECASE)
_KEYS_AND_VALUES = 2
Finding: TypeAlias = tuple[Claim, tuple[Fraction, Slip] | None]


class EquationJudge(Equation):
    """One chain under judgement."""

    def __init__(self, scene: Scene, chain: Chain) -> None:
        self.scene, self.chain = scene, chain
        self.slips: Mapping[Fraction, Slip] = {}
        self.inner: dict[int, list[Token]] = {}
        self.numbers = {number for side in chain.sides for token in self.numbers_in(side) if (number := likeliest_value(token)) is not None}
        lead = chain.sides[0].term
        if isinstance(lead, Token) and (len(chain.sides) > 2 if lead.kind == "name" else is_label(chain, lead)):
            self.chain = chain = chain._replace(sides=chain.sides[1:])  # ``H = 12 * 64 = 768`` defines H, and computes it
        first = chain.tokens[chain.sides[0].start]
        self.sizes = scene.sizes_at(first.line, first.start)
        self.values = [value(side.term, likeliest_value, self.sizes) for side in chain.sides]
        if self._defines_letter():
            self.chain, self.values = chain._replace(sides=chain.sides[:-1]), self.values[:-1]
        if self.is_elsewhere():
            self.values = [None if names(side.term) else v for side, v in zip(chain.sides, self.values, strict=True)]

    def _defines_letter(self) -> bool:
        """Tell whether a result is only given a letter, ``768 * 2 = 1536 = A``, and not said to be that size."""
        *_, before, last = (None, *(side.term for side in self.chain.sides))
        named = isinstance(last, Token) and last.kind == "name" and len(last.text) == 1
        return named and isinstance(before, Token) and before.kind == "num" and self.values[-1] != self.values[-2]

    def claims(self, slips: Mapping[Fraction, Slip]) -> Iterator[Finding]:
        """Yield each printed result's claim, with the slip it makes or carries on, in the light of known slips."""
        if is_under_condition(self.scene, self.chain) or is_argument(self.scene, self.chain):
            return
        self.slips = slips
        sides, values = self.chain.sides, self.values
        if len(sides) < 2 or sum(v is not None for v in values) < 2 or self.is_definition():
            return
        base = self._base()
        true = values[base]
        if true is None:
            return
        mended = value(sides[base].term, self._corrected_value, self.sizes) if self.is_computed_from(slips.keys()) else None
        mended = true if mended is None else mended
        wrong: list[Fraction] = []
        for index, side in enumerate(sides):
            if index == base or values[index] is None:
                continue
            if is_unlike_in_its_unit(self.chain, index, base):
                wrong.append(values[index])  # type: ignore[arg-type]
                yield self._wrong_side(side, values[index] or Fraction(0), true, mended)
                continue
            found = self._side(index, side, (true, mended), wrong)
            if found is not None:
                yield found

    def is_computed_from(self, slips: Set[Fraction]) -> bool:
        """Tell whether one of these numbers is among those that the side is computed from which the others are held against."""
        if not slips or sum(v is not None for v in self.values) < 2:
            return False
        return any(likeliest_value(token) in slips for token in self.numbers_in(self.chain.sides[self._base()]))

    def _side(
        self, index: int, side: Side, truth: tuple[Fraction, Fraction], wrong: list[Fraction]
    ) -> tuple[Claim, tuple[Fraction, Slip] | None] | None:
        true, mended = truth
        value = self.values[index]
        assert value is not None
        agreed = self._fit(index, true)
        if agreed is not None and mended != true:
            line = self._source()
            reason = (
                because(mark("follows from the error on line {line}"), line=line)
                if line
                else because(mark("follows from an earlier error"))
            )
            return self._claim(side, "carried", value, mended, reason), (value, Slip(mended, line))
        if agreed is not None:
            return self._claim(side, agreed.verdict, value if agreed.meant is None else agreed.meant, true, agreed.reason), None
        if mended != true and self._fit(index, mended) is not None:
            reason = because(mark("right, though the numbers before it make {number}"), number=true)
            return self._claim(side, "note", value, mended, reason), None
        if any(self._fit(index, other) is not None for other in wrong):
            line = self._line(side)
            return self._claim(side, "carried", value, mended, because(mark("follows from the error before it"))), (
                value,
                Slip(mended, line),
            )
        if self._is_near_by_sign(index, true):
            reason = because(mark("close, as its sign says; it is {right}"), right=true)
            return self._claim(side, "note", value, true, reason), None
        read = self.reading(index, true)
        if read is not None:
            return self._claim(side, read.verdict, value, true, read.reason), None
        if leaves_units_out(self.chain):
            return None
        if holds_otherwise(self, index, true):
            return self._claim(side, "exact", value, value, because(mark("as the formula is meant"))), None
        wrong.append(value)
        return self._wrong_side(side, value, true, mended)

    def _wrong_side(self, side: Side, value: Fraction, true: Fraction, mended: Fraction) -> tuple[Claim, tuple[Fraction, Slip]]:
        scale = self.unit_left_out(side.term, true)
        true, mended = true * scale, mended * scale
        return self._claim(side, "wrong", value, true, too_much(value, true, mended, side.term)), (value, Slip(mended, self._line(side)))

    def _claim(self, side: Side, verdict: str, value: Fraction, true: Fraction, reason: Reason) -> Claim:
        tokens, sides = self.chain.tokens, self.chain.sides
        kind = "symbolic" if any(names(other.term) for other in sides) else "arithmetic"
        first = tokens[sides[0].start]
        if first.line != tokens[side.start].line:
            first = tokens[side.start]
        last = tokens[side.end - 1]
        if len(sides) == 2 and side is sides[0] and all(isinstance(one.term, Token) and one.term.unit for one in sides):
            last = max(
                last, tokens[sides[1].end - 1], key=lambda token: (token.line == last.line, token.end)
            )  # ``7B = 70亿`` is said as a whole
        facts = {"value": whole(value), "expected": whole(true), "difference": whole(value - true), "reason": reason}
        return claim(self.scene.lines, first, last, kind, verdict, **facts)

    def _line(self, side: Side) -> int:
        return self.scene.lines[self.chain.tokens[side.start].line].number

    def _corrected_value(self, token: Token) -> Fraction | None:
        number = likeliest_value(token)
        if number is not None and number in self.slips and number >= 1000:
            return self.slips[number].mended
        return number

    def _source(self) -> int:
        """Return the line of the first slip among the numbers of this chain."""
        for side in self.chain.sides:
            for token in self.numbers_in(side):
                number = likeliest_value(token)
                if number is not None and number in self.slips:
                    return self.slips[number].line
        return 0

    def _base(self) -> int:
        """Return the side that the others are held against: the first formula, unless all other formulas agree against it."""
        formulas = [i for i, side in enumerate(self.chain.sides) if not isinstance(side.term, Token) and self.values[i] is not None]
        if not formulas:
            known = [i for i, v in enumerate(self.values) if v is not None]
            return max(known, key=lambda i: (precision(self.chain.sides[i].term), -i))
        first = formulas[0]
        others = [v for i, v in enumerate(self.values) if v is not None and i != first]
        agree = len(others) > 1 and len(set(others)) == 1
        if (
            len(formulas) > 1
            and agree
            and self.values[first] not in others
            and (not self._is_of_sizes(first) or is_at_others(self.chain, first, self.sizes))
            and not self._is_rounding_of(formulas[1], first)
        ):
            return formulas[1]
        return first

    def _is_rounding_of(self, index: int, exact: int) -> bool:
        """Tell whether a formula of figures with units is one of whole numbers, each term rounded: ``30000*128 + 128*4096 = 384万 + 52万``."""
        own, term = self.values[exact], self.chain.sides[index].term
        whole = not any(token.unit or token.places for token in self.numbers_in(self.chain.sides[exact]))
        return whole and own is not None and any(low <= own <= high for low, high in self._ranges(term))

    def _is_of_sizes(self, index: int) -> bool:
        """Tell whether a side holds nothing but sizes of the model and small numbers."""
        known = set(self.sizes.values())
        return all(t.value is not None and (t.value <= 24 or t.value in known) for t in self.numbers_in(self.chain.sides[index]))

    def _fit(self, index: int, true: Fraction) -> Fit | None:
        side = self.chain.sides[index]
        said = self.values[index]
        if said == true and (not isinstance(side.term, Token) or not side.term.unit):
            return Fit("exact")
        if not isinstance(side.term, Token) or side.term.kind != "num":
            return None
        found = fit(side.term, true, loose=self.is_loose(side))
        in_bytes = found is not None and any("bytes" in part.sentence for part in found.reason) and self._has_bytes()
        return None if in_bytes else found

    def _has_bytes(self) -> bool:
        """Tell whether the bytes of a number are among the factors already: by their unit, or as the last 2 of a cache's ``2 × ... × 2``."""
        first = self.chain.tokens[self.chain.sides[0].start]
        near = f"{self.scene.lines[first.line - 1].text if first.line else ''} {self.scene.lines[first.line].text}"
        twos = sum(token.value == _KEYS_AND_VALUES for token in self.numbers_in(self.chain.sides[0]))
        if twos >= _KEYS_AND_VALUES and _CACHE.search(near):
            return True
        return any(token.unit in BYTES for side in self.chain.sides[:-1] for token in self.numbers_in(side))

    def _is_near_by_sign(self, index: int, true: Fraction) -> bool:
        """Tell whether an exact number is said to be near another, and is: ``7,087,872 ≈ 12 × 768²``."""
        side, own = self.chain.sides[index], self.values[index]
        first, last = sorted((index, self._base()))
        signs = [self.chain.tokens[one.start - 1] for one in self.chain.sides[first + 1 : last + 1]]  # ``16 × 8192 = 131,074 ≈ 0.13M``
        exact = (
            isinstance(side.term, Token) and not side.term.unit and not side.term.places and significant_digits(side.term) > EXACT_DIGITS
        )
        if own is None or not exact or all(sign.text != "≈" for sign in signs) or abs(own - true) > NEAR_BY_SIGN * abs(true):
            return False
        return index < self._base() or not is_slip(str(own), str(true))  # ``4 × 2 × 3584 × 8 ≈ 229,378`` is no rounding
