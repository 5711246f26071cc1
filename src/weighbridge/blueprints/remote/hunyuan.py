"""Hunyuan-Large: Llama with experts of one shared width, whose keys and values every other layer shares; its code stands beside its files.

Source: arXiv 2411.02265, table 1 and section 2.1.2; modeling_hunyuan.py of tencent/Tencent-Hunyuan-Large. Held tensor by tensor to the class of
mlx-lm 0.32.2, models/hunyuan.py, and to the published sizes (389B, 52B active). Later models are the library's ``hunyuan_v1_*``.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, default_head_dim, qk_norms, with_heads
from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, optional, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any


def hunyuan(c: Config) -> tuple[Node, ...]:
    """Describe Hunyuan-Large: only the first layer of each group makes keys and values, and caches them."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = mixture(c) if c.sparse else gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias)
        return (self_attention(c, own=kind == "own"), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def self_attention(c: Config, *, own: bool) -> Part:
    """Describe attention with keys and values of its *own*, or those of a layer before it."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    made = (linear("k_proj", H, K * D, bias=c.qkv_bias), linear("v_proj", H, K * D, bias=c.qkv_bias)) if own else ()
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        *made,
        linear("o_proj", A * D, H, bias=c.out_bias),
        *qk_norms(c),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, cache=None if own else 0),
        kind="self_attention",
    )


def mixture(c: Config) -> Part:
    """Describe the router, experts, and the MLP that every token goes through, where there is one."""
    H, inner = c.hidden, c.mlp if c.expert_mlp is None else c.expert_mlp
    experts = replace(gated_mlp("experts", H, inner, bias=c.mlp_bias), kind="experts", repeat=c.experts, experts=c.experts, active=c.active)
    shared = (gated_mlp("shared_mlp", H, c.mlp * c.shared_experts, bias=c.mlp_bias),) if c.mixed else ()
    return part("mlp", *shared, part("gate", linear("wg", H, c.experts, bias=False), kind="router"), experts, kind="mixture")


PER_LAYER = "num_experts", "moe_topk", "num_shared_expert", "moe_intermediate_size"


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put one number in place of a list with an entry for each layer, if all are the same.

    >>> normalize_config({"moe_topk": [8, 8]})
    {'moe_topk': 8}
    """
    found = dict(raw)
    for key in PER_LAYER:
        values = found.get(key)
        if isinstance(values, list) and values:
            if any(value != values[0] for value in values):
                raise ConfigError(Text("layers that differ ({values!r:.60}) are not described", values=values), key=key, value=values)
            found[key] = values[0]
    return found


def _kinds(c: Config) -> list[str]:
    step = c.share if c.sharing else 1
    return ["own" if index % step == 0 else "shared" for index in layer_range(c.layers)]


HUNYUAN = variant(
    FIELDS,
    size("experts", "num_experts", 1, "E", "experts"),
    size("active", "moe_topk", 1, "k", "experts per token"),
    size("shared_experts", "num_shared_expert", 1, "N", "shared experts"),
    optional("expert_mlp", "moe_intermediate_size", None, "M", "intermediate size of an expert"),
    switch("mixed", "use_mixed_mlp_moe", False),
    switch("sharing", "use_cla", False),
    Field("share", "cla_share_factor", 1, "choice"),
    computed("sparse", lambda c: c.experts > 1),
    computed("kinds", _kinds),
    read_none("use_mla"),
    read_none("moe_layer_num_skipped", 0),
    vocab=290943,
    head_dim=size("head_dim", "attention_head_dim", default_head_dim, "D", "head dimension", "head_dim", null=default_head_dim),
    qk_norm=choice("qk_norm", "use_qk_norm", False, read=lambda normed: "head" if normed else ""),
    qk_names=("query_layernorm", "key_layernorm"),
)
KEYS = IGNORED_KEYS | frozenset(
    """moe_drop_tokens moe_random_routing_dropped_token capacity_factor use_rotary_pos_emb norm_type eod_token_id sep_token_id im_start_id
    im_end_id im_newline_id text_start_id text_end_id image_token_id video_start_id video_end_id mask_init_id org_vocab_size enable_lm_head_fp32
    routed_scaling_factor group_limited_greedy n_group topk_group pool_type class_num add_classification_head kv_lora_rank q_lora_rank
    qk_rope_head_dim v_head_dim qk_nope_head_dim pad_id""".split()
)
FAMILIES = {
    "hunyuan": Family(
        "hunyuan", HUNYUAN, with_heads("HunYuan", hunyuan, "lm sequence"), "HunYuanModel", KEYS, normalize_config=normalize_config
    ),
}
