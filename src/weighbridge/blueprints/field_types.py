"""What the reference's config classes take under each key: whole numbers, words, lists of either; anything else they refuse at sight.

The classes are strict dataclasses, which check every key that they declare, whether or not a tensor depends on it (``field_types.txt``,
written by ``python -m truth.field_types``). A key that a class does not declare may hold anything, and so may one that is given by
another of its names (``attribute_map``). Types whose code stands elsewhere are not checked.
"""

from __future__ import annotations

from weighbridge.blueprints.class_rules import refuse_unfit
from weighbridge.blueprints.refused_rotary import UNKNOWN, is_refused
from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text, join_with_or, mark
from weighbridge.core.sizes import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PATH = __file__.removesuffix(".py") + ".txt"
LEGACY_KINDS = frozenset(("attention", "deepseek_sparse_attention", "mamba", "qwen_sparse_attention"))
"""Older names of kinds of layers, which the reference renames before it checks them."""
KINDS = {
    "layer_types": frozenset(
        """full_attention sliding_attention chunked_attention window_attention indexed_attention compressed_sparse_attention
        heavily_compressed_attention minimax_m3_sparse conv moe hybrid hybrid_sliding reference_sliding_attention linear_attention""".split()
    )
    | LEGACY_KINDS,
    "mlp_layer_types": frozenset(("sparse", "dense")),
}
"""The kinds of layers that a list may name (transformers 5.23.0, configuration_utils.py)."""


class Declared(NamedTuple):
    """What a config class declares.

    Attributes:
        keys: By key, the types that it takes at once, and the kind of value in whole.
        inner: By the key of a sub-config, its class behind a colon, or the model type that is meant where it names none.
        lists: The lists of layer kinds whose entries (``!``) or length (``#``) the class checks; ``axial`` where
            positions turn on axes alone; ``named`` where a backbone states its model type, ``named:key`` where another sub-config does;
            ``-key`` what the class works out by itself;
            ``rules`` where it has some (:mod:`weighbridge.blueprints.class_rules`); ``unlisted`` where it checks kinds of layers without declaring any;
            ``lacks:key`` where it has nothing under a key that sets of rotary parameters ask for.
        name: The class.
        merged: By the key of a sub-config: what the class puts beside the values that it states.
        layers: ``NAMES=N``: by which names it is told how many layers it has, the first that is given first, and how many by default.
    """

    keys: Mapping[str, tuple[frozenset[type], str]]
    inner: Mapping[str, str]
    lists: tuple[str, ...]
    name: str = ""
    layers: str = ""
    merged: Mapping[str, Mapping[str, Any]] = {}


