"""dots3-note: a language model that sees, through a tower with ever more experts from layer to layer, and hears.

Source: names as in transformers 5.23.0, models/dots3_note/modeling_dots3_note.py. Published files state the text's fields beside the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.audio_encoders import eighth
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES, merged_patches
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.blueprints.multimodal.glm_asr import HEARD
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    PATCH,
    SPATIAL_MERGE,
    Config,
    Field,
    computed,
    constant,
    derived,
    settable,
    size,
    switch,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, fused_experts, gated_mlp, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def vision(c: Config) -> Part:
    """Describe Dots3NoteVisionModel: patches, layers with an MLP or so many experts, and squares of patches made as wide as the text."""
    H = c.hidden
    wide = H * c.merge * c.merge
    projection = conv2d("proj", c.channels, H, c.patch), rms_norm("norm", H)
    merger = linear("0", wide, wide), linear("2", wide, c.out)
    return part(
        "",
        part("patch_embed", *projection, kind="embeddings"),
        *stack("blocks", c.kinds, c.layers, lambda experts: block(c, experts)),
        part("merger", layer_norm("ln_q", H), part("mlp", *merger, kind="feed_forward", stream=merged_patches(c)), kind="projector"),
        rms_norm("norm", H),
        kind="vision",
        stream=PATCHES,
    )


def block(c: Config, experts: tuple[int, int] | None) -> tuple[Node, ...]:
    """Describe a layer of the tower, with an MLP or with so many experts, of which a few work on a patch."""
    H, D = c.hidden, c.head_dim
    attention = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.bias),
        linear("proj", H, H, bias=c.bias),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(heads=c.heads, head_dim=D),
        kind="self_attention",
    )
    if experts is None:
        inner = gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias)
    else:
        count, active = experts
        corrected = Tensor("e_score_correction_bias", (count,), "buffer")
        inner = part("mlp", corrected, fused_experts(count, active, H, c.expert_mlp), linear("gate", H, count, bias=False), kind="mixture")
    return rms_norm("norm1", H), attention, rms_norm("norm2", H), inner


def audio(c: Config) -> Part:
    """Describe Dots3NoteAudioModel: convolutions that halve frames and mel bins three times, layers, and an adapter."""
    H, D, C = c.hidden, c.head_dim, c.channels
    convs = part("convs", *(conv2d(str(index), C if index else 1, C, 3) for index in range(3)), kind="convolutions")
    attention = part(
        "self_attn",
        linear("q_proj", H, c.heads * D, bias=c.bias),
        linear("k_proj", H, H, bias=False),
        linear("v_proj", H, c.heads * D, bias=c.bias),
        linear("o_proj", c.heads * D, H, bias=c.bias),
        attend(heads=c.heads, head_dim=D),
        kind="self_attention",
    )
    mlp = part("mlp", linear("gate_up_proj", H, 2 * c.mlp), linear("down_proj", c.mlp, H), kind="feed_forward")
    layer = attention, rms_norm("input_layernorm", H), mlp, rms_norm("post_attention_layernorm", H)
    adapter = layer_norm("norm", H), linear("fc1", H, c.out), linear("fc2", c.out, c.out)
    return part(
        "",
        part("conv_stem", convs, linear("conv_out", c.heard, H, bias=False), kind="stem"),
        part("layers", *layer, kind="layer", repeat=c.layers),
        rms_norm("layer_norm", H),
        part("adapter", *adapter, kind="projector"),
        kind="model",
        stream=HEARD,
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe the text, the tower that sees and the one that hears."""
    return (
        as_child("language_model", submodel(c.text)),
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios"),
    )


PYRAMID = [-1] * 25 + [*range(4, 65, 4), 64]
"""How many experts each layer of the published tower has; below 1 it is none, and an MLP."""
BY_PYRAMID = "by pyramid"
"""What a config means that says nothing by layer; a null says that all layers are alike."""


def _kinds(c: Config) -> list[tuple[int, int] | None]:
    """Return for each layer None, or how many experts it has and how many of them work on a patch."""
    counts = PYRAMID if c.counts is None and c.stated is None else c.counts
    active = c.capacity if c.active is None else c.active
    kinds = c.stated if counts is None else ["sparse" if count > 0 else "dense" for count in counts]
    if len(kinds) < c.layers:
        raise ConfigError(Text("{layers} layers", layers=c.layers), key="mlp_layer_types", value=kinds, hint="one for each layer")
    made = {index: {"num_local_experts": count, "num_experts_per_tok": min(active, count)} for index, count in enumerate(counts or ())}
    told = made if c.by_layer == BY_PYRAMID else {int(index): sizes for index, sizes in (c.by_layer or {}).items()}
    strange = {key for sizes in told.values() for key in sizes} - {"num_local_experts", "num_experts_per_tok"}
    if strange:
        raise ConfigError(Text("{strange} by layer is not described for this type", strange=min(strange)), key="per_layer_config")
    found = [{"num_local_experts": c.experts, "num_experts_per_tok": active} | told.get(index, {}) for index in layer_range(c.layers)]
    return [
        (sizes["num_local_experts"], sizes["num_experts_per_tok"]) if kind == "sparse" else None
        for kind, sizes in zip(kinds, found, strict=False)
    ]


def _refuse_mismatch(c: Config) -> bool:
    """Refuse what the class refuses: a merger or an adapter of another width than the layers have, biases beside experts."""
    if c.inputs != c.hidden or getattr(c, "squares", 0) != getattr(c, "merge", 0):
        raise ConfigError(Text("the layers have {hidden}", hidden=c.hidden), key="adapter_in_dim", value=c.inputs)
    if getattr(c, "mlp_bias", False) and any(c.kinds):
        raise ConfigError("experts have no biases", key="mlp_bias", value=True)
    return True


