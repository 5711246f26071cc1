"""The modules of a transformer on a tape: what each one does with its values, its sizes read off the tree.

A function takes the tape, the part of the tree and the values that go in, and returns what comes out. Source: the modules of
transformers 5.23.0 in eager mode (``eager_attention_forward``, ``activations.py``, ``integrations/moe.py``).
"""

from __future__ import annotations

from weighbridge.accounts.memory.values import FLOAT, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from weighbridge.accounts.memory.tape import Tape


class Ways(NamedTuple):
    """How a forward is run.

    Attributes:
        size: Bytes of a float.
        attention: ``eager``, ``sdpa`` or ``flash``.
        checkpointing: ``none``, ``full`` or ``selective``.
        cached: Whether a cache is filled: keys and values are then joined to it.
    """

    size: int
    attention: str = "eager"
    checkpointing: str = "none"
    cached: bool = False


def child(part: Part, *names: str) -> Part | None:
    """Return the first child that has one of *names*."""
    return next((node for name in names for node in part.children if isinstance(node, Part) and node.name == name), None)


def required_child(part: Part, *names: str) -> Part:
    """Return the child that has one of *names*.

    Raises:
        UsageError: There is none: the config builds something that the forward pass as it is described does not know.
    """
    found = child(part, *names)
    if found is None:
        raise UsageError(Text("activations: what a module without {name!r} keeps is not described", name=" or ".join(names)))
    return found


def attend_of(part: Part) -> Any:
    """Return the attention of a part."""
    return next(node for node in part.children if not isinstance(node, (Part, Tensor)) and getattr(node, "head_dim", None) is not None)


def linear(tape: Tape, part: Part, value: Value) -> Value:
    """Apply a linear map; its width is that of its bias, or of its weight's rows."""
    tensors = {node.name: node for node in part.children if isinstance(node, Tensor)}
    width = tensors["bias"].shape[0] if "bias" in tensors else tensors["weight"].shape[0]
    return run_module(tape, part.name, lambda: tape.linear(value, as_int(width), part))


def run_module(tape: Tape, name: str, run: Callable[[], Value]) -> Value:
    """Run under the name of a module.

    >>> from types import SimpleNamespace
    >>> tape = SimpleNamespace(place="")
    >>> run_module(tape, "encoder", lambda: run_module(tape, "layer", lambda: run_module(tape, "", lambda: tape.place)))
    'encoder.layer'
    """
    outer = tape.place
    tape.place = f"{outer}.{name}" if outer and name else outer or name
    result = run()
    tape.place = outer
    return result


# --- norms ---


def norm(tape: Tape, part: Part, value: Value, gain: str = "after") -> Value:
    """Normalize: by means and deviations, or by the root of the mean square, its *gain* as :func:`rms_norm` says."""
    if part.kind == "layer_norm" and gain == "centred":
        return run_module(tape, part.name, lambda: centred_norm(tape, value, part))
    if part.kind == "layer_norm":
        if gain == "shifted" and (value.grad or tape.learns(part)):  # one is added to what it learns
            tape.save(Value((value.shape[-1],), value.size), "layer_norm")
        return run_module(tape, part.name, lambda: tape.layer_norm(value, part))
    return run_module(tape, part.name, lambda: rms_norm(tape, value, gain, part))


def rms_norm(tape: Tape, value: Value, gain: str = "after", part: Part | None = None) -> Value:
    """Divide by the root of the mean square, in float32.

    Args:
        gain: ``after`` it is converted back; before, in float32 (``wide``, OLMo 2; ``widened``, Helium, where the gain is made float32 too), there with one added (``shifted``, Gemma); after, and what is
            divided is the value as it came, not the float32 one (``mixed``, T5).
    """
    size, wide = value.size, tape.cast(value, FLOAT)
    square = tape.by_input(wide, "pow")
    scale = Value((*wide.shape[:-1], 1), FLOAT, grad=wide.grad)
    if wide.grad:
        tape.save(scale, "rsqrt")
    tape.note("mean", square, result=scale)
    normed = tape.multiply(value if gain == "mixed" else wide, scale)
    if gain == "widened":
        return _wide_gain(tape, normed, size, part)
    if gain == "wide":
        return tape.cast(tape.gain(normed, part), size)
    if gain == "shifted":
        gained = tape.multiply(normed, Value((value.shape[-1],), FLOAT, grad=tape.learns(part)), part)
        return tape.cast(gained, size)
    return tape.gain(tape.cast(normed, size), part)


