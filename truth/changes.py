"""What to change in a config when it is probed: every key there is, and the values that its sources know."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from truth import live

IDLE = frozenset(("_name_or_path", "model_type", "name_or_path", "transformers_version"))
"""Keys of every config that are not to be set by hand."""

LEGACY = """n_embd n_layer n_head n_inner n_ctx n_positions d_model d_ff d_kv num_layers num_heads num_experts
n_routed_experts num_local_experts moe_num_experts num_experts_per_tok num_key_value_heads head_dim rope_scaling rope_theta
rope_parameters partial_rotary_factor rotary_pct tie_word_embeddings num_labels id2label architectures torch_dtype dtype
pad_token_id bos_token_id layer_types mlp_layer_types sliding_window is_decoder add_cross_attention is_encoder_decoder
tie_encoder_decoder hidden_act use_cache attention_bias mlp_bias use_bias bias num_channels image_size problem_type
per_layer_config text_config vision_config backbone use_timm_backbone quantization_config torchscript pruned_heads
cross_attention_hidden_size vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads
max_position_embeddings type_vocab_size add_pooling_layer scale_embedding normalize_before""".split()
"""Keys that configs are known to carry, by themselves or from older versions."""


class Absent(NamedTuple):
    """A key taken out."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()


class Change(NamedTuple):
    """One key and what it is set to."""

    path: tuple[str, ...]
    value: Any

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} = {self.value!r:.60}"


def changes(config: Any, raw: Mapping[str, Any], stated: Iterable[str] = (), above: tuple[str, ...] = ()) -> Iterator[Change]:
    """Yield every change to try: of each key of a live *config* and its sub-configs, of *raw*, of *stated*, and of older versions."""
    text = source(config)
    whole = {**dict.fromkeys([*LEGACY, *translated_keys(config, text), *stated]), **raw, **config.to_dict()}
    for key, value in whole.items():
        inner = getattr(config, key, None) if isinstance(value, Mapping) else None
        if key in IDLE or not key or (key.startswith("_") and key not in raw):
            continue
        if key in raw:
            yield Change((*above, key), ABSENT)
        yield from (Change((*above, key), other) for other in _others(key, value, text))
        if hasattr(inner, "to_dict"):
            given = raw.get(key)
            yield from changes(inner, given if isinstance(given, Mapping) else {}, (), (*above, key))
        elif isinstance(value, Mapping):
            yield from _within(value, (*above, key))