def _refuse_other_widths(c: Config) -> bool:
    """Refuse towers whose last map is not as wide as the text."""
    for key, tower in (("vision_config", c.vision), ("audio_config", c.audio)):
        if tower.out != c.text.hidden:
            raise ConfigError(Text("the text has {hidden}", hidden=c.text.hidden), key=f"{key}.adapter_out_dim", value=tower.out)
    return True


def same_head_dim() -> Field:
    """Declare the width of a head, of which the heads have the whole."""
    return derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads")


VISION = (
    size("hidden", "hidden_size", 1536, "H", "hidden size", "embed_dim"),
    MLP.with_default(4224),
    LAYERS.with_default(42),
    size("heads", "num_attention_heads", 24, "A", "attention heads", "num_heads"),
    same_head_dim(),
    size("channels", "num_channels", 3, "N", "image channels"),
    PATCH.with_default(14),
    size("expert_mlp", "moe_intermediate_size", 2112, "X", "intermediate size of an expert"),
    SPATIAL_MERGE.with_default(2),
    switch("bias", "attention_bias", False, "use_bias"),
    switch("mlp_bias", "mlp_bias", False),
    Field("stated", "mlp_layer_types", None, "choice"),
    Field("counts", "pyramid_num_routed", None, "choice", report_default=False),
    Field("by_layer", "per_layer_config", BY_PYRAMID, "choice", nullable=True, report_default=False),
    Field("experts", "num_local_experts", 64, "choice"),
    Field("active", "num_experts_per_tok", None, "choice"),
    Field("capacity", "capacity_factor", 2, "choice", report_default=False),
    constant("kinds", _kinds),
    size("inputs", "adapter_in_dim", 1536, "H_in", "input width of the merger"),
    size("out", "adapter_out_dim", 5120, "O", "width of a merged patch"),
    size("squares", "adapter_merge_size", 2, "M_in", "patches merged along an axis by the merger"),
    computed("fits", _refuse_mismatch),
)
AUDIO = (
    HIDDEN.with_default(1280),
    MLP.with_default(5120),
    LAYERS.with_default(32),
    HEADS.with_default(20),
    same_head_dim(),
    size("mels", "feature_size", 128, "M", "mel bins"),
    size("channels", "downsample_hidden_size", 480, "C", "channels of the convolutions"),
    settable("heard", "conv_output_size", lambda c: c.channels * eighth(c.mels), "C_out", "width of the flattened convolutions"),
    switch("bias", "attention_bias", True),
    size("inputs", "adapter_input_size", 1280, "H_in", "input width of the adapter", "whisper_adapter_in_dim"),
    size("out", "adapter_out_dim", 5120, "O", "output width of the adapter", "adapter_output_size", "whisper_adapter_out_dim"),
    computed("fits", _refuse_mismatch),
)
WHISPER = {
    "d_model": "hidden_size",
    "encoder_attention_heads": "num_attention_heads",
    "encoder_layers": "num_hidden_layers",
    "encoder_ffn_dim": "intermediate_size",
    "num_mel_bins": "feature_size",
}
"""What published files call the encoder's sizes, in ``whisper_config``."""


def whisper_names(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring Whisper's names of the encoder's sizes into the present ones.

    >>> whisper_names({"whisper_config": {"d_model": 8, "dropout": 0.1}})
    {'hidden_size': 8}
    """
    older = raw.get("whisper_config") or {}
    rest = {key: value for key, value in raw.items() if key != "whisper_config"}
    return rest | {name: older[legacy] for legacy, name in WHISPER.items() if legacy in older}


OWN_KEYS = "audio_config audio_token_id image_token_id model_type text_config tie_word_embeddings video_token_id vision_config".split()


def nest_text(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read the text's fields from beside the others, where there is no ``text_config``.

    >>> nest_text({"hidden_size": 8, "image_token_id": 1})
    {'image_token_id': 1, 'text_config': {'hidden_size': 8}}
    """
    if raw.get("text_config") is not None:
        return dict(raw)
    own = {key: value for key, value in raw.items() if key in OWN_KEYS and key != "text_config"}
    return own | {"text_config": {key: value for key, value in raw.items() if key not in OWN_KEYS and key != "architectures"}}


WHOLE = (
    model_config("text", "text_config", "dots3_note_text", fixed=True),
    model_config("vision", "vision_config", "dots3_note_vision_encoder", fixed=True),
    model_config("audio", "audio_config", "dots3_note_audio_encoder", fixed=True),
    switch("tied", "tie_word_embeddings", False),
    computed("as_wide", _refuse_other_widths),
)
FAMILIES = {
    "dots3_note": Family(
        "dots3_note",
        WHOLE,
        {"Dots3NoteModel": without_head(body), "Dots3NoteForConditionalGeneration": with_lm_head(body)},
        "Dots3NoteModel",
        frozenset("audio_token_id image_token_id video_token_id".split()),
        normalize_config=nest_text,
    ),
    "dots3_note_vision_encoder": Family(
        "dots3_note_vision_encoder",
        VISION,
        {"Dots3NoteVisionModel": vision},
        "Dots3NoteVisionModel",
        frozenset("router_scale router_scaling_factor is_causal".split()),
    ),
    "dots3_note_audio_encoder": Family(
        "dots3_note_audio_encoder",
        AUDIO,
        {"Dots3NoteAudioModel": audio},
        "Dots3NoteAudioModel",
        frozenset("head_dim hop_length max_position_embeddings num_key_value_heads sampling_rate samples_per_token".split()),
        normalize_config=whisper_names,
    ),
}
