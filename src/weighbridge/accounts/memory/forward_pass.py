"""A forward pass on a tape: what it runs on, and how a stack of layers is run; the order of each architecture stands in ``forwards.py``.

Layers of one kind keep the same amount from the second on, so each kind is run twice at most.
"""

from __future__ import annotations

from weighbridge.accounts.memory.modules import (
    Ways,
    required_child,
    run_module,
)
from weighbridge.accounts.memory.tape import Segment, Tape
from weighbridge.accounts.memory.values import BOOL, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.sizes import as_int, layer_range
from weighbridge.core.tree import Part, Tensor, copy_name, positions, walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from weighbridge.accounts.memory.styles import Style


Handed = tuple[tuple[Value, ...], tuple[Value, ...]]
"""What all layers of a stack are given by position beside their value, and what all but the first are: ``torch.utils.checkpoint`` keeps it, but nothing
that is given by name."""
HANDED = "checkpoint argument"


class ForwardPass(NamedTuple):
    """One forward pass: on which tape, how, of which model, on how many tokens.

    Attributes:
        style: What the tree does not tell of this model type.
        config: The config, for keys that change the forward and no tensor.
        lengths: Tokens of each named stream.
        compared: The tokens that a window is compared with, where a length stands for any.
        dropped: Where elements are dropped.
        dropping: Whether they are, where the config says so.
    """

    tape: Tape
    ways: Ways
    style: Style
    config: dict[str, Any]
    batch: int
    lengths: dict[str, int]
    compared: int | None = None
    dropped: frozenset[str] = frozenset()
    dropping: bool = False

    def fills(self, window: int) -> bool:
        """Tell whether the text fills a window."""
        return (self.lengths["seq"] if self.compared is None else self.compared) >= window

    def setting(self, name: str) -> Any:
        """Return what the config says under the style's key of that name, or the style's default."""
        for key, default in self.style.keys:
            if key.partition("=")[0] == name:
                key = key.partition("=")[2] or name
                found = self.config.get(key)
                # an explicit null switches a cap off; of a word it says nothing
                return default if found is None and (isinstance(default, str) or key not in self.config) else found
        return None

    @property
    def activation(self) -> str:
        """The activation function."""
        name = self.style.activation or str(self.setting("activation"))
        # T5 says whether its MLP is gated in the same word, and means another function by "gated-gelu"
        return "gelu_new" if name == "gated-gelu" else name.rpartition("-")[2]


def layers(
    run: ForwardPass,
    parts: list[Part],
    value: Value,
    layer: Callable[[Part, Value], Value],
    shared: tuple[Value, ...] = (),
    handed: Handed = ((), ()),
) -> Value:
    """Run layers in the order of their numbers; what a layer keeps is measured until it repeats itself, then only counted.

    Args:
        parts: The layers, one part for each kind.
        value: What goes into the first.
        layer: Runs one.
        shared: What all of them see, such as rotary positions: the first to need them keeps them.
        handed: What they are given beside the *value*, which is kept where they are computed again.
    """
    tape = run.tape
    seen = (*shared, *handed[0], *handed[1]) if run.ways.checkpointing == "full" else shared
    known: dict[tuple[object, ...], tuple[Segment, bool, bool]] = {}
    layer_range(sum(len(positions(kind)) for kind in parts))  # refuses more than are looked at one by one
    copies = sorted(((index, kind) for kind in parts for index in positions(kind)), key=lambda copy: copy[0])
    for index, part in copies:
        state = (
            id(part),
            value.storage.held,
            value.grad,
            _layer_key(run, part, index),
            *(one.storage.held for one in seen),
            len(tape.masks),
        )
        if state in known:
            segment, held, grad = known[state]
            segment.times += 1
            tape.idle += segment.cached
            value = Value(value.shape, value.size, grad=grad)
            value.storage.held, value.maker = held, segment.result
            continue
        _keep_arguments(run, copy_name(part.name, index), (*handed[0], *(handed[1] if known else ())))
        start, first, given = len(tape.rows), len(tape.calls), value
        outer, tape.layer = tape.layer, index
        value = _layer(run, part, index, value, layer)
        tape.layer = outer
        segment = Segment((start, len(tape.rows)), (first, len(tape.calls)), part, given, value)
        segment.cached = sum(entry.bytes for entry in tape.cached if not entry.storage.held)
        tape.idle += segment.cached
        tape.cached.clear()
        tape.segments.append(segment)
        known[state] = segment, value.storage.held, value.grad
    for segment, _, _ in known.values():
        for row in tape.rows[segment.start : segment.end]:
            row.times += segment.times - 1
    return value


