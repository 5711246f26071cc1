"""LeViT: a convolutional stem, then attention over three shrinking feature maps, with batch norms.

Source: arXiv 2104.01136; names as in transformers 5.23.0, models/levit/modeling_levit.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, area, conv_output
from weighbridge.blueprints.modules.stage_fields import first_stages, numbers
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, LABELS, PATCH, AtInit, Config, computed, sequence, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, linear, part, replace
from weighbridge.core.sizes import Size, is_some, layer_range
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any, TypeAlias


Step: TypeAlias = "tuple[int, int, int, int, int] | None"
"""Between two stages: width of a key, heads, ratios of values and of the feed-forward layer after it (0 is none), stride; None is no step."""


def usual_steps(c: Config) -> list[list[Any]]:
    """Return the steps that the config class makes: after each of the first two stages, with the keys of the first."""
    return [["Subsample", c.keys[0], width // c.keys[0], 4, 2, 2] for width in c.widths[:2]]


def read_steps(value: Any) -> tuple[Step, ...]:
    """Read ``down_ops``: whatever does not begin with ``Subsample`` is no step."""
    steps: list[Step] = []
    for entry in value:
        numbers = tuple(entry[1:6]) if isinstance(entry, list) and entry[:1] == ["Subsample"] else None
        low = (1, 1, 1, 0, 1)
        if not isinstance(entry, list) or not entry or (numbers is not None and not _are_from(numbers, low)):
            message = Text("expected Subsample and five whole numbers, found {value!r:.60}", value=entry)
            raise ConfigError(message, key="down_ops", value=value)
        steps.append(numbers)
    return tuple(steps)


def _are_from(numbers: tuple[Any, ...], low: tuple[int, ...]) -> bool:
    return len(numbers) == len(low) and all(type(number) is int and number >= least for number, least in zip(numbers, low, strict=True))


def count_stages(c: Config) -> int:
    """Count the stages; refuse those for which the config names no step, or no width to step to."""
    if c.steps is None:
        raise ConfigError("a null is no list of steps", key="down_ops", value=None)
    found = first_stages(
        "depths",
        len(c.depths),
        hidden_sizes=c.widths,
        num_attention_heads=c.heads,
        key_dim=c.keys,
        mlp_ratio=c.wider,
        attention_ratio=c.values,
    )
    reached = max((stage + 1 for stage, step in enumerate(c.steps[:found]) if step), default=1)
    if len(c.widths) <= max(1, reached) or found > len(c.steps) + 1:
        message = Text("{found} stages, but {steps} steps and {widths} widths", found=found, steps=len(c.steps), widths=len(c.widths))
        raise ConfigError(message, key="depths", value=list(c.depths))
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
    numbers("depths", "depths", (4, 4, 4), minimum=0),
    numbers("keys", "key_dim", (16, 16, 16)),
    numbers("wider", "mlp_ratio", (2, 2, 2), minimum=0),
    numbers("values", "attention_ratio", (2, 2, 2)),
    replace(sequence("steps", "down_ops", AtInit(usual_steps), read=read_steps), report_default=False, nullable=True),
    computed("stages", count_stages),
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


def downsample(c: Config, stage: int, step: tuple[int, int, int, int, int], side: Size, after: Size) -> Part:
    """Describe the step to the next stage: the places of the smaller map ask all positions."""
    inputs, outputs = c.widths[stage], c.widths[stage + 1]
    key, heads, ratio, _, _ = step
    value, seen, kept = ratio * key, side * side, after * after
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
    """Describe the stages, each with the step to a smaller map after it, if there is one."""
    found = []
    side: Size = c.image // c.patch
    for stage in range(c.stages):
        each = (attention(c, stage, side), *((feed_forward(c.widths[stage], c.wider[stage]),) if c.wider[stage] else ()))
        layers = [(module, side) for _ in layer_range(c.depths[stage]) for module in each]
        step = c.steps[stage] if stage < len(c.steps) else None
        if step:
            after: Size = (side - 1) // step[4] + 1
            layers.append((downsample(c, stage, step, side, after), after))
            layers += [(feed_forward(c.widths[stage + 1], step[3]), after)] if step[3] else []
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

FAMILIES = {"levit": Family("levit", FIELDS, CLASSES, "LevitModel", IGNORED_KEYS)}
