"""FLOPs by module, ours beside theirs: which module is the first whose arithmetic differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from weighbridge.accounts.ledger import Entry
from weighbridge.core.tree import copy_name, positions


def ours_by_module(entry: Entry) -> dict[str, Fraction]:
    """Return what each module of ours amounts to, by its full name, copies of a layer one by one; the whole under the empty name.

    >>> from weighbridge.accounts.flops import matmuls
    >>> from weighbridge.core.parts import linear
    >>> from weighbridge.core.tree import Part
    >>> tree = Part("", (Part("layer", (linear("dense", 8, 4),), repeat=2),))
    >>> {name: int(amount) for name, amount in ours_by_module(matmuls(tree, {"seq": 3})).items()}
    {'': 384, 'layer': 384, 'layer.0': 192, 'layer.0.dense': 192, 'layer.1': 192, 'layer.1.dense': 192}
    """
    found: dict[str, Fraction] = {"": Fraction(0)}
    _note(entry, "", Fraction(1), found)
    return found


def _note(entry: Entry, path: str, times: Fraction, found: dict[str, Fraction]) -> None:
    """Add an entry that stands at *path* and runs *times* as often as it says."""
    part, amount = entry.part, times * _whole(entry.amount)
    if part.name:
        outer, path = path, f"{path}.{part.name}".removeprefix(".")
        found[path] = found.get(path, Fraction(0)) + amount
    elif not path:
        outer, found[""] = "", found[""] + amount
    else:
        outer = path
    inside = amount / _whole(entry.each) if _whole(entry.each) else Fraction(0)
    if part.repeat is None:
        for child in entry.children:
            _note(child, path, inside, found)
        return
    places = positions(part)
    for index in places:
        copy = f"{outer}.{copy_name(part.name, index)}".removeprefix(".")
        found[copy] = found.get(copy, Fraction(0)) + amount / len(places)
        for child in entry.children:
            _note(child, copy, inside / len(places), found)


def _whole(amount: object) -> int:
    assert isinstance(amount, int), "the sizes of a checked model are ints"
    return amount


def with_lists(counted: Mapping[str, int]) -> dict[str, int]:
    """Return what PyTorch counted by module, and of modules that are never called, such as a list of layers, the sum of what is in them.

    >>> with_lists({"": 9, "layer.0": 4, "layer.0.dense": 4, "layer.1": 5})
    {'': 9, 'layer.0': 4, 'layer.0.dense': 4, 'layer.1': 5, 'layer': 9}
    """
    found = dict(counted)
    for name in sorted(counted, key=lambda name: -name.count(".")):
        amount = counted[name]
        while (name := name.rpartition(".")[0]) and name not in counted:
            found[name] = found.get(name, 0) + amount
    return found


def first_difference(ours: Mapping[str, Fraction], theirs: Mapping[str, int], path: str = "") -> str:
    """Return the name of the innermost module with which the difference of two counts begins.

    A module that only one side runs may be one whose matrix the module around it multiplies with: it is named where it explains the
    whole difference of that.

    >>> first_difference({"": 9, "a": 4, "a.up": 4, "b": 5}, {"": 7, "a": 4, "a.up": 4, "b": 3})
    'b'
    """
    whole = _gap(ours, theirs, path)
    differing = [name for name in _inside(path, ours, theirs) if _gap(ours, theirs, name)]
    both = [name for name in differing if name in ours and name in theirs]
    inner = next((name for name in differing if _gap(ours, theirs, name) == whole), None) or next(iter(both), None)
    if inner is None and differing and sum(_gap(ours, theirs, name) for name in differing) == whole:
        inner = differing[0]
    return path if inner is None else first_difference(ours, theirs, inner)


def _gap(ours: Mapping[str, Fraction], theirs: Mapping[str, int], name: str) -> Fraction:
    return Fraction(ours.get(name, 0)) - theirs.get(name, 0)


def _inside(path: str, *sides: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of the modules directly in the one at *path*, in the order of the first side that has them."""
    prefix = f"{path}." if path else ""
    names = (name for side in sides for name in side if name.startswith(prefix) and name != path)
    yield from dict.fromkeys(name for name in names if "." not in name.removeprefix(prefix))
