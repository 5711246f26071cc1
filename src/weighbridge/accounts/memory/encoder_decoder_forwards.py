"""Forward passes of encoders and decoders together: T5, BART and its kin, Whisper.

Source: the ``forward`` methods of transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import (
    ForwardPass,
    bucket_bytes,
    causal_mask,
    layers,
    put_in_cache,
    repeated_children,
    size_of,
)
from weighbridge.accounts.memory.modules import (
    activate,
    attend_of,
    child,
    linear,
    norm,
    project_qkv,
    required_child,
    scores,
)
from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.tree import Part, walk

if TYPE_CHECKING:
    from collections.abc import Callable


def t5(run: ForwardPass, body: Part) -> Value:
    """Run T5: two stacks without biases, a table of relative positions in the first block of each."""
    if child(body, "encoder") is None:
        return t5_stack(run, body, run.lengths["seq"], None, causal=bool(run.config.get("is_decoder")))
    alone = child(body, "decoder") is None  # beside a decoder an encoder is told that it is none
    memory = t5_stack(run, required_child(body, "encoder"), run.lengths["seq"], None, causal=alone and bool(run.config.get("is_decoder")))
    if alone:
        return memory
    return t5_stack(run, required_child(body, "decoder"), run.lengths["decoder"], memory, causal=True)


def t5_stack(run: ForwardPass, stack: Part, tokens: int, memory: Value | None, *, causal: bool) -> Value:
    """Run one stack of T5."""
    tape = run.tape
    words = Value((run.batch, tokens, _width(stack)), run.ways.size, grad=tape.learns(child(stack, "embed_tokens")))
    value = tape.drop(tape.note("embedding", result=words))
    heads = next(attend_of(child(place, "SelfAttention") or place).heads for place in repeated_children(stack, "block")[0].children[:1])  # type: ignore[arg-type]
    # attention to the encoder has a bias of nothing, one for all layers
    zeros = Value((1, heads, tokens, 1 if memory is None else memory.shape[1]), run.ways.size)
    shared = () if memory is None else (memory, zeros)
    blocks = repeated_children(stack, "block")
    each = len(blocks) == 1 and bool(blocks[0].repeat != 1)  # every block has a table of its own, and then a bias of nothing too
    table = next((part for block in blocks for _, part in walk(block) if part.name == "relative_attention_bias"), None)
    outer, tape.layer = tape.layer, 0
    near = tape.note("embedding", result=Value((1, heads, tokens, tokens), run.ways.size, grad=tape.learns(table)))
    tape.layer = outer

    def block(part: Part, value: Value) -> Value:
        return t5_block(run, part, value, memory, (near, Value(zeros.shape, zeros.size) if each else zeros), causal)

    given = (*(causal_mask(run, tokens) if causal else ()), *(() if memory is None else (memory,)))
    biases = () if each else (near,) if memory is None else (near, zeros)
    value = layers(run, blocks, value, block, shared, (given, biases))
    return tape.drop(norm(tape, required_child(stack, "final_layer_norm"), value, run.style.gain))


def _width(stack: Part) -> int:
    return size_of(required_child(stack, "final_layer_norm"), 0)


def t5_block(run: ForwardPass, part: Part, value: Value, memory: Value | None, biases: tuple[Value, Value], causal: bool) -> Value:
    """Run attention, in a decoder attention to the encoder, and an MLP; a norm before each. What is added to scores are the *biases* of either."""
    tape = run.tape
    for place in part.children:
        assert isinstance(place, Part)
        attention = child(place, "SelfAttention", "EncDecAttention")
        if memory is None and attention is not None and attention.name == "EncDecAttention":
            continue
        normed = norm(tape, required_child(place, "layer_norm"), value, run.style.gain)
        if attention is None:
            value = tape.add(value, tape.drop(t5_mlp(run, required_child(place, "DenseReluDense"), normed)))
            continue
        if child(attention, "relative_attention_bias") is not None:
            # distances of tokens and the buckets that they fall into: six tables of indices at once, five where tokens look back alone
            named = FLOAT * value.shape[1] ** 2 if run.config.get("model_type") == "umt5" else 0  # its logarithms stay for a while
            tape.moments.append((bucket_bytes(value.shape[1], both_ways=not causal) + named, len(tape.rows)))
            if biases[0].grad:
                tape.save(Value((value.shape[1], value.shape[1]), INDEX), "embedding")
            # the bias, for a kernel a copy of it too, the scores and their sum
            times = (1 if run.ways.attention == "eager" else 2) + 2 * run.batch
            tape.moments.append((times * biases[0].bytes, len(tape.rows)))
        crossed = memory if attention.name == "EncDecAttention" else None
        query, key, values = project_qkv(tape, attention, normed, crossed)
        key, values = (put_in_cache(run, kept) if memory is not None else kept for kept in (key, values))
        if run.ways.attention != "eager":
            if crossed is None and causal and value.shape[1] > 1:  # where the learned bias is seen
                tape.save(Value((1, 1, value.shape[1], value.shape[1]), BOOL, grad=False), "where")
            elif crossed is not None and "attention" not in tape.dropped:
                tape.save(biases[1], "mask")
        masks = ("text",) if causal and crossed is None else ()
        mixed = scores(tape, run.ways, query, key, values, bias=biases[0] if crossed is None else None, causal=masks)
        value = tape.add(value, tape.drop(linear(tape, required_child(attention, "o"), mixed)))
    return value


def t5_mlp(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run T5's MLP, gated or not; elements are dropped inside as well."""
    tape = run.tape
    if child(part, "wi_0") is None:
        active = activate(tape, run.activation, linear(tape, required_child(part, "wi"), value))
    else:
        gate = activate(tape, run.activation, linear(tape, required_child(part, "wi_0"), value))
        active = tape.multiply(gate, linear(tape, required_child(part, "wi_1"), value))
    return linear(tape, required_child(part, "wo"), tape.drop(active))


