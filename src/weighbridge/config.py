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

NEUTRAL = frozenset(
    """_attn_implementation _commit_hash _name_or_path activation_dropout adapters architectures attention_dropout
    attention_probs_dropout_prob attn_dropout attn_implementation attn_pdrop auto_map bad_words_ids
    begin_suppress_tokens bos_token_id chunk_size_feed_forward classifier_dropout cross_attention_hidden_size
    decoder_layerdrop decoder_start_token_id directionality diversity_penalty do_sample dropout dtype early_stopping
    embd_pdrop encoder_layerdrop encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty
    finetuning_task forced_bos_token_id forced_eos_token_id gradient_checkpointing hidden_act hidden_dropout
    hidden_dropout_prob id2label initializer_factor initializer_range is_encoder_decoder label2id layer_norm_eps
    layer_norm_epsilon layerdrop length_penalty max_length min_length model_type no_repeat_ngram_size num_beam_groups
    num_beams num_return_sequences output_attentions output_hidden_states output_past output_router_logits output_scores
    pad_token_id pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
    position_embedding_type prefix pretraining_tp problem_type pruned_heads quantization_config remove_invalid_values
    repetition_penalty resid_pdrop return_dict return_dict_in_generate rms_norm_eps rope_parameters rope_scaling
    rope_theta router_aux_loss_coef router_jitter_noise sep_token_id suppress_tokens task_specific_params temperature
    tf_legacy_loss tie_encoder_decoder tokenizer_class top_k top_p torch_dtype torchscript transformers_version
    typical_p use_bfloat16 use_cache xla_device""".split()
)
"""Keys that no blueprint needs: they change behaviour, not tensors. A key that is neither here nor in
a family's fields is reported as unknown."""


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
        read: Turns the raw value into the one the blueprint sees (for switches told by a size).
        fields: For ``nested``, the fields of the sub-config.
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


def size(word: str, key: str, default: Default, letter: str, meaning: str, *aliases: str, minimum: int = 1) -> Field:
    """Declare a size: an int from *minimum* up, which may also be a symbol or a column.

    >>> size("hidden", "hidden_size", 768, "H", "hidden size").kind
    'size'
    """
    return Field(word, key, default, "size", letter, meaning, aliases, minimum)


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
        value = raw.get(field.key)
        if value is None and field.aliases and kind != "derived":
            value = _aliased(field, raw)
        if kind == "size":
            if value is None:
                value = None if field.nullable and field.key in raw else _defaulted(field, result, path)
            elif type(value) is str and value == "auto" and callable(field.default):
                value = field.default(result)
            elif type(value) is not int or not field.minimum <= value <= LARGEST:
                value = _checked_size(field, value, path)
        elif kind == "derived":
            value = _defaulted(field, result, path)
        elif kind == "nested":
            value = _nested(field, value, path, like)
        elif kind == "labels":
            value = _labels(field, value, raw, path)
        else:
            value = _concrete(field, value, result, path)
        values[field.word] = value
    return result


def defaulted(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "", words: str = "") -> dict[str, str]:
    """Return, for each field that *raw* leaves out, our word's path and the key path.

    >>> defaulted((size("hidden", "hidden_size", 768, "H", ""),), {"hidden_size": None})
    {'hidden': 'hidden_size'}
    """
    missing: dict[str, str] = {}
    for field in fields:
        present = any(raw.get(key) is not None for key in (field.key, *field.aliases)) or (field.nullable and field.key in raw)
        if field.kind == "nested":
            inner = raw.get(field.key)
            inner = inner if isinstance(inner, Mapping) else {}
            missing |= defaulted(field.fields, inner, f"{path}{field.key}.", f"{words}{field.word}.")
        elif field.kind == "labels":
            if not present and raw.get("id2label") is None:
                missing[words + field.word] = path + field.key
        elif field.kind != "derived" and not field.silent and not present:
            missing[words + field.word] = path + field.key
    return missing


