"""The image encoder of Segment Anything 3: a ViT with window attention in most layers, and a neck with feature maps of several scales.

Source: arXiv 2511.16719; names as in transformers 5.23.0, models/sam3/modeling_sam3.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, height_width, image, module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, MLP, Config, computed, sequence, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp, replace, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    CHANNELS,
    HIDDEN.with_default(1024),
    MLP.with_default(4736),
    number("layers", "num_hidden_layers", 32),
    HEADS.with_default(16),
    image(1008),
    height_width("patch", "patch_size", 14),
    height_width("before", "pretrain_image_size", 336),
    number("window", "window_size", 24, minimum=0),
    replace(numbers("whole", "global_attn_indexes", (7, 15, 23, 31), minimum=0), read=tuple),
)


def map_of(c: Config) -> Grid:
    """Return the map of patches."""
    return c.image[0] // c.patch[0], c.image[1] // c.patch[1]


def layer(c: Config, *, whole: bool) -> tuple[Node, ...]:
    """Describe a layer: attention among all positions, or inside windows, to which the map is filled up."""
    H, grid = c.hidden, map_of(c)
    across: Grid = (1, 1) if whole else ((grid[0] + c.window - 1) // c.window, (grid[1] + c.window - 1) // c.window)
    seen = area(grid) if whole else c.window * c.window
    head_dim = H // c.heads
    maps = (linear(f"{name}_proj", H, H) for name in "qkvo")
    scores = attend(heads=c.heads, head_dim=head_dim, queries=seen, keys=seen, groups=area(across))
    attention = part("attention", *maps, scores, kind="self_attention", stream=area(across) * seen)
    return layer_norm("layer_norm1", H), attention, layer_norm("layer_norm2", H), plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)


def transformer(c: Config) -> Part:
    """Describe Sam3ViTModel."""
    cut = c.before[0] // c.patch[0], c.before[1] // c.patch[1]
    square = cut[0] == cut[1] and c.patch[0] == c.patch[1]
    places: Stream = area(map_of(c)) if square else unknown("patches, and the table of positions, are squares where it runs")
    table = Tensor("position_embeddings", (1, area(cut), c.hidden), "embedding")
    patches = part("patch_embeddings", conv2d("projection", c.channels, c.hidden, c.patch, bias=False), kind="embeddings")
    kinds = [index in c.whole or not c.window for index in layer_range(c.layers)]
    layers = stack("layers", kinds, c.layers, lambda whole: layer(c, whole=whole))
    norm = layer_norm("layer_norm", c.hidden)
    return part("", part("embeddings", table, patches, kind="embeddings"), norm, *layers, kind="model", stream=places)


def scales(value: Any) -> tuple[float, ...]:
    """Take by how much each map is larger than that of the patches."""
    if any(entry not in (0.5, 1, 2, 4) for entry in value):
        raise ConfigError(Text("expected 0.5, 1, 2 or 4, found {value!r:.60}", value=value), key="scale_factors", value=value)
    return tuple(value)


def refuse_other_encoder(c: Config) -> bool:
    """Refuse another encoder, which is not described here."""
    if c.backbone.model_type != "sam3_vit_model":
        raise ConfigError("expected sam3_vit_model", key="backbone_config.model_type", value=c.backbone.model_type)
    return True


VISION = (
    size("hidden", "fpn_hidden_size", 256, "F", "channels of the maps"),
    sequence("scales", "scale_factors", [4.0, 2.0, 1.0, 0.5], read=scales),
    model_config("backbone", "backbone_config", "sam3_vit_model"),
    computed("same", refuse_other_encoder),
)


def scale_layer(c: Config, scale: float) -> tuple[Node, ...]:
    """Describe how the map of patches is brought to a scale, and to the channels of all maps."""
    H, F, (height, width) = c.backbone.hidden, c.hidden, map_of(c.backbone)
    steps = {4: 2, 2: 1}.get(int(scale), 0)
    ups = []
    for step in range(steps):
        inner, places = H // 2**step, area((height, width)) * 4**step
        tensors = Tensor("weight", (inner, H // 2 ** (step + 1), 2, 2), "weight"), Tensor("bias", (H // 2 ** (step + 1),), "bias")
        ups.append(part(str(2 * step), *tensors, kind="convolution", stream=places))
    grid = (height // 2, width // 2) if scale == 0.5 else (height * 2**steps, width * 2**steps)
    narrow = H // 2**steps
    convs = conv2d("proj1", narrow, F, 1, stream=area(grid)), conv2d("proj2", F, F, 3, stream=area(grid))
    return part("scale_layers", *ups, kind="convolution"), *convs


def neck(c: Config, name: str) -> Part:
    """Describe the maps of several scales that are made of the one of patches."""
    return part(name, module_list("fpn_layers", *(scale_layer(c, scale) for scale in c.scales)), kind="neck")


def vision(c: Config) -> Part:
    """Describe Sam3VisionModel."""
    return part("", as_child("backbone", submodel(c.backbone)), neck(c, "neck"), kind="model")


IGNORED_KEYS = frozenset("hidden_dropout layer_scale_init_value".split())
FAMILIES = {
    "sam3_vit_model": Family("sam3_vit_model", FIELDS, {"Sam3ViTModel": transformer}, "Sam3ViTModel", IGNORED_KEYS),
    "sam3_vision_model": Family(
        "sam3_vision_model", VISION, {"Sam3VisionModel": vision}, "Sam3VisionModel", frozenset({"backbone_feature_sizes"})
    ),
}
