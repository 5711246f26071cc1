"""Random configs that fit together: small sizes, heads that divide, everything off its default.

The generic draw reads a family's table of fields and knows what our words mean; what only one
family needs stands in its recipe.
"""

from __future__ import annotations

import random
from math import lcm
from typing import Any

from truth.recipes import recipe
from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.refused_kinds import refused_of
from weighbridge.config.bind import find_sub_config
from weighbridge.config.family import Family
from weighbridge.config.fields import AtInit, Field

HEAD_DIMS = (4, 8, 12, 16)


def draw(seed: str, model_type: str, touch: float = 1.0) -> dict[str, Any]:
    """Draw a config of *model_type*, the same for the same seed.

    Args:
        seed: Any text.
        model_type: A type with a blueprint.
        touch: The chance of each field to leave its default.

    >>> draw("1", "bert") == draw("1", "bert")
    True
    """
    rng = random.Random(f"{seed} {model_type}")
    known: Family = family(model_type)
    raw = {"model_type": model_type, **fields(rng, known.fields, touch)}
    wanted = {one.key for one in refused_of(model_type) if one.wanted and not one.parents} - raw.keys()
    raw |= {field.key: rng.choice(HEAD_DIMS) for field in known.fields if field.kind == "size" and field.key in wanted}
    return recipe(MODULES[model_type])(rng, raw)


def fields(rng: random.Random, table: tuple[Field, ...], touch: float = 1.0) -> dict[str, Any]:
    """Draw values for a table of fields; what is not drawn is absent and so at its default."""
    raw: dict[str, Any] = {}
    heads = _heads(rng, table)
    structured = rng.random() < touch
    for field in table:
        if field.kind == "nested":
            inner = _inner(rng, field, touch)
            if inner is not None:
                raw[field.key] = inner
        elif field.kind == "labels":
            raw |= _labels(rng)
        elif field.kind == "switch" and field.key:
            if rng.random() < touch:
                raw[field.key] = rng.random() < 0.5
        elif field.kind == "size":
            value = _structured_size(rng, field, heads) if _is_structured(field) else _size(rng, field)
            if value is not None and (structured if _is_structured(field) else rng.random() < touch):
                raw[field.key] = value
    _mend(rng, table, raw)
    return raw


def _inner(rng: random.Random, field: Field, touch: float) -> dict[str, Any] | None:
    """Draw a sub-config: of one of the types that are common there, now and then left out or not saying its type."""
    if field.resolve is None:
        return fields(rng, field.fields, touch)
    if rng.random() > touch:
        return None
    if not isinstance(field.default, list):  # no model type of its own
        absent = find_sub_config(field, {})
        return None if absent is None else fields(rng, absent.fields, touch)
    first, *others = [name for name in field.default if name in MODULES]
    chosen = rng.choice(others) if others and rng.random() < 0.5 else first
    inner = find_sub_config(field, {field.key: {"model_type": chosen}})
    raw = recipe(MODULES[chosen])(rng, {"model_type": chosen, **fields(rng, inner.fields if inner else (), touch)})
    if chosen == first and rng.random() < 0.3:
        del raw["model_type"]
    return raw


def _heads(rng: random.Random, table: tuple[Field, ...]) -> dict[str, int]:
    """Draw all counts of heads at once, so that the hidden size can be a multiple of each."""
    heads: dict[str, int] = {}
    for field in table:
        if field.kind == "size" and _is_heads(field) and not _is_kv_heads(field):
            heads[field.word] = rng.choice((1, 2, 2, 3, 4, 6))
    for field in table:
        if field.kind == "size" and _is_kv_heads(field):
            queries = heads.get(field.word.replace("kv_", ""), next(iter(heads.values()), 1))
            heads[field.word] = rng.choice([n for n in range(1, queries + 1) if queries % n == 0])
    return heads


def _is_heads(field: Field) -> bool:
    return field.word == "heads" or field.word.endswith("_heads")


def _is_kv_heads(field: Field) -> bool:
    return field.word.endswith("kv_heads")


def _is_structured(field: Field) -> bool:
    return _is_heads(field) or field.word in ("hidden", "decoder_hidden", "encoder_hidden")


def _structured_size(rng: random.Random, field: Field, heads: dict[str, int]) -> int | None:
    if _is_heads(field):
        return None if callable(field.default) and rng.random() < 0.3 else heads[field.word]
    return lcm(1, *heads.values()) * rng.choice(HEAD_DIMS)


def _size(rng: random.Random, field: Field) -> int | None:
    word, default = field.word, field.default
    if type(default) is AtInit and not field.report_default:
        return None  # what follows from others runs only where it does follow; truth/aliases.py and flips.py set such keys
    if (default is None or callable(default)) and rng.random() < 0.4:
        return None
    low, high = _range(word, default if isinstance(default, int) else None)
    return max(field.minimum, rng.choice(HEAD_DIMS) if word.endswith("head_dim") else rng.randint(low, high))


def _range(word: str, default: int | None) -> tuple[int, int]:
    for ending, low, high in RANGES:
        if word.endswith(ending):
            return low, high
    if default is None or default > 64:
        return 4, 48
    return (1, 5) if default <= 4 else (1, 2 * default)


RANGES = (
    ("vocab", 31, 99),
    ("positions", 24, 80),
    ("types", 1, 4),
    ("layers", 1, 4),
    ("active", 1, 3),
    ("shared_experts", 1, 3),
    ("experts", 3, 6),
    ("mlp", 3, 60),
)
"""By the ending of our word: from, to."""


def _labels(rng: random.Random) -> dict[str, Any]:
    labels = rng.randint(1, 7)
    if rng.random() < 0.3:
        return {"id2label": {str(index): f"label {index}" for index in range(labels)}}
    return {"num_labels": labels} if rng.random() < 0.8 else {}


def _mend(rng: random.Random, table: tuple[Field, ...], raw: dict[str, Any]) -> None:
    """Put right what spans two fields: special tokens inside the vocabulary, images of whole patches."""
    keys = {field.word: field.key for field in table}
    if raw.get(keys.get("vocab", "")) is not None:
        raw["pad_token_id"] = rng.choice((0, 1))
    if raw.get("add_cross_attention") and rng.random() < 0.9:
        raw["is_decoder"] = True
    image, patch = keys.get("image"), keys.get("patch", keys.get("patch_height"))
    if image and patch and (image in raw or patch in raw):
        raw[patch] = rng.choice((2, 3, 4, 8))
        raw[image] = raw[patch] * rng.randint(2, 5)
    if "image_height" in keys:
        _mend_sides(rng, raw, keys["image_height"], patch, bool(keys.get("patch_width")))


def _mend_sides(rng: random.Random, raw: dict[str, Any], image: str, patch: str | None, oblong_patches: bool) -> None:
    """Draw images and patches that may be higher than wide, and patches that need not fill an image."""
    if patch is None or not (image in raw or patch in raw):
        return
    height = rng.choice((2, 3, 4, 8))
    width = rng.choice((2, 3, 4, 8)) if oblong_patches and rng.random() < 0.3 else height
    raw[patch] = height if height == width else [height, width]
    rows = rng.randint(2, 5)
    columns = rows if rng.random() < 0.6 else rng.randint(2, 5)
    rest = rng.randint(0, 1) if rng.random() < 0.3 else 0
    sides = [height * rows + rest, width * columns + rest]
    raw[image] = sides[0] if sides[0] == sides[1] else sides
