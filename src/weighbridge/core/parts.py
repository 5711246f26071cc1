"""The shared vocabulary of blueprints: the modules that every architecture is made of.

Each function returns a :class:`~weighbridge.core.tree.Part` with the tensor names that PyTorch's
module of that kind has, so that blueprints read like ``print(model)``. :func:`part` makes any other module: its name,
its children in order, and by keyword what it is, how often it is there and what it sees. The other functions take the
same keywords (:class:`Place`)::

    part("self", linear("query", H, H), linear("key", H, H, stream="encoder"), kind="attention", requires="encoder")
    linear("experts", H, H, repeat=8)
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Length, Stream, at_least, length
from weighbridge.core.sizes import Size, exact, is_some
from weighbridge.core.tree import Attend, Every, Matmul, Node, Part, State, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypedDict, TypeVar, Unpack

    Kind = TypeVar("Kind")
    Record = TypeVar("Record", bound=tuple[Any, ...])

    class Place(TypedDict, total=False):
        """How often a part is there, and what it sees: as in :class:`~weighbridge.core.tree.Part`."""

        repeat: Size | None
        executions: Size | str | None
        indices: Every | tuple[int, ...] | None
        stream: Stream | None
        requires: str | None


def part(
    name: str,
    *children: Node,
    kind: str = "block",
    repeat: Size | None = None,
    executions: Size | str | None = None,
    indices: Every | tuple[int, ...] | None = None,
    experts: Size | None = None,
    active: Size | None = None,
    stream: Stream | None = None,
    requires: str | None = None,
) -> Part:
    """Describe a module by its name and its children; the keywords are those of :class:`~weighbridge.core.tree.Part`.

    >>> part("output", linear("dense", 768, 768), layer_norm("LayerNorm", 768), kind="attention").kind
    'attention'
    """
    return _make(Part, (name, children, kind, repeat, executions, indices, experts, active, stream, requires))


_make = tuple.__new__
"""What a named tuple's constructor ends in. A blueprint is half of a count's time, and this a third of a blueprint's."""


def replace(record: Record, **changes: Any) -> Record:
    """Return a part, a tensor or a field with some of its attributes changed.

    >>> replace(linear("dense", 8, 8), name="out_proj").name
    'out_proj'
    """
    changed: Record = record._replace(**changes)  # type: ignore[attr-defined]
    return changed


def linear(name: str, inputs: Size, outputs: Size, *, bias: bool = True, tied_to: str | None = None, **place: Unpack[Place]) -> Part:
    """Describe ``y = x W^T + b``: a weight of shape ``[outputs, inputs]`` and a bias of ``[outputs]``.

    >>> linear("query", 768, 768).children[0].shape
    (768, 768)
    """
    weight = _make(Tensor, ("weight", (outputs, inputs), "weight", tied_to, None, False, False))
    children = (weight, _make(Tensor, ("bias", (outputs,), "bias", None, None, False, False))) if bias else (weight,)
    return _place(name, children, "linear", place)


def label_head(name: str, inputs: Size, labels: Size, **place: Unpack[Place]) -> Part:
    """Describe a linear layer with one output per label, which the class leaves out (``nn.Identity``) where there are no labels.

    >>> label_head("classifier", 768, 2).children[0].shape, label_head("classifier", 768, 0).children
    ((2, 768), ())
    """
    return linear(name, inputs, labels, **place) if is_some(labels) else part(name, kind="head")


def embedding(name: str, rows: Size, width: Size, *, tied_to: str | None = None, **place: Unpack[Place]) -> Part:
    """Describe a table of ``[rows, width]`` that is looked up, at no arithmetic.

    >>> embedding("word_embeddings", 30522, 768).kind
    'embedding'
    """
    return _place(name, (Tensor("weight", (rows, width), "embedding", tied_to),), "embedding", place)


def layer_norm(name: str, width: Size, *, bias: bool = True, **place: Unpack[Place]) -> Part:
    """Describe layer normalization: a gain and a shift of ``[width]``, named weight and bias.

    >>> [tensor.role for tensor in layer_norm("LayerNorm", 768).children]
    ['gain', 'shift']
    """
    gain = _make(Tensor, ("weight", (width,), "gain", None, None, False, False))
    children = (gain, _make(Tensor, ("bias", (width,), "shift", None, None, False, False))) if bias else (gain,)
    return _place(name, children, "layer_norm", place)


def rms_norm(name: str, width: Size, **place: Unpack[Place]) -> Part:
    """Describe root-mean-square normalization: a gain of ``[width]`` and no shift.

    >>> rms_norm("norm", 4096).children
    (Tensor(name='weight', shape=(4096,), role='gain', tied_to=None, dtype=None, frozen=False, inputs_first=False),)
    """
    return _place(name, (Tensor("weight", (width,), "gain"),), "rms_norm", place)


def _place(name: str, children: tuple[Node, ...], kind: str, place: Place) -> Part:
    """Make a part; most stand where their parent does, once, and need none of the keywords."""
    if place:
        return part(name, *children, kind=kind, **place)
    return _make(Part, (name, children, kind, None, None, None, None, None, None, None))


