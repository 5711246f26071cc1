"""Megatron's own estimates of what training needs, beside ours.

Of activations they count bytes of 16 bits a token and layer by hand, with dropout and eager attention; of states 18 bytes a parameter under
Adam: two of weights, four of gradients that are added up in float32, twelve of master weights and states.

Source: Korthikanti et al. 2022 (arXiv:2205.05198), table 2 and equations 1, 2, 4 and 5; NVIDIA/Megatron-LM,
megatron/training/theoretical_memory_usage.py (num_bytes_per_parameter)
"""

from __future__ import annotations

from weighbridge.accounts.parallel.layout import Layout
from weighbridge.core._namedtuple import NamedTuple


class Estimate(NamedTuple):
    """Bytes that Megatron's authors estimate for the first stage of a pipeline.

    Attributes:
        activations: Of all micro-batches under way.
        states: Of weights, gradients and the optimizer.
        formula: Of a layer's activations, with s tokens, b examples, hidden size h, a heads and t tensor-parallel ways.
    """

    activations: int
    states: int
    formula: str


def estimate(
    layout: Layout, *, parameters: int, layers: int, hidden: int, heads: int, batch: int, seq: int, checkpointing: str = "none"
) -> Estimate:
    """Return what Megatron's authors estimate for the device that holds most.

    Args:
        layout: How the devices are laid out.
        parameters: That the device computes with.
        layers, hidden, heads: Of the whole model.
        batch, seq: Examples of a micro-batch, and tokens of each.
        checkpointing: ``none``, ``selective`` (attention is computed again) or ``full``.

    >>> estimate(Layout(), parameters=0, layers=1, hidden=1024, heads=16, batch=1, seq=2048).activations == 2048 * 1024 * (34 + 5 * 16 * 2048 // 1024)
    True
    """
    t, block, scores = layout.tp, seq * batch * hidden, 5 * heads * seq * seq * batch  # bytes a layer, the scores of all heads among them
    if checkpointing == "full":
        each, formula = 2 * block * t, "2*s*b*h"
    elif layout.sequence_parallel:
        each, formula = (34 * block, "34*s*b*h/t") if checkpointing == "selective" else (34 * block + scores, "s*b*h/t*(34 + 5*a*s/h)")
    elif checkpointing == "selective":
        each, formula = block * (10 * t + 24), "s*b*h*(10 + 24/t)"
    else:
        each, formula = block * (10 * t + 24) + scores, "s*b*h*(10 + 24/t + 5*a*s/(h*t))"
    p, v = layout.pp, layout.chunks
    # layers under way, as a fraction: what is divided, and by what
    waiting, among = (p * v + p - 1, p * v) if layout.schedule == "interleaved" else (1, 1)
    under_way = (layers * waiting, among) if layout.micro_batches >= p else (layers * layout.micro_batches, p)
    states = parameters * (6 * layout.dp + 12) // layout.dp if layout.zero else parameters * 18
    return Estimate(each * under_way[0] // (t * under_way[1]), states, formula)
