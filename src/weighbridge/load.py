"""From what a user typed to a model: a preset, a config, a directory, a file, an address, another library's class.

Here, and nowhere else, a reader and a blueprint meet. A preset's name comes first, then what lies on
disk; nothing is guessed.
"""

from __future__ import annotations

import os

from weighbridge.accounts.parameters import count
from weighbridge.blueprints import MODULES
from weighbridge.blueprints.culprit import weigh_config
from weighbridge.config.bind import with_overrides
from weighbridge.config.read import config_text, find_config, read_config, read_piped_config, standard_input
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError, SourceError, UnknownArchitecture, UsageError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, join_with_or, mark
from weighbridge.presets import preset, preset_like, suggestions
from weighbridge.presets.aliases import lookup, preset_by_nickname
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def load(
    source: object,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    via: str | None = None,
    trust_remote_code: bool = False,
) -> ModelValue:
    """Load what *source* names; :func:`weighbridge.model` says what it may be, and what is raised.

    >>> load("bert-base-uncased").class_name
    'BertModel'
    """
    if via is not None:
        return _from_library(source, model_class, overrides, via, trust_remote_code)
    if isinstance(source, ModelValue):
        return _reload(source, model_class, overrides) if model_class or overrides else source
    if isinstance(source, Mapping):
        return weigh_config(dict(source), "config", model_class, overrides)
    if hasattr(source, "named_parameters") and not isinstance(source, type):
        from weighbridge.readers.module import read_module

        return read_module(source)
    if isinstance(source, type):
        raise SourceError(Text("{name} is a class; make a config or a module of it, such as {name}()", name=source.__name__))
    if hasattr(source, "to_dict"):
        return weigh_config(dict(source.to_dict()), type(source).__name__, model_class, overrides)
    if not hasattr(source, "__fspath__") and not isinstance(source, str):
        kind = type(source).__name__
        raise SourceError(
            Text("an object of type {kind} cannot be weighed; expected a name, a path, a mapping, a config or a module", kind=kind)
        )
    text = str(source)
    if not text.strip():
        raise no_such_source(text)
    if text == "-":
        return weigh_config(standard_input(), "standard input", model_class, overrides)
    found = preset(text)
    if found is not None:
        return weigh_config(found.config, text, model_class, overrides)
    return _from_path(text, model_class, overrides)


