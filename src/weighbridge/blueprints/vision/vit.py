"""ViT and its nearest kin: DeiT, ViT-MSN, and I-JEPA.

Source: arXiv 2010.11929 (ViT), 2012.12877 (DeiT), 2204.07141 (MSN), 2301.08243 (I-JEPA); names as in transformers 5.23.0,
models/{vit,deit,vit_msn,ijepa}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.vit_common import FIELDS, NEUTRAL, POOLED, classifier, layer, patches, projection, token
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Field, Sizes, fact, size, switch
from weighbridge.core.parts import conv2d, layer_norm, linear
from weighbridge.core.tree import Part, Tensor

POOLING = (
    size("pooled_width", "pooler_output_size", lambda c: c.hidden, "O", "width of the pooled output"),
    switch("masked", "use_mask_token", False, silent=True),
)
PIXELS = (size("stride", "encoder_stride", 16, "E", "side of what a patch is drawn back to"), *POOLING, POOLED)


def encoder(c: Sizes, *, pooled: bool, masked: bool) -> tuple[Part, ...]:
    """Describe patches behind learned tokens, layers, a last norm and, unless left out, the pooler."""
    H = c.hidden
    embeddings = Part("embeddings", (
        *((token("cls_token", H),) if c.tokens else ()),
        *((token("mask_token", H),) if masked else ()),
        Tensor("position_embeddings", (1, patches(c) + c.tokens, H), "embedding"),
        *((token("distillation_token", H),) if c.tokens == 2 else ()),
        Part("patch_embeddings", (projection(c),), "embeddings"),
    ), "embeddings")  # fmt: skip
    pooler = Part("pooler", (linear("dense", H, c.pooled_width),), "pooler", stream="one") if pooled else None
    return (embeddings, layer(c), layer_norm("layernorm", H), *((pooler,) if pooler else ()))


def vit(c: Sizes) -> Part:
    """Describe ViTModel: with a pooler unless that is left out."""
    return Part("", encoder(c, pooled=c.pooled, masked=c.masked), "model", stream=patches(c) + c.tokens)


def backbone(c: Sizes, *, masked: bool = False) -> Part:
    """Describe the encoder as the heads hold it."""
    return Part(c.name, encoder(c, pooled=False, masked=masked), "backbone", stream=patches(c) + c.tokens)


def masked_image_modeling(c: Sizes) -> Part:
    """Describe ViTForMaskedImageModeling: every patch drawn back to pixels, as SimMIM does."""
    drawn = conv2d("0", c.hidden, c.stride * c.stride * c.channels, 1, positions=patches(c))
    return Part("", (backbone(c, masked=True), Part("decoder", (drawn,), "head")), "model")


def classification(c: Sizes) -> Part:
    """Describe ViTForImageClassification: one output per label on one vector of the image."""
    return Part("", (backbone(c), classifier(c)), "model")


def with_teacher(c: Sizes) -> Part:
    """Describe DeiTForImageClassificationWithTeacher: one head on the class token, one on the teacher's."""
    return Part("", (backbone(c), classifier(c, "cls_classifier"), classifier(c, "distillation_classifier")), "model")


def family(model_type: str, prefix: str, tokens: int, fields: tuple[Field, ...], **classes: Blueprint) -> Family:
    """Return a family of ViT's kind, with so many learned tokens in front of the patches."""
    traits = fact("tokens", tokens), fact("name", "vit" if model_type == "vit_msn" else model_type)
    named = {f"{prefix}{ending}": blueprint for ending, blueprint in classes.items()}
    return Family(model_type, (*FIELDS, *fields, *traits), named, f"{prefix}Model", NEUTRAL | {"pooler_act"})


VIT = {"Model": vit, "ForMaskedImageModeling": masked_image_modeling, "ForImageClassification": classification}
PLAIN = {"Model": vit, "ForImageClassification": classification}

FAMILIES = {
    "vit": family("vit", "ViT", 1, PIXELS, **VIT),
    "deit": family("deit", "DeiT", 2, PIXELS, **VIT, ForImageClassificationWithTeacher=with_teacher),
    "vit_msn": family("vit_msn", "ViTMSN", 1, (POOLING[1], fact("pooled", False)), **PLAIN),
    "ijepa": family("ijepa", "IJepa", 0, (*POOLING, switch("pooled", "add_pooling_layer", False, silent=True)), **PLAIN),
}
