"""Command R: Cohere's models of 2024, attention and MLP side by side after one norm without a shift.

Source: class and tensor names as in transformers 5.23.0, models/cohere/modeling_cohere.py and models/cohere2/modeling_cohere2.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import FIELDS, HEAD_DIM, NEUTRAL, UNBIASED, attention, heads
from weighbridge.blueprints.windows import all_but_every, window
from weighbridge.config import Sizes, fact, switch, variant
from weighbridge.parts import embedding, gated_mlp, layer_norm
from weighbridge.sizes import Size
from weighbridge.tree import Node, Part, Tensor


def cohere(c: Sizes) -> tuple[Node, ...]:
    """Describe Command R: one norm a layer; the larger one also norms queries and keys, each head by weights of its own."""
    H = c.hidden
    norms = (by_head(c, "q_norm", c.heads), by_head(c, "k_norm", c.kv_heads)) if c.normed else ()
    layer = Part("layers", (
        attention(c, *norms),
        gated_mlp("mlp", H, c.mlp),
        layer_norm("input_layernorm", H, bias=False),
    ), "layer", repeat=c.layers)  # fmt: skip
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H, bias=False))


def by_head(c: Sizes, name: str, number: Size) -> Part:
    """Describe a norm with a gain for every head."""
    return Part(name, (Tensor("weight", (number, c.head_dim), "gain"),), "layer_norm")


COHERE = variant(
    FIELDS, switch("normed", "use_qk_norm", False), vocab=256000, hidden=8192, mlp=22528, layers=40, heads=64, tied=True,
    mlp_bias=UNBIASED["mlp_bias"],
)  # fmt: skip
COHERE2 = variant(COHERE, head_dim=HEAD_DIM, normed=fact("normed", False), window=window(), windowed=all_but_every(4))
FAMILIES = {
    "cohere": Family("cohere", COHERE, heads("Cohere", cohere, "lm"), "CohereModel", NEUTRAL),
    "cohere2": Family("cohere2", COHERE2, heads("Cohere2", cohere, "lm"), "Cohere2Model", NEUTRAL | {"head_dim", "sliding_window_pattern"}),
}
