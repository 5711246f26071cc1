"""What only one side has: buffers, further layers, tensors of other classes of the family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.tree import Part, Row, list_rows
from weighbridge.verification.alignment import Alignment, align, keys_of
from weighbridge.verification.findings import Finding
from weighbridge.verification.tensor_match import Judge, elements, match_shapes

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

MOST_STRANGERS = 5_000
"""With more tensors that have no place in its class, a file is of another architecture, and no class of the family is asked for them."""

_LAYER = re.compile(r"(?:^|\.)(?:layers|blk)\.(\d{1,9})\.")


def explain_rest(
    judge: Judge, described: ModelValue, actual: list[Row], aligned: Alignment, findings: tuple[list[Finding], list[Finding]]
) -> None:
    """Explain what only one side has: buffers, further layers, other classes of the family."""
    explained, unexplained = findings
    predicted = _predicted_layers(judge.known.raw)
    extra = []
    for row in aligned.extra:
        reason = _explain_alone(judge, row, predicted)
        if reason:
            explained.append(Finding(row.name, reason, 0 if row.tied_to else elements(row)))
        else:
            extra.append(row)
    missing = list(_unexplained_missing(judge, aligned, explained))
    if extra or missing:
        strangers = {row.name for row in extra}
        classes = _other_classes(described, actual, judge) if len(extra) <= MOST_STRANGERS else ()
        others = sorted(classes, key=lambda other: -len(strangers & other[1]))
        for row in extra:
            home = next((name for name, names, _ in others if row.name in names), None)
            found = Finding(
                row.name,
                f"of {home}, not of {described.class_name}" if home else "not in the config's class",
                0 if row.tied_to else elements(row),
            )
            (explained if home else unexplained).append(found)
        whole = next((name for name, _, complete in others if complete), None)
        for row in missing:
            reason = f"not in the file, which is a {whole}" if whole else "not in the file"
            (explained if whole else unexplained).append(Finding(row.name, reason, -elements(row)))


def _unexplained_missing(judge: Judge, aligned: Alignment, explained: list[Finding]) -> Iterator[Row]:
    """Yield the tensors of the class that the file lacks without a reason of their own; those with one are explained."""
    tied_present = {judge.expected[name].tied_to for targets, _ in aligned.groups for name in targets}
    for row in aligned.missing:
        if row.tied_to is not None or row.role == "buffer" or row.name in tied_present:
            continue
        if row.frozen:
            explained.append(Finding(row.name, "a fixed table that the class computes itself; not in the file", -elements(row)))
        elif judge.spelling.elsewhere and row.name.endswith(judge.spelling.elsewhere):
            explained.append(Finding(row.name, "in the file's metadata, not among its tensors", -elements(row)))
        elif row.name.startswith(judge.spelling.left_out) or row.name.endswith(judge.spelling.left_out):
            explained.append(Finding(row.name, "of a part that llama.cpp's converter leaves out", -elements(row)))
        else:
            yield row


def _explain_alone(judge: Judge, row: Row, predicted: int) -> str:
    """Explain a tensor of the file that has no place in the class, or return the empty string."""
    if row.name in judge.notes:
        return judge.notes[row.name]
    if row.role == "buffer":
        return "a buffer: saved, not learned"
    if any(re.fullmatch(pattern, row.name) for pattern in judge.spelling.added):
        return "a filler that llama.cpp's converter adds and the model does not use"
    if predicted and (re.search(r"(^|[._])mtp[._]", row.name) or _is_layer_beyond(judge, row.name, predicted)):
        return "a multi-token-prediction layer, which the class leaves out"
    return ""


def _predicted_layers(raw: Mapping[str, object]) -> int:
    """Return how many layers for multi-token prediction the config states."""
    for key, value in raw.items():
        if isinstance(value, Mapping):
            inner = _predicted_layers(value)
            if inner:
                return inner
        elif ("nextn" in key or "mtp" in key) and type(value) is int and 0 < value < 100:
            return value
    return 0


def _is_layer_beyond(judge: Judge, name: str, most: int) -> bool:
    """Tell whether *name* is in one of the *most* layers right after the class's last one."""
    match = _LAYER.search(name)
    return match is not None and 0 < int(match[1]) - _last_layer(tuple(judge.expected)) <= most


@lru_cache(maxsize=4)
def _last_layer(names: tuple[str, ...]) -> int:
    return max((int(found[1]) for name in names if (found := _LAYER.search(name))), default=10**9)


def _other_classes(described: ModelValue, actual: list[Row], judge: Judge) -> Iterator[tuple[str, set[str], bool]]:
    """Yield the family's other classes: name, the file's tensors it has in the same shape, and whether that is all there is."""
    known = judge.known
    predicted = _predicted_layers(known.raw)
    for name, blueprint in known.family.classes.items():
        if name == described.class_name:
            continue
        try:
            tree: Part = blueprint(known.sizes)
            expected = {row.name: row for row in list_rows(tree)}
        except (WeighbridgeError, AttributeError):
            continue
        aligned = align(expected, actual, keys_of(known, name), judge.spelling)
        names = set()
        for targets, sources in aligned.groups:
            if len(targets) == len(sources) == 1 and match_shapes(expected[targets[0]], sources[0], judge.vocabularies()) is not None:
                names.add(sources[0].name)
        lacking = [row for row in aligned.missing if row.tied_to is None and row.role != "buffer" and not row.frozen]
        surplus = [row for row in aligned.extra if row.role != "buffer" and not _explain_alone(judge, row, predicted)]
        yield name, names, not lacking and not surplus
