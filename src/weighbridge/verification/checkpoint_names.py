"""Tensor names in saved files: renamings and fusions reversed as transformers reverses them on save.

In memory the reference holds experts in one tensor, towers under new names, and more; the files that were published,
and those that it writes today, keep the old ones.

Source: transformers 5.23.0, core_model_loading.py (``revert_weight_conversion``)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.tree import MOST_ROWS, Row, list_rows
from weighbridge.verification.save_conversions import Step, entry, steps

if TYPE_CHECKING:
    from weighbridge.value import Description, ModelValue

Shapes = dict[str, tuple[int, ...]]


def list_tensors(model: ModelValue, names: str = "reference") -> list[Row]:
    """List a model's tensors in the reference's order, under another set of names.

    Args:
        model: Any model.
        names: ``reference``; ``checkpoint``, as the reference library saves them; or another set that the family
            knows, such as ``tensorflow``.

    Raises:
        UsageError: The family does not know that set of names.
    """
    rows = list_rows(model.tree)
    if names == "reference":
        return rows
    if names == "checkpoint" and model.description:
        return saved_rows(rows, model.description, model.class_name)
    renames = model.description.family.renames if model.description else {}
    if names not in renames:
        known = ["reference", *(["checkpoint"] if model.description else []), *renames]
        raise UsageError(Text("no names {names!r} for this model; known: {known}", names=names, known=", ".join(known)))
    renamed = (renames[names](row) for row in rows)
    return [row for found in renamed for row in ((found,) if isinstance(found, Row) else found)]


def saved_rows(rows: Iterable[Row], known: Description, class_name: str, towers: bool = True) -> list[Row]:
    """Return a model's tensors under the names, and in the pieces, of published files, in which the reference library saves them.

    A tied tensor stays in the list with the name whose storage it shares; a file has only that one.

    Args:
        rows: Under the reference's own names.
        known: The family and the config.
        class_name: The class they are of. A remote one's names are the files' own.
        towers: Whether towers have the prefixes of published files, which the library leaves out of a model that it did not load.
    """
    if class_name in known.family.remote:
        return list(rows)
    told = entry(class_name)
    back = [step for step in steps(known, class_name) if towers or not step.tower][::-1]
    pending = _keep_last_owner([row for row in rows if row.name not in told.get("unsaved", ())], told.get("kept", ()))
    renames = [step for step in back if step.by is None]
    converters = [step for step in back if step.by is not None]
    groups = _group_by_conversion(pending, converters)
    moved: dict[str, list[Row]] = {}
    pieces = 0
    for name, (step, members) in groups.items():
        converted = _convert(step, name, members) if step else [members[0][1]]
        pieces += len(converted)
        _refuse_many(pieces)
        moved[name] = [row._replace(name=_rename(row.name, renames)) for row in converted]
    now = {row.name: moved[name][0].name for name, (_, members) in groups.items() for _, row in members}
    return [row._replace(tied_to=row.tied_to and now.get(row.tied_to)) for pieces in moved.values() for row in pieces]


def _refuse_many(pieces: int) -> None:
    """Refuse more pieces than are listed by name: a config, or a file's metadata, may claim any number of experts.

    Raises:
        UsageError: There are more.
    """
    if pieces > MOST_ROWS:
        raise UsageError(Text("{many:,} tensors; at most {most:,} are listed by name", many=pieces, most=MOST_ROWS))


def _group_by_conversion(rows: list[Row], converters: list[Step]) -> dict[str, tuple[Step | None, list[tuple[str, Row]]]]:
    """Bring together the tensors that one conversion takes, each with the pattern that found it; the others stay alone."""
    groups: dict[str, tuple[Step | None, list[tuple[str, Row]]]] = {}
    for row in rows:
        found = next(((step, *applied) for step in converters if (applied := step.apply(row.name))), None)
        step, name, source = found if found and row.tied_to is None else (None, row.name, "")
        groups.setdefault(name, (step, []))[1].append((source, row))
    return groups


def _keep_last_owner(rows: list[Row], patterns: Iterable[str]) -> list[Row]:
    """Let, of the names for one storage, the one own it that a file keeps: the last by the alphabet of those that may be left out."""
    compiled = [re.compile(pattern) for pattern in patterns]
    if not compiled:
        return rows
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row.tied_to or row.name, []).append(row.name)
    owner: dict[str, str] = {}
    for group in names.values():
        out = [name for name in sorted(group) if any(pattern.search(name) for pattern in compiled)][: len(group) - 1]
        kept = next(name for name in group if name not in out)
        owner |= dict.fromkeys(group, kept)
    return [row._replace(tied_to=None if owner[row.name] == row.name else owner[row.name]) for row in rows]


def _rename(name: str, renames: list[Step]) -> str:
    for step in renames:
        applied = step.apply(name)
        name = applied[0] if applied else name
    return name


def _convert(step: Step, name: str, members: list[tuple[str, Row]]) -> list[Row]:
    """Return the pieces that a file has in place of some tensors of ours."""
    shapes: Shapes = {}
    for source, row in members:
        shapes[source] = row.shape  # type: ignore[assignment]
    for operation, *dimensions in step.by or ():
        shapes = _OPERATIONS[operation](shapes, step, *dimensions)
    if not step.by:
        shapes = {step.targets[0]: next(iter(shapes.values()))}
    full = name.replace("*.", "0.")
    before, _, after = next((full.partition(key) for key in shapes if key in full), ("", "", ""))
    return [members[0][1]._replace(name=before + key + after, shape=shape) for key, shape in shapes.items()]


def _chunk(shapes: Shapes, step: Step, dimension: int) -> Shapes:
    (shape,) = shapes.values()
    return {target: _resize(shape, dimension, shape[dimension] // len(step.targets)) for target in step.targets}


def _concatenate(shapes: Shapes, step: Step, dimension: int) -> Shapes:
    first = next(iter(shapes.values()))
    return {step.targets[0]: _resize(first, dimension, sum(shape[dimension] for shape in shapes.values()))}


def _split(shapes: Shapes, step: Step, dimension: int) -> Shapes:
    names = step.targets if len(shapes) == 1 else tuple(shapes)
    _refuse_many(sum(shape[dimension] for shape in shapes.values()))
    return {
        name.replace("*", str(index)): (*shape[:dimension], *shape[dimension + 1 :])
        for name, shape in zip(names, shapes.values(), strict=True)
        for index in range(shape[dimension])
    }


def _transpose(shapes: Shapes, step: Step, first: int, second: int) -> Shapes:
    (shape,) = shapes.values()
    turned = _resize(_resize(shape, first, shape[second]), second, shape[first])
    return {(step.targets if len(step.targets) == 1 else step.sources)[0]: turned}


_OPERATIONS: dict[str, Callable[..., Shapes]] = {
    "Chunk": _chunk,
    "Concatenate": _concatenate,
    "SplitModulelist": _split,
    "Transpose": _transpose,
}


def _resize(shape: tuple[int, ...], dimension: int, size: int) -> tuple[int, ...]:
    return (*shape[:dimension], size, *shape[dimension + 1 :])
