"""FLAVA: an image tower, a text tower and one over both; in pre-training with a codebook of image patches.

Source: arXiv 2112.04482, section 3, and 2102.12092, section 2.1 (the discrete VAE of DALL-E: its codebook); names as in transformers 5.23.0, models/flava/modeling_flava.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import SHARED, embeddings
from weighbridge.blueprints.modules.clip_towers import SCALE, normalize_config
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.reroot import freeze
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    POOLED,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    WHOLE_HEADS,
    patches,
    pooler,
    projection,
    split_layer,
    token,
)
from weighbridge.blueprints.multimodal.blip import NEVER
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import PROJECTION_DIM, TIED, Config, Field, nested, size, switch, variant
from weighbridge.core.length import sum_of, unknown
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

CODEBOOK = (
    replace(CHANNELS, key="input_channels"),
    size("width", "hidden_size", 256, "H", "width of the first group"),
    number("blocks", "num_blocks_per_group", 2),
    size("codes", "vocab_size", 8192, "V", "codes in the codebook"),
    switch("frozen", "freeze", True),
)
SIDE = 112
"""The side of the images that the codebook is given, which its image processor and no config states."""


def codebook(c: Config) -> Part:
    """Describe FlavaImageCodebook: four groups of convolutions at half the side each, and a code for every place; frozen unless said otherwise."""
    H, sides = c.width, tuple((SIDE // 2**index) ** 2 for index in range(4))
    widths = (H, H, 2 * H, 4 * H, 8 * H)
    groups = (
        part(
            f"group_{index + 1}",
            part("group", *(block(c, index, position, widths) for position in layer_range(c.blocks))),
            kind="stage",
            stream=places,
        )
        for index, places in enumerate(sides)
    )
    output = part("output", conv2d("conv", 8 * H, c.codes, 1), kind="head", stream=sides[-1])
    parts = part("", part("blocks", conv2d("input", c.channels, H, 7, stream=sides[0]), *groups, output), kind="vision")
    return freeze(parts) if c.frozen else parts


def block(c: Config, index: int, position: int, widths: tuple[Size, ...]) -> Part:
    """Describe one block: four convolutions beside a path that is mapped where the width changes."""
    inputs, outputs = (widths[index] if position == 0 else widths[index + 1]), widths[index + 1]
    inner = outputs // 4
    mapped = (conv2d("id_path", inputs, outputs, 1),) if position == 0 and index > 0 else ()
    path = part(
        "path",
        conv2d("conv_1", inputs, inner, 3),
        conv2d("conv_2", inner, inner, 3),
        conv2d("conv_3", inner, inner, 3),
        conv2d("conv_4", inner, outputs, 1),
    )
    return part(f"block_{position + 1}", *mapped, part("res_path", path), kind="convolution")


STACK = (VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, QKV_BIAS)
TEXT = (*SHARED[:3], *STACK)
IMAGES = (
    *STACK,
    *VIT_IMAGE,
    *VIT_PATCH,
    CHANNELS,
    switch("masked", "mask_token", True),
    size("codes", "vocab_size", 8192, "V", "codes in the codebook"),
)
BOTH = (*variant(STACK, layers=6), switch("classed", "use_cls_token", True))
FIELDS = (
    nested("images", "image_config", IMAGES),
    nested("text", "text_config", TEXT),
    nested("both", "multimodal_config", BOTH),
    nested("codebook", "image_codebook_config", CODEBOOK),
    VIT_HIDDEN,
    PROJECTION_DIM.with_default(768),
    switch("coded", "init_codebook", True),
    TIED,
)


def stack(c: Config, *first: Node, pooled: bool) -> tuple[Node, ...]:
    """Describe the layers of any of the three towers, a last norm and, unless left out, the pooler."""
    return (*first, part("encoder", split_layer(c), kind="encoder"), layer_norm("layernorm", c.hidden), *((pooler(c),) if pooled else ()))


def text(c: Config, *, pooled: bool = True) -> Part:
    """Describe FlavaTextModel."""
    return part("", *stack(c, embeddings(c), pooled=pooled), kind="text")


def images(c: Config, *, pooled: bool = True) -> Part:
    """Describe FlavaImageModel: its table of masked patches is one vector."""
    first = part(
        "embeddings",
        token("cls_token", c.hidden),
        *((token("mask_token", c.hidden),) if c.masked else ()),
        Tensor("position_embeddings", (1, patches(c) + 1, c.hidden), "embedding"),
        part("patch_embeddings", projection(c), kind="embeddings"),
        kind="embeddings",
    )
    return part("", *stack(c, first, pooled=pooled), kind="vision", stream=patches(c) + 1)


def multimodal_model(c: Config, *, pooled: bool = True) -> Part:
    """Describe FlavaMultimodalModel: a class token of its own in front of what it is given."""
    first = (token("cls_token", c.hidden),) if c.classed else ()
    return part("", *stack(c, *first, pooled=pooled), kind="encoder", stream=sum_of("seq", "one") if c.classed else "seq")


def flava(c: Config) -> Part:
    """Describe FlavaModel: both towers, and one over all that they output; the projections are for pre-training."""
    states = patches(c.images) + 1
    joint = sum_of("seq", states, "one") if c.both.classed else sum_of("seq", states)
    return part(
        "",
        SCALE,
        replace(text(c.text), name="text_model"),
        replace(images(c.images), name="image_model"),
        replace(multimodal_model(c.both), name="multimodal_model", stream=joint),
        replace(linear("image_projection", c.images.hidden, c.projected, stream="one"), requires=NEVER),
        replace(linear("text_projection", c.text.hidden, c.projected, stream="one"), requires=NEVER),
        linear("image_to_mm_projection", c.images.hidden, c.both.hidden, stream=states),
        linear("text_to_mm_projection", c.text.hidden, c.both.hidden),
        kind="model",
    )


def masked_head(c: Config, name: str, codes: Size, *, tied: bool) -> Part:
    """Describe a transform and a score for each code, whose bias has two names."""
    transform = part("transform", linear("dense", c.hidden, c.hidden), layer_norm("LayerNorm", c.hidden), kind="transform")
    decoder = (Tensor("weight", (codes, c.hidden), "weight"), Tensor("bias", (codes,), "bias", f"{name}.bias" if tied else None))
    return part(name, Tensor("bias", (codes,), "bias"), transform, part("decoder", *decoder, kind="linear"), kind="head")


def pre_training(c: Config) -> Part:
    """Describe FlavaForPreTraining: heads over each tower and over both."""
    heads = (
        masked_head(c.images, "mim_head", c.images.codes, tied=c.tied),
        masked_head(c.text, "mlm_head", c.text.vocab, tied=c.tied),
        part("itm_head", pooler(c), linear("seq_relationship", c.hidden, 2, stream="one"), kind="head"),
        masked_head(c.images, "mmm_image_head", c.images.codes, tied=c.tied),
        masked_head(c.text, "mmm_text_head", c.text.vocab, tied=c.tied),
    )
    coded = (replace(codebook(c.codebook), name="image_codebook"),) if c.coded else ()
    undetermined = unknown("pre-training runs each tower twice, and its heads on what was masked")
    return part("", replace(flava(c), name="flava", kind="backbone"), *coded, *heads, kind="model", stream=undetermined)


IGNORED_KEYS = frozenset(
    """logit_scale_init_value projection_dim ce_ignore_index mim_weight mlm_weight global_contrastive_weight itm_weight mmm_image_weight
    mmm_text_weight global_backprop_contrastive skip_unmasked_multimodal_encoder return_loss num_groups layer_norm_eps""".split()
)


def _single_class(model_type: str, fields: tuple[Field, ...], name: str, blueprint: Blueprint) -> Family:
    return Family(model_type, fields, {name: blueprint}, name, IGNORED_KEYS)


FAMILIES = {
    "flava": Family(
        "flava",
        FIELDS,
        {"FlavaModel": flava, "FlavaForPreTraining": pre_training},
        "FlavaModel",
        IGNORED_KEYS,
        normalize_config=normalize_config,
    ),
    "flava_text_model": _single_class("flava_text_model", (*TEXT, POOLED), "FlavaTextModel", lambda c: text(c, pooled=c.pooled)),
    "flava_image_model": _single_class("flava_image_model", (*IMAGES, POOLED), "FlavaImageModel", lambda c: images(c, pooled=c.pooled)),
    "flava_multimodal_model": _single_class(
        "flava_multimodal_model", (*BOTH, POOLED), "FlavaMultimodalModel", lambda c: multimodal_model(c, pooled=c.pooled)
    ),
    "flava_image_codebook": _single_class("flava_image_codebook", CODEBOOK, "FlavaImageCodebook", codebook),
}