def _reload(found: ModelValue, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Load a model's config once more, as another class or with other fields."""
    if found.description is None:
        raise UsageError(Text("{source}: --class and --set are for configs; a file holds what it holds", source=found.source))
    return weigh_config(dict(found.description.raw), found.source, model_class or found.class_name, overrides)


def _from_library(source: object, model_class: str | None, overrides: Mapping[str, Any] | None, library: str, trust: bool) -> ModelValue:
    """Build a class with another library, in place of a blueprint."""
    if library != "transformers":
        raise UsageError(Text("--via {library}: expected transformers, the only library that can build the class here", library=library))
    from weighbridge.readers.reference import read_reference

    raw, name = (dict(source), "config") if isinstance(source, Mapping) else raw_config(str(source))
    return read_reference(with_overrides(raw, overrides), name, model_class, trust_remote_code=trust)


def _from_path(text: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh what a path or an address names: a config, a directory, a checkpoint."""
    # A config on this disk is what people weigh most: nothing of files, hubs or addresses is loaded for it.
    if text.endswith(".json") and not text.endswith((".index.json", ".weights.json")) and os.path.isfile(text):
        return weigh_config(read_config(text), text, model_class, overrides)
    known = None if os.path.exists(text) else preset_like(text) or preset_by_nickname(text)
    if known is not None:
        return weigh_config(known.config, known.name, model_class, overrides)
    config_of_package = None if os.path.exists(text) else _package_model(text)
    if config_of_package is not None:
        return weigh_config(config_of_package, text, model_class, overrides)
    from pathlib import Path

    path = Path(text) if os.path.exists(text) else place(text)
    if path.is_dir():
        config = find_config(path)
        if config is not None:
            return _from_directory(path, config, model_class, overrides)
    elif not path.is_file() and os.path.exists(text):  # a pipe or a device, such as <(...), is read as a config
        return weigh_config(read_piped_config(text), text, model_class, overrides)
    elif not path.is_file():
        raise no_such_source(text)
    elif (path.suffix == ".json" and not path.name.endswith((".index.json", ".weights.json"))) or path.suffix == ".sh":
        return weigh_config(read_config(path), text, model_class, overrides)
    elif path.suffix in (".yaml", ".yml"):
        from weighbridge.config.yaml_config import parse_yaml

        return weigh_config(parse_yaml(config_text(path), text), text, model_class, overrides)
    if model_class or overrides:
        raise UsageError(Text("{text}: --class and --set are for configs; a file holds what it holds", text=text))
    return checkpoint_of(path)


def _package_model(name: str) -> dict[str, Any] | None:
    """Return the config of one of timm's or OpenCLIP's models by its name."""
    from weighbridge.blueprints.package_models import package_model

    return package_model(name)


def place(source: Path | str) -> Path:
    """Return where *source* is: a path on disk, or what answers like one for an address or a hub's id.

    >>> place("no/such/file.json")
    PosixPath('no/such/file.json')
    """
    from pathlib import Path

    if isinstance(source, str) and "/" in source:
        from weighbridge.readers import hub

        try:
            return hub.place(source)
        except SourceError as error:
            raise _with_presets(error, source) from None
    return Path(source) if isinstance(source, str) else source


def checkpoint_of(source: Path | str) -> ModelValue:
    """Weigh the weights at *source*, here or elsewhere: a file, the index of a sharded checkpoint, or a directory of either.

    Headers only; no weights are read and no code in them is run. Of an adapter, it is said what is below it where that is known.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    from weighbridge.readers.checkpoint import read_model

    found, base = read_model(place(source))
    below = _base_model_note(base) if base is not None else ""
    return found.replace(notes=(*found.notes, below)) if below else found


def _base_model_note(base: str) -> str:
    """Say how many parameters the model below an adapter has, if it is one of the presets; nothing is fetched for it."""
    known = preset(base)
    if known is None:
        return ""
    try:
        described = weigh_config(known.config, base, None, None)
    except ConfigError:
        return ""
    return Text(
        "the model below, {base}, has {number:,} parameters as {name}", base=base, number=count(described.tree), name=described.class_name
    )


def _from_directory(path: Path, config: Path, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a directory's config; where no blueprint describes it, the weights beside it are still exact."""
    from weighbridge.blueprints.modules.sentence_modules import CLASS

    if model_class == CLASS:
        return _sentence_transformer(path, config, overrides)
    try:
        return weigh_config(read_config(config), str(path), model_class, overrides)
    except UnknownArchitecture as error:
        if model_class or overrides:
            raise
        try:
            weights = checkpoint_of(path)
        except ReadError:
            raise error from None
        return weights.replace(
            notes=(Text("{name}: {error}; the weights beside it were counted", name=config.name, error=error), *weights.notes)
        )


def _sentence_transformer(path: Path, config: Path, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a directory as sentence-transformers builds it: the transformer, and the modules that ``modules.json`` puts behind it."""
    from weighbridge.blueprints.modules.sentence_modules import CLASS, ENCODERS, sentence_transformer
    from weighbridge.config.sentence_modules import read_modules

    modules = read_modules(path)
    if not modules or modules[0].kind != "Transformer":
        raise UsageError(Text("{path}: no modules.json that begins with a Transformer", path=path))
    found = weigh_config(read_config(config), str(path), None, overrides)
    assert found.description is not None
    family = found.description.family
    name = ENCODERS.get(family.model_type, family.base)
    found = weigh_config(read_config(config), str(path), name, overrides)
    assert found.description is not None
    blueprint = sentence_transformer(family.classes[name], modules)
    family = family._replace(classes={**family.classes, CLASS: blueprint})
    description = found.description._replace(family=family)
    kinds = ", ".join(module.kind for module in modules[1:])
    note = Text("the transformer is {name}; behind it stand {kinds}", name=name, kinds=kinds)
    return found.replace(tree=blueprint(description.sizes), class_name=CLASS, description=description, notes=(*found.notes, note))


def raw_config(source: str) -> tuple[dict[str, Any], str]:
    """Return the config that *source* names, as it stands, and what to call it.

    >>> raw_config("bert-base-chinese")[0]["vocab_size"]
    21128
    """
    from pathlib import Path

    if source == "-":
        return standard_input(), "standard input"
    found = preset(source) or (None if os.path.exists(source) else preset_like(source) or preset_by_nickname(source))
    config = found.config if found is not None else None if os.path.exists(source) else _package_model(source)
    if config is not None:
        return config, source
    path = Path(source)
    if path.is_dir():
        path /= "config.json"
    if not path.is_file():
        raise no_such_source(source)
    return read_config(path), source


def _with_presets(error: SourceError, source: str) -> SourceError:
    """Return the error of an id that no hub gave, with the presets whose names are near: they are weighed without a hub."""
    owner, _, name = source.rpartition("/")
    if ":" in owner or "/" in owner:
        return error
    name = name.partition("@")[0]
    shorter = (name, name.rpartition("-")[0], name.rpartition("-")[0].rpartition("-")[0])  # without -AWQ, -GGUF, -bnb-4bit
    like = next((found for known in shorter if known and (found := preset_like(known))), None)
    near = [like.name] if like is not None else suggestions(name)
    if not near:
        return error
    text = Text("{error}; presets with a name like it: {names}", error=error.args[0], names=join_with_or(near))
    return SourceError(text, source=error.source, suggestions=tuple(near))


def no_such_source(source: str) -> SourceError:
    """Return the error for a source that is neither a preset nor a path, with the nearest names."""
    if not source.strip():
        return SourceError(Text("the source is empty; expected {ways}", ways=Text(WAYS)), source=source)
    if source.lstrip().startswith("{"):
        return SourceError(
            Text("{source:.40}: a config's text is read from standard input: weigh - < config.json", source=source), source=source
        )
    named = lookup(source) if source[0] not in "./~" else None
    if named is None and ("/" in source or source.endswith((".json", ".safetensors"))):
        return SourceError(Text("{source}: no such file or directory", source=source), source=source)
    import re

    if re.fullmatch(CLOSED, source.lower()):
        hint = Text("its sizes have not been published; weigh counts from a config or a checkpoint")
        return SourceError(Text("{source}: no such preset or file; {hint}", source=source, hint=hint), source=source)
    near = list(named.names[:3]) if named is not None else suggestions(source)
    hint = Text("did you mean {names}?", names=join_with_or(near)) if near else Text("expected {ways}", ways=Text(WAYS))
    model_type = _type_at_the_start(source)
    if named is None and model_type and not any(name.lower().startswith(re.split("[-_ ]", source.lower())[0]) for name in near):
        near, hint = [], Text("{model_type} is a model type that is known: give its config.json", model_type=model_type)
    return SourceError(Text("{source}: no such preset or file; {hint}", source=source, hint=hint), source=source, suggestions=tuple(near))


def _type_at_the_start(name: str) -> str:
    """Return the longest model type that *name* begins with, whatever separates its words, or the empty string.

    >>> _type_at_the_start("decision-transformer-gym"), _type_at_the_start("sew-d-tiny"), _type_at_the_start("moondream2")
    ('decision_transformer', 'sew-d', '')
    """
    pieces = name.lower().replace("_", "-").replace(" ", "-").split("-")
    types = {model_type.lower().replace("_", "").replace("-", ""): model_type for model_type in MODULES}
    starts = ("".join(pieces[:end]) for end in range(len(pieces), 0, -1))
    return next((types[start] for start in starts if start in types), "")


CLOSED = r"(chat[- ]?gpt|gpt-?3\.5|gpt-?[45](\.\d)?o?|claude|gemini)(-.*)?"
"""Models that people ask for and whose makers publish neither config nor weights."""

WAYS = mark(
    "a preset (weigh models lists them), a config.json, a directory, a checkpoint file, a Hub id, an address, or - for standard input"
)
