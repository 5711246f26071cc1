"""Forward passes on a tape: in which order a model's parts run, and where their values are added up.

The tree says which parts there are and how wide; what stands here is only the order, as in the ``forward`` methods of
transformers 5.23.0. Layers of one kind keep the same amount from the second on, so each kind is run twice at most.
"""

from __future__ import annotations

from weighbridge.accounts.memory.modules import (
    Ways,
    activate,
    attend_of,
    child,
    flat,
    fused_experts,
    gated_mlp,
    linear,
    norm,
    plain_mlp,
    project_qkv,
    required_child,
    rotary,
    router,
    scores,
    within,
)
from weighbridge.accounts.memory.tape import BOOL, FLOAT, INDEX, Segment, Tape, Value, whole
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Attend, Part, Tensor, copy_name, positions, walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from weighbridge.accounts.memory.styles import Style
    from weighbridge.core.sizes import Size


class ForwardPass(NamedTuple):
    """One forward pass: on which tape, how, of which model, on how many tokens.

    Attributes:
        style: What the tree does not tell of this model type.
        config: The config, for keys that change the forward and no tensor.
        lengths: Tokens of each named stream.
    """

    tape: Tape
    ways: Ways
    style: Style
    config: dict[str, Any]
    batch: int
    lengths: dict[str, int]

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
        name = str(self.setting("activation"))
        # T5 says whether its MLP is gated in the same word, and means another function by "gated-gelu"
        return "gelu_new" if name == "gated-gelu" else name.rpartition("-")[2]


def layers(
    run: ForwardPass, parts: list[Part], value: Value, layer: Callable[[Part, Value], Value], shared: tuple[Value, ...] = ()
) -> Value:
    """Run layers in the order of their numbers; what a layer keeps is measured until it repeats itself, then only counted.

    Args:
        parts: The layers, one part for each kind.
        value: What goes into the first.
        layer: Runs one.
        shared: What all of them see, such as rotary positions: the first to need them keeps them.
    """
    tape = run.tape
    known: dict[tuple[object, ...], tuple[Segment, bool, bool]] = {}
    layer_range(sum(len(positions(kind)) for kind in parts))  # refuses more than are looked at one by one
    copies = sorted(((index, kind) for kind in parts for index in positions(kind)), key=lambda copy: copy[0])
    for index, part in copies:
        state = (id(part), value.storage.held, value.grad, _trained_here(run, part, index), *(seen.storage.held for seen in shared))
        if state in known:
            segment, held, grad = known[state]
            segment.times += 1
            tape.idle += segment.cached
            for row in tape.rows[segment.start : segment.end]:
                row.times += 1
            value = Value(value.shape, value.size, grad=grad)
            value.storage.held, value.maker = held, segment.result
            continue
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
    return value


def _trained_here(run: ForwardPass, part: Part, index: int) -> object:
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
        return within(tape, copy_name(part.name, index), lambda: layer(part, value))
    within(tape, copy_name(part.name, index), lambda: tape.keep(value, "checkpoint"))
    tape.muted = True
    value = layer(part, value)
    tape.muted = False
    return value


def repeated_children(part: Part, name: str) -> list[Part]:
    """Return the repeated children of a name."""
    return [node for node in part.children if isinstance(node, Part) and node.name == name and node.repeat is not None]


def at(part: Part, path: str) -> Part:
    """Return the part at a dotted path below another."""
    for name in path.split("."):
        part = required_child(part, name)
    return part


def size_of(part: Part, axis: int) -> int:
    """Return one size of a part's first tensor."""
    tensor = part.children[0]
    assert isinstance(tensor, Tensor) and isinstance(tensor.shape[axis], int)
    return whole(tensor.shape[axis])


def wide(run: ForwardPass, table: Part, tokens: int, *index: Value) -> Value:
    """Look tokens up in a table; the inputs themselves are held by who made them."""
    ids = index[0] if index else Value((run.batch, tokens), INDEX, grad=False, held=True)
    return run.tape.lookup(ids, size_of(table, 1), run.ways.size, table)


# --- encoders after BERT: a norm after each half ---


