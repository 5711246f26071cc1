"""From a raw config to the sizes and switches a blueprint reads, with key paths in every error.

:func:`bind` turns a raw mapping into :class:`~weighbridge.config.fields.Config` by a family's table of fields.
"""

from __future__ import annotations

from weighbridge.config.fields import REFUSED, WHOLE, AtInit, Config, Field, SubConfig
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import Quantity, UndecidedError

if TYPE_CHECKING:
    from typing import Any

LARGEST = 10**15
"""No size of any model comes near this; what is larger is an error or an attack."""

LONGEST = 4096
"""Nor has any so many stages, strides or kinds."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a rule raises that meets a value of another type than any published config has; its own refusals are ConfigErrors."""


def bind(fields: tuple[Field, ...], raw: Mapping[str, Any], *, path: str = "", like: Config | None = None) -> Config:
    """Read *fields* out of *raw* into the sizes and switches a blueprint asks for.

    Args:
        fields: A family's table.
        raw: The config. Values of sizes may also be symbols or columns.
        path: Key path of *raw* inside the whole config, for messages.
        like: Sizes bound before, whose switches, choices and lists are taken as they are; the
            way to bind symbols or columns in place of ints.

    Raises:
        ConfigError: A value of the wrong type, or an impossible size.

    >>> from weighbridge.config.fields import size
    >>> bind((size("hidden", "hidden_size", 768, "H", "hidden size"),), {"hidden_size": 384}).hidden
    384
    """
    result = Config()
    values = result.__dict__
    for field in fields:
        kind = field.kind
        if like is not None and kind not in ("size", "derived", "nested", "labels"):
            values[field.word] = like.__dict__[field.word]
            continue
        # A fact has no key, and an empty key in a config is nobody's.
        value = raw.get(field.key) if field.key else None
        if field.aliases and kind != "derived":
            if (other := alias_value(field, raw)) is not None:
                value = other
            elif kind == "switch" and any(alias in raw for alias in field.aliases):
                value = None  # a null under another name is put in its place, too, and switches off
        if value is None and type(field.default) is AtInit and (before := without_aliases(fields, raw)) is not raw:
            value = _default_at_init(fields[: fields.index(field) + 1], before, path)
        if kind == "size":
            if value is None:
                if field.key in raw and (field.nullable or field.null is not None):
                    value = None if field.null is None else _of_null(fields[: fields.index(field) + 1], raw, result, path)
                else:
                    value = _default_of(field, result, path)
            elif type(value) is str and value == "auto" and callable(field.default):
                value = field.default(result)
            elif type(value) is not int or not field.minimum <= value <= LARGEST:
                value = _check_size(field, value, path)
        elif kind == "derived":
            try:
                value = _default_of(field, result, path)
            except ConfigError as error:
                values.setdefault(REFUSED, {})[field.word] = error.inside(path[:-1]) if path else error
                continue
        elif kind == "nested":
            value = _bind_nested(field, raw, path, like)
        elif kind == "labels":
            value = _labels(field, value, raw, path)
        elif value is None and field.default is True and is_nulled(field, raw):
            value = False
        elif value is not None or not field.nullable or field.key not in raw:
            value = _bind_concrete(field, value, result, path)
        values[field.word] = value
    return result


def find_sub_config(field: Field, raw: Mapping[str, Any], path: str = "") -> SubConfig | None:
    """Find how the sub-config of a ``nested`` field is to be read; None is one that may be absent, and is.

    Raises:
        ConfigError: It is no mapping, or of a model type that no blueprint describes.

    >>> from weighbridge.config.fields import nested
    >>> find_sub_config(nested("text", "text_config", ()), {"text_config": {"hidden_size": 8}}).raw
    {'hidden_size': 8}
    """
    value = raw.get(field.key)
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(Text("expected an object, found {what}", what=say_value(value)), key=path + field.key, value=value)
    if field.resolve is not None:
        return field.resolve(value, path + field.key)
    return SubConfig({} if value is None else value, field.fields)


def is_nulled(field: Field, raw: Mapping[str, Any]) -> bool:
    """Tell whether an explicit null turns off a switch that is on by default; the reference reads null as false.

    >>> from weighbridge.config.fields import switch
    >>> is_nulled(switch("biased", "bias", True), {"bias": None}), is_nulled(switch("biased", "bias", True), {})
    (True, False)
    """
    if field.kind != "switch" or field.default is not True or field.nullable:
        return False
    return any(key in raw for key in (field.key, *field.aliases) if key)


