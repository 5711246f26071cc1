"""From a config to a model: its type and class are found, its fields checked and bound, and the blueprint makes the tree."""

from __future__ import annotations

from weighbridge.blueprints import MODULES, family, is_remote, model_type_of, why_undescribed
from weighbridge.blueprints.chosen_functions import refuse_functions
from weighbridge.blueprints.class_rules import refuse_unfit
from weighbridge.blueprints.field_types import refuse_types
from weighbridge.blueprints.inner_classes import builders
from weighbridge.blueprints.learned_activations import with_learned_activations
from weighbridge.blueprints.other_files import unwrap
from weighbridge.blueprints.params_json import from_params_json, is_params_json
from weighbridge.blueprints.refused_kinds import refuse_kinds
from weighbridge.blueprints.refused_rotary import refuse_rotary
from weighbridge.blueprints.refused_values import is_suspicious, refuse_pairs, refuse_values, with_zeros
from weighbridge.blueprints.stated_type import architectures, refuse_deep, stated_type, type_of_published_code
from weighbridge.config.alias import TYPES, known_class
from weighbridge.config.bind import UNREADABLE, bind_with, with_overrides
from weighbridge.config.check import check_and_bind, unknown_keys
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import UndecidedError
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part, Tensor
from weighbridge.value import Description, ModelValue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PARAMS_JSON = mark("read from params.json of an original checkpoint as {name}, by whose names the tensors are called here")
OWN_CODE = mark("the code of {name} stands beside its files; its tensors are described as there, not held to a live class")
PACKAGES = {
    **dict.fromkeys(
        (name for name in MODULES if name.startswith("diffusers_")), mark("a class of the package diffusers, held to diffusers 0.42.1")
    ),
    "litgpt": mark("a class of the package litgpt, held to litgpt 0.5.13"),
    "open_clip": mark("a class of the package open_clip, held to open_clip_torch 3.3.0"),
    "megatron": mark("GPTModel of megatron-core with local layers, held to megatron-core 0.16.1"),
    "timm_convnext": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_fastvit": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_repvit": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_eva": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_swin": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_xcit": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_relpos": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_resnet": mark("a class of the package timm, held to timm 1.0.31"),
    "timm_vit": mark("a class of the package timm, held to timm 1.0.31"),
    **dict.fromkeys(
        ("gemma4_assistant", "gemma4_unified_assistant"),
        mark("transformers 5.23.0 refuses a model all of whose layers reuse keys; it is described as its code is without that check"),
    ),
    "nanogpt": mark("the class of karpathy/nanoGPT; its tensors are described as there, not held to a live class"),
}
"""What is said of types that are no types of the reference library, but have one class in a package of their own."""


def from_config(raw: dict[str, Any], source: str, model_class: str | None, overrides: Mapping[str, Any] | None) -> ModelValue:
    """Weigh a config by the blueprint of its model type."""
    refuse_deep(raw)
    original = is_params_json(raw)
    raw = from_params_json(raw) if original else dict(unwrap(raw))
    model_type, stated, notes = _find_type(raw, model_class, overrides or {})
    if original:
        notes = (*notes, Text(PARAMS_JSON, name=raw["architectures"][0]))
    known = _family(model_type, raw)
    asked = with_overrides(stated, overrides, known.fields) if overrides else stated
    stated, raw = _apply_overrides(known, stated, overrides or {})
    class_name = _class(known, raw, model_class)
    if class_name is None:
        assert model_class is not None
        return _weigh_inner_class(known, raw, source, model_class)
    notes = (*notes, *_code_notes(known, raw, class_name), *_argument_notes(known, stated, class_name))
    known = with_learned_activations(known, raw)
    if 0 in raw.values():
        known = known._replace(fields=with_zeros(model_type, known.fields, raw))
    if is_suspicious(raw):
        refuse_values(model_type, known.fields, raw, base=class_name == known.base)
    try:
        sizes, said, strangers = check_and_bind(known.fields, raw, known.ignored_keys, stated)
    except ConfigError:
        raise
    except AttributeError as error:  # a rule that asks a sub-config of another type than it knows
        raise ConfigError(Text("no {name} can be built from these values: {error}", name=class_name, error=error)) from None
    # Behind the fields, whose own refusals say more.
    refuse_types(model_type, asked)
    refuse_unfit(class_name, asked)
    refuse_kinds(model_type, class_name, asked)
    refuse_functions(model_type, class_name, sizes, asked)
    refuse_pairs(model_type, known.fields, sizes, asked)
    refuse_rotary(model_type, known.fields, sizes, asked)
    if is_remote(model_type):
        known = known._replace(remote=frozenset(known.classes))
    return ModelValue(
        source,
        "config",
        _tree(known, class_name, sizes),
        class_name=class_name,
        notes=(*notes, *said),
        description=Description(known, raw, sizes),
        unknown=strangers,
    )


