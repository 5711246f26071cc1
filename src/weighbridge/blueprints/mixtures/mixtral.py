"""Mixtral: "Mixtral of Experts" (Jiang et al., 2024), and mixtures of experts with the same structure.

Source: arXiv 2401.04088, section 2; class and tensor names as in transformers 5.23.0, models/mixtral/modeling_mixtral.py
and the modular_*.py files of the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_BIAS, NO_MLP_BIAS, NO_OUT_BIAS, Body, attention, with_heads
from weighbridge.blueprints.modules.layer_types import dense_before, first_dense, listed_or, sparse_between, sparse_step
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, EXPERTS, MIXTURE, SHARED, mlp, required_field
from weighbridge.blueprints.modules.sliding_window import all_but_every, pattern, window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import NUM_EXPERTS, NUM_LOCAL_EXPERTS, SHARED_EXPERT_MLP, Config, Field, constant, size, switch, variant
from weighbridge.core.parts import embedding, layer_norm, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node


def mixtral(c: Config) -> tuple[Node, ...]:
    """Describe Llama with experts in place of some or all of its MLPs."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        return (attention(c), mlp(c, kind), *(norm(name, H) for name in c.norms))

    norm = layer_norm if c.layer_norms else rms_norm
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), norm("norm", H))


MIXTRAL = variant((*FIELDS, *MIXTURE), constant("norms", ("input_layernorm", "post_attention_layernorm")), constant("layer_norms", False))
AFTER = ("post_attention_layernorm", "post_feedforward_layernorm")
SWITCHED_ON = switch("limited", "use_sliding_window", False)
"""In Qwen's mixtures a window limits attention only if that is switched on."""
GLM_GATE = "experts corrected_gate shared_experts"


def expert_count(default: int) -> Field:
    """Declare the number of experts where the config has but one key for it."""
    return NUM_EXPERTS.with_default(default)


def expert_width(default: int) -> Field:
    """Declare the width of an expert."""
    return EXPERT_MLP.with_default(default)


def dense_first(c: Config) -> list[str]:
    """Return the kinds of layers where only the first has an ordinary MLP."""
    return dense_before(c, 1)


def first_ones(c: Config) -> list[str]:
    """Return the kinds of layers where a number says how many of the first have an ordinary MLP."""
    return dense_before(c, c.first)


def with_layer_kinds(fields: tuple[Field, ...], kinds: tuple[Field, ...], *more: Field, **changes: object) -> tuple[Field, ...]:
    """Return a variant whose config says each layer's kind, as *kinds* read it."""
    others = tuple(field for field in fields if field.word != "kinds")
    return variant((*others, *kinds), *more, **changes)


def num_experts(default: int) -> Field:
    """Declare experts whose class has Mixtral's other name as its attribute: that one yields where both are given."""
    return size("experts", "num_experts", default, "E", "experts", "num_local_experts")


