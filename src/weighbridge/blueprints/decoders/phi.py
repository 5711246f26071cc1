"""Phi: "Textbooks Are All You Need II: phi-1.5" (Li et al., 2023), and Phi-3, which is Llama with fused layers.

Source: arXiv 2309.05463, 2404.14219; class and tensor names as in transformers 5.23.0, models/phi/modeling_phi.py and
models/phi3/modeling_phi3.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_BIAS, attention, default_head_dim, with_heads
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, switch, variant
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.tree import Node, Part


def phi(c: Config) -> tuple[Node, ...]:
    """Describe Phi: attention and MLP in parallel after one norm, biases throughout, even on the head."""
    H = c.hidden
    norms = (layer_norm("q_layernorm", default_head_dim(c)), layer_norm("k_layernorm", default_head_dim(c))) if c.normed else ()
    layer = part(
        "layers",
        attention(c, *norms, out="dense"),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("input_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("final_layernorm", H))


def phi3(c: Config) -> tuple[Node, ...]:
    """Describe Phi-3: Llama whose queries, keys and values are one layer, and whose gate and up projections are another."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    layer = part(
        "layers",
        part(
            "self_attn",
            linear("o_proj", A * D, H, bias=False),
            linear("qkv_proj", H, (A + 2 * K) * D, bias=False),
            attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window),
            kind="self_attention",
        ),
        fused_mlp(c),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def fused_mlp(c: Config) -> Part:
    """Describe a gated MLP whose gate and up projections are one layer."""
    gate_up, down = linear("gate_up_proj", c.hidden, 2 * c.mlp, bias=False), linear("down_proj", c.mlp, c.hidden, bias=False)
    return part("mlp", gate_up, down, kind="feed_forward")


PHI = variant(
    FIELDS,
    switch("normed", "qk_layernorm", False),
    vocab=51200,
    hidden=2048,
    mlp=8192,
    layers=24,
    qkv_bias=constant("qkv_bias", True),
    out_bias=constant("out_bias", True),
    mlp_bias=constant("mlp_bias", True),
    head_bias=True,
)
PHI3 = variant(FIELDS, *NO_BIAS, vocab=32064, hidden=3072, mlp=8192, window=window(default=None))

FAMILIES = {
    "phi": Family("phi", PHI, with_heads("Phi", phi, "lm sequence token"), "PhiModel", IGNORED_KEYS),
    "phi3": Family("phi3", PHI3, with_heads("Phi3", phi3, "lm sequence token"), "Phi3Model", IGNORED_KEYS),
}
