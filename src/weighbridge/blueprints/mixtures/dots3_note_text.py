"""dots3-note's language model: indexed latent attention in a few layers and, in the others, latent attention of other widths in a window.

Source: names as in transformers 5.23.0, models/dots3_note/modeling_dots3_note.py. A gate scales each head, and the shared rotary key has a norm.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, V3_BLOCK, latent_attention, latent_fields
from weighbridge.blueprints.mixtures.deepseek_v32 import indexer
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, listed_or, sizes_by_kind
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, mlp
from weighbridge.config.bind import bind
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    INDEX_HEAD_DIM,
    INDEX_HEADS,
    Q_LORA_RANK,
    Config,
    Field,
    computed,
    constant,
    derived,
    size,
    variant,
    with_changes,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import embedding, linear, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State

if TYPE_CHECKING:
    from typing import Any

WIDTHS = {
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "q_lora": "q_lora_rank",
    "kv_lora": "kv_lora_rank",
    "head_dim": "head_dim",
    "plain_dim": "qk_nope_head_dim",
    "rope_dim": "qk_rope_head_dim",
    "value_dim": "v_head_dim",
}
"""What the layers with a window have of their own: our word, and the key, which stands after ``swa_``."""
MIXERS = "full_attention", "indexed_attention", "sliding_attention"


def attention(c: Config, mixer: str) -> Part:
    """Describe latent attention; what sees a window has its own widths."""
    limited = mixer == "sliding_attention"
    own = with_changes(c, **{word: getattr(c, f"limited_{word}") for word in WIDTHS}) if limited else c
    more = rms_norm("k_rope_only_layernorm", own.rope_dim), linear("g_proj", own.hidden, own.heads, bias=False)
    if mixer == "indexed_attention":
        return _with_memory(latent_attention(own, *more, indexer(own)), State("indexer_keys", own.index_dim, "float32", per_token=True))
    whole = latent_attention(own, *more)
    *modules, attends = whole.children
    return replace(whole, children=(*modules, replace(attends, window=c.sight))) if limited else whole


def _with_memory(part: Part, memory: State) -> Part:
    return replace(part, children=(*part.children, memory))


def body(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and an MLP or experts, and a last norm."""

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        norms = (rms_norm(name, c.hidden) for name in ("input_layernorm", "post_attention_layernorm"))
        return attention(c, kinds[0]), mlp(c, kinds[1]), *norms

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    return embedding("embed_tokens", c.vocab, c.hidden), *stack("layers", kinds, c.layers, layer), rms_norm("norm", c.hidden)


def _sparse_layers(c: Config) -> list[str]:
    """Return which layers have experts, where no list says it."""
    steps = list(c.step) if isinstance(c.step, (list, tuple)) else None
    if steps is not None and len(steps) < c.layers:
        raise ConfigError("expected one entry for each layer", key="moe_layer_freq", value=steps)
    chosen = [steps[index] if steps is not None else index % c.step == 0 for index in layer_range(c.layers)]
    return ["sparse" if index >= c.dense and one else "dense" for index, one in enumerate(chosen)]


def _mixers(c: Config) -> list[str]:
    """Return what each layer attends to; older files call the indexed layers full."""
    stated = c.stated_mixers
    if stated is None:
        everywhere = "full_attention" if c.indexed is False else "indexed_attention"
        limited = [c.limits and index > 1 and index % 4 != 1 for index in layer_range(c.layers)]
        stated = ["sliding_attention" if one else everywhere for one in limited]
    mixers = checked_kinds(c, stated, "layer_types", MIXERS)
    if c.indexed is None:
        return mixers
    old, new = MIXERS[:2] if c.indexed else MIXERS[1::-1]
    return [new if mixer == old else mixer for mixer in mixers]


def _refuse_mismatch(c: Config) -> bool:
    """Refuse what the class refuses: key heads unlike heads, widths that do not add up, groups that do not divide the experts."""
    wholes = {"": c} | (
        {"swa_": Config(**{word: getattr(c, f"limited_{word}") for word in WIDTHS})} if "sliding_attention" in c.mixers else {}
    )
    for prefix, own in wholes.items():
        if (own is not c or set(c.mixers) != {"sliding_attention"}) and own.heads != own.kv_heads:
            raise ConfigError("as many as there are heads", key=f"{prefix}num_key_value_heads", value=own.kv_heads)
        if own is not c and own.head_dim != own.plain_dim + own.rope_dim:
            raise ConfigError("expected the sum of both parts of a head", key="swa_head_dim", value=own.head_dim)
    if c.groups < 1 or c.experts % c.groups or c.experts // c.groups < 2:
        raise ConfigError("groups of at least two experts must divide them", key="n_group", value=c.groups)
    if c.shared_experts < 1:
        raise ConfigError("expected at least one", key="n_shared_experts", value=c.shared_experts)
    return True