def encoder(run: ForwardPass, body: Part) -> Value:
    """Run embeddings and layers of BERT and its kin."""
    tape, paths, seq = run.tape, run.style.paths, run.lengths["seq"]
    tables = required_child(body, "embeddings")
    words = wide(run, required_child(tables, "word_embeddings"), seq)
    tasks = () if child(tables, "task_type_embeddings") is None else ("each",)
    for kind, table in zip((*run.style.indices, *tasks), _index_tables(tables), strict=False):
        if tape.learns(table):
            tape.save(Value((1 if kind == "one" else run.batch, seq), INDEX), "embedding")
    words.grad = words.grad or any(tape.learns(part) for part in tables.children if isinstance(part, Part) and part.kind == "embedding")
    value = tape.drop(within(tape, "embeddings", lambda: norm(tape, required_child(tables, "LayerNorm"), words)))
    inside = at(body, paths["layers"].rpartition(".")[0])
    for mapped in (child(body, "embeddings_project"), child(inside, "embedding_hidden_mapping_in")):
        value = value if mapped is None else linear(tape, mapped, value)
    if run.style.relative:
        tape.moments.append((bucket_bytes(seq, both_ways=True), len(tape.rows)))
        if tape.learns(child(inside, "relative_attention_bias")):
            tape.save(Value((seq, seq), INDEX), "embedding")
    if run.style.shared:
        return _shared_layers(run, inside, value)
    return layers(
        run, repeated_children(inside, paths["layers"].rpartition(".")[2]), value, lambda part, value: encoder_layer(run, part, value)
    )


def _index_tables(tables: Part) -> list[Part | None]:
    """Return the tables beside that of words in the order in which indices are made: positions, types, tasks."""
    return [
        child(tables, name)
        for name in ("position_embeddings", "token_type_embeddings", "task_type_embeddings")
        if child(tables, name) is not None
    ]


def _shared_layers(run: ForwardPass, inside: Part, value: Value) -> Value:
    """Run ALBERT's groups of layers, each of them as often as it stands for."""
    group = repeated_children(inside, "albert_layer_groups")[0]
    inner = repeated_children(group, "albert_layers")[0]
    assert isinstance(group.executions, int) and isinstance(inner.repeat, int)
    times = group.executions * inner.repeat
    runs = Part("layer", inner.children, "layer", repeat=times, executions=times)
    return layers(run, [runs], value, lambda part, value: encoder_layer(run, part, value))


