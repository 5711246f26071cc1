"""Doge: Llama with a dynamic attention mask computed from the values, learned residual weights and, optionally, a cross-domain mixture of experts.

Source: SmallDoge (2024); arXiv 2407.04153 for the experts, each one row of two tables; class and tensor names as in transformers
5.23.0, models/doge/modeling_doge.py.
"""

from __future__ import annotations

from math import isqrt

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_EXPERTS, Config, computed, switch, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, matmul, part, rms_norm
from weighbridge.core.tree import Node, Part, Tensor


def doge(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers whose residuals are weighted, and a last norm."""
    H = c.hidden
    layer = part(
        "layers",
        Tensor("input_residual", (H,), "gain"),
        Tensor("post_attention_residual", (H,), "gain"),
        rms_norm("input_layernorm", H),
        attention(c),
        rms_norm("post_attention_layernorm", H),
        experts(c) if c.sparse else gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def attention(c: Config) -> Part:
    """Describe attention with a mask that is made from the values."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "self_attn",
        Tensor("A", (K,), "gain"),
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * D, bias=c.qkv_bias),
        linear("dt_proj", K * D, K, bias=c.qkv_bias),
        linear("o_proj", A * D, H, bias=c.out_bias),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def experts(c: Config) -> Part:
    """Describe an MLP that every token goes through, and experts that are looked up: a row for the way down, a row for the way up."""
    H = c.hidden
    return part(
        "mlp",
        *gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias).children,
        linear("router_gate", H, 2 * c.keys, bias=False),
        embedding("down_embed", c.experts, H),
        embedding("up_embed", c.experts, H),
        matmul("experts", (2, "seq", c.active, H)),
        kind="mixture",
    )


DOGE = variant(
    FIELDS,
    switch("sparse", "is_moe", False),
    NUM_EXPERTS.with_default(16384),
    ACTIVE_EXPERTS.with_default(64),
    computed("keys", lambda c: isqrt(c.experts)),
    vocab=32768,
    hidden=1024,
    mlp=2048,
    heads=8,
)

FAMILIES = {"doge": Family("doge", DOGE, with_heads("Doge", doge, "lm sequence"), "DogeModel", IGNORED_KEYS | {"keep_window_size"})}
