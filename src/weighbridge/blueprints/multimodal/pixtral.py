"""Pixtral's vision tower, Mistral 3, Mistral Large 4 and LightOnOCR: images of any size, all of a batch in one sequence.

Source: arXiv 2410.07073 (Pixtral); names as in transformers 5.23.0, models/pixtral/modeling_pixtral.py,
models/mistral3/modeling_mistral3.py and models/mistral_large4/modeling_mistral_large4.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import feature_layers, per_image
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import SPATIAL_MERGE, Config, sides, switch, variant
from weighbridge.core.length import length, product_of
from weighbridge.core.parts import attend, conv2d, gated_mlp, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

FIELDS = (*uneven_heads(stack_fields(1024, 4096, 16, 24)), CHANNELS, *sides("patch", "patch_size", 16, "P", "patch size"))
TOWER = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "patch_size": 14}
MISTRAL = {
    "hidden_size": 5120,
    "intermediate_size": 32768,
    "num_hidden_layers": 40,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 131072,
}
MISTRAL3 = (
    model_config("vision", "vision_config", "pixtral", absent=TOWER, ignored_keys="vocab_size"),
    model_config("text", "text_config", "mistral llama ministral3", absent=MISTRAL),
    feature_layers(-1),
    SPATIAL_MERGE.with_default(2),
    switch("bias", "multimodal_projector_bias", False),
    switch("tied", "tie_word_embeddings", True),
)


def pixtral(c: Config) -> Part:
    """Describe the tower: a convolution, a norm, layers; a mask keeps the images of a batch apart, after all have met."""
    H = c.hidden
    attention = part(
        "attention",
        *(linear(f"{name}_proj", H, H, bias=False) for name in "kvqo"),
        attend(heads=c.heads, head_dim=c.head_dim, keys=product_of("batch", PATCHES)),
        kind="self_attention",
    )
    layer = part(
        "layers",
        rms_norm("attention_norm", H),
        gated_mlp("feed_forward", H, c.mlp),
        attention,
        rms_norm("ffn_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    patch = conv2d("patch_conv", c.channels, H, (c.patch_height, c.patch_width), bias=False)
    return part("", patch, rms_norm("ln_pre", H), part("transformer", layer, kind="encoder"), kind="vision", stream=PATCHES)


def mistral3(c: Config) -> tuple[Node, ...]:
    """Describe the tower, a merger of squares of patches with two linear layers after it, and the text."""
    return (
        as_child(
            "vision_tower", submodel(c.vision), streams={"batch": product_of("batch", "images")}, requires="images", executions="images"
        ),
        per_image(merger("multi_modal_projector", c, outputs=c.vision.hidden * c.picked, bias=c.bias)),
        as_child("language_model", submodel(c.text)),
    )


def lighton(c: Config) -> tuple[Node, ...]:
    """Describe LightOnOCR: the same under other names."""
    return (
        as_child(
            "vision_encoder", submodel(c.vision), streams={"batch": product_of("batch", "images")}, requires="images", executions="images"
        ),
        per_image(merger("vision_projection", c, outputs=c.vision.hidden, bias=False)),
        as_child("language_model", submodel(c.text)),
    )


def merger(name: str, c: Config, *, outputs: Size, bias: bool) -> Part:
    """Describe a norm, one linear layer that merges squares of patches, and two more."""
    wide, H = c.vision.hidden, c.text.hidden
    merged = product_of(*((length(axis) // c.merge) for axis in ("rows", "columns")))
    return part(
        name,
        rms_norm("norm", wide),
        part("patch_merger", linear("merging_layer", wide * c.merge * c.merge, wide, bias=False, stream=merged), kind="projector"),
        linear("linear_1", outputs, H, bias=bias, stream=merged),
        linear("linear_2", H, H, bias=bias, stream=merged),
        kind="projector",
        stream=PATCHES,
    )


QWEN = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
}
LIGHTON = (
    model_config("vision", "vision_config", "pixtral", absent=TOWER),
    model_config("text", "text_config", "qwen3 mistral llama", absent=QWEN),
    MISTRAL3[3],
    switch("tied", "tie_word_embeddings", True),
)
LARGE_TOWER = TOWER | {"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 30}
LARGE4 = variant(
    MISTRAL3,
    vision=model_config("vision", "vision_config", "pixtral", absent=LARGE_TOWER, ignored_keys="vocab_size"),
    text=model_config("text", "text_config", "mistral_large4_text", fixed=True),
    tied=False,
)

FAMILIES = {
    "pixtral": Family("pixtral", FIELDS, {"PixtralVisionModel": pixtral}, "PixtralVisionModel", frozenset(("head_dim", "image_size"))),
    "lighton_ocr": family_of("lighton_ocr", "LightOnOcr", LIGHTON, lighton),
    "mistral3": family_of("mistral3", "Mistral3", MISTRAL3, mistral3),
    "mistral_large4": family_of("mistral_large4", "MistralLarge4", LARGE4, mistral3),
}
