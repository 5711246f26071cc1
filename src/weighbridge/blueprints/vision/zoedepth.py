"""ZoeDepth: depth in metres, from DPT's relative depth and bins of depth that are moved from the coarsest map to the finest.

Source: Bhat et al. 2023, arXiv 2302.12288; names as in transformers 5.23.0, models/zoedepth/modeling_zoedepth.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.backbones import hidden_size, patch_grid, refuse_named_backbone
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.dense_prediction import (
    convolutions,
    double_each,
    fields,
    fusion_layer,
    reassemble_stage,
    reassembled_maps,
)
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.vision.depth_anything import last_map
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, optional, sequence, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

BEIT = {
    "image_size": 384,
    "num_hidden_layers": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "use_relative_position_bias": True,
    "reshape_hidden_states": False,
    "out_features": ["stage6", "stage12", "stage18", "stage24"],
}
"""The backbone where the config has none."""
ROUTES = 4
"""Maps whose features move the bins."""
ROUTER_LAYERS = 4
"""Layers of the classifier of scenes that are run, however many there are."""
ROUTED = unknown("a classifier picks, for all images of a batch, one of the heads, whose numbers of bins differ")


def bins(value: Any) -> list[tuple[str, int]]:
    """Read the names and numbers of bins of every range of depth; one range alone needs no name."""
    key, found = "bin_configurations", [(entry.get("name"), entry.get("n_bins")) for entry in value]
    for name, many in found:
        if type(many) is not int or many < 1 or (len(found) > 1 and not isinstance(name, str)):
            raise ConfigError(Text("expected a name and n_bins for each range, found {value!r:.60}", value=value), key=key, value=value)
    return found


def attractor_counts(c: Config) -> list[int]:
    """Return how many numbers move the bins in each step: by the config for one range of depth, else always 16."""
    counts = list(c.attractors)
    if len(c.bins) == 1 and len(counts) < ROUTES:
        raise ConfigError("expected one number for each of the 4 maps", key="num_attractors", value=counts)
    return counts[:ROUTES] if len(c.bins) == 1 else [16] * len(counts)


FIELDS = (
    model_config("backbone", "backbone_config", "beit dinov2", absent=BEIT),
    *fields(256, (96, 192, 384, 768)),
    choice("readout", "readout_type", "project", read=one_of("readout_type", "ignore", "add", "project")),
    number("used", "head_in_index", -1, minimum=-99),
    switch("normed", "use_batch_norm_in_fusion_residual", False),
    switch("fusion_bias", "use_bias_in_fusion_residual", lambda c: not c.normed),
    size("relative", "num_relative_features", 32, "U", "channels of the head of relative depth"),
    switch("projected", "add_projection", False),
    size("bottleneck", "bottleneck_features", 256, "B", "channels of the smallest map"),
    sequence("bins", "bin_configurations", lambda c: [{"n_bins": 64}], read=bins),
    numbers("attractors", "num_attractors", (16, 8, 4, 1)),
    size("embedding", "bin_embedding_dim", 128, "E", "width of a bin's embedding"),
    choice("centers", "bin_centers_type", "softplus", read=one_of("bin_centers_type", "softplus", "normed")),
    optional("router_layers", "num_patch_transformer_layers", None, "L_pat", "layers of the scene classifier"),
    optional("router_hidden", "patch_transformer_hidden_size", None, "H_pat", "hidden size of the scene classifier"),
    optional("router_mlp", "patch_transformer_intermediate_size", None, "I_pat", "intermediate size of the scene classifier"),
    optional("router_heads", "patch_transformer_num_attention_heads", None, "A_pat", "heads of the scene classifier"),
    computed("attracting", attractor_counts),
    computed("several", lambda c: len(c.bins) > 1),
    computed("routed", lambda c: c.router_layers is not None and c.router_layers >= ROUTER_LAYERS),
    computed("fits", lambda c: c.bottleneck == c.fusion),
)


def neck(c: Config, at: Grid) -> tuple[Part, list[Grid], list[tuple[Grid, Grid]]]:
    """Describe DPT's neck, and return the maps of four sizes and the steps that add them up."""
    found = reassembled_maps(c, at)
    steps = double_each(found)
    layers = (fusion_layer(str(i), c.fusion, *step, first=i == 0, bias=c.fusion_bias, normed=c.normed) for i, step in enumerate(steps))
    ready = c.backbone.model_type == "swinv2"
    made = () if ready else (reassemble_stage(c, hidden_size(c.backbone), at, readout=c.readout == "project"),)
    return part("neck", *made, convolutions(c, found), part("fusion_stage", part("layers", *layers)), kind="neck"), found, steps


def two_maps(name: str, *widths: Size, at: Stream) -> Part:
    """Describe two convolutions of every place for itself."""
    first, inner, outputs = widths
    return part(name, conv2d("conv1", first, inner, 1), conv2d("conv2", inner, outputs, 1), kind="convolution", stream=at)


def attractors(c: Config, name: str, places: Sequence[Stream]) -> Part:
    """Describe what moves the bins, map by map; two numbers for each point that they move to where bins are normed."""
    doubled = 2 if c.centers == "normed" else 1
    many = zip(c.attracting, places, strict=False)
    layers = (two_maps(str(i), c.embedding, c.embedding, count * doubled, at=at) for i, (count, at) in enumerate(many))
    return part(name, *layers, kind="head")


