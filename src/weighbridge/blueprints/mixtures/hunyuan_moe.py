"""Mixtral variants of 2025 and 2026: Hunyuan (query-key norms), Kolibri (four norms), Flint (attention sinks).

Source: class and tensor names as in transformers 5.23.0, models/hunyuan_v1_moe, models/kolibri1, models/flint.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, expert_count, expert_width, families, num_experts, with_layer_kinds
from weighbridge.blueprints.modules.causal_lm import NO_BIAS, NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.layer_types import sparse_step
from weighbridge.blueprints.modules.mixture_of_experts import mlp, sparse_mlp
from weighbridge.blueprints.modules.sliding_window import all_but_every, window, windowed_layers
from weighbridge.config.fields import SHARED_EXPERT_MLP, Config, Field, size, variant
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Tensor


def hunyuan(c: Config) -> tuple[Node, ...]:
    """Describe Hunyuan-A13B: a router called ``gate.wg``, experts, and an MLP of the same width that every token goes through."""
    H = c.hidden
    layer = part(
        "layers",
        attention(c),
        part(
            "mlp",
            part("gate", linear("wg", H, c.experts, bias=False), kind="router"),
            fused_experts(c.experts, c.active, H, c.mlp),
            gated_mlp("shared_mlp", H, c.mlp),
            kind="mixture",
        ),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def kolibri(c: Config) -> tuple[Node, ...]:
    """Describe Kolibri: experts in every layer, norms before and after each half."""
    layer = part("layers", attention(c), sparse_mlp(c), *(rms_norm(name, c.hidden) for name in c.norms), kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden))


def flint(c: Config) -> tuple[Node, ...]:
    """Describe Flint: attention sinks, an ordinary MLP in the first two layers."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        sinks = Tensor("sinks", (c.heads,), "bias")
        return (attention(c, before=(sinks,)), mlp(c, kind), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def _flint_windows(c: Config) -> int:
    full = [index for index in layer_range(c.layers) if index < 2 or index % 4 == 1 or index == c.layers - 1]
    return int(c.layers) - len(full)


def shared_mlp_field(default: int) -> Field:
    """Declare the width of the MLP that every token goes through."""
    return SHARED_EXPERT_MLP.with_default(default)


HUNYUAN = variant(
    MIXTRAL,
    NO_MLP_BIAS,
    vocab=290943,
    qk_norm="head",
    qk_names=("query_layernorm", "key_layernorm"),
    experts=replace(expert_count(1), aliases=("num_local_experts",)),
    active=size("active", "moe_topk", 1, "k", "experts per token", "num_experts_per_tok"),
)
KOLIBRI = variant(
    tuple(field for field in MIXTRAL if field.word != "mlp"),
    *NO_BIAS,
    vocab=128000,
    hidden=2560,
    layers=50,
    heads=48,
    kv_heads=4,
    head_dim=128,
    qk_norm="head",
    norms=("input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"),
    experts=num_experts(384),
    active=6,
    expert_mlp=expert_width(512),
    shared_mlp=shared_mlp_field(512),
    block="experts corrected_gate shared_experts",
    window=window(default=513),
    windowed=all_but_every(5),
)
STEP, ONLY_DENSE, KINDS = sparse_step()
FLINT = with_layer_kinds(
    MIXTRAL,
    (STEP, replace(ONLY_DENSE, default=[0, 1]), KINDS),
    NO_MLP_BIAS,
    vocab=150144,
    hidden=2048,
    mlp=6144,
    layers=49,
    kv_heads=4,
    head_dim=128,
    qk_norm="head",
    experts=expert_count(256),
    active=6,
    expert_mlp=expert_width(512),
    shared_mlp=shared_mlp_field(1024),
    block="experts gate shared_expert",
    window=window(default=513),
    windowed=windowed_layers(_flint_windows),
)

FAMILIES = (
    families({"hunyuan_v1_moe": ("HunYuanMoEV1", "lm sequence", HUNYUAN)}, hunyuan)
    | families({"kolibri1": ("Kolibri1", "lm", KOLIBRI)}, kolibri)
    | families({"flint": ("Flint", "lm", FLINT)}, flint)
)
