"""TIPSv2: DINOv2's vision tower and a text tower; and DPT heads for depth, normals and segmentation.

Source: arXiv 2410.16512; names as in transformers 5.23.0, models/tipsv2/modeling_tipsv2.py and
models/tipsv2_dpt/modeling_tipsv2_dpt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import encoder, similarity, stack_fields, text_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, conv_transpose2d, module_list
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.blueprints.vision.dinov2 import dinov2
from weighbridge.blueprints.vision.tipsv2_vision import FIELDS
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, computed, nested, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

TEXT = text_fields(32000, 64, *stack_fields(768, 3072, 12))
DPT = (
    model_config("backbone", "backbone_config", "tipsv2_vision_model"),
    numbers("widths", "neck_hidden_sizes", (96, 192, 384, 768)),
    choice("factors", "reassemble_factors", [4, 2, 1, 0.5]),
    computed("paired", lambda c: _stage_count(c)),
    size("fused", "fusion_hidden_size", 256, "F", "width of the fusion"),
    size("bins", "num_depth_bins", 256, "B", "depth bins"),
    LABELS,
)


def _stage_count(c: Config) -> int:
    if len(c.factors) < len(c.widths):
        raise ConfigError(
            Text("{count} entries for {count2} stages", count=len(c.factors), count2=len(c.widths)),
            key="reassemble_factors",
            value=c.factors,
        )
    return len(c.widths)


def text(c: Config) -> Part:
    """Describe Tipsv2TextModel: positions are sinusoids, computed and not stored."""
    tokens = part("embeddings", embedding("token_embedding", c.vocab, c.hidden), kind="embeddings")
    return part("", tokens, encoder(c), layer_norm("final_layer_norm", c.hidden), kind="text")


def tipsv2(c: Config) -> Part:
    """Describe Tipsv2Model: no projections, so both towers are equally wide."""
    towers = replace(text(c.text), name="text_model"), replace(dinov2(c.vision), name="vision_model", kind="vision")
    return part("", Tensor("temperature", (), "gain"), *towers, similarity(c.text.hidden), kind="model")


def tower(c: Config) -> Part:
    """Describe Tipsv2VisionBackbone as a class of the whole's config."""
    return dinov2(c.vision)


