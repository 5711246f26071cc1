"""Compare a file's tensors with a class's, pair by pair: equal, equal in another layout, or different."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.config.fields import Config
from weighbridge.core.tree import Row
from weighbridge.readers.listing import PACKED
from weighbridge.verification.alignment import PLAIN, Alignment, Spelling
from weighbridge.verification.copies import Compare, judge_copy
from weighbridge.verification.findings import Finding

if TYPE_CHECKING:
    from weighbridge.value import Description


def elements(row: Row) -> int:
    """Count the elements of a tensor."""
    return prod(size for size in row.shape if isinstance(size, int))


class TensorMatch(NamedTuple):
    """A tensor of the class, and the row of the file that holds it."""

    name: str
    row: Row


class Judge(NamedTuple):
    """What one needs to know to judge a tensor."""

    expected: Mapping[str, Row]
    known: Description
    aligned: Alignment
    notes: Mapping[str, str]
    spelling: Spelling = PLAIN
    compare: Compare = lambda one, other: None

    def group(
        self, targets: tuple[str, ...], sources: list[Row], matched: set[str], explained: list[Finding], unexplained: list[Finding]
    ) -> None:
        """Judge the rows of the file that stand for one tensor of the class, or for several."""
        wanted = [self.expected[name] for name in targets]
        if len(wanted) == 1 and len(sources) == 1:
            self._pair(wanted[0], sources[0], matched, explained, unexplained)
            return
        need, have = sum(map(elements, wanted)), sum(elements(row) for row in sources if row.tied_to is None)
        if need == have and all(_fits(row, wanted) for row in sources):
            matched.update(targets)
            how = f"split over {len(sources)} tensors in the file" if len(wanted) == 1 else f"holds {', '.join(targets)} in one"
            explained.append(Finding(targets[0] if len(wanted) == 1 else sources[0].name, how, 0))
            return
        unexplained += [
            Finding(row.name, f"does not make up {', '.join(targets)}: {have:,} elements where {need:,} are due", elements(row))
            for row in sources
        ]
        unexplained += [Finding(row.name, "is not made up by the file", -elements(row)) for row in wanted if row.role != "buffer"]

    def _pair(self, wanted: Row, row: Row, matched: set[str], explained: list[Finding], unexplained: list[Finding]) -> None:
        """Judge one tensor of the file that has the name of one of the class."""
        count = elements(row)
        reason = match_shapes(wanted, row, self.vocabularies())
        if reason is None and self._is_flat(row) and count == elements(wanted):
            reason = "packed weights, of which the file tells the count and not the shape"
        if reason is None and self._is_filled_up(wanted, row):
            reason = f"filled up to the head dimension: {count:,} entries in the file, {elements(wanted):,} heads in the config"
        if wanted.role == "buffer":
            explained.append(Finding(row.name, "a buffer: saved, not learned", 0 if row.tied_to else count))
        elif reason is None:
            unexplained.append(
                Finding(row.name, f"has shape {_shape(row)} where the config gives {_shape(wanted)}", 0 if row.tied_to else count)
            )
            unexplained.append(Finding(wanted.name, f"should have shape {_shape(wanted)}", 0 if wanted.tied_to else -elements(wanted)))
        else:
            matched.add(wanted.name)
            self._tie(wanted, row, reason, explained)

    def _is_filled_up(self, wanted: Row, row: Row) -> bool:
        """Tell whether a number for each head has as many entries as a head is wide, as the files of Kimi K3 have the decay's logarithm."""
        text = self.known.raw.get("text_config", self.known.raw)
        linear = text.get("linear_attn_config") if isinstance(text, dict) else None
        width = linear.get("head_dim") if isinstance(linear, dict) else None
        return wanted.name.endswith(".A_log") and _shape_without_ones(row) == (width,) and elements(row) > elements(wanted)

    def _is_flat(self, row: Row) -> bool:
        """Tell whether these are packed weights that have lost their shape, as bitsandbytes and HQQ write them."""
        return len(row.shape) == 1 and self.notes.get(row.name, "").startswith(PACKED)

    def _tie(self, wanted: Row, row: Row, reason: str, explained: list[Finding]) -> None:
        """Explain what two names for one storage do to the count, on either side."""
        count = elements(row)
        if wanted.tied_to is None:
            if row.tied_to is not None:
                explained.append(
                    Finding(row.name, f"shares the storage of {row.tied_to} in the file; the config has both", -elements(wanted))
                )
            elif reason:
                explained.append(Finding(row.name, reason, count - elements(wanted)))
        elif row.tied_to is None:
            first = self._first_of_tie(wanted)
            if first.name != wanted.name:
                plain = not reason and (first.row.dtype, first.row.shape) == (row.dtype, row.shape)
                copy = judge_copy(row.name, wanted.tied_to, self.compare(first.row.name, row.name) if plain else None)
                explained.append(Finding(row.name, copy.reason, count, copy.separate))
            else:
                owner = elements(self.expected[wanted.tied_to]) if wanted.tied_to in self.expected else 0
                explained.append(Finding(row.name, f"stands for {wanted.tied_to}, whose storage it shares in the class", count - owner))

    def _first_of_tie(self, wanted: Row) -> TensorMatch:
        """Return which name for the same storage comes first in the file: its owner's, or an earlier tie's."""
        names = [wanted.tied_to, *(row.name for row in self.expected.values() if row.tied_to == wanted.tied_to)]
        there = {targets[0]: sources[0] for targets, sources in self.aligned.groups if len(targets) == len(sources) == 1}
        merged = {name: sources[0] for targets, sources in self.aligned.groups for name in targets}
        first = next(name for name in names if name in merged)
        assert first is not None
        return TensorMatch(first, there.get(first, merged[first]))

    def vocabularies(self) -> set[int]:
        """Return the sizes that a vocabulary has in the config."""
        return set(_vocabularies(self.known.sizes))


