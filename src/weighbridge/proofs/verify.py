"""Is the file what the config says? Every tensor matched, or named with its reason.

The account is kept in elements: what the file holds, less what the config's class has, is the sum of what
is explained and what is not. Unexplained is only what no rule of this module accounts for, and then the
residual is not zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.config import Sizes
from weighbridge.errors import SourceError, UsageError, WeighbridgeError
from weighbridge.proofs.renaming import Naming, naming, prefixes, resolve
from weighbridge.tree import Part, Row, flatten

if TYPE_CHECKING:
    from weighbridge.model import Described, Model
    from weighbridge.readers import Listing


class Finding(NamedTuple):
    """One tensor that is not simply the same on both sides.

    Attributes:
        name: In the file; or in the config's class, if the file lacks it.
        reason: Why, or what is wrong.
        elements: By how many elements it makes the file larger than the class (negative: smaller).
    """

    name: str
    reason: str
    elements: int


class Claim(NamedTuple):
    """A figure that the file states of itself, beside what it holds."""

    name: str
    stated: object
    found: int
    holds: bool


class Verification(NamedTuple):
    """A config held against a checkpoint.

    Attributes:
        source, config: The file or files, and what they are held against, in words.
        class_name: The class that the config was read as.
        expected: Its unique parameters.
        found: The elements in the file, shared storages once, packed weights as the matrices they are.
        matched: Tensors of the class that the file holds as they should be.
        matched_elements: Their elements.
        explained, unexplained: All others. Their elements and *expected* add up to *found*.
        claims: What the file states of itself.
        notes: What a reader should know about how the two were read.
    """

    source: str
    config: str
    class_name: str
    expected: int
    found: int
    matched: int
    matched_elements: int
    explained: tuple[Finding, ...]
    unexplained: tuple[Finding, ...]
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def residual(self) -> int:
        """Elements that nothing accounts for; zero if and only if every element is."""
        accounted = self.expected + sum(finding.elements for finding in (*self.explained, *self.unexplained))
        return sum(abs(finding.elements) for finding in self.unexplained) + abs(self.found - accounted)

    @property
    def holds(self) -> bool:
        """Whether every tensor is accounted for and the file's own claims are true."""
        return not self.unexplained and not self.residual and all(claim.holds for claim in self.claims)


_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,9})\.")


class _Alignment(NamedTuple):
    """The blueprint's tensors and the file's, brought together by name.

    Attributes:
        groups: The blueprint's names and the file's rows that make them up: one to one, or merged, or split.
        extra: Rows of the file that have no place.
        missing: Rows of the blueprint that the file has not.
    """

    groups: tuple[tuple[tuple[str, ...], list[Row]], ...]
    extra: tuple[Row, ...]
    missing: tuple[Row, ...]


def verified(
    source: object, config: object = None, model_class: str | None = None, overrides: Mapping[str, Any] | None = None
) -> Verification:
    """Hold a checkpoint on disk against a config: the one given, or the one that lies beside it.

    Args:
        source: A directory, a checkpoint file, or the index of a sharded one.
        config: What :func:`weighbridge.model` takes; by default the ``config.json`` beside the weights.
        model_class, overrides: As for :func:`weighbridge.model`.

    Raises:
        SourceError: No such file, or no config beside it.
        ReadError: A damaged file.
        ConfigError: A config that is wrong or has no blueprint.
    """
    from weighbridge.model import model
    from weighbridge.readers import place, read_listing
    from weighbridge.readers.packing import config_beside, unpack
    from weighbridge.sources import read_config

    path = place(str(source))
    if not path.exists():
        raise SourceError(f"{source}: no such file or directory; verify needs weights", source=str(source))
    if config is None:
        beside = _beside(path)
        described = model(read_config(beside), model_class, overrides)
        described.source = str(beside)
    else:
        described = model(config, model_class, overrides)
    if described.description is None:
        raise UsageError(f"{described.source}: verify needs a config to hold the file against")
    return verify(described, unpack(read_listing(path), config_beside(path)), str(source))