def encoder_layer(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run attention and two linear maps, each half added to what it was given and normalised."""
    tape, paths = run.tape, run.style.paths
    query, key, values = project_qkv(tape, at(part, paths["projections"]), value)
    mixed = scores(tape, run.ways, query, key, values)
    attended = tape.drop(linear(tape, at(part, paths["out"]), mixed), "attended")
    value = norm(tape, at(part, paths["first"]), tape.add(attended, value))
    inner = tape.drop(plain_mlp(tape, at(part, paths["up"]), at(part, paths["down"]), value, run.activation), "inner")
    return norm(tape, at(part, paths["second"]), tape.add(inner, value))


# --- decoders: a norm before each half, or after, or both ---


def gpt2(run: ForwardPass, body: Part) -> Value:
    """Run GPT-2: token and position embeddings, and layers with one map for queries, keys and values."""
    tape, seq = run.tape, run.lengths["seq"]
    value = wide(run, required_child(body, "wte"), seq)
    if tape.learns(required_child(body, "wpe")):
        tape.save(Value((1, seq), INDEX), "embedding")
        value.grad = True
    value = layers(run, repeated_children(body, "h"), tape.drop(value, "embedding"), lambda part, value: gpt2_layer(run, part, value))
    return norm(tape, required_child(body, "ln_f"), value)


def gpt2_layer(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run one layer of GPT-2."""
    tape, attention, mlp = run.tape, required_child(part, "attn"), required_child(part, "mlp")
    op = attend_of(attention)
    fused = linear(tape, required_child(attention, "c_attn"), norm(tape, required_child(part, "ln_1"), value))
    width = op.kv_heads * op.head_dim
    query, key, values = tape.split(fused, op.heads * op.head_dim, width, width)
    query = tape.heads(query, op.heads, op.head_dim)
    key, values = (put_in_cache(run, tape.heads(kept, op.kv_heads, op.head_dim)) for kept in (key, values))
    if run.ways.attention == "eager" and run.config.get("reorder_and_upcast_attn"):
        query, key = tape.cast(query, FLOAT), tape.cast(key, FLOAT)
    mixed = scores(tape, run.ways, query, key, values)
    value = tape.add(value, tape.drop(linear(tape, required_child(attention, "c_proj"), mixed)))
    inner = plain_mlp(
        tape, required_child(mlp, "c_fc"), required_child(mlp, "c_proj"), norm(tape, required_child(part, "ln_2"), value), run.activation
    )
    return tape.add(value, tape.drop(inner))


def decoder(run: ForwardPass, body: Part) -> Value:
    """Run Llama and its kin: embeddings, layers with rotary positions, and a last norm."""
    tape, seq = run.tape, run.lengths["seq"]
    value = tape.drop(wide(run, required_child(body, "embed_tokens"), seq), "embedding")
    parts = repeated_children(body, "layers")
    if run.style.two_turns or run.ways.attention == "sdpa":
        parts = [half for part in parts for half in _by_window(part)]
    unturned = unturned_layers(run)
    parts = [half for part in parts for half in _by_place(part, unturned)]
    turns: dict[object, tuple[Value, Value]] = {}
    for part in parts:
        op = attend_of(required_child(part, "self_attn"))
        width = _rotary_width(run, op)
        kind = turn_of(run, op)
        if kind not in turns:
            size = FLOAT if run.style.wide_rotary else run.ways.size
            cos, sin = (Value((1, 1, seq, width), size, grad=False) for _ in range(2))
            turns[kind] = cos, sin

    def layer(part: Part, value: Value) -> Value:
        turned = not unturned or positions(part)[0] not in unturned
        return decoder_layer(run, part, value, *(turns[turn_of(run, attend_of(required_child(part, "self_attn")))] if turned else ()))

    shared = tuple(turn for pair in turns.values() for turn in pair)
    value = layers(run, parts, value, layer, shared)
    return norm(tape, required_child(body, "norm"), value, run.style.gain)


def is_masked(run: ForwardPass, op: Any) -> bool:
    """Say whether a mask is made: of a window that the text fills, or where tokens look both ways; SDPA itself knows one that is causal."""
    if run.ways.attention != "sdpa":
        return False
    both_ways = run.style.two_ways and run.config.get("use_bidirectional_attention")
    return bool(both_ways) or (isinstance(op.window, int) and op.windowed != 0 and run.lengths["seq"] >= op.window)


def put_in_cache(run: ForwardPass, value: Value) -> Value:
    """Join keys or values to an empty cache, which copies them, unless the config wants none."""
    if not run.ways.cached:
        return value
    run.tape.cached.append(run.tape.concatenate(value))
    return run.tape.cached[-1]


def _by_window(part: Part) -> list[Part]:
    """Cut layers, of which only some have a window, into those and the others; in which order they run changes no sum."""
    attention = required_child(part, "self_attn")
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
        return whole(op.head_dim)
    rope = run.config.get("rope_parameters")
    factor = rope.get("partial_rotary_factor") if isinstance(rope, dict) else None
    width = int(op.head_dim * (run.config.get("partial_rotary_factor", 1.0) if factor is None else factor))
    return width + width % 2  # angles are worked out for pairs


def decoder_layer(run: ForwardPass, part: Part, value: Value, *turn: Value) -> Value:
    """Run attention, turned by the cosine and the sine of positions if there is a *turn*, and an MLP or experts; norms before, after or both."""
    tape = run.tape

    def normalize(name: str, value: Value) -> Value:
        found = child(part, name)
        return value if found is None else norm(tape, found, value, run.style.gain)

    sandwiched = child(part, "pre_feedforward_layernorm") is not None
    after = sandwiched or child(part, "input_layernorm") is None
    attended = causal_attention(run, required_child(part, "self_attn"), normalize("input_layernorm", value), *turn)
    value = tape.add(value, tape.drop(normalize("post_attention_layernorm", attended) if after else attended))
    inner = normalize("pre_feedforward_layernorm" if sandwiched else "" if after else "post_attention_layernorm", value)
    inner = feed_forward(run, required_child(part, "mlp"), inner)
    return tape.add(value, tape.drop(normalize("post_feedforward_layernorm", inner)))


def causal_attention(run: ForwardPass, part: Part, value: Value, *turn: Value) -> Value:
    """Run attention with rotary positions, and norms on queries and keys where they are."""
    tape, op = run.tape, attend_of(part)
    return within(tape, part.name, lambda: _causal_attention(run, part, op, value, *turn))


def _causal_attention(run: ForwardPass, part: Part, op: Any, value: Value, *turn: Value) -> Value:
    tape = run.tape
    query, key, values = _causal_projections(run, part, op, value)
    if turn:
        cos, sin = turn
        query, key = (rotary(tape, value, cos, sin, cos.shape[-1], joined=run.style.joined_rotary) for value in (query, key))
    key, values = put_in_cache(run, key), put_in_cache(run, values)
    capped, masked = run.setting("capped") is not None, is_masked(run, op)
    mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, capped=capped, masked=masked)
    return linear(tape, required_child(part, "o_proj", "dense", "out_proj"), mixed)


