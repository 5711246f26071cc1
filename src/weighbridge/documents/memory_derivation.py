"""The derivation of ``weigh memory --explain``: every amount as formula, substitution and number, from the account itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from weighbridge.accounts.memory.account import forward_activations
from weighbridge.accounts.memory.optimizers import shared_bytes, state_bytes
from weighbridge.accounts.memory.quantization import PUBLISHED, published_tensors
from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import OwnedTensor, bits, element_bytes, is_packed, owned_tensors, packed_bytes
from weighbridge.core.formula import Floor, Number, Product, Sum
from weighbridge.documents.cost_lines import Group, equation, group_terms, letter_table, sum_line
from weighbridge.documents.document import Block, Equation, Heading, Paragraph
from weighbridge.documents.human import certainty
from weighbridge.explain.traced_ints import formula_of, with_letters

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.accounts.memory.account import Memory, Settings
    from weighbridge.accounts.memory.tape import Row
    from weighbridge.core.messages import Say
    from weighbridge.explain.traced_ints import LetteredModel
    from weighbridge.value import ModelValue


def derivation(model: ModelValue, given: Inputs, how: Settings, found: Memory, say: Say) -> Iterator[Block]:
    """Yield the derivation of every amount, and of their sum."""
    book = _Book(with_letters(model, given), how, found, say)
    amounts = []
    blocks: list[Block] = []
    for name in ("weights", "buffers", "gradients", "master", "optimizer", "activations"):
        amount = getattr(found, name)
        if amount:
            amounts.append(amount)
            trust = say(certainty(name, found.trust.get(name, "exact")))
            blocks.append(Heading(1, str(len(amounts)), f"{say(name)} ({trust})", f"{amount:,}"))
            blocks += book.activations(len(amounts)) if name == "activations" else getattr(book, name)()
    yield letter_table(blocks, book.lettered, say)
    yield from blocks
    yield from sum_line(amounts, 1, say("{label}: ").format(label=say("sum")))


NAMED = 3
"""Names of tensors that stand before a formula; the others of its shape are not listed."""


class _Book:
    """What is derived: a model with letters, how it is run, and what came out."""

    def __init__(self, lettered: LetteredModel, how: Settings, found: Memory, say: Say) -> None:
        self.lettered, self.how, self.found, self.say = lettered, how, found, say
        self.owned = [entry for entry in owned_tensors(lettered.model.tree) if entry.tensor.role != "buffer"]
        self.learned = [entry for entry in self.owned if not entry.tensor.frozen]

    def weights(self) -> Iterator[Block]:
        """Derive the weights: tensors of one shape together, packed ones by their scheme; of types below a byte all at once."""
        width, scheme = bits(self.how.dtype), self.how.quantization
        if scheme == PUBLISHED:
            sizes = [(entry, size) for entry, size in published_tensors(self.lettered.model)]
            held = [entry._replace(tensor=entry.tensor._replace(shape=(size,))) for entry, size in sizes if size is not None]
            others = [entry for entry, size in sizes if size is None]
            yield from self._groups(
                _by_shape(held, lambda entry: elements(entry.tensor.shape), PUBLISHED)
                + _by_shape(others, lambda entry: elements(entry.tensor.shape) * (width // 8), self.how.dtype)
            )
            return
        plain = [entry for entry in self.owned if scheme is None or not is_packed(entry, scheme)]
        packed = [] if scheme is None else [entry for entry in self.owned if is_packed(entry, scheme)]
        groups = _by_shape(packed, lambda entry: packed_bytes(entry.tensor.shape, str(scheme)), str(scheme))
        if width % 8:
            count = sum(int(entry.copies) * int(elements(entry.tensor.shape)) for entry in plain)
            rest = Floor(Sum((Product((Number(width), Number(count))), Number(7))), Number(8))
            yield Equation(2, (rest, Number((width * count + 7) // 8)), f"{self.how.dtype}: ")
            yield from self._groups(groups, [(width * count + 7) // 8])
        else:
            groups += _by_shape(plain, lambda entry: elements(entry.tensor.shape) * (width // 8), self.how.dtype)
            yield from self._groups(groups)

    def buffers(self) -> Iterator[Block]:
        """Say what buffers are."""
        yield Paragraph(2, self.say("Saved but not learned: positions, statistics, masks."))
        yield Equation(2, (Number(self.found.buffers),))

    def gradients(self) -> Iterator[Block]:
        """Derive the gradients: one for each element that is learned."""
        yield self._learned_elements(
            4 if self.how.precision in ("amp", "megatron") else element_bytes(self.how.dtype), self.found.gradients
        )

    def master(self) -> Iterator[Block]:
        """Derive the copies in float32."""
        yield self._learned_elements(4, self.found.master)

    def optimizer(self) -> Iterator[Block]:
        """Derive the states: tensors that are treated alike together."""
        size = element_bytes(self.how.dtype) if self.how.precision == "pure" else 4
        groups = _by_shape(self.learned, lambda entry: state_bytes(entry, self.how.optimizer, size))
        shared = shared_bytes(self.how.optimizer, (int(elements(entry.tensor.shape)) for entry in self.learned))
        tables = group_terms([(1, shared, self.say("tables"))] if shared else [])
        yield from self._groups([*(group for group in groups if group.bytes), *tables])

    def activations(self, section: int) -> Iterator[Block]:
        """Derive what is kept for backward, module by module, in the order in which it is kept; *section* is the number above theirs."""
        kept, _ = forward_activations(self.lettered.model, self.lettered.given, self.how)
        assert kept is not None
        amounts = []
        for number, ((place, times), run) in enumerate(groupby(kept.rows, _place), start=1):
            rows = list(run)
            each = sum(int(row.bytes) for row in rows)
            amounts.append(times * each)
            copies = f" × {times:,}" if times != 1 else ""
            yield Heading(2, f"{section}.{number}", f"{place or self.lettered.model.class_name}{copies}", f"{times * each:,}")
            groups = group_terms((1, row.bytes, f"{row.module[len(place) :].lstrip('.')} {row.call}".strip()) for row in rows)
            yield from self._groups(groups, level=3)
            if times != 1:
                yield Equation(3, (Product((Number(times), Number(each))), Number(times * each)))
        yield from sum_line(amounts, 2, self.say("{label}: ").format(label=self.say("sum")))

    def _learned_elements(self, size: int, amount: int) -> Equation:
        count = sum(int(entry.copies) * int(elements(entry.tensor.shape)) for entry in self.learned)
        return Equation(2, (Product((Number(size), Number(count))), Number(amount)))

    def _groups(self, groups: list[Group], before: list[int] | None = None, level: int = 2) -> Iterator[Block]:
        for group in groups:
            yield equation(group, self.lettered, level)
        yield from sum_line(
            [*(before or []), *(group.bytes for group in groups)], level, self.say("{label}: ").format(label=self.say("sum"))
        )


def _by_shape(owned: Iterable[OwnedTensor], bytes_of: Callable[[OwnedTensor], int], dtype: str = "") -> list[Group]:
    """Put tensors of one formula together under their names, and the type they are in."""
    entries = [(entry, bytes_of(entry)) for entry in owned]
    names: dict[str, dict[str, None]] = {}
    for entry, size in entries:
        names.setdefault(str(formula_of(size)), {})[f"{entry.part.name}.{entry.tensor.name}".strip(".")] = None
    found = []
    for group in group_terms((entry.copies, size, "") for entry, size in entries):
        alike = list(names[str(formula_of(group.each))])
        shown = [*alike[:NAMED], *(["…"] if len(alike) > NAMED else []), *([dtype] if dtype else [])]
        found.append(group._replace(label=", ".join(shown)))
    return found


def _place(row: Row) -> tuple[str, int]:
    """Return the layer that a storage belongs to, or its module outside of layers, and how many layers keep one."""
    pieces = row.module.split(".")
    layer = next((index for index, piece in enumerate(pieces) if piece.isdecimal()), None)
    return (row.module if layer is None else ".".join(pieces[: layer + 1])), row.times