def log_binomial(c: Config, name: str, inputs: Size, narrowing: int, at: Stream) -> Part:
    """Describe the two numbers by which the bins of a pixel are weighted."""
    wide = inputs + c.embedding
    maps = conv2d("0", wide, wide // narrowing, 1), conv2d("2", wide // narrowing, 4, 1)
    return part(name, part("mlp", *maps, kind="feed_forward"), kind="head", stream=at)


def metric_head(c: Config, places: list[Stream], smallest: Stream, pixels: Stream) -> Part:
    """Describe the head for one range of depth."""
    E, B = c.embedding, c.bottleneck
    return part(
        "metric_head",
        conv2d("conv2", B, B, 1, stream=smallest),
        two_maps("seed_bin_regressor", B, 256, c.bins[0][1], at=smallest),
        two_maps("seed_projector", B, 128, E, at=smallest),
        part("projectors", *(two_maps(str(i), c.fusion, 128, E, at=at) for i, at in enumerate(places)), kind="projector"),
        attractors(c, "attractors", places),
        log_binomial(c, "conditional_log_binomial", c.relative + 1, 2, pixels),
        kind="head",
    )


def router(c: Config, smallest: Stream) -> tuple[Part, Part]:
    """Describe the transformer over the smallest map, and the classifier that picks a range of depth."""
    H, A, tokens = c.router_hidden, c.router_heads, length(smallest) + 1
    if H is None or A is None or c.router_layers is None or c.router_mlp is None:
        raise ConfigError("several ranges of depth need patch_transformer sizes", key="patch_transformer_hidden_size")
    attention = part(
        "self_attn",
        *(linear(name, H, H) for name in ("query", "key", "value", "out_proj")),
        attend(heads=A, head_dim=exact(H, A)),
        kind="self_attention",
    )
    layer = part(
        "transformer_encoder",
        attention,
        linear("linear1", H, c.router_mlp),
        linear("linear2", c.router_mlp, H),
        layer_norm("norm1", H),
        layer_norm("norm2", H),
        kind="layer",
        repeat=c.router_layers,
        executions=ROUTER_LAYERS,
        stream=tokens if c.routed else unknown("the classifier of scenes runs four layers, and has fewer"),
    )
    patches = conv2d("embedding_convPxP", c.bottleneck, H, 1, stream=smallest)
    votes = part("mlp_classifier", linear("linear1", 128, 128), linear("linear2", 128, 2), kind="head", stream="one")
    return part("patch_transformer", layer, patches, kind="encoder"), votes


def metric_heads(c: Config, places: list[Stream], smallest: Stream) -> Part:
    """Describe the heads for several ranges of depth, and what picks one of them."""
    E, B = c.embedding, c.bottleneck
    ranges = dict(c.bins)
    seeds = (two_maps(name, B, E // 2, many, at=ROUTED) for name, many in ranges.items())
    moved = (attractors(c, name, [ROUTED] * len(c.attracting)) for name in ranges)
    weighed = (log_binomial(c, name, c.relative, 4, ROUTED) for name in ranges)
    return part(
        "metric_head",
        conv2d("conv2", B, B, 1, stream=smallest),
        *router(c, smallest),
        part("seed_bin_regressors", *seeds, kind="head"),
        two_maps("seed_projector", B, E // 2, E, at=smallest),
        part("projectors", *(two_maps(str(i), c.fusion, E // 2, E, at=at) for i, at in enumerate(places)), kind="projector"),
        part("attractors", *moved, kind="head"),
        part("conditional_log_binomial", *weighed, kind="head"),
        kind="head",
    )


def depth_estimation(c: Config) -> Part:
    """Describe ZoeDepthForDepthEstimation: relative depth on twice the last fused map, then metres."""
    F, at = c.fusion, patch_grid(c.backbone)
    between, found, steps = neck(c, at)
    taken = area(last_map(steps, c.used))
    relative = (
        *((conv2d("projection", 256, 256, 3, stream=taken),) if c.projected else ()),
        conv2d("conv1", F, F // 2, 3, stream=taken),
        conv2d("conv2", F // 2, c.relative, 3, stream=4 * taken),
        conv2d("conv3", c.relative, 1, 1, stream=4 * taken),
    )
    smallest: Stream = area(found[-1]) if c.fits else unknown("it runs only if bottleneck_features is fusion_hidden_size")
    places: list[Stream] = [area(step[1]) for step in steps[:ROUTES]]
    places += [unknown("it runs only with 4 maps")] * (ROUTES - len(places))
    head = metric_heads(c, places, smallest) if c.several else metric_head(c, places, smallest, 4 * taken)
    body = as_child("backbone", submodel(c.backbone, "Backbone"))
    return part("", body, between, part("relative_head", *relative, kind="head"), head, kind="model")


IGNORED_KEYS = frozenset("attractor_alpha attractor_gamma attractor_kind batch_norm_eps max_temp min_temp".split())
FAMILIES = {
    "zoedepth": Family(
        "zoedepth",
        FIELDS,
        {"ZoeDepthForDepthEstimation": depth_estimation},
        "ZoeDepthForDepthEstimation",
        IGNORED_KEYS,
        normalize_config=refuse_named_backbone,
    )
}
