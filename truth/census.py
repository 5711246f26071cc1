"""All classes of the reference library that can be built: the denominator of the coverage."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from truth import live


def model_types() -> list[str]:
    """Return every model type of the reference library, in its own order."""
    live.versions()
    return list(import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING.keys())


def classes(model_type: str) -> Iterator[str]:
    """Yield the classes whose config is that of *model_type*: public, and with a forward of their own."""
    config, seen = live.config_class(model_type), set()
    base = import_module("transformers").PreTrainedModel
    for module in live.modules(model_type):
        for name, found in vars(module).items():
            if name in seen or not isinstance(found, type) or not issubclass(found, base) or found.__module__ != module.__name__:
                continue
            if getattr(found, "config_class", None) is config and is_public(found):
                seen.add(name)
                yield name


def is_public(found: Any) -> bool:
    """Tell whether a class is meant to be built: it is exported and is not the abstract base of its family."""
    exported = getattr(import_module(found.__module__), "__all__", ())
    return found.__name__ in exported and not found.__name__.endswith("PreTrainedModel")
