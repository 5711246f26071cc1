"""Names under which models are published: model types and classes that mean one the reference library knows.

A class whose name differs from a known one in case and underscores alone is that class: ``MPTForCausalLM`` is ``MptForCausalLM``.
Any other name may mean other code, and is followed only if it stands here, with its source.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


class PublishedType(NamedTuple):
    """What a published model type means.

    Attributes:
        model_type: The type that describes it.
        source: Where that is said.
        read: Brings its keys to those of that type, where they differ.
    """

    model_type: str
    source: str
    read: Callable[[Mapping[str, Any]], dict[str, Any]] = dict


def _refined_web(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the keys of Falcon's first configs to those of the library; the one with grouped heads has two norms in each layer."""
    names = {"n_layer": "num_hidden_layers", "n_head": "num_attention_heads", "n_head_kv": "num_kv_heads"}
    found = {names.get(key, key): value for key, value in raw.items()}
    return {"new_decoder_architecture": "n_head_kv" in raw, **found}


PHI4MM_AUDIO = {
    "attention_dim": "hidden_size",
    "attention_heads": "num_attention_heads",
    "linear_units": "intermediate_size",
    "num_blocks": "num_blocks",
    "input_size": "input_size",
    "kernel_size": "kernel_size",
    "time_reduction": "time_reduction",
    "ext_pw_out_channel": "ext_pw_out_channel",
    "depthwise_multiplier": "depthwise_multiplier",
}
PHI4MM_KEYS = frozenset("audio_processor embd_layer full_attn_mod img_processor interpolate_factor speech_lora vision_lora".split())


def _phi4mm(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the speech encoder's keys to those of the library; its relative positions are of 500 distances where nothing is said."""
    found = {key: value for key, value in raw.items() if key not in PHI4MM_KEYS and (value is not False or not key.endswith("_bias"))}
    processor = raw.get("audio_processor")
    stated = processor.get("config") if isinstance(processor, dict) else None
    stated = stated if isinstance(stated, dict) else {}
    biases = stated.get("relative_attention_bias_args")
    distance = biases.get("t5_bias_max_distance", 500) if isinstance(biases, dict) else 500
    audio = {name: stated[key] for key, name in PHI4MM_AUDIO.items() if key in stated}
    return {**found, "audio_config": {"bias_max_distance": distance, **audio}}


FALCON = PublishedType("falcon", "tiiuae/falcon-7b and falcon-40b, modelling_RW.py", _refined_web)
TYPES: dict[str, PublishedType] = {
    "RefinedWeb": FALCON,
    "RefinedWebModel": FALCON,
    "deepseek_ref": PublishedType("deepseek_v4", "sgl-project/DeepSeek-V4-Flash-FP8, whose class is DeepseekV4ForCausalLM"),
    "kimi_k2": PublishedType("deepseek_v3", "transformers 5.23.0, models/kimi_k25/configuration_kimi_k25.py"),
    "phi4mm": PublishedType(
        "phi4_multimodal", "microsoft/Phi-4-multimodal-instruct, whose files hold two adapters more for every map of the text", _phi4mm
    ),
    "minimax_m3": PublishedType("minimax_m3_vl_text", "MiniMaxAI/MiniMax-M3, the text of minimax_m3_vl with the same keys"),
    "new": PublishedType("gte", "Alibaba-NLP/new-impl, whose classes transformers 5.23.0 has as gte"),
}
"""From the ``model_type`` of published configs to the type that describes them."""

CLASSES: dict[str, str] = {
    "RWForCausalLM": "FalconForCausalLM",
    "RWModel": "FalconModel",
    "Phi4MMForCausalLM": "Phi4MultimodalForCausalLM",
    "T5WithLMHeadModel": "T5ForConditionalGeneration",
    "MiniMaxM3ForCausalLM": "MiniMaxM3VLForCausalLM",
    "MiniMaxM3SparseForCausalLM": "MiniMaxM3VLForCausalLM",
    "NewModel": "GteModel",
    "NewForMaskedLM": "GteForMaskedLM",
    "NewForSequenceClassification": "GteForSequenceClassification",
    "NewForTokenClassification": "GteForTokenClassification",
}
"""From the classes that published configs name to those of the library: earlier names of the same class."""


def known_class(name: str, classes: Iterable[str]) -> str | None:
    """Return which of *classes* a published name means, if one: itself, but for case and underscores, or an earlier name of it.

    >>> known_class("KimiK25ForConditionalGeneration", ["Kimi_K25ForConditionalGeneration"])
    'Kimi_K25ForConditionalGeneration'
    >>> known_class("JinaBertForMaskedLM", ["BertForMaskedLM"]) is None
    True
    """
    wanted = _normalize(CLASSES.get(name, name))
    return next((found for found in classes if _normalize(found) == wanted), None)


def _normalize(name: str) -> str:
    return name.replace("_", "").casefold()
