"""The text tower of Aria: Llama with many small experts, and some that every token passes.

Source: arXiv 2410.05993; class and tensor names as in transformers 5.23.0, models/aria/modeling_aria.py. The experts' matrices are
stored as ``[inputs, outputs]``.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import FIELDS, NEUTRAL, attention, heads
from weighbridge.config import Sizes, size, variant
from weighbridge.parts import embedding, fused_experts, gated_mlp, linear, rms_norm
from weighbridge.tree import Node, Part


def aria(c: Sizes) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and experts, and a last norm."""
    H = c.hidden
    layer = Part("layers", (
        attention(c),
        Part("mlp", (
            linear("router", H, c.experts, bias=False),
            fused_experts(c.experts, c.active, H, c.mlp, inputs_first=True),
            gated_mlp("shared_experts", H, c.shared_experts * c.mlp, bias=c.mlp_bias),
        ), "mixture"),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
    ), "layer", repeat=c.layers)  # fmt: skip
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


ARIA = variant(
    FIELDS,
    size("experts", "moe_num_experts", 8, "E", "experts"),
    size("active", "moe_topk", 2, "k", "experts per token"),
    size("shared_experts", "moe_num_shared_experts", 2, "N", "shared experts"),
    mlp=4096,
)
CLASSES = heads("AriaText", aria, "lm")
FAMILIES = {"aria_text": Family("aria_text", ARIA, CLASSES, "AriaTextModel", NEUTRAL)}
