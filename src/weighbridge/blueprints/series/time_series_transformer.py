"""The time series transformer: an encoder of past values and a decoder of future values, with their covariates.

Source: names as in transformers 5.23.0, models/time_series_transformer/modeling_time_series_transformer.py. The config fixes how far they look back and ahead; a side alone reads ``seq``.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.modules.mixture_of_experts import required_field
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import CONTEXT_LENGTH, PREDICTION_LENGTH, Config, Field, choice, computed, sequence, settable, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | set("loss scaling num_parallel_samples sampling_factor".split())
DISTRIBUTIONS = {"student_t": 3, "normal": 2, "negative_binomial": 2}


def values(name: str) -> int:
    """Return how many values a distribution has.

    >>> values("normal")
    2
    """
    if name not in DISTRIBUTIONS:
        raise ConfigError(
            Text("expected one of {distributions}", distributions=", ".join(DISTRIBUTIONS)), key="distribution_output", value=name
        )
    return DISTRIBUTIONS[name]


def features(c: Config) -> Size:
    """Count what is known of each step: earlier values, features, and two numbers for the scale."""
    known: Size = c.series * len(c.lags) + sum(c.widths) + c.dynamic + c.timed + c.static + 2 * c.series
    return known


FIELDS = (
    required_field(PREDICTION_LENGTH.with_default(None)),
    CONTEXT_LENGTH.with_default(lambda c: c.ahead),
    size("series", "input_size", 1, "U", "series side by side"),
    sequence("lags", "lags_sequence", lambda c: [1, 2, 3, 4, 5, 6, 7]),
    size("dynamic", "num_dynamic_real_features", 0, "X_dyn", "dynamic features", minimum=0),
    size("timed", "num_time_features", 0, "X_tim", "time features", minimum=0),
    size("static", "num_static_real_features", 0, "X_sta", "static features", minimum=0),
    Field("categories", "num_static_categorical_features", 0, "choice", read=lambda count: max(count, 0)),  # a negative number is none
    sequence("stated_cardinalities", "cardinality", lambda c: []),
    sequence("stated_widths", "embedding_dimension", lambda c: []),
    computed("cards", lambda c: list(c.stated_cardinalities) if c.stated_cardinalities and c.categories else [0]),
    computed("widths", lambda c: list(c.stated_widths) if c.stated_widths and c.categories else [min(50, (n + 1) // 2) for n in c.cards]),
    choice("distribution", "distribution_output", "student_t"),
    computed("values", lambda c: values(c.distribution)),
    *(
        field
        for field in variant(fairseq_transformer.fields(1, 1, 64, 32, (2, 2), 2), decoder_mlp=32)
        if field.word not in ("vocab", "positions", "labels", "tied")
    ),
    settable("features", "feature_size", features, "X", "features per time step"),
)


def side(c: Config, *layers: Node) -> tuple[Node, ...]:
    """Describe one side: a map of the features, a frozen table of sinusoids, layers, and the norm before them."""
    value = part("value_embedding", linear("value_projection", c.features, c.hidden, bias=False), kind="embeddings")
    table = part("embed_positions", Tensor("weight", (c.back + c.ahead, c.hidden), "embedding", frozen=True), kind="embedding")
    return (value, table, *layers, layer_norm("layernorm_embedding", c.hidden))


def encoder(c: Config, own: Stream) -> tuple[Node, ...]:
    """Describe the encoder over the stream *own*."""
    return side(c, replace(fairseq_transformer.layer(c), stream=own))


def decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe the decoder, which attends to *memory*."""
    return side(c, fairseq_transformer.layer(c, memory=memory))


def tables(c: Config) -> tuple[Part, ...]:
    """Describe the tables of categories, if there are any."""
    if not c.categories:
        return ()
    inner = tuple(
        embedding("embedders", rows, width, repeat=1, indices=(i,)) for i, (rows, width) in enumerate(zip(c.cards, c.widths, strict=False))
    )
    return (part("embedder", *inner, kind="embeddings"),)


def forecast(c: Config, width: Size, parts: tuple[Part, ...]) -> Part:
    """Put a map on the decoder for each value of the distribution."""
    head = linear("proj", width, c.series, repeat=c.values)
    return part("", part("model", *parts, kind="backbone"), part("parameter_projection", head, kind="head", stream=c.ahead), kind="model")


Side = Callable[[Config, Stream], tuple[Node, ...]]


def classes(name: str, reading: Side, writing: Side, left: Callable[[Config], Stream] = lambda c: c.back) -> dict[str, Blueprint]:
    """Return the four classes of a type by its two sides; *left* is how many steps the encoder leaves."""

    def both(c: Config) -> tuple[Part, ...]:
        memory = writing(c, left(c))
        sides = (
            part("encoder", *reading(c, c.back), kind="encoder", stream=c.back),
            part("decoder", *memory, kind="decoder", stream=c.ahead),
        )
        return (*tables(c), *sides)

    return {
        f"{name}Model": lambda c: part("", *both(c), kind="model"),
        f"{name}ForPrediction": lambda c: forecast(c, c.hidden, both(c)),
        f"{name}Encoder": lambda c: part("", *reading(c, "seq"), kind="model"),
        f"{name}Decoder": lambda c: part("", *writing(c, "encoder"), kind="model"),
    }


CLASSES = classes("TimeSeriesTransformer", encoder, decoder)

FAMILIES = {"time_series_transformer": Family("time_series_transformer", FIELDS, CLASSES, "TimeSeriesTransformerModel", IGNORED_KEYS)}