def with_sizes(description: Description, class_name: str, changed: Mapping[str, Any]) -> tuple[Part, Config]:
    """Describe a config's class with other values under some of its keys; return its tree and what the config binds to.

    Raises:
        ConfigError: The config, so changed, makes no model.

    >>> from weighbridge import model
    >>> bert = model("bert-base-uncased")
    >>> with_sizes(bert.description, "BertModel", {"num_hidden_layers": 13})[1].layers
    13
    """
    known, raw, _ = description
    other, sizes = bind_with(known.fields, raw, changed)
    refuse_pairs(known.model_type, known.fields, sizes, other)
    return known.classes[class_name](sizes), sizes


def _find_type(raw: dict[str, Any], model_class: str | None, overrides: Mapping[str, Any]) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Return the model type, the config as one of that type, and notes on how the type was found."""
    notes: tuple[str, ...] = ()
    asked = with_overrides(raw, overrides) if overrides else raw
    model_type = asked.get("model_type")
    if not isinstance(model_type, str):
        model_type = (model_class and model_type_of(model_class)) or stated_type(asked)
        notes = tuple(_note_source(asked, model_class, model_type))
    elif (own := type_of_published_code(model_type, asked)) != model_type:
        return own, {**raw, "model_type": own}, notes
    means = None if model_type in MODULES else TYPES.get(model_type)
    if means is None:
        return model_type, raw, notes
    renamed = Text(
        "published as {name}, which is {model_type} ({source})", name=model_type, model_type=means.model_type, source=means.source
    )
    return means.model_type, {**means.read(raw), "model_type": means.model_type}, (*notes, renamed)


def _note_source(raw: Mapping[str, Any], model_class: str | None, model_type: str) -> Iterator[str]:
    """Say how the model type was found where a config states none; one of timm, diffusers or OpenCLIP names its model in its own way."""
    named = [name for name in (model_class, *architectures(raw)) if name and model_type_of(name) == model_type]
    if named:
        yield Text("the config states no model type; {name} is a class of {model_type}", name=named[0], model_type=model_type)
    elif model_type not in PACKAGES or model_type in ("litgpt", "megatron", "nanogpt"):
        yield Text("the config states no model type; its keys are those of {model_type}", model_type=model_type)


def _apply_overrides(known: Family, stated: dict[str, Any], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a config in the words of its family, and the same with the overrides."""
    if known.normalize_config is not None:
        stated = _normalize(known, stated)
    if not overrides:
        return stated, stated
    raw = with_overrides(stated, overrides, known.fields)
    if known.normalize_config is not None and _normalize(known, stated) == stated:
        raw = _normalize(known, raw)  # sizes that the class makes of others follow what is set
    _check_overrides(known, raw, overrides)
    return stated, raw


