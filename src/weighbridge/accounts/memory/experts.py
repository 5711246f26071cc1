"""Mixtures of experts on a tape: how tokens choose their experts, and what the chosen ones do.

Source: transformers 5.23.0, integrations/moe.py (``grouped_mm_experts_forward``) and the routers of the models.
"""

from __future__ import annotations

from weighbridge.accounts.memory.modules import activate, linear
from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value, elements
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from weighbridge.accounts.memory.tape import Tape


def router(tape: Tape, part: Part, value: Value, active: int, normed: bool, wide: bool, scored: bool = False) -> Value:
    """Choose experts for each token: the shares of all, and the indices and the shares of the chosen, in float32 if *wide*; they are *scored* so too."""
    logits = _wide_linear(tape, part, value) if scored else linear(tape, part, value)
    chances = tape.softmax(logits, FLOAT)
    if chances.grad:
        tape.save(Value((value.shape[0], active), INDEX), "topk")
    shares = tape.note("topk", chances, result=Value((value.shape[0], active), FLOAT, grad=chances.grad))
    shares = _normalize(tape, shares) if normed else shares
    return shares if wide else tape.cast(shares, value.size)


def grouped_router(tape: Tape, part: Part, value: Value, active: int, groups: int, chosen: int, normed: bool) -> Value:
    """Choose experts by the sigmoid of their scores, in float32, among the best groups of them (DeepSeek-V3)."""
    scores = tape.by_result(_wide_linear(tape, part, value), "sigmoid")
    rows, experts = scores.shape
    if scores.grad:
        tape.save(Value((rows, groups, 2), INDEX, grad=False), "topk")
        tape.save(Value((rows, chosen), INDEX, grad=False), "topk")
        tape.save(Value((rows, experts), BOOL, grad=False), "masked_fill")
        tape.save(Value((rows, active), INDEX, grad=False), "topk")
    shares = tape.note("gather", scores, result=Value((rows, active), FLOAT, grad=scores.grad))
    return tape.scale(_normalize(tape, shares) if normed else shares)


def limited_router(tape: Tape, part: Part, value: Value, active: int, groups: int, chosen: int, limited: bool) -> Value:
    """Choose experts by the softmax of their scores, in float32, among all or, where *limited*, in the best groups of them (DeepSeek-V2)."""
    chances = _wide_chances(tape, part, value)
    rows, experts = chances.shape
    if chances.grad and limited:
        tape.save(Value((rows, groups), INDEX, grad=False), "max")
        tape.save(Value((rows, chosen), INDEX, grad=False), "topk")
        tape.save(Value((rows, experts), BOOL, grad=False), "masked_fill")
    if chances.grad:
        tape.save(Value((rows, active), INDEX, grad=False), "topk")
    return tape.scale(tape.note("topk", chances, result=Value((rows, active), FLOAT, grad=chances.grad)))


def bounded_router(tape: Tape, part: Part, value: Value, active: int) -> Value:
    """Choose experts by the softmax of their scores, in float32, and divide by the sum of the chosen, which is at least a small number (ERNIE 4.5)."""
    chances = _wide_chances(tape, part, value)
    rows = chances.shape[0]
    shares = tape.note("gather", chances, result=Value((rows, active), FLOAT, grad=chances.grad))
    if chances.grad:
        tape.save(Value((rows, active), INDEX, grad=False), "topk")
        tape.save(Value((rows, 1), FLOAT), "clamp")
    return tape.cast(_normalize(tape, shares), value.size)


def _wide_chances(tape: Tape, part: Part, value: Value) -> Value:
    """Map in float32, and take the softmax."""
    return tape.softmax(_wide_linear(tape, part, value), FLOAT)


def _wide_linear(tape: Tape, part: Part, value: Value) -> Value:
    """Map in float32; the map is a copy then, unless it is kept so."""
    wide = tape.cast(value, FLOAT)
    if value.size != FLOAT and wide.grad:
        tape.save(Value(tuple(as_int(size) for size in _weight(part).shape), FLOAT, grad=False), "linear")
    return linear(tape, part, wide)


