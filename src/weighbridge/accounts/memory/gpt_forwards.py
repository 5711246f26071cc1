"""Forward passes of GPT-2 and its kin: GPT-Neo, GPT-J, CodeGen, BLOOM, Falcon and MPT.

They differ in how queries, keys and values are cut out of what linear maps give, in what tells positions apart, and in whether attention
and MLP run side by side; the tree tells most of it. Source: the ``forward`` methods of transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import ForwardPass, causal_mask, embedding, layers, put_in_cache, repeated_children
from weighbridge.accounts.memory.modules import attend_of, child, linear, norm, plain_mlp, required_child, rotary, scores
from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

FIRST_NORM, SECOND_NORM = ("ln_1", "input_layernorm", "ln_attn", "norm_1"), ("ln_2", "post_attention_layernorm", "ln_mlp", "norm_2")
MAPS = (("c_fc", "c_proj"), ("fc_in", "fc_out"), ("dense_h_to_4h", "dense_4h_to_h"), ("up_proj", "down_proj"))
"""The two maps of an MLP, as each family names them."""

Queries = tuple[Value, Value, Value]


def gpt(run: ForwardPass, body: Part) -> Value:
    """Run embeddings, layers with a norm before each half or one before both, and a last norm."""
    tape, seq = run.tape, run.lengths["seq"]
    _refuse_slices(run)
    value = embedding(run, required_child(body, "wte", "word_embeddings"), seq)
    positions, first = child(body, "wpe"), child(body, "word_embeddings_layernorm")
    if positions is not None and tape.learns(positions):
        tape.save(Value((1, seq), INDEX), "embedding")
        value.grad = True
    value = tape.drop(value, "embedding")
    value = value if first is None else norm(tape, first, value)
    blocks = repeated_children(body, "h") or repeated_children(body, "blocks")
    shared = _shared_by_layers(run, blocks[0])
    masks = () if run.style.named_mask else causal_mask(run, seq)
    value = layers(run, blocks, value, lambda part, value: gpt_layer(run, part, value, *shared), shared, (masks, ()))
    return norm(tape, required_child(body, "ln_f", "norm_f"), value)


def _refuse_slices(run: ForwardPass) -> None:
    """Refuse the slow way of BLOOM, which multiplies slices as several devices would."""
    if run.config.get("slow_but_exact") and run.config.get("pretraining_tp", 1) > 1:
        raise UsageError(
            Text("activations: what {model_type} keeps with slow_but_exact is not described", model_type=run.config["model_type"])
        )


def _shared_by_layers(run: ForwardPass, layer: Part) -> tuple[Value, ...]:
    """Make what all layers see: the cosines and sines of positions, or the mask that scores are filled by."""
    seq = run.lengths["seq"]
    if run.style.filled:
        return (Value((run.batch, 1, seq, seq), BOOL, grad=False),)
    if run.style.turned == "once" and run.config.get("alibi"):
        heads = as_int(attend_of(required_child(layer, "self_attention")).heads)
        return (Value((run.batch, heads, seq, seq), run.ways.size, grad=False),) if run.ways.attention == "sdpa" else ()
    if run.style.turned == "once":
        width = as_int(attend_of(required_child(layer, "self_attention")).head_dim)
        return tuple(Value((1, seq, width), run.ways.size, grad=False) for _ in range(2))
    return ()


def gpt_layer(run: ForwardPass, part: Part, value: Value, *shared: Value) -> Value:
    """Run attention and an MLP: one after the other, or side by side where there is but one norm, or one for each of them."""
    tape, attention, mlp = run.tape, required_child(part, "attn", "self_attention"), required_child(part, "mlp", "ffn")
    second = child(part, *SECOND_NORM)
    parallel = second is None or second.name == "ln_mlp"
    normed = norm(tape, required_child(part, *FIRST_NORM), value)
    attended = _attend(run, child(attention, "attention") or attention, normed, *shared)
    if not parallel:
        value = tape.add(value, tape.drop(attended, "attended"))
    elif not run.style.dropped_together:
        attended = tape.drop(attended, "attended")
    normed = normed if second is None else norm(tape, second, value)
    up, down = next(names for names in MAPS if child(mlp, names[0]) is not None)
    inner = plain_mlp(tape, required_child(mlp, up), required_child(mlp, down), normed, run.activation)
    if parallel and run.style.dropped_together:
        inner = tape.add(inner, attended)
    inner = tape.drop(inner)
    if parallel and not run.style.dropped_together:
        inner = tape.add(attended, inner)
    return tape.add(value, inner)


def _attend(run: ForwardPass, part: Part, value: Value, *shared: Value) -> Value:
    tape, op = run.tape, attend_of(part)
    query, key, values = project(run, part, op, value)
    filled = shared[0] if run.style.filled else None
    if run.style.turned == "apart":
        query, key = (_turn_apart(run, turned) for turned in (query, key))
    elif len(shared) == 2:
        query, key = (rotary(tape, turned, shared) for turned in (query, key))
    key, values = (put_in_cache(run, kept) for kept in (key, values))
    if run.style.wide_scores or (run.ways.attention == "eager" and run.config.get("reorder_and_upcast_attn")):
        query, key = tape.cast(query, FLOAT), tape.cast(key, FLOAT)
    if run.style.turned == "once":
        mixed = _attend_masked(run, query, key, values, shared[0] if len(shared) == 1 else None)
    else:
        mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, causal=("text",), filled=filled)
    return linear(tape, required_child(part, "c_proj", "out_proj", "dense"), mixed)


def _attend_masked(run: ForwardPass, query: Value, key: Value, value: Value, distances: Value | None) -> Value:
    """Attend with a mask that is always made; what tells *distances* (ALiBi) is a mask of every head, which all layers are given (Falcon)."""
    sdpa, one = run.ways.attention == "sdpa", key.shape[1] != query.shape[1]
    if sdpa and distances is not None and not one:
        run.tape.save(distances, "mask")
    if sdpa and one:  # the kernel does not share keys and values out among heads
        spread = (query.shape[0], query.shape[1], *key.shape[2:])
        key, value = (kept.view(spread, (kept.strides[0], 0, *kept.strides[2:])) for kept in (key, value))
    dropped = "attention" if run.config.get("alibi") else ""
    masked = distances is None and sdpa
    return scores(run.tape, run.ways, query, key, value, causal=("text",), masked=masked, dropped=dropped, fused=not (sdpa and one))


def _turn_apart(run: ForwardPass, value: Value) -> Value:
    """Turn a part of each head by its position, neighbours together; every call makes cosines and sines of its own (GPT-J)."""
    stated = run.config.get("rotary_dim", 64)
    width = value.shape[-1] if stated is None else min(as_int(stated), value.shape[-1])
    size = FLOAT if run.style.wide_rotary else value.size
    angles = tuple(Value((1, value.shape[2], 1, width), size, grad=False) for _ in range(2))
    # it is turned before its heads are moved in front of the tokens
    return rotary(run.tape, value.transpose(1, 2), angles, width, joined=stated is not None).transpose(1, 2)


def project(run: ForwardPass, part: Part, op: Any, value: Value) -> Queries:
    """Make queries, keys and values, with their heads apart: ``[batch, heads, tokens, width]``."""
    tape, fused = run.tape, child(part, "c_attn", "Wqkv")
    if fused is not None:
        whole, width = _clip(run, linear(tape, fused, value)), op.kv_heads * op.head_dim
        query, key, values = tape.split(whole, op.heads * op.head_dim, width, width)
        return tape.heads(query, op.heads, op.head_dim), *(tape.heads(kept, op.kv_heads, op.head_dim) for kept in (key, values))  # type: ignore[return-value]
    joined = child(part, "query_key_value")
    if joined is not None:
        return _split_groups(run, op, linear(tape, joined, value))
    joined = child(part, "qkv_proj")
    if joined is not None:
        return _split_shards(run, op, linear(tape, joined, value))
    query, key, values = (linear(tape, required_child(part, name), value) for name in ("q_proj", "k_proj", "v_proj"))
    return tuple(tape.heads(made, op.heads, op.head_dim) for made in (query, key, values))  # type: ignore[return-value]


def _clip(run: ForwardPass, value: Value) -> Value:
    """Clamp queries, keys and values where a config says so (MPT)."""
    inner = run.config.get("attn_config")
    return run.tape.by_input(value, "clamp") if isinstance(inner, dict) and inner.get("clip_qkv") and run.style.filled else value


def _split_groups(run: ForwardPass, op: Any, value: Value) -> Queries:
    """Cut what one map gives: by heads, each with its query, key and value; or by groups of queries with one key and one value (Falcon)."""
    tape, heads, width = run.tape, as_int(op.heads), as_int(op.head_dim)
    grouped, one = run.config.get("new_decoder_architecture"), run.config.get("multi_query", True)
    if run.style.turned != "once" or not (grouped or one):
        query, key, values = tape.split_by_head(value, heads, width)
        return query, key, values
    batch, tokens, every = value.shape
    groups = as_int(op.kv_heads)
    each = heads // groups
    whole = tape.note("split", value, result=value.view(value.shape, value.strides))
    step = (each + 2) * width
    query = whole.view((batch, tokens, groups, each, width), (tokens * every, every, step, width, 1))
    kept = [tape.pick(whole, (batch, tokens, groups, 1, width)) for _ in range(2)]
    if grouped:  # repeated for every query at once
        kept = [one.view((*one.shape[:3], each, width), (*one.strides[:3], 0, 1)) for one in kept]
    cut = [tape.reshape(one, batch, tokens, one.shape[2] * one.shape[3], width).transpose(1, 2) for one in (query, *kept)]
    return cut[0], cut[1], cut[2]


def _split_shards(run: ForwardPass, op: Any, value: Value) -> Queries:
    """Cut what one map gives into four shards, each with its queries, values and keys (CodeGen)."""
    tape, heads, width = run.tape, as_int(op.heads), as_int(op.head_dim)
    batch, tokens, every = value.shape
    whole = tape.note("split", value, result=value.view(value.shape, value.strides))
    inner = heads // SHARDS
    made = []
    for _ in range(3):
        shard = whole.view((batch, tokens, SHARDS, inner, width), (tokens * every, every, every // SHARDS, width, 1))
        made.append(tape.reshape(shard, batch, tokens, heads, width).transpose(1, 2))
    return made[0], made[2], made[1]


SHARDS = 4
