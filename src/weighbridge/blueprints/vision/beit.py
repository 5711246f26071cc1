"""BEiT: a vision transformer with relative position bias and layer scale.

Source: arXiv 2106.08254; names as in transformers 5.23.0, models/beit/modeling_beit.py. data2vec for images is the same
structure under older names, and made of the parts that stand here.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.upernet_head import FIELDS as MAPS
from weighbridge.blueprints.modules.upernet_head import double_size, upsample, with_segmentation_heads
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    VIT_HEAD_DIM,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    attention,
    classifier,
    feed_forward,
    grid,
    patches,
    projection,
    token,
)
from weighbridge.blueprints.vision.convnext import has_layer_scale
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, VOCAB, Config, Field, choice, switch
from weighbridge.core.parts import batch_norm, layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor


def fields(head_dim: Field, *, pooled: bool, indices: list[int] | None) -> tuple[Field, ...]:
    """Return the fields of BEiT and of data2vec, which differ in three of them."""
    return (
        VOCAB.with_default(8192),
        *(VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, head_dim, *VIT_IMAGE, *VIT_PATCH, CHANNELS, LABELS),
        switch("masked", "use_mask_token", False),
        switch("absolute", "use_absolute_position_embeddings", False),
        switch("relative", "use_relative_position_bias", False),
        switch("shared", "use_shared_relative_position_bias", False),
        choice("scaled", "layer_scale_init_value", 0.1, read=has_layer_scale),
        switch("mean", "use_mean_pooling", True),
        switch("pooled", "add_pooling_layer", pooled, report_default=False),
        choice("features", "out_features", None, report_default=False),
        choice("indices", "segmentation_indices", indices or (lambda c: c.features), "out_indices"),
        *MAPS,
    )


def positions(c: Config, name: str) -> Part:
    """Describe a bias for every distance between two patches and head; three more are from and to the class token."""
    rows, columns = grid(c)
    distances = (2 * rows - 1) * (2 * columns - 1) + 3
    return part(name, Tensor("relative_position_bias_table", (distances, c.heads), "embedding"), kind="embedding")


def embeddings(c: Config) -> Part:
    """Describe the patches behind a class token, with a table of positions only if the config says so."""
    H = c.hidden
    return part(
        "embeddings",
        token("cls_token", H),
        *((token("mask_token", H),) if c.masked else ()),
        *((token("position_embeddings", H, patches(c) + 1),) if c.absolute else ()),
        part("patch_embeddings", projection(c), kind="embeddings"),
        kind="embeddings",
    )


def scales(c: Config) -> tuple[Tensor, ...]:
    """Describe the learned scale of each channel behind attention and behind the feed-forward network."""
    return tuple(Tensor(name, (c.hidden,), "gain") for name in ("lambda_1", "lambda_2")) if c.scaled else ()


def last_norm(c: Config, *, pooled: bool) -> tuple[Part, ...]:
    """Describe the norm: of all vectors, or of their mean, which only a pooler takes."""
    norm = layer_norm("layernorm", c.hidden)
    if not c.mean:
        return (norm,)
    return (part("pooler", norm, kind="pooler", stream="one"),) if pooled else ()


def backbone(c: Config, *, pooled: bool = False, name: str = "beit") -> Part:
    """Describe the encoder, alone or as the heads hold it; keys have no bias."""
    H = c.hidden
    shared = (positions(c, "shared_position_bias"),) if c.shared else ()
    layer = part(
        "layers",
        *scales(c),
        attention(c, biases=(True, False, True, True)),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
        feed_forward(c),
        *((positions(c, "relative_position_bias"),) if c.relative else ()),
        kind="layer",
        repeat=c.layers,
    )
    children = (embeddings(c), *shared, layer, *last_norm(c, pooled=pooled))
    return part(name, *children, kind="backbone" if name else "model", stream=patches(c) + 1)


def beit(c: Config) -> Part:
    """Describe BeitModel."""
    return backbone(c, pooled=c.pooled, name="")


def masked_image_modeling(c: Config) -> Part:
    """Describe BeitForMaskedImageModeling: a score for every visual word at every patch."""
    head = linear("lm_head", c.hidden, c.vocab, stream=patches(c))
    return part("", backbone(c), layer_norm("layernorm", c.hidden, stream=patches(c) + 1), head, kind="model")


def classification(c: Config) -> Part:
    """Describe BeitForImageClassification: one output per label on the mean of the patches, or on the class token."""
    return part("", backbone(c, pooled=True), classifier(c), kind="model")


def pyramid(c: Config) -> Part:
    """Describe what makes maps of two and four times the height and width; the other two maps need no tensors."""
    H, at = c.hidden, grid(c)
    up = upsample("conv_transpose1", H, at), batch_norm("normalization", H), upsample("conv_transpose2", H, double_size(at))
    return part("fpn", part("fpn1", *up), upsample("fpn2", H, at), kind="neck")


def segmentation(c: Config) -> Part:
    """Describe BeitForSemanticSegmentation."""
    return with_segmentation_heads(c, grid(c), backbone(c), pyramid(c))


def with_maps(c: Config) -> Part:
    """Describe BeitBackbone: the encoder, with the pyramid of four maps if the config says so."""
    return part("", backbone(c), *((pyramid(c),) if c.fpn else ()), kind="model")


OWN_IGNORED_KEYS = IGNORED_KEYS | {"auxiliary_loss_weight", "semantic_loss_ignore_index", "reshape_hidden_states"}
CLASSES = {
    "BeitModel": beit,
    "BeitForMaskedImageModeling": masked_image_modeling,
    "BeitForImageClassification": classification,
    "BeitForSemanticSegmentation": segmentation,
    "BeitBackbone": with_maps,
}
FIELDS = uneven_heads((*fields(VIT_HEAD_DIM, pooled=True, indices=None), switch("fpn", "add_fpn", False)))
FAMILIES = {"beit": Family("beit", FIELDS, CLASSES, "BeitModel", OWN_IGNORED_KEYS)}
