"""Memory and arithmetic work that passages say word for word: ``every token leaves 0.5 MB, so 2048 tokens cost 1 GB and a batch of 16 needs 16 GB``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from weighbridge.auditing.byte_thresholds import AGREED_ROWS, MEMORY_TOLERANCE, NEEDED_FAR, NOMINAL_FAR, PACKED_FAR, READ_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.memory_figures import counts_of_line
from weighbridge.auditing.checks.quantity_amounts import possible_of
from weighbridge.auditing.checks.quantity_subjects import Part, Possible, counts_of
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.quantities import ROLES, Quantity, Subject
from weighbridge.auditing.text.quantity_bounds import AMOUNT, SaidBounds, is_within_digits, read_bounds
from weighbridge.auditing.text.quantity_clauses import PassageReader
from weighbridge.auditing.text.quantity_words import MOST
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_LIST = pattern(r"\s*(?:[-*+•]|\d{1,2}[.)、])\s")
_ELSEWHERE = 1_100
"""How many times a figure may be another before it is of something else."""
_NEXT = 3
"""Lines below a passage within which the next one may go through the same dtypes."""
_ABOVE = 8
"""Lines of a passage that are read at most before the first figure in it."""


class _Held(NamedTuple):
    """A figure, what it says, and what it may be."""

    quantity: Quantity
    said: SaidBounds
    possible: Possible

    @property
    def fits(self) -> list[Fraction]:
        """What it may be that it is a rounding of."""
        said = self.said
        if said.low == said.high:
            return [n for n in self.possible.numbers if n == said.number]
        return [n for n in self.possible.numbers if self._lies(n) or abs(said.number - n) <= MEMORY_TOLERANCE / 5 * n]

    @property
    def _spans(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The bounds of the figure; of a cache those between units too: ``0.5 MB`` times 2,000 tokens is 1 GB in neither."""
        mixed = self.quantity.cached or self.quantity.kind == "range"
        return ((self.said.low, self.said.high),) if mixed else self.said.spans

    def _lies(self, number: Fraction) -> bool:
        return any(low <= number <= high for low, high in self._spans)

    def is_off(self, below: Fraction, above: Fraction) -> bool:
        """Tell whether the figure is so many times under, or over, all that it may be."""
        return all(high * below < n or low > n * above for n in self.possible.numbers for low, high in self._spans)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold the figures of passages against what the passage says that they are of.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    figures = (scene.sorted_figures.in_bytes, scene.sorted_figures.of_work)
    lines = sorted(
        {token.line for kind in figures for _, _, token in kind} - {line for table in scene.tables for line in table.lines} - set(tabled)
    )
    wanted = set(lines)
    reader = PassageReader(lambda subject, count: _is_same(scene, subject, count))
    held: list[_Held] = []
    before: list[_Held] = []
    rates: list[Fraction] = []
    read = -1
    for line in lines:
        if line <= read:
            continue
        read = first = _first_line(scene, line)
        reader.reset()
        held, rates = [], []
        while read < len(scene.lines) and (read <= line or not _ends(scene, read, first)):
            text = scene.lines[read].text
            named = [(m.column, m.end) for m in scene.mentions.get(read, ())]
            for quantity in reader.read(text, read, named) if len(text) <= MOST else ():
                _hold(scene, quantity, held, rates)
            read += 1
            if not any(later in wanted for later in range(read, read + _ABOVE)):
                break
        read -= 1
        near = before if before and held and held[0].quantity.line - before[-1].quantity.line <= _NEXT else []
        yield from _verdicts(scene, _give_dtypes([*near, *held])[len(near) :])
        before = held


def _hold(scene: Scene, quantity: Quantity, held: list[_Held], rates: list[Fraction]) -> None:
    if held and held[-1].quantity.subject != quantity.subject:
        rates.clear()  # of another model
    said = read_bounds(scene.lines[quantity.line].text[quantity.start : quantity.end], quantity.kind, quantity.clause)
    if said is None:
        return
    one = _Held(quantity, said, possible_of(scene, quantity, rates, _parts(held, quantity)))
    held.append(one)
    if "per" in quantity.words and quantity.kind == "figure" and (one.fits or quantity.computed):
        rates[:] = [*one.fits[:1], said.number]


_SUMMED = frozenset("weights gradients optimizer master moment moments cache".split())


def _parts(held: Sequence[_Held], quantity: Quantity) -> list[Part]:
    """Return the figures that a sum behind them may be of: the last ones, each of another kind, about the same model."""
    found: list[Part] = []
    kinds: set[str] = set()
    for one in reversed(held):
        roles = one.quantity.words & _SUMMED or ({"cache"} if one.quantity.cached and one.quantity.words & {"length", "batch"} else set())
        if len(roles) != 1 or roles & kinds or one.quantity.kind != "figure" or one.quantity.words & {"per", "zero"}:
            if not roles or roles & kinds:
                break
            continue
        kinds |= roles
        right = min(one.possible.numbers, key=lambda n: abs(n - one.said.number), default=one.said.number)
        found.append(Part(one.said.number, right))
    return found if "weights" in kinds else []


def _first_line(scene: Scene, line: int) -> int:
    """Return the line with which the passage of a line begins."""
    first = line
    while first > 0 and line - first < _ABOVE and not scene.lines[first].heading and not _ends(scene, first, -1):
        first -= 1
    return first


