"""A blueprint's tensors and a file's, brought together by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.proofs.renaming import Naming, Step, naming, prefixes, resolve
from weighbridge.readers import gguf_models
from weighbridge.tree import Row

if TYPE_CHECKING:
    from weighbridge.model import Described, Model
    from weighbridge.readers import Listing


class Alignment(NamedTuple):
    """The blueprint's tensors and the file's, brought together by name.

    Attributes:
        groups: The blueprint's names and the file's rows that make them up: one to one, or merged, or split.
        extra: Rows of the file that have no place.
        missing: Rows of the blueprint that the file has not.
    """

    groups: tuple[tuple[tuple[str, ...], list[Row]], ...]
    extra: tuple[Row, ...]
    missing: tuple[Row, ...]


def steps_for(listing: Listing) -> tuple[Step, ...]:
    """Return the renamings that the format of a file asks for: GGUF has names of its own for every architecture."""
    return tuple(Step(re.compile(pattern), (target,)) for pattern, target in gguf_models.steps_of(listing))


def aligned_in_any_spelling(described: Model, actual: list[Row], steps: tuple[Step, ...] = ()) -> tuple[dict[str, Row], Alignment]:
    """Align by the reference's names, or by another set that the family knows, if the file is written in that."""
    known = described.description
    assert known is not None
    best: tuple[dict[str, Row], Alignment] | None = None
    for names in ("reference", *known.family.renames):
        expected = {row.name: row for row in sorted(described.tensors(names), key=lambda row: row.tied_to is None)}
        aligned = align(expected, actual, keys_of(known, described.class_name), steps)
        if best is None or len(aligned.extra) < len(best[1].extra):
            best = expected, aligned
        if 10 * len(aligned.extra) < len(actual):
            break
    assert best is not None
    return best


def align(expected: Mapping[str, Row], actual: list[Row], keys: Iterable[str], steps: tuple[Step, ...] = ()) -> Alignment:
    """Bring the blueprint's tensors and the file's together by their names."""
    chosen: Naming = naming(keys, [row.name for row in actual if row.role != "buffer"], expected, prefixes(expected), steps=steps)
    groups: dict[tuple[str, ...], list[Row]] = {}
    extra = []
    for row in actual:
        targets = resolve(row.name, chosen, expected)
        if targets and not (
            row.role == "buffer" and (len(targets) > 1 or row.name not in expected) and expected[targets[0]].shape != row.shape
        ):
            groups.setdefault(targets, []).append(row)
        else:
            extra.append(row)
    covered = {name for targets in groups for name in targets}
    missing = tuple(row for row in expected.values() if row.name not in covered)
    return Alignment(tuple(groups.items()), tuple(extra), missing)


def keys_of(known: Described, class_name: str) -> list[str]:
    """Return the model types and classes whose recorded renamings apply."""
    inner = [value["model_type"] for value in known.raw.values() if isinstance(value, dict) and isinstance(value.get("model_type"), str)]
    return [class_name, known.family.base, known.family.model_type, *inner]
