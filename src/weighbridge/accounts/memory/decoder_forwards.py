"""Forward passes of decoders: a norm before each half, or after, or both.

Source: the ``forward`` methods of transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.experts import (
    bounded_router,
    flatten_tokens,
    fused_experts,
    grouped_router,
    limited_router,
    router,
    top_router,
)
from weighbridge.accounts.memory.forward_pass import ForwardPass, embedding, layers, put_in_cache, repeated_children, size_of
from weighbridge.accounts.memory.modules import (
    attend_of,
    child,
    gated_mlp,
    linear,
    norm,
    plain_mlp,
    required_child,
    rotary,
    run_module,
    scores,
)
from weighbridge.accounts.memory.styles import local_window
from weighbridge.accounts.memory.values import FLOAT, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.sizes import as_int, layer_range
from weighbridge.core.tree import Attend, Part, Tensor, positions

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.accounts.memory.tape import Tape
    from weighbridge.core.sizes import Size


def decoder(run: ForwardPass, body: Part) -> Value:
    """Run Llama and its kin: embeddings, layers with rotary positions, and a last norm."""
    tape, seq = run.tape, run.lengths["seq"]
    tables = child(body, "embeddings") or body
    value = embedding(run, required_child(tables, "embed_tokens", "embed_in", "tok_embeddings"), seq)
    first = child(tables, "norm") if tables is not body else None
    value = tape.drop(value if first is None else norm(tape, first, value), "embedding")
    parts = repeated_children(body, "layers")
    if run.style.local:
        parts = [half for part in parts for half in _by_kind(run, part)]
    elif run.style.two_turns or run.ways.attention == "sdpa":
        parts = [half for part in parts for half in _by_window(part)]
    unturned = unturned_layers(run)
    parts = [half for part in parts for half in _by_place(part, unturned)]
    turns: dict[object, tuple[Value, ...]] = {}
    for part in parts:
        attention = required_child(part, *ATTENTION)
        op = attend_of(attention)
        width = latent_turn(attention) if child(attention, "kv_a_proj_with_mqa") is not None else _rotary_width(run, op)
        kind = turn_of(run, op)
        if kind not in turns:
            turns[kind] = _angles(run, width)

    def layer(part: Part, value: Value) -> Value:
        turned = not unturned or positions(part)[0] not in unturned
        turn = turns[turn_of(run, attend_of(required_child(part, *ATTENTION)))] if turned else ()
        if turn and run.style.interleaved:  # every layer makes angles of its own out of those that it is given
            turn = _angles(run, turn[0].shape[-1])
        return decoder_layer(run, part, value, *turn)

    shared = () if run.style.interleaved else tuple(turn for angles in turns.values() for turn in angles)
    value = layers(run, parts, value, layer, shared)
    if run.style.bare_norms:
        return bare_norm(tape, value)
    return norm(tape, required_child(body, "norm", "final_layernorm", "final_layer_norm", "final_norm"), value, run.style.gain)


ATTENTION = ("self_attn", "attention", "attn")
FEED_FORWARD = ("mlp", "block_sparse_moe", "feed_forward")


def _angles(run: ForwardPass, width: int) -> tuple[Value, ...]:
    """Make the cosines and sines of all positions, or complex numbers that are both."""
    if run.style.complex_rotary:
        return (Value((1, 1, run.lengths["seq"], width // 2), 2 * FLOAT, grad=False),)
    size = FLOAT if run.style.wide_rotary else run.ways.size
    examples = run.batch if run.style.turned == "each" else 1
    return tuple(Value((examples, 1, run.lengths["seq"], width), size, grad=False) for _ in range(2))


def bare_norm(tape: Tape, value: Value) -> Value:
    """Normalize in float32, with nothing to learn (OLMo)."""
    return tape.cast(tape.layer_norm(tape.cast(value, FLOAT), Part("norm", ())), value.size)


def is_masked(run: ForwardPass, op: Any) -> bool:
    """Say whether a mask is made: of a window that the text fills, or where tokens look both ways; SDPA itself knows one that is causal."""
    if run.ways.attention != "sdpa":
        return False
    both_ways = run.style.two_ways and run.config.get("use_bidirectional_attention")
    return bool(both_ways) or (isinstance(op.window, int) and op.windowed != 0 and run.fills(op.window))


def _by_window(part: Part) -> list[Part]:
    """Cut layers, of which only some have a window, into those and the others; in which order they run changes no sum."""
    attention = required_child(part, *ATTENTION)
    op = attend_of(attention)
    limited = op.windowed
    if op.window is None or not isinstance(limited, int) or not isinstance(part.repeat, int) or limited == part.repeat:
        return [part]
    if not limited:
        return [_with_window(part, attention, None)]
    layer_range(part.repeat)
    places = tuple(positions(part))
    first = part._replace(repeat=limited, indices=places[:limited])
    return [first, _with_window(part._replace(repeat=part.repeat - limited, indices=places[limited:]), attention, None)]


def _by_kind(run: ForwardPass, part: Part) -> list[Part]:
    """Cut layers into those that see a window and the others, as ``layer_types`` says, or else every so many sees all (ModernBERT)."""
    kinds, every = run.config.get("layer_types"), run.config.get("global_attn_every_n_layers", 3)
    places = positions(part)
    seen = frozenset(place for place in places if (kinds[place] == "sliding_attention" if kinds else place % every != 0))
    window = local_window(run.config.get("model_type"), run.config)
    attention = required_child(part, *ATTENTION)
    halves = _by_place(part, seen) if len(places) else []
    return [_with_window(half, attention, window if positions(half)[0] in seen else None) for half in halves]


def unturned_layers(run: ForwardPass) -> frozenset[int]:
    """Return the layers whose queries and keys are not turned by their positions, in types that leave some out (SmolLM3)."""
    if not run.style.unturned:
        return frozenset()
    stated, every = run.config.get("no_rope_layers"), run.config.get("no_rope_layer_interval", 4)
    count = run.config.get("num_hidden_layers", 36)
    turned = stated or [(index + 1) % every for index in range(layer_range(count).stop)]
    return frozenset(index for index, found in enumerate(turned) if not found)


def _by_place(part: Part, chosen: frozenset[int]) -> list[Part]:
    """Cut layers into those at chosen places and the others."""
    places = tuple(positions(part)) if chosen else ()
    halves = [tuple(place for place in places if (place in chosen) is within) for within in (False, True)]
    return [part._replace(repeat=len(half), indices=half) for half in halves if half] or [part]


def _with_window(part: Part, attention: Part, window: int | None) -> Part:
    plain = tuple(node._replace(window=window, windowed=None) if isinstance(node, Attend) else node for node in attention.children)
    changed = attention._replace(children=plain)
    return part._replace(children=tuple(changed if node is attention else node for node in part.children))


def turn_of(run: ForwardPass, op: Any) -> object:
    """Tell layers apart that turn by angles of their own: those with a window, in types that give them another base."""
    return op.head_dim, run.style.two_turns and op.window is not None


def _rotary_width(run: ForwardPass, op: Any) -> int:
    """Return how many elements of a head turn with the position."""
    if not run.style.joined_rotary:
        return as_int(op.head_dim) // (2 if run.style.half_angles else 1)
    rope = run.config.get("rope_parameters")
    factor = rope.get("partial_rotary_factor") if isinstance(rope, dict) else None
    key = run.style.rotary_key
    width = int(op.head_dim * (run.config.get(key, run.style.rotary_share) if factor is None else factor))
    return width + width % 2  # angles are worked out for pairs


def decoder_layer(run: ForwardPass, part: Part, value: Value, *turn: Value) -> Value:
    """Run attention, turned by the cosine and the sine of positions if there is a *turn*, and an MLP or experts; norms before, after or both."""
    tape = run.tape
    before, after, before_mlp, after_mlp = _norm_names(part)

    def normalize(name: str, value: Value) -> Value:
        if run.style.bare_norms:
            return bare_norm(tape, value) if name else value
        found = child(part, name)
        return value if found is None else norm(tape, found, value, run.style.gain)

    attention = required_child(part, *ATTENTION)
    masks = _masks_of(part, attend_of(attention))
    normed = normalize(before, value)
    attended = tape.drop(normalize(after, causal_attention(run, attention, normed, *turn, masks=masks)), "attended")
    parallel = _is_parallel(run, part)
    added = value if parallel else tape.add(value, attended)
    # beside attention an MLP sees what attention does, or the same through a norm of its own
    given = normed if parallel and child(part, before_mlp) is None else normalize(before_mlp, added)
    inner = tape.drop(normalize(after_mlp, feed_forward(run, required_child(part, *FEED_FORWARD), given)))
    return tape.add(tape.add(inner, attended), value) if parallel else tape.add(added, inner)


def _norm_names(part: Part) -> tuple[str, str, str, str]:
    """Name the norms of a layer: before and after attention, before and after the MLP; those that it lacks are not found."""
    telling = next((names for name, names in NORMS.items() if child(part, name) is not None), None)
    return telling or ("input_layernorm", "", "post_attention_layernorm", "")


SANDWICH = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
NORMS = {
    "mlp_norm": ("attn_norm", "", "mlp_norm", ""),
    "post_self_attn_layernorm": ("input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"),
    "post_norm1": ("input_layernorm", "post_norm1", "post_attention_layernorm", "post_norm2"),
    "pre_feedforward_layernorm": SANDWICH,
    "post_feedforward_layernorm": SANDWICH,
}
"""By a norm that only these families have: the norms of a layer that has them after its halves too; all others have them before alone."""


def _is_parallel(run: ForwardPass, part: Part) -> bool:
    """Say whether attention and MLP are run side by side: as the config says, or where there is but one norm for both."""
    if run.style.parallel is not None:
        return bool(run.config.get("use_parallel_residual", run.style.parallel))
    after = child(part, "post_attention_layernorm", "pre_feedforward_layernorm")
    return child(part, "input_layernorm") is not None and after is None


def causal_attention(run: ForwardPass, part: Part, value: Value, *turn: Value, masks: tuple[str, ...] = ("text",)) -> Value:
    """Run attention with rotary positions, and norms on queries and keys where they are."""
    tape, op = run.tape, attend_of(part)
    return run_module(tape, part.name, lambda: _causal_attention(run, part, op, value, *turn, masks=masks))


def _masks_of(layer: Part, op: Any) -> tuple[str, ...]:
    """Name the masks that layers are given: that of the whole text, that of a window, or either in some of them."""
    if not op.causal:
        return ()
    if op.window is None or op.windowed == 0:
        return ("text",)
    return ("window",) if op.windowed is None or op.windowed == layer.repeat else ("text", "window")


def _causal_attention(run: ForwardPass, part: Part, op: Any, value: Value, *turn: Value, masks: tuple[str, ...]) -> Value:
    tape = run.tape
    sinks = next((node for node in part.children if isinstance(node, Tensor) and node.name == "sinks"), None)
    if child(part, "kv_a_proj_with_mqa") is not None:
        query, key, values = latent_projections(run, part, op, value, *turn)
        mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, causal=masks)
        return linear(tape, required_child(part, "o_proj"), mixed)
    query, key, values = _causal_projections(run, part, op, value)
    if turn:
        width = None if run.style.half_angles or run.style.complex_rotary else turn[0].shape[-1]
        query, key = (rotary(tape, value, turn, width, joined=run.style.joined_rotary) for value in (query, key))
    if run.style.scaled_queries:
        query = tape.multiply(query, Value((1, 1, query.shape[2], 1), query.size, grad=False))
    key, values = (put_in_cache(run, kept) if op.causal or run.style.cached else kept for kept in (key, values))
    capped, masked = run.setting("capped") is not None, is_masked(run, op)
    mixed = scores(
        tape,
        run.ways,
        query,
        key,
        values,
        wide=run.style.wide_softmax and sinks is None,
        capped=capped,
        masked=masked,
        causal=masks,
        sink=sinks is not None,
    )
    return linear(tape, required_child(part, "o_proj", "dense", "out_proj", "Wo"), mixed)


def latent_projections(run: ForwardPass, part: Part, op: Any, value: Value, *turn: Value) -> tuple[Value, Value, Value]:
    """Make queries, keys and values of what both are compressed to, which is what a cache keeps (DeepSeek-V2 and V3)."""
    tape, batch, tokens = run.tape, value.shape[0], value.shape[1]
    rank, turned = size_of(required_child(part, "kv_a_layernorm"), 0), latent_turn(part)
    low = child(part, "q_a_proj")
    if low is None:
        wide = linear(tape, required_child(part, "q_proj"), value)
    else:
        thin = norm(tape, required_child(part, "q_a_layernorm"), linear(tape, low, value), run.style.gain)
        wide = linear(tape, required_child(part, "q_b_proj"), thin)
    query = tape.heads(wide, op.heads, op.head_dim)
    compressed, place = tape.split(linear(tape, required_child(part, "kv_a_proj_with_mqa"), value), rank, turned)
    compressed = norm(tape, required_child(part, "kv_a_layernorm"), compressed, run.style.gain)
    place = tape.heads(place, 1, turned)
    if turn:
        query = rotary(tape, query, turn, turned, joined=True)
        place = rotary(tape, place, turn)
    compressed, place = put_in_cache(run, tape.reshape(compressed, batch, 1, tokens, rank)), put_in_cache(run, place)
    both = linear(tape, required_child(part, "kv_b_proj"), compressed)
    both = tape.heads(tape.reshape(both, batch, tokens, both.shape[-1]), op.heads, op.head_dim - turned + op.value_dim)
    _, values = tape.split(both, op.head_dim - turned, op.value_dim)
    key = tape.note("copy", both, place, result=Value((batch, op.heads, tokens, op.head_dim), value.size, grad=both.grad or place.grad))
    return query, key, values


def latent_turn(part: Part) -> int:
    """Return how many elements of a query are turned, beside latent keys and values."""
    down = next(node for node in required_child(part, "kv_a_proj_with_mqa").children if isinstance(node, Tensor))
    return as_int(down.shape[0]) - size_of(required_child(part, "kv_a_layernorm"), 0)


def _causal_projections(run: ForwardPass, part: Part, op: Any, value: Value) -> tuple[Value, Value, Value]:
    """Make queries, keys and values; a norm on them sees each head, or all of them before they are cut apart."""
    tape, widths = run.tape, (op.heads * op.head_dim, op.kv_heads * op.head_dim, op.kv_heads * op.value_dim)
    fused, joined = child(part, "qkv_proj", "Wqkv"), child(part, "query_key_value")
    if joined is not None:
        query, key, values = tape.split_by_head(linear(tape, joined, value), op.heads, op.head_dim)
    elif fused is not None:
        query, key, values = tape.split(linear(tape, fused, value), *widths)
    else:
        query, key, values = (linear(tape, required_child(part, name), value) for name in ("q_proj", "k_proj", "v_proj"))
    if run.config.get("clip_qkv") is not None and run.style.clipped:
        for clamped in (query, key, values):  # clamped in place: what it was is copied
            tape.save(Value(clamped.shape, clamped.size, grad=clamped.grad), "clamp")
    made = [query, key]
    for place, (names, heads) in enumerate(((QUERY_NORMS, op.heads), (KEY_NORMS, op.kv_heads))):
        found = child(part, *names)
        whole = found is not None and (run.style.whole_norms or (heads > 1 and _gain_width(found) == heads * op.head_dim))
        if found is not None and whole:
            made[place] = norm(tape, found, made[place], run.style.gain)
        made[place] = made[place] if joined is not None else tape.heads(made[place], heads, op.head_dim)
        if found is not None and not whole:
            last = run.style.normed_last or run.style.gain == "shifted"
            inner = made[place] if last else made[place].transpose(1, 2)
            inner = norm(tape, found, inner, run.style.gain)
            made[place] = inner if last else inner.transpose(1, 2)
    return made[0], made[1], values if joined is not None else tape.heads(values, op.kv_heads, op.value_dim)


QUERY_NORMS, KEY_NORMS = ("q_norm", "query_layernorm", "q_layernorm"), ("k_norm", "key_layernorm", "k_layernorm")


def _gain_width(part: Part) -> Size | None:
    """Return the width of a norm, by its weight."""
    return next((node.shape[-1] for node in part.children if isinstance(node, Tensor)), None)


def feed_forward(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run an MLP, or a mixture of experts."""
    tape = run.tape
    return run_module(tape, part.name, lambda: _feed_forward(run, part, value))