ACTIVATIONS_WITH_PARAMETERS = frozenset(("prelu", "xielu"))
"""Activation functions of the reference library that hold parameters of their own (transformers 5.23.0, activations.py)."""


def refuse_parametric_activations(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse an activation that has parameters where no field of the family describes them.

    Raises:
        ConfigError: Such as ``hidden_act`` prelu in BERT.
    """
    for key, value in raw.items():
        if isinstance(value, str) and value in ACTIVATIONS_WITH_PARAMETERS:
            if value == "xielu" and any(key in (field.key, *field.aliases) for field in fields):
                continue
            raise ConfigError(f"{value} has parameters of its own, which no blueprint of this type describes", key=path + key, value=value)
        if type(value) is dict and path.count(".") < 4:
            inner = next((field.fields for field in fields if field.key == key), ())
            refuse_parametric_activations(inner, value, f"{path}{key}.")


def unknown(fields: tuple[Field, ...], raw: Mapping[str, Any], neutral: frozenset[str], path: str = "") -> list[str]:
    """Return the key paths that neither *fields* nor the neutral keys name.

    >>> unknown((), {"hiden_size": 1, "use_cache": True}, frozenset())
    ['hiden_size']
    """
    known = {key for field in fields for key in (field.key, *field.aliases)}
    strangers = [path + key for key in raw if key not in known and key not in NEUTRAL and key not in neutral]
    for field in fields:
        inner = raw.get(field.key)
        if field.kind == "nested" and isinstance(inner, Mapping):
            strangers += unknown(field.fields, inner, neutral, f"{path}{field.key}.")
    return strangers


def symbols(fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Sizes, *, suffix: str = "", start: int = 0) -> dict[str, Any]:
    """Return *raw* with a symbol in place of every size that is given or has a constant default.

    Sizes that follow from others stay away, so that binding derives them again, as formulas.

    Args:
        sizes: *raw*, already bound to ints: an optional size that is None there stays None.
    """
    from weighbridge.formula import Symbol

    replaced: dict[str, Any] = {}
    for order, field in enumerate(fields, start):
        given = raw.get(field.key)
        if given is None:
            given = _aliased(field, raw)
        if field.kind == "nested":
            inner = given if isinstance(given, Mapping) else {}
            tag = "_" + field.key.removesuffix("_config")
            replaced[field.key] = symbols(field.fields, inner, getattr(sizes, field.word), suffix=tag, start=start + 100 * (order + 1))
        elif field.kind not in ("size", "labels") or getattr(sizes, field.word) is None:
            continue
        elif (given is not None and given != "auto") or not callable(field.default):
            replaced[field.key] = Symbol(field.letter + suffix, word=field.word, key=field.key, meaning=field.meaning, order=order)
    return replaced


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


def conflicts(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse a config in which two keys of one field disagree, since either could be meant.

    Raises:
        ConfigError: Such as ``n_embd`` 768 beside ``hidden_size`` 1024.
    """
    for field in fields:
        if field.kind == "nested":
            inner = raw.get(field.key)
            if isinstance(inner, Mapping):
                conflicts(field.fields, inner, f"{path}{field.key}.")
        elif field.kind != "derived" and field.aliases:
            given = [(key, raw[key]) for key in (field.key, *field.aliases) if raw.get(key) is not None]
            for key, value in given[1:]:
                if value != given[0][1]:
                    said = f"{value!r:.40} but {path}{given[0][0]} is {given[0][1]!r:.40}"
                    raise ConfigError(f"{said}, and both name the same field", key=path + key, value=value, hint="keep one")


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


def _nested(field: Field, value: Any, path: str, like: Sizes | None) -> Sizes:
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"expected a mapping, found {type(value).__name__}", key=path + field.key, value=value)
    inner = getattr(like, field.word) if like is not None else None
    return bind(field.fields, value, path=f"{path}{field.key}.", like=inner)


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
