"""Several models side by side, measure by measure, with the differences from the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weighbridge.accounts.accepted_inputs import usual_lengths
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.parameters import tally_of
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Config, Field
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import mark
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import attentions
from weighbridge.value import ModelValue

COUNTS = {
    "unique": mark("unique parameters"),
    "trainable": mark("trainable"),
    "active": mark("active per token"),
    "embedding": mark("in embeddings"),
    "non_embedding": mark("outside embeddings"),
    "weight": mark("in matrices"),
    "bias": mark("in biases"),
    "gain": mark("in gains"),
    "shift": mark("in shifts"),
    "buffers": mark("saved buffers, not parameters"),
}
ALWAYS = ("unique", "embedding", "non_embedding")
"""Counts that are shown even where all of them are equal, or all zero."""


class Measure(NamedTuple):
    """One line of a comparison.

    Attributes:
        key: A name of ``parameters`` in the JSON of a count, our word for a size, or ``forward_matmul``.
        group: ``parameters``, ``sizes`` or ``arithmetic``.
        title: What it is, in English, to be translated.
        values: One for each model; None where a model has none or the config does not determine it.
    """

    key: str
    group: str
    title: str
    values: tuple[int | None, ...]

    @property
    def differences(self) -> tuple[int | None, ...]:
        """Each value less the first."""
        first = self.values[0]
        return tuple(None if value is None or first is None else value - first for value in self.values)


class Cause(NamedTuple):
    """Config fields that explain a part of a difference.

    Attributes:
        fields: One key path, or several that make no model apart; ``class`` is the class itself.
        a, b: What the first model has, and the other.
        amount: What the count changes when the first model gets the other's values of these fields alone.
    """

    fields: tuple[str, ...]
    a: str
    b: str
    amount: int


class Attribution(NamedTuple):
    """What explains that a model has more parameters than the first, or fewer.

    Attributes:
        difference: Unique parameters less those of the first.
        causes: The fields behind it, the largest first.
        interaction: What all of them together change beyond the sum of what each changes alone.
    """

    difference: int
    causes: tuple[Cause, ...]
    interaction: int


class Comparison(NamedTuple):
    """Models and what was measured of them.

    Attributes:
        models: In the order given.
        measures: Parameters first, then sizes, then the arithmetic.
        untold: Why the arithmetic of a model is not determined, if so.
        batch, seq: Examples, and tokens of each, that the arithmetic is for.
        explained: For each model but the first, the config fields behind its difference; None where they cannot tell.
    """

    models: tuple[ModelValue, ...]
    measures: tuple[Measure, ...]
    untold: tuple[str, ...]
    batch: int
    seq: int
    explained: tuple[Attribution | None, ...] = ()


def compare(models: Sequence[ModelValue], batch: int = 1, seq: int | None = None) -> Comparison:
    """Put models side by side.

    Args:
        models: At least one.
        batch, seq: Examples and tokens per example, for the arithmetic; by default 128, or as many as all of them have positions for.

    >>> from weighbridge import model
    >>> found = compare([model("bert-base-uncased"), model("bert-large-uncased")])
    >>> found.measures[0].differences
    (0, 225659648)
    """
    if not models:
        raise UsageError("nothing to compare")
    seq = min(usual_lengths(model, Inputs().seq)[0] for model in models) if seq is None else seq
    forwards = [_forward(model, batch, seq) for model in models]
    forward = Measure("forward_matmul", "arithmetic", mark("forward FLOPs"), tuple(value for value, _ in forwards))
    rows = (*_parameters(models), *_sizes(models), *((forward,) if any(value is not None for value, _ in forwards) else ()))
    return Comparison(tuple(models), rows, tuple(dict.fromkeys(why for _, why in forwards if why)), batch, seq)


def _parameters(models: Sequence[ModelValue]) -> Iterator[Measure]:
    tallies = [tally_of(model) for model in models]
    for key, title in COUNTS.items():
        values = tuple(as_int(getattr(tally, key)) for tally in tallies)
        plain = key in ("trainable", "active") and all(value == tally.unique for value, tally in zip(values, tallies, strict=True))
        if key in ALWAYS or (any(values) and not plain):
            yield Measure(key, "parameters", title, values)


def _sizes(models: Sequence[ModelValue]) -> Iterator[Measure]:
    """Yield the sizes that at least one of the models states, in the order of the first that does."""
    stated = [{field.word: field.meaning for field in reversed(_fields(model))} for model in models]
    rows = dict.fromkeys((field.word, field.meaning) for model in models for field in _fields(model) if field.meaning)
    taken: set[str] = set()
    for word, title in rows:  # one word means all layers in one family and an encoder's in another: these are two rows
        idle = [title == "attention window" and _has_idle_window(model) for model in models]
        values = tuple(
            _size(model, word) if own.get(word, title) == title and not unused else None
            for model, own, unused in zip(models, stated, idle, strict=True)
        )
        if any(value is not None for value in values):
            yield Measure(f"{word} ({title})" if word in taken else word, "sizes", title, values)
            taken.add(word)


LANGUAGE = ("text", "language", "decoder", "llm", "thinker")
"""What the key of the config within a config is called whose sizes are those that people mean: the language model's."""


def _fields(model: ModelValue) -> tuple[Field, ...]:
    """Return the fields of a model that are sizes; of a config that holds others, those of its language model too."""
    if model.description is None:
        return ()
    own, (_, inner) = model.description.family.fields, _language(model)
    known = {field.word for field in own if field.kind == "size"}
    return tuple(field for field in (*own, *inner) if field.kind == "size" and field.meaning and (field in own or field.word not in known))


def _language(model: ModelValue) -> tuple[str, tuple[Field, ...]]:
    """Return the word and the fields of the language model's config inside another; nothing where there is none."""
    assert model.description is not None
    nested = (field for field in model.description.family.fields if field.kind == "nested" and any(w in field.key for w in LANGUAGE))
    field = next(nested, None)
    inner = find_sub_config(field, model.description.raw, "") if field is not None else None
    return (field.word, inner.fields) if field is not None and inner else ("", ())


def _size(model: ModelValue, word: str) -> int | None:
    if model.description is None:
        return None
    sizes = vars(model.description.sizes)
    inner = sizes.get(_language(model)[0])
    found = sizes.get(word, vars(inner).get(word) if isinstance(inner, Config) else None)
    return found if type(found) is int else None


def _has_idle_window(model: ModelValue) -> bool:
    """Tell whether no layer has the attention window that the config names, as in Qwen without ``use_sliding_window``."""
    return not any(attend.window is not None and attend.windowed != 0 for attend in attentions(model.tree))


def _forward(model: ModelValue, batch: int, seq: int) -> tuple[int | None, str]:
    try:
        return as_int(flops_of(model, Inputs(batch, seq)).forward_matmul), ""
    except UsageError as error:  # a few architectures do not tell their arithmetic, and no file's header does
        return None, error.args[0]