def _causal_projections(run: ForwardPass, part: Part, op: Any, value: Value) -> tuple[Value, Value, Value]:
    """Make queries, keys and values; a norm on them sees each head, or all of them before they are cut apart."""
    tape, widths = run.tape, (op.heads * op.head_dim, op.kv_heads * op.head_dim, op.kv_heads * op.value_dim)
    fused = child(part, "qkv_proj")
    if fused is not None:
        query, key, values = tape.split(linear(tape, fused, value), *widths)
    else:
        query, key, values = (linear(tape, required_child(part, name), value) for name in ("q_proj", "k_proj", "v_proj"))
    made = [query, key]
    for place, (names, heads) in enumerate(((("q_norm", "query_layernorm"), op.heads), (("k_norm", "key_layernorm"), op.kv_heads))):
        found = child(part, *names)
        whole = found is not None and (run.style.whole_norms or (heads > 1 and _gain_width(found) == heads * op.head_dim))
        if found is not None and whole:
            made[place] = norm(tape, found, made[place], run.style.gain)
        made[place] = tape.heads(made[place], heads, op.head_dim)
        if found is not None and not whole:
            last = run.style.normed_last or run.style.gain == "shifted"
            inner = made[place] if last else made[place].transpose(1, 2)
            inner = norm(tape, found, inner, run.style.gain)
            made[place] = inner if last else inner.transpose(1, 2)
    return made[0], made[1], tape.heads(values, op.kv_heads, op.value_dim)


def _gain_width(part: Part) -> Size | None:
    """Return the width of a norm, by its weight."""
    return next((node.shape[-1] for node in part.children if isinstance(node, Tensor)), None)


