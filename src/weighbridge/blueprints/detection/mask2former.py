"""Mask2Former: masked attention over three feature maps, one after the other (Cheng et al., 2022).

Source: arXiv 2112.01527; names as in transformers 5.23.0, models/mask2former/modeling_mask2former.py. The config states no
image: ``image_size`` may be set beside its fields, and is 384 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.blueprints.modules.feature_maps import image
from weighbridge.blueprints.modules.masked_attention import (
    SWIN,
    backbone_features,
    divides_into_groups,
    joined_maps,
    layers_in_turn,
    loss_weights,
    map_areas,
    mask_logits,
    mlp_head,
    packed_attention,
    pixel_module,
)
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN_DIM, LABELS, OBJECT_QUERIES, Config, computed, size, switch
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part

FIELDS = (
    size("feature", "feature_size", 256, "F", "channels of the maps"),
    size("mask", "mask_feature_size", 256, "M", "channels of the masks"),
    HIDDEN_DIM.with_default(256),
    size("encoder_mlp", "encoder_feedforward_dim", 1024, "I_e", "intermediate size of the encoder"),
    size("decoder_mlp", "dim_feedforward", 2048, "I_d", "intermediate size of the decoder"),
    size("encoder_layers", "encoder_layers", 6, "L_e", "encoder layers"),
    replace(number("decoder_layers", "decoder_layers", 10), aliases=("num_hidden_layers",)),
    HEADS.with_default(8),
    OBJECT_QUERIES.with_default(100),
    switch("enforced", "enforce_input_projection", False),
    numbers("strides", "feature_strides", (4, 8, 16, 32)),
    number("common", "common_stride", 4),
    backbone("swin resnet", {**SWIN, "depths": [2, 2, 18, 2]}),
    image(384, report_default=False),
    computed("joined", joined_maps),
    computed("fits", divides_into_groups("feature_size")),
    LABELS,
    computed("projected", lambda c: c.enforced or c.feature != c.hidden),
)


def layer(c: Config, keys: Stream) -> tuple[Node, ...]:
    """Describe a layer of the decoder: attention among queries and to a map."""
    H = c.hidden
    return (
        fairseq_attention("self_attn", H, c.heads, exact(H, c.heads)),
        layer_norm("self_attn_layer_norm", H),
        packed_attention("cross_attn", H, c.heads, keys, c.queries),
        layer_norm("cross_attn_layer_norm", H),
        linear("fc1", H, c.decoder_mlp),
        linear("fc2", c.decoder_mlp, H),
        layer_norm("final_layer_norm", H),
    )


def mask2former(c: Config) -> Part:
    """Describe Mask2FormerModel: masks are drawn before the first layer and after each."""
    H, seen = c.hidden, backbone_features(c)
    streams, (levels, largest) = map_areas(seen), pixel_module(c, seen)
    inputs = (conv2d(str(index), c.feature, H, 1, stream=places) for index, places in enumerate(streams))
    predictor = part("mask_embedder", *mlp_head(H, H, H, c.mask), kind="head"), mask_logits(c, largest)
    decoder = (
        *layers_in_turn("layers", c.decoder_layers - 1, streams, lambda keys: layer(c, keys)),
        layer_norm("layernorm", H),
        part("mask_predictor", *predictor, kind="head", executions=c.decoder_layers),
    )
    module = (
        embedding("queries_embedder", c.queries, H),
        embedding("queries_features", c.queries, H),
        *((part("input_projections", *inputs, kind="projection"),) if c.projected else ()),
        part("decoder", *decoder, kind="decoder", stream=c.queries),
        embedding("level_embed", len(streams), H),
    )
    return part("", levels, part("transformer_module", *module, kind="decoder"), kind="model")


def segmentation(c: Config) -> Part:
    """Describe Mask2FormerForUniversalSegmentation: a class for each query, one of them for none, and the weights of the loss."""
    head = linear("class_predictor", c.hidden, c.labels + 1, stream=c.queries, executions=c.decoder_layers)
    return part("", replace(mask2former(c), name="model"), head, loss_weights(c.labels), kind="model")


IGNORED_KEYS = frozenset(
    """activation_function backbone backbone_kwargs class_weight dice_weight ignore_value importance_sample_ratio init_std
    init_xavier_std mask_weight no_object_weight output_auxiliary_logits oversample_ratio pre_norm train_num_points
    use_auxiliary_loss use_pretrained_backbone use_timm_backbone""".split()
)

CLASSES = {"Mask2FormerModel": mask2former, "Mask2FormerForUniversalSegmentation": segmentation}
FAMILIES = {"mask2former": Family("mask2former", FIELDS, CLASSES, "Mask2FormerModel", IGNORED_KEYS, normalize_config=named_backbone)}