def _code_notes(known: Family, raw: Mapping[str, Any], class_name: str) -> Iterator[str]:
    """Yield notes on whose code a class is, where it is not the reference library's own."""
    model_type = known.model_type
    if model_type in PACKAGES:
        yield PACKAGES[model_type]
    elif is_remote(model_type):
        yield Text(OWN_CODE, name=model_type)
    if class_name in known.remote:
        yield Text(OWN_CODE, name=class_name)
    elif raw.get("auto_map") and not is_remote(model_type):
        yield Text("the config names code of its own (auto_map); what is counted is {name} of the reference library", name=class_name)


ARGUMENTS = ("add_pooling_layer", "use_mask_token")
"""Arguments of base classes that a config's file may name all the same."""


def _argument_notes(known: Family, stated: Mapping[str, Any], class_name: str) -> Iterator[str]:
    """Say of a key that is no key of the config, but an argument of the class, that it is counted as if it were passed."""
    if class_name != known.base or is_remote(known.model_type):
        return
    for key in ARGUMENTS:
        if type(stated.get(key)) is bool and any(field.key == key and field.default is not stated[key] for field in known.fields):
            yield Text(
                "{key} is an argument of {name}, which transformers does not read from a config; it is counted as passed",
                key=key,
                name=class_name,
            )


def _normalize(known: Family, raw: Mapping[str, Any]) -> dict[str, Any]:
    assert known.normalize_config is not None
    try:
        return known.normalize_config(raw)
    except ConfigError:
        raise
    except UNREADABLE as error:
        raise ConfigError(
            Text("this is not laid out like a config of {model_type}: {error}", model_type=known.model_type, error=error)
        ) from None


def _tree(known: Family, class_name: str, sizes: Config) -> Part:
    """Build a class; of values that no rule foresaw, such as a word among numbers, it is said that they cannot be meant."""
    try:
        tree = known.classes[class_name](sizes)
    except UndecidedError:
        raise
    except UNREADABLE as error:
        if isinstance(error, ConfigError) and error.key:
            raise
        raise ConfigError(Text("no {name} can be built from these values: {error}", name=class_name, error=error)) from None
    _check_sizes(tree, class_name)
    return tree


def _check_sizes(part: Part, class_name: str) -> None:
    """Refuse a tensor of less than nothing or of half an element: what follows from a value that is no size itself, such as a frame rate of -1."""
    for child in part[1]:  # part.children, by index as accounts/parameters.py reads them
        if type(child) is Tensor:
            for size in child[1]:  # child.shape
                if size < 0 if type(size) is int else type(size) in NO_SIZES:
                    raise ConfigError(
                        Text(
                            "no {name} can be built from these values: {error}", name=class_name, error=f"{child.name} {list(child.shape)}"
                        )
                    )
        elif type(child) is Part:
            repeat = child[3]  # child.repeat
            if repeat is not None and (repeat < 0 if type(repeat) is int else type(repeat) in NO_SIZES):
                raise ConfigError(
                    Text("no {name} can be built from these values: {error}", name=class_name, error=f"{repeat} × {child.name}")
                )
            _check_sizes(child, class_name)


NO_SIZES = (float, list, str)


def _family(model_type: str, raw: Mapping[str, Any]) -> Family:
    """Return the family of a type; for one that is not described, say where its code is, if the config names it."""
    try:
        return family(model_type)
    except UnknownArchitecture as error:
        code = _own_code(raw)
        if not code:
            raise
        hint = "only its weights can be counted: weigh a checkpoint, or --via transformers --trust-remote-code"
        raise UnknownArchitecture(
            Text("unknown model type {model_type!r}, whose code lies beside its files ({code})", model_type=model_type, code=code),
            key="model_type",
            value=model_type,
            hint=hint,
        ) from error


def _own_code(raw: Mapping[str, Any]) -> str:
    """Return the code that a config brings along, as its ``auto_map`` names it."""
    named = raw.get("auto_map")
    found = [value for value in named.values() if isinstance(value, str)] if isinstance(named, Mapping) else []
    return next((value for value in found if "modeling" in value), found[0] if found else "")


