"""Which value of a config keeps a model from being built, where the rule that failed cannot tell: the one without which it is built."""

from __future__ import annotations

from weighbridge.blueprints.describe import from_config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, WeighbridgeError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from weighbridge.value import ModelValue

MOST_TRIES = 64
"""Values that are left out in turn; a longer config is refused without a name."""


def weigh_config(raw: dict[str, Any], source: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a config that somebody gave; a refusal without a key is given the one that is to blame, if it is clear."""
    try:
        return from_config(raw, source, model_class, overrides)
    except ConfigError as error:
        if error.key:
            raise
        raise with_culprit(error, raw, lambda other: from_config(other, source, model_class, overrides)) from None


def with_culprit(error: ConfigError, raw: Mapping[str, Any], build: Callable[[dict[str, Any]], object]) -> ConfigError:
    """Return the refusal of a config, naming the one value without which the config builds a model.

    >>> def build(raw):
    ...     if raw.get("vision_config", {}).get("depth") == -1:
    ...         raise ConfigError("no model")
    >>> print(with_culprit(ConfigError("no model"), {"hidden_size": 8, "vision_config": {"depth": -1}}, build))
    vision_config.depth: -1 is not a value this field can take
    """
    places = [place for place in _leaves(raw) if place[-1] != "model_type"]
    found = [place for place in places if _builds(_without_key(raw, place), build)] if len(places) <= MOST_TRIES else []
    if len(found) != 1:
        return error
    value: Any = raw
    for key in found[0]:
        value = value[key]
    return ConfigError(Text("{value!r:.60} is not a value this field can take", value=value), key=".".join(found[0]), value=value)


def _leaves(raw: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in raw.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)


def _without_key(raw: Mapping[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    key, *inner = place
    if inner:
        return {**raw, key: _without_key(raw[key], tuple(inner))}
    return {name: value for name, value in raw.items() if name != key}


def _builds(raw: dict[str, Any], build: Callable[[dict[str, Any]], object]) -> bool:
    try:
        build(raw)
    except WeighbridgeError:
        return False
    return True
