"""Two keys of one field that disagree are refused, whichever two they are, in every family."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weighbridge import ConfigError
from weighbridge.blueprints import MODULES, family
from weighbridge.config.check import conflicts
from weighbridge.config.fields import Field


def doubled(fields: tuple[Field, ...]) -> Iterator[tuple[Field, tuple[str, ...]]]:
    """Yield the fields that have several keys, and those."""
    for field in fields:
        keys = tuple(dict.fromkeys(key for key in (field.key, *field.aliases) if key))
        if field.kind not in ("derived", "nested") and len(keys) > 1:
            yield field, keys


ALIASED = [model_type for model_type in MODULES if any(doubled(family(model_type).fields))]
assert len(ALIASED) > 50


@pytest.mark.parametrize("model_type", ALIASED)
def test_every_pair_of_keys_is_held_against_each_other(model_type: str) -> None:
    for field, keys in doubled(family(model_type).fields):
        for index, first in enumerate(keys):
            for second in keys[index + 1 :]:
                conflicts((field,), {first: 768, second: 768})
                conflicts((field,), {first: 768, second: None})
                with pytest.raises(ConfigError) as caught:
                    conflicts((field,), {first: 768, second: 1024})
                assert caught.value.key == second
                assert str(caught.value) == f"{second}: 1024 but {first} is 768, and both name the same field (keep one)"
