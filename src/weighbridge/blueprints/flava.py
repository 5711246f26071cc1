"""FLAVA: an image tower, a text tower and one over both; in pre-training with a codebook of image patches.

Source: arXiv 2112.04482, section 3; names as in transformers 5.23.0, models/flava/modeling_flava.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Blueprint, Family
from weighbridge.blueprints.bert import SHARED, embeddings
from weighbridge.blueprints.blip import NEVER
from weighbridge.blueprints.flava_codebook import FIELDS as CODEBOOK
from weighbridge.blueprints.flava_codebook import codebook
from weighbridge.blueprints.grids import CHANNELS
from weighbridge.blueprints.towers import SCALE, settled
from weighbridge.blueprints.vision import (
    HEADS,
    HIDDEN,
    IMAGE,
    LAYERS,
    MLP,
    PATCH,
    POOLED,
    QKV_BIAS,
    WHOLE_HEADS,
    patches,
    pooler,
    projection,
    split_layer,
    token,
)
from weighbridge.config.fields import TIED, Field, Sizes, nested, size, switch, variant
from weighbridge.core.parts import layer_norm, linear
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor, Together, Untold

STACK = (HIDDEN, MLP, LAYERS, HEADS, WHOLE_HEADS, QKV_BIAS)
TEXT = (*SHARED[:3], *STACK)
IMAGES = (
    *STACK,
    *IMAGE,
    *PATCH,
    CHANNELS,
    switch("masked", "mask_token", True),
    size("codes", "vocab_size", 8192, "V", "codes of the codebook"),
)
BOTH = (*variant(STACK, layers=6), switch("classed", "use_cls_token", True))
FIELDS = (
    nested("images", "image_config", IMAGES),
    nested("text", "text_config", TEXT),
    nested("both", "multimodal_config", BOTH),
    nested("codebook", "image_codebook_config", CODEBOOK),
    HIDDEN,
    size("projected", "projection_dim", 768, "E", "width of the shared space"),
    switch("coded", "init_codebook", True),
    TIED,
)


def stack(c: Sizes, *first: Node, pooled: bool) -> tuple[Node, ...]:
    """Describe the layers of any of the three towers, a last norm and, unless left out, the pooler."""
    return (*first, Part("encoder", (split_layer(c),), "encoder"), layer_norm("layernorm", c.hidden), *((pooler(c),) if pooled else ()))


def text(c: Sizes, *, pooled: bool = True) -> Part:
    """Describe FlavaTextModel."""
    return Part("", stack(c, embeddings(c), pooled=pooled), "text")


def images(c: Sizes, *, pooled: bool = True) -> Part:
    """Describe FlavaImageModel: its table of masked patches is one vector."""
    first = Part("embeddings", (
        token("cls_token", c.hidden),
        *((token("mask_token", c.hidden),) if c.masked else ()),
        Tensor("position_embeddings", (1, patches(c) + 1, c.hidden), "embedding"),
        Part("patch_embeddings", (projection(c),), "embeddings"),
    ), "embeddings")  # fmt: skip
    return Part("", stack(c, first, pooled=pooled), "vision", stream=patches(c) + 1)


def both(c: Sizes, *, pooled: bool = True) -> Part:
    """Describe FlavaMultimodalModel: a class token of its own in front of what it is given."""
    first = (token("cls_token", c.hidden),) if c.classed else ()
    return Part("", stack(c, *first, pooled=pooled), "encoder", stream=Together(("seq", "one")) if c.classed else "seq")


def flava(c: Sizes) -> Part:
    """Describe FlavaModel: both towers, and one over all that they put out; the projections are for pre-training."""
    states = patches(c.images) + 1
    joint = Together(("seq", states, "one")) if c.both.classed else Together(("seq", states))
    return Part("", (
        SCALE,
        text(c.text)._replace(name="text_model"),
        images(c.images)._replace(name="image_model"),
        both(c.both)._replace(name="multimodal_model", stream=joint),
        linear("image_projection", c.images.hidden, c.projected, stream="one")._replace(given=NEVER),
        linear("text_projection", c.text.hidden, c.projected, stream="one")._replace(given=NEVER),
        linear("image_to_mm_projection", c.images.hidden, c.both.hidden, stream=states),
        linear("text_to_mm_projection", c.text.hidden, c.both.hidden),
    ), "model")  # fmt: skip


def masked_head(c: Sizes, name: str, codes: Size, *, tied: bool) -> Part:
    """Describe a transform and a score for each code, whose bias has two names."""
    transform = Part("transform", (linear("dense", c.hidden, c.hidden), layer_norm("LayerNorm", c.hidden)), "transform")
    decoder = (Tensor("weight", (codes, c.hidden), "weight"), Tensor("bias", (codes,), "bias", f"{name}.bias" if tied else None))
    return Part(name, (Tensor("bias", (codes,), "bias"), transform, Part("decoder", decoder, "linear")), "head")


def pre_training(c: Sizes) -> Part:
    """Describe FlavaForPreTraining: heads over each tower and over both."""
    heads = (
        masked_head(c.images, "mim_head", c.images.codes, tied=c.tied),
        masked_head(c.text, "mlm_head", c.text.vocab, tied=c.tied),
        Part("itm_head", (pooler(c), linear("seq_relationship", c.hidden, 2, stream="one")), "head"),
        masked_head(c.images, "mmm_image_head", c.images.codes, tied=c.tied),
        masked_head(c.text, "mmm_text_head", c.text.vocab, tied=c.tied),
    )
    coded = (codebook(c.codebook)._replace(name="image_codebook"),) if c.coded else ()
    untold = Untold("pre-training runs each tower twice, and its heads on what was masked")
    return Part("", (flava(c)._replace(name="flava", kind="backbone"), *coded, *heads), "model", stream=untold)


NEUTRAL = frozenset(
    """logit_scale_init_value projection_dim ce_ignore_index mim_weight mlm_weight global_contrastive_weight itm_weight mmm_image_weight
    mmm_text_weight global_backprop_contrastive skip_unmasked_multimodal_encoder return_loss num_groups layer_norm_eps""".split()
)


def _single(model_type: str, fields: tuple[Field, ...], name: str, blueprint: Blueprint) -> Family:
    return Family(model_type, fields, {name: blueprint}, name, NEUTRAL)


FAMILIES = {
    "flava": Family("flava", FIELDS, {"FlavaModel": flava, "FlavaForPreTraining": pre_training}, "FlavaModel", NEUTRAL, settle=settled),
    "flava_text_model": _single("flava_text_model", (*TEXT, POOLED), "FlavaTextModel", lambda c: text(c, pooled=c.pooled)),
    "flava_image_model": _single("flava_image_model", (*IMAGES, POOLED), "FlavaImageModel", lambda c: images(c, pooled=c.pooled)),
    "flava_multimodal_model": _single(
        "flava_multimodal_model", (*BOTH, POOLED), "FlavaMultimodalModel", lambda c: both(c, pooled=c.pooled)
    ),
    "flava_image_codebook": _single("flava_image_codebook", CODEBOOK, "FlavaImageCodebook", codebook),
}
