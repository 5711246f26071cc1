"""Forward passes of pairs of towers, and what compares their outputs: CLIP and SigLIP as wholes.

Source: the ``forward`` methods of transformers 5.23.0; torch's ``linalg_vector_norm``, ``log_sigmoid`` and ``nll_loss``.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import ForwardPass
from weighbridge.accounts.memory.modules import child, linear, run_module
from weighbridge.accounts.memory.tower_forwards import pool_tower, tower
from weighbridge.accounts.memory.values import FLOAT, INDEX, Value
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.core.tree import Part

PROJECTIONS = {"vision": "visual_projection", "text": "text_projection"}


def pair(whole: ForwardPass, tree: Part, towers: dict[str, tuple[ForwardPass, Part]]) -> Value:
    """Run both towers, map what they put out into one space, normalize it, and compare every text with every image.

    Args:
        whole: The pass of the pair.
        tree: The pair.
        towers: By its kind, the pass of each tower, and the tower.
    """
    tape, size = whole.tape, whole.ways.size
    embeds = {}
    for kind in ("vision", "text"):
        run, body = towers[kind]
        tape.dropped = run.dropped
        made = run_module(tape, body.name, lambda run=run, body=body: pool_tower(run, body, tower(run, body)))  # type: ignore[misc]
        mapped = child(tree, PROJECTIONS[kind])
        embeds[kind] = _normalize(whole, made if mapped is None else linear(tape, mapped, made))
    for value in embeds.values():
        tape.save(value, "matmul")
    grad = any(value.grad for value in embeds.values())
    raw = tape.note("matmul", *embeds.values(), result=Value((whole.batch, whole.batch), size, grad=grad))
    if tape.learns(tree, "logit_scale"):
        tape.save(raw, "mul")
    tape.save(Value((), size), "exp")
    return tape.scale(raw)


def _normalize(run: ForwardPass, value: Value) -> Value:
    """Divide by the length of each vector: its square is kept too where the root is taken by a call of its own (CLIP)."""
    tape = run.tape
    if value.grad:
        tape.save(value, "div")
        for _ in range(1 if run.style.contrast == "sigmoid" else 2):
            tape.save(Value((value.shape[0], 1), value.size), "norm")
    return tape.note("div", value, result=Value(value.shape, value.size, grad=value.grad))


def contrast(run: ForwardPass, logits: Value) -> None:
    """Run the loss of a pair: for every text which image is its own, and the other way round; or yes or no for each of them (SigLIP)."""
    tape, shape = run.tape, logits.shape
    if run.style.contrast == "sigmoid":
        tape.save(Value(shape, FLOAT, grad=False), "mul")
        signed = tape.note("mul", logits, result=Value(shape, FLOAT, grad=logits.grad))
        tape.save(signed, "logsigmoid")
        tape.save(Value(shape, FLOAT, grad=False), "logsigmoid")
        tape.note("logsigmoid", signed, result=Value((), FLOAT), root=True)
        return
    for _ in range(2):
        chances = Value(shape, logits.size, grad=logits.grad)
        tape.save(Value(shape[:1], INDEX, grad=False), "nll_loss")
        tape.save(chances, "log_softmax")
        tape.save(Value((), logits.size, grad=False), "nll_loss")
        tape.note("log_softmax", logits, result=chances)
        tape.note("nll_loss", chances, result=Value((), logits.size), root=True)