def bart(run: ForwardPass, body: Part) -> Value:
    """Run BART and its kin."""
    if run.config.get("use_prompt"):
        raise UsageError(Text("activations: what {model_type} keeps with use_prompt is not described", model_type=run.config["model_type"]))
    if child(body, "encoder") is None:
        alone = child(body, "decoder", "") or body
        return bart_stack(
            run, alone, run.lengths["seq"], None, decoder=child(alone, "layers", "encoder_attn") is not None and _has_cross_attention(alone)
        )
    memory = bart_stack(run, required_child(body, "encoder"), run.lengths["seq"], None)
    return bart_stack(run, required_child(body, "decoder"), run.lengths["decoder"], memory)


def _has_cross_attention(stack: Part) -> bool:
    return child(repeated_children(stack, "layers")[0], "encoder_attn") is not None


def bart_stack(run: ForwardPass, stack: Part, tokens: int, memory: Value | None, *, decoder: bool = False) -> Value:
    """Run one stack: embeddings, layers, and the norms that a relative has before or after them."""
    tape, style = run.tape, run.style
    tables = (child(stack, "embed_tokens"), child(stack, "embed_positions"))
    inward, outward = child(stack, "project_in"), child(stack, "project_out")
    learns = any(tape.learns(table) for table in tables)
    width = _last_width(stack) if inward is None else size_of(inward, 1)
    value = tape.note("embedding", result=Value((run.batch, tokens, width), run.ways.size, grad=learns))
    value = value if inward is None else linear(tape, inward, value)
    kind = style.indices[decoder or memory is not None] if style.indices else ""
    if kind and tape.learns(tables[1]):
        tape.save(Value((1 if kind == "one" else run.batch, tokens), INDEX), "embedding")
    first, last = child(stack, "layernorm_embedding"), child(stack, "layer_norm", "final_layer_norm")
    value = tape.drop(value if first is None else norm(tape, first, value), "embedded")
    seen = () if memory is None else (memory,)
    blocks = repeated_children(stack, "layers")
    causal = attend_of(required_child(blocks[0], "self_attn")).causal and not style.named_mask
    value = layers(
        run,
        blocks,
        value,
        lambda part, value: bart_layer(run, part, value, memory),
        seen,
        ((*(causal_mask(run, tokens) if causal else ()), *seen), ()),
    )
    if last is None and _ends_in_bare_norm(run):
        last = Part("final_layer_norm", (), "layer_norm")
    value = value if last is None else norm(tape, last, value)
    return value if outward is None else linear(tape, outward, value)


