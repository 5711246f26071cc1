"""DeepSeek, the first (2024): "DeepSeekMoE" (Dai et al.); its code stands beside its files on the Hub.

Source: arXiv 2401.06066; modeling_deepseek.py of deepseek-ai/deepseek-moe-16b-base. Held to published totals, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, Config, Field, constant, size, variant
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part


def deepseek_moe(c: Config) -> tuple[Node, ...]:
    """Describe Llama with many small experts, each with matrices of its own, and a few that every token goes through."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = mixture(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixture(c: Config) -> Part:
    """Describe experts, router, and the shared experts, which are one MLP."""
    experts = replace(gated_mlp("experts", c.hidden, c.expert_mlp), kind="experts", repeat=c.experts, experts=c.experts, active=c.active)
    shared = gated_mlp("shared_experts", c.hidden, c.shared_experts * c.expert_mlp)
    return part("mlp", experts, linear("gate", c.hidden, c.experts, bias=False), shared, kind="mixture")


def _kinds(c: Config) -> list[str]:
    return ["sparse" if index >= c.dense and index % c.step == 0 else "dense" for index in layer_range(c.layers)]


DEEPSEEK = variant(
    FIELDS,
    size("experts", "n_routed_experts", 64, "E", "routed experts"),
    ACTIVE_EXPERTS.with_default(6),
    size("shared_experts", "n_shared_experts", 2, "N", "shared experts"),
    size("expert_mlp", "moe_intermediate_size", 1408, "M", "intermediate size of an expert"),
    Field("dense", "first_k_dense_replace", 0, "choice"),
    Field("step", "moe_layer_freq", 1, "choice"),
    constant("kinds", _kinds),
    NO_MLP_BIAS,
    vocab=102400,
    head_dim=HEAD_DIM,
)

MORE_IGNORED_KEYS = IGNORED_KEYS | {"aux_loss_alpha", "scoring_func", "seq_aux"}
FAMILIES = {
    "deepseek": Family("deepseek", DEEPSEEK, with_heads("Deepseek", deepseek_moe, "lm sequence"), "DeepseekModel", MORE_IGNORED_KEYS)
}
