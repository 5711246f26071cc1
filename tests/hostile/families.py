"""Every model type with a hostile value in one of its fields: what a blueprint does not bear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from tests.hostile.configs import ANY, VALUES, HostileConfig, with_value
from weighbridge.blueprints import MODULES, family
from weighbridge.config.fields import Field


def hostile_families(count: int, seed: int) -> Iterator[HostileConfig]:
    """Yield *count* configs; the same for the same seed.

    >>> [config.name for config in hostile_families(2, 1)] == [config.name for config in hostile_families(2, 1)]
    True
    """
    chance = Random(seed)
    types, names = sorted(MODULES), sorted(VALUES)
    for _ in range(count):
        model_type, name = chance.choice(types), chance.choice(names)
        fields = family(model_type).fields
        keys = [key for field in fields for key in (field.key, *field.aliases) if key]
        if not keys:
            continue
        key = chance.choice(keys)
        nested = [field for field in fields if field.key == key and field.kind == "nested"]
        if nested and chance.random() < 0.8 and (inner := _inner(nested[0], chance)):
            data = json.dumps({"model_type": model_type})[:-1].encode() + f', "{key}": {{"{inner}": {VALUES[name]}}}}}'.encode()
            yield HostileConfig(f"{model_type}, {key}.{inner}: {name}", data, ANY)
        else:
            yield HostileConfig(f"{model_type}, {key}: {name}", with_value({"model_type": model_type}, key, VALUES[name]), ANY)


def _inner(field: Field, chance: Random) -> str | None:
    """Return a key of a sub-config, if it is known which keys that has."""
    fields: tuple[Field, ...] = getattr(field, "fields", None) or getattr(field.default, "fields", None) or ()
    keys = [inner.key for inner in fields if inner.key]
    return chance.choice(keys) if keys else None
