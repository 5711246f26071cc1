"""Tied tensors that a file holds twice: a copy, or a different tensor that loading unties?

transformers 5.23.0, ``PreTrainedModel.tie_weights`` in modeling_utils.py: where a checkpoint holds both tensors of a tie, their
values are compared when it is loaded, and if one differs they are not tied. A shape cannot tell; bytes can.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from weighbridge.readers.samples import Comparison, Extent, compare, find


class Copy(NamedTuple):
    """What is known of a tensor that shares the storage of *owner* in the class, and has bytes of its own in the file.

    Attributes:
        separate: True if a byte differs, False if all were read and none does, None if that is not known.
        reason: The same in words.
    """

    separate: bool | None
    reason: str


Compare: TypeAlias = Callable[[str, str], "Comparison | None"]
"""From the names of two tensors in a file to what reading them showed; None where they cannot be compared."""


def comparer(path: Path, *, thorough: bool = False) -> Compare:
    """Return what compares two tensors of the file or files at *path*, by a few kilobytes of each unless *thorough*."""
    places: dict[str, Extent] = {}

    def compare_places(one: str, other: str) -> Comparison | None:
        missing = {one, other} - places.keys()
        if missing:
            places.update(find(path, missing))
        return compare(places[one], places[other], thorough=thorough) if one in places and other in places else None

    return compare_places


def judge_copy(name: str, owner: str, found: Comparison | None) -> Copy:
    """Say what a comparison proves of the tensor *name*, whose class keeps it in *owner*.

    >>> judge_copy("lm_head.weight", "shared.weight", None).separate is None
    True
    """
    if found is None:
        return Copy(None, f"a copy of {owner}, whose storage it shares in the class, or a tensor of its own: a header cannot tell")
    if found.differs_at is not None:
        return Copy(
            True,
            f"separate from {owner} (byte {found.differs_at:,} differs): the class ties them when built, loading this file unties them",
        )
    if found.whole:
        return Copy(False, f"a copy of {owner}, whose storage it shares in the class: all {found.size:,} bytes are equal")
    return Copy(
        None,
        f"probably a copy of {owner}, whose storage it shares in the class: {found.read:,} bytes at several places are equal (--thorough reads all)",
    )
