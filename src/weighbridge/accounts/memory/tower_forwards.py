"""Forward passes of towers on a tape: ViT, DINOv2, CLIP and SigLIP, whose layers have a norm before each half.

Source: the ``forward`` methods of transformers 5.23.0.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import ForwardPass, causal_mask, layers, part_at, repeated_children, size_of
from weighbridge.accounts.memory.modules import attend_of, child, gated_mlp, linear, norm, plain_mlp, project_qkv, required_child, scores
from weighbridge.accounts.memory.values import INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor, walk

if TYPE_CHECKING:
    from weighbridge.accounts.memory.tape import Tape


def tower(run: ForwardPass, body: Part) -> Value:
    """Run patches and a class token, or words and positions, and layers with a norm before each half."""
    tape, paths = run.tape, run.style.paths
    if child(body, "embeddings") is None:
        raise UsageError(
            Text(
                "activations: the layers of {model_type} without what stands before them are not described",
                model_type=run.config["model_type"],
            )
        )
    above, _, name = paths["layers"].rpartition(".")
    found = repeated_children(part_at(body, above) if above else body, name)
    width = size_of(required_child(found[0], paths["first"]), 0)
    tokens = run.lengths["seq" if run.style.words else "image"]
    made = Value((run.batch, tokens, width), run.ways.size, grad=_any_outside(tape, body))
    value = tape.drop(tape.note("embedding" if run.style.words else "conv2d", result=made), "embedded")
    before = child(body, "pre_layrnorm")
    value = value if before is None else norm(tape, before, value)
    masks = causal_mask(run, tokens) if run.style.causal_words else ()
    value = layers(run, found, value, lambda part, value: tower_layer(run, part, value), handed=(masks, ()))
    return norm(tape, required_child(body, paths["last"]), value) if "last" in paths else value


def _any_outside(tape: Tape, body: Part) -> bool:
    """Tell whether anything before the layers is trained."""
    before = [
        part for child in body.children if isinstance(child, Part) and child.kind in ("embedding", "embeddings") for _, part in walk(child)
    ]
    return tape.trained is None or any(tape.learns(part) for part in before)


def tower_layer(run: ForwardPass, part: Part, value: Value) -> Value:
    """Run attention and an MLP, each scaled by what it learns where the type does so."""
    tape, paths = run.tape, run.style.paths
    attention, mlp = required_child(part, paths["attention"]), required_child(part, "mlp")
    query, key, values = project_qkv(tape, attention, norm(tape, required_child(part, paths["first"]), value))
    causal = ("text",) if run.style.causal_words else ()
    mixed = scores(tape, run.ways, query, key, values, wide=run.style.wide_softmax, causal=causal)
    attended = tape.drop(linear(tape, required_child(attention, paths["out"]), mixed))
    value = tape.add(_drop_path(run, _scale(tape, child(part, "layer_scale1"), attended)), value)
    inner = norm(tape, required_child(part, paths["second"]), value)
    if child(mlp, "gate_proj") is not None:
        inner = gated_mlp(tape, mlp, inner, "silu")
    else:
        inner = plain_mlp(tape, required_child(mlp, "fc1"), required_child(mlp, "fc2"), inner, run.activation)
    return tape.add(_drop_path(run, _scale(tape, child(part, "layer_scale2"), tape.drop(inner))), value)


def _scale(tape: Tape, part: Part | None, value: Value) -> Value:
    """Multiply with a learned number for each channel."""
    if part is None:
        return value
    gain = next(node for node in part.children if isinstance(node, Tensor))
    factor = Value((value.shape[-1],), value.size, grad=tape.learns(part, gain.name), held=True)
    return tape.multiply(value, factor, part)


def _drop_path(run: ForwardPass, value: Value) -> Value:
    """Leave a half of a layer out for some of the examples: their numbers are kept."""
    if "path" in run.tape.dropped and value.grad:
        run.tape.save(Value((value.shape[0], 1, 1), value.size, grad=False), "mul")
    return value


def pool_tower(run: ForwardPass, body: Part, states: Value) -> Value:
    """Take one token of each example: the first, normalized; the one that ends a text; or the last, mapped."""
    tape, kind = run.tape, run.style.pooling
    if kind == "attention":
        found = child(body, "head")
        return states if found is None else _pool_by_attention(run, found, states)
    one = (states.shape[0], states.shape[2])
    if kind == "end":
        for _ in range(2 if states.grad else 0):  # which example, and which token of it
            tape.save(Value((states.shape[0],), INDEX, grad=False), "index")
        return tape.note("index", states, result=Value(one, states.size, grad=states.grad))
    picked = tape.note("select", states, result=states.view(one, (states.strides[0], states.strides[2])))
    if kind == "first":
        return norm(tape, required_child(body, "post_layernorm"), picked)
    return linear(tape, required_child(body, "head"), picked)


def _pool_by_attention(run: ForwardPass, part: Part, states: Value) -> Value:
    """Ask all tokens one learned question, by torch's ``MultiheadAttention``, and run an MLP over the answer (SigLIP)."""
    tape, size = run.tape, states.size
    batch, tokens, width = states.shape
    attention, mlp = required_child(part, "attention"), required_child(part, "mlp")
    heads = as_int(attend_of(attention).heads)
    seen = tape.reshape(states.transpose(0, 1), tokens * batch, width)
    if tape.learns(attention, "in_proj_weight"):
        tape.save(Value((batch, width), size), "linear")
        tape.save(seen, "linear")
    query = tape.scale(tape.note("linear", result=Value((batch * heads, 1, width // heads), size), part=attention))
    both = tape.note("linear", seen, result=Value((2, tokens, batch, width), size))
    tape.save(query, "bmm")
    tape.save(both, "bmm")
    shares = tape.softmax(tape.note("bmm", query, both, result=Value((batch * heads, 1, tokens), size)), size)
    mixed = tape.note("bmm", shares, both, result=Value((batch, width), size))
    answer = linear(tape, required_child(attention, "out_proj"), mixed)
    inner = norm(tape, required_child(part, "layernorm"), answer)
    return tape.add(answer, plain_mlp(tape, required_child(mlp, "fc1"), required_child(mlp, "fc2"), inner, run.activation))
