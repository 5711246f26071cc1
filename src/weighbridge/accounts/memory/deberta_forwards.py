"""The forward pass of DeBERTa v2 and v3: attention whose scores are added up from words and from distances.

Source: models/deberta_v2/modeling_deberta_v2.py of transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import ForwardPass, embedding, layers, repeated_children, size_of
from weighbridge.accounts.memory.modules import activate, attend_of, child, linear, norm, plain_mlp, required_child, side_by_side
from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, positions

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.accounts.memory.tape import Tape


def deberta(run: ForwardPass, body: Part) -> Value:
    """Run embeddings and layers, which are all given one table of relative positions; a convolution after the first, if there is one."""
    seq = run.lengths["seq"]
    padding = Value((run.batch, seq, 1), FLOAT, grad=False)
    value = _embeddings(run, required_child(body, "embeddings"), seq, padding)
    stack = required_child(body, "encoder")
    table, conv = _relative_table(run, stack), child(stack, "conv")
    mask = Value((run.batch, 1, seq, seq), FLOAT, grad=False)
    for part in repeated_children(stack, "layer"):
        for half in [part] if conv is None else _first_apart(part):
            given, shared = value, () if table is None else (table,)
            value = layers(run, [half], given, lambda part, value: deberta_layer(run, part, value, table), shared, ((mask,), ()))
            if conv is not None and positions(half)[0] == 0:
                value = _convolve(run, conv, given, value, padding)
    return value


def _first_apart(part: Part) -> list[Part]:
    places = tuple(positions(part))
    return [part._replace(repeat=len(half), indices=half) for half in (places[:1], places[1:]) if half]


def _embeddings(run: ForwardPass, part: Part, seq: int, padding: Value) -> Value:
    """Add up what is there of words, positions and types, map it, normalize it, and clear what pads a text."""
    tape = run.tape
    value = embedding(run, required_child(part, "word_embeddings"), seq)
    types, mapped = child(part, "token_type_embeddings"), child(part, "embed_proj")
    if types is not None and tape.learns(types):
        tape.save(Value((run.batch, seq), INDEX), "embedding")
    value.grad = value.grad or any(tape.learns(table) for table in (types, child(part, "position_embeddings")) if table is not None)
    value = value if mapped is None else linear(tape, mapped, value)
    value = norm(tape, required_child(part, "LayerNorm"), value)
    return tape.drop(tape.multiply(value, tape.cast(padding, value.size)))


def _relative_table(run: ForwardPass, stack: Part) -> Value | None:
    """Return the table of relative positions, normalized where the type does so; the table itself is held."""
    table = child(stack, "rel_embeddings")
    if table is None:
        return None
    rows = Value((1, size_of(table, 0), size_of(table, 1)), run.ways.size, grad=run.tape.learns(table), held=True)
    inner = child(stack, "LayerNorm")
    return rows if inner is None else norm(run.tape, inner, rows)


def deberta_layer(run: ForwardPass, part: Part, value: Value, table: Value | None) -> Value:
    """Run attention and two linear maps, each half added to what it was given and normalized."""
    tape, attention = run.tape, required_child(part, "attention")
    out = required_child(attention, "output")
    mixed = _attend(run, required_child(attention, "self"), value, table)
    attended = tape.drop(linear(tape, required_child(out, "dense"), mixed))
    value = norm(tape, required_child(out, "LayerNorm"), tape.add(attended, value))
    up, down = required_child(part, "intermediate"), required_child(part, "output")
    inner = tape.drop(plain_mlp(tape, required_child(up, "dense"), required_child(down, "dense"), value, run.activation))
    return norm(tape, required_child(down, "LayerNorm"), tape.add(inner, value))


def _attend(run: ForwardPass, part: Part, value: Value, table: Value | None) -> Value:
    """Attend by words, by words and distances, and by distances and words; what is masked is filled in, by a mask of each layer's own."""
    tape, op = run.tape, attend_of(part)
    query, key, values = (_heads(tape, op, linear(tape, required_child(part, f"{name}_proj"), value)) for name in ("query", "key", "value"))
    raw = tape.matmul(query, _divide(tape, key.transpose(1, 2)))
    if table is not None:
        raw = tape.add(raw, _distances(run, part, op, query, key, tape.drop(table)))
    if raw.grad:
        tape.save(Value((run.batch, 1, value.shape[1], value.shape[1]), BOOL, grad=False), "masked_fill")
    mixed = tape.matmul(tape.drop(tape.softmax(raw, raw.size), "attention"), values)
    apart = tape.reshape(mixed, run.batch, as_int(op.heads), value.shape[1], as_int(op.head_dim))
    return side_by_side(tape, apart)


def _heads(tape: Tape, op: Any, value: Value) -> Value:
    """Lay heads one after another: ``[batch * heads, tokens, width]``."""
    apart = tape.contiguous(tape.heads(value, op.heads, op.head_dim))
    return tape.reshape(apart, apart.shape[0] * apart.shape[1], *apart.shape[2:])


def _divide(tape: Tape, value: Value) -> Value:
    """Divide by a number that is made as a tensor, and so is kept."""
    if value.grad:
        tape.save(Value((), value.size, grad=False), "div")
    return tape.scale(value)


def _distances(run: ForwardPass, part: Part, op: Any, query: Value, key: Value, table: Value) -> Value:
    """Score words against distances, and distances against words, as ``pos_att_type`` says; each picks its scores by indices of its own."""
    tape, kinds, shared = run.tape, run.config.get("pos_att_type") or (), child(part, "pos_key_proj", "pos_query_proj") is None
    made = Value((query.shape[0], query.shape[1], key.shape[1]), query.size)
    maps = {"c2p": ("key_proj" if shared else "pos_key_proj", query), "p2c": ("query_proj" if shared else "pos_query_proj", key)}
    for kind, (name, given) in maps.items():
        found = child(part, name)
        if found is None or (kind not in kinds and not shared):
            continue
        places = _heads(tape, op, linear(tape, found, table))
        if kind not in kinds:
            continue
        places = tape.note("repeat", places, result=Value((query.shape[0], *places.shape[1:]), places.size, grad=places.grad))
        tape.keep(tape.matmul(given, places.transpose(1, 2)), "gather")
        tape.save(Value((1, query.shape[1], key.shape[1]), INDEX, grad=False), "gather")
        made = _divide(tape, made)
    return made


def _convolve(run: ForwardPass, part: Part, first: Value, made: Value, padding: Value) -> Value:
    """Add what a convolution makes of the embeddings to what the first layer makes of them."""
    tape, inner = run.tape, required_child(part, "conv")
    given = tape.contiguous(first.transpose(1, 2))
    if tape.learns(inner, "weight"):
        tape.save(given, "conv1d")
    out = tape.contiguous(tape.note("conv1d", given, result=Value(given.shape, given.size, grad=first.grad), part=inner).transpose(1, 2))
    tape.save(Value(out.shape[:2], BOOL, grad=False), "masked_fill")
    out = activate(tape, run.config.get("conv_act", "tanh"), tape.drop(out))
    value = norm(tape, required_child(part, "LayerNorm"), tape.add(made, out))
    return tape.multiply(value, tape.cast(padding, value.size))
