"""Swin Transformer: shifted-window attention over feature maps that are halved stage by stage (Liu et al., 2021).

Source: arXiv 2103.14030; names as in transformers 5.23.0, models/swin/modeling_swin.py; the older names, which Donut
and MaskFormer keep, as in models/donut/modeling_donut_swin.py and models/maskformer/modeling_maskformer_swin.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import Grid, area, module_list
from weighbridge.blueprints.modules.stage_fields import scale_width
from weighbridge.blueprints.modules.swin_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    embeddings,
    norms,
    output_maps,
    patch_merging,
    pixel_decoder,
    stage_maps,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, variant, with_changes
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, label_head, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor


def windows(c: Config, grid: tuple[int, int], whole: bool) -> tuple[Stream, Stream, int]:
    """Return the positions of a map padded to windows, how many windows they are, and the positions of a window.

    A window as large as the map is the map's shorter side; a larger one does not fit its own table of positions,
    and the reference does not run. *whole* windows never shrink.
    """
    side = c.window if whole else min(c.window, *grid)
    if side != c.window:
        undetermined = unknown(
            Text("a window of {window} places does not run on a map of {height} by {width}", window=c.window, height=grid[0], width=grid[1])
        )
        return undetermined, undetermined, side * side
    across = -(-grid[0] // side), -(-grid[1] // side)
    return area(across) * side * side, area(across), side * side


def table(c: Config, heads: int) -> Tensor:
    """Describe the learned bias of every relative position in a window, for every head."""
    return Tensor("relative_position_bias_table", ((2 * c.window - 1) ** 2, heads), "embedding")


def attention(c: Config, index: int, grid: tuple[int, int], whole: bool) -> Part:
    """Describe attention inside each window of a map."""
    width, heads = c.hidden * 2**index, c.heads[index]
    places, count, inside = windows(c, grid, whole)
    names = ("query", "key", "value") if c.older else ("q_proj", "k_proj", "v_proj")
    queries = tuple(linear(name, width, width, bias=c.qkv_bias) for name in names)
    uneven = not c.older and type(width) is int and width % heads
    scores = attend(heads=heads, head_dim=width // heads if uneven else exact(width, heads), queries=inside, keys=inside, groups=count)
    if uneven:  # the present class builds, but cannot split its vectors
        places = unknown(Text("{heads} heads do not divide a width of {width}", heads=heads, width=width))
    if c.older:
        where = Tensor("relative_position_index", (c.window**2, c.window**2), "buffer")
        inner = part("self", table(c, heads), where, *queries, scores, kind="self_attention")
        parts: tuple[Node, ...] = (inner, part("output", linear("dense", width, width), kind="self_attention"))
    else:
        bias = part("relative_position_bias", table(c, heads), kind="embeddings")
        parts = (*queries, linear("o_proj", width, width), bias, scores)
    return part("attention", *parts, kind="self_attention", stream=places)


def layer(c: Config, index: int, grid: tuple[int, int], whole: bool) -> Part:
    """Describe a layer of a stage: attention and a feed-forward network, each after a norm."""
    width = c.hidden * 2**index
    inner, before, after = scale_width(width, c.mlp_ratio), layer_norm("layernorm_before", width), layer_norm("layernorm_after", width)
    attended = attention(c, index, grid, whole)
    if c.older:
        mlp: tuple[Part, ...] = (mlp_linear("intermediate", width, inner), mlp_linear("output", inner, width))
        return part("blocks", before, attended, after, *mlp, kind="layer", repeat=c.depths[index])
    mlp = (part("mlp", linear("fc1", width, inner), linear("fc2", inner, width), kind="feed_forward"),)
    return part("blocks", attended, before, after, *mlp, kind="layer", repeat=c.depths[index])


def mlp_linear(name: str, inputs: Size, outs: Size) -> Part:
    """Describe one half of a feed-forward network, as BERT names it."""
    return part(name, linear("dense", inputs, outs), kind="feed_forward")


def stages(c: Config, whole: bool) -> tuple[tuple[Node, ...], ...]:
    """Describe the layers of each stage, and what halves the map after all but the last."""
    grids = stage_maps(c)
    found: list[tuple[Node, ...]] = []
    for index, grid in enumerate(grids):
        width, below = c.hidden * 2**index, grids[index + 1 : index + 2]
        down = (patch_merging(width, 4 * width, below[0]),) if below else ()
        found.append((replace(layer(c, index, grid, whole), stream=area(grid)), *down))
    return tuple(found)


def swin(c: Config, *, masked: bool, normed: bool, whole: bool = False) -> tuple[Part, ...]:
    """Describe patches, stages and the last norm."""
    grids = stage_maps(c)
    last = layer_norm("layernorm", c.hidden * 2 ** (len(grids) - 1), stream=area(grids[-1]))
    return embeddings(c, masked), part("encoder", module_list("layers", *stages(c, whole)), kind="encoder"), *((last,) if normed else ())


def base(c: Config) -> Part:
    """Describe SwinModel."""
    return part("", *swin(c, masked=c.masked, normed=True), kind="model")


def classification(c: Config) -> Part:
    """Describe SwinForImageClassification: the labels, on the mean of all positions."""
    head = label_head("classifier", c.hidden * 2 ** (len(c.depths) - 1), c.labels, stream="one")
    return part("", part("donut" if c.older else "swin", *swin(c, masked=False, normed=not c.older), kind="backbone"), head, kind="model")


def masked_image(c: Config) -> Part:
    """Describe SwinForMaskedImageModeling: each place of the last map gives its pixels back."""
    return part("", part("swin", *swin(c, masked=True, normed=True), kind="backbone"), pixel_decoder(c), kind="model")


def features(c: Config, picture: Grid) -> Features:
    """Describe SwinBackbone or MaskFormerSwinBackbone over an image: windows never shrink.

    Each map output has a norm; MaskFormer has one for every stage, output or not.
    """
    c = with_changes(c, picture=picture)
    inner = swin(c, masked=False, normed=True, whole=True)
    if not c.older:
        return selected_outputs(c, (part("swin", *inner, kind="backbone"), norms(c)), *output_maps(c))
    found = (layer_norm(str(index), c.hidden * 2**index, stream=area(grid)) for index, grid in enumerate(stage_maps(c)))
    return selected_outputs(c, (part("model", *inner, kind="backbone"), part("hidden_states_norms", *found, kind="norms")), *output_maps(c))


def backbone(c: Config) -> Part:
    """Describe SwinBackbone and MaskFormerSwinBackbone."""
    return part("", *features(c, c.image).parts, kind="model")


def older_fields(*left_out: str) -> tuple[Field, ...]:
    """Return the fields of the types that keep the older names."""
    return variant(tuple(field for field in FIELDS if field.word not in left_out), constant("older", True), extra_position=True)


CLASSES = {
    "SwinEncoder": lambda c: part("", module_list("layers", *stages(c, whole=False)), kind="encoder"),
    "SwinModel": base,
    "SwinForImageClassification": classification,
    "SwinForMaskedImageModeling": masked_image,
    "SwinBackbone": backbone,
}
DONUT = {
    "DonutSwinModel": lambda c: part("", *swin(c, masked=c.masked, normed=False), kind="model"),
    "DonutSwinForImageClassification": classification,
}
MASKFORMER = {
    "MaskFormerSwinModel": lambda c: part("", *swin(c, masked=False, normed=True, whole=True), kind="model"),
    "MaskFormerSwinBackbone": backbone,
}

FAMILIES = {
    "swin": Family("swin", (*FIELDS, constant("older", False)), CLASSES, "SwinModel", MORE_IGNORED_KEYS),
    "donut-swin": Family(
        "donut-swin", older_fields("stride", "out_features", "out_indices", "outputs"), DONUT, "DonutSwinModel", MORE_IGNORED_KEYS
    ),
    "maskformer-swin": Family("maskformer-swin", older_fields("stride", "masked"), MASKFORMER, "MaskFormerSwinModel", MORE_IGNORED_KEYS),
}
