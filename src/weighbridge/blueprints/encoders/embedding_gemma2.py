"""EmbeddingGemma 2: Gemma 4's layers without a causal mask, each gated by a signal made of the words alone, and a last map to the embedding.

Source: Google, EmbeddingGemma 2 (2026); class and tensor names as in transformers 5.23.0,
models/embedding_gemma2/modeling_embedding_gemma2.py, which computes the scores of
all keys and masks those outside the window. The last layer attends in full, whatever a list says.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.gemma import SANDWICH
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.layer_types import checked_kinds, sizes_by_kind
from weighbridge.config.bind import bind
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, VOCAB, Config, Field, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

LIMITED, FULL = "sliding_attention", "full_attention"


def _kinds(c: Config) -> list[str]:
    return [LIMITED if (index + 1) % c.pattern else FULL for index in layer_range(c.layers)]


def _mixers(c: Config) -> list[str]:
    return [*checked_kinds(c, c.stated_kinds, "layer_types", (LIMITED, FULL))[:-1], FULL]


FIELDS = (
    VOCAB.with_default(262144),
    HIDDEN.with_default(512),
    MLP.with_default(2048),
    LAYERS.with_default(24),
    HEADS.with_default(4),
    KV_HEADS.with_default(2),
    size("head_dim", "head_dim", 256, "D", "head dimension"),
    size("full_dim", "global_head_dim", 512, "Y", "head dimension in full-attention layers"),
    size("full_kv", "num_global_key_value_heads", 1, "G", "key-value heads in full-attention layers"),
    switch("qkv_bias", "attention_bias", False),
    Field("pattern", "sliding_window_pattern", 6, "choice", report_default=False),
    Field("stated_kinds", "layer_types", _kinds, "choice"),
    constant("mixers", _mixers),
    size("signal", "hidden_size_per_layer_input", 512, "T", "width of a layer's signal"),
    size("out", "embedding_dim", 768, "O", "width of the embedding"),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a saved config says layer by layer, which the reference takes before the sizes of all layers in full.

    >>> normalize_config({"per_layer_config": {"1": {"head_dim": 64}}, "num_hidden_layers": 2, "sliding_window_pattern": 2})["global_head_dim"]
    64
    """
    rest = {key: value for key, value in raw.items() if key != "per_layer_config"}
    if "per_layer_config" not in raw:
        return rest
    c = bind(FIELDS, rest)
    own = {"head_dim": c.head_dim, "num_key_value_heads": c.kv_heads}
    kinds = sizes_by_kind(c, raw["per_layer_config"] or {}, own)
    if kinds.get(LIMITED, own) != own:
        raise ConfigError("these layer sizes are not described", key="per_layer_config", value=raw["per_layer_config"])
    full = kinds.get(FULL, own)
    return {**rest, "global_head_dim": full["head_dim"], "num_global_key_value_heads": full["num_key_value_heads"]}


def text(c: Config) -> Part:
    """Describe EmbeddingGemma2TextModel: embeddings, layers, a norm, the signals of all layers, and the map to the embedding."""
    H, wide = c.hidden, c.layers * c.signal
    maps = linear("per_layer_model_projection", H, wide, bias=False), rms_norm("per_layer_projection_norm", c.signal)
    return part(
        "",
        embedding("embed_tokens", c.vocab, H),
        *stack("layers", c.mixers, c.layers, lambda kind: layer(c, kind)),
        rms_norm("norm", H),
        part("ple", *maps, kind="embeddings"),
        linear("embedding_projection", H, c.out, bias=False),
        kind="model",
    )


def layer(c: Config, kind: str) -> tuple[Node, ...]:
    """Describe a layer: attention, MLP, four norms, and the gate by the layer's signal."""
    H = c.hidden
    gate = linear("per_layer_input_gate", H, c.signal, bias=False), linear("per_layer_projection", c.signal, H, bias=False)
    return (
        Tensor("layer_scalar", (1,), "buffer"),
        attention(c, kind),
        gated_mlp("mlp", H, c.mlp),
        *(rms_norm(name, H) for name in SANDWICH),
        part("ple_block", *gate, rms_norm("post_per_layer_input_norm", H), kind="feed_forward"),
    )


def attention(c: Config, kind: str) -> Part:
    """Describe attention over all tokens, or over those within a distance; the values' norm has no parameters."""
    H, A, limited = c.hidden, c.heads, kind == LIMITED
    D, K = (c.head_dim, c.kv_heads) if limited else (c.full_dim, c.full_kv)
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * D, bias=c.qkv_bias),
        linear("o_proj", A * D, H, bias=c.qkv_bias),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


NAME = "EmbeddingGemma2TextModel"
FAMILIES = {
    "embedding_gemma2_text": Family(
        "embedding_gemma2_text", FIELDS, {NAME: text}, NAME, IGNORED_KEYS | {"sliding_window"}, normalize_config=normalize_config
    ),
}
