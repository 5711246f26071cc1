"""NeoMME: one encoder over text and image patches alike, whose words are narrow, and whose first and last global layers look up values too.

Source: names as in transformers 5.23.0, models/neomme/modeling_neomme.py. Its norms have no parameters.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import per_image
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, PATCH, VOCAB, Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def attention(c: Config) -> Part:
    """Describe attention whose output loses a learned share of its own value, and passes a gate."""
    H, wide, narrow = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim
    out = linear("gate_proj", H, wide, bias=False), linear("o_proj", wide, H, bias=c.bias)
    return part(
        "self_attn",
        linear("q_proj", H, wide, bias=c.bias),
        linear("k_proj", H, narrow, bias=c.bias),
        linear("v_proj", H, narrow, bias=c.bias),
        part("exclusive_self_attention", Tensor("alpha", (c.heads,), "gain"), kind="gate"),
        part("output_projection", *out, kind="projection"),
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim),
        kind="self_attention",
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe the narrow words, what brings patches to the model's width, the layers, and the table of values."""
    H, dots = c.hidden, 3 * c.patch * c.patch
    patches = layer_norm("norm", dots), linear("up_proj", dots, 2 * H, bias=False), linear("down_proj", 2 * H, H)
    mlp = plain_mlp("mlp", H, c.mlp, ("up_proj", "down_proj"), bias=c.mlp_bias)
    return (
        part("embed_tokens", *words(c), kind="embeddings"),
        per_image(part("patch_embeddings", *patches, kind="embeddings", stream=PATCHES)),
        part("layers", Tensor("lambdas", (2,), "gain"), attention(c), mlp, kind="layer", repeat=c.layers),
        embedding("value_embeddings", c.vocab, c.kv_heads * c.head_dim),
    )


def words(c: Config) -> tuple[Part, ...]:
    """Describe the table of narrow words, and the map that widens them."""
    return embedding("word_embeddings", c.vocab, c.rank), linear("embedding_projection", c.rank, c.hidden, bias=False)


def masked_lm(c: Config) -> Part:
    """Describe NeoMMEForMaskedLM: the narrow words again, and the map that widens them turned around."""
    table, widen = (
        ("model.embed_tokens.word_embeddings.weight", "model.embed_tokens.embedding_projection.weight") if c.tied else (None, None)
    )
    back = linear("unembedding_projection", c.rank, c.hidden, bias=False, tied_to=widen)
    return part(
        "", part("model", *body(c), kind="backbone"), back, linear("lm_head", c.rank, c.vocab, bias=False, tied_to=table), kind="model"
    )


def retrieval(c: Config) -> Part:
    """Describe NeoMMEForRetrieval: a narrow vector for every token."""
    narrow = part("multi_vector_head", linear("proj", c.hidden, c.narrow, bias=False), kind="head")
    return part("", part("model", *body(c), kind="backbone"), narrow, kind="model")


KINDS = "full_attention", "sliding_attention"


def _by_default(c: Config) -> list[str]:
    return [KINDS[(index + 1) % 6 != 0 and index != c.layers - 1] for index in layer_range(c.layers)]


def _kinds(c: Config) -> list[str]:
    """Return which layers see everything: at least one does."""
    kinds = checked_kinds(c, c.stated, "layer_types", KINDS)
    if KINDS[0] not in kinds:
        raise ConfigError("at least one layer must have full attention", key="layer_types", value=kinds, hint=KINDS[0])
    return kinds


def _windows(value: Any) -> Any:
    """Read what each layer may have of its own: its window, which changes no tensor."""
    layers = value.values() if isinstance(value, Mapping) else ()
    if value is not None and not all(isinstance(sizes, Mapping) and set(sizes) <= {"sliding_window"} for sizes in layers):
        raise ConfigError("expected a sliding_window by layer number", key="per_layer_config", value=value)
    return None


FIELDS = (
    VOCAB.with_default(131072),
    size("rank", "embedding_rank", 256, "R", "width of the word embeddings"),
    HIDDEN.with_default(1024),
    MLP.with_default(3584),
    switch("mlp_bias", "mlp_bias", False),
    LAYERS.with_default(17),
    HEADS.with_default(16),
    KV_HEADS.with_default(4),
    HEAD_DIM.with_default(64),
    switch("bias", "attention_bias", False),
    choice("stated", "layer_types", _by_default, report_default=False),
    choice("windows", "per_layer_config", None, read=_windows, report_default=False),
    computed("kinds", _kinds),
    computed("shared", lambda c: exact(c.heads, c.kv_heads)),
    PATCH.with_default(32),
    size("narrow", "embedding_dim", 128, "E", "width of a token's retrieval vector"),
    switch("tied", "tie_word_embeddings", True),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset("document_token_id image_token_id".split())
FAMILIES = {
    "neomme": Family(
        "neomme",
        FIELDS,
        {
            "NeoMMEModel": lambda c: part("", *body(c), kind="model"),
            "NeoMMEForMaskedLM": masked_lm,
            "NeoMMEForRetrieval": retrieval,
        },
        "NeoMMEModel",
        MORE_IGNORED_KEYS - {"layer_types"},
    )
}
