"""From what a user typed to a model: a preset, a config, a directory, a file, an address, another library's class.

Here, and nowhere else, a reader and a blueprint meet. A preset's name comes first, then what lies on
disk; nothing is guessed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from weighbridge.accounts.parameters import count
from weighbridge.blueprints import MODULES, family, is_remote, model_type_of
from weighbridge.config.bind import bind, merged, within
from weighbridge.config.check import conflicts, followed, refuse_undescribed, unknown
from weighbridge.config.family import Family
from weighbridge.config.fields import did_you_mean
from weighbridge.config.read import read_config, standard_input
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError, SourceError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.presets import preset, preset_like, suggestions
from weighbridge.value import Description, ModelValue

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from weighbridge.config.alias import Published

GOOGLE_KEYS = frozenset(
    """attention_probs_dropout_prob directionality hidden_act hidden_dropout_prob hidden_size initializer_range
    intermediate_size max_position_embeddings num_attention_heads num_hidden_layers pooler_fc_size
    pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type type_vocab_size vocab_size""".split()
)
"""The keys of ``bert_config.json`` in google-research/bert, which names no model type."""


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
        return _reloaded(source, model_class, overrides) if model_class or overrides else source
    if isinstance(source, Mapping):
        return from_config(dict(source), "config", model_class, overrides)
    if hasattr(source, "named_parameters"):
        from weighbridge.readers.module import read_module

        return read_module(source)
    if isinstance(source, type):
        raise SourceError(Text("{name} is a class; make a config or a module of it, such as {name}()", name=source.__name__))
    if hasattr(source, "to_dict"):
        return from_config(dict(source.to_dict()), type(source).__name__, model_class, overrides)
    if not hasattr(source, "__fspath__") and not isinstance(source, str):
        kind = type(source).__name__
        raise SourceError(Text("cannot weigh a {kind}; expected a name, a path, a mapping, a config or a module", kind=kind))
    text = str(source)
    if not text.strip():
        raise not_found(text)
    if text == "-":
        return from_config(standard_input(), "standard input", model_class, overrides)
    found = preset(text)
    if found is not None:
        return from_config(found.config, text, model_class, overrides)
    return _from_path(text, model_class, overrides)


def _reloaded(found: ModelValue, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Load a model's config once more, as another class or with other fields."""
    if found.description is None:
        raise UsageError(Text("{source}: --class and --set are for configs; a file holds what it holds", source=found.source))
    return from_config(dict(found.description.raw), found.source, model_class or found.class_name, overrides)


def _from_library(source: object, model_class: str | None, overrides: Mapping[str, Any] | None, library: str, trust: bool) -> ModelValue:
    """Build a class with another library, in place of a blueprint."""
    if library != "transformers":
        raise UsageError(Text("--via {library}: only transformers can stand in for a blueprint", library=library))
    from weighbridge.readers.reference import read_reference

    raw, name = (dict(source), "config") if isinstance(source, Mapping) else raw_config(str(source))
    return read_reference(merged(raw, overrides), name, model_class, trust_remote_code=trust)


