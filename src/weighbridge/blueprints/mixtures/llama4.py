"""Llama 4: the text model of Scout and Maverick (Meta, 2025), one routed and one shared expert per token.

Source: class and tensor names as in transformers 5.23.0, models/llama4/modeling_llama4.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_LOCAL_EXPERTS, Config, Field, constant, size, variant
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part


def llama4(c: Config) -> tuple[Node, ...]:
    """Describe Llama with experts in every layer (Scout) or in every second one (Maverick)."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = mixture(c) if kind == "sparse" else gated_mlp("feed_forward", H, c.dense_mlp)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixture(c: Config) -> Part:
    """Describe experts, router and shared expert; the reference runs every expert on every token, and weighs most with zero."""
    E, H, I = c.experts, c.hidden, c.mlp
    return part(
        "feed_forward",
        fused_experts(E, c.active, H, I, inputs_first=True),
        linear("router", H, E, bias=False),
        gated_mlp("shared_expert", H, I),
        matmul("idle_experts", (2, E - c.active, "seq", I, H), (E - c.active, "seq", H, I)),
        kind="mixture",
    )


def _expert_layers(c: Config) -> list[int]:
    return list(layer_range(c.step - 1, c.layers, c.step))


def _chunked_layers(c: Config) -> int:
    return int(c.layers) - int(c.layers) // int(c.interval)


LLAMA4 = variant(
    (
        *(field for field in FIELDS if field.word != "windowed"),
        Field("interval", "no_rope_layer_interval", 4, "choice"),
        windowed_layers(_chunked_layers),
    ),
    size("dense_mlp", "intermediate_size_mlp", 16384, "J", "intermediate size of a layer without experts"),
    NUM_LOCAL_EXPERTS.with_default(16),
    ACTIVE_EXPERTS.with_default(1),
    Field("step", "interleave_moe_layer_step", 1, "choice"),
    Field("sparse", "moe_layers", _expert_layers, "choice"),
    constant("kinds", lambda c: ["sparse" if index in c.sparse else "dense" for index in layer_range(c.layers)]),
    NO_MLP_BIAS,
    vocab=202048,
    hidden=5120,
    mlp=8192,
    layers=48,
    heads=40,
    kv_heads=8,
    head_dim=128,
    window=window("attention_chunk_size", 8192),
)

MORE_IGNORED_KEYS = IGNORED_KEYS | {
    "attn_scale",
    "attn_temperature_tuning",
    "floor_scale",
    "no_rope_layers",
    "use_qk_norm",
    "for_llm_compressor",
}
FAMILIES = {
    "llama4_text": Family("llama4_text", LLAMA4, with_heads("Llama4", llama4, "lm", base="TextModel"), "Llama4TextModel", MORE_IGNORED_KEYS)
}