def neck(c: Config, name: str) -> Part:
    """Describe how maps of four layers are brought to sizes of their own and fused, the smallest first."""
    inner = c.backbone
    patches: Grid = (inner.image_height // inner.patch_height, inner.image_width // inner.patch_width)
    H = inner.hidden
    readouts = [(part("layers", linear("0", 2 * H, H)),) for _ in c.widths]
    resized = [reassemble_layer(H, width, factor, patches) for width, factor in zip(c.widths, c.factors, strict=False)]
    convolutions = part(
        "convs",
        *(
            conv2d(str(index), width, c.fused, 3, stream=area(grid), bias=False)
            for index, (width, (_, grid)) in enumerate(zip(c.widths, resized, strict=True))
        ),
    )
    reassembling = part(
        "reassemble_stage",
        module_list("readout_projects", *readouts),
        module_list("layers", *(parts for parts, _ in resized)),
        kind="stage",
        stream=area(patches),
    )
    return part(name, reassembling, convolutions, part("fusion_stage", fusion(c, resized[-1][1]), kind="stage"), kind="projector")


def reassemble_layer(hidden: Size, width: int, factor: float, patches: Grid) -> tuple[tuple[Part, ...], Grid]:
    """Describe a map's projection and its resizing by a factor; return the map that comes out, too."""
    projection = conv2d("projection", hidden, width, 1, stream=area(patches))
    if factor > 1:
        times = int(factor)
        return (projection, conv_transpose2d("resize", width, width, times, area(patches))), (patches[0] * times, patches[1] * times)
    if factor == 1:
        return (projection,), patches
    grid = conv_output(patches, 3, int(1 / factor), 1)
    return (projection, conv2d("resize", width, width, 3, stream=area(grid))), grid


def fusion(c: Config, grid: Grid) -> Part:
    """Describe the fusing layers, each at twice the side of the one before."""
    layers = []
    for index in range(len(c.widths)):
        places, doubled = area(grid), area((grid[0] * 2, grid[1] * 2))
        residuals = ("residual_layer1", "residual_layer2") if index else ("residual_layer2",)
        layers.append((conv2d("projection", c.fused, c.fused, 1, stream=doubled), *(residual(c, name, places) for name in residuals)))
        grid = (grid[0] * 2, grid[1] * 2)
    return module_list("layers", *layers)


def residual(c: Config, name: str, places: Size) -> Part:
    """Describe two convolutions beside a residual path."""
    return part(name, *(conv2d(f"convolution{index}", c.fused, c.fused, 3, stream=places, bias=False) for index in (1, 2)))


def decoder(c: Config, name: str, outputs: Size, *, mean: bool = False) -> Part:
    """Describe a convolution and a score for every place of the last map; a depth is the *mean* of its bins, weighed by their scores."""
    inner = c.backbone
    grid: Grid = (inner.image_height // inner.patch_height, inner.image_width // inner.patch_width)
    _, smallest = reassemble_layer(inner.hidden, c.widths[-1], c.factors[len(c.widths) - 1], grid)
    times = 2 ** len(c.widths)
    places = area((smallest[0] * times, smallest[1] * times))
    weighing = (matmul("mean", (places, outputs)),) if mean else ()
    return part(name, conv2d("project", c.fused, c.fused, 3), linear("head", c.fused, outputs), *weighing, kind="head", stream=places)


def dense(c: Config) -> Part:
    """Describe Tipsv2DptForDensePrediction: a neck and a decoder for each of three tasks."""
    tasks = (("depth", c.bins, True), ("normals", 3, False), ("segmentation", c.labels, False))
    parts = [
        module for task, outputs, mean in tasks for module in (neck(c, f"{task}_neck"), decoder(c, f"{task}_decoder", outputs, mean=mean))
    ]
    return part("", backbone(c), *parts, kind="model")


def backbone(c: Config) -> Part:
    """Describe the vision tower that outputs maps of four of its layers."""
    return as_child("backbone", submodel(c.backbone, "Backbone"))


def single_task(c: Config, outputs: Size, *, mean: bool = False) -> Part:
    """Describe a neck and a decoder for one task."""
    return part("", backbone(c), neck(c, "neck"), decoder(c, "decoder", outputs, mean=mean), kind="model")


TASKS = {
    "Tipsv2DptForDensePrediction": dense,
    "Tipsv2DptForDepthEstimation": lambda c: single_task(c, c.bins, mean=True),
    "Tipsv2DptForNormalEstimation": lambda c: single_task(c, 3),
    "Tipsv2DptForSemanticSegmentation": lambda c: single_task(c, c.labels),
}
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """temperature_init_value scale_sqrt_depth pooling_epsilon layerscale_value apply_layernorm reshape_hidden_states readout_activation
    min_depth max_depth depth_decoder_activation semantic_loss_ignore_index""".split()
)
BOTH = (nested("text", "text_config", TEXT), nested("vision", "vision_config", FIELDS))
FAMILIES = {
    "tipsv2": Family("tipsv2", BOTH, {"Tipsv2Model": tipsv2, "Tipsv2VisionBackbone": tower}, "Tipsv2Model", MORE_IGNORED_KEYS),
    "tipsv2_text_model": Family("tipsv2_text_model", TEXT, {"Tipsv2TextModel": text}, "Tipsv2TextModel", MORE_IGNORED_KEYS),
    "tipsv2_dpt": Family("tipsv2_dpt", DPT, TASKS, "Tipsv2DptForDensePrediction", MORE_IGNORED_KEYS),
}
