"""A forward pass without numbers: values have a shape, strides and a storage, and a tape notes the storages that autograd keeps.

Every method is a call of PyTorch; what it saves for backward is what torch 2.13.0 says in ``tools/autograd/derivatives.yaml``
(for products of matrices: ``aten/src/ATen/native/LinearAlgebra.cpp``, which reshapes their factors first). A storage that is
saved twice is kept once, and a view keeps the whole storage that it looks at, so ties between values are found and not assumed.
"""

from __future__ import annotations

from math import prod

from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value, dense, elements, view_strides
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.core.tree import Part


class Row:
    """One kept storage: in which module, by which call, its shape and bytes, in how many copies of the module; and the bytes that the call saw of it."""

    __slots__ = ("bytes", "call", "module", "seen", "shape", "times")

    def __init__(self, module: str, call: str, shape: tuple[int, ...], size: int, seen: int) -> None:
        self.module, self.call, self.shape, self.bytes, self.seen, self.times = module, call, shape, size, seen, 1


class Call:
    """One call on the way back: what it puts out gradients for, and what it makes new meanwhile.

    Attributes:
        name: Of the call.
        goals: By which calls the values were made whose gradients it puts out, each with its bytes.
        alias: Whether it hands on the gradient that comes in, or a view of it, and makes none.
        more: Bytes that it makes beside them, and lets go.
        part: The part whose parameters get their gradients here.
        rows: How many kept storages there are once it has run; those since the call before are let go with it.
        root: Whether the backward pass begins here.
    """

    __slots__ = ("alias", "goals", "more", "name", "part", "root", "rows")

    def __init__(
        self, name: str, goals: tuple[tuple[int, int], ...], rows: int, *, alias: bool, more: int, part: Part | None, root: bool
    ) -> None:
        self.name, self.goals, self.rows = name, goals, rows
        self.alias, self.more, self.part, self.root = alias, more, part, root


class Segment:
    """Layers of one kind that keep the same.

    Attributes:
        start, end: Which rows are those of one of them.
        first, last: Which calls are, the last of them left out.
        given, result: By which calls the values were made that it is given and that it puts out.
        part: One of them.
        width: Bytes that each hands on.
        times: How many there are.
        cached: Bytes that each puts into a cache and nothing keeps for backward.
    """

    __slots__ = ("cached", "end", "first", "given", "last", "part", "result", "start", "times", "width")

    def __init__(self, rows: tuple[int, int], calls: tuple[int, int], part: Part, given: Value, result: Value) -> None:
        self.start, self.end = rows
        self.first, self.last = calls
        self.given, self.result, self.width = given.maker, result.maker, result.storage.bytes
        self.part, self.times, self.cached = part, 1, 0


Place = tuple[int, "int | None", str]
"""A tensor of a model: its part's identity, the number of the layer that it is in, and its name."""


class LowRank(NamedTuple):
    """A low-rank product beside a linear map: its rank, bytes of its elements, and whether elements are dropped before it."""

    rank: int
    size: int
    dropped: bool = False


