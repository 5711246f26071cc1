"""Gemma 4: two head widths (sliding and full attention), shared keys and values, per-layer embeddings, and experts beside the MLP.

Source: Google, Gemma 4 (2026); class and tensor names as in transformers 5.23.0, models/gemma4/modeling_gemma4.py and
models/gemma4_unified/modeling_gemma4_unified.py. The last layer attends in full, whatever a list says.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gemma import SANDWICH
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, sizes_by_kind
from weighbridge.config.bind import bind
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, constant, optional, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, fused_experts, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _kinds(c: Config) -> list[str]:
    return ["sliding_attention" if (index + 1) % 6 else "full_attention" for index in layer_range(c.layers)]


def _mixers(c: Config) -> list[str]:
    return [*checked_kinds(c, c.stated_kinds, "layer_types", ("sliding_attention", "full_attention"))[:-1], "full_attention"]


def reuse(c: Config) -> list[bool]:
    """Return for each layer whether it takes the keys and values of an earlier one of its kind.

    Raises:
        ConfigError: There is no earlier one of some kind.
    """
    first = c.layers - c.shared_layers
    making = c.mixers[:first]  # more that reuse than there are: the class counts from the end, as Python does
    reusing = [bool(c.shared_layers) and index >= first for index in layer_range(c.layers)]
    for kind in set(c.mixers) if c.shared_layers else ():
        if kind not in making or first - 1 - making[::-1].index(kind) < -c.layers:
            raise ConfigError(
                "a layer reuses the keys of a kind of layer that none makes", key="num_kv_shared_layers", value=c.shared_layers
            )
        reusing[first - 1 - making[::-1].index(kind)] = False
    return reusing


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a saved config says layer by layer, which the reference takes before the sizes of all layers in full.

    >>> normalize_config({"per_layer_config": {"29": {"head_dim": 64}, "5": {"head_dim": 64}}, "num_hidden_layers": 30})["global_head_dim"]
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: per_layer_config: layers of one kind whose sizes differ are not described
    """
    rest = {key: value for key, value in raw.items() if key != "per_layer_config"}
    if "per_layer_config" not in raw:
        return rest
    c = bind(tuple(field for field in UNIFIED if field.word != "reusing"), rest)  # a drafting model's layers may all reuse keys
    own = {"head_dim": c.head_dim, "num_key_value_heads": c.kv_heads}
    kinds = sizes_by_kind(c, raw["per_layer_config"] or {}, own)  # even a null is said: then all layers are alike
    full, limited = kinds.get("full_attention", own), kinds.get("sliding_attention", own)
    shared = full["num_key_value_heads"]
    if limited != own or (shared != c.kv_heads and not c.equal):
        raise ConfigError("these layer sizes are not described", key="per_layer_config", value=raw["per_layer_config"])
    return {**rest, "global_head_dim": full["head_dim"], "num_global_key_value_heads": shared}


def _refuse_unstated_sizes(c: Config) -> bool:
    for word, key in (("experts", "num_experts"), ("active", "top_k_experts"), ("expert_mlp", "moe_intermediate_size")):
        if c.sparse and getattr(c, word) is None:
            raise ConfigError("the config asks for experts, but does not set this field", key=key)
    return True


UNIFIED = variant(
    FIELDS,
    size("full_dim", "global_head_dim", 512, "Y", "head dimension in full-attention layers"),
    optional("full_kv", "num_global_key_value_heads", None, "G", "key-value heads in full-attention layers"),
    switch("equal", "attention_k_eq_v", False),
    switch("doubled", "use_double_wide_mlp", False),
    size("shared_layers", "num_kv_shared_layers", 0, "Z", "layers that reuse keys", minimum=0),
    Field("stated_kinds", "layer_types", _kinds, "choice"),
    choice("direction", "use_bidirectional_attention", None, report_default=False),
    constant("mixers", _mixers),
    constant("reusing", reuse),
    NO_MLP_BIAS,
    vocab=262144,
    hidden=2304,
    mlp=9216,
    layers=30,
    heads=8,
    kv_heads=4,
    head_dim=256,
    tied=True,
    window=optional("window", "sliding_window", 1024, "W", "attention window"),
)
TEXT = variant(
    UNIFIED,
    size("table", "hidden_size_per_layer_input", 256, "T", "width of a layer's table", minimum=0),
    size("table_rows", "vocab_size_per_layer_input", 262144, "U", "rows of a layer's table"),
    constant("tabled", lambda c: c.table > 0),
    switch("sparse", "enable_moe_block", False),
    optional("experts", "num_experts", None, "E", "experts"),
    optional("active", "top_k_experts", None, "k", "experts per token"),
    optional("expert_mlp", "moe_intermediate_size", None, "M", "intermediate size of an expert"),
    constant("stated", _refuse_unstated_sizes),
    window=optional("window", "sliding_window", 512, "W", "attention window"),
)
PLAIN = variant(UNIFIED, constant("table", 0), constant("table_rows", 0), constant("tabled", False), constant("sparse", False))


