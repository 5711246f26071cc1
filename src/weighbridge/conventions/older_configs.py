"""A config as transformers 4.57 reads it: keys that it has not yet, names of other fields, other defaults."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.interfaces import Mapping

if TYPE_CHECKING:
    from typing import Any

_LAYERS = ("num_hidden_layers",)
_HEAD = ("head_dim",)
_EXPERTS = ("num_experts",)
_LOCAL_EXPERTS = ("num_local_experts",)

UNREAD: dict[str, tuple[str, ...]] = {
    "audio-spectrogram-transformer": _HEAD,
    "bart": _LAYERS,
    "beit": _HEAD,
    "bigbird_pegasus": _LAYERS,
    "blenderbot": _LAYERS,
    "blenderbot-small": _LAYERS,
    "conditional_detr": _LAYERS,
    "convnext": _LAYERS,
    "convnextv2": _LAYERS,
    "csm": ("codebook_size",),
    "dab-detr": _LAYERS,
    "deepseek_v2": _EXPERTS,
    "deepseek_v3": _LOCAL_EXPERTS,
    "deit": _HEAD,
    "detr": _LAYERS,
    "dinov2": _HEAD,
    "dinov2_with_registers": _HEAD,
    "dots1": _LOCAL_EXPERTS,
    "fastspeech2_conformer": ("convolution_bias",),
    "flex_olmo": _LOCAL_EXPERTS,
    "fsmt": ("num_hidden_layers", "vocab_size"),
    "glm4_moe": _LOCAL_EXPERTS,
    "glm4v_moe_text": _LOCAL_EXPERTS,
    "gpt_oss": _EXPERTS,
    "granitemoe": _HEAD,
    "granitemoeshared": _HEAD,
    "hunyuan_v1_moe": _LOCAL_EXPERTS,
    "ijepa": _HEAD,
    "jamba": ("head_dim", "num_local_experts"),
    "led": _LAYERS,
    "levit": ("down_ops",),
    "lfm2_vl": ("projector_use_layernorm",),
    "llama4_text": ("attention_bias",),
    "longcat_flash": ("num_local_experts", "intermediate_size", "moe_intermediate_size"),
    "m2m_100": _LAYERS,
    "marian": _LAYERS,
    "mask2former": _LAYERS,
    "mbart": _LAYERS,
    "mimi": ("encoder_config", "decoder_config"),
    "minimax": _EXPERTS,
    "mixtral": _EXPERTS,
    "mobilevit": ("expand_output",),
    "mvp": _LAYERS,
    "nllb-moe": _LAYERS,
    "olmoe": ("head_dim", "num_local_experts"),
    "oneformer": _LAYERS,
    "parakeet_encoder": ("convolution_bias",),
    "pegasus": _LAYERS,
    "pegasus_x": _LAYERS,
    "phimoe": _HEAD,
    "plbart": _LAYERS,
    "pop2piano": ("num_hidden_layers", "hidden_size", "num_attention_heads"),
    "qwen2_audio_encoder": ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size"),
    "qwen3_moe": _LOCAL_EXPERTS,
    "qwen3_vl_moe_text": _LOCAL_EXPERTS,
    "seamless_m4t": ("num_hidden_layers", "num_attention_heads"),
    "seamless_m4t_v2": ("num_hidden_layers", "num_attention_heads"),
    "segformer": _LAYERS,
    "speech_to_text": _LAYERS,
    "table-transformer": _LAYERS,
    "videomae": ("qv_bias",),
    "vipllava": ("vision_feature_layer",),
    "vit": _HEAD,
    "vit_mae": _HEAD,
    "vit_msn": _HEAD,
    "vivit": ("head_dim", "pooler_output_size"),
    "whisper": _LAYERS,
    "zamba": _HEAD,
    "zamba2": _HEAD,
}
"""Keys that 5.23.0 reads for a type and 4.57 does not: entries of the ``attribute_map`` that came later, and attributes that a class did not ask
for."""

INNER_TYPES = {
    "moshi": {"audio_encoder_config": "mimi"},
    "parakeet_ctc": {"encoder_config": "parakeet_encoder"},
    "qwen2_audio": {"audio_config": "qwen2_audio_encoder"},
    "zoedepth": {"backbone_config": "beit"},
}
"""What a sub-config is that does not say its type."""

MOST_DEPTH = 8
"""How far down sub-configs are read."""


def as_older(model_type: str, raw: Mapping[str, Any], depth: int = MOST_DEPTH) -> dict[str, Any]:
    """Return a config of *model_type* with the keys that give 5.23.0 what 4.57 makes of *raw*.

    >>> as_older("mixtral", {"num_experts": 4, "hidden_size": 8})
    {'hidden_size': 8}
    >>> as_older("blt", {})
    {'encoder_config': {'intermediate_size': 2816}}
    """
    unread = UNREAD.get(model_type, ())
    read = {key: value for key, value in raw.items() if key not in unread}
    types = INNER_TYPES.get(model_type, {})
    for key, value in read.items():
        if isinstance(value, Mapping) and depth:
            inner = value.get("model_type", types.get(key, ""))
            read[key] = as_older(inner if isinstance(inner, str) else "", value, depth - 1)
    change = CHANGES.get(model_type)
    return change(read) if change is not None else read


def _read_blt(raw: dict[str, Any]) -> dict[str, Any]:
    """Give the local encoder the width of its feed-forward block, which is no part of its hidden size there."""
    return {**raw, "encoder_config": {"intermediate_size": 2816, **(raw.get("encoder_config") or {})}}


def _read_deepseek_v2(raw: dict[str, Any]) -> dict[str, Any]:
    return {"vocab_size": 32000, **raw}


def _read_moshi(raw: dict[str, Any]) -> dict[str, Any]:
    """Give the depth decoder what it shares with the whole also where the config says nothing of it."""
    return {**raw, "depth_decoder_config": raw.get("depth_decoder_config", {})}


def _read_moonshine(raw: dict[str, Any]) -> dict[str, Any]:
    """Take the sizes that name no half for the encoder's; they are the decoder's since."""
    names = ("num_key_value_heads", "num_attention_heads", "num_hidden_layers")
    return {key: value for key, value in raw.items() if key not in names} | {f"encoder_{name}": raw[name] for name in names if name in raw}


def _read_ovis2(raw: dict[str, Any]) -> dict[str, Any]:
    """Take the text config for a Qwen 2's, whatever it says, and count the marks for the vision head where nothing is said of vision."""
    text = raw.get("text_config")
    read = {**raw, "text_config": {**text, "model_type": "qwen2"}} if isinstance(text, Mapping) else raw
    marks = raw.get("visual_indicator_token_ids")
    if raw.get("vision_config") is not None or not isinstance(marks, (list, tuple)):
        return read
    return {**read, "vision_config": {"num_visual_indicator_tokens": len(marks)}}