def _class(known: Family, raw: Mapping[str, Any], model_class: str | None) -> str | None:
    """Return the class to count, by the name the family has; None is a class of one of the sub-configs."""
    stated = model_class
    if stated is None:
        named = architectures(raw)
        if not named:
            return known.base
        stated = named[0]
    found = stated if stated in known.classes else known_class(stated, known.classes)
    if found is not None:
        return found
    if model_class is not None and builders(model_class, known.model_type, known.fields, raw)[1]:
        return None
    code, listed = _own_code(raw), Text("known: {names}", names=", ".join(known.classes))
    message = Text("no class {name!r} of model type {model_type!r}", name=stated, model_type=known.model_type)
    if model_class is None and code:
        # Code of its own under a known type's name: the nearest class would be counted, and be wrong (JinaBert is no BERT).
        message = Text("{what}, but code of its own ({code})", what=message, code=code)
        hint: str = Text("--class counts one of the library instead; {listed}", listed=listed)
    else:
        hint = why_undescribed(stated) or did_you_mean(stated, known.classes, typos=model_class is None) or listed
    raise UnknownArchitecture(message, key="architectures" if model_class is None else "class", value=stated, hint=hint)


def _weigh_inner_class(known: Family, raw: Mapping[str, Any], source: str, model_class: str) -> ModelValue:
    """Weigh a class of one of a config's sub-configs, such as the text half of CLIP."""
    model_type, (first, *others) = builders(model_class, known.model_type, known.fields, raw)
    own = {name: value for name, value in first.raw.items() if name != "architectures"}
    found = from_config({**own, "model_type": model_type}, source, model_class, None)
    notes = [Text("{name} is built from {key}; the whole config is one of {base}", name=model_class, key=first.path, base=known.base)]
    if others:
        notes.append(Text("{keys} would build another {name}", keys=", ".join(other.path for other in others), name=model_class))
    return found.replace(notes=(*found.notes, *notes))


def builders_in(raw: Mapping[str, Any], class_name: str) -> list[str]:
    """Return the key paths of the sub-configs that a class can be built from, the one that is counted first.

    >>> builders_in({"model_type": "clip"}, "CLIPTextModel")
    ['text_config']
    """
    known = family(raw["model_type"])
    return [inner.path for inner in builders(class_name, known.model_type, known.fields, raw)[1]]


def _sub_config_hint(known: Family, raw: Mapping[str, Any], key: str) -> Text | str:
    """Return where the sub-configs have this key, as a hint; the empty string where none has it."""
    declared = [outer.key for outer in known.fields if outer.key and any(key in (inner.key, *inner.aliases) for inner in outer.fields)]
    written = [outer for outer, inner in raw.items() if isinstance(inner, dict) and key in inner]
    places = [f"{outer}.{key}" for outer in dict.fromkeys((*declared, *written))]
    return Text("did you mean {places}?", places=" or ".join(places)) if places else ""


def _check_overrides(known: Family, raw: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
    """Refuse an override that would silently do nothing, and one of a size that the class makes of others, whatever is said of it."""
    for key, value in overrides.items():
        if type(value) is int and type(raw.get(key)) is int and raw[key] != value:
            raise ConfigError(Text("the class makes {size} of other keys, whatever is said here", size=raw[key]), key=key, value=value)
    strangers = unknown_keys(known.fields, raw, known.ignored_keys)
    for key in overrides:
        if key in strangers:
            keys = list(dict.fromkeys(name for field in known.fields for name in (field.key, *field.aliases) if name))
            raise ConfigError(
                Text("{model_type} has no such field", model_type=known.model_type),
                key=key,
                hint=_sub_config_hint(known, raw, key) or did_you_mean(key, keys) or Text("known: {keys}", keys=", ".join(keys)),
            )