class Tape:
    """What autograd keeps so far.

    Attributes:
        rows: Every kept storage, in order.
        calls: Every call through which a gradient flows, in order.
        moments: What a forward makes and lets go at once, where that is much: its bytes, and how many rows are kept by then.
        body: How many rows the body of a class keeps, without its heads.
        cached: What was put into a cache, which the output of a class holds.
        layer: The number of the layer that is running, if it is one.
        masks: The masks of causal attention that is computed again, by their names and tokens.
        inside: The parts of each layer, by its identity, once they are asked for.
        trained: The tensors that are trained, each as its part's identity, the number of its layer, and its name; None of all.
        adapted: The low-rank products beside linear maps, each by the map's identity and the number of its layer.
        idle: Bytes that are alive at the end of a forward, and not kept.
        segments: Which of them are those of layers.
        place: The module that is running.
        muted: Whether nothing is kept, because it is computed again for backward.
        dropped: Where elements are dropped: ``hidden``, ``attention``, ``activation``.
        returns: Whether the calls of the way back are noted.
        cuda: Whether the kernels are those of a GPU (a dropout mask is a bool there, and of the values' type on a processor).
    """

    __slots__ = (
        "adapted",
        "body",
        "cached",
        "calls",
        "cuda",
        "dropped",
        "idle",
        "inside",
        "layer",
        "masks",
        "moments",
        "muted",
        "place",
        "returns",
        "rows",
        "segments",
        "trained",
    )

    def __init__(self, dropped: frozenset[str] = frozenset(), *, cuda: bool = False, returns: bool = True) -> None:
        self.rows: list[Row] = []
        self.calls: list[Call] = []
        self.moments: list[tuple[int, int]] = []
        self.body = 0
        self.cached: list[Value] = []
        self.idle = 0
        self.layer: int | None = None
        self.masks: dict[tuple[str, int], Value] = {}
        self.inside: dict[int, list[Part]] = {}
        self.trained: frozenset[Place] | None = None
        self.adapted: Mapping[tuple[int, int | None], LowRank] = {}
        self.segments: list[Segment] = []
        self.place = ""
        self.muted = False
        self.dropped = dropped
        self.cuda, self.returns = cuda, returns

    @property
    def bytes(self) -> int:
        """All that is kept."""
        return sum(row.bytes * row.times for row in self.rows)

    def learns(self, part: Part | None, *names: str) -> bool:
        """Tell whether any of a part's tensors is trained, or any of those of these names; of no part in particular, all are."""
        if self.trained is None or part is None:
            return True
        found = names or tuple(node.name for node in part.children if hasattr(node, "shape"))
        return any((id(part), self.layer, name) in self.trained for name in found)

    def save(self, value: Value, call: str) -> None:
        """Keep a value's storage, unless it is held already; whether a gradient flows through it does not matter here."""
        storage = value.storage
        if not storage.held and not self.muted:
            storage.held = True
            self.rows.append(Row(self.place, call, value.shape, storage.bytes, elements(value.shape) * value.size))

    def note(
        self,
        name: str,
        *given: Value,
        result: Value,
        alias: bool = False,
        more: int = 0,
        part: Part | None = None,
        wide: int | None = None,
        root: bool = False,
    ) -> Value:
        """Note a call, the values it was *given* and its *result*, which is handed on.

        Args:
            alias: Whether a gradient is handed on as it comes in.
            more: Bytes that its backward makes for a while.
            part: Whose parameters get their gradients in it.
            wide: Bytes of the gradient that it puts out for each value, where that is not as large as the value.
            root: Whether a backward pass begins with it.
        """
        if not self.returns:
            return result
        goals = tuple([(value.maker, value.bytes if wide is None else wide) for value in given if value.maker is not None and value.grad])
        self.calls.append(Call(name, goals, len(self.rows), alias=alias, more=more, part=part, root=root))
        result.maker = len(self.calls) - 1
        return result

    def keep(self, value: Value, call: str) -> Value:
        """Keep a value's storage and hand the value on."""
        self.save(value, call)
        return value

    # --- views and copies ---

    def reshape(self, value: Value, *shape: int) -> Value:
        """View where that is possible, else copy."""
        strides = view_strides(value.shape, value.strides, shape)
        if strides is not None:
            return value.view(shape, strides)
        spread = value.bytes > value.storage.bytes  # the same elements, many times: their gradients are added up
        wide = value.storage.bytes if spread else None
        return self.note("reshape", value, result=Value(shape, value.size, grad=value.grad), alias=not spread, wide=wide)

    def contiguous(self, value: Value) -> Value:
        """Copy, unless it is contiguous already."""
        packed = all(
            stride == wanted or size == 1 for size, stride, wanted in zip(value.shape, value.strides, dense(value.shape), strict=True)
        )
        return value if packed else self.note("clone", value, result=Value(value.shape, value.size, grad=value.grad), alias=True)

    def cast(self, value: Value, size: int) -> Value:
        """Convert to floats of *size* bytes; the same type is the same value."""
        return value if value.size == size else self.note("to", value, result=self._like(value, size=size))

    def heads(self, value: Value, heads: int, width: int) -> Value:
        """View ``[batch, tokens, heads * width]`` as ``[batch, heads, tokens, width]``; on the way back that is a copy."""
        batch, tokens = value.shape[:2]
        strides = view_strides(value.shape, value.strides, (batch, tokens, heads, width))
        assert strides is not None, "a last axis can always be cut"
        apart = value.view((batch, tokens, heads, width), strides).transpose(1, 2)
        return self.note("heads", value, result=apart, alias=heads == 1)

    def split(self, value: Value, *widths: int) -> list[Value]:
        """Cut the last axis into views; their gradients are joined."""
        whole = self.note("split", value, result=value.view(value.shape, value.strides))
        return [whole.view((*value.shape[:-1], width), value.strides) for width in widths]

    def split_by_head(self, value: Value, heads: int, width: int) -> list[Value]:
        """Cut the last axis into heads and each of them into a query, a key and a value, all views: ``[batch, heads, tokens, width]``."""
        whole = self.note("split", value, result=value.view(value.shape, value.strides))
        batch, tokens, all_widths = value.shape
        return [whole.view((batch, heads, tokens, width), (tokens * all_widths, 3 * width, all_widths, 1)) for _ in range(3)]

    def pick(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Pick places of an axis by a list of one: a copy, and the index is kept."""
        if value.grad:
            self.save(Value((1,), INDEX, grad=False), "index")
        return self.note("index", value, result=Value(shape, value.size, grad=value.grad), wide=value.bytes)

    def concatenate(self, value: Value) -> Value:
        """Concatenate: a new contiguous value, of which nothing is saved."""
        return self.note("cat", value, result=Value(value.shape, value.size, grad=value.grad), alias=True)

    # --- elementwise ---

    def add(self, left: Value, right: Value | None = None) -> Value:
        """Add; nothing is saved. The result lies in memory as its first term does."""
        if right is not None and right.bytes < left.bytes:  # its gradient is summed up
            right = self.note("expand", right, result=right.view(right.shape, right.strides))
        given = (left,) if right is None else (left, right)
        return self.note("add", *given, result=self._like(left, grad=any(value.grad for value in given)), alias=True)

    def scale(self, value: Value) -> Value:
        """Multiply with a number; nothing is saved."""
        return self.note("scale", value, result=self._like(value))

    def multiply(self, left: Value, right: Value, part: Part | None = None) -> Value:
        """Multiply; each factor is saved if the other one has a gradient. The right one may be a parameter of a *part*."""
        if right.grad:
            self.save(left, "mul")
        if left.grad:
            self.save(right, "mul")
        wide = left if prod(left.shape) >= prod(right.shape) else right
        result = self._like(wide, grad=left.grad or right.grad, size=max(left.size, right.size))
        spread = self.returns and any(value.grad and value.bytes < result.bytes for value in (left, right))
        return self.note("mul", left, right, result=result, more=result.bytes if spread else 0, part=part)

    def gain(self, value: Value, part: Part | None = None) -> Value:
        """Multiply with a parameter; the value is saved."""
        learns = self.learns(part)
        if learns:
            self.save(value, "mul")
        result = self._like(value, grad=value.grad or learns)
        return self.note("mul", value, result=result, more=value.bytes if learns else 0, part=part)

    def by_input(self, value: Value, call: str) -> Value:
        """Apply a function whose backward needs its input."""
        if value.grad:
            self.save(value, call)
        return self.note(call, value, result=self._like(value), more=2 * value.bytes if call == "pow" else 0)

    def by_result(self, value: Value, call: str, *, grad: bool = True) -> Value:
        """Apply a function whose backward needs its result."""
        result = self._like(value)
        if grad and value.grad:
            self.save(result, call)
        return self.note(call, value, result=result)

    def drop(self, value: Value, where: str = "hidden") -> Value:
        """Drop elements: a mask is kept, of bools on a GPU, of the values' own type on a processor (Dropout.cpp)."""
        if where not in self.dropped:
            return value
        if value.grad:
            self.save(Value(value.shape, BOOL if self.cuda else value.size), "dropout")
        return self.note("dropout", value, result=self._like(value))

    # --- reductions and products ---

    def softmax(self, value: Value, size: int) -> Value:
        """Softmax over the last axis, in floats of *size* bytes; the result is saved."""
        result = Value(value.shape, size, grad=value.grad)
        if value.grad:
            self.save(result, "softmax")
        return self.note("softmax", self.cast(value, size), result=result)

    def layer_norm(self, value: Value, part: Part | None = None) -> Value:
        """Normalize over the last axis: the input, the means and the reciprocal deviations are saved."""
        grad = value.grad or self.learns(part)
        for _ in range(1 if grad else 0):
            self.save(value, "layer_norm")
            # a processor keeps the statistics in the parameters' type, a GPU in float32
            self.save(Value((*value.shape[:-1], 1), FLOAT if self.cuda else value.size), "layer_norm")
            self.save(Value((*value.shape[:-1], 1), FLOAT if self.cuda else value.size), "layer_norm")
        return self.note("layer_norm", value, result=Value(value.shape, value.size, grad=grad), part=part)

    def linear(self, value: Value, width: int, part: Part | None = None) -> Value:
        """Multiply the last axis with a parameter: the input is saved as a matrix, where the parameter is trained."""
        rows = elements(value.shape[:-1])
        matrix = self.reshape(value, rows, value.shape[-1])
        if self.learns(part, "weight"):
            self.save(matrix, "linear")
        result = Value((*value.shape[:-1], width), value.size, grad=value.grad or self.learns(part))
        result = self.note("linear", matrix, result=result, part=part)
        beside = self.adapted.get((id(part), self.layer)) if self.adapted else None
        return result if beside is None else self._low_rank(beside, value, result)

    def _low_rank(self, beside: LowRank, value: Value, result: Value) -> Value:
        """Add two thin products, scaled: each keeps what it is given (PEFT's LoRA: ``result + B(A(dropout(x))) * scaling``)."""
        given = self.cast(value, beside.size)
        if beside.dropped:
            self.save(Value(given.shape, BOOL if self.cuda else given.size), "dropout")
            given = self.note("dropout", given, result=self._like(given))
        self.save(given, "linear")
        thin = self.note("linear", given, result=Value((*value.shape[:-1], beside.rank), beside.size))
        self.save(thin, "linear")
        wide = self.scale(self.note("linear", thin, result=Value(result.shape, beside.size)))
        return self.cast(self.add(result if result.size >= wide.size else self.cast(result, wide.size), wide), result.size)

    def matmul(self, left: Value, right: Value) -> Value:
        """Multiply two batches of matrices: both are saved, as three axes."""
        outer = left.shape[:-2]
        batch = elements(outer)
        left, right = (self.reshape(value, batch, *value.shape[-2:]) for value in (left, right))
        if right.grad:
            self.save(left, "matmul")
        if left.grad:
            self.save(right, "matmul")
        result = Value((*outer, left.shape[-2], right.shape[-1]), left.size, grad=left.grad or right.grad)
        return self.note("matmul", left, right, result=result)

    def lookup(self, index: Value, width: int, size: int, part: Part | None = None) -> Value:
        """Look rows of a table up; the indices are saved."""
        learns = self.learns(part)
        if learns:
            self.save(index, "embedding")
        return self.note("embedding", result=Value((*index.shape, width), size, grad=learns), part=part)

    def _like(self, value: Value, *, grad: bool | None = None, size: int | None = None) -> Value:
        """Return a new value that lies in memory as another one does, without gaps."""
        result = Value(value.shape, value.size if size is None else size, grad=value.grad if grad is None else grad)
        if list(value.strides) != sorted(value.strides, reverse=True):
            order = sorted(range(len(value.shape)), key=lambda axis: -value.strides[axis])
            strides, step = [0] * len(order), 1
            for axis in reversed(order):
                strides[axis] = step
                step *= value.shape[axis]
            result.strides = tuple(strides)
        return result
