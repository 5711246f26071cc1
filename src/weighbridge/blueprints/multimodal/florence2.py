"""Florence-2: DaViT (alternating window and channel attention) in front of BART's encoder and decoder.

Source: arXiv 2311.06242 (Florence-2), 2204.03645 (DaViT); names as in transformers 5.23.0, models/florence2/modeling_florence2.py.
The config states no image: ``image_size`` may be set beside the tower's fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import entries, equal_length, numbers, ratio, scale_width
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import IN_CHANNELS, POSITIONS, Config, computed, size, switch
from weighbridge.core.length import length
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

VISION = (
    IN_CHANNELS.with_default(3),
    numbers("depths", "depths", (1, 1, 9, 1)),
    numbers("patches", "patch_size", (7, 3, 3, 3)),
    numbers("strides", "patch_stride", (4, 2, 2, 2)),
    numbers("paddings", "patch_padding", (3, 1, 1, 1), minimum=0),
    entries("early", "patch_prenorm", [False, True, True, True], bool),
    numbers("widths", "embed_dim", (128, 256, 512, 1024)),
    numbers("heads", "num_heads", (4, 8, 16, 32)),
    numbers("groups", "num_groups", (4, 8, 16, 32)),
    size("window", "window_size", 12, "W", "attention window size"),
    ratio("ratio", "mlp_ratio", 4.0),
    switch("qkv_bias", "qkv_bias", True),
    size("projected", "projection_dim", 1024, "E", "width after the projection"),
    size("frames", "max_temporal_embeddings", 100, "T", "frames"),
    POSITIONS.with_default(50),
    image(report_default=False),
    computed("stages", lambda c: equal_length(embed_dim=c.widths, num_heads=c.heads, num_groups=c.groups)),
)
BOTH = (
    model_config("vision", "vision_config", "florence_vision", fixed=True),
    model_config("text", "text_config", "bart mbart"),
    switch("tied", "tie_word_embeddings", True),
)


def grids(c: Config) -> list[Grid]:
    """Return the map of every stage."""
    found = [c.image]
    for kernel, stride, padding in zip(c.patches, c.strides, c.paddings, strict=False):
        found.append(conv_output(found[-1], kernel, stride, padding))
    return found[1:]


def vision(c: Config) -> Part:
    """Describe the tower: the convolutions between the stages, then the blocks of all."""
    known = grids(c)
    widths = (c.channels, *c.widths)
    stems = []
    for index, grid in enumerate(known[: c.stages]):
        early, places = c.early[index], area(known[index - 1] if index else c.image)
        norm = layer_norm("norm", widths[index] if early else widths[index + 1], stream=places if early else None)
        stems.append((conv2d("conv", widths[index], widths[index + 1], c.patches[index], stream=area(grid)), norm))
    inner = []
    for index, grid in enumerate(known[: c.stages]):
        inside = (
            block(c, "spatial_block", index, window_attention(c, index, grid)),
            block(c, "channel_block", index, channel_attention(c, index, area(grid))),
        )
        inner.append(part(str(index), part("", *inside, kind="block", repeat=c.depths[index]), kind="stage", stream=area(grid)))
    convs = module_list("convs", *stems)
    placed = tuple(
        replace(module, stream=area(grid)) for module, grid in zip(convs.children, known, strict=False) if isinstance(module, Part)
    )
    return part(
        "", replace(convs, children=placed), part("blocks", *inner, kind="encoder"), kind="vision", stream=area(known[c.stages - 1])
    )


def block(c: Config, name: str, index: int, attention: Part) -> Part:
    """Describe attention and feed-forward, each behind a depthwise convolution that encodes positions."""
    H = c.widths[index]
    return part(
        name,
        conv2d("conv1", H, H, 3, groups=H),
        layer_norm("norm1", H),
        attention,
        conv2d("conv2", H, H, 3, groups=H),
        layer_norm("norm2", H),
        plain_mlp("ffn", H, scale_width(H, c.ratio), ("fc1", "fc2"), bias=True),
        kind="layer",
    )


def window_attention(c: Config, index: int, grid: Grid) -> Part:
    """Describe attention within windows, to whole numbers of which the map is filled up."""
    H, heads, among = c.widths[index], c.heads[index], c.window * c.window
    rows, columns = ((side + c.window - 1) // c.window for side in grid)
    return part(
        "window_attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("proj", H, H),
        attend(heads=heads, head_dim=exact(H, heads), queries=among, keys=among, groups=rows * columns),
        kind="self_attention",
        stream=rows * columns * among,
    )


def channel_attention(c: Config, index: int, places: Size) -> Part:
    """Describe attention of the channels of a group to each other."""
    H = c.widths[index]
    return part(
        "channel_attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("proj", H, H),
        matmul("channels", (2, H, exact(H, c.groups[index]), places)),
        kind="self_attention",
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, what joins it to the text, and the text, whose encoder reads the image before the words."""
    V, tower = c.vision.widths[-1], submodel(c.vision)
    assert isinstance(tower.stream, int) or tower.stream is not None
    positions = part(
        "image_position_embed",
        embedding("row_embeddings", c.vision.positions, V // 2),
        embedding("column_embeddings", c.vision.positions, V - V // 2),
        kind="embeddings",
    )
    frames = part("visual_temporal_embed", Tensor("pos_idx_to_embed", (c.vision.frames, V), "buffer"), kind="embeddings")
    projector = part(
        "multi_modal_projector",
        linear("image_projection", V, c.vision.projected, bias=False),
        layer_norm("image_proj_norm", c.vision.projected),
        positions,
        frames,
        kind="projector",
        stream=length(tower.stream) + 1,
    )
    return (
        as_child("vision_tower", tower, requires="images", executions="images"),
        per_image(projector),
        as_child("language_model", submodel(c.text)),
    )


def generation(c: Config) -> Part:
    """Describe the class for generation: the decoder's words again, as a head."""
    owner = "model.language_model.shared.weight" if c.tied else None
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to=owner, stream="decoder")
    return part("", as_child("model", part("", *body(c), kind="backbone")), head, kind="model")


CLASSES = {"Florence2Model": without_head(body), "Florence2ForConditionalGeneration": generation}
TOWER = "Florence2VisionBackbone"
FAMILIES = {
    "florence2": Family("florence2", BOTH, CLASSES, "Florence2Model", IGNORED_KEYS),
    "florence_vision": Family("florence_vision", VISION, {TOWER: vision}, TOWER, frozenset(("activation_function", "drop_path_rate"))),
}
