"""Every other way to read an equation before it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.readings import (
    FACTORS,
    LEAST_SIZE,
    RANGES,
    is_asked,
    is_list,
    is_of_a_change,
    is_of_alternatives,
    is_percentage,
    is_sum,
    is_sum_of_measures,
    is_time,
    lacks_a_factor,
    runs_on,
    shows,
    value_in_unit,
)
from weighbridge.auditing.checks.reference_counts import component_numbers
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain, Side
from weighbridge.auditing.text.expressions import Term
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import Fit, fit, likeliest_value, scales, significant_digits, value_bounds
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.values import bounds, names, numbers, value
from weighbridge.core.messages import mark

_COUNT_OF = pattern(r"(?<![\d.,])\d{1,4}(?:\s?[×x*个张块台份层]|[\s-]?[A-Za-z])[^,，;；。:：=]{0,32}$")
"""A count of what a number behind it is the size of: ``12 layers of``, ``8 张``."""
_CLAUSE = 48
_HEDGES = frozenset("约 about approximately roughly nearly around 大约 近 接近 约为 大概 ~ ≈ some 差不多".split())


class Equation:
    """One chain of sides with their values, and the readings under which it holds though it does not as it stands."""

    scene: Scene
    chain: Chain
    sizes: dict[str, int]
    values: list[Fraction | None]
    inner: dict[int, list[Token]]

    def numbers_in(self, side: Side) -> list[Token]:
        """Return the numbers of a side, which every reading asks for."""
        found = self.inner.get(side.start)
        if found is None:
            found = self.inner[side.start] = numbers(side.term)
        return found

    def is_loose(self, side: Side) -> bool:
        """Tell whether a side is said to be approximate."""
        tokens = self.chain.tokens
        before = tokens[side.start - 1] if side.start else None
        return before is not None and (before.text == "≈" or before.text in _HEDGES)

    def is_definition(self) -> bool:
        """Tell whether the first side is a lone name or the sides are two lone numbers far apart: no equation to check."""
        sides = self.chain.sides
        first = sides[0].term
        if isinstance(first, Token) and first.unit != "%" and len(sides) == 2 and is_percentage(sides[1].term):
            return True  # ``38.6M of 124M ≈ 31%``: the share is of what stands before
        if (
            (isinstance(first, Token) and first.kind == "name")
            or is_list(self.chain)
            or is_asked(self.chain)
            or is_of_a_change(self.chain)
            or is_of_alternatives(self.chain)
            or self._is_shape_of_a_model()
        ):
            return True
        if all(isinstance(side.term, Token) for side in sides):
            units = {side.term.unit in BYTES for side in sides if isinstance(side.term, Token)}
            signs = [self.chain.tokens[side.end] for side in sides[:-1]]
            ranges = any((line := self.scene.lines[sign.line]).raw[line.at[sign.start]] in RANGES for sign in signs)
            if ranges or len(units) > 1 or any(sign.end - sign.start == len("==") for sign in signs):
                return True  # ``70M~12B``, ``45B parameters = 90 GB``, ``==18481== 592 bytes``
            counted = any(isinstance(s.term, Token) and s.term.unit for s in sides[1:])
            a, b = self.values[0], self.values[1]
            big = a is not None and a >= 10_000
            near = a is not None and b is not None and b != 0 and Fraction(9, 10) < a / b < Fraction(10, 9)
            return not (near or (counted and big and not self._is_taken_often()))
        return False

    def _is_shape_of_a_model(self) -> bool:
        """Tell whether a lone count stands before a product that is far smaller: ``7B = 32 × 4096`` says which model has which layers and width."""
        first, a, b = self.chain.sides[0].term, self.values[0], self.values[1]
        counted = isinstance(first, Token) and first.unit in ("b", "m") and len(self.chain.sides) == _PAIR
        return counted and a is not None and b is not None and 0 < b * _SHAPE_SMALLER < a

    def _is_taken_often(self) -> bool:
        """Tell whether a count of things stands before a lone number, which is then a factor: ``8 cards of 80 GB = 640 GB``."""
        first = self.chain.tokens[self.chain.sides[0].start]
        return _COUNT_OF.search(self.scene.lines[first.line].text, max(0, first.start - _CLAUSE), first.start) is not None

    def is_elsewhere(self) -> bool:
        """Tell whether a formula in letters is put to the sizes of a model that is not the one at hand."""
        known = set(self.sizes.values())
        for side, other in zip(self.chain.sides, self.chain.sides[1:], strict=False):
            if names(side.term) and not names(other.term):
                used = {
                    int(t.value)
                    for t in self.numbers_in(other)
                    if t.value is not None and LEAST_SIZE <= t.value < 10**6 and t.value.denominator == 1
                }
                own = {int(t.value) for t in self.numbers_in(side) if t.value is not None and t.value.denominator == 1}
                used -= own
                if used and not isinstance(other.term, Token) and not used & known:
                    return True
        return False

    def reading(self, index: int, true: Fraction) -> Fit | None:
        """Try every other way to read an equation before it is wrong: rounded inputs, units on one side, letters of another model."""
        side = self.chain.sides[index]
        if not isinstance(side.term, Token):
            return self._fit_if_near(index, true)
        text, first = self.scene.lines[side.term.line].text, self.chain.tokens[self.chain.sides[0].start]
        if is_time(text, side.term.end) or lacks_a_factor(
            text[first.start * (first.line == side.term.line) : side.term.start], side.term, true
        ):
            return Fit("unsettled")
        if runs_on(self.chain, index, self.values, self.sizes):
            return Fit("rounded", because(mark("as the formula is meant")))
        token = side.term
        if is_sum_of_measures(self.scene, self.chain, token, true):
            return Fit("rounded", because(mark("rounded")))
        return self._fits_rounded(token) or self._other_units(token) or self._in_own_unit(side, true) or self._other_letters(token)

    def _fit_if_near(self, index: int, true: Fraction) -> Fit | None:
        """Take a formula in the middle of a chain for a rounding of the one before: its own numbers are rounded, or it is said to be near."""
        side, own = self.chain.sides[index], self.values[index]
        assert own is not None
        united = any(token.unit in BYTES for token in self.numbers_in(side))
        if united and any(own * factor == true or own == true * factor for factor in FACTORS):
            return Fit("exact", because(mark("its units stand on one side only")))  # ``2016MB/1024``, on the way to GB
        for low, high in self._ranges(side.term):
            if low <= true <= high or (self.is_loose(side) and abs(own - true) * 20 <= abs(true)):
                return Fit("rounded", because(mark("rounded")))
        lettered = any(names(other.term) for other in self.chain.sides)
        agreed = [i for i, v in enumerate(self.values) if v == true and i != index]
        known = names(side.term) <= set(self.scene.letters)
        return Fit("unsettled") if lettered and (not known or len(agreed) < 2) else None

    def _ranges(self, term: Term) -> Iterator[tuple[Fraction, Fraction]]:
        """Yield between which numbers a formula lies when its inputs are roundings, in decimal and in binary units."""
        for choice in (0, -1):
            found = bounds(term, lambda token, choice=choice: value_bounds(token, scales(token)[choice]), self.sizes)  # type: ignore[misc]
            if found is not None:
                yield found

    def _fits_rounded(self, said_token: Token) -> Fit | None:
        """Tell whether the result is what the rounded inputs allow, to no more digits than they have, or what they stand for."""
        for side in self.chain.sides:
            # ``2 bytes`` are two, and not about two.
            rounded = [t for t in self.numbers_in(side) if t.places or (t.unit and max(scales(t)) > 1)]
            if isinstance(side.term, Token) or not rounded or said_token.value is None:
                continue
            for scale in (*scales(said_token), *self._bare(said_token)):
                low, high = value_bounds(said_token, scale)
                ranges = [found for found in self._ranges(side.term) if found[0] <= high and low <= found[1]]
                if ranges and (
                    significant_digits(said_token) <= min(map(significant_digits, rounded))
                    or (is_sum(side.term) and said_token.places <= min(token.places for token in rounded))
                    or self._is_known(said_token, side.term, rounded)
                ):
                    return Fit("rounded", because(mark("as near as its rounded numbers allow")))
        return None

    def _bare(self, token: Token) -> tuple[Fraction, ...]:
        return (Fraction(1),) if token.unit else FACTORS

    def _is_known(self, token: Token, term: Term, rounded: Sequence[Token]) -> bool:
        """Tell whether the inputs round numbers that the text or the model has in full, and the result is computed from those."""
        for full in self._full_numbers() if len(rounded) == 1 else ():
            if fit(rounded[0], full) is not None:
                again = value(term, lambda t, full=full: full if t is rounded[0] else likeliest_value(t), self.sizes)  # type: ignore[misc]
                if again is not None and fit(token, again) is not None:
                    return True
        return False

    def _full_numbers(self) -> Iterator[Fraction]:
        """Yield the numbers that a rounded one may stand for: those of the text, and the parts of the model that its place is about."""
        first = self.chain.tokens[self.chain.start]
        model = self.scene.model_at(first.line, first.start)
        yield from self.scene.numbers
        if model is not None:
            yield from component_numbers(model)
            yield Fraction(own_count(model) or 0)

    def _other_units(self, token: Token) -> Fit | None:
        """Tell whether the units stand on one side only: ``32 * 7 = 224GiB``, ``67 + 8.4 + 8.4 = 83.8M``."""
        united = [t for side in self.chain.sides for t in self.numbers_in(side) if t.unit and t.unit != "%"]
        if not united or token.value is None:
            return None
        computed = any(not isinstance(side.term, Token) for side in self.chain.sides)
        for side in self.chain.sides:
            if side.term is token or (computed and isinstance(side.term, Token)):
                continue  # another figure of the same chain explains none
            for choice in (
                lambda t: t.value,
                lambda t: value_in_unit(t, 0),
                lambda t: value_in_unit(t, -1),
                lambda t: t.value if t.unit == "b" else value_in_unit(t, 0),
            ):
                again = value(side.term, choice, self.sizes)
                for factor in (Fraction(1), *FACTORS) if again is not None else ():
                    if shows(token, again / factor) or shows(token, again * factor):  # type: ignore[operator]
                        return Fit("rounded" if token.places else "exact", because(mark("its units stand on one side only")))
        return None

    def _in_own_unit(self, side: Side, true: Fraction) -> Fit | None:
        """Round once more what a formula without units comes to in the unit of its result: ``23.8 + 85 ≈ 108.8M ≈ 110M``."""
        scale = self.unit_left_out(side.term, true)
        return fit(side.term, true * scale, loose=self.is_loose(side)) if scale > 1 and isinstance(side.term, Token) else None

    def unit_left_out(self, term: Term, true: Fraction) -> Fraction:
        """Return what a result's unit is worth if only the result has one, and is near without it: ``67 + 8.4 + 8.4 = 93.8M``; else one."""
        others = (t for side in self.chain.sides if not isinstance(side.term, Token) for t in self.numbers_in(side))
        if not isinstance(term, Token) or not term.unit or term.unit == "%" or term.value is None or any(t.unit for t in others):
            return Fraction(1)
        return scales(term)[0] if true < 2 * term.value and term.value < 2 * true else Fraction(1)

    def _other_letters(self, token: Token) -> Fit | None:
        """Tell whether the result is what the letters give for another model of the text, where no numbers are put into them."""
        if any(not isinstance(side.term, Token) and not names(side.term) for side in self.chain.sides):
            return None
        for side in self.chain.sides:
            if names(side.term) and side.term is not token:
                for sizes in self.scene.sizes.values():
                    again = value(side.term, likeliest_value, sizes)
                    found = fit(token, again) if again is not None else None
                    if found is not None:
                        return found
        return None


_PAIR = 2
_SHAPE_SMALLER = 100
"""How many times smaller than a count a product is that is no count: of layers and width, which misses the factors that are not written."""
