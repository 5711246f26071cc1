"""All classes of the reference library that can be built: the denominator of the coverage.

A class of a model type is one whose config class is the type's own, or that the library's auto
mappings name for the type, and that has a forward of its own. It can be built if it is built on the meta device
from its default config, with one of a few overrides where a field has no default, or from a random config of a type that is described.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.draw import draw
from truth.live import RefusedError
from weighbridge.blueprints import MODULES, family

PATH = Path(__file__).with_name("census.json")
OVERRIDES: tuple[dict[str, Any], ...] = (
    {},
    {"prediction_length": 24},
    {"attn_config": {"rope_theta": 10000.0}},
    {"vocab_size": 1000, "pad_token_id": 1},
    {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 64},
    {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 8, "intermediate_size": 512},
    {"out_indices": [3, 5, 7, 11]},
    {"layer_types": ["full_attention"] * 4, "num_hidden_layers": 4},
)
"""What is set in turn, on the way to a config that builds."""


def model_types() -> list[str]:
    """Return every model type of the reference library, in its own order."""
    live.versions()
    return list(import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING.keys())


def classes(model_type: str) -> list[str]:
    """Return the names of a model type's classes, its own and those the auto mappings name."""
    return list(dict.fromkeys((*_own(model_type), *_mapped_classes(model_type))))


DRAWS = 20
"""Random configs that are tried of a class which no override builds."""


def take(only: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Try to build every class: for each type, its classes with the reason if it cannot be built; *only* some types are tried anew."""
    before, asked = (read(), set(only)) if only else ({}, set())
    return {
        name: before[name] if asked and name not in asked else {cls: attempt(name, cls) for cls in classes(name)} for name in model_types()
    }


def attempt(model_type: str, class_name: str) -> str:
    """Return why a class cannot be built, or the empty string if it can."""
    reason = ""
    for overrides in _configs(model_type, class_name):
        try:
            live.build(model_type, class_name, overrides)
        except RefusedError as error:
            reason = reason or str(error)
        else:
            return ""
    return reason


def _configs(model_type: str, class_name: str) -> Iterator[dict[str, Any]]:
    yield from OVERRIDES
    if model_type in MODULES and class_name in family(model_type).classes:
        yield from (draw(f"census {number}", model_type) for number in range(DRAWS))


def read() -> dict[str, dict[str, str]]:
    """Read the census that was last taken."""
    found: dict[str, dict[str, str]] = json.loads(PATH.read_text("utf-8"))["types"]
    return found


def write(found: dict[str, dict[str, str]]) -> None:
    """Write a census, one type a line."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in found.items())
    head = f'"command": "python -m truth census",\n"versions": {json.dumps(live.versions())}'
    PATH.write_text(f'{{\n{head},\n"types": {{\n{lines}\n}}\n}}\n', "utf-8")


def _own(model_type: str) -> Iterator[str]:
    config = live.config_class(model_type)
    for module in live.modules(model_type):
        for name, found in vars(module).items():
            if isinstance(found, type) and found.__module__ == module.__name__ and _is_model(found) and found.config_class is config:  # type: ignore[attr-defined]
                yield name


def _mapped_classes(model_type: str) -> Iterator[str]:
    auto = import_module("transformers.models.auto.modeling_auto")
    for table, names in vars(auto).items():
        if table.endswith("_MAPPING_NAMES") and table.startswith("MODEL") and model_type in names:
            named = names[model_type]
            yield from (named,) if isinstance(named, str) else named


def _is_model(found: type) -> bool:
    base, module = import_module("transformers").PreTrainedModel, import_module("torch").nn.Module
    return (
        issubclass(found, base) and getattr(found, "forward", None) is not module.forward and not found.__name__.endswith("PreTrainedModel")
    )