def _window_widths(default: Mapping[str, int]) -> tuple[Field, ...]:
    """Declare the widths of the layers that see a window."""
    return tuple(
        size(
            f"limited_{word}",
            f"swa_{key}",
            default.get(word) or (lambda c: c.limited_head_dim - c.limited_plain_dim),
            *LETTERS[word],
        )
        for word, key in WIDTHS.items()
    )


LETTERS = {
    "heads": ("A_w", "attention heads in sliding-window layers"),
    "kv_heads": ("K_w", "key-value heads in sliding-window layers"),
    "q_lora": ("Q_w", "rank of the queries where attention is limited"),
    "kv_lora": ("R_w", "rank of keys and values where attention is limited"),
    "head_dim": ("D_w", "head dimension in sliding-window layers"),
    "plain_dim": ("P_w", "head dimensions without rotary positions in sliding-window layers"),
    "rope_dim": ("O_w", "head dimensions with rotary positions in sliding-window layers"),
    "value_dim": ("U_w", "value head dimension in sliding-window layers"),
}


SWA = {"heads": 64, "kv_heads": 64, "q_lora": 1024, "kv_lora": 1024, "head_dim": 256, "plain_dim": 192, "value_dim": 128}
EACH_SHARED = size(
    *("each_shared", "shared_experts_intermediate_size", 1536, "S", "intermediate size of a shared expert"),
    "moe_shared_expert_intermediate_size",
)
FIELDS = variant(
    (EACH_SHARED, *LATENT, *latent_fields(q=1024, kv=512, plain=128, rope=64, value=128)),
    size("kv_heads", "num_key_value_heads", 128, "K", "key-value heads", null=lambda c: c.heads),
    size("head_dim", "head_dim", 256, "D", "head dimension of the rotary positions"),
    *_window_widths(SWA),
    Field("older_sight", "sliding_window_size", 512, "choice", report_default=False),
    size("sight", "sliding_window", lambda c: c.older_sight, "W", "attention window"),
    Field("indexed", "use_dsa", True, "choice", report_default=False, nullable=True),
    Field("limits", "use_sliding_window", True, "choice", report_default=False),
    Field("stated_mixers", "layer_types", None, "choice"),
    constant("mixers", _mixers),
    Field("dense", "first_k_dense_replace", 1, "choice", report_default=False),
    Field("step", "moe_layer_freq", 1, "choice", report_default=False),
    *listed_or(_sparse_layers),
    INDEX_HEADS.with_default(64),
    INDEX_HEAD_DIM.with_default(128),
    *SPARSE,
    NO_MLP_BIAS,
    derived("shared_mlp", lambda c: c.shared_experts * c.each_shared, "shared_experts_intermediate_size"),
    Field("groups", "n_group", 1, "choice"),
    computed("fits", _refuse_mismatch),
    vocab=152064,
    hidden=5120,
    mlp=13824,
    layers=46,
    heads=128,
    q_lora=Q_LORA_RANK.with_default(1024),
    experts=EXPERTS.with_default(256),
    active=8,
    expert_mlp=1536,
    block=V3_BLOCK,
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read the widths that a saved config gives layer by layer: those of the layers with a window, and full attention without an indexer.

    >>> layer = {"00": {"num_attention_heads": 8, "num_key_value_heads": 8}}
    >>> saved = {"num_hidden_layers": 1, "layer_types": ["sliding_attention"], "head_dim": 192, "per_layer_config": layer}
    >>> normalize_config(saved)["swa_num_attention_heads"]
    8
    """
    if "per_layer_config" not in raw:
        return dict(raw)
    rest = {"use_dsa": None} | {key: value for key, value in raw.items() if key != "per_layer_config"}
    fields = tuple(field for field in FIELDS if field.word != "fits")
    c = bind(fields, rest)
    own = {key: getattr(c, word) for word, key in WIDTHS.items()}
    kinds = sizes_by_kind(c, raw["per_layer_config"] or {}, own)  # even a null is said: then all layers are alike
    if any(sizes != own for kind, sizes in kinds.items() if kind != "sliding_attention"):
        raise ConfigError("widths of their own outside the window are not described", key="per_layer_config", value=raw["per_layer_config"])
    return rest | {f"swa_{key}": value for key, value in kinds.get("sliding_attention", own).items()}


IGNORED_KEYS = MORE_IGNORED_KEYS | {"index_topk", "mlp_bias"}
CLASSES = with_heads("Dots3Note", body, "lm", base="TextModel")
FAMILIES = {
    "dots3_note_text": Family(
        "dots3_note_text", FIELDS, CLASSES, "Dots3NoteTextModel", IGNORED_KEYS - {"head_dim"}, normalize_config=normalize_config
    )
}
