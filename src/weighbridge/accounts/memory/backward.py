"""The most memory that a backward pass holds at once: its calls run in reverse, as torch's engine does.

At each call the kept storages of all calls before it are still held, with the gradients of parameters after it, those that wait for a
call further up, the one that comes in and those that it puts out. A gradient that meets another at the same value is added to it in place,
or, where somebody else holds it still, to a new one.

Source: torch 2.13.0, torch/csrc/autograd/engine.cpp (``evaluate_function``), input_buffer.cpp (``accumulate``), FunctionsManual.cpp.
"""

from __future__ import annotations

from weighbridge.accounts.memory.values import elements
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import Part, Tensor, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.accounts.memory.activations import Activations
    from weighbridge.accounts.memory.tape import Call, Row, Segment


class Gradient:
    """A piece of memory with a gradient in it, and how many hold it."""

    __slots__ = ("bytes", "holders")

    def __init__(self, size: int) -> None:
        self.bytes, self.holders = size, 1


class Backward:
    """A backward pass on its way.

    Attributes:
        held: Bytes at this moment.
        most: The most that were held.
        waiting: The gradients that have come to a call, by its place.
    """

    __slots__ = ("calls", "held", "learned", "moments", "most", "rows", "seen", "shared", "size", "waiting")

    def __init__(self, whole: Activations, held: int, most: int, size: int, learned: dict[int, int], shared: frozenset[int]) -> None:
        self.calls: Sequence[Call] = whole.calls
        self.rows: Sequence[Row] = whole.rows
        self.moments = whole.moments
        self.held, self.most, self.size, self.learned = held, most, size, learned
        self.waiting: dict[int, list[Gradient]] = {}
        self.shared, self.seen = shared, set[int]()

    def take(self, size: int) -> Gradient:
        """Make a gradient."""
        self.held += size
        self.most = max(self.most, self.held)
        return Gradient(size)

    def release(self, gradient: Gradient) -> None:
        """Let a gradient go; the last who holds it frees it."""
        gradient.holders -= 1
        if not gradient.holders:
            self.held -= gradient.bytes

    def run(self, first: int, last: int) -> None:
        """Run the calls from *last* back to *first*."""
        for place in reversed(range(first, last)):
            call = self.calls[place]
            came = self.waiting.pop(place, [])
            if call.root and not came:
                came = [self.take(0)]
            if came:
                self._apply(call, came)
            before = self.calls[place - 1].rows if place else 0
            self.held -= sum(row.bytes for row in self.rows[before : call.rows])

    def _apply(self, call: Call, came: list[Gradient]) -> None:
        """Run one call: what it puts out is there before what came in is let go."""
        if call.name == "split" and len(came) > 1:  # the pieces are joined
            joined = self.take(sum(piece.bytes for piece in came))
            for piece in came:
                self.release(piece)
            came = [joined]
        if call.alias:
            for _ in call.goals:
                came[0].holders += 1
            made = [came[0] for _ in call.goals]
        else:
            made = [self.take(wide) for _, wide in call.goals]
        self._learn(call.part)
        self.most = max(self.most, self.held + call.more)
        for piece in came:
            self.release(piece)
        for (goal, _), piece in zip(call.goals, made, strict=True):
            self._hand(goal, piece)

    def _learn(self, part: Part | None) -> None:
        """Make the gradients of a part's parameters, once."""
        if part is None:
            return
        gradient = self.take(self.size * self.learned.get(id(part), 0))
        if id(part) in self.shared and id(part) in self.seen:  # added to those that are there
            self.release(gradient)
        self.seen.add(id(part))

    def _hand(self, goal: int, piece: Gradient) -> None:
        """Hand a gradient to a call, or add it to the one that waits there."""
        waiting = self.waiting.setdefault(goal, [])
        if not waiting or self.calls[goal].name == "split":
            waiting.append(piece)
        elif waiting[0].holders == 1:
            self.release(piece)
        else:
            both = self.take(max(waiting[0].bytes, piece.bytes))
            self.release(waiting.pop())
            self.release(piece)
            waiting.append(both)


