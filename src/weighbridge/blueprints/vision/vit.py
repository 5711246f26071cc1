"""ViT, DeiT, ViT-MSN, and I-JEPA.

Source: arXiv 2010.11929 (ViT), 2012.12877 (DeiT), 2204.07141 (MSN), 2301.08243 (I-JEPA); names as in transformers 5.23.0,
models/{vit,deit,vit_msn,ijepa}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.vit_common import FIELDS, IGNORED_KEYS, POOLED, classifier, layer, patches, projection, token
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, constant, size, switch
from weighbridge.core.parts import conv2d, layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor

POOLING = (
    size("pooled_width", "pooler_output_size", lambda c: c.hidden, "O", "width of the pooled output"),
    switch("masked", "use_mask_token", False, report_default=False),
)
PIXELS = (size("stride", "encoder_stride", 16, "E", "side of a reconstructed patch"), *POOLING, POOLED)


def encoder(c: Config, *, pooled: bool, masked: bool) -> tuple[Part, ...]:
    """Describe patches behind learned tokens, layers, a last norm and, unless left out, the pooler."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        *((token("cls_token", H),) if c.tokens else ()),
        *((token("mask_token", H),) if masked else ()),
        Tensor("position_embeddings", (1, patches(c) + c.tokens, H), "embedding"),
        *((token("distillation_token", H),) if c.tokens == 2 else ()),
        part("patch_embeddings", projection(c), kind="embeddings"),
        kind="embeddings",
    )
    pooler = part("pooler", linear("dense", H, c.pooled_width), kind="pooler", stream="one") if pooled else None
    return (embeddings, layer(c), layer_norm("layernorm", H), *((pooler,) if pooler else ()))


def vit(c: Config) -> Part:
    """Describe ViTModel: with a pooler unless that is left out."""
    return part("", *encoder(c, pooled=c.pooled, masked=c.masked), kind="model", stream=patches(c) + c.tokens)


def backbone(c: Config, *, masked: bool = False) -> Part:
    """Describe the encoder as the heads hold it."""
    return part(c.name, *encoder(c, pooled=False, masked=masked), kind="backbone", stream=patches(c) + c.tokens)


def masked_image_modeling(c: Config) -> Part:
    """Describe ViTForMaskedImageModeling: every patch drawn back to pixels, as SimMIM does."""
    drawn = conv2d("0", c.hidden, c.stride * c.stride * c.channels, 1, stream=patches(c))
    return part("", backbone(c, masked=True), part("decoder", drawn, kind="head"), kind="model")


def classification(c: Config) -> Part:
    """Describe ViTForImageClassification: one output per label on one vector of the image."""
    return part("", backbone(c), classifier(c), kind="model")


def with_teacher(c: Config) -> Part:
    """Describe DeiTForImageClassificationWithTeacher: one head on the class token, one on the teacher's."""
    return part("", backbone(c), classifier(c, "cls_classifier"), classifier(c, "distillation_classifier"), kind="model")


def family(model_type: str, prefix: str, tokens: int, fields: tuple[Field, ...], **classes: Blueprint) -> Family:
    """Return a family of ViT's kind, with so many learned tokens in front of the patches."""
    traits = constant("tokens", tokens), constant("name", "vit" if model_type == "vit_msn" else model_type)
    named = {f"{prefix}{ending}": blueprint for ending, blueprint in classes.items()}
    return Family(model_type, (*FIELDS, *fields, *traits), named, f"{prefix}Model", IGNORED_KEYS | {"pooler_act"})


VIT = {"Model": vit, "ForMaskedImageModeling": masked_image_modeling, "ForImageClassification": classification}
PLAIN = {"Model": vit, "ForImageClassification": classification}

FAMILIES = {
    "vit": family("vit", "ViT", 1, PIXELS, **VIT),
    "deit": family("deit", "DeiT", 2, PIXELS, **VIT, ForImageClassificationWithTeacher=with_teacher),
    "vit_msn": family("vit_msn", "ViTMSN", 1, (POOLING[1], constant("pooled", False)), **PLAIN),
    "ijepa": family("ijepa", "IJepa", 0, (*POOLING, switch("pooled", "add_pooling_layer", False, report_default=False)), **PLAIN),
}
