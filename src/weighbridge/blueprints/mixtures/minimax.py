"""MiniMax-Text-01: Mixtral with lightning (linear) attention alternating with full attention.

Source: arXiv 2501.08313; class and tensor names as in transformers 5.23.0, models/minimax/modeling_minimax.py.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, families
from weighbridge.blueprints.modules.causal_lm import NO_BIAS, attention
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.mixture_of_experts import sparse_mlp
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.fields import Config, Field, constant, size, variant
from weighbridge.core.length import sum_of_squares
from weighbridge.core.parts import embedding, linear, matmul, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def minimax(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention with experts after each, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mixer = lightning_attention(c) if kind == "linear_attention" else attention(c)
        return (mixer, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H), sparse_mlp(c))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.mixers, c.layers, layer), rms_norm("norm", H))


def lightning_attention(c: Config) -> Part:
    """Describe linear attention by blocks: in full within a block, through a state from block to block; its decays are saved."""
    H, A, D, block = c.hidden, c.heads, c.head_dim, c.chunk
    return part(
        "self_attn",
        Tensor("slope_rate", (A, 1, 1), "buffer"),
        Tensor("query_decay", (A, block, 1), "buffer"),
        Tensor("key_decay", (A, block, 1), "buffer"),
        Tensor("diagonal_decay", (1, A, block, block), "buffer"),
        rms_norm("norm", A * D),
        linear("qkv_proj", H, 3 * A * D, bias=False),
        linear("out_proj", A * D, H, bias=False),
        linear("output_gate", H, A * D, bias=False),
        matmul("lightning", (2, A, sum_of_squares("seq", block), D), (2, A, "seq", D, D)),
        State("recurrent_state", A * D * D),
        kind="linear_attention",
    )


def _alternating_types(c: Config) -> list[str]:
    return ["linear_attention" if index % 2 else "full_attention" for index in layer_range(c.layers)]


MINIMAX = variant(
    MIXTRAL,
    Field("stated_kinds", "layer_types", _alternating_types, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("full_attention", "linear_attention"))),
    size("chunk", "block_size", 256, "B", "tokens per block"),
    *NO_BIAS,
    mlp=14336,
    kv_heads=8,
    window=window(default=None),
)

FACTORS = {f"{kind}_{greek}_factor" for kind in ("full_attn", "linear_attn", "mlp") for greek in ("alpha", "beta")}
FAMILIES = {
    name: replace(family, ignored_keys=family.ignored_keys | FACTORS)
    for name, family in families({"minimax": ("MiniMax", "lm sequence token qa", MINIMAX)}, minimax).items()
}
