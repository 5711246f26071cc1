"""From what a user typed to a model: a preset, a config, a directory, a file, an address, another library's class."""

from __future__ import annotations

import os
from collections.abc import Mapping

from weighbridge.blueprints import family, is_remote, model_type_of
from weighbridge.config.bind import bind, merged
from weighbridge.config.check import conflicts, refuse_undescribed, unknown
from weighbridge.config.family import Family
from weighbridge.config.fields import did_you_mean
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError, UnknownArchitecture, UsageError
from weighbridge.model import Described, Model

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def via(source: object, model_class: str | None, overrides: Mapping[str, Any] | None, library: str, trust: bool) -> Model:
    """Build a class with another library, in place of a blueprint."""
    if library != "transformers":
        raise UsageError(f"--via {library}: only transformers can stand in for a blueprint")
    from weighbridge import sources
    from weighbridge.readers.reference import read_reference

    raw, name = (dict(source), "config") if isinstance(source, Mapping) else sources.raw_config(str(source))
    return read_reference(merged(raw, overrides), name, model_class, trust_remote_code=trust)


def from_path(text: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> Model:
    """Weigh what a path or an address names: a config, a directory, a checkpoint."""
    from weighbridge import sources

    # A config on this disk is what people weigh most: nothing of files, hubs or addresses is loaded for it.
    if text.endswith(".json") and not text.endswith(".index.json") and os.path.isfile(text):
        return from_config(sources.read_config(text), text, model_class, overrides)
    from pathlib import Path

    from weighbridge.readers import place

    path = Path(text) if os.path.exists(text) else place(text)
    if path.is_dir():
        config = path / "config.json"
        for name in ("config.json", "bert_config.json"):
            if (path / name).is_file():
                config = path / name
        if config.is_file():
            return _from_directory(path, config, model_class, overrides)
    elif not path.is_file():
        raise sources.not_found(text)
    elif path.suffix == ".json" and not path.name.endswith(".index.json"):
        return from_config(sources.read_config(path), text, model_class, overrides)
    from weighbridge.readers import read_checkpoint

    if model_class or overrides:
        raise UsageError(f"{text}: --class and --set are for configs; a file holds what it holds")
    return read_checkpoint(path)


def _from_directory(path: Path, config: Path, model_class: str | None, overrides: Mapping[str, Any] | None) -> Model:
    """Weigh a directory's config; where no blueprint describes it, the weights beside it are still exact."""
    from weighbridge import sources

    try:
        return from_config(sources.read_config(config), str(path), model_class, overrides)
    except UnknownArchitecture as error:
        from weighbridge.readers import read_checkpoint

        if model_class or overrides:
            raise
        try:
            weights = read_checkpoint(path)
        except ReadError:
            raise error from None
        weights.notes = (f"{config.name}: {error}; the weights beside it were counted", *weights.notes)
        return weights


def from_config(raw: dict[str, Any], source: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> Model:
    """Weigh a config by the blueprint of its model type."""
    notes: tuple[str, ...] = ()
    stated = raw
    if overrides:
        raw = merged(raw, overrides)
    model_type = raw.get("model_type")
    if not isinstance(model_type, str):
        from weighbridge import sources

        model_type = (model_class and model_type_of(model_class)) or sources.model_type(raw)
        notes = (f"the config states no model type; its keys are those of {model_type}",)
    known = family(model_type)
    if known.settle is not None:
        raw = merged(known.settle(stated), overrides)
    if is_remote(model_type):
        notes = (*notes, f"the code of {model_type} stands beside its files; its tensors are described as there, not held to a live class")
    if overrides:
        _check_overrides(known, raw, overrides)
    class_name = _class(known, raw, model_class)
    if class_name in known.remote:
        notes = (*notes, f"the code of {class_name} stands beside its files; its tensors are described as there, not held to a live class")
    conflicts(known.fields, raw)
    refuse_undescribed(known.fields, raw)
    sizes = bind(known.fields, raw)
    tree = known.classes[class_name](sizes)
    return Model(source, "config", tree, class_name=class_name, notes=notes, description=Described(known, raw, sizes))


def _class(known: Family, raw: Mapping[str, Any], model_class: str | None) -> str:
    if model_class is None:
        stated = raw.get("architectures")
        if not stated:
            return known.base
        from weighbridge.sources import architectures

        model_class = architectures(raw)[0]
    if model_class in known.classes:
        return model_class
    hint = did_you_mean(model_class, known.classes) or f"known: {', '.join(known.classes)}"
    raise UnknownArchitecture(
        f"no class {model_class!r} of model type {known.model_type!r}", key="architectures", value=model_class, hint=hint
    )


def _check_overrides(known: Family, raw: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
    """Refuse an override that would silently do nothing."""
    strangers = unknown(known.fields, raw, known.neutral)
    for key in overrides:
        if key in strangers:
            keys = [name for field in known.fields for name in (field.key, *field.aliases) if name]
            raise ConfigError(f"{known.model_type} has no such field", key=key, hint=did_you_mean(key, keys) or f"known: {', '.join(keys)}")
