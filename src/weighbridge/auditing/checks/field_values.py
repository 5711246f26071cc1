"""What each kind of size may be in a model: in its config, in the sizes read from that, in the parts it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from weighbridge.auditing.patterns import pattern
from weighbridge.conventions.atoms import parts_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import list_rows
from weighbridge.presets.windows import published_lengths

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_KEYS: Mapping[str, tuple[str, ...]] = {
    "layers": ("layers", "decoder_layers", "encoder_layers", "num_hidden_layers", "n_layer", "num_layers", "depth", "num_decoder_layers", "num_encoder_layers"),
    "heads": ("heads", "decoder_heads", "num_attention_heads", "n_head", "num_heads", "encoder_attention_heads", "decoder_attention_heads"),
    "kv_heads": ("kv_heads", "num_key_value_heads", "num_kv_heads"),
    "hidden": ("hidden", "embedding", "projected", "hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size", "projection_dim", "word_embed_proj_dim"),
    "mlp": ("mlp", "expert_mlp", "shared_mlp", "intermediate_size", "moe_intermediate_size", "d_ff", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim"),
    "head_dim": ("head_dim", "plain_dim", "value_dim", "rope_dim", "d_kv", "q_lora", "kv_lora"),
    "vocab": ("vocab", "vocab_size"),
    "experts": ("experts", "num_experts", "num_local_experts", "n_routed_experts"),
    "active": ("active", "num_experts_per_tok"),
    "shared": ("n_shared_experts", "num_shared_experts"),
    "positions": ("positions", "max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "max_source_positions", "max_target_positions"),
    "patch": ("patch", "patch_size", "patch_height"),
    "image": ("image_size", "image_height"),
}  # fmt: skip
"""Where the sizes and the config of a model hold each kind."""
NO_PARTS = ("quantization_config", "rope_scaling", "rope_parameters", "id2label", "label2id", "task_specific_params")
"""Keys of a config that hold a mapping and no model that the model is made of."""


_ROUND, _PADDED = 32, 512
"""Rows that tables of words are padded to multiples of, and how many may be added."""


def is_padded(entries: int, rows: int) -> bool:
    """Tell whether a table of words may have its rows beyond a tokenizer's entries because it was padded.

    >>> is_padded(151_643, 152_064), is_padded(30_522, 30_252)
    (True, False)
    """
    return rows % _ROUND == 0 and 0 < rows - entries <= _PADDED


@lru_cache(maxsize=2048)
def main_values(model: ModelValue) -> Mapping[str, int]:
    """Return a model's own size of each kind.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> main_values(preset_model("deepseek-v3"))["experts"]
    256
    """
    sizes = vars(model.description.sizes) if model.description is not None else {}
    found = {word: sizes[word] for word in _KEYS if type(sizes.get(word)) is int}
    found |= _layers_by_kind(model, found.get("layers")) if "experts" in found else {}
    if has_one_key(model):
        found["kv_heads"] = 1
    found = {**_of_experts(model), **found}
    lengths = published_lengths(model.source)
    return {"positions": lengths[0], **found} if lengths else found


def _of_experts(model: ModelValue) -> dict[str, int]:
    """Return the experts of a model that is made of several, where just one of them has any: Llama 4's text model."""
    if model.description is None:
        return {}
    found: dict[str, set[int]] = {word: set() for word in _KEYS}
    for part in (vars(model.description.sizes), model.description.raw):
        _gather(part, found)
    return {word: next(iter(found[word])) for word in ("experts", "active") if len(found[word]) == 1}


def has_one_key(model: ModelValue) -> bool:
    """Tell whether all heads of a model read one key and value, whatever number of such heads its config states: Falcon-7B's."""
    raw = model.description.raw if model.description is not None else {}
    return bool(raw.get("multi_query")) and not raw.get("new_decoder_architecture")


LAYER_KINDS = ("moe_layers", "dense_layers")
"""The layers with experts and those without."""


def _layers_by_kind(model: ModelValue, layers: int | None) -> dict[str, int]:
    """Return how many layers of a model have experts and how many have none, as its tree has them."""
    atoms = parts_of(model).atoms
    routed = sum({atom.layer: atom.copies for atom in atoms if atom.component == "experts" and atom.layer}.values())
    return {"moe_layers": routed, "dense_layers": layers - routed} if layers and 0 < routed <= layers else {}


