"""Match a blueprint's tensors with a file's by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.core.errors import ReadError, UsageError
from weighbridge.core.tree import Row, list_rows
from weighbridge.readers import gguf_models
from weighbridge.readers.gguf_table import UNJUDGED, explain_no_description
from weighbridge.readers.onnx_pair import SIDES
from weighbridge.readers.onnx_roles import modules_in
from weighbridge.verification.checkpoint_names import list_tensors
from weighbridge.verification.renaming import Naming, Step, choose_naming, prefixes, resolve

if TYPE_CHECKING:
    from weighbridge.readers import Listing
    from weighbridge.value import Description, ModelValue


class Alignment(NamedTuple):
    """The blueprint's tensors matched with the file's by name.

    Attributes:
        groups: The blueprint's names and the file's rows that make them up: one to one, or merged, or split.
        extra: Rows of the file that have no place.
        missing: Rows of the blueprint that the file has not.
    """

    groups: tuple[tuple[tuple[str, ...], list[Row]], ...]
    extra: tuple[Row, ...]
    missing: tuple[Row, ...]


class Spelling(NamedTuple):
    """How the format of a file spells names.

    Attributes:
        steps: Renamings: GGUF has names of its own for every architecture.
        instead: Names in place of those that an exporter made up.
        shapes: Whether a name that says nothing may be found by a shape that only one tensor has.
        sides: How the names of each file begin, if several that name their tensors apart were put together.
        elsewhere: How the names of parameters end that the file keeps in its metadata.
        left_out: How the names of parameters begin, or end, that the converter leaves out.
        added: Names, as patterns, of tensors that the converter adds.
    """

    steps: tuple[Step, ...] = ()
    instead: Mapping[str, str] = MappingProxyType({})
    shapes: bool = False
    sides: tuple[str, ...] = ("",)
    elsewhere: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


PLAIN = Spelling()
MOST_ASKED = 200
"""Names of a file by which a table of names is chosen, where its architecture has none."""

MOST_ALIGNED = 20_000
"""Of a file with more tensors, so many decide by which set of names it is read; all are aligned by that one."""


def spelling_of(listing: Listing) -> Spelling:
    """Return how a file spells its names, by its format."""
    if listing.format == "onnx":
        instead = {name: f"{module}.weight" for name, module in modules_in(listing).items()}
        sides = listing.metadata.get(SIDES)
        return Spelling((Step(re.compile(r"()_quantized$"), ("",)),), instead, True, sides if isinstance(sides, tuple) else ("",))
    steps = tuple(Step(re.compile(pattern), targets) for pattern, targets in gguf_models.steps_of(listing))
    return Spelling(
        steps,
        elsewhere=gguf_models.metadata_suffixes(listing),
        left_out=gguf_models.omitted_tensors(listing),
        added=gguf_models.extra_tensors(listing),
    )


def spelling_for(listing: Listing, described: ModelValue) -> Spelling:
    """Return how a file spells its names; of a GGUF file without a table of names the table by which most are the class's.

    Raises:
        ReadError: An architecture whose shapes are not judged.
    """
    spelling, architecture = spelling_of(listing), listing.metadata.get("general.architecture")
    if listing.format != "gguf" or gguf_models.architecture_of(listing) is not None:
        return spelling
    if isinstance(architecture, str) and architecture in UNJUDGED:
        raise ReadError(explain_no_description(architecture))
    known = described.description
    assert known is not None
    expected = {row.name: row for row in list_rows(described.tree)}
    names = [tensor.name for tensor in listing.tensors]
    names = names[:: max(1, len(names) // MOST_ASKED)]
    best, most = spelling, 0
    for pairs in gguf_models.steps_for_names(names):
        steps = tuple(Step(re.compile(pattern), targets) for pattern, targets in pairs)
        naming = choose_naming(keys_of(known, described.class_name), names, expected, prefixes(expected), steps=steps)
        found = sum(1 for name in names if resolve(name, naming, expected))
        if found > most:
            best, most = Spelling(steps), found
    return best


def align_in_any_spelling(described: ModelValue, actual: list[Row], spelling: Spelling) -> tuple[dict[str, Row], Alignment]:
    """Align by the reference's names, or by another naming of the family if the file uses it."""
    known = described.description
    assert known is not None
    best: tuple[dict[str, Row], Alignment] | None = None
    sample = actual if len(actual) <= MOST_ALIGNED else actual[:: len(actual) // MOST_ALIGNED]
    for names in ("reference", "checkpoint", *known.family.renames):
        try:
            rows = list_tensors(described, names)
        except UsageError:  # nobody has recorded how the files of this type name their tensors
            if names == "reference":
                raise
            continue
        expected = {row.name: row for row in sorted(rows, key=lambda row: row.tied_to is None)}
        aligned = align(expected, sample, keys_of(known, described.class_name), spelling)
        if best is None or len(aligned.extra) < len(best[1].extra):
            best = expected, aligned
        if not aligned.extra:
            break
    assert best is not None
    return best if sample is actual else (best[0], align(best[0], actual, keys_of(known, described.class_name), spelling))


def align(expected: Mapping[str, Row], actual: list[Row], keys: Iterable[str], spelling: Spelling = PLAIN) -> Alignment:
    """Match the blueprint's tensors with the file's by name."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    extra = []
    for side in spelling.sides:
        own = [row for row in actual if row.name.startswith(side)]
        spelled = {row.name: spelling.instead.get(row.name, row.name).removeprefix(side) for row in own}
        names = [spelled[row.name] for row in own if row.role != "buffer"]
        chosen: Naming = choose_naming(keys, names, expected, prefixes(expected), steps=spelling.steps)
        for row in own:
            targets = resolve(spelled[row.name], chosen, expected)
            if targets and not (
                row.role == "buffer" and (len(targets) > 1 or row.name not in expected) and expected[targets[0]].shape != row.shape
            ):
                groups.setdefault(targets, []).append(row)
            else:
                extra.append(row)
    covered = {name for targets in groups for name in targets}
    missing = tuple(row for row in expected.values() if row.name not in covered)
    if not spelling.shapes:
        return Alignment(tuple(groups.items()), tuple(extra), missing)
    found = _by_shape(extra, missing)
    groups |= {(name,): [row] for name, row in found.items()}
    taken = {row.name for row in found.values()}
    return Alignment(
        tuple(groups.items()), tuple(row for row in extra if row.name not in taken), tuple(row for row in missing if row.name not in found)
    )


def _by_shape(extra: Iterable[Row], missing: Iterable[Row]) -> dict[str, Row]:
    """Return the rows of the file, by the blueprint's names, that have a shape which only one tensor on either side has left."""
    left: dict[tuple[object, ...], list[Row]] = {}
    due: dict[tuple[object, ...], list[Row]] = {}
    for rows, places in ((extra, left), (missing, due)):
        for row in rows:
            if row.role != "buffer" and row.tied_to is None and len(row.shape) > 1:
                places.setdefault(tuple(sorted(row.shape, key=str)), []).append(row)
    return {due[shape][0].name: rows[0] for shape, rows in left.items() if len(rows) == 1 and len(due.get(shape, ())) == 1}


def keys_of(known: Description, class_name: str) -> list[str]:
    """Return the model types and classes whose recorded renamings apply."""
    inner = [value["model_type"] for value in known.raw.values() if isinstance(value, dict) and isinstance(value.get("model_type"), str)]
    return [class_name, known.family.base, known.family.model_type, *inner]