def _keep_arguments(run: ForwardPass, name: str, handed: tuple[Value, ...]) -> None:
    """Keep what a layer that is computed again is given beside its value: once, however many layers are given it."""
    tape = run.tape
    outer, tape.place = tape.place, f"{tape.place}.{name}" if tape.place else name
    for value in handed if run.ways.checkpointing == "full" else ():
        tape.keep(value, HANDED)
    tape.place = outer


def causal_mask(run: ForwardPass, tokens: int) -> tuple[Value, ...]:
    """Return the mask that causal attention is handed where it is computed step by step: of every query and key, for every example."""
    return (Value((run.batch, 1, tokens, tokens), run.ways.size, grad=False),) if run.ways.attention == "eager" else ()


def _layer_key(run: ForwardPass, part: Part, index: int) -> object:
    """Tell layers apart of which other tensors are trained, or other maps adapted; where all are trained they are alike."""
    tape = run.tape
    if tape.trained is None:
        return None
    inside = tape.inside.get(id(part)) or tape.inside.setdefault(id(part), [inner for _, inner in walk(part)])
    adapted = tuple(tape.adapted.get((id(inner), index)) for inner in inside)
    if not tape.trained:
        return adapted
    return adapted, tuple(
        (id(inner), index, node.name) in tape.trained for inner in inside for node in inner.children if isinstance(node, Tensor)
    )


def _layer(run: ForwardPass, part: Part, index: int, value: Value, layer: Callable[[Part, Value], Value]) -> Value:
    tape = run.tape
    if run.ways.checkpointing != "full":
        return run_module(tape, copy_name(part.name, index), lambda: layer(part, value))
    run_module(tape, copy_name(part.name, index), lambda: tape.keep(value, "checkpoint"))
    tape.muted = True
    value = layer(part, value)
    tape.muted = False
    return value


def repeated_children(part: Part, name: str) -> list[Part]:
    """Return the repeated children of a name."""
    return [node for node in part.children if isinstance(node, Part) and node.name == name and node.repeat is not None]


def part_at(part: Part, path: str) -> Part:
    """Return the part at a dotted path below another."""
    for name in path.split("."):
        part = required_child(part, name)
    return part


def size_of(part: Part, axis: int) -> int:
    """Return one size of a part's first tensor."""
    tensor = part.children[0]
    assert isinstance(tensor, Tensor) and isinstance(tensor.shape[axis], int)
    return as_int(tensor.shape[axis])


def embedding(run: ForwardPass, table: Part, tokens: int, *index: Value) -> Value:
    """Look tokens up in a table; the inputs themselves are held by who made them."""
    ids = index[0] if index else Value((run.batch, tokens), INDEX, grad=False, held=True)
    return run.tape.lookup(ids, size_of(table, 1), run.ways.size, table)


def put_in_cache(run: ForwardPass, value: Value) -> Value:
    """Join keys or values to an empty cache, which copies them, unless the config wants none."""
    if not run.ways.cached:
        return value
    run.tape.cached.append(run.tape.concatenate(value))
    return run.tape.cached[-1]


def bucket_bytes(tokens: int, *, both_ways: bool) -> int:
    """Return the bytes of distances of tokens and the buckets that they fall into: six tables of indices at once, five where tokens look back alone."""
    return ((6 if both_ways else 5) * INDEX + BOOL) * tokens**2
