"""Heads of speech encoders: CTC, classification, speaker verification.

Source: names as in transformers 5.23.0, models/wav2vec2/modeling_wav2vec2.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.speech_encoder import adapter_output, frames
from weighbridge.config.family import Blueprint
from weighbridge.config.fields import Config
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Node, Part, Tensor


def one_per_layer(c: Config, values: list[int], key: str) -> list[int]:
    """Return as many of *values* as there are layers.

    Raises:
        ConfigError: There are fewer.
    """
    if len(values) < len(c.tdnn_widths):
        raise ConfigError(
            Text("{count} values for {count2} layers", count=len(values), count2=len(c.tdnn_widths)),
            key=key,
            value=values,
            hint="tdnn_dim says how many",
        )
    return values[: len(c.tdnn_widths)]


def speaker(c: Config) -> tuple[Part, ...]:
    """Describe the x-vector head: convolutions over ever longer stretches, then mean and deviation; its last weight serves the loss."""
    # A weighted sum is over the encoder's own states, which no adapter has shortened.
    entry = frames(c) if c.weighted else adapter_output(c)
    widths, stream, layers = (c.tdnn_widths[0], *c.tdnn_widths), entry, []
    kernels, dilations = one_per_layer(c, c.tdnn_kernels, "tdnn_kernel"), one_per_layer(c, c.tdnn_dilations, "tdnn_dilation")
    for index, (kernel, dilation) in enumerate(zip(kernels, dilations, strict=True)):
        stream = length(stream) + -dilation * (kernel - 1)
        layers.append(
            part(
                "tdnn", linear("kernel", widths[index] * kernel, widths[index + 1], stream=stream), kind="tdnn", repeat=1, indices=(index,)
            )
        )
    return (
        linear("projector", c.hidden, c.tdnn_widths[0], stream=entry),
        *layers,
        linear("feature_extractor", 2 * c.tdnn_widths[-1], c.xvector, stream="one"),
        linear("classifier", c.xvector, c.xvector, stream="one"),
        part("objective", Tensor("weight", (c.xvector, c.labels), "weight"), kind="loss", stream="one", requires="labels"),
    )


def with_heads(
    name: str,
    prefix: str,
    body: Callable[[Config], tuple[Node, ...]],
    heads: str,
    *,
    summed: Callable[[Config], Stream] = adapter_output,
    pre_training: Callable[[Config], tuple[Node, ...]] | None = None,
) -> dict[str, Blueprint]:
    """Return the classes of one model type: the encoder alone, and under each of its heads.

    Args:
        name: What the class names begin with.
        prefix: The name under which a head holds the encoder.
        body: Describes the encoder.
        heads: Which there are: ``ctc``, ``sequence``, ``frame``, ``xvector``.
        summed: The stream of the layers' states, of which a weighted sum is taken.
        pre_training: Describes what follows the encoder there, if there is such a class.
    """

    def under(head: Callable[[Config], tuple[Node, ...]], weighted: bool) -> Blueprint:
        def model(c: Config) -> Part:
            weights = (Tensor("layer_weights", (c.layers + 1,), "gain"),) if weighted and c.weighted else ()
            parts = head(c)
            own = tuple(node for node in parts if isinstance(node, Tensor))
            return part("", *weights, *own, part(prefix, *body(c), kind="backbone"), *parts[len(own) :], kind="model")

        return model

    def ctc(c: Config) -> tuple[Part, ...]:
        if c.vocab is None:
            raise ConfigError("a head over a vocabulary needs its size", key="vocab_size", hint="set it")
        return (linear("lm_head", c.out if c.extended else c.hidden, c.vocab, stream=adapter_output(c)),)

    def sequence(c: Config) -> tuple[Part, ...]:
        states = summed(c) if c.weighted else adapter_output(c)
        return (linear("projector", c.hidden, c.projection, stream=states), linear("classifier", c.projection, c.labels, stream="one"))

    def frame(c: Config) -> tuple[Part, ...]:
        return (linear("classifier", c.hidden, c.labels, stream=adapter_output(c)),)

    table: dict[str, tuple[str, Callable[[Config], tuple[Node, ...]]]] = {
        "ctc": ("ForCTC", ctc),
        "sequence": ("ForSequenceClassification", sequence),
        "frame": ("ForAudioFrameClassification", frame),
        "xvector": ("ForXVector", speaker),
    }
    classes: dict[str, Blueprint] = {f"{name}Model": lambda c: part("", *body(c), kind="model")}
    if pre_training is not None:
        classes[f"{name}ForPreTraining"] = under(pre_training, False)
    return classes | {name + table[head][0]: under(table[head][1], head != "ctc") for head in heads.split()}