def with_overrides(raw: Mapping[str, Any], overrides: Mapping[str, Any] | None, fields: tuple[Field, ...] = ()) -> dict[str, Any]:
    """Return *raw* with *overrides* put in, where a dotted key reaches into a sub-config.

    Of one of the *fields*, the names that would win over the one that is set are left out.

    >>> with_overrides({"text_config": {"hidden_size": 1}}, {"text_config.hidden_size": 2})
    {'text_config': {'hidden_size': 2}}
    >>> from weighbridge.config.fields import size
    >>> with_overrides({"num_hidden_layers": 12}, {"n_layer": 6}, (size("layers", "n_layer", 12, "L", "", "num_hidden_layers"),))
    {'n_layer': 6}
    """
    result = dict(raw)
    for key, value in (overrides or {}).items():
        target, known, path = result, fields, ""
        *parents, last = key.split(".")
        for parent in parents:
            field = next((field for field in known if field.key == parent and field.kind == "nested"), None)
            inside = find_sub_config(field, target, path) if field is not None else None
            known, path = inside.fields if inside is not None else (), f"{path}{parent}."
            inner = target.get(parent)
            target[parent] = dict(inner) if isinstance(inner, Mapping) else {}
            target = target[parent]
        for field in known:
            if field.kind != "derived" and last in (field.key, *field.aliases):
                for name in field.aliases:
                    target.pop(name, None)
        target[last] = value
    return result


def bind_with(fields: tuple[Field, ...], raw: Mapping[str, Any], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], Config]:
    """Return *raw* with *overrides* put in, and the same bound.

    >>> from weighbridge.config.fields import size
    >>> changed, bound = bind_with((size("layers", "n_layer", 12, "L", ""),), {}, {"n_layer": 6})
    >>> changed, bound.layers
    ({'n_layer': 6}, 6)
    """
    changed = with_overrides(raw, overrides, fields)
    return changed, bind(fields, changed)


