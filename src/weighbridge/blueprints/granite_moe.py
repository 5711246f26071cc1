"""Granite 3 with experts (IBM, 2024): Llama with a sparse block after the norms, and in a variant an MLP shared by all tokens.

Source: class and tensor names as in transformers 5.23.0, models/granitemoe/modeling_granitemoe.py and
models/granitemoeshared/modeling_granitemoeshared.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import FIELDS, NEUTRAL, UNBIASED, attention, heads
from weighbridge.config import Sizes, fact, size, variant
from weighbridge.parts import embedding, fused_experts, linear, rms_norm
from weighbridge.tree import Node, Part, Row


def granite_moe(c: Sizes) -> tuple[Node, ...]:
    """Describe Llama whose MLP is a mixture of experts, under the name ``block_sparse_moe``."""
    H = c.hidden
    layer = Part("layers", (
        attention(c),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        Part("block_sparse_moe", (linear("router", H, c.experts, bias=False), fused_experts(c.experts, c.active, H, c.mlp)), "mixture"),
        *(shared_mlp(c) if c.shared else ()),
    ), "layer", repeat=c.layers)  # fmt: skip
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def shared_mlp(c: Sizes) -> tuple[Part, ...]:
    """Describe the MLP that every token passes: gate and up projection in one."""
    inner = (
        linear("input_linear", c.hidden, 2 * c.shared_inner, bias=False),
        linear("output_linear", c.shared_inner, c.hidden, bias=False),
    )
    return (Part("shared_mlp", inner, "feed_forward"),)


GRANITE = variant(
    FIELDS,
    size("experts", "num_local_experts", 8, "E", "experts"),
    size("active", "num_experts_per_tok", 2, "k", "experts per token"),
    size("shared_inner", "shared_intermediate_size", 0, "S", "intermediate size of the shared MLP", minimum=0),
    fact("shared", lambda c: c.shared_inner > 0),
    mlp_bias=UNBIASED["mlp_bias"],
)
PLAIN = tuple(fact("shared_inner", 0) if field.word == "shared_inner" else field for field in GRANITE)


def published(row: Row) -> Row:
    """Translate a tensor to the names of the published files.

    >>> published(Row("layers.0.block_sparse_moe.router.weight", (8, 16), "weight", None, None, False)).name
    'layers.0.block_sparse_moe.router.layer.weight'
    """
    name = row.name.replace(".router.weight", ".router.layer.weight")
    name = name.replace(".experts.gate_up_proj", ".input_linear.weight").replace(".experts.down_proj", ".output_linear.weight")
    return row._replace(name=name)


RENAMES = {"checkpoint": published}

FAMILIES = {
    "granitemoe": Family("granitemoe", PLAIN, heads("GraniteMoe", granite_moe, "lm"), "GraniteMoeModel", NEUTRAL, RENAMES),
    "granitemoeshared": Family(
        "granitemoeshared", GRANITE, heads("GraniteMoeShared", granite_moe, "lm"), "GraniteMoeSharedModel", NEUTRAL, RENAMES
    ),
}