def apply_change(raw: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Return *raw* with one key changed, sub-configs made where they are absent.

    >>> apply_change({"a": 1}, Change(("b", "c"), 2)), apply_change({"a": 1, "b": 2}, Change(("a",), ABSENT))
    ({'a': 1, 'b': {'c': 2}}, {'b': 2})
    """
    (key, *rest), value = change
    if rest:
        inner = raw.get(key)
        return {**raw, key: apply_change(inner if isinstance(inner, Mapping) else {}, Change(tuple(rest), value))}
    return {other: kept for other, kept in raw.items() if other != key} if value is ABSENT else {**raw, key: value}


def source(config: Any) -> str:
    """Return the text of the modules that read a config."""
    try:
        modules = [inspect.getmodule(type(config)), *live.modules(config.model_type)]
    except live.RefusedError:
        modules = [inspect.getmodule(type(config))]
    return "\n".join(inspect.getsource(module) for module in modules if module is not None)


def translated_keys(config: Any, text: str) -> list[str]:
    """Return further keys that a config's class translates, or that a model asks for without there being such a field."""
    asked = re.findall(r"""(?:kwargs\.(?:pop|get)|setdefault|kwargs)[(\[]\s*["'](\w+)["']""", text)
    return list(dict.fromkeys((*type(config).attribute_map, *asked, *looked_up_keys(text))))


def looked_up_keys(text: str) -> list[str]:
    """Return the keys that a source looks up in a config which may not have them.

    >>> looked_up_keys('width = getattr(config, "head_dim", None)')
    ['head_dim']
    """
    return list(dict.fromkeys(re.findall(r"""(?:getattr|hasattr)\(\s*[\w.]*config[\w.]*,\s*["'](\w+)["']""", text)))


def _within(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Change]:
    """Yield changes inside a mapping that is no config of its own, such as the parameters of rotary positions."""
    for key, inner in value.items():
        if isinstance(key, str) and path[-1] not in ("id2label", "label2id"):
            yield from (Change((*path, key), other) for other in _others(key, inner, ""))


def _others(key: str, value: object, text: str) -> list[Any]:
    if key in SPECIAL:
        return list(SPECIAL[key])
    if key.endswith(("token_id", "token_ids", "token_index")):
        return [None, -1, 0, 7, 10**6]
    rule = next((rule for kind, rule in RULES if isinstance(value, kind)), lambda value: ["gelu"])
    found: list[Any] = [None, *rule(value)]
    if isinstance(value, str) or (value is None and text):
        found += [word for word in words(key, text) if word != value]
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        found += [[word, *value[1:]] for word in words(key, text)[:4]]
    return found


def words(key: str, text: str) -> list[str]:
    """Return the words that stand in quotes near a key in a source.

    >>> words("kind", 'if config.kind == "wide":')
    ['wide']
    """
    near = "\n".join(text[match.start() : match.start() + 400] for match in re.finditer(rf"\b{re.escape(key)}\b", text))
    quoted = re.findall(r"""["'`]([a-z][a-z_0-9\-]*)["'`]""", near)
    return list(dict.fromkeys(word for word in quoted if word != key))[:12]


def _of_list(value: Any) -> list[Any]:
    items = list(value)
    numbers = [item + 1 for item in items] if items and all(type(item) is int for item in items) else []
    first = items[:1] and items[0]
    return [
        items[::-1],
        items[:-1],
        [*items, *items[-1:]],
        first,
        numbers,
        [2 * number for number in numbers],
        [],
        *islice(_of_inner(items), MOST),
    ]


MOST = 16
"""Changes inside a list of lists."""


def _of_inner(items: list[Any]) -> Iterator[list[Any]]:
    """Yield a list of lists with one of its numbers raised.

    >>> list(_of_inner([["Subsample", 16, 8], [""]]))
    [[['Subsample', 17, 8], ['']], [['Subsample', 16, 9], ['']]]
    """
    for place, inner in enumerate(items):
        for at, number in enumerate(inner if isinstance(inner, (list, tuple)) else ()):
            if type(number) is int:
                yield [*items[:place], [*inner[:at], number + 1, *inner[at + 1 :]], *items[place + 1 :]]


RULES: tuple[tuple[Any, Callable[[Any], list[Any]]], ...] = (
    (bool, lambda value: [not value, int(not value)]),
    (int, lambda value: [value + 1, value - 1, 2 * value, 0, 1, 2, -1, float(value), [value, 2 * value]]),
    (float, lambda value: [0.0, 1.0, 0.5, 2 * value, 1, -1.0]),
    (str, lambda value: [True]),
    (type(None), lambda value: [True, False, 8, 1, 0, 0.5]),
    ((list, tuple), _of_list),
    (Mapping, lambda value: [{}]),
)
"""By the kind of value that is there: what to put in its place."""

SPECIAL: dict[str, tuple[Any, ...]] = {
    "id2label": (None, {"0": "a"}, {"0": "a", "1": "b", "2": "c"}, {0: "a", 1: "b", 2: "c", 3: "d", 4: "e"}),
    "label2id": (None, {"a": 0, "b": 1, "c": 2}),
    "num_labels": (None, 0, 1, 2, 3, 9),
    "architectures": (None, [], ["Model"]),
    "dtype": (None, "float16", "bfloat16"),
    "torch_dtype": (None, "float16", "bfloat16"),
    "tie_word_embeddings": (None, True, False),
    "rope_scaling": (None, {"type": "linear", "factor": 2.0}, {"rope_type": "default"}, {"type": "mrope", "mrope_section": [2, 1, 1]}),
    "problem_type": (None, "regression", "multi_label_classification"),
    "per_layer_config": (None, {}, {"0": {"intermediate_size": 24}}, {"0": {"skip": ["mlp"]}}),
    "hidden_act": (None, "gelu", "relu", "silu", "gelu_new", "prelu", "xielu"),
    "pruned_heads": (None, {}, {"0": [0]}),
    "backbone": (None,),
    "quantization_config": (None,),
}
"""Values for keys of which every config could have one."""