def gemma4(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers, a last norm, and where there are any the tables of the layers and how a token reaches them."""
    H = c.hidden
    layers = stack("layers", list(zip(c.mixers, c.reusing, strict=True)), c.layers, lambda kinds: layer(c, *kinds))
    wide = c.layers * c.table
    tables = (
        embedding("embed_tokens_per_layer", c.table_rows, wide),
        linear("per_layer_model_projection", H, wide, bias=False),
        rms_norm("per_layer_projection_norm", c.table),
    )
    return (embedding("embed_tokens", c.vocab, H), *layers, rms_norm("norm", H), *(tables if c.tabled else ()))


def layer(c: Config, kind: str, reusing: bool) -> tuple[Node, ...]:
    """Describe a layer: attention, MLP, four norms, the way in from its table, and experts that work beside the MLP."""
    H = c.hidden
    width = 2 * c.mlp if c.doubled and reusing else c.mlp
    table = (
        linear("per_layer_input_gate", H, c.table, bias=False),
        linear("per_layer_projection", c.table, H, bias=False),
        rms_norm("post_per_layer_input_norm", H),
    )
    return (
        Tensor("layer_scalar", (1,), "buffer"),
        attention(c, kind, reusing),
        gated_mlp("mlp", H, width),
        *(rms_norm(name, H) for name in SANDWICH),
        *(table if c.tabled else ()),
        *(experts(c) if c.sparse else ()),
    )


def attention(c: Config, kind: str, reusing: bool) -> Part:
    """Describe attention: wider heads where it is in full, whose values may be the keys, and none of its own where it reuses them."""
    H, A, limited = c.hidden, c.heads, kind == "sliding_attention"
    D = c.head_dim if limited else c.full_dim
    K = c.kv_heads if limited or c.full_kv is None or not c.equal else c.full_kv
    values = () if c.equal and not limited else (linear("v_proj", H, K * D, bias=c.qkv_bias),)
    window = c.window // 2 + 1 if c.direction == "all" and c.window is not None else c.window  # half before a token, half behind it
    kept = () if reusing else (rms_norm("k_norm", D), linear("k_proj", H, K * D, bias=c.qkv_bias), *values)
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        rms_norm("q_norm", D),
        *kept,
        linear("o_proj", A * D, H, bias=c.out_bias),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=window if limited else None, cache=0 if reusing else None),
        kind="self_attention",
    )


def experts(c: Config) -> tuple[Part, ...]:
    """Describe router and experts, with norms of their own."""
    H, E = c.hidden, c.experts
    scales = (Tensor("scale", (H,), "gain"), Tensor("per_expert_scale", (E,), "gain"))
    norms = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
    router = part("router", *scales, linear("proj", H, E, bias=False), kind="router")
    return (router, fused_experts(E, c.active, H, c.expert_mlp), *(rms_norm(name, H) for name in norms))


FAMILIES = {
    "gemma4_text": Family(
        "gemma4_text",
        TEXT,
        with_heads("Gemma4", gemma4, "lm", base="TextModel"),
        "Gemma4TextModel",
        IGNORED_KEYS,
        normalize_config=normalize_config,
    ),
    "gemma4_unified_text": Family(
        "gemma4_unified_text",
        PLAIN,
        with_heads("Gemma4Unified", gemma4, "lm", base="TextModel"),
        "Gemma4UnifiedTextModel",
        IGNORED_KEYS,
        normalize_config=normalize_config,
    ),
}