def _beside(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    for name in ("config.json", "bert_config.json"):
        if (folder / name).is_file():
            return folder / name
    raise SourceError(f"{path}: no config.json beside the weights; name one: weigh verify {path.name} CONFIG", source=str(path))


def verify(described: Model, listing: Listing, source: str = "") -> Verification:
    """Hold a config's class against the tensors of a file.

    Args:
        described: A model made from a config.
        listing: The tensors of the file or files.
        source: What they were read from, in words.

    Raises:
        UsageError: *described* was not made from a config.
    """
    from weighbridge.readers import rows

    if described.description is None:
        raise UsageError(f"{described.source}: verify needs a config to hold the file against")
    actual = rows(listing)
    notes = {tensor.name: tensor.note for tensor in listing.tensors if tensor.note}
    expected, aligned = _aligned_in_any_spelling(described, actual)
    judge = _Judge(expected, described.description, aligned, notes)
    explained: list[Finding] = []
    unexplained: list[Finding] = []
    matched: set[str] = set()
    for targets, sources in aligned.groups:
        judge.group(targets, sources, matched, explained, unexplained)
    _rest(judge, described, actual, aligned, (explained, unexplained))
    tally = described.count()
    found = sum(_count(row) for row in actual if row.tied_to is None)
    assert isinstance(tally.unique, int)
    return Verification(
        source, described.source, described.class_name, tally.unique, found,
        len(matched), sum(_count(expected[name]) for name in matched if expected[name].tied_to is None),
        tuple(explained), tuple(unexplained), claims(listing), (*described.notes, *listing.notes),
    )  # fmt: skip


def claims(listing: Listing) -> tuple[Claim, ...]:
    """Hold what a file states of itself against what it holds: bytes (``total_size``) and parameters."""
    from weighbridge.readers import as_model

    found = []
    if "total_size" in listing.metadata:
        stated = listing.metadata["total_size"]
        found.append(Claim("total_size", stated, listing.size_bytes, stated == listing.size_bytes))
    for key in ("total_parameters", "general.parameter_count"):
        if key in listing.metadata:
            unique = as_model(listing, "").count().unique
            assert isinstance(unique, int)
            stated = listing.metadata[key]
            found.append(Claim(key, stated, unique, stated in (unique, listing.stored)))
    return tuple(found)


def _aligned_in_any_spelling(described: Model, actual: list[Row]) -> tuple[dict[str, Row], _Alignment]:
    """Align by the reference's names, or by another set that the family knows, if the file is written in that."""
    known = described.description
    assert known is not None
    best: tuple[dict[str, Row], _Alignment] | None = None
    for names in ("reference", *known.family.renames):
        expected = {row.name: row for row in sorted(described.tensors(names), key=lambda row: row.tied_to is None)}
        aligned = align(expected, actual, _keys(known, described.class_name))
        if best is None or len(aligned.extra) < len(best[1].extra):
            best = expected, aligned
        if 10 * len(aligned.extra) < len(actual):
            break
    assert best is not None
    return best


def align(expected: Mapping[str, Row], actual: list[Row], keys: Iterable[str]) -> _Alignment:
    """Bring the blueprint's tensors and the file's together by their names."""
    chosen: Naming = naming(keys, [row.name for row in actual if row.role != "buffer"], expected, prefixes(expected))
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
    return _Alignment(tuple(groups.items()), tuple(extra), missing)


def _keys(known: Described, class_name: str) -> list[str]:
    """Return the model types and classes whose recorded renamings apply."""
    inner = [value["model_type"] for value in known.raw.values() if isinstance(value, dict) and isinstance(value.get("model_type"), str)]
    return [class_name, known.family.base, known.family.model_type, *inner]


def _count(row: Row) -> int:
    return prod(size for size in row.shape if isinstance(size, int))


class _Judge(NamedTuple):
    """What one needs to know to judge a tensor."""

    expected: Mapping[str, Row]
    known: Described
    aligned: _Alignment
    notes: Mapping[str, str]

    def group(
        self, targets: tuple[str, ...], sources: list[Row], matched: set[str], explained: list[Finding], unexplained: list[Finding]
    ) -> None:
        """Judge the rows of the file that stand for one tensor of the class, or for several."""
        wanted = [self.expected[name] for name in targets]
        if len(wanted) == 1 and len(sources) == 1:
            self._pair(wanted[0], sources[0], matched, explained, unexplained)
            return
        need, have = sum(map(_count, wanted)), sum(_count(row) for row in sources if row.tied_to is None)
        if need == have and all(_fits(row, wanted) for row in sources):
            matched.update(targets)
            how = f"split over {len(sources)} tensors in the file" if len(wanted) == 1 else f"holds {', '.join(targets)} in one"
            explained.append(Finding(targets[0] if len(wanted) == 1 else sources[0].name, how, 0))
            return
        unexplained += [
            Finding(row.name, f"does not make up {', '.join(targets)}: {have:,} elements where {need:,} are due", _count(row))
            for row in sources
        ]
        unexplained += [Finding(row.name, "is not made up by the file", -_count(row)) for row in wanted if row.role != "buffer"]

    def _pair(self, wanted: Row, row: Row, matched: set[str], explained: list[Finding], unexplained: list[Finding]) -> None:
        """Judge one tensor of the file that has the name of one of the class."""
        count = _count(row)
        reason = _same(wanted, row, self.vocabularies())
        if wanted.role == "buffer":
            explained.append(Finding(row.name, "a buffer: saved, not learned", 0 if row.tied_to else count))
        elif reason is None:
            unexplained.append(
                Finding(row.name, f"has shape {_shape(row)} where the config gives {_shape(wanted)}", 0 if row.tied_to else count)
            )
            unexplained.append(Finding(wanted.name, f"should have shape {_shape(wanted)}", 0 if wanted.tied_to else -_count(wanted)))
        else:
            matched.add(wanted.name)
            self._tie(wanted, row, reason, explained)

    def _tie(self, wanted: Row, row: Row, reason: str, explained: list[Finding]) -> None:
        """Explain what two names for one storage do to the count, on either side."""
        count = _count(row)
        if wanted.tied_to is None:
            if row.tied_to is not None:
                explained.append(
                    Finding(row.name, f"shares the storage of {row.tied_to} in the file; the config has both", -_count(wanted))
                )
            elif reason:
                explained.append(Finding(row.name, reason, count - _count(wanted)))
        elif row.tied_to is None:
            if self._owner_is_there(wanted):
                explained.append(Finding(row.name, f"a copy of {wanted.tied_to}, whose storage it shares in the class", count))
            else:
                owner = _count(self.expected[wanted.tied_to]) if wanted.tied_to in self.expected else 0
                explained.append(Finding(row.name, f"stands for {wanted.tied_to}, whose storage it shares in the class", count - owner))

    def _owner_is_there(self, wanted: Row) -> bool:
        """Tell whether another name for the same storage comes first in the file: its owner's, or an earlier tie's."""
        names = [wanted.tied_to, *(row.name for row in self.expected.values() if row.tied_to == wanted.tied_to)]
        there = {name for targets, _ in self.aligned.groups for name in targets}
        first = next(name for name in names if name in there)
        return first != wanted.name

    def last_layer(self) -> int:
        """Return the largest number of a layer in the class."""
        return _last_layer(tuple(self.expected))

    def vocabularies(self) -> set[int]:
        """Return the sizes that a vocabulary has in the config."""
        return set(_vocabularies(self.known.sizes))


def _same(wanted: Row, row: Row, vocabularies: set[int]) -> str | None:
    """Return why the two shapes are the same tensor (the empty string if they are equal), or None if they are not."""
    if wanted.shape == row.shape:
        return ""
    if len(row.shape) == 2 and wanted.shape == row.shape[::-1]:
        return "transposed in the file"
    if _significant(wanted) == _significant(row) and _count(wanted) == _count(row):
        return f"written as {_shape(row)} in the file"
    rows, due = row.shape[0] if row.shape else 0, wanted.shape[0] if wanted.shape else 0
    assert isinstance(rows, int)
    assert isinstance(due, int)
    if due in vocabularies and wanted.shape[1:] == row.shape[1:] and rows > due and rows % 8 == 0:
        return f"padded vocabulary: {rows:,} rows in the file, {due:,} in the config"
    return None


def _fits(row: Row, wanted: list[Row]) -> bool:
    """Tell whether a tensor can be a piece of others, or others pieces of it: all but one length are theirs."""
    lengths = [set(_significant(other)) for other in wanted]
    own = _significant(row)
    return sum(1 for length in own if not any(length in known for known in lengths)) <= 1 or len(own) < 2


def _significant(row: Row) -> tuple[int, ...]:
    return tuple(size for size in row.shape if isinstance(size, int) and size != 1)


def _shape(row: Row) -> str:
    return f"[{', '.join(map(str, row.shape))}]"


def _vocabularies(sizes: Sizes) -> Iterator[int]:
    for word, value in vars(sizes).items():
        if isinstance(value, Sizes):
            yield from _vocabularies(value)
        elif word.endswith("vocab") and isinstance(value, int):
            yield value


def _rest(judge: _Judge, described: Model, actual: list[Row], aligned: _Alignment, findings: tuple[list[Finding], list[Finding]]) -> None:
    """Explain what only one side has: buffers, further layers, other classes of the family."""
    explained, unexplained = findings
    extra = []
    for row in aligned.extra:
        reason = _lone(judge, row)
        if reason:
            explained.append(Finding(row.name, reason, 0 if row.tied_to else _count(row)))
        else:
            extra.append(row)
    missing = []
    tied_present = {judge.expected[name].tied_to for targets, _ in aligned.groups for name in targets}
    for row in aligned.missing:
        if row.tied_to is not None or row.role == "buffer":
            continue
        if row.name in tied_present:
            continue
        if row.frozen:
            explained.append(Finding(row.name, "a fixed table that the class computes itself; not in the file", -_count(row)))
        else:
            missing.append(row)
    if extra or missing:
        strangers = {row.name for row in extra}
        others = sorted(_other_classes(described, actual, judge), key=lambda other: -len(strangers & other[1]))
        for row in extra:
            home = next((name for name, names, _ in others if row.name in names), None)
            found = Finding(
                row.name,
                f"of {home}, not of {described.class_name}" if home else "not in the config's class",
                0 if row.tied_to else _count(row),
            )
            (explained if home else unexplained).append(found)
        whole = next((name for name, _, complete in others if complete), None)
        for row in missing:
            reason = f"not in the file, which is a {whole}" if whole else "not in the file"
            (explained if whole else unexplained).append(Finding(row.name, reason, -_count(row)))


def _lone(judge: _Judge, row: Row) -> str:
    """Explain a tensor of the file that has no place in the class, or return the empty string."""
    if row.name in judge.notes:
        return judge.notes[row.name]
    if row.role == "buffer":
        return "a buffer: saved, not learned"
    predicted = _predicted_layers(judge.known.raw)
    if predicted and (re.search(r"(^|[._])mtp[._]", row.name) or _layer_beyond(judge, row.name, predicted)):
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


def _layer_beyond(judge: _Judge, name: str, most: int) -> bool:
    """Tell whether *name* is in one of the *most* layers right behind the class's last one."""
    match = _LAYER.search(name)
    return match is not None and 0 < int(match[1]) - judge.last_layer() <= most


@lru_cache(maxsize=4)
def _last_layer(names: tuple[str, ...]) -> int:
    return max((int(found[1]) for name in names if (found := _LAYER.search(name))), default=10**9)


def _other_classes(described: Model, actual: list[Row], judge: _Judge) -> Iterator[tuple[str, set[str], bool]]:
    """Yield the family's other classes: name, the file's tensors it has in the same shape, and whether that is all there is."""
    known = judge.known
    for name, blueprint in known.family.classes.items():
        if name == described.class_name:
            continue
        try:
            tree: Part = blueprint(known.sizes)
            expected = {row.name: row for row in flatten(tree)}
        except (WeighbridgeError, AttributeError):
            continue
        aligned = align(expected, actual, _keys(known, name))
        names = set()
        for targets, sources in aligned.groups:
            if len(targets) == len(sources) == 1 and _same(expected[targets[0]], sources[0], judge.vocabularies()) is not None:
                names.add(sources[0].name)
        lacking = [row for row in aligned.missing if row.tied_to is None and row.role != "buffer" and not row.frozen]
        surplus = [row for row in aligned.extra if row.role != "buffer" and not _lone(judge, row)]
        yield name, names, not lacking and not surplus
