"""Forward passes on a tape: in which order a model's parts run, and where their values are added up; here encoders, and the table of all.

The tree says which parts there are and how wide; what stands in these files is only the order, as in the ``forward`` methods of
transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.deberta_forwards import deberta
from weighbridge.accounts.memory.decoder_forwards import decoder
from weighbridge.accounts.memory.encoder_decoder_forwards import bart, t5, whisper
from weighbridge.accounts.memory.forward_pass import (
    ForwardPass,
    bucket_bytes,
    causal_mask,
    embedding,
    layers,
    part_at,
    repeated_children,
)
from weighbridge.accounts.memory.gpt_forwards import gpt
from weighbridge.accounts.memory.modules import (
    attend_of,
    child,
    linear,
    norm,
    plain_mlp,
    project_qkv,
    required_child,
    run_module,
    scores,
)
from weighbridge.accounts.memory.tower_forwards import tower
from weighbridge.accounts.memory.values import INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from collections.abc import Callable


def encoder(run: ForwardPass, body: Part) -> Value:
    """Run embeddings and layers of BERT and its kin."""
    tape, paths, seq = run.tape, run.style.paths, run.lengths["seq"]
    tables = required_child(body, "embeddings")
    words = embedding(run, required_child(tables, "word_embeddings"), seq)
    tasks = () if child(tables, "task_type_embeddings") is None else ("each",)
    for kind, table in zip((*run.style.indices, *tasks), _index_tables(tables), strict=False):
        if kind and tape.learns(table):
            tape.save(Value((1 if kind == "one" else run.batch, seq), INDEX), "embedding")
    if tape.learns(child(tables, "x_position_embeddings")) and child(tables, "x_position_embeddings") is not None:
        _save_boxes(run, seq)
    words.grad = words.grad or any(tape.learns(part) for part in tables.children if isinstance(part, Part) and part.kind == "embedding")
    value = tape.drop(run_module(tape, "embeddings", lambda: norm(tape, required_child(tables, "LayerNorm"), words)))
    inside = part_at(body, paths["layers"].rpartition(".")[0])
    for mapped in (child(body, "embeddings_project"), child(inside, "embedding_hidden_mapping_in")):
        value = value if mapped is None else linear(tape, mapped, value)
    if run.style.relative:
        tape.moments.append((bucket_bytes(seq, both_ways=True), len(tape.rows)))
        if tape.learns(child(inside, "relative_attention_bias")):
            tape.save(Value((seq, seq), INDEX), "embedding")
    if run.style.shared:
        return _shared_layers(run, inside, value)
    found = repeated_children(inside, paths["layers"].rpartition(".")[2])
    masks = causal_mask(run, seq) if attend_of(part_at(found[0], paths["projections"])).causal else ()
    if run.style.padded:  # a mask of what pads is made and handed on where nothing does, too
        masks = (Value((run.batch, 1, 1, seq), run.ways.size, grad=False),)
        tape.masks["padding", seq] = masks[0]
    return layers(run, found, value, lambda part, value: encoder_layer(run, part, value), masks, (masks, ()))


def _save_boxes(run: ForwardPass, seq: int) -> None:
    """Keep the boxes of tokens, which are made where none are put in, and their heights and widths (LayoutLM)."""
    for shape in ((run.batch, seq, 4), (run.batch, seq), (run.batch, seq)):
        run.tape.save(Value(shape, INDEX), "embedding")


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
    """Run attention and two linear maps, each half added to what it was given and normalized."""
    tape, paths = run.tape, run.style.paths
    projections = part_at(part, paths["projections"])
    query, key, values = project_qkv(tape, projections, value)
    causal = ("text",) if attend_of(projections).causal else ("padding",) if run.style.padded else ()
    if run.style.padded and run.ways.attention == "sdpa" and "attention" not in tape.dropped:
        tape.save(tape.masks["padding", value.shape[1]], "mask")
    mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, causal=causal)
    attended = tape.drop(linear(tape, part_at(part, paths["out"]), mixed), "attended")
    value = norm(tape, part_at(part, paths["first"]), tape.add(attended, value))
    inner = tape.drop(plain_mlp(tape, part_at(part, paths["up"]), part_at(part, paths["down"]), value, run.activation), "inner")
    return norm(tape, part_at(part, paths["second"]), tape.add(inner, value))


FORWARDS: dict[str, Callable[[ForwardPass, Part], Value]] = {
    "encoder": encoder,
    "gpt": gpt,
    "decoder": decoder,
    "t5": t5,
    "bart": bart,
    "whisper": whisper,
    "tower": tower,
    "deberta": deberta,
}
