"""MaskFormer: queries that predict a mask and a class each, over the last feature map of a backbone (Cheng et al., 2021).

Source: arXiv 2107.06278; names as in transformers 5.23.0, models/maskformer/modeling_maskformer.py. The config states no
image: ``image_size`` may be set beside its fields, and is 384 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, backbone, features, named_backbone
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.detr_common import decoder
from weighbridge.blueprints.modules.feature_maps import Grid, area, image
from weighbridge.blueprints.modules.masked_attention import loss_weights, mlp_head
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, size, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

STAGES = ["stage1", "stage2", "stage3", "stage4"]
SWIN = {
    "model_type": "swin",
    "depths": [2, 2, 18, 2],
    "image_size": 384,
    "embed_dim": 128,
    "num_heads": [4, 8, 16, 32],
    "window_size": 12,
    "out_features": STAGES,
}


def refuse_mismatch(c: Config) -> bool:
    """Refuse what the class refuses: norms of 32 groups, and a Swin of other than four stages."""
    if c.pyramid % 32:
        raise ConfigError(
            Text("norms of 32 groups over {pyramid} channels", pyramid=c.pyramid),
            key="fpn_feature_size",
            value=c.pyramid,
            hint="a multiple of 32",
        )
    if c.backbone.model_type == "swin" and len(c.backbone.depths) != 4:
        raise ConfigError("four stages are handed on", key="backbone_config.depths", value=list(c.backbone.depths))
    return True


FIELDS = (
    size("pyramid", "fpn_feature_size", 256, "P", "channels of the pyramid"),
    size("mask", "mask_feature_size", 256, "M", "channels of the masks", "hidden_size"),
    backbone("swin resnet", SWIN),
    model_config("decoder", "decoder_config", "detr", only=True),
    image(384, report_default=False),
    computed("whole", refuse_mismatch),
    computed("projected", lambda c: backbone_features(c).widths[-1] != c.decoder.hidden),
    LABELS,
)


def backbone_features(c: Config) -> Features:
    """Describe the backbone; a Swin is remade with the older names, and outputs all four stages."""
    inner = c.backbone
    older = with_changes(inner, older=True, extra_position=True, outputs=(1, 2, 3, 4)) if inner.model_type == "swin" else inner
    return features(older, c.image)


def block(name: str, inputs: Size, outs: Size, kernel: int = 3) -> Part:
    """Describe a convolution without bias and its norm of groups."""
    return part(name, conv2d("0", inputs, outs, kernel, bias=False), group_norm("1", outs, 32), kind="convolution")


def pyramid(c: Config, seen: Features) -> Part:
    """Describe the maps from the last to the largest, each added to the one before, and the map for masks."""
    maps: tuple[Grid, ...] = seen.maps[-2::-1]
    layers = []
    for index, (grid, width) in enumerate(zip(maps, seen.widths[-2::-1], strict=True)):
        parts = block("proj", width, c.pyramid, 1), block("block", c.pyramid, c.pyramid)
        layers.append(part(str(index), *parts, kind="stage", stream=area(grid)))
    largest: Stream = area(maps[-1]) if maps else unknown("a pyramid needs two maps, and the backbone hands on one")
    stem = replace(block("stem", seen.widths[-1], c.pyramid), stream=area(seen.maps[-1]))
    joined = part("fpn", stem, part("layers", *layers), kind="neck")
    return part("decoder", joined, conv2d("mask_projection", c.pyramid, c.mask, 3, stream=largest), kind="decoder")


def maskformer(c: Config) -> Part:
    """Describe MaskFormerModel: backbone and pyramid, and queries that attend to the last map."""
    seen, inner = backbone_features(c), c.decoder
    places = area(seen.maps[-1])
    projection = (conv2d("input_projection", seen.widths[-1], inner.hidden, 1, stream=places),) if c.projected else ()
    levels = part("encoder", *seen.parts, kind="vision"), pyramid(c, seen)
    queries = (
        embedding("queries_embedder", inner.queries, inner.hidden),
        *projection,
        part("decoder", *decoder(inner, places), kind="decoder", stream=inner.queries),
    )
    return part("", part("pixel_level_module", *levels, kind="vision"), part("transformer_module", *queries, kind="decoder"), kind="model")


def segmentation(c: Config) -> Part:
    """Describe MaskFormerForInstanceSegmentation: a class and a mask for each query, and the weights of the loss."""
    H, all_layers = c.decoder.hidden, unknown("queries of how many layers are read depends on the loss")
    head = linear("class_predictor", H, c.labels + 1, stream=all_layers)
    masks = part("mask_embedder", *mlp_head(H, H, H, c.mask), kind="head", stream=all_layers)
    return part("", replace(maskformer(c), name="model"), head, masks, loss_weights(c.labels), kind="model")


IGNORED_KEYS = frozenset(
    """backbone backbone_kwargs cross_entropy_weight decoder_layers dice_weight init_std init_xavier_std mask_weight no_object_weight
    num_attention_heads num_hidden_layers output_auxiliary_logits use_auxiliary_loss use_pretrained_backbone use_timm_backbone""".split()
)

CLASSES = {"MaskFormerModel": maskformer, "MaskFormerForInstanceSegmentation": segmentation}
FAMILIES = {"maskformer": Family("maskformer", FIELDS, CLASSES, "MaskFormerModel", IGNORED_KEYS, normalize_config=named_backbone)}
