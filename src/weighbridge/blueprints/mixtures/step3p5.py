"""The text model of Step 3.5 and 3.7: gated attention with more heads in sliding-window layers, experts in all but the first layers.

Source: StepFun, Step-3.5-Flash (2026); class and tensor names as in transformers 5.23.0, models/step3p7/modeling_step3p7.py. Published
lists of layers go on with those that predict further tokens; the class leaves these out.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention
from weighbridge.blueprints.modules.layer_types import checked_kinds, sizes_by_kind
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, EXPERTS, MIXTURE, mlp
from weighbridge.config.bind import bind
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, derived, nested, optional, size, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def step(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention and of MLP, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        limited = kinds[0] == "sliding_attention"
        own = with_changes(c, heads=c.limited_heads, window=c.sight, heads_divide=False) if limited else c
        gate = linear("g_proj", H, own.heads if c.by_head else own.heads * c.head_dim, bias=False)
        return (attention(own, gate), mlp(c, kinds[1]), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def _cut(c: Config, kinds: Any) -> Any:
    padded = isinstance(kinds, list) and len(kinds) == c.layers + c.further
    return kinds[: c.layers] if padded else kinds


def _mixers(c: Config) -> list[str]:
    stated = ["full_attention"] * len(layer_range(c.layers)) if c.stated_mixers is None else _cut(c, c.stated_mixers)
    return checked_kinds(c, stated, "layer_types", ("full_attention", "sliding_attention"))


def _kinds(c: Config) -> list[str]:
    if c.stated_kinds is not None:
        return checked_kinds(c, _cut(c, c.stated_kinds), "mlp_layer_types", ("dense", "sparse"))
    return ["sparse" if index in _sparse_layers(c) else "dense" for index in layer_range(c.layers)]


def _sparse_layers(c: Config) -> set[int]:
    if c.enumerated is None:
        return set(layer_range(3, c.layers))
    items = c.enumerated.split(",") if isinstance(c.enumerated, str) else c.enumerated
    try:
        return {int(item) for item in items if str(item).strip()}
    except (TypeError, ValueError):
        raise ConfigError("expected layer numbers", key="moe_layers_enum", value=c.enumerated) from None


STEP = variant(
    (*(field for field in FIELDS if field.word not in ("labels", "tied")), *(field for field in MIXTURE if field.word != "kinds")),
    nested(
        "other",
        "attention_other_setting",
        (
            size("heads", "num_attention_heads", None, "A", "attention heads in sliding-window layers"),
            Field("kind", "attention_type", None, "choice"),
            Field("kv", "num_attention_groups", None, "choice"),
            Field("dim", "head_dim", None, "choice"),
        ),
    ),
    size(
        "stated_heads",
        "num_sliding_attention_heads",
        lambda c: c.heads if c.other.heads is None else c.other.heads,
        "J",
        "attention heads in sliding-window layers",
    ),
    derived("limited_heads", lambda c: c.stated_heads, "num_sliding_attention_heads"),
    optional("sight", "sliding_window", None, "W", "attention window"),
    Field("further", "num_nextn_predict_layers", 0, "choice", report_default=False, aliases=("num_mtp_layers",)),
    Field("stated_mixers", "layer_types", None, "choice"),
    Field("stated_kinds", "mlp_layer_types", None, "choice"),
    Field("enumerated", "moe_layers_enum", None, "choice", report_default=False),
    constant("mixers", _mixers),
    constant("kinds", _kinds),
    Field(
        "by_head", "gating", True, "choice", read=lambda value: value is True or value == "per-head", report_default=False, nullable=True
    ),
    vocab=128815,
    mlp=11264,
    layers=45,
    heads=64,
    head_dim=128,
    qk_norm="head",
    kv_heads=size("kv_heads", "num_key_value_heads", 8, "K", "key-value heads", "num_attention_groups"),
    experts=replace(EXPERTS, default=288, aliases=("moe_num_experts",)),
    active=size("active", "num_experts_per_tok", 8, "k", "experts per token", "moe_top_k"),
    expert_mlp=EXPERT_MLP.with_default(1280),
    shared_mlp=size("shared_mlp", "share_expert_dim", 1280, "S", "intermediate size of the shared expert", "share_expert_dims"),
    block="corrected_gate experts shared_experts",
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """moe_router_scaling_factor mtp_layer_types mtp_mlp_layer_types partial_rotary_factors query_pre_attn_scalar swiglu_limits
    swiglu_limits_shared tie_word_embeddings""".split()
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read the heads that a saved config gives layer by layer, which the reference takes before those of all layers that see a window.

    >>> layer = {"00": {"num_attention_heads": 96}}
    >>> normalize_config({"num_hidden_layers": 1, "layer_types": ["sliding_attention"], "per_layer_config": layer})["num_sliding_attention_heads"]
    96
    """
    rest = {key: value for key, value in raw.items() if key != "per_layer_config"}
    if "per_layer_config" not in raw:
        return rest
    c = bind(STEP, rest)
    own = {"num_attention_heads": c.heads}
    kinds = sizes_by_kind(c, raw["per_layer_config"] or {}, own)  # even a null is said: then all layers are alike
    if kinds.get("full_attention", own) != own:
        raise ConfigError("heads of their own in full attention are not described", key="per_layer_config", value=raw["per_layer_config"])
    return {**rest, "num_sliding_attention_heads": kinds.get("sliding_attention", own)["num_attention_heads"]}


def causal_lm(c: Config) -> Part:
    """Describe Step3p5ForCausalLM, the class of published configs, whose code stands beside the files."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False)
    return part("", part("model", *step(c), kind="backbone"), head, kind="model")


CLASSES = {"Step3p7TextModel": lambda c: part("", *step(c), kind="model"), "Step3p5ForCausalLM": causal_lm}
FAMILIES = {
    "step3p5": Family(
        "step3p5",
        STEP,
        CLASSES,
        "Step3p7TextModel",
        MORE_IGNORED_KEYS,
        normalize_config=normalize_config,
        remote=frozenset(("Step3p5ForCausalLM",)),
    )
}