def centred_norm(tape: Tape, value: Value, part: Part) -> Value:
    """Take the mean off, twice, and divide by the deviation, step by step in float32 (Cohere)."""
    wide = tape.cast(value, FLOAT)
    apart, square = tape.add(wide), tape.by_input(tape.add(wide), "pow")
    scale = Value((*wide.shape[:-1], 1), FLOAT, grad=wide.grad)
    if wide.grad:
        tape.save(scale, "rsqrt")
    tape.note("mean", square, result=scale)
    normed = tape.multiply(apart, scale)
    return _wide_gain(tape, normed, value.size, part)


def _wide_gain(tape: Tape, normed: Value, size: int, part: Part | None) -> Value:
    """Multiply with a gain that is made float32 first: a copy, unless it is."""
    if size == FLOAT or part is None:
        return tape.gain(normed, part)
    weight = next(node for node in part.children if isinstance(node, Tensor))
    gain = Value(tuple(as_int(length) for length in weight.shape), FLOAT, grad=tape.learns(part))
    return tape.cast(tape.multiply(normed, gain, part), size)


# --- activation functions ---


def activate(tape: Tape, name: str, value: Value) -> Value:
    """Apply an activation function.

    Raises:
        UsageError: Nobody has written down what it saves.
    """
    if name in BY_INPUT:
        return tape.by_input(value, BY_INPUT[name])
    if name in BY_RESULT:
        return tape.by_result(value, BY_RESULT[name])
    if name in COMPOSED:
        return COMPOSED[name](tape, value)
    raise UsageError(
        Text("activations: what {name!r} saves for backward is not described; known: {known}", name=name, known=", ".join(sorted(KNOWN)))
    )


def _tanh_gelu(tape: Tape, value: Value) -> Value:
    cube = tape.by_input(value, "pow")
    curve = tape.by_result(tape.scale(tape.add(value, tape.scale(cube))), "tanh")
    return tape.multiply(tape.scale(value), tape.add(curve))


def _erf_gelu(tape: Tape, value: Value) -> Value:
    inner = tape.scale(value)
    curve = tape.by_input(inner, "erf")
    return tape.multiply(tape.scale(value), tape.add(curve))


def _quick_gelu(tape: Tape, value: Value) -> Value:
    return tape.multiply(value, tape.by_result(value, "sigmoid"))


def _fast_gelu(tape: Tape, value: Value) -> Value:
    square = tape.multiply(tape.scale(value), value)
    curve = tape.by_result(tape.multiply(tape.scale(value), tape.add(square)), "tanh")
    return tape.multiply(tape.scale(value), tape.add(curve))


def _clipped_gelu(tape: Tape, value: Value) -> Value:
    return tape.by_input(tape.by_input(value, "gelu"), "clamp")


def _laplace(tape: Tape, value: Value) -> Value:
    return tape.by_input(tape.scale(value), "erf")


def _root_softplus(tape: Tape, value: Value) -> Value:
    return tape.by_result(tape.by_input(value, "softplus"), "sqrt")


def _identity(tape: Tape, value: Value) -> Value:
    return value


def _squared_relu(tape: Tape, value: Value) -> Value:
    return tape.by_input(tape.by_result(value, "pow"), "pow")  # what relu gives is saved by it and by the square


BY_INPUT = {
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "silu": "silu",
    "swish": "silu",
    "mish": "mish",
    "relu6": "hardtanh",
    "leaky_relu": "leaky_relu",
    "hardswish": "hardswish",
}
BY_RESULT = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid"}
COMPOSED = {
    "gelu_new": _tanh_gelu,
    "gelu_accurate": _tanh_gelu,
    "gelu_python_tanh": _tanh_gelu,
    "gelu_python": _erf_gelu,
    "gelu_fast": _fast_gelu,
    "gelu_10": _clipped_gelu,
    "laplace": _laplace,
    "sqrtsoftplus": _root_softplus,
    "linear": _identity,
    "quick_gelu": _quick_gelu,
    "relu2": _squared_relu,
}
KNOWN = {*BY_INPUT, *BY_RESULT, *COMPOSED}


def plain_mlp(tape: Tape, up: Part, down: Part, value: Value, activation: str) -> Value:
    """Go up, activate, go down."""
    wide = linear(tape, up, value)
    active = run_module(tape, "activation", lambda: activate(tape, activation, wide))
    return linear(tape, down, active)


