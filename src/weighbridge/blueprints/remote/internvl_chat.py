"""InternVL 1 to 3.5 as OpenGVLab publishes it: its own vision transformer, and a language model of another type behind pixel shuffle.

Source: arXiv 2312.14238, 2404.16821 and 2412.05271; modeling_intern_vit.py and modeling_internvl_chat.py of OpenGVLab/InternVL. Held to
the published totals of InternVL 2.5, not to a live class. The library's own ``internvl`` is another layout of the same towers.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.class_index import CLASSES as TYPE_OF_CLASS
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vit_common import WHOLE_HEADS
from weighbridge.blueprints.modules.vlm_common import merge_squares, per_image
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

VISION = (
    *stack_fields(3200, 12800, 25, 48)[:-1],
    WHOLE_HEADS,
    size("image", "image_size", 224, "R", "image size"),
    size("patch", "patch_size", 14, "P", "patch size"),
    switch("qkv_bias", "qkv_bias", False),
    switch("normed", "qk_normalization", True),
    choice("norm", "norm_type", "rms_norm", read=one_of("norm_type", "rms_norm", "layer_norm")),
)


def grid(c: Config) -> Size:
    """Count the patches that the table of positions has vectors for."""
    side = c.image // c.patch
    return side * side


def vision(c: Config) -> Part:
    """Describe InternVisionModel: a learned scale behind each half of a layer, no norm behind the last."""
    H = c.hidden
    norm = layer_norm if c.norm == "layer_norm" else rms_norm
    embeddings = part(
        "embeddings",
        Tensor("class_embedding", (1, 1, H), "embedding"),
        Tensor("position_embedding", (1, grid(c) + 1, H), "embedding"),
        conv2d("patch_embedding", 3, H, c.patch, stream=grid(c)),
        kind="embeddings",
    )
    attention = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        *((rms_norm("q_norm", H), rms_norm("k_norm", H)) if c.normed else ()),
        linear("proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        *(Tensor(name, (H,), "gain") for name in ("ls1", "ls2")),
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        norm("norm1", H),
        norm("norm2", H),
        kind="layer",
        repeat=c.layers,
    )
    return part("", embeddings, part("encoder", layer, kind="encoder"), kind="vision", stream=grid(c) + 1)


def internvl_chat(c: Config) -> Part:
    """Describe InternVLChatModel: the tower, the language model with its head, and two maps over squares of patches."""
    wide = c.vision.hidden * c.shuffle**2
    maps = layer_norm("0", wide), linear("1", wide, c.text.hidden), linear("3", c.text.hidden, c.text.hidden)
    projector = part("mlp1", *maps, kind="projector", stream=merge_squares(grid(c.vision), c.shuffle))
    return part(
        "",
        as_child("vision_model", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text, *CAUSAL)),
        per_image(projector),
        kind="model",
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Tell the language model by its class, as the code does, where its config names no type.

    >>> normalize_config({"llm_config": {"architectures": ["Qwen2ForCausalLM"]}})["llm_config"]["model_type"]
    'qwen2'
    """
    text = raw.get("llm_config")
    if not isinstance(text, Mapping) or text.get("model_type") is not None:
        return dict(raw)
    names = text.get("architectures")
    found = TYPE_OF_CLASS.get(str(names[0])) if isinstance(names, list) and names else None
    return dict(raw) if found is None else {**raw, "llm_config": {**text, "model_type": found}}


FIELDS = (
    model_config("vision", "vision_config", "intern_vit_6b", fixed=True),
    model_config("text", "llm_config", "llama internlm2 qwen2 qwen3 phi3 qwen3_moe mistral gemma2"),
    choice("shuffle", "downsample_ratio", 0.5, read=lambda ratio: int(1 / ratio)),
    read_none("use_backbone_lora", 0),
    read_none("use_llm_lora", 0),
    choice("forced", "force_image_size", None, report_default=False),
)
VISION_KEYS = frozenset("num_channels use_flash_attn drop_path_rate initializer_factor dropout norm_eps".split())
KEYS = frozenset(
    """select_layer template dynamic_image_size use_thumbnail ps_version min_dynamic_patch max_dynamic_patch pad2square hidden_size
    image_fold tie_word_embeddings system_message max_position_embeddings""".split()
)
MODEL = "InternVLChatModel"
FAMILIES = {
    "internvl_chat": replace(
        Family("internvl_chat", FIELDS, {MODEL: internvl_chat}, MODEL, KEYS),
        normalize_config=normalize_config,
    ),
    "intern_vit_6b": Family("intern_vit_6b", VISION, {"InternVisionModel": vision}, "InternVisionModel", VISION_KEYS),
}