def without_key(raw: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return *raw* without one key, which a dotted path names.

    >>> without_key({"a": 1, "text_config": {"b": 2, "c": 3}}, "text_config.b")
    {'a': 1, 'text_config': {'c': 3}}
    """
    head, _, rest = path.partition(".")
    if not rest:
        return {key: value for key, value in raw.items() if key != head}
    inner = raw.get(head)
    return {**raw, head: without_key(inner, rest)} if isinstance(inner, Mapping) else dict(raw)


def without_aliases(fields: tuple[Field, ...], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *raw* as a config class has it while it derives its defaults: without the other names of its fields.

    It is *raw* itself where there are none.
    """
    late = {
        alias
        for field in fields
        if field.aliases and field.kind not in ("derived", "nested")
        for alias in field.aliases
        if raw.get(alias) is not None
    }
    return {key: value for key, value in raw.items() if key not in late} if late else raw


def alias_value(field: Field, raw: Mapping[str, Any]) -> Any:
    """Return what a field's other names say, or None: the config class sets them after its own attributes, in the config's order.

    Raises:
        ConfigError: A size with a decimal point, which the class takes under these names and then fails on.
    """
    if len(field.aliases) == 1:
        found = raw.get(field.aliases[0])
    else:
        given = [raw[key] for key in raw if key in field.aliases and raw[key] is not None]
        found = given[-1] if given else None
    if type(found) is float and field.kind == "size":
        raise _not_whole(field, found, "")
    return found


def _of_null(fields: tuple[Field, ...], raw: Mapping[str, Any], so_far: Config, path: str) -> Any:
    """Return what the last field's null stands for; where the class derives that as it is made, before its aliases are in their place."""
    field = fields[-1]
    assert field.null is not None
    if type(field.null) is not AtInit or (before := without_aliases(fields, raw)) is raw:
        return field.null(so_far)
    return _default_at_init((*fields[:-1], field._replace(default=field.null, null=None)), without_key(before, field.key), path)


def _default_at_init(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str) -> Any:
    """Return the last field's default as the class derives it, before its aliases are in their place.

    Quotients that only the finished config has to make whole are left out, unless the default is computed from them.
    """
    try:
        return getattr(bind(tuple(field for field in fields if field.kind != "derived"), raw, path=path), fields[-1].word)
    except AttributeError:
        return getattr(bind(fields, raw, path=path), fields[-1].word)


def _default_of(field: Field, so_far: Config, path: str) -> Any:
    default = field.default
    if not callable(default):
        return default
    try:
        return default(so_far)
    except ConfigError as error:
        if error.key:
            raise
        keys = [path + key for key in (field.aliases if field.kind == "derived" else (field.key,)) if key]
        whole = Text("{error}, so {word} is not a whole number; change one of them", error=error, word=field.word)
        raise ConfigError(_not_divisible(error, keys, so_far) or whole, key=" and ".join(keys), value=error.value) from None
    except UndecidedError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # A rule meets what no model has: an empty list, a divisor of 0, a word where a number belongs.
        keys = [path + key for key in (field.aliases if field.kind == "derived" else (field.key,)) if key]
        text = Text("{word} cannot be computed from the other fields: {error}", word=field.word, error=error)
        raise ConfigError(text, key=" and ".join(keys)) from None


def _not_divisible(error: ConfigError, keys: list[str], so_far: Config) -> str:
    """Say which field is not divisible by which, ``hidden_size (770) is not divisible by num_attention_heads (12)``, where that is clear."""
    values = getattr(error.message, "values", {})
    given = list(vars(so_far).values())
    if len(keys) != 2 or set(values) != {"numerator", "denominator"} or not all(value in given for value in values.values()):
        return ""
    return Text(
        "{first} ({numerator:,}) is not divisible by {second} ({denominator:,}); change one of them",
        first=keys[0],
        second=keys[1],
        **values,
    )


def _check_size(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, Quantity):
        return value
    key = path + field.key
    if field.read is not None and isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise ConfigError("expected a whole number, or two: height and width", key=key, value=value)
        value = _read(field, value, path)
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _not_whole(field, value, path)
    if value < field.smallest:
        raise ConfigError(
            Text("{value} is not possible, the smallest is {minimum}", value=value, minimum=field.smallest),
            key=key,
            value=value,
            hint=Text("the class default is {shown}", shown=_show_default(field)),
        )
    if value > LARGEST:
        raise _size_error(value, key)
    return value


def _not_whole(field: Field, value: Any, path: str) -> ConfigError:
    return ConfigError(
        Text("expected a whole number, found {what}", what=say_value(value)),
        key=path + field.key,
        value=value,
        hint=Text("the class default is {shown}", shown=_show_default(field)),
    )


def say_value(value: object) -> str:
    """Describe a config's value in JSON's words.

    >>> say_value("768"), say_value([768]), say_value(True), say_value(None), say_value(1.5)
    ("the string '768'", 'the list [768]', 'true', 'null', '1.5')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return Text("the string {shown}", shown=f"{value!r:.60}")
    if isinstance(value, (list, tuple)):
        return Text("the list {shown}", shown=f"{value!r:.60}")
    if isinstance(value, Mapping):
        return Text("an object")
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
    return f"{value!r:.60}" if isinstance(value, int) else f"{type(value).__name__} {value!r:.60}"


def _show_default(field: Field) -> object:
    return mark("derived from other fields") if callable(field.default) else field.default


def _labels(field: Field, value: Any, raw: Mapping[str, Any], path: str) -> Any:
    if value is not None:
        return _check_size(field, value, path)
    names = raw.get("id2label")
    if names is None:
        return field.default
    if not isinstance(names, (Mapping, list)) or (not names and isinstance(names, list)):
        raise ConfigError("expected a mapping from index to label", key=path + "id2label", value=names)
    return len(names)


def _bind_nested(field: Field, raw: Mapping[str, Any], path: str, like: Config | None) -> Config | None:
    here = path + field.key
    try:
        inner = find_sub_config(field, raw, path)
        if inner is None:
            return None
        bound = bind(inner.fields, inner.raw, path=f"{here}.", like=None if like is None else getattr(like, field.word))
    except ConfigError as error:
        raise error.inside(here) from None
    if inner.model_type:
        bound.__dict__.update(model_type=inner.model_type, path=here)
    if inner.refused is not None:
        bound.__dict__[REFUSED] = {WHOLE: inner.refused}
    return bound


def _bind_concrete(field: Field, value: Any, so_far: Config, path: str) -> Any:
    if value is None:
        value = _default_of(field, so_far, path)
    elif field.kind == "switch" and type(value) is not bool:
        if isinstance(value, (int, float)):
            return bool(value)  # as Python reads it; a class that declares true or false has refused other numbers
        raise ConfigError(Text("expected true or false, found {value!r:.60}", value=value), key=path + field.key, value=value)
    elif field.kind == "sequence" and not isinstance(value, (list, tuple)):
        raise ConfigError(Text("expected a list, found {what}", what=say_value(value)), key=path + field.key, value=value)
    elif type(value) is int and abs(value) > LARGEST:
        raise _size_error(value, path + field.key)
    elif field.kind == "sequence" and len(value) > LONGEST:
        raise ConfigError(
            Text("no model has a list of {count:,} entries", count=len(value)),
            key=path + field.key,
            hint=Text("the longest accepted is {longest:,}", longest=LONGEST),
        )
    return value if field.read is None else _read(field, value, path)


def _read(field: Field, value: Any, path: str) -> Any:
    """Turn a raw value into what the blueprint sees; a value of the wrong type, such as a word for a list, is refused."""
    assert field.read is not None
    try:
        return field.read(value)
    except (ConfigError, UndecidedError):
        raise
    except UNREADABLE as error:
        raise ConfigError(
            Text("{value!r:.60} is not a value this field can take: {error}", value=value, error=error), key=path + field.key, value=value
        ) from None


def _size_error(value: int, key: str) -> ConfigError:
    return ConfigError(
        Text("no model has a size of {bit_length} bits", bit_length=value.bit_length()),
        key=key,
        value=value,
        hint=Text("the largest accepted is {largest:,}", largest=LARGEST),
    )
