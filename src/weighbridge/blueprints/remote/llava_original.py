"""LLaVA 1.5, 1.6 and OneVision by their own code: a tower and a projector beside the layers of Llama, Mistral or Qwen2.

Their configs call themselves ``llava`` or ``llava_mistral``, and name the tower alone. Source: arXiv 2304.08485, 2310.03744 and 2408.03326; llava/model of
haotian-liu/LLaVA and of LLaVA-VL/LLaVA-NeXT. Held to the library's own LLaVA, whose tensors are the same under other names. The tower is counted, which the
code loads from the files of its own: those of LLaVA 1.5 lack it.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import bind_backbone
from weighbridge.blueprints.modules.clip_towers import vision_tower
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

CROPS = unknown("how many crops an image is cut into depends on its sides")
CLIP = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "patch_size": 14}
SIGLIP = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 26, "num_attention_heads": 16, "patch_size": 14}
TOWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "clip-vit-large-patch14-336": ("clip_vision_model", {**CLIP, "image_size": 336}),
    "clip-vit-large-patch14": ("clip_vision_model", {**CLIP, "image_size": 224}),
    "siglip-so400m-patch14-384": ("siglip_vision_model", {**SIGLIP, "image_size": 384, "vision_use_head": False}),
}
"""The towers by name; of SigLIP the code drops the last layer."""


def read_tower(value: Any) -> str | None:
    """Take the name of the tower, which may be a path to it."""
    if value is None:
        return None
    name = str(value).rstrip("/").rpartition("/")[2]
    if name not in TOWERS:
        known = ", ".join(TOWERS)
        raise ConfigError(
            Text("{value!r:.60} is not described, only {known}", value=value, known=known), key="mm_vision_tower", value=value
        )
    return name


def read_projector(value: Any) -> int:
    """Take how many linear layers the projector has; 0 is one without a number."""
    if value == "linear":
        return 0
    text = str(value)
    number = text.removeprefix("mlp").removesuffix("x_gelu")
    if text != f"mlp{number}x_gelu" or not number.isdecimal() or not 0 < int(number[:3]) <= 16:
        raise ConfigError(
            Text("{value!r:.60} is not described, only {known}", value=value, known="linear, mlp2x_gelu"), key="mm_projector_type"
        )
    return int(number)


def images(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the projector, and what ends a row of crops."""
    if c.tower is None:
        return ()
    kind, raw = TOWERS[c.tower]
    sizes = bind_backbone(kind, raw)
    inner = vision_tower(sizes) if kind == "clip_vision_model" else submodel(sizes).children
    patches = (sizes.image // sizes.patch) ** 2
    seen: Stream = CROPS if c.cut else patches + (kind == "clip_vision_model")
    tower = part(
        "vision_tower", part("vision_tower", part("vision_model", *inner, kind="vision"), kind="vision"), kind="vision", stream=seen
    )
    H, width = c.text.hidden, c.seen
    maps: tuple[Node, ...] = tuple(linear(str(2 * index), H if index else width, H) for index in range(c.maps))
    projector = part("mm_projector", *maps, kind="projector") if c.maps else linear("mm_projector", width, H)
    places: Stream = CROPS if c.cut else patches
    marks = (Tensor("image_newline", (H,), "embedding"),) if c.newline else ()
    return (
        *(replace(one, requires="images", executions="images") for one in (tower, replace(projector, stream=places))),
        *marks,
    )


def llava(c: Config) -> Part:
    """Describe the language model's class with the tower and the projector inside its body."""
    text = as_child("", submodel(c.text, *CAUSAL))
    body, *heads = text.children
    assert isinstance(body, Part)
    return replace(text, children=(replace(body, children=(*body.children, *images(c))), *heads), kind="model")


def normalize_for(kind: str) -> Any:
    """Return what moves the text's keys, which stand beside the others, into a config of their own."""

    def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
        if raw.get("text_config") is not None:
            return dict(raw)
        outer = {key: value for key, value in raw.items() if key in OUTER or key.startswith(("mm_", "image_"))}
        text = {key: value for key, value in raw.items() if key not in outer}
        return {**outer, "text_config": {**text, "model_type": kind}}

    return normalize_config


OUTER = frozenset(
    """model_type architectures auto_map freeze_mm_mlp_adapter freeze_mm_vision_resampler tune_mm_mlp_adapter tune_mm_vision_resampler s2
    unfreeze_mm_vision_tower use_mm_proj vision_tower_pretrained tokenizer_padding_side tokenizer_model_max_length add_faster_video
    add_time_instruction faster_token_stride force_sample pos_skipping_range""".split()
)
KEYS = OUTER | frozenset(
    """mm_hidden_size mm_patch_merge_type mm_projector_lr mm_resampler_type mm_use_im_patch_token mm_use_im_start_end mm_vision_select_feature
    mm_vision_select_layer mm_vision_tower_lr mm_newline_position mm_spatial_pool_mode mm_spatial_pool_stride mm_tunable_parts
    image_aspect_ratio image_crop_resolution image_grid_pinpoints image_split_resolution""".split()
)


def fields(kind: str) -> Any:
    """List the fields of LLaVA over a language model of this type."""
    return (
        model_config("text", "text_config", kind, fixed=True),
        choice("tower", "mm_vision_tower", None, read=read_tower, report_default=False),
        choice("maps", "mm_projector_type", "linear", read=read_projector),
        size("seen", "mm_hidden_size", 1024, "D", "width of the tower"),
        choice("newline", "mm_patch_merge_type", "flat", read=lambda value: "unpad" in str(value), report_default=False),
        choice("cut", "image_aspect_ratio", "square", read=lambda value: "anyres" in str(value), report_default=False),
        choice("resampled", "mm_resampler_type", None, read=refuse_resampler, report_default=False),
        read_none("s2"),
    )


def refuse_resampler(value: Any) -> None:
    """Refuse a resampler of the tower's states."""
    if value not in (None, "spatial_pool"):
        raise ConfigError(Text("{value!r:.60} is not described", value=value), key="mm_resampler_type", value=value)


TYPES = {
    "llava_llama": ("LlavaLlamaForCausalLM", "llama"),
    "llava_mistral": ("LlavaMistralForCausalLM", "mistral"),
    "llava_qwen": ("LlavaQwenForCausalLM", "qwen2"),
}
FAMILIES = {
    name: Family(name, fields(kind), {cls: llava}, cls, KEYS, normalize_config=normalize_for(kind)) for name, (cls, kind) in TYPES.items()
}