def refuse_types(model_type: str, raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse what the reference's config class of a type does not take, in sub-configs as well.

    Raises:
        ConfigError: A value of another kind than the class declares.

    >>> refuse_types("bert", {"hidden_size": 768, "hidden_dropout_prob": "0.1"})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: hidden_dropout_prob: expected a number, found the string '0.1'
    """
    for part, key in SET_BY_OUTER.get(model_type, ()):
        inside = raw.get(part)
        if isinstance(inside, dict) and inside.get(key, 0) is None:
            raw = {**raw, part: {name: value for name, value in inside.items() if name != key}}
    _refuse((model_type, ""), _of_type(model_type), raw, path)


def usual_sub_config(model_type: str, raw: Mapping[str, Any], parents: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return a sub-config by the keys around it, or None where there is none, or one of another model type than usual.

    >>> usual_sub_config("llava", {"text_config": {"model_type": "mistral"}}, ("text_config",))
    >>> usual_sub_config("llava", {"text_config": {"model_type": "llama"}}, ("text_config",))
    {'model_type': 'llama'}
    """
    declared = _of_type(model_type)
    for parent in parents:
        inner = raw.get(parent)
        if type(inner) is not dict:
            return None
        raw, stands = inner, declared.inner.get(parent, "")
        if stands[:1] != ":" and raw.get("model_type", stands) != stands:
            return None
        declared = _of_class(stands[1:]) if stands[:1] == ":" else _of_type(stands)
    return raw


SET_BY_OUTER = {"depth_pro": tuple((f"{part}_model_config", "image_size") for part in ("image", "patch", "fov"))}
"""What an outer class sets in its sub-configs whatever these say, be it null."""


def _refuse(asked: tuple[str, str], declared: Declared, raw: Mapping[str, Any], path: str) -> None:
    """Refuse what a class does not take; of rotary positions *asked* says the model type that was asked, and the path within it."""
    keys, inner = declared.keys, declared.inner
    for key, value in raw.items():
        kind = keys.get(key)
        if kind is not None and type(value) not in kind[0] and not takes(kind[1], value):
            raise ConfigError(
                Text("expected {what}, found {found}", what=_say_kind(kind[1]), found=say_value(value)), key=path + key, value=value
            )
        if type(value) is dict and (stands := inner.get(key)) is not None:
            if key == "backbone_config" and "named" in declared.lists and "model_type" not in value:
                raise ConfigError("a backbone states its model type", key=f"{path}{key}.model_type")
            if f"named:{key}" in declared.lists and "model_type" not in value:
                raise ConfigError("the class wants the model type of this config to be stated", key=f"{path}{key}.model_type")
            named = value.get("model_type", stands)
            inside = _of_class(stands[1:]) if stands[:1] == ":" else _of_type(named)
            beside = declared.merged.get(key, {})
            _refuse(_whose_rotary(asked, key, stands, named), inside, {**beside, **value} if beside else value, f"{path}{key}.")
    if keys:
        _refuse_labels(raw, path)
        _refuse_attributes(declared, raw, path)
        _refuse_rotary(asked, declared, raw, path)
        if "rules" in declared.lists:
            refuse_unfit(declared.name, raw, path)
    if "layer_types" in raw or "mlp_layer_types" in raw:
        undeclared = ("layer_types!", "layer_types#") if "unlisted" in declared.lists else ()
        for checked in (*declared.lists, *undeclared):
            if isinstance(raw.get(checked[:-1]), (list, tuple)):
                _refuse_list(checked, declared, raw, path)


def _whose_rotary(asked: tuple[str, str], key: str, stands: str, named: Any) -> tuple[str, str]:
    """Return the model type that was asked about the rotary positions of a sub-config: the outer one, unless it is of another type than usual."""
    model_type, path = asked
    if stands[:1] == ":" or named == stands:
        return model_type, f"{path}{key}."
    strict = is_refused(model_type, f"{path}{key}.rope_parameters", UNKNOWN)
    return (named, "") if strict and isinstance(named, str) else ("", "")


def takes(kind: str, value: Any) -> bool:
    """Say whether a kind of value includes this one.

    >>> [takes("int|[int]|null", value) for value in (3, [3, 4], None, 3.0, True, ["a"])]
    [True, True, True, False, False, False]
    >>> takes("float<0..1>", 1.5), takes('"mean"|"cls"', "mean"), takes("null|{full,sliding}", {"full": {}, "type": "yarn"})
    (False, True, False)
    """
    simple = _NAMES.get(type(value))
    if simple is None:
        return isinstance(value, Quantity) or type(value).__module__ not in ("builtins", "collections")
    for word in kind.split("|") if "[" not in kind else _split(kind):
        if word == simple or word == "any" or (simple == "list" and word[:1] == "[" and all(takes(word[1:-1], entry) for entry in value)):
            return True
        if word[-1:] == ">" and _is_within(word, simple, value):
            return True
        if word[:1] == "{" and simple == "object" and all(key in word[1:-1].split(",") for key in value):
            return True
        if word[:1] == '"' and simple == "str" and word[1:-1] == value:
            return True
    return False


_NAMES = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null", list: "list", tuple: "list", dict: "object"}


def _split(kind: str) -> list[str]:
    """Split a kind where it names another one, outside of brackets."""
    words, depth = [""], 0
    for letter in kind:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "|" and not depth:
            words.append("")
        else:
            words[-1] += letter
    return words


def _is_within(word: str, simple: str, value: Any) -> bool:
    name, _, bounds = word[:-1].partition("<")
    low, _, high = bounds.partition("..")
    return name == simple and (value is None or (float(low) <= value and (not high or value <= float(high))))


def _refuse_labels(raw: Mapping[str, Any], path: str) -> None:
    """Refuse labels that every config class of the library refuses."""
    names, labels = raw.get("id2label"), raw.get("num_labels")
    if "num_labels" in raw and not isinstance(labels, (int, Quantity)):
        raise ConfigError(Text("expected a whole number, found {what}", what=say_value(labels)), key=f"{path}num_labels", value=labels)
    if names is not None and not isinstance(names, dict):
        raise ConfigError("expected a mapping from index to label", key=f"{path}id2label", value=names)
    if isinstance(names, dict):
        labels = len(names)
        strange = next((name for name in names if isinstance(name, str) and not name.strip().lstrip("+-").isdecimal()), None)
        if strange is not None:
            raise ConfigError("expected a mapping from index to label", key=f"{path}id2label", value=strange)
    if labels == 1 and raw.get("problem_type") == "single_label_classification":
        raise ConfigError("a single label is one of two or more", key=f"{path}problem_type", value=raw["problem_type"])


DTYPES = frozenset(
    """bfloat16 bool cdouble cfloat complex128 complex32 complex64 double float float16 float32 float4_e2m1fn_x2 float64 float8_e4m3fn
    float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu half int int16 int32 int64 int8 long short uint16 uint32 uint64 uint8""".split()
)
"""The names of torch's number formats, by which a config says what its weights are saved in (torch 2.13.0)."""
READ_ONLY = ("is_heterogeneous", "per_layer_attributes", "use_return_dict")
"""What every config class works out by itself."""


def _refuse_attributes(declared: Declared, raw: Mapping[str, Any], path: str) -> None:
    """Refuse what a config class cannot take beside the keys that it declares: what it works out by itself, and what it reads of any config."""
    for key in (*READ_ONLY, *(word[1:] for word in declared.lists if word[:1] == "-")):
        if key in raw and key not in declared.keys:
            raise ConfigError("the class works it out by itself, and refuses to be given it", key=path + key, value=raw[key])
    dtype = raw.get("torch_dtype") if raw.get("dtype") is None else raw["dtype"]
    if isinstance(dtype, str) and dtype.removeprefix("torch.") not in DTYPES:
        raise ConfigError(
            Text("{found} is no number format; such as {known}", found=say_value(dtype), known="bfloat16, float16, float32"),
            key=f"{path}dtype",
            value=dtype,
        )
    if raw.get("output_attentions") and raw.get("attn_implementation") not in (None, "eager"):
        raise ConfigError("attention that is given out is computed eagerly", key=f"{path}output_attentions", value=True)
    for key in ("layer_types", "mtp_layer_types", "rope_parameters", "rope_scaling"):
        value = raw.get(key)
        rotary = key.startswith("rope")
        if (
            key not in declared.keys
            and (isinstance(value, (bool, int, float)) or (rotary and isinstance(value, str)))
            and (value or not rotary)
        ):
            kind = "object|null" if rotary else "list|null"
            raise ConfigError(
                Text("expected {what}, found {found}", what=_say_kind(kind), found=say_value(value)), key=path + key, value=value
            )


NEEDED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}
"""By the type of rotary positions: what must be said of it (transformers 5.23.0, modeling_rope_utils.py)."""