def match_shapes(wanted: Row, row: Row, vocabularies: set[int]) -> str | None:
    """Return why the two shapes are the same tensor (the empty string if they are equal), or None if they are not."""
    if wanted.shape == row.shape:
        return ""
    if len(row.shape) >= 2 and wanted.shape == (*row.shape[:-2], *row.shape[:-3:-1]):
        return "transposed in the file"
    if elements(wanted) == elements(row) and (_shape_without_ones(wanted) == _shape_without_ones(row) or _is_reshaped(wanted, row)):
        return f"written as {_shape(row)} in the file"
    rows, due = row.shape[0] if row.shape else 0, wanted.shape[0] if wanted.shape else 0
    assert isinstance(rows, int)
    assert isinstance(due, int)
    if due in vocabularies and wanted.shape[1:] == row.shape[1:] and rows > due and rows % 8 == 0:
        return f"padded vocabulary: {rows:,} rows in the file, {due:,} in the config"
    return None


def _is_reshaped(wanted: Row, row: Row) -> bool:
    """Tell whether a file holds a stack of the matrices that stand one below another in the class (DBRX's experts), or gains in a row (RWKV's)."""
    if len(wanted.shape) != 2:
        return False
    if len(row.shape) == 3:
        return wanted.shape[1] in row.shape[1:]
    return len(row.shape) == 1 and wanted.role == "gain"


def _fits(row: Row, wanted: list[Row]) -> bool:
    """Tell whether a tensor can be a piece of others, or others pieces of it: all but one length are theirs, or one where heads lie apart."""
    lengths = [set(_shape_without_ones(other)) for other in wanted]
    own = _shape_without_ones(row)
    return sum(1 for length in own if not any(length in known for known in lengths)) <= (2 if len(own) == 3 else 1) or len(own) < 2


def _shape_without_ones(row: Row) -> tuple[int, ...]:
    return tuple(size for size in row.shape if isinstance(size, int) and size != 1)


def _shape(row: Row) -> str:
    return f"[{', '.join(map(str, row.shape))}]"


def _vocabularies(sizes: Config) -> Iterator[int]:
    for word, value in vars(sizes).items():
        if isinstance(value, Config):
            yield from _vocabularies(value)
        elif word.endswith("vocab") and isinstance(value, int):
            yield value
