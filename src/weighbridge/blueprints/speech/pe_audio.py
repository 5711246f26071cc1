"""Perception Encoder for audio: DAC's encoder, a transformer over its frames, and a text encoder beside it that is held against it.

Source: Meta, Perception Encoder Audiovisual (2025); names as in transformers 5.23.0, models/pe_audio/modeling_pe_audio.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.speech import dac
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, Config, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, gated_mlp, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

FRAMES = unknown("the lengths of audio and text depend on the input")
STREAMS: dict[str, Stream] = {"seq": FRAMES}
CODEC = {"downsampling_ratios": [2, 8, 10, 12], "encoder_hidden_size": 64, "codebook_dim": 128}
TEXT = {"hidden_size": 1024, "intermediate_size": 2624, "num_hidden_layers": 22, "num_attention_heads": 16}
LAYERED = (
    HIDDEN.with_default(1792),
    MLP.with_default(4800),
    LAYERS.with_default(6),
    HEADS.with_default(14),
    KV_HEADS.with_default(lambda c: c.heads),
    HEAD_DIM.with_default(128),
    switch("bias", "attention_bias", False),
)
FIELDS = (model_config("dac", "dac_config", "dac", only=True, absent=CODEC), *LAYERED)
BOTH = (
    model_config("text", "text_config", "modernbert", absent=TEXT),
    model_config("audio", "audio_config", "pe_audio_encoder", fixed=True),
)


def convolution(name: str, inputs: Size, outputs: Size, kernel: Size) -> Part:
    """Describe a convolution over frames."""
    return part(name, Tensor("weight", (outputs, inputs, kernel)), Tensor("bias", (outputs,), "bias"), kind="convolution")


def block(name: str, width: Size) -> Part:
    """Describe a norm over groups of channels and a convolution."""
    return part(name, group_norm("groupnorm", width), convolution("project", width, width, 3))


def encoder(c: Config) -> Part:
    """Describe PeAudioEncoder."""
    codec, _ = dac.encoder(c.dac)
    narrowed = convolution("bottleneck", c.dac.hidden, c.dac.code, 1), linear("data_proj", c.dac.code, c.hidden)
    return over_frames(c, part("embedder", replace(codec, name="dac_encoder"), *narrowed, kind="embeddings"))


def over_frames(c: Config, embedder: Part) -> Part:
    """Describe convolutions and a transformer over the frames that an *embedder* makes."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    attended = part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.bias),
        linear("k_proj", H, K * D, bias=c.bias),
        linear("v_proj", H, K * D, bias=c.bias),
        linear("o_proj", A * D, H, bias=c.bias),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )
    layer = attended, gated_mlp("mlp", H, c.mlp), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    return part(
        "",
        embedder,
        part(
            "patch_embedder",
            Tensor("class_embedding", (1, 1, H), "embedding"),
            part("resnet_block", block("block1", H), block("block2", H)),
            kind="embeddings",
        ),
        part("layers", *layer, kind="layer", repeat=c.layers),
        rms_norm("norm", H),
        linear("output", H, H, bias=False),
        kind="model",
        stream=FRAMES,
    )


def contrastive_head(name: str, width: Size, out: Size) -> Part:
    """Describe the way into the space in which texts, audio and images are compared."""
    return part(name, layer_norm("layer_norm", width), linear("proj", width, out, bias=False), kind="head")


def contrastive_model(c: Config, what: str, encoder: Config) -> Part:
    """Describe a text model and an *encoder* of sound or video, and a head for each into the text's width."""
    T = c.text.hidden
    return part(
        "",
        Tensor(f"text_{what}_logit_scale", (1,), "gain"),
        Tensor(f"text_{what}_logit_bias", (1,), "bias"),
        as_child("text_model", submodel(c.text), streams=STREAMS),
        as_child(f"{what}_encoder", submodel(encoder)),
        contrastive_head(f"text_{what}_head", T, T),
        contrastive_head(f"{what}_head", encoder.hidden, T),
        kind="model",
        stream=FRAMES,
    )


def both_towers(c: Config) -> Part:
    """Describe PeAudioModel and PeAudioFrameLevelModel."""
    return contrastive_model(c, "audio", c.audio)


def with_defaults(key: str, defaults: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what puts the outer class's own defaults under a sub-config, whatever that states.

    >>> with_defaults("text_config", {"hidden_size": 1024})({"text_config": {"num_hidden_layers": 2}})
    {'text_config': {'hidden_size': 1024, 'num_hidden_layers': 2}}
    """

    def normalize(raw: Mapping[str, Any]) -> dict[str, Any]:
        inner = raw.get(key)
        return {**raw, key: {**defaults, **inner}} if isinstance(inner, Mapping) else dict(raw)

    return normalize


ENCODER, WHOLE = "PeAudioEncoder", "PeAudioModel"
FAMILIES = {
    "pe_audio_encoder": Family(
        "pe_audio_encoder",
        FIELDS,
        {ENCODER: encoder},
        ENCODER,
        frozenset({"max_position_embeddings"}),
        normalize_config=with_defaults("dac_config", CODEC),
    ),
    "pe_audio": Family(
        "pe_audio",
        BOTH,
        {WHOLE: both_towers, "PeAudioFrameLevelModel": both_towers},
        WHOLE,
        frozenset(),
        normalize_config=with_defaults("text_config", TEXT),
    ),
}