def feed_forward(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run an MLP, or a mixture of experts."""
    tape = run.tape
    return within(tape, part.name, lambda: _feed_forward(run, part, value))


def _feed_forward(run: ForwardPass, part: Part, value: Value) -> Value:
    tape, experts = run.tape, child(part, "experts")
    if experts is None:
        if child(part, "gate_proj", "gate_up_proj") is None:
            return plain_mlp(
                tape,
                required_child(part, "up_proj", "fc1", "c_fc"),
                required_child(part, "down_proj", "fc2", "c_proj"),
                value,
                run.activation,
            )
        return gated_mlp(tape, part, value, run.activation)
    rows, shared = flat(tape, value), child(part, "shared_expert")
    beside = gated_mlp(tape, shared, rows, run.activation) if shared is not None else None
    gate, active = required_child(part, "gate", "router"), whole(experts.active or 1)
    shares = router(tape, gate, rows, active, bool(run.setting("normed")), run.style.wide_router)
    mixed = within(tape, experts.name, lambda: fused_experts(tape, experts, rows, shares, run.activation))
    if beside is not None:
        share = tape.by_result(linear(tape, required_child(part, "shared_expert_gate"), rows), "sigmoid")
        mixed = tape.add(mixed, tape.multiply(share, beside))
    return tape.reshape(mixed, *value.shape)


# --- encoder and decoder ---


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

    value = layers(run, blocks, value, block, shared)
    return tape.drop(norm(tape, required_child(stack, "final_layer_norm"), value, run.style.gain))


def bucket_bytes(tokens: int, *, both_ways: bool) -> int:
    """Return the bytes of distances of tokens and the buckets that they fall into: six tables of indices at once, five where tokens look back alone."""
    return ((6 if both_ways else 5) * INDEX + BOOL) * tokens**2


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
        mixed = scores(tape, run.ways, query, key, values, bias=biases[0] if crossed is None else None)
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
    if child(body, "encoder") is None:
        alone = child(body, "decoder") or body
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
    width = _last_width(stack)
    tables = (child(stack, "embed_tokens"), child(stack, "embed_positions"))
    learns = any(tape.learns(table) for table in tables)
    value = tape.note("embedding", result=Value((run.batch, tokens, width), run.ways.size, grad=learns))
    kind = style.indices[decoder or memory is not None] if style.indices else ""
    if kind and tape.learns(tables[1]):
        tape.save(Value((1 if kind == "one" else run.batch, tokens), INDEX), "embedding")
    first, last = child(stack, "layernorm_embedding"), child(stack, "layer_norm")
    value = tape.drop(value if first is None else norm(tape, first, value))
    value = layers(
        run,
        repeated_children(stack, "layers"),
        value,
        lambda part, value: bart_layer(run, part, value, memory),
        () if memory is None else (memory,),
    )
    return value if last is None else norm(tape, last, value)


def _last_width(stack: Part) -> int:
    norm_part = required_child(repeated_children(stack, "layers")[0], "final_layer_norm")
    return size_of(norm_part, 0)


def bart_layer(run: ForwardPass, part: Part, value: Value, memory: Value | None) -> Value:
    """Run one layer, with norms before each part of it or after."""
    tape, before = run.tape, run.style.before

    def half(value: Value, name: str, inner: Callable[[Value], Value]) -> Value:
        found = required_child(part, name)
        result = tape.add(value, tape.drop(inner(norm(tape, found, value) if before else value)))
        return result if before else norm(tape, found, result)

    def attention(name: str, seen: Value | None) -> Callable[[Value], Value]:
        def inner(value: Value) -> Value:
            held = required_child(part, name)
            query, key, values = project_qkv(tape, held, value, seen)
            key, values = (put_in_cache(run, kept) if memory is not None else kept for kept in (key, values))
            query = tape.contiguous(query) if run.style.packed else query
            return linear(tape, required_child(held, "out_proj"), scores(tape, run.ways, query, key, values))

        return inner

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
    wave = tape.note("conv1d", result=Value((run.batch, width, frames), run.ways.size))
    wave = tape.by_input(wave, "gelu")
    tape.save(wave, "conv1d")
    half = Value((run.batch, width, (frames + 1) // 2), run.ways.size)
    wave = tape.by_input(tape.note("conv1d", wave, result=half), "gelu")
    value = tape.drop(tape.add(wave.transpose(1, 2)))
    value = layers(run, repeated_children(stack, "layers"), value, lambda part, value: bart_layer(run, part, value, None))
    memory = norm(tape, required_child(stack, "layer_norm"), value)
    found = child(body, "decoder")
    return memory if found is None else bart_stack(run, found, run.lengths["decoder"], memory)


# --- images ---


def vit(run: ForwardPass, body: Part) -> Value:
    """Run ViT: patches and a class token, and layers with a norm before each half."""
    tape = run.tape
    found = repeated_children(body, "layers")
    width = size_of(required_child(found[0], "layernorm_before"), 0)
    value = tape.drop(
        tape.note("conv2d", result=Value((run.batch, run.lengths["image"], width), run.ways.size, grad=_any_outside(tape, body, found)))
    )
    value = layers(run, found, value, lambda part, value: vit_layer(run, part, value))
    return norm(tape, required_child(body, "layernorm"), value)


def _any_outside(tape: Tape, body: Part, layers: list[Part]) -> bool:
    """Tell whether anything before the layers is trained."""
    before = [
        part for child in body.children if isinstance(child, Part) and child.kind in ("embedding", "embeddings") for _, part in walk(child)
    ]
    return tape.trained is None or any(tape.learns(part) for part in before)


def vit_layer(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run one layer of ViT."""
    tape, attention, mlp = run.tape, required_child(part, "attention"), required_child(part, "mlp")
    query, key, values = project_qkv(tape, attention, norm(tape, required_child(part, "layernorm_before"), value))
    mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax)
    value = tape.add(tape.drop(linear(tape, required_child(attention, "o_proj"), mixed)), value)
    inner = norm(tape, required_child(part, "layernorm_after"), value)
    return tape.add(tape.drop(plain_mlp(tape, required_child(mlp, "fc1"), required_child(mlp, "fc2"), inner, run.activation)), value)


FORWARDS: dict[str, Callable[[ForwardPass, Part], Value]] = {
    "encoder": encoder, "gpt2": gpt2, "decoder": decoder, "t5": t5, "bart": bart, "whisper": whisper, "vit": vit,
}  # fmt: skip
