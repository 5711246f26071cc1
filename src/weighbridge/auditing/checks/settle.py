"""Settle a count that is claimed of a model: every reading under which it could be true is tried before it is wrong.

The readings are those of ``weigh counts`` and ``weigh reconcile``: the classes of the family, the conventions of
``conventions/rules``, rounding and truncation, units of 10^6 and 2^20, and the figure that the authors published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing.checks.cut_figures import Judgement, cut_or_rounded_up
from weighbridge.auditing.checks.own_counts import list_named_counts, own_count, tied_tables
from weighbridge.auditing.checks.published_figures import figures
from weighbridge.auditing.checks.rounded_conventions import conventions, conventions_of_whole
from weighbridge.auditing.claims import because
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import Fit, fit, scales, significant_digits
from weighbridge.auditing.thresholds import MOST_LABELS, PUBLISHED_FAR, ROUGH_FAR, ROUNDED_DIGITS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets import preset

if TYPE_CHECKING:
    from typing import TypeAlias

    from weighbridge.value import ModelValue


def settle(
    token: Token, models: Sequence[ModelValue], what: str = "total", *, hedged: bool = False, whole: bool = False
) -> Judgement | None:
    """Return the simplest reading under which a figure is true of one of *models*, or None if there is none.

    Args:
        token: The figure.
        models: What it may be about, the likeliest first.
        what: ``total``, ``active``, ``embedding`` or ``non_embedding``.
        hedged: Whether it is said to be approximate.
        whole: Whether its place says that it is the whole model's, so that no single part of it is meant: two digits agree with some part by chance.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> from weighbridge.auditing.text.tokens import tokens
    >>> settle(tokens("124,337,664", 0)[0], [preset_model("gpt2")]).verdict
    'convention'
    """
    value = token.value
    key = (token.kind, token.text, None if value is None else (value.numerator, value.denominator), token.unit, token.places)
    return _settle(key, tuple(models), what, hedged=hedged, whole=whole)


def is_near(token: Token, models: Sequence[ModelValue], what: str = "total") -> bool:
    """Tell whether a figure of one or two digits is near enough to a count to be one that somebody rounded as they liked."""
    return significant_digits(token) < ROUNDED_DIGITS and settle(token, models, what, hedged=True, whole=True) is not None


_Figure: TypeAlias = tuple[str, str, tuple[int, int] | None, str, int]
"""A number without its place: kind, text, value, unit, digits after the point."""


@lru_cache(maxsize=1 << 14)
def _settle(figure: _Figure, models: tuple[ModelValue, ...], what: str, *, hedged: bool, whole: bool) -> Judgement | None:
    """Settle a figure wherever it stands: tables and lists say the same ones again and again."""
    kind, text, value, unit, places = figure
    token = Token(kind, text, 0, 0, 0, None if value is None else Exact(*value), unit, places)
    exact = not token.unit and not token.places
    for reading in _OF_WHOLE if exact else _OF_ROUNDED_WHOLE if whole else _OF_ROUNDED:
        for model in models:
            for found in reading(token, model, what, hedged):
                if not (_is_loose(found) and _contradicts_name(token, model, what)):
                    return found
    return None


def _is_loose(found: Judgement) -> bool:
    """Tell whether a figure is only true if it was cut off or rounded up, or counts in powers of two."""
    return found.verdict == "note" or any(part.sentence.startswith("in units of") for part in found.reason)


def _contradicts_name(token: Token, model: ModelValue, what: str) -> bool:
    """Tell whether a model is called by another count than a figure, and rightly so: nobody cuts the 8.2 billion of ``Qwen3-8B`` down to ``7B``."""
    called = (_CALLED_ACTIVE.search(model.source) if what == "active" else None) or _CALLED.search(model.source)
    count = own_count(model, what) if called is not None and what in ("total", "active") else None
    if called is None or count is None or token.value is None or token.unit not in _SAME_UNIT[called["unit"]]:
        return False
    unit = 10**9 if called["unit"] == "b" else 10**6
    places = len(called["number"].partition(".")[2])
    named = Exact(called["number"])
    fair = abs(named * unit - count) * 10**places < unit
    return fair and token.places <= places and named != token.value and abs(token.value * unit - count) * 2 * 10**token.places > unit


_CALLED = re.compile(r"(?<![a-z0-9.])(?P<number>\d+(?:\.\d+)?)(?P<unit>[bm])(?![a-z0-9])")
_CALLED_ACTIVE = re.compile(r"-a(?P<number>\d+(?:\.\d+)?)(?P<unit>b)(?![a-z0-9])")
_SAME_UNIT = {"b": frozenset(("b", "bn", "billion")), "m": frozenset(("m", "mn", "million"))}


def _counts(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """The count itself, of the model's class and of the others of its family; one digit is near some class's by chance."""
    rough = (token.unit or token.places) and significant_digits(token) < _ROUGH_DIGITS
    own = own_count(model, what) or 0
    for index, (name, count) in enumerate(list_named_counts(model, what)):
        if rough and abs(count - own) * ROUGH_FAR.denominator > ROUGH_FAR.numerator * own:
            continue  # ``1B`` of an encoder, where the model has 2.85B
        found = fit(token, count, loose=hedged)
        if found is not None and found.verdict != "note" and not _is_bytes(found):
            verdict = "convention" if found.verdict == "exact" and index else found.verdict
            yield Judgement(verdict, Exact(count), found.reason + because(mark("{name} has {right}"), name=name, right=count))


_ROUGH_DIGITS = 2


def _is_bytes(found: Fit) -> bool:
    return any("bytes" in part.sentence for part in found.reason)


def _with_untied_head(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """One tied table counted once more: the head of a published file that is untied, such as T5's."""
    own = own_count(model)
    for amount in tied_tables(model) if what == "total" and own is not None else ():
        assert own is not None
        found = fit(token, own + amount)
        if found is not None and found.verdict != "note" and not _is_bytes(found):
            yield Judgement(
                "convention" if found.verdict == "exact" else found.verdict, Exact(own + amount), because(mark("with its head untied"))
            )