BOUNDED = frozenset(("yarn", "longrope", "llama3"))
"""Types of rotary positions that want to know how many positions a model was trained with."""


def _refuse_rotary(asked: tuple[str, str], declared: Declared, raw: Mapping[str, Any], path: str) -> None:
    """Refuse rotary positions that lack a number which their type needs, or whose type the classes do not know (some know axial ones alone)."""
    key = "rope_scaling" if raw.get("rope_scaling") else "rope_parameters"
    stated = raw.get(key)
    if type(stated) is not dict or not stated:
        return
    named = stated.get("rope_type", stated.get("type", "default"))
    known = "rope_parameters" in declared.keys
    if known and "axial" in declared.lists and named not in ("default", "axial"):
        raise ConfigError(Text("only {types} is described here", types=join_with_or(("default", "axial"))), key=f"{path}{key}", value=named)
    for needed in (*NEEDED.get(str(named), ()), *_needed_beside(str(named), declared, raw, key)):
        if needed not in stated:
            raise ConfigError(
                Text("rotary positions of the type {type} need {key}", type=named, key=needed), key=f"{path}{key}", value=named
            )
    for needed in _needed_around(str(named), declared, raw, key):
        raise ConfigError(
            Text("rotary positions of the type {type} need {key}", type=named, key=path + needed), key=f"{path}{key}", value=named
        )
    nested = any(isinstance(inner, dict) for inner in stated.values())  # a set for each kind of layer
    if known and not nested and is_refused(asked[0], asked[1] + key, str(named)):
        raise ConfigError(Text("the class knows no rotary positions of the type {type}", type=named), key=f"{path}{key}", value=named)


def _needed_beside(named: str, declared: Declared, raw: Mapping[str, Any], key: str) -> Iterator[str]:
    """Yield what a set of rotary parameters must say as well, since the config's class does not put it there."""
    if named in BOUNDED and not _completes(declared, raw, key):
        yield "original_max_position_embeddings"
        if named == "llama3":
            yield "rope_theta"


def _needed_around(named: str, declared: Declared, raw: Mapping[str, Any], key: str) -> Iterator[str]:
    """Yield the keys that a class must have for a type of rotary positions, and has not."""
    asked = ("hidden_size", "num_attention_heads") if named == "longrope" else ()
    if named == "yarn" or (named in BOUNDED and _completes(declared, raw, key) and "original_max_position_embeddings" not in raw):
        asked = ("max_position_embeddings", *asked)
    yield from (key for key in asked if f"lacks:{key}" in declared.lists and raw.get(key) is None)


def _completes(declared: Declared, raw: Mapping[str, Any], key: str) -> bool:
    """Say whether a class completes a set of rotary parameters: one that declares them does, others where an older file states both its keys."""
    return "rope_parameters" in declared.keys or bool(key == "rope_scaling" and raw.get("rope_theta"))