def _feed_forward(run: ForwardPass, part: Part, value: Value) -> Value:
    tape, experts = run.tape, child(part, "experts")
    if experts is None:
        if child(part, "gate_proj", "gate_up_proj", "Wi") is None:
            return plain_mlp(
                tape,
                required_child(part, "up_proj", "fc1", "c_fc", "dense_h_to_4h"),
                required_child(part, "down_proj", "fc2", "c_proj", "dense_4h_to_h"),
                value,
                run.activation,
            )
        return gated_mlp(tape, part, value, run.activation)
    rows, shared = flatten_tokens(tape, value), child(part, "shared_expert", "shared_experts")
    beside = gated_mlp(tape, shared, rows, run.activation) if shared is not None else None
    shares = _shares(run, required_child(part, "gate", "router"), rows, as_int(experts.active or 1))
    mixed = run_module(tape, experts.name, lambda: fused_experts(tape, experts, rows, shares, run.activation))
    if beside is not None and child(part, "shared_expert_gate") is None:
        mixed = tape.add(mixed, beside)
    elif beside is not None:
        share = tape.by_result(linear(tape, required_child(part, "shared_expert_gate"), rows), "sigmoid")
        mixed = tape.add(mixed, tape.multiply(share, beside))
    return tape.reshape(mixed, *value.shape)


def _shares(run: ForwardPass, gate: Part, rows: Value, active: int) -> Value:
    """Choose experts as the type does, and return the shares of the chosen."""
    if run.style.router == "groups":
        groups, chosen = as_int(run.setting("groups")), as_int(run.setting("chosen"))
        return grouped_router(run.tape, gate, rows, active, groups, chosen, bool(run.setting("normed")))
    if run.style.router == "limited":
        limited = run.config.get("topk_method") == "group_limited_greedy"
        groups, chosen = (as_int(run.setting(name) or 1) for name in ("groups", "chosen"))
        return limited_router(run.tape, gate, rows, active, groups, chosen, limited)
    if run.style.router == "bounded":
        return bounded_router(run.tape, gate, rows, active)
    if run.style.router == "top":
        return top_router(run.tape, gate, rows, active, run.style.wide_router)
    return router(run.tape, gate, rows, active, bool(run.setting("normed")), run.style.wide_router, run.style.float_router)
