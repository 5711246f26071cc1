"""Ling and Ring by inclusionAI (Bailing): queries, keys and values in one map, and many small experts; its code stands beside its files.

Source: arXiv 2503.05139 (Ling 1) and 2510.22115 (Ling 2); modeling_bailing_moe.py of inclusionAI/Ling-lite and modeling_bailing_moe_v2.py of
inclusionAI/Ling-V2. Held tensor by tensor to the classes of mlx-lm 0.32.2, models/bailing_moe, which reads their files.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.remote.both_ways import reading_both_ways
from weighbridge.blueprints.remote.deepseek_moe import mixture
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_EXPERTS, Config, choice, constant, optional, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def attention(c: Config) -> Part:
    """Describe attention whose queries, keys and values are one map, with norms over a head where the config says so."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    norms = (rms_norm(f"{name}_layernorm", D) for name in ("query", "key")) if c.normed else ()
    return part(
        "attention",
        linear("query_key_value", H, (A + 2 * K) * D, bias=c.qkv_bias),
        linear("dense", A * D, H, bias=c.out_bias),
        *norms,
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def experts(c: Config) -> Part:
    """Describe the mixture; a correction of the router's scores is a buffer of the second code, and is in the files."""
    found = mixture(c)
    kept = [child for child in found.children if child.name != "shared_experts" or c.shared_experts is not None]
    if not c.corrected:
        return replace(found, children=tuple(kept))
    gate = part("gate", Tensor("weight", (c.experts, c.hidden)), Tensor("expert_bias", (c.experts,), "buffer"), kind="linear")
    return replace(found, children=tuple(gate if child.name == "gate" else child for child in kept))


def bailing(c: Config) -> tuple[Node, ...]:
    """Describe the layers, of which the first may be dense."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = experts(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("word_embeddings", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def _kinds(c: Config) -> list[str]:
    return ["sparse" if index >= c.dense else "dense" for index in layer_range(c.layers)]


def refuse_predicted(value: Any) -> Any:
    """Refuse layers that predict further tokens: releases of the code count them among the layers, or beside them."""
    if value:
        raise ConfigError(
            "layers of multi-token prediction are not described: releases of this code count them among num_hidden_layers or beside them",
            key="num_nextn_predict_layers",
            value=value,
        )
    return value


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Add what the second code takes for granted; a width of the shared experts that it does not read must be the one that it takes.

    >>> normalize_config({"architectures": ["BailingMoeV2ForCausalLM"], "head_dim": 64})["head_dim"]
    64
    >>> normalize_config({"architectures": ["BailingMoeForCausalLM"]})
    {'architectures': ['BailingMoeForCausalLM']}
    """
    key = "moe_shared_expert_intermediate_size"
    stated = raw.get(key)
    if stated is not None and stated != raw.get("moe_intermediate_size"):
        raise ConfigError("shared experts of another width than the others are not described", key=key, value=stated)
    named = raw.get("architectures")
    second = isinstance(named, list) and bool(named) and str(named[0]).startswith("BailingMoeV2")
    return {**SECOND, **raw} if second else dict(raw)


SECOND = {"use_qk_norm": True, "moe_router_enable_expert_bias": True, "head_dim": 128}
LING = variant(
    FIELDS,
    NUM_EXPERTS.with_default(64),
    ACTIVE_EXPERTS.with_default(6),
    optional("shared_experts", "num_shared_experts", 2, "N", "shared experts"),
    size("expert_mlp", "moe_intermediate_size", 1408, "M", "intermediate size of an expert"),
    choice("dense", "first_k_dense_replace", 0),
    constant("kinds", _kinds),
    switch("normed", "use_qk_norm", False),
    switch("corrected", "moe_router_enable_expert_bias", False),
    choice("predicted", "num_nextn_predict_layers", 0, read=refuse_predicted, report_default=False),
    NO_MLP_BIAS,
    qkv_bias=switch("qkv_bias", "use_qkv_bias", False),
    out_bias=switch("out_bias", "use_bias", False),
    vocab=126464,
    hidden=2048,
    mlp=1408,
    layers=28,
    heads=16,
    kv_heads=size("kv_heads", "num_key_value_heads", 4, "K", "key-value heads", null=lambda c: c.heads),
)
KEYS = IGNORED_KEYS - {"num_nextn_predict_layers"} | frozenset(
    """embedding_dropout output_dropout norm_head norm_softmax pretraining_tp use_rmsnorm router_dtype score_function max_window_layers
    moe_router_enable_routed_scaling moe_router_enable_shared_expert moe_shared_expert_intermediate_size mtp_loss_scaling_factor""".split()
)
CLASSES = {
    name: blueprint
    for prefix in ("BailingMoe", "BailingMoeV2")
    for name, blueprint in with_heads(prefix, bailing, "lm", table="word_embeddings").items()
}
BOTH_WAYS = {"LLaDA2MoeModelLM": reading_both_ways(CLASSES["BailingMoeV2ForCausalLM"])}
MASKED = variant(
    LING,
    NUM_EXPERTS.with_default(256),
    ACTIVE_EXPERTS.with_default(8),
    optional("shared_experts", "num_shared_experts", 1, "N", "shared experts"),
    size("expert_mlp", "moe_intermediate_size", 512, "M", "intermediate size of an expert"),
    choice("dense", "first_k_dense_replace", 1),
    switch("normed", "use_qk_norm", True),
    switch("corrected", "moe_router_enable_expert_bias", True),
    vocab=157184,
    mlp=5120,
    layers=20,
)
"""LLaDA2.0, which fills in masked words by Ling 2's layers."""
FAMILIES = {
    "bailing_moe": Family("bailing_moe", LING, CLASSES, "BailingMoeModel", KEYS, normalize_config=normalize_config),
    "llada2_moe": Family("llada2_moe", MASKED, BOTH_WAYS, "LLaDA2MoeModelLM", KEYS | {"mask_token_id", "rotary_dim"}),
}