def _from_path(text: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh what a path or an address names: a config, a directory, a checkpoint."""
    # A config on this disk is what people weigh most: nothing of files, hubs or addresses is loaded for it.
    if text.endswith(".json") and not text.endswith(".index.json") and os.path.isfile(text):
        return from_config(read_config(text), text, model_class, overrides)
    known = None if os.path.exists(text) else preset_like(text)
    if known is not None:
        return from_config(known.config, known.name, model_class, overrides)
    from pathlib import Path

    path = Path(text) if os.path.exists(text) else place(text)
    if path.is_dir():
        config = path / "config.json"
        for name in ("config.json", "bert_config.json"):
            if (path / name).is_file():
                config = path / name
        if config.is_file():
            return _from_directory(path, config, model_class, overrides)
    elif not path.is_file() and os.path.exists(text):  # a pipe or a device, such as <(...), is read as a config
        return from_config(read_config(text), text, model_class, overrides)
    elif not path.is_file():
        raise not_found(text)
    elif path.suffix == ".json" and not path.name.endswith(".index.json"):
        return from_config(read_config(path), text, model_class, overrides)
    if model_class or overrides:
        raise UsageError(Text("{text}: --class and --set are for configs; a file holds what it holds", text=text))
    return checkpoint_of(path)


def place(source: Path | str) -> Path:
    """Return where *source* is: a path on disk, or what answers like one for an address or a hub's id.

    >>> place("no/such/file.json")
    PosixPath('no/such/file.json')
    """
    from pathlib import Path

    if isinstance(source, str) and "/" in source:
        from weighbridge.readers import hub

        return hub.place(source)
    return Path(source) if isinstance(source, str) else source


def checkpoint_of(source: Path | str) -> ModelValue:
    """Weigh the weights at *source*, here or elsewhere: a file, the index of a sharded checkpoint, or a directory of either.

    Headers only; no weights are read and no code in them is run. Of an adapter, it is said what is below it where that is known.

    Raises:
        ReadError: Nothing to read, a damaged file, or a format that no reader knows.
    """
    from weighbridge.readers.adapter import BASE_MODEL
    from weighbridge.readers.checkpoint import as_model, listing_at

    path = place(source)
    listing = listing_at(path)
    found = as_model(listing, str(path))
    base = listing.metadata.get(BASE_MODEL)
    below = _below(base) if isinstance(base, str) else ""
    return found.replace(notes=(*found.notes, below)) if below else found


def _below(base: str) -> str:
    """Say how many parameters the model below an adapter has, if it is one of the presets; nothing is fetched for it."""
    known = preset(base)
    if known is None:
        return ""
    try:
        described = from_config(known.config, base, None, None)
    except ConfigError:
        return ""
    return f"the model below, {base}, has {count(described.tree):,} parameters as {described.class_name}"


def _from_directory(path: Path, config: Path, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a directory's config; where no blueprint describes it, the weights beside it are still exact."""
    try:
        return from_config(read_config(config), str(path), model_class, overrides)
    except UnknownArchitecture as error:
        if model_class or overrides:
            raise
        try:
            weights = checkpoint_of(path)
        except ReadError:
            raise error from None
        return weights.replace(notes=(f"{config.name}: {error}; the weights beside it were counted", *weights.notes))


def from_config(raw: dict[str, Any], source: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a config by the blueprint of its model type."""
    notes: tuple[str, ...] = ()
    stated = raw
    if overrides:
        raw = merged(raw, overrides)
    model_type = raw.get("model_type")
    if not isinstance(model_type, str):
        model_type = (model_class and model_type_of(model_class)) or stated_type(raw)
        notes = (f"the config states no model type; its keys are those of {model_type}",)
    means = None if model_type in MODULES else _published(model_type)
    if means is not None:
        notes = (*notes, f"published as {model_type}, which is {means.model_type} ({means.source})")
        model_type, stated = means.model_type, means.read(stated)
        raw = {**merged(stated, overrides), "model_type": model_type}
    known = _family(model_type, raw)
    if known.normalize_config is not None:
        raw = merged(known.normalize_config(stated), overrides)
    if is_remote(model_type):
        notes = (*notes, f"the code of {model_type} stands beside its files; its tensors are described as there, not held to a live class")
    if overrides:
        _check_overrides(known, raw, overrides)
    class_name = _class(known, raw, model_class)
    if class_name is None:
        assert model_class is not None
        return _inner(known, raw, source, model_class)
    if class_name in known.remote:
        notes = (*notes, f"the code of {class_name} stands beside its files; its tensors are described as there, not held to a live class")
    elif raw.get("auto_map") and not is_remote(model_type):
        notes = (*notes, f"the config names code of its own (auto_map); what is counted is {class_name} of the reference library")
    conflicts(known.fields, raw)
    refuse_undescribed(known.fields, raw)
    sizes = bind(known.fields, raw)
    notes = (*notes, *followed(known.fields, raw, sizes))
    tree = known.classes[class_name](sizes)
    return ModelValue(source, "config", tree, class_name=class_name, notes=notes, description=Description(known, raw, sizes))


def raw_config(source: str) -> tuple[dict[str, Any], str]:
    """Return the config that *source* names, as it stands, and what to call it.

    >>> raw_config("bert-base-chinese")[0]["vocab_size"]
    21128
    """
    from pathlib import Path

    if source == "-":
        return standard_input(), "standard input"
    found = preset(source) or (None if os.path.exists(source) else preset_like(source))
    if found is not None:
        return found.config, source
    path = Path(source)
    if path.is_dir():
        path /= "config.json"
    if not path.is_file():
        raise not_found(source)
    return read_config(path), source


def not_found(source: str) -> SourceError:
    """Return the error for a source that is neither a preset nor a path, with the nearest names."""
    if not source.strip():
        return SourceError(Text("the source is empty; expected {ways}", ways=Text(WAYS)), source=source)
    if "/" in source or source.endswith((".json", ".safetensors")):
        return SourceError(Text("{source}: no such file or directory", source=source), source=source)
    near = suggestions(source)
    hint = Text("did you mean {names}?", names=" or ".join(near)) if near else Text("expected {ways}", ways=Text(WAYS))
    return SourceError(Text("{source}: no such preset or file; {hint}", source=source, hint=hint), source=source, suggestions=tuple(near))


WAYS = mark(
    "a preset (weigh models lists them), a config.json, a directory, a checkpoint file, a Hub id, an address, or - for standard input"
)


def stated_type(raw: Mapping[str, Any]) -> str:
    """Return the model type a config states, or that its keys or class leave no doubt about.

    Raises:
        ConfigError: It states none and nothing else tells.

    >>> stated_type({"model_type": "bert"}), stated_type({"architectures": ["BertForMaskedLM"]})
    ('bert', 'bert')
    """
    stated = raw.get("model_type")
    if isinstance(stated, str) and stated:
        return stated
    for name in architectures(raw):
        known = model_type_of(name)
        if known:
            return known
    keys = set(raw) - {"architectures", "model_type"}
    needed = {"type_vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}
    if needed <= keys <= GOOGLE_KEYS | {"num_labels", "id2label", "add_pooling_layer", "tie_word_embeddings"}:
        return "bert"
    raise ConfigError(
        "the config does not say what it is", key="model_type", hint='add "model_type", such as "bert", or name a class with --class'
    )


def architectures(raw: Mapping[str, Any]) -> list[str]:
    """Return the classes that a config names."""
    stated = raw.get("architectures")
    if stated is None:
        return []
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        raise ConfigError(Text("expected a list of class names, found {stated!r:.60}", stated=stated), key="architectures", value=stated)
    return stated


def _family(model_type: str, raw: Mapping[str, Any]) -> Family:
    """Return the family of a type; of one that is not described, say where its code stands if the config tells."""
    try:
        return family(model_type)
    except UnknownArchitecture as error:
        code = _own_code(raw)
        if not code:
            raise
        hint = "only its weights can be counted: weigh a checkpoint, or --via transformers --trust-remote-code"
        raise UnknownArchitecture(
            Text("no blueprint for {model_type!r}, whose code stands beside its files ({code})", model_type=model_type, code=code),
            key="model_type",
            value=model_type,
            hint=hint,
        ) from error


def _own_code(raw: Mapping[str, Any]) -> str:
    """Return the code that a config brings along, as its ``auto_map`` names it."""
    named = raw.get("auto_map")
    found = [value for value in named.values() if isinstance(value, str)] if isinstance(named, Mapping) else []
    return next((value for value in found if "modeling" in value), found[0] if found else "")


def _published(model_type: str) -> Published | None:
    from weighbridge.config.alias import TYPES

    return TYPES.get(model_type)


def _class_like(name: str, known: Family) -> str | None:
    from weighbridge.config.alias import known_class

    return known_class(name, known.classes)


def _class(known: Family, raw: Mapping[str, Any], model_class: str | None) -> str | None:
    """Return the class to count, by the name the family has; None is a class of one of the sub-configs."""
    stated = model_class
    if stated is None:
        named = architectures(raw)
        if not named:
            return known.base
        stated = named[0]
    found = stated if stated in known.classes else _class_like(stated, known)
    if found is not None:
        return found
    if model_class is not None and model_type_of(model_class) in _inner_types(known, raw):
        return None
    code, listed = _own_code(raw), Text("known: {names}", names=", ".join(known.classes))
    message = Text("no class {name!r} of model type {model_type!r}", name=stated, model_type=known.model_type)
    if model_class is None and code:
        # Code of its own under a known type's name: the nearest class would be counted, and be wrong (JinaBert is no BERT).
        message = Text("{what}, but code of its own ({code})", what=message, code=code)
        hint: str = Text("--class counts one of the library instead; {listed}", listed=listed)
    else:
        hint = did_you_mean(stated, known.classes, typos=True) or listed
    raise UnknownArchitecture(message, key="architectures", value=stated, hint=hint)


def _inner_types(known: Family, raw: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the model types of a config's sub-configs, each with its key and what it says."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for field in known.fields:
        inner = within(field, raw) if field.kind == "nested" else None
        if inner is None:
            continue
        name = field.key.removesuffix("_config")
        for model_type in (inner.model_type, f"{known.model_type}_{name}_model", f"{known.model_type}_{name}"):
            if model_type and model_type in MODULES and model_type not in found:
                found[model_type] = (field.key, inner.raw)
    return found


def _inner(known: Family, raw: Mapping[str, Any], source: str, model_class: str) -> ModelValue:
    """Weigh a class of one of a config's sub-configs, such as the text half of CLIP."""
    model_type = model_type_of(model_class)
    assert model_type is not None
    key, inner = _inner_types(known, raw)[model_type]
    own = {name: value for name, value in inner.items() if name != "architectures"}
    found = from_config({**own, "model_type": model_type}, source, model_class, None)
    return found.replace(notes=(*found.notes, f"{model_class} is built from {key}; the whole config is one of {known.base}"))


def _check_overrides(known: Family, raw: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
    """Refuse an override that would silently do nothing."""
    strangers = unknown(known.fields, raw, known.ignored_keys)
    for key in overrides:
        if key in strangers:
            keys = [name for field in known.fields for name in (field.key, *field.aliases) if name]
            raise ConfigError(
                Text("{model_type} has no such field", model_type=known.model_type),
                key=key,
                hint=did_you_mean(key, keys) or f"known: {', '.join(keys)}",
            )
