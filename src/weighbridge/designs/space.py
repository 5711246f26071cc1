"""Which designs are searched, and how a config is written from a choice of sizes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from weighbridge.accounts.parameters import count
from weighbridge.blueprints.describe import from_config
from weighbridge.config.bind import find_sub_config, with_overrides
from weighbridge.config.fields import Config, Field
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.value import ModelValue

LAYERS = ("layers", "encoder_layers", "decoder_layers")
MLP = ("mlp", "encoder_mlp", "decoder_mlp")
HEADS = ("heads", "encoder_heads", "decoder_heads")
"""What a design sets to one number: of an encoder and a decoder, both."""
PER_LAYER = frozenset("layer_types layers_block_type per_layer_config mlp_layer_types".split())
"""Lists with an entry a layer: a design with another number of layers takes the default of its class."""


class Space(NamedTuple):
    """Which designs are searched.

    Attributes:
        multiple_of: Of which the hidden size and the MLP width are multiples.
        head_dim: Width of a head; None is that of the model the designs are like.
        gqa: Query heads to each key-value head; None is as there.
        vocab: Rows of the vocabulary; None is as there.
        layers: Fewest and most layers.
        mlp_ratio: Narrowest and widest MLP, in hidden sizes.
        part: Of a model made of several, the sub-config that is searched (``text_config``); None is its text, else the first with
            layers. The others stay as they are.
    """

    multiple_of: int = 64
    head_dim: int | None = None
    gqa: int | None = None
    vocab: int | None = None
    layers: tuple[int, int] = (1, 128)
    mlp_ratio: tuple[Fraction, Fraction] = (Fraction(2), Fraction(4))
    part: str | None = None


class ConfigTemplate:
    """The fields that a design sets, and how a config is written from a choice of them.

    Attributes:
        part: The sub-config that is searched, or nothing.
        fields: Its sizes by our words.
        refused: Hidden sizes that make no model, with the reason.
    """

    def __init__(self, like: ModelValue, space: Space) -> None:
        if like.description is None:
            raise UsageError(Text("{source}: a design needs a config to start from; a file's header has only numbers", source=like.source))
        self.like, self.space = like, space
        self.known, raw, _ = like.description
        self.raw = _count_labels(raw)
        self.part, self.inner, self.sizes = _part_to_search(like, space.part)
        self.fields = {field.word: field for field in self.inner if field.kind == "size"}
        self.head_dim = space.head_dim or _int_or_none(getattr(self.sizes, "head_dim", None))
        self.gqa = space.gqa or self._own_gqa()
        self.refused: list[tuple[int, str]] = []
        _check(space, self)

    def _own_gqa(self) -> int:
        heads, kv_heads = _int_or_none(getattr(self.sizes, "heads", None)), _int_or_none(getattr(self.sizes, "kv_heads", None))
        return heads // kv_heads if heads and kv_heads and "kv_heads" in self.fields and heads % kv_heads == 0 else 1

    def first(self, words: tuple[str, ...]) -> str | None:
        """Return the first of some words that is a size of this model."""
        return next((word for word in words if word in self.fields), None)

    @property
    def step(self) -> int:
        """What every hidden size is a multiple of, so that heads come out whole."""
        heads = self.head_dim * self.gqa if self.head_dim and self.first(HEADS) else 1
        return lcm(self.space.multiple_of, heads)

    def path(self, word: str) -> str:
        """Return the key path of a size."""
        if word not in self.fields:
            raise UsageError(Text("{model_type}: no {word} to set", model_type=self.known.model_type, word=word))
        key = self.fields[word].key
        return f"{self.part}.{key}" if self.part else key

    def paths(self, words: tuple[str, ...], value: Any) -> dict[str, Any]:
        """Set every size of some words that the model has."""
        return {self.path(word): value for word in words if word in self.fields}

    def keys(self, hidden: int) -> dict[str, Any]:
        """Return what follows from a hidden size, by key path."""
        keys = {self.path("hidden"): hidden}
        if self.space.vocab is not None:
            keys[self.path("vocab")] = self.space.vocab
        if self.first(HEADS) and self.head_dim:
            heads = hidden // self.head_dim
            keys |= self.paths(HEADS, heads) | self.paths(("kv_heads",), heads // self.gqa) | self.paths(("head_dim",), self.head_dim)
        return keys

    def config(self, hidden: int, mlp: int | None, layers: int) -> dict[str, Any]:
        """Write a design as a config."""
        chosen = self.keys(hidden) | self.paths(LAYERS, layers)
        if mlp is not None:
            chosen |= self.paths(MLP, mlp)
        raw = _without_lists(self.raw)
        if self.part and isinstance(raw.get(self.part), Mapping):
            raw[self.part] = _without_lists(raw[self.part])
        found = with_overrides(raw, chosen, self.known.fields)
        return {"model_type": self.known.model_type, **found, "architectures": [self.like.class_name]}

    def count(self, hidden: int, mlp: int | None, layers: int) -> int:
        """Count one design."""
        return as_int(count(from_config(self.config(hidden, mlp, layers), "design", None, None).tree))


def _part_to_search(like: ModelValue, part_name: str | None) -> tuple[str, tuple[Field, ...], Config]:
    """Return the sub-config that is searched (nothing where the model has a hidden size of its own), its fields, and its sizes."""
    assert like.description is not None
    known, raw, sizes = like.description
    missing = _first_missing(known.fields)
    if part_name is None and missing is None:
        return "", known.fields, sizes
    parts: dict[str, tuple[tuple[Field, ...], Config]] = {}
    for field in known.fields:
        inner = find_sub_config(field, raw) if field.kind == "nested" else None
        if inner is not None and _first_missing(inner.fields) is None:
            parts[field.key] = (inner.fields, getattr(sizes, field.word))
    if part_name is not None and part_name not in parts:
        have = ", ".join(parts) or "none"
        raise UsageError(
            Text(
                "part: {part_name!r:.60} is not a part of {model_type} with layers; it has {have}",
                part_name=part_name,
                model_type=known.model_type,
                have=have,
            )
        )
    if not parts:
        raise UsageError(
            Text(
                "{model_type}: no {what} of its own, so there is nothing to search (widths a stage?)",
                model_type=known.model_type,
                what=missing,
            )
        )
    chosen = part_name or ("text_config" if "text_config" in parts else next(iter(parts)))
    return (chosen, *parts[chosen])


def _first_missing(fields: tuple[Field, ...]) -> str | None:
    words = {field.word for field in fields if field.kind == "size"}
    if "hidden" not in words:
        return "hidden size"
    return None if words & set(LAYERS) else "number of layers"


def _without_lists(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in PER_LAYER}


MOST_NAMED = 1_000
"""Labels whose names every design repeats; of more only the number is kept."""


def _count_labels(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put the number of labels in the place of very many names, which every one of thousands of designs would be checked with."""
    names = raw.get("id2label")
    if not isinstance(names, Mapping) or len(names) <= MOST_NAMED or "num_labels" in raw:
        return raw
    return {**{key: value for key, value in raw.items() if key not in ("id2label", "label2id")}, "num_labels": len(names)}


def _check(space: Space, drawing: ConfigTemplate) -> None:
    for name, value in (("multiple-of", space.multiple_of), ("head-dim", space.head_dim), ("gqa", space.gqa), ("vocab", space.vocab)):
        if value is not None and (type(value) is not int or not 1 <= value <= 10**9):
            raise UsageError(Text("{name}: expected a whole number from 1 up, found {value!r:.40}", name=name, value=value))
    least, most = space.layers
    if not 1 <= least <= most <= 10_000:
        raise UsageError(Text("layers: expected a range within 1 to 10,000, found {least} to {most}", least=least, most=most))
    narrow, wide = space.mlp_ratio
    if not 0 < narrow <= wide <= 64:
        raise UsageError(Text("mlp-ratio: expected a range within 0 to 64, found {narrow} to {wide}", narrow=narrow, wide=wide))
    if space.gqa is not None and space.gqa > 1 and "kv_heads" not in drawing.fields:
        raise UsageError(Text("gqa: {model_type} has no key-value heads of its own", model_type=drawing.known.model_type))


def _int_or_none(value: object) -> int | None:
    return value if type(value) is int else None
