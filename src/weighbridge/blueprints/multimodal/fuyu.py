"""Fuyu: a language model over raw image patches behind one linear layer.

Source: Adept, Fuyu-8B (2023); names as in transformers 5.23.0, models/fuyu/modeling_fuyu.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, Config, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import linear
from weighbridge.core.tree import Node

if TYPE_CHECKING:
    from typing import Any

PERSIMMON = {
    "vocab_size": 262144,
    "max_position_embeddings": 16384,
    "hidden_size": 4096,
    "intermediate_size": 16384,
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "qk_layernorm": True,
}
TEXT_KEYS = frozenset(PERSIMMON) | frozenset(
    """hidden_act initializer_range layer_norm_eps use_cache hidden_dropout attention_dropout eos_token_id pad_token_id bos_token_id
    rope_scaling rope_theta rope_parameters""".split()
)
FIELDS = (
    model_config("text", "text_config", "persimmon llama", absent=PERSIMMON),
    PATCH.with_default(30),
    CHANNELS,
    switch("tied", "tie_word_embeddings", False),
)


def fuyu(c: Config) -> tuple[Node, ...]:
    """Describe the text, and the linear layer that stands in place of a tower."""
    patches = linear("vision_embed_tokens", c.patch * c.patch * c.channels, c.text.hidden, stream=PATCHES)
    return (as_child("language_model", submodel(c.text)), per_image(patches))


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring an older config, which states the text's fields beside the others, into the present layout.

    >>> normalize_config({"hidden_size": 64})
    {'text_config': {'hidden_size': 64}}
    """
    stated = {key: value for key, value in raw.items() if key in TEXT_KEYS}
    if raw.get("text_config") is not None or not stated:
        return dict(raw)
    return {**{key: value for key, value in raw.items() if key not in TEXT_KEYS}, "text_config": stated}


CLASSES = {"FuyuModel": without_head(fuyu), "FuyuForCausalLM": with_lm_head(fuyu)}
FAMILIES = {"fuyu": Family("fuyu", FIELDS, CLASSES, "FuyuModel", IGNORED_KEYS | {"image_size"}, normalize_config=normalize_config)}
