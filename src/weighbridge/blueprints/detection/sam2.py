"""Segment Anything 2 for images: Hiera feature maps, prompt encoder, and a mask decoder with an object score.

Its arithmetic is that of an image for which no point is given, in whose place the reference puts two that are none. Source:
arXiv 2408.00714; names as in transformers 5.23.0, models/sam2/modeling_sam2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam import PROMPTS, mask_embedding
from weighbridge.blueprints.detection.sam2_vision import OWN_IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.detection.sam2_vision import neck_maps
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.sam_mask_decoder import FIELDS as DECODER
from weighbridge.blueprints.modules.sam_mask_decoder import mask_and_score_heads, perceptron, two_way_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, nested
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import per_batch
from weighbridge.core.parts import conv2d, embedding, matmul, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    model_config("vision", "vision_config", "sam2_vision_model"),
    nested("prompts", "prompt_encoder_config", PROMPTS),
    nested("decoder", "mask_decoder_config", DECODER),
)
POINTS = 2
"""How many points the decoder sees where none is given."""


def positions(name: str, c: Config, points: Size, *, once: bool) -> Part:
    """Describe random frequencies, which are no parameters, and their products with so many coordinates."""
    half = c.hidden // 2
    children = Tensor("positional_embedding", (2, half), "buffer"), matmul("coordinates", (points, 2, half))
    return part(name, *children, kind="embedding", stream=per_batch("one") if once else "one")


def decoder(c: Config, maps: list[Grid], places: Size) -> Part:
    """Describe the mask decoder: one token more, for the object; the two largest maps are added in."""
    H, masks, eighth = c.hidden, c.masks + 1, c.hidden // 8
    mlp = perceptron("mlp", H, c.mlp, H, depth=2 if c.flat else c.layers)  # it is as deep as the decoder has layers
    return part(
        "mask_decoder",
        *mask_and_score_heads(c, two_way_transformer(c, masks + 2 + POINTS, places, mlp, rate=c.rate, last="o_proj"), places),
        conv2d("conv_s0", H, eighth, 1, stream=area(maps[0])),
        conv2d("conv_s1", H, H // 4, 1, stream=area(maps[1])),
        embedding("obj_score_token", 1, H),
        perceptron("pred_obj_score_head", H, H, 1),
        matmul("masks", (masks, eighth, 16 * places)),
        kind="decoder",
    )


def prompts(c: Config) -> Part:
    """Describe the prompt encoder: a table with a vector for each kind of point, and what reads a mask."""
    return part(
        "prompt_encoder",
        positions("shared_embedding", c, POINTS, once=False),
        mask_embedding(c),
        embedding("no_mask_embed", 1, c.hidden),
        embedding("point_embed", c.points, c.hidden),
        embedding("not_a_point_embed", 1, c.hidden),
        kind="encoder",
    )


def sam2(c: Config) -> Part:
    """Describe Sam2Model: one vector stands for the memory that an image has none of."""
    maps = neck_maps(c.vision)
    if not 2 <= c.vision.levels <= len(maps):
        raise ConfigError("the decoder takes two maps or more", key="vision_config.num_feature_levels", value=c.vision.levels)
    across = c.prompts.image // c.prompts.patch
    return part(
        "",
        Tensor("no_memory_embedding", (1, 1, c.vision.fused), "embedding"),
        positions("shared_image_embedding", c.prompts, across * across, once=True),
        as_child("vision_encoder", submodel(c.vision)),
        prompts(c.prompts),
        decoder(c.decoder, maps, area(maps[c.vision.levels - 1])),
        kind="model",
    )


IGNORED_KEYS = VISION_IGNORED_KEYS | frozenset(
    """dynamic_multimask_stability_delta dynamic_multimask_stability_thresh dynamic_multimask_via_stability scale
    image_embedding_size""".split()
)

FAMILIES = {"sam2": Family("sam2", FIELDS, {"Sam2Model": sam2}, "Sam2Model", IGNORED_KEYS)}
