"""The text model of Muse Spark: experts in a lower-dimensional space, gated attention, gated residuals.

Source: class and tensor names as in transformers 5.23.0, models/muse_spark/modeling_muse_spark.py. Some of its norms have no parameters.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.layer_types import listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, correction
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_LOCAL_EXPERTS, Config, size, variant
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor


def muse(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        gate = linear("gate_proj", H, c.heads * c.head_dim, bias=False)
        gates = ("post_attention_residual_gate", "post_feedforward_residual_gate")
        return (
            attention(c, gate),
            experts(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp),
            *(rms_norm(f"{name}_layernorm", H) for name in ("input", "pre_feedforward", "post_feedforward")),
            *(part(name, Tensor("gate", (H,), "gain"), kind="gate") for name in gates),
        )

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def experts(c: Config) -> Part:
    """Describe the router, the way into the experts' space, the experts, and the way back."""
    H, N = c.hidden, c.narrow
    fused = fused_experts(c.experts, c.active, N, c.expert_mlp)
    # the norm stands among the experts' tensors, and works on every token that any of them has seen
    held = part("experts", replace(fused, name=""), rms_norm("post_expert_norm", N), kind="experts")
    return part(
        "mlp",
        part("gate", Tensor("weight", (c.experts, H)), correction(c), kind="linear"),
        linear("pre_expert_proj", H, N, bias=False),
        rms_norm("pre_expert_norm", N),
        held,
        linear("post_expert_proj", N, H, bias=False),
        kind="mixture",
    )


MUSE = variant(
    FIELDS,
    NUM_LOCAL_EXPERTS.with_default(256),
    ACTIVE_EXPERTS.with_default(8),
    size("narrow", "moe_hidden_size", 4096, "R", "width of the experts"),
    EXPERT_MLP.with_default(4096),
    *listed_or(lambda c: ["sparse"] * len(layer_range(c.layers))),
    NO_MLP_BIAS,
    vocab=202048,
    hidden=8192,
    mlp=16384,
    layers=62,
    heads=128,
    kv_heads=16,
    head_dim=64,
    window=window(default=2048),
    windowed=windowed_layers(lambda c: int(c.layers) - (int(c.layers) + 3) // 4),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {
    "layer_rope_theta",
    "output_multiplier",
    "post_norm_eps",
    "qk_scale_factor",
    "residual_gate_temperature",
}
CLASSES = {"MuseSparkTextModel": lambda c: part("", *muse(c), kind="model")}
FAMILIES = {"muse_spark_text": Family("muse_spark_text", MUSE, CLASSES, "MuseSparkTextModel", MORE_IGNORED_KEYS)}
