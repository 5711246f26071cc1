"""Gemma 4: two widths of heads, layers that read the keys of others, a small table for every layer, and experts beside the MLP.

Source: Google, Gemma 4 (2026); class and tensor names as in transformers 5.23.0, models/gemma4/modeling_gemma4.py and
models/gemma4_unified/modeling_gemma4_unified.py. The last layer attends in full, whatever a list says.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import heads
from weighbridge.blueprints.gemma import SANDWICH
from weighbridge.blueprints.gemma4_fields import PLAIN, SKIPPED, TEXT, settled
from weighbridge.config.fields import Sizes
from weighbridge.core.parts import attend, embedding, fused_experts, gated_mlp, linear, rms_norm, stack
from weighbridge.core.tree import Node, Part, Tensor


def gemma4(c: Sizes) -> tuple[Node, ...]:
    """Describe embeddings, layers, a last norm, and where there are any the tables of the layers and how a token reaches them."""
    H = c.hidden
    layers = stack("layers", list(zip(c.mixers, c.reusing, strict=True)), c.layers, lambda kinds: layer(c, *kinds))
    wide = c.layers * c.table
    tables = (
        embedding("embed_tokens_per_layer", c.table_rows, wide),
        linear("per_layer_model_projection", H, wide, bias=False),
        rms_norm("per_layer_projection_norm", c.table),
    )
    return (embedding("embed_tokens", c.vocab, H), *layers, rms_norm("norm", H), *(tables if c.tabled else ()))


def layer(c: Sizes, kind: str, reusing: bool) -> tuple[Node, ...]:
    """Describe a layer: attention, MLP, four norms, the way in from its table, and experts that work beside the MLP."""
    H = c.hidden
    width = 2 * c.mlp if c.doubled and reusing else c.mlp
    table = (
        linear("per_layer_input_gate", H, c.table, bias=False),
        linear("per_layer_projection", c.table, H, bias=False),
        rms_norm("post_per_layer_input_norm", H),
    )
    return (
        Tensor("layer_scalar", (1,), "buffer"),
        attention(c, kind, reusing),
        gated_mlp("mlp", H, width),
        *(rms_norm(name, H) for name in SANDWICH),
        *(table if c.tabled else ()),
        *(experts(c) if c.sparse else ()),
    )


def attention(c: Sizes, kind: str, reusing: bool) -> Part:
    """Describe attention: wider heads where it is in full, whose values may be the keys, and none of its own where it reuses them."""
    H, A, limited = c.hidden, c.heads, kind == "sliding_attention"
    D = c.head_dim if limited else c.full_dim
    K = c.kv_heads if limited or c.full_kv is None or not c.equal else c.full_kv
    values = () if c.equal and not limited else (linear("v_proj", H, K * D, bias=c.qkv_bias),)
    kept = () if reusing else (rms_norm("k_norm", D), linear("k_proj", H, K * D, bias=c.qkv_bias), *values)
    return Part("self_attn", (
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        rms_norm("q_norm", D),
        *kept,
        linear("o_proj", A * D, H, bias=c.out_bias),
        attend(heads=A, kv_heads=K, head_dim=D, window=c.window if limited else None, cache=0 if reusing else None),
    ), "self_attention")  # fmt: skip


def experts(c: Sizes) -> tuple[Part, ...]:
    """Describe router and experts, with norms of their own."""
    H, E = c.hidden, c.experts
    scales = (Tensor("scale", (H,), "gain"), Tensor("per_expert_scale", (E,), "gain"))
    norms = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
    router = Part("router", (*scales, linear("proj", H, E, bias=False)), "router")
    return (router, fused_experts(E, c.active, H, c.expert_mlp), *(rms_norm(name, H) for name in norms))


FAMILIES = {
    "gemma4_text": Family(
        "gemma4_text", TEXT, heads("Gemma4", gemma4, "lm", base="TextModel"), "Gemma4TextModel", SKIPPED,
        settle=settled),
    "gemma4_unified_text": Family(
        "gemma4_unified_text", PLAIN, heads("Gemma4Unified", gemma4, "lm", base="TextModel"), "Gemma4UnifiedTextModel", SKIPPED,
        settle=settled),
}  # fmt: skip
