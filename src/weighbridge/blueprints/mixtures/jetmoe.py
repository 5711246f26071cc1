"""JetMoE: mixtures of experts for the MLP and for attention, whose experts share keys and values.

Source: arXiv 2404.07413; class and tensor names as in transformers 5.23.0, models/jetmoe/modeling_jetmoe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HIDDEN,
    KV_HEADS,
    LABELS,
    LAYERS,
    MLP,
    NUM_LOCAL_EXPERTS,
    TIED,
    VOCAB,
    Config,
    constant,
    size,
)
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def jetmoe(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two mixtures, and a last norm."""
    H, wide = c.hidden, c.kv_heads * c.head_dim
    attended = attend(causal=True, heads=c.active * c.kv_heads, kv_heads=c.kv_heads, head_dim=c.head_dim)
    layer = part(
        "layers",
        mixture(c, "mlp", c.mlp, gated=True),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        part(
            "self_attention",
            mixture(c, "experts", wide, gated=False),
            linear("kv_proj", H, 2 * wide, bias=False),
            attended,
            kind="self_attention",
        ),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def mixture(c: Config, name: str, inner: Size, *, gated: bool) -> Part:
    """Describe a router, and for each expert a way in and a way out; the bias is added once for all."""
    H, E = c.hidden, c.experts
    into = part("input_linear", Tensor("weight", (E, 2 * inner if gated else inner, H)), kind="experts", experts=E, active=c.active)
    out = part("output_linear", Tensor("weight", (E, H, inner)), kind="experts", experts=E, active=c.active)
    router = part("router", linear("layer", H, E, bias=False), kind="router")
    return part(name, Tensor("bias", (H,), "bias"), into, out, router, kind="mixture")


FIELDS = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(2048),
    MLP.with_default(5632),
    LAYERS.with_default(12),
    KV_HEADS.with_default(16),
    size("head_dim", "kv_channels", 128, "D", "head dimension", "head_dim"),
    NUM_LOCAL_EXPERTS.with_default(8),
    ACTIVE_EXPERTS.with_default(2),
    LABELS,
    TIED,
    constant("head_bias", False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "aux_loss_coef", "num_attention_heads"}
FAMILIES = {"jetmoe": Family("jetmoe", FIELDS, with_heads("JetMoe", jetmoe, "lm sequence"), "JetMoeModel", MORE_IGNORED_KEYS)}
