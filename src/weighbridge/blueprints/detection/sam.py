"""Segment Anything and SAM-HQ: image encoder, prompt encoder and mask decoder.

Its arithmetic is that of an image without points, boxes or masks put in. Source: arXiv 2304.02643, 2306.01567; names as
in transformers 5.23.0, models/sam/modeling_sam.py and models/sam_hq/modeling_sam_hq.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import FIELDS as VISION
from weighbridge.blueprints.detection.sam_vision import encoder, side
from weighbridge.blueprints.modules.sam_mask_decoder import FIELDS as DECODER
from weighbridge.blueprints.modules.sam_mask_decoder import WIDTH, decoder
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, IMAGE, PATCH, TIED, Config, constant, nested, size
from weighbridge.core.length import Stream, per_batch
from weighbridge.core.parts import conv2d, embedding, layer_norm, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

PROMPTS = (
    HIDDEN.with_default(256),
    IMAGE.with_default(1024),
    PATCH.with_default(16),
    size("mask_channels", "mask_input_channels", 16, "M", "channels of an input mask", minimum=4),
    size("points", "num_point_embeddings", 4, "K", "point types"),
)


def mask_embedding(c: Config) -> Part:
    """Describe the convolutions over a mask that is put in."""
    H, M = c.hidden, c.mask_channels
    return part(
        "mask_embed",
        conv2d("conv1", 1, M // 4, 2),
        conv2d("conv2", M // 4, M, 2),
        conv2d("conv3", M, H, 1),
        layer_norm("layer_norm1", M // 4),
        layer_norm("layer_norm2", M // 4 * 4),
        kind="embeddings",
        requires="masks",
    )


def prompts(c: Config, frequencies: Size, tied_to: str | None) -> Part:
    """Describe the prompt encoder: a vector for each kind of point, and what reads a mask."""
    H = c.hidden
    return part(
        "prompt_encoder",
        positions("shared_embedding", frequencies, None, tied_to),
        mask_embedding(c),
        embedding("no_mask_embed", 1, H),
        embedding("point_embed", 1, H, repeat=c.points),
        embedding("not_a_point_embed", 1, H),
        kind="encoder",
    )


def positions(name: str, frequencies: Size, stream: Stream | None, tied_to: str | None = None) -> Part:
    """Describe random frequencies that coordinates are multiplied with; points have none unless they are put in."""
    weight = Tensor("positional_embedding", (2, frequencies), "weight", tied_to)
    return part(name, weight, kind="embedding", stream=stream, requires="points" if stream is None else None)


def sam(c: Config) -> Part:
    """Describe SamModel and SamHQModel."""
    vision, prompt, F = c.vision, c.prompts, c.vision.frequencies
    across = prompt.image // prompt.patch
    name = "shared_image_embedding"
    return part(
        "",
        positions(name, F, per_batch(across * across)),
        encoder(vision, "vision_encoder"),
        prompts(prompt, F, f"{name}.positional_embedding" if c.tied else None),
        decoder(c.decoder, side(vision) * side(vision), compressed="global" in vision.kinds),
        kind="model",
    )


def family(model_type: str, class_name: str, *, hq: bool) -> Family:
    """Return the family of one of the two."""
    last = (*DECODER, *((WIDTH,) if hq else ()), constant("hq", hq))
    parts = nested("vision", "vision_config", VISION), nested("prompts", "prompt_encoder_config", PROMPTS)
    fields = (*parts, nested("decoder", "mask_decoder_config", last), TIED)
    return Family(model_type, fields, {class_name: sam}, class_name, IGNORED_KEYS | {"scale", "image_embedding_size"})


FAMILIES = {"sam": family("sam", "SamModel", hq=False), "sam_hq": family("sam_hq", "SamHQModel", hq=True)}
