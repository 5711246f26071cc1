"""What differs between two models, tensor by tensor, and the config fields behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from weighbridge.accounts.parameters import unique_of
from weighbridge.config.fields import Config
from weighbridge.core.tree import Row
from weighbridge.readers.gguf_models import steps_for_names
from weighbridge.verification.renaming import Step, choose_naming, prefixes, resolve

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Change(NamedTuple):
    """One tensor or field that is not the same: its name, what it is in the first, what it is in the second."""

    name: str
    a: Any
    b: Any


class Difference(NamedTuple):
    """Two models side by side.

    Attributes:
        a, b: What they were made from, in words.
        unique_a, unique_b: Their unique parameters.
        equal: Tensors that are the same in both.
        added, gone: Tensors that only the second, or only the first has.
        reshaped, retyped, retied, recast: Tensors of another shape, element type (where both tell), storage
            or role (a buffer on one side, a parameter on the other).
        renamed: Whether the second's names were brought to the first's (a prefix, old endings).
        fields: Config fields that differ, where both were made from configs.
    """

    a: str
    b: str
    unique_a: int
    unique_b: int
    equal: int
    added: tuple[Row, ...]
    gone: tuple[Row, ...]
    reshaped: tuple[Change, ...]
    retyped: tuple[Change, ...]
    retied: tuple[Change, ...]
    recast: tuple[Change, ...]
    renamed: bool
    fields: tuple[Change, ...]

    @property
    def same(self) -> bool:
        """Whether every tensor is the same."""
        return not (self.added or self.gone or self.reshaped or self.retyped or self.retied or self.recast)


def diff(a: ModelValue, b: ModelValue) -> Difference:
    """Compare two models of any kind; the second's names are brought to the first's where a prefix or a format's own names differ.

    >>> from weighbridge import model
    >>> found = diff(model("bert-base-uncased"), model("bert-base-chinese"))
    >>> [(change.name, change.b) for change in found.reshaped], [change.name for change in found.fields]
    ([('embeddings.word_embeddings.weight', (21128, 768))], ['vocab_size'])
    """
    rows_a, rows_b = a.list_tensors(), b.list_tensors()
    first, second = {row.name: row for row in rows_a}, {row.name: row for row in rows_b}
    if any(steps_for_names(first)) and not any(steps_for_names(second)):
        first, renamed = _in_names_of(second, a, rows_a)
    else:
        second, renamed = _in_names_of(first, b, rows_b)
    equal, reshaped, retyped, retied, recast = _changes(first, second)
    unique_a, unique_b = unique_of(a), unique_of(b)
    return Difference(
        a.source,
        b.source,
        unique_a,
        unique_b,
        equal,
        tuple(row for name, row in second.items() if name not in first),
        tuple(row for name, row in first.items() if name not in second),
        reshaped,
        retyped,
        retied,
        recast,
        renamed,
        tuple(_fields(a, b)),
    )


_Changes: TypeAlias = tuple[Change, ...]


def _changes(first: dict[str, Row], second: dict[str, Row]) -> tuple[int, _Changes, _Changes, _Changes, _Changes]:
    """Return how many tensors are the same in both, and of the others what differs: shapes, types, storages, and what is a buffer."""
    equal = 0
    reshaped: list[Change] = []
    retyped: list[Change] = []
    retied: list[Change] = []
    recast: list[Change] = []
    for called, two in second.items():
        one = first.get(called)
        if one is None:
            continue
        name, shape, role, tied_to, dtype, _ = one
        _, other_shape, other_role, other_owner, other_dtype, _ = two
        before = len(reshaped), len(retyped), len(retied), len(recast)
        if shape != other_shape:
            reshaped.append(Change(name, shape, other_shape))
        if dtype != other_dtype and dtype and other_dtype:
            retyped.append(Change(name, dtype, other_dtype))
        if tied_to is not other_owner and (tied_to is None or other_owner is None):
            retied.append(Change(name, tied_to, other_owner))
        if role != other_role and "buffer" in (role, other_role):
            recast.append(Change(name, role, other_role))
        equal += before == (len(reshaped), len(retyped), len(retied), len(recast))
    return equal, tuple(reshaped), tuple(retyped), tuple(retied), tuple(recast)


def _in_names_of(first: dict[str, Row], b: ModelValue, rows: Sequence[Row]) -> tuple[dict[str, Row], bool]:
    """Return the second model's *rows* by the first's names, where one name becomes one."""
    if all(row.name in first for row in rows):
        return {row.name: row for row in rows}, False
    keys = [b.class_name, b.model_type or ""]
    names = [row.name for row in rows]
    steps = [tuple(Step(re.compile(pattern), targets) for pattern, targets in pairs) for pairs in steps_for_names(names)]
    namings = [choose_naming(keys, names, first, prefixes(first), steps=own) for own in steps or [()]]
    resolved = max(
        ([(name,) if name in first else resolve(name, naming, first) for name in names] for naming in namings),
        key=lambda targets: sum(map(bool, targets)),
    )
    if len(names) > 1 and sum(map(bool, resolved)) < 2:
        return {row.name: row for row in rows}, False  # one name that fits by a prefix of its own is chance
    found: dict[str, Row] = {}
    for row, targets in zip(rows, resolved, strict=True):
        name = targets[0] if len(targets) == 1 and "experts" not in row.name else row.name
        found[row.name if name in found else name] = row
    return found, any(name != row.name for name, row in found.items())


def _fields(a: ModelValue, b: ModelValue) -> Iterator[Change]:
    """Yield the fields whose values differ: those that the family reads, or all if the families differ."""
    if a.description is None or b.description is None:
        return
    if a.class_name != b.class_name:
        yield Change("class", a.class_name, b.class_name)
    one, two = a.description, b.description
    if one.family.model_type != two.family.model_type:
        for key in dict.fromkeys((*one.raw, *two.raw)):
            if one.raw.get(key) != two.raw.get(key):
                yield Change(key, one.raw.get(key), two.raw.get(key))
        return
    keys = {field.word: field.key for field in one.family.fields if field.kind != "derived"}
    for word, key in keys.items():
        yield from _values(key, getattr(one.sizes, word, None), getattr(two.sizes, word, None))


def _values(key: str, one: object, two: object) -> Iterator[Change]:
    if isinstance(one, Config) and isinstance(two, Config):
        for word in dict.fromkeys((*vars(one), *vars(two))):
            yield from _values(f"{key}.{word}", vars(one).get(word), vars(two).get(word))
    elif one != two:
        yield Change(key, one, two)