def backward_peak(
    kept: Activations, whole: Activations, tree: Part, size: int, *, lengths: Mapping[str, int], made: int = 0, masks: int = 0
) -> int:
    """Return the most that a forward and its backward hold beside weights and states.

    Args:
        kept: What the forward keeps.
        whole: What it keeps where nothing is computed again.
        tree: The model, whose gradients come in while what is kept goes.
        size: Bytes of an element of a gradient.
        lengths: What is put in: what nothing is put into has no gradients.
        made: Bytes of the masks of attention, which a forward holds.
        masks: Bytes of what is handed to all layers, which those that are computed again keep.
    """
    learned = _learned_elements(tree, lengths)
    shared = frozenset(id(part) for one in whole.segments if one.part.executions is not None for _, part in walk(one.part))
    held = kept.bytes + (masks if kept is not whole else 0)
    run = Backward(whole, held, max(held + kept.idle, _forward_peak(kept, made)), size, learned, shared)
    place = len(whole.calls)
    for full, one in reversed(_pair_layers(kept, whole)):
        run.run(full.last, place)
        _run_layers(run, full, _row_bytes(whole, full), _row_bytes(kept, one))
        place = full.first
    run.run(0, place)
    inside = {id(part) for one in whole.segments for _, part in walk(one.part)}
    run.take(size * sum(count for name, count in learned.items() if name not in run.seen and name not in inside))
    return run.most


def _forward_peak(kept: Activations, made: int) -> int:
    """Return the most that a forward holds: all of its body with the masks that are *made* there, or what it makes for a moment."""
    moments = [(kept.idle, kept.body), *kept.moments]
    return max((size + made + _rows_before(kept, row) for size, row in moments), default=0)


def _rows_before(kept: Activations, place: int) -> int:
    """Add up the rows before a place; where it is inside a layer, in the last of its kind."""
    before = sum(row.bytes * row.times for row in kept.rows[:place])
    inside = next((one for one in kept.segments if one.start < place < one.end), None)
    return before if inside is None else before + (inside.times - 1) * sum(row.bytes for row in kept.rows[place : inside.end])


def _run_layers(run: Backward, full: Segment, each: int, kept: int) -> None:
    """Run the layers of a kind: one after the other, those in the middle only counted.

    Args:
        full: Its calls.
        each: Bytes that one of them keeps, or makes again.
        kept: Bytes that the forward has kept of it.
    """
    own = [id(part) for _, part in walk(full.part)]
    shared = full.part.executions is not None
    apart = {name for name in own if name not in {id(call.part) for call in run.calls[full.first : full.last]}}
    learned = run.size * sum(run.learned.get(name, 0) for name in own)
    rest = run.size * sum(run.learned.get(name, 0) for name in apart)
    for copy in sorted({0, min(1, full.times - 1), full.times - 1}):
        if copy > 1:
            run.held += (copy - 2) * ((0 if shared else learned) - kept)
        if each != kept:
            again = [
                size + sum(row.bytes for row in run.rows[full.start : place])
                for size, place in run.moments
                if full.start <= place < full.end
            ]
            run.most = max(run.most, run.held + max(again, default=0))
        run.held += each - kept
        run.most = max(run.most, run.held)
        run.run(full.first, full.last)
        gradient = run.take(rest)
        if shared and copy:
            run.release(gradient)
        if copy < full.times - 1 and full.given is not None and full.result is not None and full.given in run.waiting:
            run.waiting[full.result] = run.waiting.pop(full.given)


def _pair_layers(kept: Activations, whole: Activations) -> list[tuple[Segment, Segment]]:
    """Pair layers as they are where nothing is computed again with what the forward keeps of them: there, unlike layers may be alike."""
    pairs = []
    for place, full in enumerate(whole.segments):
        alike = [one for one in kept.segments if one.part == full.part]
        before = sum(other.part == full.part for other in whole.segments[:place])
        pairs.append((full, alike[min(before, len(alike) - 1)]))
    return pairs


def _row_bytes(kept: Activations, one: Segment) -> int:
    return sum(row.bytes for row in kept.rows[one.start : one.end])


def _learned_elements(part: Part, lengths: Mapping[str, int]) -> dict[int, int]:
    """Count, by the identity of each part, the elements of its own tensors that get gradients; of copies, those of one."""
    found: dict[int, int] = {}
    if part.requires is not None and part.requires not in lengths:
        return found
    for node in part.children:
        if isinstance(node, Part) and node.repeat != 0:
            found |= _learned_elements(node, lengths)
        elif isinstance(node, Tensor) and node.role != "buffer" and not node.frozen:
            found[id(part)] = found.get(id(part), 0) + elements(node.shape)
    return found
