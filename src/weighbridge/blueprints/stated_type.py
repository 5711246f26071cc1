"""What is read of a config before its fields are known: whether it has an end, which model type and classes it states or leaves no doubt about."""

from __future__ import annotations

from weighbridge.blueprints import model_type_of
from weighbridge.blueprints.fitting_types import fitting_types
from weighbridge.blueprints.modules.timm_models import built_with, is_timm
from weighbridge.blueprints.other_files import refuse_other_file
from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, join_with_or

if TYPE_CHECKING:
    from typing import Any


GOOGLE_KEYS = frozenset(
    """attention_probs_dropout_prob directionality hidden_act hidden_dropout_prob hidden_size initializer_range
    intermediate_size max_position_embeddings num_attention_heads num_hidden_layers pooler_fc_size
    pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type type_vocab_size vocab_size""".split()
)
"""The keys of ``bert_config.json`` in google-research/bert, which names no model type."""

NANOGPT_KEYS = frozenset("n_layer n_head n_embd block_size vocab_size bias dropout".split())
"""The keys of ``GPTConfig`` in karpathy/nanoGPT, which names no model type either."""

MEGATRON_KEYS = frozenset(
    """ffn_hidden_size group_query_attention kv_channels make_vocab_size_divisible_by num_query_groups padded_vocab_size
    tensor_model_parallel_size untie_embeddings_and_output_weights""".split()
)
"""Arguments of Megatron-LM that no other config has."""


DEEPEST = 60
"""Mappings and lists within each other; configs that are published have eight at most."""

MOST_KEYS = 5000
"""Keys of a config, beside those of its sub-configs; what is published has two hundred at most."""


def refuse_deep(value: Any, depth: int = 0) -> None:
    """Refuse a config nested without end, such as one that holds itself.

    Raises:
        ConfigError: It is nested deeper than :data:`DEEPEST`, or has more than :data:`MOST_KEYS` keys.
    """
    if not depth and len(value) > MOST_KEYS:
        raise ConfigError(Text("{count:,} keys, more than any config has", count=len(value)))
    if depth > DEEPEST:
        raise ConfigError(Text("the config is nested deeper than {deepest} levels", deepest=DEEPEST))
    for inner in value.values() if isinstance(value, Mapping) else value:
        kind = type(inner)
        if kind is int or kind is str or kind is float or kind is bool:
            continue  # what most are, told at once
        if kind is dict or kind is list or isinstance(inner, Mapping):
            refuse_deep(inner, depth + 1)


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
    if isinstance(raw.get("_class_name"), str):
        return _diffusers_type(raw["_class_name"])
    keys = set(raw) - {"architectures", "model_type"}
    if {"embed_dim", "vision_cfg", "text_cfg"} <= keys or isinstance(raw.get("model_cfg"), Mapping):
        return "open_clip"
    if is_timm(raw):
        return built_with(raw["architecture"])[0]
    needed = {"type_vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}
    if needed <= keys <= GOOGLE_KEYS | {"num_labels", "id2label", "add_pooling_layer", "tie_word_embeddings"}:
        return "bert"
    if {"n_layer", "n_embd"} <= keys and keys & {"norm_class_name", "mlp_class_name", "padded_vocab_size", "rotary_percentage"}:
        return "litgpt"
    if {"n_layer", "n_head", "n_embd", "block_size"} <= keys <= NANOGPT_KEYS:
        return "nanogpt"
    if {"num_layers", "hidden_size", "num_attention_heads"} <= keys and keys & MEGATRON_KEYS:
        return "megatron"
    if "weight_map" in keys:
        raise ConfigError(
            "an index of shards, and no config",
            key="weight_map",
            hint="name it as it was saved, such as model.weights.json, beside its shards",
        )
    if {"added_tokens", "model"} <= keys or {"tokenizer_class", "model_max_length"} <= keys:
        raise ConfigError("a tokenizer's file, and no config", key="model_type", hint="name the config.json beside it")
    if "weightsManifest" in keys:
        raise ConfigError(
            "a model of TensorFlow.js, which is not read", key="weightsManifest", hint="weigh the model that it was converted from"
        )
    refuse_other_file(raw)
    if stated and not isinstance(stated, str):
        raise ConfigError(Text('expected the name of a model type, such as "bert", found {what}', what=say_value(stated)), key="model_type")
    fitting = fitting_types(keys)
    raise ConfigError(
        "the config does not say what it is",
        key="model_type",
        hint=Text('its keys are those of {types}: add "model_type", or name a class with --class', types=join_with_or(fitting))
        if fitting
        else 'add "model_type", such as "bert", or name a class with --class',
    )


def _diffusers_type(name: str) -> str:
    """Return the model type of a class of diffusers, which its configs name."""
    found = model_type_of(f"diffusers.{name}")
    if not found:
        raise UnknownArchitecture(Text("diffusers' {name!r:.60} is not described", name=name), key="_class_name", value=name)
    return found


def architectures(raw: Mapping[str, Any]) -> list[str]:
    """Return the classes that a config names."""
    stated = raw.get("architectures")
    if stated is None:
        return []
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        raise ConfigError(Text("expected a list of class names, found {stated!r:.60}", stated=stated), key="architectures", value=stated)
    return stated


OCR = {"DeepseekOCRForCausalLM": "deepseek_ocr", "DeepseekOCR2ForCausalLM": "deepseek_ocr_2"}
"""Classes whose configs call themselves by the type of DeepSeek-VL2, whose config class they inherit."""


LLAVA = {"LlavaLlamaForCausalLM": "llava_llama", "LlavaMistralForCausalLM": "llava_mistral", "LlavaQwenForCausalLM": "llava_qwen"}
"""Classes of LLaVA's own code, whose configs call themselves by the type of the library's."""


_BORROWED: Mapping[str, Mapping[str, str]] = {"deepseek_vl_v2": OCR, "llava": LLAVA, "bert": {}}


def type_of_published_code(stated: str, raw: Mapping[str, Any]) -> str:
    """Return the type of a config whose own code borrows another's: Jina's BERT with ALiBi, Nomic's with experts, the first ChatGLM.

    >>> type_of_published_code("bert", {"architectures": ["JinaBertForMaskedLM"]}), type_of_published_code("nomic_bert", {"num_experts": 8})
    ('jina_bert', 'nomic_bert_moe')
    """
    if stated == "nomic_bert":
        return "nomic_bert_moe" if raw.get("num_experts") else stated
    if stated == "chatglm":
        return "chatglm_6b" if raw.keys() & {"inner_hidden_size", "position_encoding_2d"} else stated
    if stated not in _BORROWED:
        return stated
    named = raw.get("architectures")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if stated == "bert":
        return "jina_bert" if any(model_type_of(name) == "jina_bert" for name in names) else stated
    return next((_BORROWED[stated][name] for name in names if name in _BORROWED[stated]), stated)