def gated_mlp(name: str, hidden: Size, inner: Size, *, bias: bool = False, **place: Unpack[Place]) -> Part:
    """Describe ``down(act(gate(x)) * up(x))``, with the names that Llama gave the three.

    >>> [part.name for part in gated_mlp("mlp", 4096, 11008).children]
    ['gate_proj', 'up_proj', 'down_proj']
    """
    return part(
        name,
        linear("gate_proj", hidden, inner, bias=bias),
        linear("up_proj", hidden, inner, bias=bias),
        linear("down_proj", inner, hidden, bias=bias),
        kind="feed_forward",
        **place,
    )


def plain_mlp(
    name: str, hidden: Size, inner: Size, names: tuple[str, str] = ("up_proj", "down_proj"), *, bias: bool = False, **place: Unpack[Place]
) -> Part:
    """Describe ``down(act(up(x)))``: two linear layers, named by *names*.

    >>> [part.name for part in plain_mlp("mlp", 768, 3072, ("fc1", "fc2")).children]
    ['fc1', 'fc2']
    """
    up, down = linear(names[0], hidden, inner, bias=bias), linear(names[1], inner, hidden, bias=bias)
    return part(name, up, down, kind="feed_forward", **place)


def split_mlp(hidden: Size, inner: Size) -> tuple[Part, Part]:
    """Describe two linear layers in modules of their own, as older classes hold them: ``intermediate.dense`` and ``output.dense``.

    >>> [part.name for part in split_mlp(768, 3072)]
    ['intermediate', 'output']
    """
    up, down = linear("dense", hidden, inner), linear("dense", inner, hidden)
    return part("intermediate", up, kind="feed_forward"), part("output", down, kind="feed_forward")


def fused_experts(
    experts: Size, active: Size | None, hidden: Size, inner: Size, *, name: str = "experts", inputs_first: bool = False
) -> Part:
    """Describe experts with a gated MLP each, all of them in two tensors; *active* of them work on a token.

    Without *active*, as in a config that does not say it, all of them do. With *inputs_first*, each matrix is ``[inputs, outputs]``.

    >>> [tensor.shape for tensor in fused_experts(8, 2, 4096, 14336).children]
    [(8, 28672, 4096), (8, 4096, 14336)]
    """
    up, down = (2 * inner, hidden), (hidden, inner)
    return part(
        name,
        Tensor("gate_up_proj", (experts, *(up[::-1] if inputs_first else up)), "weight", inputs_first=inputs_first),
        Tensor("down_proj", (experts, *(down[::-1] if inputs_first else down)), "weight", inputs_first=inputs_first),
        kind="experts",
        experts=None if active is None else experts,
        active=active,
    )


def stack(name: str, kinds: Sequence[Kind], repeat: Size, layer: Callable[[Kind], tuple[Node, ...]]) -> tuple[Part, ...]:
    """Describe layers of several kinds in a row: one part per kind, which knows at which indices its copies stand.

    Args:
        name: Of the list of layers.
        kinds: The kind of every layer, concrete.
        repeat: How many there are. As a symbol it stays in the count of the commonest kind; the others are counted.
        layer: What a layer of a kind is made of.

    >>> [(part.repeat, part.indices) for part in stack("layers", ("dense", "sparse", "sparse"), 3, lambda kind: ())]
    [(1, Every(start=0, step=1)), (2, Every(start=1, step=1))]
    """
    found = list(dict.fromkeys(kinds))
    if not found:
        return ()
    if len(found) == 1:
        return (part(name, *layer(found[0]), kind="layer", repeat=repeat),)
    common = max(found, key=kinds.count)
    others = len(kinds) - kinds.count(common)
    return tuple(
        part(
            name,
            *layer(kind),
            kind="layer",
            repeat=repeat - others if kind == common else kinds.count(kind),
            indices=_indices(kinds, kind),
        )
        for kind in found
    )


def _indices(kinds: Sequence[Kind], kind: Kind) -> Every | tuple[int, ...]:
    indices = tuple(index for index, other in enumerate(kinds) if other == kind)
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    regular = indices == tuple(range(indices[0], indices[0] + step * len(indices), step))
    return Every(indices[0], step) if regular else indices


def attend(
    *,
    heads: Size,
    head_dim: Size,
    kv_heads: Size | None = None,
    value_dim: Size | None = None,
    queries: Stream | None = None,
    keys: Stream | None = None,
    groups: Stream = 1,
    causal: bool = False,
    window: Size | None = None,
    windowed: Size | None = None,
    cache: Size | None = None,
    kept: Stream | None = None,
) -> Attend:
    """Describe scaled dot-product attention: no parameters, two products of matrices.

    >>> attend(heads=12, head_dim=64).value_dim
    64
    """
    kv_heads = heads if kv_heads is None else kv_heads
    value_dim = head_dim if value_dim is None else value_dim
    return Attend("attend", heads, kv_heads, head_dim, value_dim, queries, keys, groups, causal, window, windowed, cache, kept)