def gated_mlp(tape: Tape, part: Part, value: Value, activation: str) -> Value:
    """Multiply an activated gate with what goes up, and go down; gate and up may be one map."""
    fused = child(part, "gate_up_proj", "Wi")
    if fused is not None:
        both = linear(tape, fused, value)
        gate, up = tape.split(both, both.shape[-1] // 2, both.shape[-1] // 2)
    else:
        gate, up = (linear(tape, required_child(part, *names), value) for names in (("gate_proj", "w1", "wi_0"), ("up_proj", "w3", "wi_1")))
    active = tape.drop(tape.multiply(activate(tape, activation, gate), up), "activation")
    return linear(tape, required_child(part, "down_proj", "w2", "wo", "Wo"), active)


# --- attention ---


def rotary(tape: Tape, value: Value, angles: tuple[Value, ...], width: int | None = None, *, joined: bool = False) -> Value:
    """Turn queries or keys by their positions; what is not turned, if only nothing, is *joined* on again.

    Args:
        angles: Cosines and sines, for ``x * cos + rotate_half(x) * sin``; or complex numbers, which pairs of elements are multiplied with.
    """
    turned = value if width is None or width == value.shape[-1] else value.view((*value.shape[:-1], width), value.strides)
    if len(angles) == 1:
        if turned.grad:
            tape.save(angles[0], "mul")
        result = tape.note(
            "mul", turned, result=Value(turned.shape, value.size, grad=turned.grad), more=2 * FLOAT * turned.bytes // turned.size
        )
    else:
        straight = tape.multiply(turned, angles[0])
        half = tape.note("rotate", turned, result=Value(turned.shape, turned.size, grad=turned.grad), more=turned.bytes)
        result = tape.cast(tape.add(straight, tape.multiply(half, angles[1])), value.size)
    return (
        result
        if turned is value and not joined
        else tape.note("cat", result, result=Value(value.shape, value.size, grad=value.grad), wide=value.bytes)
    )


def repeat_kv(tape: Tape, value: Value, times: int) -> Value:
    """Repeat the heads of keys or values for the queries that share them: a copy, unless each has its own or all share one."""
    if times == 1:
        return value
    batch, heads, tokens, width = value.shape
    first, second, third, fourth = value.strides
    spread = value.view((batch, heads, times, tokens, width), (first, second, 0, third, fourth))
    return tape.reshape(spread, batch, heads * times, tokens, width)


def scores(
    tape: Tape,
    ways: Ways,
    query: Value,
    key: Value,
    value: Value,
    *,
    wide: bool = False,
    capped: bool = False,
    bias: Value | None = None,
    masked: bool = False,
    causal: tuple[str, ...] = (),
    sink: bool = False,
    filled: Value | None = None,
    floored: bool = False,
    dropped: str = "attention",
    fused: bool = True,
) -> Value:
    """Attend: ``softmax(query @ key^T) @ value``, and lay heads side by side again.

    Args:
        wide: Whether the softmax runs in float32 whatever the type.
        capped: Whether scores pass through a tanh first.
        bias: A learned bias that is added to the scores.
        masked: Whether more than a causal mask stands before the scores, as a window does.
        sink: Whether each head has a learned score beside those of the tokens, which takes a share of its own.
        filled: A mask by which scores are filled in, and which is kept for that.
        floored: Whether scores are raised to the least number of their type, which keeps both.
        dropped: Where shares are dropped.
        fused: Whether a fused kernel takes them at all.
        causal: The names of the masks that causal attention is given: of layers of which some have a window, both.
    """
    groups, size = query.shape[1] // key.shape[1], value.size
    # a kernel that cannot drop elements, give a bias its gradient, or have values of another width than keys, leaves the products to plain calls, which keep the same
    plain = bias is not None or not fused or (dropped in tape.dropped and not tape.cuda)
    plain = plain or (ways.attention == "sdpa" and not tape.cuda and value.shape[-1] != query.shape[-1])
    if ways.attention != "eager" and not capped and not plain:
        return _fused_attention(tape, ways, query, key, value, masked)
    recomputed = tape.muted
    if ways.checkpointing == "selective":
        _keep_attention_inputs(tape, ways, (query, key, value), causal)
        tape.muted = True
    key, value = _for_each_query(tape, ways, key, groups, masked), _for_each_query(tape, ways, value, groups, masked)
    if ways.attention != "eager" and plain:  # scaled copies of queries and keys, and all of it in float32
        query, key, value = (tape.cast(part, FLOAT) for part in (tape.scale(query), tape.scale(key), value))
    raw = tape.scale(tape.matmul(query, key.transpose(2, 3)))
    if capped:
        raw = tape.scale(tape.by_result(raw, "tanh"))
    if bias is not None:
        raw = tape.add(raw, bias)
    if sink:
        raw = _join_sink(tape, raw)
    if filled is not None and raw.grad:
        tape.save(filled, "masked_fill")
    if floored and raw.grad:
        tape.save(raw, "max")
        tape.save(Value((), FLOAT, grad=False), "max")
    shares = tape.cast(tape.softmax(raw, FLOAT if wide else raw.size), value.size)
    if sink:
        shares = shares.view((*shares.shape[:-1], shares.shape[-1] - 1), shares.strides)
    mixed = tape.cast(tape.matmul(tape.drop(shares, dropped), value), size)
    tape.muted = recomputed
    return side_by_side(tape, mixed)


def _join_sink(tape: Tape, raw: Value) -> Value:
    """Put a score beside those of the tokens, and take the highest off them all."""
    joined = tape.note("cat", raw, result=Value((*raw.shape[:-1], raw.shape[-1] + 1), raw.size))
    tape.save(Value((*raw.shape[:-1], 1), INDEX, grad=False), "max")
    return tape.add(joined)


def _keep_attention_inputs(tape: Tape, ways: Ways, given: tuple[Value, ...], causal: tuple[str, ...]) -> None:
    """Keep what attention that is computed again is given: queries, keys, values, and the mask that is made where it is computed step by step."""
    for part in given:
        tape.save(part, "attention")
    for name in causal if ways.attention == "eager" else ():
        batch, tokens = given[0].shape[0], given[0].shape[2]
        made = Value((batch, 1, tokens, tokens), ways.size, grad=False)
        tape.save(tape.masks.setdefault((name, tokens), made), "mask")


def _for_each_query(tape: Tape, ways: Ways, value: Value, groups: int, masked: bool) -> Value:
    """Give each head of the queries its keys or values: SDPA shares them out itself, by a copy, where no mask stands in its way."""
    if groups == 1 or ways.attention != "sdpa" or masked or value.shape[-1] > SHARED_WIDTH:
        return repeat_kv(tape, value, groups)
    spread = Value((value.shape[0], value.shape[1] * groups, *value.shape[2:]), value.size, grad=value.grad)
    return tape.note("repeat", value, result=spread)


SHARED_WIDTH = 256
"""Up to this width of a head keys and values are handed to SDPA once for all queries that share them (``use_gqa_in_sdpa``)."""


def _fused_attention(tape: Tape, ways: Ways, query: Value, key: Value, value: Value, masked: bool) -> Value:
    """Attend by a kernel that keeps queries, keys, values, the output, one float32 for each row of scores, and on a GPU its random state.

    Where *masked*, SDPA is handed a mask, which each layer makes floats of and keeps, and heads that it does not share out itself.
    """
    if ways.attention == "sdpa" and (masked or key.shape[-1] > SHARED_WIDTH):
        groups = query.shape[1] // key.shape[1]
        key, value = repeat_kv(tape, key, groups), repeat_kv(tape, value, groups)
    if masked and ways.attention == "sdpa":
        tape.save(Value((query.shape[0], 1, query.shape[2], key.shape[2]), query.size, grad=False), "mask")
    grad = any(part.grad for part in (query, key, value))
    recomputed, tape.muted = tape.muted, tape.muted or not grad
    for part in (query, key, value):
        tape.save(part, ways.attention)
    # what comes out lies in memory as the queries do: where that is by tokens, laying heads side by side copies nothing
    mixed = tape.add(query if value.shape[-1] == query.shape[-1] else Value(query.shape[:-1] + value.shape[-1:], query.size))
    tape.save(mixed, ways.attention)
    tape.save(Value(query.shape[:-1], FLOAT), ways.attention)
    if tape.cuda:  # the state of the generator, two integers of 64 bits, and one that is not used
        tape.save(Value((2,), INDEX, grad=False), ways.attention)
        tape.save(Value((1,), INDEX, grad=False), ways.attention)
    mixed.grad, tape.muted = grad, recomputed
    return side_by_side(tape, tape.note(ways.attention, query, key, value, result=mixed))


def side_by_side(tape: Tape, value: Value) -> Value:
    """Lay heads side by side: ``[batch, heads, tokens, width]`` as ``[batch, tokens, heads * width]``."""
    batch, heads, tokens, width = value.shape
    return tape.reshape(tape.contiguous(value.transpose(1, 2)), batch, tokens, heads * width)


QUERY, KEY, VALUE = ("q_proj", "query", "q", "q_lin"), ("k_proj", "key", "k", "k_lin"), ("v_proj", "value", "v", "v_lin")


def project_qkv(tape: Tape, part: Part, value: Value, memory: Value | None = None) -> tuple[Value, Value, Value]:
    """Make queries, keys and values, with their heads apart; keys and values of a *memory*, if there is one."""
    op = attend_of(part)
    seen = value if memory is None else memory
    query = linear(tape, required_child(part, *QUERY), value)
    key = linear(tape, required_child(part, *KEY), seen)
    values = linear(tape, required_child(part, *VALUE), seen)
    return (
        tape.heads(query, op.heads, op.head_dim),
        tape.heads(key, op.kv_heads, op.head_dim),
        tape.heads(values, op.kv_heads, op.value_dim),
    )
