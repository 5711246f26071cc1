"""What a change of one size costs: ``hidden size (hidden_size) + 64``, and below it ``11,729,600 parameters more``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from weighbridge.auditing.checks.main_model import KEYS
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole
from weighbridge.auditing.text.size_words import SYMBOLS
from weighbridge.core.messages import mark

_STEP = pattern(r"[(（]([a-z_]+)[)）]\s*(?:\+|增加|grows by|更大)\s*(\d{1,5})", re.IGNORECASE)
_MORE = pattern(r"parameters? more|more parameters?|个参数", re.IGNORECASE)
_REACH = 6
"""Lines below a change within which its cost is said."""


def check(scene: Scene, held: Mapping[str, ReferenceCounts]) -> Iterator[Claim]:
    """Check the cost of each change against the closed formula of the model at its changed size."""
    own, model = held.get(""), scene.models.get("")
    if own is None or model is None:
        return
    sizes, step = words_of(model), None
    words = {key: word for word, keys in KEYS.items() for key in keys}
    for statement in scene.statements:
        text = scene.lines[statement[0].line].text
        found = _STEP.search(text)
        if found is not None:
            step = (words.get(found[1].lower()), int(found[2]), statement[0].line)
        elif step is not None and statement[0].line - step[2] <= _REACH and _MORE.search(text):
            figure = next((t for t in statement if t.kind == "num" and t.value is not None and t.value >= 1000), None)
            costs = _costs(own, sizes, step[0], step[1]) if step[0] is not None else ()
            if figure is not None and costs:
                yield _claim(scene, figure, costs, firm=scene.main is not None and scene.main.firm)


def _costs(own: ReferenceCounts, sizes: Mapping[str, int], word: str, by: int) -> tuple[int, ...]:
    """Return what a size costs that grows alone, and where the feed-forward width grows as its multiple."""
    if word not in sizes:
        return ()
    grown = {**sizes, word: sizes[word] + by}
    ways = [grown]
    if word == "hidden" and sizes.get("mlp", 1) % sizes["hidden"] == 0:
        ways.append({**grown, "mlp": sizes["mlp"] // sizes["hidden"] * grown["hidden"]})
    before = _total(own, sizes)
    after = [_total(own, way) for way in ways]
    return tuple(count - before for count in after if count is not None) if before is not None else ()


def _total(own: ReferenceCounts, sizes: Mapping[str, int]) -> int | None:
    """Return the value of the model's closed formula at some sizes, or None if a letter of it has none."""
    letters = {SYMBOLS[word]: value for word, value in sizes.items() if word in SYMBOLS}
    amount = Fraction(0)
    for cell in own.cells:
        for monomial, coefficient in (cell.formula * cell.all_copies).terms.items():
            term = Fraction(coefficient)
            for atom, power in monomial:
                if atom.letter not in letters:
                    return None
                term *= Fraction(letters[atom.letter]) ** power
            amount += term
    return int(amount) if amount.denominator == 1 else None


def _claim(scene: Scene, figure: Token, costs: tuple[int, ...], *, firm: bool) -> Claim:
    number = likeliest_value(figure)
    assert number is not None
    right = Fraction(number if number in costs else min(costs, key=lambda cost: abs(cost - number)))
    verdict = "exact" if number == right else "wrong" if firm else "unsettled"
    reason = because(mark("by the closed formula it is {right}"), right=right)
    facts = {"value": whole(number), "expected": whole(right), "difference": whole(number - right), "reason": reason}
    return claim(scene.lines, figure, figure, "total", verdict, **facts)
