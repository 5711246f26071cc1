"""Figures of memory that a text reckons as parameters times bytes: where the others are exactly that, the one that is one digit off is wrong.

``The weights (14 GB in fp16), gradients (14 GB) and Adam's states (56 GB) come to 84 GB`` of a 7B model; a ladder of dtypes; a column of models.
The figures bear each other out, so that no word between them need be understood: each is held against its own labels alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import BUDGET_DIGITS, PACKED_MORE
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.memory_figures import memory_figures
from weighbridge.auditing.checks.memory_labels import TOTALS, MemoryFigure
from weighbridge.auditing.checks.memory_products import BYTES_OF_EACH, Reckoned, is_product, product_of, reckon, with_column_sizes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_NEAR = 12
"""Lines between two figures that still bear each other out."""


class _Found(NamedTuple):
    """The figures of a text in its order, their lines, and those that bear others out, by what they are of."""

    held: Sequence[Reckoned]
    lines: Sequence[int]
    again: Mapping[object, Sequence[Reckoned]]

    def beside(self, figure: MemoryFigure) -> Sequence[Reckoned]:
        """Return the figures that stand by another, and that one."""
        return self.held[bisect_left(self.lines, figure.line - _NEAR) : bisect_right(self.lines, figure.line + _NEAR)]

    def before(self, figure: MemoryFigure) -> list[Reckoned]:
        """Return those of them that stand before it."""
        return [one for one in self.beside(figure) if (one.figure.line, one.figure.start) < (figure.line, figure.start)]


def check(scene: Scene) -> Iterator[Claim]:
    """Check the figures of a text that others in it bear out."""
    held = [reckon(one) for one in with_column_sizes(memory_figures(scene))]
    again: dict[object, list[Reckoned]] = {}
    for one in held:
        if one.is_witness:
            yield _claim(scene, one.figure, product_of(one), "rounded")
            for key in ((one.size, one.parameters), *((one.size, group) for group in one.figure.groups)):
                if len(known := again.setdefault(key, [])) < _MOST:
                    known.append(one)
    found = _Found(held, [one.figure.line for one in held], again)
    for one in held:
        if one.figure.role == "total":
            yield from _total(scene, one.figure, found)
        elif one.size is None and _may_be_wrong(one.figure):
            right = _right(one.figure, found) if not _is_doubtful(scene, one, found) else None
            if right is not None:
                yield _claim(scene, one.figure, right, "wrong")


_MOST = 16
"""Figures that bear out one of the same kind, which are looked at."""


def _is_doubtful(scene: Scene, one: Reckoned, found: _Found) -> bool:
    """Tell whether another figure beside one is no product either, or its model is the author's own."""
    if any(count.named for count in one.figure.counts) and is_of_their_own(scene, one.figure.line):
        return True
    odd = (other for other in found.beside(one.figure) if other.size is None and other is not one and _may_be_wrong(other.figure))
    return any(_bears_on(other.figure, one.figure) for other in odd)


def _may_be_wrong(figure: MemoryFigure) -> bool:
    return bool(figure.sizes and figure.counts) and not figure.doubtful


def _bears_on(one: MemoryFigure, other: MemoryFigure) -> bool:
    """Tell whether two figures stand together, and are of one model or of one row or column."""
    if abs(one.line - other.line) > _NEAR:
        return False
    return bool({c.number for c in one.counts} & {c.number for c in other.counts}) or bool(set(one.groups) & set(other.groups))


def _right(figure: MemoryFigure, found: _Found) -> Fraction | None:
    """Return what a figure should be, of which it is one digit off, where others prove how the text reckons; None if it may be something else."""
    if any(is_product(figure, count, size) for count in figure.counts for size in BYTES_OF_EACH) or _is_sum(figure, found):
        return None
    near = [one for one in found.beside(figure) if one.is_witness and _bears_on(one.figure, figure)]
    for count in figure.counts:
        for size in figure.sizes:
            again = [one for key in (count, *figure.groups) for one in found.again.get((size, key), ()) if _says_again(one, figure)]
            if is_one_digit_off(figure, count.number * size, count.half * size) and _is_sure(
                figure, count.number * size, size, near, again
            ):
                return count.number * size
    return None


def _says_again(one: Reckoned, figure: MemoryFigure) -> bool:
    """Tell whether a witness of the same kind is of the same thing: packed weights are one thing here and another elsewhere."""
    return abs(one.figure.line - figure.line) <= _NEAR or (one.size or 0) > 1 or bool(set(one.figure.groups) & set(figure.groups))


