"""dots.ocr by rednote: a tower over images of any size with gated MLPs, and Qwen2 behind it; its code stands beside its files.

Source: modeling_dots_ocr.py and modeling_dots_vision.py of rednote-hilab/dots.ocr. Held tensor by tensor to the classes of mlx-vlm 0.7.10,
models/dots_ocr, which reads its files.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, PATCH, SPATIAL_MERGE, Config, nested, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import merge, product_of
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

PATCHES = product_of("rows", "columns")


def vision(c: Config) -> Part:
    """Describe DotsVisionTransformer: patches of any image, layers, and two maps over squares of what they see."""
    W, wide = c.width, c.width * c.merge * c.merge
    attends = part(
        "attn",
        linear("qkv", W, 3 * W, bias=c.biased),
        linear("proj", W, W, bias=c.biased),
        attend(heads=c.heads, head_dim=exact(W, c.heads)),
        kind="self_attention",
    )
    maps = linear("fc1", W, c.mlp, bias=c.biased), linear("fc2", c.mlp, W, bias=c.biased), linear("fc3", W, c.mlp, bias=c.biased)
    mlp = part("mlp", *maps, kind="feed_forward")
    block = part("blocks", attends, rms_norm("norm1", W), mlp, rms_norm("norm2", W), kind="layer", repeat=c.layers)
    merged = product_of(merge("rows", c.merge), merge("columns", c.merge))
    merging = part("mlp", linear("0", wide, wide, stream=merged), linear("2", wide, c.hidden, stream=merged), kind="feed_forward")
    return part(
        "vision_tower",
        part("patch_embed", part("patchifier", conv2d("proj", c.channels, W, c.patch), rms_norm("norm", W)), kind="embeddings"),
        block,
        *((rms_norm("post_trunk_norm", W),) if c.post_norm else ()),
        part("merger", layer_norm("ln_q", W), merging, kind="projector"),
        kind="vision",
        stream=PATCHES,
        requires="images",
        executions="images",
    )


def dots_ocr(c: Config) -> Part:
    """Describe DotsOCRForCausalLM: Qwen2's class with a tower beside its layers."""
    return part("", as_child("", submodel(c.text, *CAUSAL)), vision(c.vision), kind="model")


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Move the text's keys, which stand beside the others, into a config of their own.

    >>> normalize_config({"hidden_size": 8, "vision_config": {}})
    {'vision_config': {}, 'text_config': {'hidden_size': 8, 'model_type': 'qwen2'}}
    """
    if raw.get("text_config") is not None:
        return dict(raw)
    if raw.get("attention_bias", True) is not True:
        raise ConfigError("Qwen2's queries, keys and values have biases", key="attention_bias", value=raw["attention_bias"])
    text = {key: value for key, value in raw.items() if key not in OUTER}
    outer = {key: value for key, value in raw.items() if key in OUTER}
    return {**outer, "text_config": {**text, "model_type": "qwen2"}}


OUTER = IGNORED_KEYS | frozenset(("model_type", "architectures", "auto_map", "vision_config", "attention_bias"))
VISION = (
    size("width", "embed_dim", 1536, "W", "width of the tower"),
    HIDDEN.with_default(1536),
    MLP.with_default(4224),
    LAYERS.with_default(42),
    HEADS.with_default(12),
    size("channels", "num_channels", 3, "N", "image channels"),
    PATCH.with_default(14),
    SPATIAL_MERGE.with_default(2),
    switch("biased", "use_bias", False),
    switch("post_norm", "post_norm", True),
)
TEXT = {
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}
FIELDS = (model_config("text", "text_config", "qwen2", fixed=True, absent=TEXT), nested("vision", "vision_config", VISION))
KEYS = OUTER | frozenset("attn_implementation init_merger_std is_causal gradient_checkpointing rms_norm_eps temporal_patch_size".split())
CLASS = "DotsOCRForCausalLM"
FAMILIES = {"dots_ocr": Family("dots_ocr", FIELDS, {CLASS: dots_ocr}, CLASS, KEYS, normalize_config=normalize_config)}
