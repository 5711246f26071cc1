"""Rounded figures held against every way to count a model, and the sentence that says which way gives one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from weighbridge.auditing.checks.cut_figures import Judgement
from weighbridge.auditing.checks.own_counts import conventions_of, own_count, plain_conventions_of
from weighbridge.auditing.claims import Reason, Sentence, because
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import scales, significant_digits, whole_bounds
from weighbridge.conventions.additions import PACKED
from weighbridge.conventions.omissions import SCOPES
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.conventions.rules import Convention
    from weighbridge.value import ModelValue


def conventions(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """Every other way of counting that ``reconcile`` knows."""
    if token.value is None or what == "active":
        return
    if not token.unit and not token.places and token.value.denominator == 1:
        number = int(token.value)  # the simple ones first: most right numbers are one of them
        for made in (plain_conventions_of(model).by_value.get(number) or conventions_of(model).by_value.get(number, ()))[:1]:
            yield Judgement("convention", Exact(made.value), reason_for(made))
        return
    for made in _rounded_conventions(token, model)[:1]:
        yield Judgement("convention", Exact(made.value), reason_for(made))


def conventions_of_whole(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """The ways of counting the whole model, or all its layers, that a rounded figure may be; of no single part of it."""
    if token.value is not None and what != "active":
        for made in [made for made in _rounded_conventions(token, model) if made.view.scope in _WHOLE][:1]:
            yield Judgement("convention", Exact(made.value), reason_for(made))


_WHOLE = frozenset(("", "layers", "image-tower", "text-tower", "audio-tower"))


def _rounded_conventions(token: Token, model: ModelValue) -> list[Convention]:
    """Return the simple conventions whose count a rounded figure may be, the simplest first."""
    table, cheap = plain_conventions_of(model), []
    for scale in scales(token):
        low, high = whole_bounds(token, scale)  # they compare in a fraction of the time
        first, last = bisect_left(table.values, low), bisect_right(table.values, high)
        found = [made for value in table.values[first:last] for made in table.by_value[value]]
        cheap += sorted(found, key=lambda made: (made.cost, made.order))
    packs = significant_digits(token) >= _PACKED_DIGITS and (own_count(model) or 0) >= _LEAST_PACKED
    return [made for made in cheap if packs or not _counts_packed(made)]


def _counts_packed(made: Convention) -> bool:
    """Tell whether a way of counting takes several weights of a quantized file for one."""
    return bool(made.view.less) or any(piece.what == PACKED for piece in made.view.added)


_PACKED_DIGITS = 2
"""Digits that a figure shows at least before it may count packed weights: ``3.5B`` of a 7B in four bits; ``4B`` is any of many."""
_LEAST_PACKED = 10**9
"""Parameters from which on models are published in four bits: half of BERT's linear maps are no count of BERT, ``66M`` is DistilBERT's."""


def reason_for(made: Convention) -> Reason:
    """Say in which way of counting a number is right."""
    scope = made.view.scope
    what = tuple(Sentence(made.view.omissions[index].what) for index in made.omitted)
    plus = tuple(Sentence(piece.what) for piece in (*made.added, *made.view.less))
    name: object = made.class_name
    if scope:
        name = Sentence(mark("{scope} of {name}"), (("scope", Sentence(SCOPES.get(scope, scope))), ("name", made.class_name)))
    if what and plus:
        return because(mark("{name} without {what}, with {plus}"), name=name, what=what, plus=plus)
    if what:
        return because(mark("{name} without {what}"), name=name, what=what)
    if plus:
        return because(mark("{name} with {plus}"), name=name, plus=plus)
    return because(mark("the count of {name}"), name=name)