def _refuse_list(checked: str, declared: Declared, raw: Mapping[str, Any], path: str) -> None:
    """Refuse a list of layer kinds with a strange entry, or of another length than there are layers."""
    key, kinds = checked[:-1], raw[checked[:-1]]
    if checked[-1] == "!":
        strange = next((kind for kind in kinds if kind not in KINDS[key]), None)
        if strange is not None:
            raise ConfigError(
                Text("{strange!r:.40} is no kind of layer; known: {known}", strange=strange, known=", ".join(sorted(KINDS[key]))),
                key=path + key,
                value=kinds,
            )
    layers, further = _layers(declared, raw), raw.get("num_nextn_predict_layers")
    if type(layers) is int and type(further) is int and len(kinds) == layers + further:
        return  # Step 3.7 states the kinds of the layers that predict further tokens as well
    if checked[-1] == "#" and type(layers) is int and layers != len(kinds):
        found = Text("{count:,} entries", count=len(kinds))
        raise ConfigError(
            Text("expected the kind of each of {layers} layers, found {found}", layers=layers, found=found), key=path + key, value=kinds
        )


def _layers(declared: Declared, raw: Mapping[str, Any]) -> Any:
    """Return how many layers a config has, by whatever name, or its class by default."""
    names, _, usual = (declared.layers or "num_hidden_layers").partition("=")
    return next((raw[name] for name in names.split("|") if raw.get(name) is not None), int(usual) if usual else None)


_WORDS = {
    "int": mark("a whole number"),
    "float": mark("a number with a decimal point"),
    "number": mark("a number"),
    "bool": mark("true or false"),
    "str": mark("a word"),
    "null": mark("null"),
    "list": mark("a list"),
    "object": mark("an object"),
}


def _say_kind(kind: str) -> str:
    """Describe a kind of value in JSON's words.

    >>> _say_kind("int|float|null"), _say_kind("[int]|null"), _say_kind("float<0..1>")
    ('a number or null', 'a list or null', 'a number with a decimal point from 0 to 1')
    """
    words = _split(kind)
    said: list[str] = []
    for word in words:
        if word in ("int", "float") and {"int", "float"} <= set(words):
            word = "number"
        name, _, bounds = word.rstrip(">").partition("<")
        said_as = _WORDS[{"[": "list", "{": "object"}.get(word[:1], name)] if word[:1] != '"' else ""
        text: str = Text(said_as) if said_as else word
        if bounds:
            low, _, high = bounds.partition("..")
            text = (
                Text("{what} from {low} to {high}", what=text, low=low, high=high)
                if high
                else Text("{what} from {low}", what=text, low=low)
            )
        if text not in said:
            said.append(text)
    return join_with_or(said)


_NOTHING = Declared({}, {}, ())
_CLASSES: dict[str, Declared] = {}
_TYPES: dict[str, Declared] = {}


def _of_type(model_type: Any) -> Declared:
    found = _TYPES.get(model_type) if isinstance(model_type, str) else _NOTHING
    if found is None:
        name = find_line(PATH, f"{model_type} = ")
        found = _TYPES[model_type] = _of_class(name) if name else _NOTHING
    return found


def declared_keys() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield every model type with the keys that its config class declares."""
    with open(PATH, encoding="utf-8") as file:
        lines = [line.rstrip("\n").partition(" = ") for line in file]
    for model_type, stated, class_name in lines:
        if stated and " " not in class_name:
            yield model_type, frozenset(_of_class(class_name).keys)


def _of_class(name: str) -> Declared:
    found = _CLASSES.get(name)
    if found is None:
        found = _CLASSES[name] = _read(find_line(PATH, f"{name}:"), name)
    return found


def _read(line: str, name: str) -> Declared:
    keys: dict[str, tuple[frozenset[type], str]] = {}
    inner: dict[str, str] = {}
    merged: dict[str, Mapping[str, Any]] = {}
    lists: tuple[str, ...] = ()
    layers = ""
    for part in line.split("; ")[1:]:
        kind, *names = part.split(" ")
        if kind == "@":
            inner = dict(name.partition("+")[0].split("=") for name in names)
            merged = {name.partition("=")[0]: _as_values(name.partition("+")[2]) for name in names if "+" in name}
        elif kind == "#":
            lists = tuple(word for word in names if word[:7] != "layers=")
            layers = next((word[7:] for word in names if word[:7] == "layers="), "")
        else:
            simple = frozenset(type_ for type_, name in _NAMES.items() if name in _split(kind))
            keys.update(dict.fromkeys(names, (simple, kind)))
    return Declared(keys, inner, lists, name, layers, merged)


def _as_values(text: str) -> dict[str, Any]:
    values: dict[str, Any] = eval(text, {"__builtins__": {}})  # the file is the package's own
    return values
