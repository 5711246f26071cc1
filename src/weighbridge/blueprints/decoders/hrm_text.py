"""HRM-Text: a fast and a slow stack of layers that alternate for several cycles per text.

Source: arXiv 2506.21734; class and tensor names as in transformers 5.23.0, models/hrm_text/modeling_hrm_text.py. Its norms have no
parameters. A config saved by the reference states the layers of a stack beside the number of all runs.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, derived, size, variant
from weighbridge.core.parts import embedding, gated_mlp, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def hrm(c: Config) -> tuple[Node, ...]:
    """Describe words, the state in which the quick stack starts, and both stacks."""
    quick, slow = stack(c, "L_module", c.slow_cycles * c.quick_cycles), stack(c, "H_module", c.slow_cycles)
    start = Tensor("z_L_init", (c.hidden,), "embedding", frozen=True)
    return (start, embedding("embed_tokens", c.vocab, c.hidden), quick, slow)


def stack(c: Config, name: str, times: Size) -> Part:
    """Describe a stack: layers of gated attention and a gated MLP."""
    gate = linear("gate_proj", c.hidden, c.heads * c.head_dim, bias=c.qkv_bias)
    halves = (attention(c, gate), gated_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias))
    return part(name, part("layers", *halves, kind="layer", repeat=c.layers, executions=c.layers * times), kind="stack")


HRM = variant(
    (size("stated", "num_hidden_layers", 16, "M", "layers, as stated"), *FIELDS),
    size("slow_cycles", "H_cycles", 2, "S", "runs of the slow stack"),
    size("quick_cycles", "L_cycles", 3, "Q", "runs of the fast stack for each run of the slow stack"),
    vocab=151808,
    hidden=1536,
    mlp=4096,
    layers=size("layers", "num_layers_per_stack", lambda c: c.stated, "L", "layers"),
    heads=12,
    kv_heads=derived("kv_heads", lambda c: c.heads, "num_attention_heads"),
    head_dim=128,
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"L_bp_cycles", "embedding_scale", "num_key_value_heads", "prefix_lm"}
FAMILIES = {"hrm_text": Family("hrm_text", HRM, with_heads("HrmText", hrm, "lm"), "HrmTextModel", MORE_IGNORED_KEYS)}
