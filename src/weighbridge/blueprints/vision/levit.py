"""LeViT: a convolutional stem, then attention over three shrinking feature maps, with batch norms.

Source: arXiv 2104.01136; names as in transformers 5.23.0, models/levit/modeling_levit.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, area, conv_output
from weighbridge.blueprints.modules.stage_fields import first_stages, numbers
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, LABELS, PATCH, Config, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, linear, part
from weighbridge.core.sizes import Size, is_some, layer_range
from weighbridge.core.tree import Part, Tensor


def three(c: Config) -> int:
    """Refuse other than three stages, since the reference knows of two steps between stages."""
    found = first_stages(
        "depths",
        len(c.depths),
        hidden_sizes=c.widths,
        num_attention_heads=c.heads,
        key_dim=c.keys,
        mlp_ratio=c.wider,
        attention_ratio=c.values,
    )
    if found != 3:
        raise ConfigError(
            Text("{found} stages, but two steps from stage to stage", found=found), key="depths", value=list(c.depths), hint="three entries"
        )
    return found


FIELDS = (
    IMAGE.with_default(224),
    PATCH.with_default(16),
    CHANNELS,
    size("kernel", "kernel_size", 3, "K", "kernel size"),
    size("stride", "stride", 2, "S", "stride"),
    size("padding", "padding", 1, "B", "padding at each edge", minimum=0),
    numbers("widths", "hidden_sizes", (128, 256, 384)),
    numbers("heads", "num_attention_heads", (4, 8, 12)),
    numbers("depths", "depths", (4, 4, 4)),
    numbers("keys", "key_dim", (16, 16, 16)),
    numbers("wider", "mlp_ratio", (2, 2, 2), minimum=0),
    numbers("values", "attention_ratio", (2, 2, 2)),
    computed("stages", three),
    LABELS,
)


def linear_norm(name: str, inputs: Size, outputs: Size, stream: Stream | None = None) -> Part:
    """Describe a linear map without bias, and a batch norm."""
    return part(name, linear("linear", inputs, outputs, bias=False), batch_norm("batch_norm", outputs), stream=stream)


def biases(heads: Size, side: Size) -> Tensor:
    """Describe a bias for every head and distance; as many distances occur along an axis as the map has positions."""
    return Tensor("attention_biases", (heads, side * side), "embedding")


def attention(c: Config, stage: int, side: Size) -> Part:
    """Describe attention over a map; values are wider than keys."""
    width, heads, key = c.widths[stage], c.heads[stage], c.keys[stage]
    value = c.values[stage] * key
    return part(
        "module",
        biases(heads, side),
        linear_norm("queries_keys_values", width, heads * (value + 2 * key)),
        linear_norm("projection", heads * value, width),
        attend(heads=heads, head_dim=key, value_dim=value),
        kind="self_attention",
    )


def feed_forward(width: int, ratio: int) -> Part:
    """Describe two maps, between which the width is multiplied."""
    return part(
        "module", linear_norm("linear_up", width, width * ratio), linear_norm("linear_down", width * ratio, width), kind="feed_forward"
    )


def smaller(c: Config, stage: int, side: Size, after: Size) -> Part:
    """Describe the step to the next stage: every second place asks all positions; it has the first stage's keys."""
    inputs, outputs, key = c.widths[stage], c.widths[stage + 1], c.keys[0]
    heads, value, seen, kept = inputs // key, 4 * key, side * side, after * after
    return part(
        "",
        biases(heads, side),
        linear_norm("keys_values", inputs, heads * (value + key), seen),
        linear_norm("queries", inputs, heads * key, kept),
        linear_norm("projection", heads * value, outputs, kept),
        attend(heads=heads, head_dim=key, value_dim=value, queries=kept, keys=seen),
        kind="self_attention",
    )


def stages(c: Config) -> Part:
    """Describe the three stages; each but the last ends with a step to a smaller map."""
    found = []
    side: Size = c.image // c.patch
    for stage in range(3):
        each = (attention(c, stage, side), *((feed_forward(c.widths[stage], c.wider[stage]),) if c.wider[stage] else ()))
        layers = [(module, side) for _ in layer_range(c.depths[stage]) for module in each]
        if stage < 2:
            after: Size = (side - 1) // 2 + 1
            layers += [(smaller(c, stage, side, after), after), (feed_forward(c.widths[stage + 1], 2), after)]
            side = after
        parts = (part(str(i), module, kind="layer", stream=at * at) for i, (module, at) in enumerate(layers))
        found.append(part(str(stage), part("layers", *parts), kind="stage"))
    return part("encoder", part("stages", *found), kind="encoder")


def levit(c: Config, name: str = "") -> Part:
    """Describe LevitModel: four convolutions make the first map."""
    width, at, inputs, convs = c.widths[0], (c.image, c.image), c.channels, []
    for index, outputs in enumerate((width // 8, width // 4, width // 2, width), 1):
        at = conv_output(at, c.kernel, c.stride, c.padding)
        conv = conv2d("convolution", inputs, outputs, c.kernel, bias=False)
        convs.append(part(f"embedding_layer_{index}", conv, batch_norm("batch_norm", outputs), kind="convolution", stream=area(at)))
        inputs = outputs
    return part(name, part("patch_embeddings", *convs, kind="embeddings"), stages(c), kind="backbone" if name else "model")


def head(c: Config, name: str) -> Part:
    """Describe a batch norm and one output per label, on the mean of all positions; a class without labels has neither."""
    width = c.widths[-1]
    inner = (batch_norm("batch_norm", width), linear("linear", width, c.labels)) if is_some(c.labels) else ()
    return part(name, *inner, kind="head", stream="one")


def classification(c: Config) -> Part:
    """Describe LevitForImageClassification."""
    return part("", levit(c, "levit"), head(c, "classifier"), kind="model")


def with_teacher(c: Config) -> Part:
    """Describe LevitForImageClassificationWithTeacher: a second head, which learned from a teacher."""
    return part("", levit(c, "levit"), head(c, "classifier"), head(c, "classifier_distill"), kind="model")


CLASSES = {"LevitModel": levit, "LevitForImageClassification": classification, "LevitForImageClassificationWithTeacher": with_teacher}

FAMILIES = {"levit": Family("levit", FIELDS, CLASSES, "LevitModel", IGNORED_KEYS | {"down_ops"})}