def _read_perceiver(raw: dict[str, Any]) -> dict[str, Any]:
    """Read the number of labels from the list of their names."""
    return {key: value for key, value in raw.items() if key != "num_labels" or not isinstance(raw.get("id2label"), Mapping)}


def _read_qwen2_5_omni(raw: dict[str, Any]) -> dict[str, Any]:
    """Let the thinker's text config alone decide on its head."""
    thinker = raw.get("thinker_config") or {}
    text = thinker.get("text_config") or {}
    tied = {"tie_word_embeddings": text.get("tie_word_embeddings", False)}
    return {**raw, "thinker_config": {**thinker, **tied}, **tied}


def _read_t5gemma(raw: dict[str, Any]) -> dict[str, Any]:
    """Give both halves the vocabulary of the whole, a decoder of which nothing is said the encoder's sizes, and untie the head if whole and decoder say so."""
    vocab = raw.get("vocab_size", 256000)
    encoder = raw.get("encoder") or {}
    decoder = raw.get("decoder")
    decoder = encoder if decoder is None else decoder
    halves = {"encoder": {**encoder, "vocab_size": vocab}, "decoder": {**decoder, "vocab_size": vocab}}
    return {
        **raw,
        **halves,
        "tie_word_embeddings": raw.get("tie_word_embeddings") is not False or decoder.get("tie_word_embeddings") is not False,
    }


def _read_xcodec(raw: dict[str, Any]) -> dict[str, Any]:
    """Take the semantic model for a HuBERT, whatever its config says."""
    semantic = raw.get("semantic_model_config")
    return {**raw, "semantic_model_config": {**semantic, "model_type": "hubert"}} if isinstance(semantic, Mapping) else raw


CHANGES = {
    "blt": _read_blt,
    "deepseek_v2": _read_deepseek_v2,
    "moonshine": _read_moonshine,
    "moshi": _read_moshi,
    "ovis2": _read_ovis2,
    "perceiver": _read_perceiver,
    "qwen2_5_omni": _read_qwen2_5_omni,
    "t5gemma": _read_t5gemma,
    "xcodec": _read_xcodec,
}
"""What else 4.57 makes of the configs of a type."""
