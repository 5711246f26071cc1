"""BEiT and data2vec for images: vision transformers with relative positions and a learned scale behind each block.

Source: arXiv 2106.08254 (BEiT), 2202.03555 (data2vec); names as in transformers 5.23.0, models/beit/modeling_beit.py
and models/data2vec/modeling_data2vec_vision.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.convnext import above_zero
from weighbridge.blueprints.grids import CHANNELS, Grid
from weighbridge.blueprints.uper import FIELDS as MAPS
from weighbridge.blueprints.uper import auxiliary_head, doubled, enlarging, uper_head
from weighbridge.blueprints.vision import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    IMAGE,
    LAYERS,
    MLP,
    NEUTRAL,
    PATCH,
    WHOLE_HEADS,
    attention,
    classifier,
    feed_forward,
    grid,
    patches,
    projection,
    split_attention,
    split_layer,
    token,
)
from weighbridge.config import LABELS, Field, Sizes, choice, fact, size, switch
from weighbridge.errors import ConfigError
from weighbridge.parts import batch_norm, layer_norm, linear
from weighbridge.tree import Node, Part, Tensor


def fields(head_dim: Field, *, pooled: bool, indices: list[int] | None) -> tuple[Field, ...]:
    """Return the fields of both families, which differ in three of them."""
    return (
        size("vocab", "vocab_size", 8192, "V", "vocabulary size"),
        *(HIDDEN, MLP, LAYERS, HEADS, head_dim, *IMAGE, *PATCH, CHANNELS, LABELS),
        switch("masked", "use_mask_token", False),
        switch("absolute", "use_absolute_position_embeddings", False),
        switch("relative", "use_relative_position_bias", False),
        switch("shared", "use_shared_relative_position_bias", False),
        choice("scaled", "layer_scale_init_value", 0.1, read=above_zero),
        switch("mean", "use_mean_pooling", True),
        switch("pooled", "add_pooling_layer", pooled, silent=True),
        choice("indices", "out_indices", indices, "segmentation_indices"),
        *MAPS,
    )


def positions(c: Sizes, name: str) -> Part:
    """Describe a bias for every distance between two patches and head; three more are from and to the class token."""
    rows, columns = grid(c)
    distances = (2 * rows - 1) * (2 * columns - 1) + 3
    return Part(name, (Tensor("relative_position_bias_table", (distances, c.heads), "embedding"),), "embedding")


def embeddings(c: Sizes) -> Part:
    """Describe the patches behind a class token, with a table of positions only if the config says so."""
    H = c.hidden
    return Part("embeddings", (
        token("cls_token", H),
        *((token("mask_token", H),) if c.masked else ()),
        *((token("position_embeddings", H, patches(c) + 1),) if c.absolute else ()),
        Part("patch_embeddings", (projection(c),), "embeddings"),
    ), "embeddings")  # fmt: skip


def scales(c: Sizes) -> tuple[Tensor, ...]:
    """Describe the learned scale of each channel behind attention and behind the feed-forward network."""
    return tuple(Tensor(name, (c.hidden,), "gain") for name in ("lambda_1", "lambda_2")) if c.scaled else ()


def last_norm(c: Sizes, *, pooled: bool) -> tuple[Part, ...]:
    """Describe the norm: of all vectors, or of their mean, which only a pooler takes."""
    norm = layer_norm("layernorm", c.hidden)
    if not c.mean:
        return (norm,)
    return (Part("pooler", (norm,), "pooler", stream="one"),) if pooled else ()


def beit_encoder(c: Sizes, *, pooled: bool) -> tuple[Node, ...]:
    """Describe BeitModel; keys have no bias."""
    H = c.hidden
    shared = (positions(c, "shared_position_bias"),) if c.shared else ()
    layer = Part("layers", (
        *scales(c),
        attention(c, biases=(True, False, True, True)),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
        feed_forward(c),
        *((positions(c, "relative_position_bias"),) if c.relative else ()),
    ), "layer", repeat=c.layers)  # fmt: skip
    return (embeddings(c), *shared, layer, *last_norm(c, pooled=pooled))


def data2vec_encoder(c: Sizes, *, pooled: bool) -> tuple[Node, ...]:
    """Describe Data2VecVisionModel: the same structure with the older names."""
    bias = (positions(c, "relative_position_bias"),)
    attends = split_attention(c, (True, False, True), *(bias if c.relative else ()))
    layers = split_layer(c, *scales(c), attends=attends)
    return (embeddings(c), Part("encoder", (*(bias if c.shared else ()), layers), "encoder"), *last_norm(c, pooled=pooled))


def backbone(c: Sizes, *, pooled: bool, name: str = "") -> Part:
    """Describe the encoder of either family, alone or as the heads hold it."""
    children = (beit_encoder if c.beit else data2vec_encoder)(c, pooled=pooled)
    return Part(name, children, "backbone" if name else "model", stream=patches(c) + 1)


def alone(c: Sizes) -> Part:
    """Describe BeitModel and Data2VecVisionModel."""
    return backbone(c, pooled=c.pooled)


def masked_image_modeling(c: Sizes) -> Part:
    """Describe BeitForMaskedImageModeling: a score for every visual word at every patch."""
    head = linear("lm_head", c.hidden, c.vocab, stream=patches(c))
    return Part("", (backbone(c, pooled=False, name="beit"), layer_norm("layernorm", c.hidden), head), "model")


def classification(c: Sizes) -> Part:
    """Describe image classification: one output per label on the mean of the patches, or on the class token."""
    return Part("", (backbone(c, pooled=True, name=c.name), classifier(c)), "model")


def pyramid(c: Sizes, at: Grid) -> tuple[Part, ...]:
    """Describe what makes maps of two and four times the height and width; the other two maps need no tensors."""
    H = c.hidden
    if c.beit:
        up = Part(
            "fpn1", (enlarging("conv_transpose1", H, at), batch_norm("normalization", H), enlarging("conv_transpose2", H, doubled(at)))
        )
        return (Part("fpn", (up, enlarging("fpn2", H, at)), "neck"),)
    up = Part("fpn1", (enlarging("0", H, at), batch_norm("1", H), enlarging("3", H, doubled(at))))
    return up, Part("fpn2", (enlarging("0", H, at),))


def segmentation(c: Sizes) -> Part:
    """Describe semantic segmentation on the outputs of four layers."""
    if c.indices is not None and len(c.indices) != 4:
        raise ConfigError("segmentation needs four layers", key="out_indices", value=c.indices, hint="such as [3, 5, 7, 11]")
    at = grid(c)
    auxiliary = (auxiliary_head(c, at),) if c.auxiliary else ()
    return Part("", (backbone(c, pooled=False, name=c.name), *pyramid(c, at), uper_head(c, at), *auxiliary), "model")


def beit_backbone(c: Sizes) -> Part:
    """Describe BeitBackbone: the encoder, with the pyramid of four maps if the config says so."""
    return Part("", (backbone(c, pooled=False, name="beit"), *(pyramid(c, grid(c)) if c.fpn else ())), "model")


KEYS = NEUTRAL | {"auxiliary_loss_weight", "semantic_loss_ignore_index", "reshape_hidden_states"}

FAMILIES = {
    "beit": Family(
        "beit",
        (*fields(HEAD_DIM, pooled=True, indices=None), switch("fpn", "add_fpn", False), fact("beit", True), fact("name", "beit")),
        {
            "BeitModel": alone,
            "BeitForMaskedImageModeling": masked_image_modeling,
            "BeitForImageClassification": classification,
            "BeitForSemanticSegmentation": segmentation,
            "BeitBackbone": beit_backbone,
        },
        "BeitModel",
        KEYS,
    ),
    "data2vec-vision": Family(
        "data2vec-vision",
        (*fields(WHOLE_HEADS, pooled=False, indices=[3, 5, 7, 11]), fact("beit", False), fact("name", "data2vec_vision")),
        {
            "Data2VecVisionModel": alone,
            "Data2VecVisionForImageClassification": classification,
            "Data2VecVisionForSemanticSegmentation": segmentation,
        },
        "Data2VecVisionModel",
        KEYS,
    ),
}
