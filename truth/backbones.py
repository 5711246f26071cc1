"""Every neck over every backbone: composite types whose ``backbone_config`` may be of another type, against the live class."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from truth import live
from truth.trials import FOLDER, Result, Trial, try_trial
from weighbridge.blueprints import MODULES, family

PATH = FOLDER / "backbones.jsonl"
SIZES = {"hidden_size": 32, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 48}
"""What keeps transformers among the backbones small."""


def necks() -> list[str]:
    """Return the described types that look through a backbone."""
    return [name for name in MODULES if any(field.key == "backbone_config" for field in family(name).fields)]


def types() -> list[str]:
    """Return the types that the library's auto class takes for a backbone."""
    live.versions()
    mapping = import_module("transformers.models.auto.modeling_auto").MODEL_FOR_BACKBONE_MAPPING_NAMES
    return [name for name in mapping if name not in ("timm_backbone", "dinat")]


def configs(neck: str, inner: str) -> Iterator[dict[str, Any]]:
    """Yield configs of a neck over a backbone: the backbone as it is, handing on its last maps, and small."""
    yield {"model_type": neck, "backbone_config": {"model_type": inner}}
    stages = stage_names(inner, {})
    for count in (4, 3):
        if len(stages) > count:
            yield {"model_type": neck, "backbone_config": {"model_type": inner, "out_features": stages[-count:]}}
    fields = live.config_class(inner).__dataclass_fields__
    small = {key: value for key, value in SIZES.items() if key in fields}
    stages = stage_names(inner, small)
    if small and stages:
        yield {"model_type": neck, "backbone_config": {"model_type": inner, **small, "out_features": stages[-4:]}}


def stage_names(inner: str, raw: dict[str, Any]) -> list[str]:
    """Return the names of the maps that a backbone can hand on."""
    try:
        return list(live.config_class(inner)(**raw).stage_names or [])
    except Exception:  # a class of lists takes no such sizes
        return []


def run(neck: str, inner: str) -> Iterator[Result]:
    """Yield what comes of each config that the live class builds."""
    class_name = list(family(neck).classes)[-1]
    for raw in configs(neck, inner):
        found = try_trial(neck, Trial(class_name, 0, ()), raw)
        if found is not None:
            yield found


def record(neck: str, results: list[Result]) -> None:
    """Write what the live classes made of a neck's configs into its line of the file, in place of what stood there."""
    entries = {entry["type"]: entry for entry in read()} if PATH.exists() else {}
    cases = [[one.raw["backbone_config"], one.live, one.verdict == "refused"] for one in results]
    entries[neck] = {"type": neck, "class": list(family(neck).classes)[-1], "cases": cases}
    PATH.write_text("".join(json.dumps(entries[key], separators=(",", ":")) + "\n" for key in sorted(entries)), "utf-8")


def read() -> list[dict[str, Any]]:
    """Read what was recorded, one entry a neck."""
    return [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]