def _weight(part: Part) -> Tensor:
    return next(node for node in part.children if isinstance(node, Tensor) and node.name == "weight")


def _normalize(tape: Tape, shares: Value) -> Value:
    """Divide shares by their sum, in place: what they were is copied."""
    if not shares.grad:
        return shares
    tape.save(Value((shares.shape[0], 1), FLOAT), "div")
    tape.save(shares, "div")
    return tape.note("div", shares, result=shares.view(shares.shape, shares.strides))


def top_router(tape: Tape, part: Part, value: Value, active: int, wide: bool = False) -> Value:
    """Choose the experts of the highest scores, and share among them alone (gpt-oss), in float32 if *wide* (Granite)."""
    logits = linear(tape, part, value)
    logits = tape.cast(logits, FLOAT) if wide else logits
    best = tape.note("topk", logits, result=Value((value.shape[0], active), logits.size, grad=logits.grad))
    if logits.grad:
        tape.save(Value((value.shape[0], active), INDEX, grad=False), "topk")
    return tape.cast(tape.softmax(best, best.size), value.size)


def fused_experts(tape: Tape, part: Part, value: Value, shares: Value, activation: str) -> Value:
    """Run the chosen experts, tokens sorted by expert, in one grouped product; how tokens are shared among them changes nothing.

    Source: transformers 5.23.0, integrations/moe.py, ``grouped_mm_experts_forward``.
    """
    tensors = {node.name: node for node in part.children if isinstance(node, Tensor)}
    up, down = (_outputs_first(tensors[name]) for name in ("gate_up_proj", "down_proj"))
    biased = "gate_up_proj_bias" in tensors
    if biased and any(tape.learns(part, f"{name}_proj_bias") for name in ("gate_up", "down")):
        tape.save(Value((elements(shares.shape),), INDEX, grad=False), "index")
    rows, size = elements(shares.shape), value.size
    for given in (value, shares):
        if given.grad:
            tape.save(Value((rows,), INDEX), "index")
    wider, narrower = tape.learns(part, "gate_up_proj"), tape.learns(part, "down_proj")
    if value.grad or wider or narrower:
        tape.save(Value((as_int(up[0]),), 4, grad=False), "grouped_mm")
    chosen = tape.note("index", value, result=Value((rows, value.shape[1]), size, grad=value.grad))
    if wider:
        tape.save(chosen, "grouped_mm")
    both = tape.note("grouped_mm", chosen, result=Value((rows, as_int(up[1])), size, grad=value.grad or wider), part=part)
    gate, more = tape.split(both, as_int(up[1]) // 2, as_int(up[1]) // 2)
    mixed = _clipped_gate(tape, gate, more) if biased else tape.multiply(activate(tape, activation, gate), more)
    if narrower:
        tape.save(mixed, "grouped_mm")
    made = tape.note("grouped_mm", mixed, result=Value((rows, as_int(down[1])), size, grad=mixed.grad or narrower))
    weight = tape.note("index", shares, result=Value((rows, 1), shares.size, grad=shares.grad))
    weighted = tape.multiply(made, weight)
    if weighted.grad:
        tape.save(Value((rows,), INDEX), "index")
    sorted_back = tape.note("index", weighted, result=Value((rows, value.shape[1]), size, grad=weighted.grad))
    return tape.note("sum", sorted_back, result=Value(value.shape, size, grad=weighted.grad))


def _outputs_first(tensor: Tensor) -> tuple[int, int, int]:
    experts, first, second = (as_int(size) for size in tensor.shape)
    return (experts, second, first) if tensor.inputs_first else (experts, first, second)


def _clipped_gate(tape: Tape, gate: Value, up: Value) -> Value:
    """Clip both, and multiply (gpt-oss)."""
    gate, up = tape.by_input(gate, "clamp"), tape.by_input(up, "clamp")
    opened = tape.multiply(gate, tape.by_result(tape.scale(gate), "sigmoid"))
    return tape.multiply(tape.add(up), opened)


def flatten_tokens(tape: Tape, value: Value) -> Value:
    """View tokens of all examples as rows."""
    return tape.reshape(value, elements(value.shape[:-1]), value.shape[-1])
