"""Gemma 4's drafting models: a few layers of Gemma 4 that reuse the keys and values of the model they draft for, and the maps to its width.

Source: Google, Gemma 4 (2026); names as in transformers 5.23.0, models/gemma4_assistant/modeling_gemma4_assistant.py and
models/gemma4_unified_assistant. That release checks that each kind of layer makes keys somewhere, which such a model never does.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gemma4 import reuse
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, SubConfig, constant, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

ABSENT = (
    ("table", "hidden_size_per_layer_input"),
    ("sparse", "enable_moe_block"),
    ("doubled", "use_double_wide_mlp"),
    ("table_rows", "vocab_size_per_layer_input"),
)
"""What a drafting model must be without, by our word and by the key."""


def all_layers(c: Config) -> list[bool]:
    """Return for each layer that it reuses keys: nothing said means all."""
    if c.shared_layers not in (0, c.layers):
        raise ConfigError("all layers of a drafting model reuse keys", key="num_kv_shared_layers", value=c.shared_layers)
    return [True] * c.layers


def _refuse_more(c: Config) -> bool:
    for word, key in ABSENT:
        if vars(c).get(word):
            raise ConfigError("a drafting model has none of these", key=key, value=getattr(c, word))
    return True


def all_layers_or_some(c: Config) -> list[bool]:
    """Return which layers reuse keys: all, if nothing is said; some may make their own."""
    return [True] * c.layers if c.shared_layers in (0, c.layers) else reuse(c)


def fields(model_type: str, reusing: Any, backbone: int) -> tuple[Field, ...]:
    """Declare the fields of one type; *backbone* is the width of the model it drafts for by default."""
    text = model_config("text", "text_config", model_type, only=True)

    def resolve(value: Any, path: str) -> SubConfig | None:
        assert text.resolve is not None
        found = text.resolve(value, path)
        assert found is not None
        lax = tuple(field._replace(minimum=0) if field.word == "table_rows" else field for field in found.fields)
        return found._replace(
            fields=(
                *variant(lax, constant("reusing", reusing)),
                *((constant("plain", _refuse_more),) if model_type == "gemma4_text" else ()),
            )
        )

    return (
        text._replace(resolve=resolve),
        size("backbone", "backbone_hidden_size", backbone, "B", "width of the model it drafts for"),
        switch("ordered", "use_ordered_embeddings", False),
        size("centroids", "num_centroids", 2048, "C", "groups of words"),
        switch("tied", "tie_word_embeddings", True),
    )


STATES = unknown("it reads the keys and values that the model it drafts for has kept")


def assistant(c: Config) -> Part:
    """Describe the layers, a head tied to their word embeddings, the maps from and to the other model, and the groups of words."""
    H, V = c.text.hidden, c.text.vocab
    groups = part(
        "masked_embedding", Tensor("token_ordering", (V,), "buffer"), linear("centroids", H, c.centroids, bias=False), kind="head"
    )
    return part(
        "",
        replace(as_child("model", submodel(c.text)), kind="backbone"),
        linear("lm_head", H, V, bias=False, tied_to="model.embed_tokens.weight" if c.tied else None),
        linear("pre_projection", 2 * c.backbone, H, bias=False),
        linear("post_projection", H, c.backbone, bias=False),
        *((groups,) if c.ordered else ()),
        kind="model",
        stream=STATES,
    )


def _family(model_type: str, name: str, table: tuple[Field, ...]) -> Family:
    return Family(model_type, table, {name: assistant}, name, IGNORED_KEYS | {"centroid_intermediate_top_k"})


FAMILIES = {
    "gemma4_assistant": _family("gemma4_assistant", "Gemma4AssistantForCausalLM", fields("gemma4_text", all_layers, 1536)),
    "gemma4_unified_assistant": _family(
        "gemma4_unified_assistant", "Gemma4UnifiedAssistantForCausalLM", fields("gemma4_unified_text", all_layers_or_some, 3840)
    ),
}