TYPES: dict[str, tuple[str, str, tuple[Field, ...]]] = {
    "mixtral": ("Mixtral", "lm sequence token qa", variant(MIXTRAL, *NO_BIAS, mlp=14336, kv_heads=8, window=window(default=None))),
    "minimax_m2": (
        "MiniMaxM2",
        "lm",
        variant(
            MIXTRAL,
            *NO_BIAS,
            vocab=200064,
            hidden=3072,
            mlp=1536,
            layers=62,
            heads=48,
            kv_heads=8,
            head_dim=128,
            qk_norm="whole",
            experts=256,
            active=8,
            block="gate experts correction",
        ),
    ),
    "olmoe": (
        "Olmoe",
        "lm",
        variant(
            MIXTRAL,
            NO_MLP_BIAS,
            vocab=50304,
            hidden=2048,
            mlp=2048,
            layers=16,
            heads=16,
            qk_norm="hidden",
            experts=num_experts(64),
            active=8,
        ),
    ),
    "flex_olmo": (
        "FlexOlmo",
        "lm",
        variant(MIXTRAL, NO_MLP_BIAS, vocab=100352, qk_norm="whole", norms=AFTER, experts=num_experts(7), active=5),
    ),
    "qwen2_moe": (
        "Qwen2Moe",
        "lm sequence token qa",
        with_layer_kinds(
            MIXTRAL,
            sparse_step(),
            NO_OUT_BIAS,
            NO_MLP_BIAS,
            vocab=151936,
            hidden=2048,
            mlp=5632,
            layers=24,
            heads=16,
            kv_heads=16,
            qkv_bias=switch("qkv_bias", "qkv_bias", True),
            experts=expert_count(60),
            active=4,
            expert_mlp=expert_width(1408),
            shared_mlp=SHARED_EXPERT_MLP.with_default(5632),
            block="gate experts shared_expert shared_expert_gate",
            limited=SWITCHED_ON,
            late=Field("late", "max_window_layers", 28, "choice", report_default=False),
            window=window(),
            windowed=windowed_layers(lambda c: (min(c.late, c.layers) + 1) // 2 if c.limited else 0),
        ),
    ),
    "qwen3_moe": (
        "Qwen3Moe",
        "lm sequence token qa",
        with_layer_kinds(
            MIXTRAL,
            sparse_step(),
            NO_MLP_BIAS,
            vocab=151936,
            hidden=2048,
            mlp=6144,
            layers=24,
            kv_heads=4,
            qk_norm="head",
            experts=num_experts(128),
            active=8,
            expert_mlp=expert_width(768),
            block="experts gate",
            limited=SWITCHED_ON,
            window=window(),
            windowed=windowed_layers(lambda c: None if c.limited else 0),
        ),
    ),
    "mellum": (
        "Mellum",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            listed_or(lambda c: ["sparse"] * len(layer_range(c.layers))),
            NO_MLP_BIAS,
            vocab=98304,
            hidden=2304,
            mlp=7168,
            layers=28,
            kv_heads=4,
            head_dim=128,
            qk_norm="head",
            experts=num_experts(64),
            active=8,
            expert_mlp=expert_width(896),
            block="experts gate",
            window=window(default=1024),
            windowed=windowed_layers(lambda c: 0),
        ),
    ),
    "glm4_moe": (
        "Glm4Moe",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            first_dense(1),
            NO_OUT_BIAS,
            NO_MLP_BIAS,
            vocab=151552,
            mlp=10944,
            layers=46,
            heads=96,
            kv_heads=8,
            qk_norm=Field("qk_norm", "use_qk_norm", False, "choice", read=lambda used: "head" if used else ""),
            experts=EXPERTS.with_default(128),
            active=8,
            expert_mlp=expert_width(1408),
            shared_experts=SHARED,
            block=GLM_GATE,
        ),
    ),
    "dots1": (
        "Dots1",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            first_dense(0),
            NO_MLP_BIAS,
            vocab=152064,
            hidden=4608,
            mlp=10944,
            layers=62,
            kv_heads=32,
            qk_norm="head",
            experts=required_field(EXPERTS),
            active=None,
            expert_mlp=expert_width(1408),
            shared_experts=required_field(SHARED),
            block=GLM_GATE,
            late=Field("late", "max_window_layers", 62, "choice", report_default=False),
            window=window(),
            windowed=windowed_layers(lambda c: max(0, c.layers - c.late)),
        ),
    ),
    "solar_open": (
        "SolarOpen",
        "lm",
        variant(
            MIXTRAL,
            NO_OUT_BIAS,
            NO_MLP_BIAS,
            vocab=196608,
            layers=48,
            heads=64,
            kv_heads=8,
            head_dim=128,
            experts=EXPERTS.with_default(128),
            active=8,
            expert_mlp=expert_width(1280),
            shared_experts=SHARED,
            block=GLM_GATE,
        ),
    ),
    "exaone_moe": (
        "ExaoneMoe",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            (Field("first", "first_k_dense_replace", 1, "choice"), *listed_or(first_ones)),
            *NO_BIAS,
            vocab=102400,
            mlp=16384,
            kv_heads=32,
            qk_norm="head",
            experts=expert_count(64),
            active=8,
            expert_mlp=expert_width(1024),
            shared_experts=replace(SHARED, key="num_shared_experts"),
            block=GLM_GATE,
            pattern=pattern(4),
            window=window(),
            windowed=all_but_every(4),
        ),
    ),
    "hy_v3": (
        "HYV3",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            listed_or(dense_first, longer=True),
            vocab=120832,
            mlp=13312,
            layers=80,
            heads=64,
            kv_heads=8,
            head_dim=128,
            qk_norm="head",
            experts=replace(EXPERTS, key="num_experts", default=192, aliases=("num_local_experts",)),
            active=8,
            expert_mlp=replace(expert_width(1536), positive=True),
            shared_experts=replace(SHARED, key="num_shared_experts", minimum=1, positive=True),
            block="gate experts shared_experts correction",
        ),
    ),
    # its router always takes two experts, whatever num_experts_per_tok says
    "phimoe": (
        "Phimoe",
        "lm sequence",
        variant(
            MIXTRAL,
            NO_MLP_BIAS,
            vocab=32064,
            mlp=6400,
            kv_heads=8,
            experts=NUM_LOCAL_EXPERTS.with_default(16),
            active=constant("active", 2),
            head_bias=switch("head_bias", "lm_head_bias", False),
            layer_norms=True,
            block="router experts",
            window=window(default=None),
        ),
    ),
    "ernie4_5_moe": (
        "Ernie4_5_Moe",
        "lm",
        with_layer_kinds(
            MIXTRAL,
            sparse_between(),
            vocab=103424,
            hidden=2560,
            mlp=12288,
            layers=28,
            heads=20,
            kv_heads=4,
            tied=True,
            experts=size("experts", "moe_num_experts", 64, "E", "experts", "num_experts"),
            active=size("active", "moe_k", 6, "k", "experts per token", "num_experts_per_tok"),
            expert_mlp=expert_width(1536),
            shared_experts=replace(SHARED, key="moe_num_shared_experts", default=2),
            block=Field("block", "moe_num_shared_experts", 2, "choice", read=lambda n: "static_gate experts" + " shared_experts" * (n > 0)),
            **{word: switch(word, "use_bias", False) for word in ("qkv_bias", "out_bias", "mlp_bias", "head_bias")},
        ),
    ),
}

UNDER_TRANSFORMER = {"qwen3_moe"}


def families(types: Mapping[str, tuple[str, str, tuple[Field, ...]]], body: Body = mixtral) -> dict[str, Family]:
    """Return the families of a table such as :data:`TYPES`."""
    made = {}
    for model_type, (name, having, fields) in types.items():
        classes = with_heads(name, body, having, qa="transformer" if model_type in UNDER_TRANSFORMER else "")
        made[model_type] = Family(model_type, fields, classes, name + "Model", IGNORED_KEYS)
    return made


FAMILIES = families(TYPES)
