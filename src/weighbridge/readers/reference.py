"""Any class of the reference library, counted by building it without weights: ``--via transformers``.

The way forward for an architecture that has no blueprint. torch and transformers must be
installed; the class is built on the meta device, where a tensor has a shape and no storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text
from weighbridge.readers.module import read_module
from weighbridge.value import ModelValue


def read_reference(raw: Mapping[str, Any], source: str, model_class: str | None = None, *, trust_remote_code: bool = False) -> ModelValue:
    """Build the class that *raw* and *model_class* name on the meta device, and read it as a live module.

    Args:
        raw: The config.
        source: What it came from; a directory or Hub id, if its own code is to be run.
        model_class: The class; by default what ``architectures`` says, else the type's base class.
        trust_remote_code: Run the code that the source brings along. Nothing runs it otherwise.

    Raises:
        UsageError: torch or transformers is not installed.
        UnknownArchitecture: The installed transformers has no such type or class.
        ConfigError: The class refuses the config.
    """
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
    except ImportError as error:
        raise UsageError(Text("--via transformers needs torch and transformers installed ({error})", error=error)) from None
    stated = raw.get("architectures")
    name = model_class or (str(stated[0]) if isinstance(stated, list) and stated else None)
    build = _remote(raw, source, name) if trust_remote_code and "auto_map" in raw else _library_builder(raw, name)
    with torch.device("meta"), _creation_guard(), torch.no_grad():
        try:
            module = build()
        except Exception as error:  # the library raises whatever a config may provoke in it
            raise ConfigError(
                Text("transformers {version} refuses this config: {error}", version=transformers.__version__, error=error)
            ) from error
    model = read_module(module)
    how = Text(
        "built on the meta device by transformers {transformers}, torch {torch}; no weights were loaded",
        transformers=transformers.__version__,
        torch=torch.__version__,
    )
    return model.replace(source=source, notes=(how, *model.notes))


def _library_builder(raw: Mapping[str, Any], name: str | None) -> Any:
    """Return a builder for a class of the library itself."""
    mapping = import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    model_type = raw.get("model_type")
    if model_type not in mapping:
        hint = "its own code is run only with --trust-remote-code" if "auto_map" in raw else "install a transformers that has it"
        raise UnknownArchitecture("the installed transformers has no such type", key="model_type", value=model_type, hint=hint)
    config = mapping[model_type]
    fields = {key: value for key, value in raw.items() if key != "model_type"}
    if name is None:
        automatic = import_module("transformers").AutoModel
        return lambda: automatic.from_config(config(**fields))
    cls = getattr(import_module("transformers"), name, None)
    if cls is None:
        raise UnknownArchitecture(Text("the installed transformers has no class {name!r}", name=name), key="architectures", value=name)
    return lambda: cls(config(**fields))


def _remote(raw: Mapping[str, Any], source: str, name: str | None) -> Any:
    """Return a builder for a class that the source brings along, which its reader has agreed to run."""
    transformers = import_module("transformers")
    entry = next((auto for auto, path in raw["auto_map"].items() if str(path).endswith(f".{name}")), "AutoModel")
    if not hasattr(transformers, entry):
        raise UnknownArchitecture(Text("transformers has no {entry}", entry=entry), key="auto_map", value=entry)
    automatic, configs = getattr(transformers, entry), transformers.AutoConfig
    return lambda: automatic.from_config(configs.from_pretrained(source, trust_remote_code=True), trust_remote_code=True)


def _creation_guard() -> Any:
    """Return the library's guard for classes that compute values while they are built, where it has one."""
    from contextlib import nullcontext

    guard = getattr(import_module("transformers"), "initialization", None)
    return guard.meta_device_safe_creation_ops() if guard is not None else nullcontext()
