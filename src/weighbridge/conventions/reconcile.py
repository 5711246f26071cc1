"""Which way of counting gives a number; if none does, the nearest, and what the difference looks like."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.conventions.omissions import LABELS
from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.rounding import Reading, readings
from weighbridge.conventions.rules import MOST_COST, Convention, Conventions, conventions
from weighbridge.conventions.views import unique_with_larger
from weighbridge.core.errors import UnknownArchitecture, UsageError, WeighbridgeError
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import with_sign
from weighbridge.load import load
from weighbridge.presets import preset, presets

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

LIMIT = 8
"""How many matches are shown."""
PLAIN = 1
"""A rounded number is held only against conventions of this cost: a wider net would catch any number."""


class Match(NamedTuple):
    """A convention that gives the number.

    Attributes:
        class_name: The class it counts.
        convention: The convention in words.
        keys: Anchors in docs/counting-rules.md of what it leaves out.
        value: What it gives exactly.
        how: ``exact``, ``rounded``, ``truncated``, ``coarse`` (zeros at the end taken for rounding) or ``published`` (only as its
            authors' own figure: *value* is then the count that they mean).
        unit: What a unit letter stands for, such as 2^20.
        class_count: The unique parameters of the class.
        leaves_out: What it leaves out of them; *class_count* less these, plus *adds*, is *value*.
        adds: What it counts beyond them.
        from_reference: The difference from the model's own count, part by part; it adds up exactly.
        cost: How far-fetched it is; the simplest is 0.
    """

    class_name: str
    convention: str
    keys: tuple[str, ...]
    value: int
    how: str
    unit: int
    class_count: int
    leaves_out: tuple[Piece, ...]
    adds: tuple[Piece, ...]
    from_reference: tuple[Piece, ...]
    cost: int


class Nearest(NamedTuple):
    """The convention that comes nearest to a number that none gives.

    Attributes:
        match: The convention.
        residual: The number less what the convention gives.
        hints: What the difference looks like, in words; facts, not verdicts.
    """

    match: Match
    residual: int
    hints: tuple[str, ...]


class Reconciliation(NamedTuple):
    """The answer: matches, simplest first; or the nearest.

    Attributes:
        number: As it was asked.
        reference: The model's own unique count.
        class_name: Its class.
        hidden: How many further conventions lie within what a rounded number can mean, and are not among *matches*.
        hints: How far the figure that the authors give is from the count, and which published model has it.
    """

    number: str
    class_name: str
    reference: int
    matches: tuple[Match, ...]
    nearest: Nearest | None
    hidden: int
    hints: tuple[str, ...] = ()


def reconcile(model: ModelValue, number: str | int, lang: str = "en", *, every: bool = False) -> Reconciliation:
    """Find the conventions in which *model* has *number* parameters.

    Args:
        model: Any model; the classes of its family are tried too if it comes from a config.
        number: An int, or text such as ``109,482,240``, ``110M``, ``1.1亿``; M may be 10^6 or 2^20.
        lang: The language of the words.
        every: List all conventions that the number can mean, not the simplest alone.

    Raises:
        UsageError: *number* is no number.

    >>> from weighbridge import model
    >>> reconcile(model("bert-base-uncased"), 110104890).matches[0].convention
    'BertForPreTraining without cls.seq_relationship'
    """
    say = translator(lang)
    table = conventions(model)
    meanings = _drop_rounded_units(readings(str(number)), str(number))
    found: dict[tuple[str, int], tuple[int, int, Match]] = {}
    hidden: set[tuple[str, int]] = set()
    for reading in meanings:
        inside = list(_conventions_in(table, reading))
        least = min((made.cost for made in inside), default=0)
        for made in inside:
            if reading.how != "exact" and made.cost > least:
                hidden.add((made.text(say), made.value))  # many lie within what a rounded number can mean: the simplest are an answer
                if not every:
                    continue
            match = _match(made, reading, table, say)
            key = (match.convention, match.value)
            rank = (match.cost, made.order, match)
            if key not in found or rank[:2] < found[key][:2]:
                found[key] = rank
    ordered = tuple(
        match for *_, match in sorted(found.values(), key=lambda item: (item[0], bool(item[2].keys), item[1], len(item[2].keys)))
    )
    matches = ordered if every else ordered[:LIMIT]
    own = sum(table.reference.values())
    hints: tuple[str, ...] = ()
    if not matches and (published := _published_match(model, meanings, say)):
        matches, hints = (published,), (*_distance(meanings[0], published, say), *_other_models(model, meanings, say))
    nearest = None if matches else _find_nearest(model, table, meanings, say)
    shown = {(match.convention, match.value) for match in matches}
    more = len((hidden | set(found)) - shown) if matches else 0
    return Reconciliation(str(number), model.class_name or model.kind, own, matches, nearest, more, hints)


def _drop_rounded_units(meanings: list[Reading], number: str) -> list[Reading]:
    """Leave out units of 2^10, 2^20, 2^30 where a number has one or two digits: rounded so far, it would fit almost anything."""
    digits = re.sub(r"\D", "", number.partition("e")[0]).strip("0")
    return [reading for reading in meanings if len(digits) > 2 or reading.unit % 1000 == 0 or reading.unit == 1] or meanings


def _published_match(model: ModelValue, meanings: list[Reading], say: Say) -> Match | None:
    """Return the figure that the model's authors give, where it is the number and no convention gives it."""
    found, tally = preset(model.source), tally_of(model)
    for written, active in re.findall(r"([\d.,]*\d\s?[A-Za-z]?\b)( active)?", found.published if found else ""):
        with suppress(UsageError):
            value = readings(written)[0].value
            if any(value == reading.value for reading in meanings):
                told = mark("what a token uses, published as {written}") if active else mark("the whole model, published as {written}")
                words = say(told).format(written=written)
                assert isinstance(tally.unique, int)
                assert isinstance(tally.active, int)
                own, idle = tally.unique, tally.unique - tally.active if active else 0
                out = (Piece(say("experts that a token does not use"), idle),) if idle else ()
                return Match(model.class_name, words, ("published",), own - idle, "published", 1, own, out, (), out, MOST_COST)
    return None


def _distance(reading: Reading, match: Match, say: Say) -> Iterator[str]:
    """Yield how far a figure that the authors give is from what they mean."""
    percent = f"{abs(float(reading.value) / match.value - 1):.1%}"
    if reading.value > match.value:
        yield say("It is {percent} more than the {value} counted.").format(percent=percent, value=f"{match.value:,}")
    else:
        yield say("It is {percent} less than the {value} counted.").format(percent=percent, value=f"{match.value:,}")


def _conventions_in(table: Conventions, reading: Reading) -> Iterator[Convention]:
    if reading.how == "exact":
        yield from table.by_value.get(reading.low, ())
        return
    first, last = bisect_left(table.values, reading.low), bisect_right(table.values, reading.high)
    for value in table.values[first:last]:
        yield from (made for made in table.by_value[value] if made.cost <= (0 if reading.how == "truncated" else PLAIN))


def _match(made: Convention, reading: Reading, table: Conventions, say: Say) -> Match:
    own = made.labels()
    difference = Counter(table.reference)
    difference.subtract(own)
    away = tuple(Piece(say(LABELS.get(label, label)), amount) for label, amount in difference.items() if amount)
    # Authors cut off (37B of 37.55B) sooner than they leave a part out without a word.
    cost = made.cost + (min(reading.cost, 1) if reading.how == "truncated" and not made.keys else reading.cost)
    return Match(
        made.class_name,
        made.text(say),
        made.keys,
        made.value,
        reading.how,
        reading.unit,
        made.view.class_count,
        _translate(made.left_out, say),
        _translate(made.added, say),
        away,
        cost,
    )


def _translate(pieces: tuple[Piece, ...], say: Say) -> tuple[Piece, ...]:
    return tuple(Piece(say(piece.what), piece.amount) for piece in pieces)


def _find_nearest(model: ModelValue, table: Conventions, meanings: list[Reading], say: Say) -> Nearest | None:
    reading = meanings[0]
    number = round(reading.value)
    plain = [value for value in table.values if table.by_value[value][0].cost <= PLAIN]
    if not plain:
        return None
    value = min(plain, key=lambda known: (abs(known - number), known))
    match = _match(table.by_value[value][0], reading._replace(how="nearest"), table, say)
    others = list(_other_models(model, meanings, say))
    hints = []
    if reading.how == "exact":
        others = others or [*_models_of_number(number, say)] or [*_as_in_siblings(model, number, say)]
        hints = list(_hints(model, table, number, value, say))
    return Nearest(match, number - value, (*others, *hints))


def _hints(model: ModelValue, table: Conventions, number: int, nearest: int, say: Say) -> Iterator[str]:
    yield from _slips(table, number, say)
    yield from _other_sizes(model, number, say)
    yield from _shape(model, number - sum(table.reference.values()), model.class_name or model.kind, say)
    if nearest != sum(table.reference.values()):
        yield from _shape(model, number - nearest, table.by_value[nearest][0].text(say), say)


def _slips(table: Conventions, number: int, say: Say) -> Iterator[str]:
    """Yield what a typing error would explain: a power of ten, a digit, two digits exchanged."""
    for power in (1, 2, 3):
        for value in (number * 10**power, number // 10**power if number % 10**power == 0 else 0):
            if value in table.by_value and table.by_value[value][0].cost <= 2:
                text = table.by_value[value][0].text(say)
                yield say("{value} ({text}) is the same number with the point moved by {power}").format(
                    value=f"{value:,}", text=text, power=power
                )
    digits = str(number)
    for value in table.values:
        made = table.by_value[value][0]
        if made.cost > PLAIN or len(other := str(value)) != len(digits):
            continue
        wrong = [place for place in range(len(digits)) if digits[place] != other[place]]
        if len(wrong) == 1:
            yield say("one digit differs from {value} ({text})").format(value=f"{value:,}", text=made.text(say))
        elif len(wrong) == 2 and digits[wrong[0]] == other[wrong[1]] and digits[wrong[1]] == other[wrong[0]]:
            yield say("two digits are exchanged in {value} ({text})").format(value=f"{value:,}", text=made.text(say))


def _other_sizes(model: ModelValue, number: int, say: Say) -> Iterator[str]:
    """Yield which other vocabulary, number of layers or of positions the number would fit."""
    if model.description is None:
        return
    sizes, own = model.description.sizes, unique_with_larger(model, "vocab", 0) or 0
    for word, plausible in (("vocab", _known_vocabularies()), ("layers", {}), ("positions", {})):
        more = unique_with_larger(model, word, 1)
        slope = (more or own) - own
        value = getattr(sizes, word, None)
        if slope <= 0 or not isinstance(value, int) or (number - own) % slope:
            continue
        other = value + (number - own) // slope
        if unique_with_larger(model, word, other - value) != number:
            continue
        key = next(field.key for field in model.description.family.fields if field.word == word)
        if word == "vocab" and other in plausible:
            yield say("{name} gives it with {key} {value}, the vocabulary of {known}").format(
                name=model.class_name, key=key, value=f"{other:,}", known=plausible[other]
            )
        elif (word == "layers" and 0 < other <= 200) or (
            word == "positions" and other > 0 and (other & (other - 1) == 0 or other % 512 == 0)
        ):
            yield say("{name} gives it with {key} {value}").format(name=model.class_name, key=key, value=f"{other:,}")


def _other_models(model: ModelValue, meanings: list[Reading], say: Say) -> Iterator[str]:
    """Yield published models of the same type and class that have the number."""
    seen: set[int] = set()
    for known in presets():
        if known.config.get("model_type") != model.model_type or len(seen) == 3:
            continue
        try:
            amount = unique_of(load(known.config, model.class_name))
        except UnknownArchitecture:  # of the same type's name, but with the classes of others, as the first LLaVA's files
            continue
        if isinstance(amount, int) and amount not in seen and any(reading.low <= amount <= reading.high for reading in meanings):
            seen.add(amount)
            yield say("{name} of {known} has {value}").format(name=model.class_name, known=known.name, value=f"{amount:,}")


def _models_of_number(number: int, say: Say) -> Iterator[str]:
    """Yield another model that exactly this number is published for: tables are filled by copying."""
    for known in presets():
        if known.total is not None and known.total.value == number:
            yield say("it is the number of {known}: {convention} ({source})").format(
                known=known.name, convention=known.total.convention, source=known.total.source
            )
            return


MOST_SIBLINGS = 16
"""How many values of siblings are tried."""


def _as_in_siblings(model: ModelValue, number: int, say: Say) -> Iterator[str]:
    """Yield one field that has another value in a sibling, with which a convention gives the number: one size's value stands in another's config."""
    for place, (key, name, value) in enumerate(_sibling_values(model)):
        table = _with_sibling_value(model, place)
        made = table.by_value.get(number) if table else None
        if made and made[0].cost <= PLAUSIBLE:
            words = say("with {key} {value}, as {known} has it, it is {convention}")
            yield words.format(key=key, value=value, known=name, convention=made[0].text(say))
            return


@lru_cache(maxsize=2)
def _sibling_values(model: ModelValue) -> tuple[tuple[str, str, int | list[Any]], ...]:
    """Return the fields that published models of the same type have otherwise: the key, who has it, and the value."""
    if model.description is None or preset(model.source) is None:
        return ()
    own = dict(_entries(model.description.raw))
    values: dict[tuple[str, str], tuple[str, str, int | list[Any]]] = {}
    for known in presets():
        if known.config.get("model_type") == model.model_type:
            for key, value in _entries(known.config):
                if type(own.get(key)) is type(value) and own[key] != value:
                    values.setdefault((key, repr(value)), (key, known.name, value))
    return tuple(values.values())[:MOST_SIBLINGS]


@lru_cache(maxsize=MOST_SIBLINGS)
def _with_sibling_value(model: ModelValue, place: int) -> Conventions | None:
    """Return the conventions of a model with one of its siblings' values, or None if that is no model; kept, for who asks of one number asks of another."""
    key, _, value = _sibling_values(model)[place]
    assert model.description is not None
    try:  # not through the cache of conventions, from which these would drive out the model's own
        return conventions.__wrapped__(load(_with_entry(model.description.raw, key, value), model.class_name))
    except WeighbridgeError:
        return None


def _entries(raw: dict[str, Any]) -> Iterator[tuple[str, int | list[Any]]]:
    """Yield the numbers and lists of a config and, by their dotted path, of its sub-configs."""
    for key, value in raw.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", entry) for inner, entry in value.items() if isinstance(entry, (int, list)))
        elif isinstance(value, (int, list)):
            yield key, value


def _with_entry(raw: dict[str, Any], path: str, value: int | list[Any]) -> dict[str, Any]:
    """Return a config with another value at a dotted path."""
    outer, _, inner = path.rpartition(".")
    return {**raw, outer: {**raw[outer], inner: value}} if outer else {**raw, path: value}


PLAUSIBLE = 3
"""With a field changed, only a convention of this cost is an explanation."""


def _known_vocabularies() -> dict[int, str]:
    known: dict[int, str] = {}
    for found in presets():
        size = found.config.get("vocab_size")
        if isinstance(size, int):
            known.setdefault(size, found.name)
    return known


def _shape(model: ModelValue, residual: int, name: str, say: Say) -> Iterator[str]:
    """Yield what kind of number the difference from a convention is."""
    digits = str(abs(residual))
    if len(digits) > 1 and set(digits[1:]) == {"0"}:
        yield say("the difference from {name} is {value}: one digit is off by {digit}").format(
            name=name, value=with_sign(residual), digit=digits[0]
        )
    sizes = vars(model.description.sizes) if model.description else {}
    hidden, mlp = sizes.get("hidden"), sizes.get("mlp")
    if not isinstance(hidden, int) or residual == 0:
        return
    letters = {"H²": hidden * hidden, "H × I": hidden * mlp if isinstance(mlp, int) else 0, "H": hidden}
    for letter, size in letters.items():
        if size > 1 and residual % size == 0:
            times = say("the difference from {name} is {value}, {times} × {letter}")
            yield times.format(name=name, value=with_sign(residual), times=f"{abs(residual) // size:,}", letter=letter)
            return


def explanation(match: Match, say: Say) -> str:
    """Write how a match comes to its value: the class's count, less what is left out, plus what is added.

    >>> from weighbridge import model
    >>> from weighbridge.core.messages import mark
    >>> explanation(reconcile(model("bert-base-uncased"), 108808704).matches[0], mark)
    '109,482,240 − 83,712 (linear biases) − 589,824 (pooler) = 108,808,704'
    """
    steps = [f"{match.class_count:,}"]
    named = say("{title} ({shape})")
    steps += [f"− {named.format(title=f'{piece.amount:,}', shape=piece.what)}" for piece in match.leaves_out]
    steps += [f"+ {named.format(title=f'{piece.amount:,}', shape=piece.what)}" for piece in match.adds]
    return " ".join(steps) + (f" = {match.value:,}" if len(steps) > 1 else "")