def _is_sure(figure: MemoryFigure, right: Fraction, size: Fraction, near: Sequence[Reckoned], again: Sequence[Reckoned]) -> bool:
    """Tell whether witnesses leave no doubt that a figure is of nothing but the parameters: what runs packed has scales beside them."""
    own = [one for one in near if one.parameters in figure.counts]
    digits = len(figure.number.replace(".", ""))
    if len(near) < (1 if own and digits >= BUDGET_DIGITS else BUDGET_DIGITS) and not any(one.parameters in figure.counts for one in again):
        return False
    said = figure.value * figure.scales[0]
    if size < 1 and right < said <= right * PACKED_MORE:
        return any(one.parameters in figure.counts for one in again)
    return size > 1 or bool(again) or any(one.size is not None and one.size <= 1 for one in near)


def _is_sum(figure: MemoryFigure, found: _Found) -> bool:
    """Tell whether a figure is what some neighbouring ones before it add up to."""
    before = [one.figure for one in found.before(figure)[-_PARTS:]]
    sums = {sum((one.value * one.scales[0] for one in before[-many:]), Fraction(0)) for many in range(2, len(before) + 1)}
    return figure.value * figure.scales[0] in sums


_PARTS = 4


def _total(scene: Scene, figure: MemoryFigure, found: _Found) -> Iterator[Claim]:
    """Check a total against the parts before it, all of which are right."""
    parts: list[Reckoned] = []
    for one in reversed(found.before(figure)):
        if one.figure.role not in ("weights", "gradients", "optimizer") or one.figure.role in {part.figure.role for part in parts}:
            break
        parts.append(one)
    if len(parts) < 2 or not all(part.is_witness for part in parts) or any(part.figure.scales != figure.scales for part in parts):
        return
    right = sum((part.figure.value * part.figure.scales[0] for part in parts), Fraction(0))
    said, unit = figure.value * figure.scales[0], Fraction(figure.scales[0], 10**figure.places)
    if abs(said - right) <= unit:
        yield _claim(scene, figure, right, "rounded")
        return
    counts = {part.parameters for part in parts if part.parameters is not None}
    if (
        not figure.doubtful
        and not any(is_product(figure, count, Fraction(size)) for count in counts for size in TOTALS)
        and is_one_digit_off(figure, right)
    ):
        yield _claim(scene, figure, right, "wrong")


def is_one_digit_off(figure: MemoryFigure, right: Fraction, half: Fraction = Fraction(0)) -> bool:
    """Tell whether a figure is a number of bytes, written to as many digits in one unit or the other, but for one of them.

    Args:
        half: How far that number may be off.
    """
    written = figure.number.replace(",", "").replace(".", "")
    for scale in figure.scales:
        amount, most = right * 10**figure.places / scale, half * 10**figure.places / scale
        ways = (
            {int(amount), *range(int(amount - most + Fraction(1, 2)), int(amount + most + Fraction(1, 2)) + 1)} if most < _WAYS else set()
        )
        for way in ways:
            digits = str(way).rjust(len(written), "0")
            if len(digits) == len(written) and sum(a != b for a, b in zip(digits, written, strict=True)) == 1:
                return True
    return False


_WAYS = 10
"""Ways to write what is right beyond which one of them is one digit off by chance."""


def _claim(scene: Scene, figure: MemoryFigure, right: Fraction, verdict: str) -> Claim:
    unit = figure.unit[0].lower() + ("ib" if "i" in figure.unit[1:2].lower() else "b")
    space = " " if scene.lines[figure.line].text[figure.start + len(figure.number) : figure.end].startswith(" ") else ""
    token = Token("num", f"{figure.number}{space}{unit}", figure.line, figure.start, figure.end, figure.value, unit, figure.places)
    scale = min(figure.scales, key=lambda one: abs(figure.value * one - right))
    said = figure.value * scale
    facts: dict[str, object] = {"value": whole(said), "expected": whole(right), "difference": whole(said - right)}
    reason = because(mark("rounded"))
    if verdict == "wrong":
        base = 1024 if scale % 1024 == 0 else 1000
        direction = (
            mark("should be {right}, as the other figures say ({number} too high)")
            if said > right
            else mark("should be {right}, as the other figures say ({number} too low)")
        )
        reason = because(direction, right=write_bytes(token, right, base), number=write_bytes(token, abs(said - right), base))
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=reason)
