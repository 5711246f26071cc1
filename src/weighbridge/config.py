"""From a raw config to the sizes and switches a blueprint reads, with key paths in every error.

A family lists its fields once: our word, the config's key, the default of the reference class, the
paper's letter. :func:`bind` turns a raw mapping into :class:`Sizes`. *Sizes* may be ints, symbols
or columns; everything else (switches, choices, lists of layer kinds) is concrete, and only those
may be branched on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from weighbridge.errors import ConfigError
from weighbridge.records import TYPE_CHECKING, NamedTuple
from weighbridge.sizes import Quantity

if TYPE_CHECKING:
    from typing import Any, TypeAlias

LARGEST = 10**15
"""No size of any model comes near this; what is larger is a slip or an attack."""


class Sizes:
    """What a blueprint reads: one attribute per field, named by our word.

    >>> Sizes(hidden=768).hidden
    768
    """

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, word: str) -> Any:
        raise AttributeError(f"the blueprint asks for {word!r}, which its family's fields do not name")


Default: TypeAlias = "int | bool | float | str | list[Any] | Callable[[Sizes], Any] | None"


class Field(NamedTuple):
    """One entry of a family's table of fields; write it with :func:`size`, :func:`switch` and so on.

    Attributes:
        word: Our word, the same in every family.
        key: The config's key.
        default: What the reference class takes when the key is absent or null; a function of the
            fields above it where it is derived.
        kind: ``size``, ``switch``, ``choice``, ``listed``, ``derived`` or ``nested``.
        letter: The paper's letter, for sizes.
        meaning: What it is, in a few words, for the table of symbols.
        aliases: Other keys of the same field.
        minimum: The smallest value that can be meant.
        read: Turns the raw value into the one the blueprint sees (for switches told by a size); for a size, picks
            its own out of a list of height and width.
        fields: For ``nested``, the fields of the sub-config.
        null: What an explicit null means, told from the fields above, where it is not the default.
        resolve: For ``nested`` whose type the sub-config states: what finds its fields, from its value and key path.
        silent: Not reported as defaulted when absent (an argument of the class, not of the config).
        nullable: Whether an explicit null means that there is none, and only an absent key the default.
    """

    word: str
    key: str
    default: Default = None
    kind: str = "size"
    letter: str = ""
    meaning: str = ""
    aliases: tuple[str, ...] = ()
    minimum: int = 1
    read: Callable[[Any], Any] | None = None
    fields: tuple[Field, ...] = ()
    silent: bool = False
    nullable: bool = False
    resolve: Callable[[Any, str], Inner | None] | None = None
    null: Callable[[Sizes], Any] | None = None


class Inner(NamedTuple):
    """A sub-config and how it is to be read.

    Attributes:
        raw: What it says; where it is absent, what the outer class puts there.
        fields: Its table of fields.
        neutral: Further keys of it that change no tensor.
        model_type: Whose fields these are, if it is a model of its own.
    """

    raw: Mapping[str, Any]
    fields: tuple[Field, ...]
    neutral: frozenset[str] = frozenset()
    model_type: str = ""


def size(word: str, key: str, default: Default, letter: str, meaning: str, *aliases: str, minimum: int = 1) -> Field:
    """Declare a size: an int from *minimum* up, which may also be a symbol or a column.

    >>> size("hidden", "hidden_size", 768, "H", "hidden size").kind
    'size'
    """
    return Field(word, key, default, "size", letter, meaning, aliases, minimum)


def sides(word: str, key: str, default: int | tuple[int, int], letter: str, meaning: str, *aliases: str) -> tuple[Field, Field]:
    """Declare the height and the width of an image, a patch or a kernel: one whole number for both, or a list of the two.

    >>> sizes = bind(sides("image", "image_size", 224, "R", "side of the image"), {"image_size": [512, 864]})
    >>> sizes.image_height, sizes.image_width
    (512, 864)
    """

    def side(position: int) -> Field:
        own: Default = (lambda c: default[position]) if isinstance(default, tuple) else default
        name = f"{word}_{('height', 'width')[position]}"
        return Field(name, key, own, "size", letter, meaning, aliases, read=lambda pair: pair[position], silent=position == 1)

    return side(0), side(1)


def switch(word: str, key: str, default: Default, *aliases: str, silent: bool = False) -> Field:
    """Declare a switch: true or false, always concrete."""
    return Field(word, key, default, "switch", aliases=aliases, silent=silent)


def choice(word: str, key: str, default: Default, *aliases: str, read: Callable[[Any], Any] | None = None) -> Field:
    """Declare a concrete value of any kind (a name, a float, None, or a fact that *read* tells from a size)."""
    return Field(word, key, default, "choice", aliases=aliases, read=read)


def optional(word: str, key: str, default: Default, letter: str, meaning: str, *aliases: str) -> Field:
    """Declare a size that an explicit null switches off; an absent key takes the default.

    >>> rank = optional("q_lora", "q_lora_rank", 1536, "R", "query rank")
    >>> bind((rank,), {"q_lora_rank": None}).q_lora, bind((rank,), {}).q_lora
    (None, 1536)
    """
    return Field(word, key, default, "size", letter, meaning, aliases, nullable=True)


def fact(word: str, value: Any) -> Field:
    """Declare a concrete value that no key states: a trait of the architecture, or what *value* tells from the fields above.

    A fact told from sizes (whether two are equal, the kinds of the layers) is told once, from ints,
    and stays as it is when symbols or columns take their place.

    >>> fact("gated", True).kind
    'choice'
    """
    return Field(word, "", value, "choice", silent=True)


def variant(fields: tuple[Field, ...], *more: Field, **changes: Any) -> tuple[Field, ...]:
    """Return *fields* with other defaults, other declarations, and *more* at the end: one structure under another name.

    Raises:
        KeyError: A change names no field.

    >>> [field.default for field in variant((size("hidden", "hidden_size", 768, "H", ""),), hidden=1024)]
    [1024]
    """
    result = []
    for field in fields:
        change = changes.pop(field.word, _SAME)
        if isinstance(change, Field):
            field = change
        elif change is not _SAME:
            field = field._replace(default=change)
        result.append(field)
    if changes:
        raise KeyError(f"no such fields: {', '.join(changes)}")
    return (*result, *more)


def listed(word: str, key: str, default: Default, *aliases: str) -> Field:
    """Declare a list (layer kinds, stage widths), always concrete."""
    return Field(word, key, default, "listed", aliases=aliases)


def derived(word: str, rule: Callable[[Sizes], Any], *keys: str) -> Field:
    """Declare a size that follows from others; *keys* name the config keys to blame when it cannot.

    >>> derived("head_dim", lambda c: c.hidden // c.heads, "hidden_size", "num_attention_heads").kind
    'derived'
    """
    return Field(word, "", rule, "derived", aliases=keys)


def told(word: str, rule: Callable[[Sizes], Any]) -> Field:
    """Declare a fact that the fields above tell, such as whether two sizes differ: concrete, so it may be branched on.

    >>> fields = (size("a", "a", 1, "a", ""), size("b", "b", 2, "b", ""), told("unlike", lambda c: c.a != c.b))
    >>> bind(fields, {}).unlike
    True
    """

    def concrete(c: Sizes) -> Any:
        # Two quantities compare by identity; the answer would be wrong without a word.
        assert not any(isinstance(value, Quantity) for value in vars(c).values()), f"{word} can be told only from numbers"
        return rule(c)

    return Field(word, "", concrete, "choice", silent=True)


def echo(key: str, rule: Callable[[Sizes], Any]) -> tuple[Field, Field]:
    """Declare a key that only repeats what the fields above tell, as the reference writes it into its files.

    The reference takes such a key as it is written; one that says something else means a model that no
    field describes, and is refused.

    >>> fields = (size("hidden", "hidden_size", 768, "H", ""), *echo("true_hidden_size", lambda c: c.hidden))
    >>> bind(fields, {"true_hidden_size": 128})
    Traceback (most recent call last):
    weighbridge.errors.ConfigError: true_hidden_size: 128, but the other fields make it 768
    """

    def agrees(c: Sizes) -> bool:
        said, own = getattr(c, f"said_{key}"), rule(c)
        if said is not None and said != own:
            raise ConfigError(f"{said!r:.40}, but the other fields make it {own!r:.40}", key=key, value=said)
        return True

    return Field(f"said_{key}", key, None, "choice", silent=True), told(f"agreed_{key}", agrees)


def nested(word: str, key: str, fields: tuple[Field, ...]) -> Field:
    """Declare a sub-config, such as ``text_config``, with its own fields."""
    return Field(word, key, None, "nested", fields=fields)


LABELS = Field("labels", "num_labels", 2, "labels", "C", "number of labels")
"""How many labels a head has: ``num_labels``, else the length of ``id2label``, else 2."""

TIED = switch("tied", "tie_word_embeddings", True)
"""Whether the head shares the word embeddings' storage."""


def _crossed(c: Sizes) -> bool:
    if c.cross and not c.decoder:
        raise ConfigError("cross-attention is for decoders", key="add_cross_attention", value=True, hint="set is_decoder as well")
    return bool(c.cross)


DECODER = (switch("decoder", "is_decoder", False), switch("cross", "add_cross_attention", False), derived("crossed", _crossed))
"""The switches that give an encoder of BERT's kind a cross-attention in each layer; one without the other is refused."""


def bind(fields: tuple[Field, ...], raw: Mapping[str, Any], *, path: str = "", like: Sizes | None = None) -> Sizes:
    """Read *fields* out of *raw* into the sizes and switches a blueprint asks for.

    Args:
        fields: A family's table.
        raw: The config. Values of sizes may also be symbols or columns.
        path: Key path of *raw* inside the whole config, for messages.
        like: Sizes bound before, whose switches, choices and lists are taken as they are; the
            way to bind symbols or columns in place of ints.

    Raises:
        ConfigError: A value of the wrong type, an impossible size, or two keys of one field that disagree.

    >>> bind((size("hidden", "hidden_size", 768, "H", "hidden size"),), {"hidden_size": 384}).hidden
    384
    """
    result = Sizes()
    values = result.__dict__
    for field in fields:
        kind = field.kind
        if like is not None and kind not in ("size", "derived", "nested", "labels"):
            values[field.word] = like.__dict__[field.word]
            continue
        # A fact has no key, and an empty key in a config is nobody's.
        value = raw.get(field.key) if field.key else None
        if value is None and field.aliases and kind != "derived":
            value = _aliased(field, raw)
        if kind == "size":
            if value is None:
                if field.key in raw and (field.nullable or field.null is not None):
                    value = None if field.null is None else field.null(result)
                else:
                    value = _defaulted(field, result, path)
            elif type(value) is str and value == "auto" and callable(field.default):
                value = field.default(result)
            elif type(value) is not int or not field.minimum <= value <= LARGEST:
                value = _checked_size(field, value, path)
        elif kind == "derived":
            value = _defaulted(field, result, path)
        elif kind == "nested":
            value = _nested(field, raw, path, like)
        elif kind == "labels":
            value = _labels(field, value, raw, path)
        elif value is not None or not field.nullable or field.key not in raw:
            value = _concrete(field, value, result, path)
        values[field.word] = value
    return result


def symbols(
    fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Sizes, *, suffix: str = "", start: int = 0, path: str = ""
) -> dict[str, Any]:
    """Return *raw* with a symbol in place of every size that is given or has a constant default.

    Sizes that follow from others stay away, so that binding derives them again, as formulas.

    Args:
        sizes: *raw*, already bound to ints: an optional size that is None there stays None.
        suffix, start, path: Of a sub-config: what its letters end in, where its order begins, its key path.
    """
    from weighbridge.formula import Symbol

    replaced: dict[str, Any] = {}
    for order, field in enumerate(fields, start):
        given = raw.get(field.key)
        if given is None:
            given = _aliased(field, raw)
        if field.kind == "nested":
            inner = within(field, raw)
            if inner is not None:
                tag, where = f"{suffix}_{field.key.removesuffix('_config')}", f"{path}{field.key}."
                within_it, first = getattr(sizes, field.word), start + 100 * (order + 1)
                lettered = symbols(inner.fields, inner.raw, within_it, suffix=tag, start=first, path=where)
                replaced[field.key] = {**inner.raw, **({"model_type": inner.model_type} if inner.model_type else {}), **lettered}
        elif field.kind not in ("size", "labels") or getattr(sizes, field.word) is None:
            continue
        elif isinstance(given, (list, tuple)):
            continue  # a height and a width, which stay numbers
        elif (given is not None and given != "auto") or not callable(field.default):
            replaced[field.key] = Symbol(field.letter + suffix, word=field.word, key=path + field.key, meaning=field.meaning, order=order)
    return replaced


def within(field: Field, raw: Mapping[str, Any], path: str = "") -> Inner | None:
    """Find how the sub-config of a ``nested`` field is to be read; None is one that may be absent, and is.

    Raises:
        ConfigError: It is no mapping, or of a model type that no blueprint describes.

    >>> within(nested("text", "text_config", ()), {"text_config": {"hidden_size": 8}}).raw
    {'hidden_size': 8}
    """
    value = raw.get(field.key)
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(f"expected a mapping, found {type(value).__name__}", key=path + field.key, value=value)
    if field.resolve is not None:
        return field.resolve(value, path + field.key)
    return Inner({} if value is None else value, field.fields)


def altered(c: Sizes, **values: Any) -> Sizes:
    """Return sizes that are *c* but for *values*: what an outer model changes in a config it hands on.

    >>> altered(Sizes(hidden=768, pooled=True), pooled=False).pooled
    False
    """
    return _Altered(beneath_=c, **values)


class _Altered(Sizes):
    def __getattr__(self, word: str) -> Any:
        return getattr(self.__dict__["beneath_"], word)


def merged(raw: Mapping[str, Any], overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return *raw* with *overrides* put in, where a dotted key reaches into a sub-config.

    >>> merged({"text_config": {"hidden_size": 1}}, {"text_config.hidden_size": 2})
    {'text_config': {'hidden_size': 2}}
    """
    result = dict(raw)
    for key, value in (overrides or {}).items():
        target = result
        *parents, last = key.split(".")
        for parent in parents:
            inner = target.get(parent)
            target[parent] = dict(inner) if isinstance(inner, Mapping) else {}
            target = target[parent]
        target[last] = value
    return result


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean X?`` for the nearest known names, or the empty string.

    >>> did_you_mean("hiden_size", ["hidden_size", "vocab_size"])
    'did you mean hidden_size?'
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=3, cutoff=0.7)
    return f"did you mean {' or '.join(close)}?" if close else ""


_SAME = object()


def _aliased(field: Field, raw: Mapping[str, Any]) -> Any:
    for alias in field.aliases:
        if raw.get(alias) is not None:
            return raw[alias]
    return None


def _defaulted(field: Field, so_far: Sizes, path: str) -> Any:
    default = field.default
    if not callable(default):
        return default
    try:
        return default(so_far)
    except ConfigError as error:
        if error.key:
            raise
        keys = " and ".join(path + key for key in (field.aliases if field.kind == "derived" else (field.key,)) if key)
        raise ConfigError(f"{error}, so {field.word} is no whole number", key=keys, value=error.value, hint="mend either") from None


def _checked_size(field: Field, value: Any, path: str) -> Any:
    if isinstance(value, Quantity):
        return value
    key = path + field.key
    if field.read is not None and isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise ConfigError("expected a whole number, or two: height and width", key=key, value=value)
        value = field.read(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        kind = "a bool" if isinstance(value, bool) else f"{type(value).__name__} {value!r:.60}"
        raise ConfigError(f"expected a whole number, found {kind}", key=key, value=value, hint=f"the class default is {_shown(field)}")
    if value < field.minimum:
        raise ConfigError(
            f"{value} is not possible, the smallest is {field.minimum}", key=key, value=value, hint=f"the class default is {_shown(field)}"
        )
    if value > LARGEST:
        raise ConfigError(
            f"a number of {value.bit_length()} bits is no size of any model",
            key=key,
            value=value,
            hint=f"the largest accepted is {LARGEST:,}",
        )
    return value


def _shown(field: Field) -> object:
    return "derived from other fields" if callable(field.default) else field.default


def _labels(field: Field, value: Any, raw: Mapping[str, Any], path: str) -> Any:
    if value is not None:
        return _checked_size(field, value, path)
    names = raw.get("id2label")
    if names is None:
        return field.default
    if not isinstance(names, (Mapping, list)) or not names:
        raise ConfigError("expected a mapping from index to label", key=path + "id2label", value=names)
    return len(names)


def _nested(field: Field, raw: Mapping[str, Any], path: str, like: Sizes | None) -> Sizes | None:
    inner = within(field, raw, path)
    if inner is None:
        return None
    bound = bind(inner.fields, inner.raw, path=f"{path}{field.key}.", like=None if like is None else getattr(like, field.word))
    if inner.model_type:
        bound.__dict__["model_type"] = inner.model_type
    return bound


def _concrete(field: Field, value: Any, so_far: Sizes, path: str) -> Any:
    if value is None:
        value = _defaulted(field, so_far, path)
    elif field.kind == "switch" and type(value) is not bool:
        if value in (0, 1) and isinstance(value, int):
            return bool(value)
        raise ConfigError(f"expected true or false, found {value!r:.60}", key=path + field.key, value=value)
    elif field.kind == "listed" and not isinstance(value, (list, tuple)):
        raise ConfigError(f"expected a list, found {type(value).__name__}", key=path + field.key, value=value)
    return field.read(value) if field.read is not None else value
