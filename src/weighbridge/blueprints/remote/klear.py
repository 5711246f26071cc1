"""Klear (Kwai, 2025): Qwen3's mixture with a shared expert, and a map that weighs both; its code stands beside its files.

Source: modeling_klear.py of Kwai-Klear/Klear-46B-A2.5B-Instruct. Held tensor by tensor to the class of mlx-lm 0.32.2, models/Klear.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.layer_types import sparse_step
from weighbridge.blueprints.remote.deepseek_moe import mixture
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_EXPERTS, Config, constant, size, variant
from weighbridge.core.parts import embedding, gated_mlp, linear, replace, rms_norm, stack
from weighbridge.core.tree import Node, Part, Tensor


def klear(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of which some may be dense, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = blended_experts(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def blended_experts(c: Config) -> Part:
    """Describe the mixture, what weighs its two halves, and the correction of the router's scores, which is a buffer."""
    found = mixture(c)
    return replace(found, children=(*found.children, linear("coefficient", c.hidden, 2), Tensor("expert_bias", (c.experts,), "buffer")))


KLEAR = variant(
    FIELDS,
    NUM_EXPERTS.with_default(256),
    ACTIVE_EXPERTS.with_default(8),
    size("shared_experts", "n_shared_experts", 1, "N", "shared experts"),
    size("expert_mlp", "moe_intermediate_size", 896, "M", "intermediate size of an expert"),
    *sparse_step(),
    NO_MLP_BIAS,
    vocab=151936,
    hidden=2048,
    mlp=8064,
    kv_heads=4,
    head_dim=HEAD_DIM,
    qk_norm="head",
    tied=constant("tied", False),
)
KEYS = IGNORED_KEYS - {"mlp_only_layers"} | {"moe_aux_loss_coeff"}
FAMILIES = {"Klear": Family("Klear", KLEAR, with_heads("KlearMoe", klear, "lm"), "KlearMoeForCausalLM", KEYS)}
