"""MiniMax M3's language model: experts beside a shared one, and in most layers an indexer that picks blocks of keys.

Source: names as in transformers 5.23.0, models/minimax_m3_vl/modeling_minimax_m3_vl.py, which computes the scores of all keys and
masks those that are not picked: the arithmetic is that of full attention, and the indexer's beside it.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, one_per_layer
from weighbridge.blueprints.modules.mixture_of_experts import correction
from weighbridge.config.bind import say_value
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    INDEX_HEAD_DIM,
    INDEX_HEADS,
    KV_HEADS,
    LABELS,
    LAYERS,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    size,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, fused_experts, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def minimax_m3(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers with and without experts and indexer, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        mlp = experts(c) if kinds[1] == "sparse" else fused_mlp("mlp", H, c.dense_mlp)
        own = attention(c, indexed=kinds[0] == "minimax_m3_sparse")
        return own, mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)

    kinds = list(zip(c.attentions, c.kinds, strict=True))
    return embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H)


def fused_mlp(name: str, hidden: Size, inner: Size) -> Part:
    """Describe a gated MLP whose gate and values come out of one linear layer."""
    up, down = linear("gate_up_proj", hidden, 2 * inner, bias=False), linear("down_proj", inner, hidden, bias=False)
    return part(name, up, down, kind="feed_forward")


def attention(c: Config, *, indexed: bool) -> Part:
    """Describe grouped attention with norms on each head's queries and keys."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        linear("k_proj", H, K * D, bias=False),
        linear("v_proj", H, K * D, bias=False),
        linear("o_proj", A * D, H, bias=False),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        *((indexer(c),) if indexed else ()),
        attend(heads=A, kv_heads=K, head_dim=D, causal=True, cache=2 * K * D + c.index_dim if indexed else None),
        kind="self_attention",
    )


def indexer(c: Config) -> Part:
    """Describe the scores by which blocks of keys are picked: a few heads over one shared key."""
    J, D = c.index_heads, c.index_dim
    return part(
        "indexer",
        linear("q_proj", c.hidden, J * D, bias=False),
        linear("k_proj", c.hidden, D, bias=False),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        matmul("scores", ("seq", J, "seq", D)),
        kind="indexer",
    )


def experts(c: Config) -> Part:
    """Describe a router, experts, and the MLP that works on every token."""
    gate = part("gate", Tensor("weight", (c.experts, c.hidden)), correction(c), kind="linear")
    shared = fused_mlp("shared_experts", c.hidden, c.shared_mlp)
    return part("mlp", gate, fused_experts(c.experts, c.active, c.hidden, c.mlp), shared, kind="mixture")


ATTENTIONS = ("full_attention", "minimax_m3_sparse")


def _attentions(c: Config) -> list[str]:
    kinds = c.stated_attentions
    if kinds is None and c.sparse_layers is not None:
        kinds = ["minimax_m3_sparse" if sparse else "full_attention" for sparse in c.sparse_layers]
    return checked_kinds(c, kinds, "layer_types", ATTENTIONS) if kinds is not None else ["full_attention"] * len(layer_range(c.layers))


def _kinds(c: Config) -> list[str]:
    kinds = c.stated_kinds
    if kinds is None and c.mixed_layers is not None:
        kinds = ["sparse" if mixed else "dense" for mixed in c.mixed_layers]
    return one_per_layer(c, kinds, "mlp_layer_types") if kinds is not None else ["sparse"] * len(layer_range(c.layers))


FIELDS: tuple[Field, ...] = (
    VOCAB.with_default(200064),
    HIDDEN.with_default(6144),
    size("mlp", "intermediate_size", 3072, "M", "intermediate size of an expert"),
    size("dense_mlp", "dense_intermediate_size", 12288, "I", "intermediate size of a layer without experts"),
    size("shared_mlp", "shared_intermediate_size", 3072, "S", "intermediate size of the shared MLP"),
    LAYERS.with_default(60),
    HEADS.with_default(64),
    KV_HEADS.with_default(4),
    HEAD_DIM.with_default(128),
    size("experts", "num_local_experts", 128, "E", "experts", "num_experts"),
    ACTIVE_EXPERTS.with_default(4),
    INDEX_HEADS.with_default(4),
    INDEX_HEAD_DIM.with_default(128),
    Field("stated_attentions", "layer_types", None, "choice", report_default=False),
    Field(
        "sparse_layers",
        "sparse_attention_config",
        None,
        "choice",
        report_default=False,
        read=lambda value: value and value.get("sparse_attention_freq"),
    ),
    constant("attentions", _attentions),
    Field("stated_kinds", "mlp_layer_types", None, "choice", report_default=False),
    Field("mixed_layers", "moe_layer_freq", None, "choice", report_default=False),
    constant("kinds", _kinds),
    TIED.with_default(False),
    LABELS,
    constant("head_bias", False),
)


def normalize_config(raw: Any) -> dict[str, Any]:
    """Lift what published configs say of the indexer out of a mapping of its own, where it comes before the keys beside it."""
    inner = raw.get("sparse_attention_config") or {}
    if not isinstance(inner, Mapping):
        raise ConfigError(Text("expected an object, found {what}", what=say_value(inner)), key="sparse_attention_config", value=inner)
    names = {"sparse_num_index_heads": "index_n_heads", "sparse_index_dim": "index_head_dim"}
    kept = {key: value for key, value in raw.items() if key != "sparse_attention_config"}
    rest = {"sparse_attention_config": {key: value for key, value in inner.items() if key == "sparse_attention_freq"}} if inner else {}
    return {**kept, **rest, **{names[key]: value for key, value in inner.items() if key in names}}


IGNORED_KEYS = frozenset(
    """attention_output_gate first_k_dense_replace index_block_size index_local_blocks index_topk_blocks max_position_embeddings
    moe_intermediate_size n_shared_experts num_mtp_modules num_nextn_predict_layers partial_rotary_factor qk_norm_type rotary_dim
    routed_scaling_factor scoring_func sparse_attention_config swiglu_alpha swiglu_limit use_gemma_norm use_qk_norm
    use_routing_bias""".split()
)
CLASSES = with_heads("MiniMaxM3VL", minimax_m3, "lm", base="TextModel")
FAMILIES = {
    "minimax_m3_vl_text": Family(
        "minimax_m3_vl_text", FIELDS, CLASSES, "MiniMaxM3VLTextModel", IGNORED_KEYS, normalize_config=normalize_config
    )
}