def _ends_in_bare_norm(run: ForwardPass) -> bool:
    """Say whether a last norm is there that has nothing to learn, and so is in no tree (OPT)."""
    said = run.config.get
    bare = run.style.told_before and said("layer_norm_elementwise_affine", True) is False
    return bool(bare and said("do_layer_norm_before", True) and not said("_remove_final_layer_norm", False))


def _last_width(stack: Part) -> int:
    return size_of(required_child(repeated_children(stack, "layers")[0], "fc2"), 0)


def bart_layer(run: ForwardPass, part: Part, value: Value, memory: Value | None) -> Value:
    """Run one layer, with norms before each part of it or after."""
    tape, before = run.tape, run.config.get("do_layer_norm_before", True) if run.style.told_before else run.style.before

    def half(value: Value, name: str, inner: Callable[[Value], Value]) -> Value:
        found = child(part, name) or Part(name, (), "layer_norm")  # one that has nothing to learn is in no tree
        result = tape.add(value, tape.drop(inner(norm(tape, found, value) if before else value)))
        return result if before else norm(tape, found, result)

    def attention(name: str, seen: Value | None) -> Callable[[Value], Value]:
        def run_attention(value: Value) -> Value:
            held = required_child(part, name)
            query, key, values = project_qkv(tape, held, value, seen)
            key, values = (put_in_cache(run, kept) if memory is not None else kept for kept in (key, values))
            query = tape.contiguous(query) if run.style.packed else query
            masks = ("text",) if attend_of(held).causal else ()
            floored = run.style.floored and seen is None
            mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, causal=masks, floored=floored)
            return linear(tape, required_child(held, "out_proj"), mixed)

        return run_attention

    def mlp(value: Value) -> Value:
        active = tape.drop(activate(tape, run.activation, linear(tape, required_child(part, "fc1"), value)), "activation")
        return linear(tape, required_child(part, "fc2"), active)

    value = half(value, "self_attn_layer_norm", attention("self_attn", None))
    if memory is not None:
        value = half(value, "encoder_attn_layer_norm", attention("encoder_attn", memory))
    return half(value, "final_layer_norm", mlp)


def whisper(run: ForwardPass, body: Part) -> Value:
    """Run Whisper: two convolutions over the spectrogram, then an encoder and a decoder with norms before each half, or one of them."""
    tape, stack = run.tape, child(body, "encoder") or (None if child(body, "decoder") else body.children[0])
    if stack is None or (isinstance(stack, Part) and stack.kind == "decoder"):
        return bart_stack(run, stack or required_child(body, "decoder"), run.lengths["seq"], None, decoder=True)
    assert isinstance(stack, Part)
    width = _last_width(stack)
    frames = run.lengths["seq"]
    first, second = (tape.learns(required_child(stack, name)) for name in ("conv1", "conv2"))
    wave = tape.note("conv1d", result=Value((run.batch, width, frames), run.ways.size, grad=first))
    wave = tape.by_input(wave, "gelu")
    if first or second:
        tape.save(wave, "conv1d")
    half = Value((run.batch, width, (frames + 1) // 2), run.ways.size, grad=first or second)
    wave = tape.by_input(tape.note("conv1d", wave, result=half), "gelu")
    value = tape.drop(tape.add(wave.transpose(1, 2)))
    value = layers(run, repeated_children(stack, "layers"), value, lambda part, value: bart_layer(run, part, value, None))
    memory = norm(tape, required_child(stack, "layer_norm"), value)
    found = child(body, "decoder")
    return memory if found is None else bart_stack(run, found, run.lengths["decoder"], memory)
