"""The compact form in which listings are committed: layers folded, equal layers written once.

A listing is a list of strings and blocks. A string is one tensor, ``name 30522x768``, followed by
``= owner`` if it is another's storage and by ``frozen`` if it does not learn. A block is
``[prefix, indices, number]``: under ``prefix.i.`` for each index stand the lines of the numbered
body; a ``#`` in an owner's name stands for ``prefix.i``, a second one for the block around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from truth.listing import Line

Folded: TypeAlias = "list[str | list[object]]"
NUMBERED = re.compile(r"^(.*?)\.(\d+)\.")


def fold(lines: Iterable[Line], bodies: list[Folded]) -> Folded:
    """Fold lines into strings and blocks; bodies that are new are added to *bodies*.

    >>> bodies = []
    >>> fold([Line("layer.0.w", (2, 3)), Line("layer.1.w", (2, 3)), Line("b", ())], bodies), bodies
    ([['layer', '0-1', 0], 'b -'], [['w 2x3']])
    """
    result: Folded = []
    for prefix, group in groupby(lines, key=_prefix):
        if prefix is None:
            result.extend(map(write, group))
        else:
            result.extend(_blocks(prefix, list(group), bodies))
    return result


def unfold(folded: Folded, bodies: Sequence[Folded]) -> Iterator[Line]:
    """Yield the lines that :func:`fold` was given.

    >>> [line.name for line in unfold([["layer", "0-1", 0]], [["w 2x3"]])]
    ['layer.0.w', 'layer.1.w']
    """
    for entry in folded:
        if isinstance(entry, str):
            yield read(entry)
            continue
        prefix, indices, number = entry
        assert isinstance(number, int)
        body = list(unfold(bodies[number], bodies))
        for index in _indices(str(indices)):
            here = f"{prefix}.{index}"
            for name, shape, owner, frozen in body:
                if owner is not None and owner.startswith("#"):
                    # A second mark is meant for the block around this one.
                    owner = owner[1:] if owner.startswith("##") else here + owner[1:]
                yield Line(f"{here}.{name}", shape, owner, frozen)


def write(line: Line) -> str:
    """Write one tensor.

    >>> write(Line("head.weight", (5, 2), "embed.weight"))
    'head.weight 5x2 = embed.weight'
    """
    shape = "x".join(map(str, line.shape)) or "-"
    return f"{line.name} {shape}" + (f" = {line.tied_to}" if line.tied_to else "") + (" frozen" if line.frozen else "")


@lru_cache(maxsize=10_000)  # a file says the same of many layers
def read(text: str) -> Line:
    """Read what :func:`write` wrote.

    >>> read("scale -")
    Line(name='scale', shape=(), tied_to=None, frozen=False)
    """
    name, shape, *rest = text.split(" ")
    frozen = rest[-1:] == ["frozen"]
    owner = rest[1] if rest[:1] == ["="] else None
    assert len(rest) == 2 * (owner is not None) + frozen, f"{text!r} is no tensor"
    return Line(name, () if shape == "-" else tuple(map(int, shape.split("x"))), owner, frozen)


def _prefix(line: Line) -> str | None:
    found = NUMBERED.match(line.name)
    return found[1] if found else None


def _blocks(prefix: str, lines: list[Line], bodies: list[Folded]) -> Iterator[list[object]]:
    """Yield the blocks of neighbouring layers, one for each run of equal bodies."""
    numbered = []
    for index, group in groupby(lines, key=lambda line: line.name[len(prefix) + 1 :].partition(".")[0]):
        here = f"{prefix}.{index}"
        body = fold((_relative(line, here) for line in group), bodies)
        if body not in bodies:
            bodies.append(body)
        numbered.append((int(index), bodies.index(body)))
    for number, run in groupby(numbered, key=lambda pair: pair[1]):
        yield [prefix, _ranges([index for index, _ in run]), number]


def _relative(line: Line, here: str) -> Line:
    owner = line.tied_to
    if owner is not None and owner.startswith("#"):
        owner = "#" + owner
    elif owner is not None and owner.startswith(here + "."):
        owner = "#" + owner[len(here) :]
    return line._replace(name=line.name[len(here) + 1 :], tied_to=owner)


def _ranges(indices: list[int]) -> str:
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] + 1 == index:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _indices(text: str) -> Iterator[int]:
    for run in text.split(","):
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)