def _ends(scene: Scene, line: int, first: int) -> bool:
    """Tell whether a line begins another passage: a heading, or the first behind an empty line, if it is no item of a list."""
    if line == first:
        return False
    text = scene.lines[line].text
    above = scene.lines[line - 1] if line else None
    apart = above is not None and not above.text.strip() and not (line > 1 and scene.lines[line - 2].heading)
    return scene.lines[line].heading > 0 or (apart and bool(text.strip()) and _LIST.match(text) is None)


def _is_same(scene: Scene, subject: Subject, count: Fraction) -> bool:
    return any(abs(own - count) * _SAME < own for own in counts_of(scene, subject))


_SAME = 5


def _is_anothers(scene: Scene, one: _Held) -> bool:
    """Tell whether a figure is exactly what another model of its line comes to at the same bytes for each parameter: ``it is 84 GB and 156 GB`` of two."""
    rate = one.quantity.rate
    counts = {counts[0].number for _, counts in counts_of_line(scene, one.quantity.line)} if rate is not None else ()
    return any(count * rate == one.said.number for count in counts if rate is not None)


def _verdicts(scene: Scene, held: Sequence[_Held]) -> Iterator[Claim]:
    """Yield the claims of a passage; where others in it are exactly what its models are called by, it is plain how it counts."""
    exact = sum(one.possible.nominal and _is_exact(one) for one in held)
    if exact >= AGREED_ROWS and exact * 4 >= sum(one.possible.nominal for one in held) * 3:
        held = [one._replace(possible=one.possible._replace(settled=one.possible.settled or one.possible.listed)) for one in held]
    for one in held:
        if one.fits and one.possible.settled and one.quantity.whole:
            yield _claim(scene, one, min(one.fits, key=lambda n: abs(n - one.said.number)), "rounded")
        elif not one.fits and one.possible.settled and one.quantity.whole and not one.quantity.computed and one.possible.numbers:
            agreed = one.possible.nominal and exact >= AGREED_ROWS
            if (
                _is_wrong(one, agreed=agreed)
                and not _shows_no_more(scene, one)
                and not is_of_their_own(scene, one.quantity.line)
                and not _is_anothers(scene, one)
            ):
                yield _claim(scene, one, one.possible.numbers[0], "wrong")


def _give_dtypes(held: list[_Held]) -> list[_Held]:
    """Give the figures of a list the dtypes of the list before it, which has as many: ``28 GB in fp32, 14 in fp16; for 70B 280 GB and 140 GB``."""
    runs: list[list[int]] = []
    for index, one in enumerate(held):
        key = one.quantity.line, one.quantity.subject, bool(one.quantity.dtypes)
        before = held[index - 1].quantity if index else None
        if before is not None and key == (before.line, before.subject, bool(before.dtypes)):
            runs[-1].append(index)
        else:
            runs.append([index])
    for run, other in pairwise(runs):
        first, bare = [held[i] for i in run], [held[i] for i in other]
        if len(run) < _LISTED or len(run) != len(other) or not all(one.fits and len(one.possible.numbers) == 1 for one in first):
            continue
        if all(not one.quantity.words & ROLES and not one.quantity.dtypes and one.possible.nominal for one in bare):
            for index, one, like in zip(other, bare, first, strict=True):
                ours, theirs = one.quantity.subject, like.quantity.subject
                if ours is not None and theirs is not None and ours.parameters and theirs.parameters:
                    number = like.possible.numbers[0] * ours.parameters / theirs.parameters
                    held[index] = one._replace(possible=like.possible._replace(numbers=[number]))
    return held


_LISTED = 3
"""Figures of a list from which on it is plain that another goes through the same dtypes."""


def _is_exact(one: _Held) -> bool:
    return any(abs(n - one.said.number) * 100 <= n for n in one.possible.numbers)


def _is_wrong(one: _Held, *, agreed: bool) -> bool:
    below, above, said = one.possible.below, one.possible.above, one.said
    if agreed:
        below, above = READ_FAR, NOMINAL_FAR if above == NEEDED_FAR else PACKED_FAR if above == PACKED_FAR else READ_FAR
    if all(said.high * _ELSEWHERE < n or said.low > n * _ELSEWHERE for n in one.possible.numbers):
        return False
    return one.is_off(below, above)


def _shows_no_more(scene: Scene, one: _Held) -> bool:
    """Tell whether the digits after a figure's point can say no more than it does."""
    text = scene.lines[one.quantity.line].text[one.quantity.start : one.quantity.end]
    return any(is_within_digits(text, one.said.number, n) for n in one.possible.numbers)


def _claim(scene: Scene, one: _Held, right: Fraction, verdict: str) -> Claim:
    quantity, mine = one.quantity, one.said.number
    text = scene.lines[quantity.line].text[quantity.start : quantity.end]
    found = AMOUNT.match(text)
    unit = re.search(r"[KMGT]i?B|G|bytes?|字节", text)
    places = len((found["number"] if found else "").partition(".")[2])
    token = Token("num", text, quantity.line, quantity.start, quantity.end, Fraction(1), unit[0].lower() if unit else "", places)
    facts: dict[str, object] = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    if verdict == "rounded":
        return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=because(mark("rounded")))
    direction = should_be(is_higher=mine > right)
    base = 1024 if quantity.cached and quantity.kind != "work" else 1000
    shown = [_write(token, number, base, quantity.kind) for number in (right, abs(mine - right))]
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=because(direction, right=shown[0], number=shown[1]))


def _write(token: Token, number: Fraction, base: int, kind: str) -> object:
    return whole(number) if kind == "work" else write_bytes(token, number, base)