@lru_cache(maxsize=2048)
def field_values(model: ModelValue) -> Mapping[str, frozenset[int]]:
    """Return all that each kind of size may be in a model: in its parts too, with or without what is shared.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> values = field_values(preset_model("deepseek-v3"))
    >>> sorted(values["experts"]), sorted(values["active"])
    ([256, 257], [8, 9])
    """
    found: dict[str, set[int]] = {word: set() for word in _KEYS}
    if model.description is None:
        return {}
    for part in (vars(model.description.sizes), model.description.raw):
        _gather(part, found)
    sizes = vars(model.description.sizes)
    shared = max(found["shared"], default=0)
    for word in ("experts", "active") if shared else ():
        found[word] |= {number + shared for number in found[word]}
    encoder, decoder = sizes.get("layers"), sizes.get("decoder_layers")
    if isinstance(encoder, int) and isinstance(decoder, int):
        found["layers"].add(encoder + decoder)
    if "conv_bias" in sizes:  # ``wav2vec2-base has 7 layers`` is true of the convolutions that turn the wave into frames
        found["layers"].add(len({match[1] for row in list_rows(model.tree) if (match := _CONVOLUTION.search(row.name)) is not None}))
    found["kv_heads"] |= {1} if has_one_key(model) else set()
    dense, layers = sizes.get("dense"), sizes.get("layers")
    if type(dense) is int and isinstance(layers, int):
        found["layers"] |= {dense, layers - dense, layers + 1}
    found |= {word: {number} for word, number in main_values(model).items() if word in LAYER_KINDS}
    if len(found["mlp"]) == 1:  # Qwen's first config states gate and widening map together: ``22016`` is two of 11,008
        (wide,) = found["mlp"]
        dimensions = {dimension for row in list_rows(model.tree) for dimension in row.shape}
        found["mlp"] |= {wide // 2} if wide not in dimensions and wide // 2 in dimensions else set()
    if model.model_type in BOTH_MAPS:
        found["mlp"] |= {2 * wide for wide in found["mlp"]}
    found["width"] = found["hidden"] | found["mlp"] | found["head_dim"]
    found["positions"].update(published_lengths(model.source))
    for word, number in published_otherwise(model).items():
        found[word].add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def published_otherwise(model: ModelValue) -> Mapping[str, int]:
    """Return the sizes that a model's paper or an earlier release gives and its tensors do not have.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> published_otherwise(preset_model("gpt3-1.3b"))["heads"]
    24
    """
    return _PUBLISHED.get(model.source, {})


BOTH_MAPS = ("gemma", "gemma2")
"""Types whose reports give the width of gate and widening map together: 49,152 for Gemma 7B, 28,672 for Gemma 2 9B (arXiv 2403.08295, table 1;
arXiv 2408.00118, table 1)."""
_PUBLISHED: Mapping[str, Mapping[str, int]] = {
    "gpt3-1.3b": {"heads": 24, "head_dim": 128},
    "chatglm-6b": {"vocab": 150528},
}
"""Sizes that a paper prints of a model whose tensors cannot have them: GPT-3 XL's 24 heads of 128 in a width of 2048 (arXiv 2005.14165, table 2.1); and
those of an earlier release: ChatGLM-6B's vocabulary before the tokens of images were taken out of it."""
_CONVOLUTION = pattern(r"conv_layers\.(\d+)\.")


def _gather(part: object, found: Mapping[str, set[int]]) -> None:
    """Add the sizes of a config and of the configs in it."""
    values = part if isinstance(part, Mapping) else vars(part) if hasattr(part, "__dict__") else {}
    for word, keys in _KEYS.items():
        found[word].update(values[key] for key in keys if type(values.get(key)) is int)
    for inner in values.values():
        if isinstance(inner, Mapping) or hasattr(inner, "__dict__"):
            _gather(inner, found)


def sizes_of_part(part: object) -> Mapping[str, frozenset[int]]:
    """Return what each kind of size may be in one of the parts that a model is made of."""
    found: dict[str, set[int]] = {word: set() for word in _KEYS}
    _gather(part, found)
    found["width"] = found["hidden"] | found["mlp"] | found["head_dim"]
    return {word: frozenset(numbers) for word, numbers in found.items()}


def values_of(model: ModelValue, word: str) -> frozenset[int]:
    """Return all that a size may be in a model; the width of a head is computed where no field holds it."""
    values = field_values(model).get(word, frozenset())
    own = main_values(model)
    if word == "head_dim" and {"hidden", "heads"} <= own.keys() and own["hidden"] % own["heads"] == 0:
        return values | {own["hidden"] // own["heads"]}
    if word == "kv_heads" and not values and "heads" in own:
        raw = model.description.raw if model.description is not None else {}
        shared = raw.get("multi_query_group_num") if raw.get("multi_query_attention") else 1 if raw.get("multi_query") else None
        return frozenset((shared if type(shared) is int else own["heads"],))
    return values