def matmul(name: str, *products: tuple[Stream, ...]) -> Matmul:
    """Describe products of matrices without parameters, each as its factors of multiply-adds per example.

    >>> matmul("mix", (2, "seq", "seq", 64)).products
    ((2, 'seq', 'seq', 64),)
    """
    return Matmul(name, products)


def fairseq_attention(
    name: str,
    hidden: Size,
    heads: Size,
    head_dim: Size,
    *,
    keys: Stream | None = None,
    causal: bool = False,
    bias: bool = True,
    key_bias: bool = True,
    **place: Unpack[Place],
) -> Part:
    """Describe attention with fairseq's four names, keys first; over another stream when *keys* names it.

    >>> [part.name for part in fairseq_attention("self_attn", 8, 2, 4).children if isinstance(part, Part)]
    ['k_proj', 'v_proj', 'q_proj', 'out_proj']
    """
    return part(
        name,
        linear("k_proj", hidden, hidden, bias=bias and key_bias, stream=keys),
        linear("v_proj", hidden, hidden, bias=bias, stream=keys),
        linear("q_proj", hidden, hidden, bias=bias),
        linear("out_proj", hidden, hidden, bias=bias),
        attend(heads=heads, head_dim=head_dim, keys=keys, causal=causal),
        kind="self_attention" if keys is None else "cross_attention",
        **place,
    )


def depthwise(name: str, channels: Size, kernel: Size, *, bias: bool = True, filled: bool = True, dtype: str | None = None) -> Part:
    """Describe a causal convolution of each channel with itself, padded on both sides as the reference runs it.

    Where a state is kept, of as many tokens as the kernel is wide, fewer tokens are *filled* up to that width first; *dtype* is its type where
    that is not the model's.

    >>> depthwise("conv1d", 1536, 4).children[0].shape
    (1536, 1, 4)
    """
    padded = length(at_least("seq", kernel) if filled else "seq") + (kernel - 1)
    whole = _convolution(name, (channels, 1, kernel), bias, padded)
    return replace(whole, children=(*whole.children, State("conv_state", channels * kernel, dtype))) if filled else whole


def conv1d(
    name: str,
    inputs: Size,
    outputs: Size,
    kernel: Size,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    of: Stream = "seq",
    bias: bool = True,
) -> Part:
    """Describe a convolution over the stream *of*; it sees the positions that it puts out.

    >>> conv1d("conv", 512, 512, 3, stride=2).stream
    (seq - 3) // 2 + 1
    """
    return _convolution(
        name, (outputs, inputs, kernel), bias, conv_output_length(of, kernel, stride=stride, padding=padding, dilation=dilation)
    )


def conv2d(
    name: str,
    inputs: Size,
    outputs: Size,
    kernel: Size | tuple[Size, Size],
    *,
    groups: Size = 1,
    bias: bool = True,
    **place: Unpack[Place],
) -> Part:
    """Describe a convolution over an image: a weight of ``[outputs, inputs / groups, height, width]``.

    Args:
        name: Of the module.
        inputs, outputs: Channels.
        kernel: Its side, or its height and width.
        groups: Into how many the channels are split; as many as *inputs* is a depthwise one.
        bias: Whether it has one, of ``[outputs]``.
        place: *stream* is how many positions it puts out, over both axes; None is what its parent sees.

    >>> conv2d("projection", 3, 768, 16, stream=196).children[0].shape
    (768, 3, 16, 16)
    """
    height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    weight = Tensor("weight", (outputs, exact(inputs, groups), height, width), "weight")
    children = (weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,)
    return part(name, *children, kind="convolution", **place)


def conv_output_length(of: Stream, kernel: Size, *, stride: Size = 1, padding: Size = 0, dilation: Size = 1) -> Length:
    """Return the positions that a convolution over the stream *of* puts out.

    >>> conv_output_length("seq", 3, stride=2, padding=1)
    (seq - 1) // 2 + 1
    """
    return (length(of) + (2 * padding - dilation * (kernel - 1) - 1)) // stride + 1


def batch_norm(name: str, channels: Size, **place: Unpack[Place]) -> Part:
    """Describe batch normalization: a gain and a shift of ``[channels]``; its running statistics are no parameters.

    >>> [tensor.role for tensor in batch_norm("norm", 64).children]
    ['gain', 'shift', 'buffer', 'buffer', 'buffer']
    """
    return part(
        name,
        Tensor("weight", (channels,), "gain"),
        Tensor("bias", (channels,), "shift"),
        Tensor("running_mean", (channels,), "buffer"),
        Tensor("running_var", (channels,), "buffer"),
        Tensor("num_batches_tracked", (), "buffer"),
        kind="batch_norm",
        **place,
    )


def _convolution(name: str, shape: tuple[Size, ...], bias: bool, stream: Stream) -> Part:
    weight = Tensor("weight", shape, "weight")
    children = (weight, Tensor("bias", shape[:1], "bias")) if bias else (weight,)
    return part(name, *children, kind="convolution", stream=stream)