def _to_filled_zeros(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """A whole number that ends in zeros, rounded to the digits before them: ``11,689,500``."""
    if token.unit or token.places or token.value is None:
        return
    digits = str(int(token.value))
    zeros = len(digits) - len(digits.rstrip("0"))
    for name, count in list_named_counts(model, what) if zeros >= 2 and zeros < len(digits) - 1 else ():
        if abs(token.value - count) * 2 <= 10**zeros:
            reason = because(mark("rounded to {digits} digits"), digits=len(digits) - zeros)
            yield Judgement("rounded", Exact(count), reason + because(mark("{name} has {right}"), name=name, right=count))


def _nominal_count(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """The number that a model is called by, with all its zeros: ``params = 7_000_000_000  # 7B``."""
    count = own_count(model) if what == "total" else None
    billions, rest = divmod(token.value or Exact(1), 10**9)
    if count is not None and not rest and re.search(rf"(?<![\d.]){billions}b(?![a-z0-9])", model.source, re.IGNORECASE):
        yield Judgement("note", Exact(count), because(mark("{name} has {right}"), name=model.class_name, right=count))


def _heads(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """An output head of some number of labels, with its biases, on one of the classes."""
    hidden = getattr(model.description.sizes, "hidden", None) if model.description is not None else None
    if what != "total" or token.unit or token.places or token.value is None or not isinstance(hidden, int):
        return
    for name, count in list_named_counts(model, what):
        labels, rest = divmod(int(token.value) - count, hidden + 1)
        if rest == 0 and 0 < labels <= MOST_LABELS:
            reason = because(mark("{name} with an output head of {labels} labels"), name=name, labels=labels)
            yield Judgement("convention", token.value, reason)


def _with_masks(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """All that GPT-2's published file stores: its causal masks, positions by positions in each layer, counted with the parameters."""
    sizes = model.description.sizes if model.description is not None and model.model_type == "gpt2" else None
    layers, positions = getattr(sizes, "layers", None), getattr(sizes, "positions", None)
    own = own_count(model)
    if what == "total" and own is not None and isinstance(layers, int) and isinstance(positions, int):
        stored = Exact(own + layers * positions**2)
        found = fit(token, stored)
        if found is not None and found.verdict != "note" and not _is_bytes(found):
            yield Judgement("convention", stored, because(mark("with the causal masks that its published file holds")))


def _published_figure(token: Token, model: ModelValue, what: str, hedged: bool) -> Iterator[Judgement]:
    """The figure that the authors give, where it is one of this model and not its sister's."""
    count = own_count(model, what)
    if token.value is None or count is None:
        return
    mine = token.value * scales(token)[0]
    for figure, corrected in _figures_of_kin(model.source):
        if mine == figure and (corrected or abs(mine - count) <= PUBLISHED_FAR * count):
            yield Judgement("note", Exact(count), because(mark("the figure its authors give; the count is {right}"), right=count))


@lru_cache(maxsize=2048)
def _figures_of_kin(name: str) -> tuple[tuple[Fraction, bool], ...]:
    """Return the figures that were published for a preset and for those whose names begin its own; a name that is none has none."""
    if (found := preset(name)) is None:
        return ()
    kin = [preset(found.name[:place]) for place, letter in enumerate(found.name) if letter == "-"]
    sisters = ((figure, False) for one in kin if one is not None for figure, _ in figures(one))
    return (*figures(found), *sisters)


_OF_WHOLE = (
    _counts,
    conventions,
    _with_untied_head,
    _with_masks,
    _heads,
    _to_filled_zeros,
    _nominal_count,
    cut_or_rounded_up,
    _published_figure,
)
_OF_ROUNDED_WHOLE = (_counts, cut_or_rounded_up, _published_figure, conventions_of_whole, _with_untied_head, _with_masks)
_OF_ROUNDED = (_counts, cut_or_rounded_up, _published_figure, conventions, _with_untied_head, _with_masks)
"""The readings of a whole number and of a rounded figure, the simplest first."""
