"""DeepSeek-VL with two vision encoders: SigLIP and Segment Anything's, at two resolutions.

Source: arXiv 2403.05525, section 3.1; names as in transformers 5.23.0, models/deepseek_vl_hybrid/modeling_deepseek_vl_hybrid.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import patch_tokens, per_image
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.fields import Config, switch
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    model_config("vision", "vision_config", "siglip_vision_model"),
    model_config("fine", "high_res_vision_config", "sam_vision_model sam_hq_vision_model"),
    model_config("text", "text_config", "llama"),
    switch("tied", "tie_word_embeddings", True),
)


def hybrid(c: Config) -> tuple[Node, ...]:
    """Describe both towers, what brings their maps to one size, and the text."""
    fine, tower = submodel(c.fine, "VisionModel"), submodel(c.vision)
    return (
        Tensor("high_res_vision_alpha", (1,), "gain"),
        as_child("high_res_vision_model", fine, requires="images", executions="images"),
        per_image(replace(neck(c.fine.hidden, c.fine.outputs), stream=fine_places(c))),
        # What an early layer sees passes the projection as well as what the last one does.
        per_image(
            part(
                "high_res_vision_proj",
                conv2d(
                    "conv1",
                    c.fine.outputs,
                    2 * c.fine.outputs,
                    3,
                    stream=4 * patches_across(c) * patches_across(c),
                    bias=False,
                    executions=2,
                ),
                conv2d(
                    "conv2",
                    2 * c.fine.outputs,
                    4 * c.fine.outputs,
                    3,
                    stream=patches_across(c) * patches_across(c),
                    bias=False,
                    executions=2,
                ),
                kind="projector",
            )
        ),
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(replace(aligner(c), stream=patch_tokens(tower))),
        as_child("language_model", submodel(c.text)),
    )


def patches_across(c: Config) -> Size:
    """Count the patches along one side of the small image."""
    result: Size = c.vision.image // c.vision.patch
    return result


def fine_places(c: Config) -> Size:
    """Count the positions of the large image's map."""
    side = c.fine.image // c.fine.patch
    result: Size = side * side
    return result


def neck(hidden: Size, outputs: Size) -> Part:
    """Describe two convolutions and their norms, as in the encoder itself."""
    return part(
        "high_res_vision_neck",
        conv2d("conv1", hidden, outputs, 1, bias=False),
        layer_norm("layer_norm1", outputs),
        conv2d("conv2", outputs, outputs, 3, bias=False),
        layer_norm("layer_norm2", outputs),
        kind="neck",
    )


def aligner(c: Config) -> Part:
    """Describe one linear layer for each tower, to half the text's width, and one over both."""
    half, H = c.text.hidden // 2, c.text.hidden
    return part(
        "aligner",
        linear("vision_proj", c.vision.hidden, half),
        linear("high_res_vision_proj", 4 * c.fine.outputs, half),
        linear("proj", H, H),
        kind="projector",
    )


FAMILIES = {"deepseek_vl_hybrid": family_of("deepseek_vl_hybrid", "DeepseekVLHybrid", FIELDS, hybrid)}
