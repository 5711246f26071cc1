"""Llama's attention beside other mixtures: Arctic, Grok and GroveMoE, whose code stands beside their files or in servers.

Source: Snowflake's modeling_arctic.py (2024), whose residual MLP is as wide as the model; xai-org/grok-1 and the names of xai-org/grok-2
(2024, 2025), with a norm before and after each half; modeling_grove_moe.py of inclusionAI/GroveMoE-Inst (arXiv 2508.07785), where
every two experts share a narrow third. Held to the shapes for which llama.cpp's loader asks and to published sizes (480B, 314B, 33B),
not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_BIAS, attention, with_heads
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, MIXTURE, sparse_mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import NUM_EXPERTS, NUM_LOCAL_EXPERTS, Config, Field, size, switch, variant
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, linear, part, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def body(c: Config, *halves: Part) -> tuple[Node, ...]:
    """Describe embeddings, layers that are all alike, and a last norm."""
    layer = part("layers", attention(c), *halves, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden))


def norms(c: Config, names: str) -> tuple[Part, ...]:
    """Describe norms over the hidden size."""
    return tuple(rms_norm(name, c.hidden) for name in names.split())


def arctic(c: Config) -> tuple[Node, ...]:
    """Describe layers of attention, an MLP that is always at work, and experts beside both."""
    H = c.hidden
    residual = part("residual_mlp", *(linear(f"w{number}", H, H, bias=False) for number in (1, 2, 3)), kind="feed_forward")
    names = "input_layernorm post_attention_layernorm residual_layernorm"
    return body(c, sparse_mlp(c, "block_sparse_moe"), *norms(c, names), residual)


def grok(c: Config) -> tuple[Node, ...]:
    """Describe layers with a norm before and after each half, and, in Grok 2, an MLP beside the experts."""
    dense = (gated_mlp("mlp", c.hidden, c.mlp),) if c.residual else ()
    names = "pre_attn_norm post_attn_norm pre_moe_norm post_moe_norm"
    return body(c, *dense, sparse_mlp(c, "block_sparse_moe"), *norms(c, names))


def grove_moe(c: Config) -> tuple[Node, ...]:
    """Describe Qwen3's mixture, with a narrow expert more for every group of experts."""
    groups = exact(c.experts, c.group)
    # Experts chosen out of one group share one; as many as there are experts at work are at work at most.
    shared = fused_experts(groups, c.active, c.hidden, c.chunk_mlp, name="chunk_experts")
    return body(c, sparse_mlp(c, "mlp", shared), *norms(c, "input_layernorm post_attention_layernorm"))


ALIKE = tuple(field for field in (*FIELDS, *MIXTURE) if field.word != "kinds")
ARCTIC = variant(ALIKE, *NO_BIAS, mlp=4864, hidden=7168, layers=35, heads=56, kv_heads=8, experts=NUM_LOCAL_EXPERTS.with_default(128))
GROK = variant(
    ALIKE,
    switch("residual", "residual_moe", False),
    *NO_BIAS,
    vocab=131072,
    hidden=6144,
    mlp=32768,
    layers=64,
    heads=48,
    kv_heads=8,
    head_dim=128,
    tied=True,
    experts=NUM_LOCAL_EXPERTS.with_default(8),
    expert_mlp=EXPERT_MLP.with_default(lambda c: c.mlp),
)
GROVE = variant(
    ALIKE,
    *NO_BIAS,
    vocab=151936,
    hidden=2048,
    mlp=6144,
    layers=48,
    kv_heads=4,
    head_dim=128,
    qk_norm="head",
    experts=NUM_EXPERTS.with_default(128),
    active=8,
    expert_mlp=EXPERT_MLP.with_default(768),
    block="experts gate",
)
GROVE = (
    *GROVE,
    Field("group", "num_experts_per_group", 2, "choice", report_default=False),
    size("chunk_mlp", "small_experts_intermediate_size", 128, "N", "intermediate size of the shared expert"),
)
TYPES = {"arctic": ("Arctic", ARCTIC, arctic), "grok": ("Grok1", GROK, grok), "grove_moe": ("GroveMoe", GROVE, grove_moe)}
MORE_IGNORED_KEYS = {
    "arctic": "enable_expert_tensor_parallelism moe_eval_capacity_factor moe_min_capacity moe_token_dropping moe_train_capacity_factor quantization",
    "grok": "attn_output_multiplier attn_temperature_len embedding_multiplier_scale max_attn_value output_multiplier_scale router_logit_softcapping",
    "grove_moe": "small_experts_weight use_expert_bias",
}
FAMILIES = {
    name: Family(
        name, fields, with_heads(classes, described, "lm"), f"{classes}ForCausalLM", IGNORED_KEYS | set(MORE_IGNORED_KEYS[name].split())
    )
    for name, (classes, fields, described) in TYPES.items()
}
