"""Perception Encoder for video, with and without sound: one of timm's image encoders on each frame, and a transformer over the frames.

Source: Meta, Perception Encoder Audiovisual (2025); names as in transformers 5.23.0, models/pe_video/modeling_pe_video.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech.pe_audio import FRAMES, LAYERED, STREAMS, TEXT, contrastive_head, convolution, over_frames, with_defaults
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PICTURES = {"architecture": "vit_pe_core_large_patch14_336"}
"""What the class puts under the image encoder's config."""
UNREAD = ("num_classes", "label_names")
"""How timm's configs state the number of labels, which this class does not read."""
FIELDS = (model_config("vision", "vision_config", "timm_wrapper", only=True, absent=PICTURES), *LAYERED)
BOTH = (
    model_config("text", "text_config", "modernbert", absent=TEXT),
    model_config("video", "video_config", "pe_video_encoder", fixed=True),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put the class's image encoder under the config's, and leave out what is not read there.

    >>> normalize_config({"vision_config": {"num_classes": 1024}})
    {'vision_config': {'architecture': 'vit_pe_core_large_patch14_336'}}
    """
    inner = raw.get("vision_config")
    if not isinstance(inner, Mapping):
        return dict(raw)
    return {**raw, "vision_config": {**PICTURES, **{key: value for key, value in inner.items() if key not in UNREAD}}}


def encoder(c: Config) -> Part:
    """Describe PeVideoEncoder."""
    H = c.hidden
    if not is_some(c.vision.labels):
        raise ConfigError("the encoder hands on the outputs of a head", key="vision_config.num_labels", value=0)
    pictures = as_child("vision_model", submodel(c.vision, "ForImageClassification"), streams=STREAMS)
    return over_frames(
        c, part("embedder", pictures, linear("proj", c.vision.labels, H, bias=False), linear("data_proj", H, H), kind="embeddings")
    )


def both(c: Config) -> Part:
    """Describe PeVideoModel: two encoders, and a head for each into the text's width."""
    T = c.text.hidden
    return part(
        "",
        Tensor("text_video_logit_scale", (1,), "gain"),
        Tensor("text_video_logit_bias", (1,), "bias"),
        as_child("text_model", submodel(c.text), streams=STREAMS),
        as_child("video_encoder", submodel(c.video)),
        contrastive_head("text_video_head", T, T),
        contrastive_head("video_head", c.video.hidden, T),
        kind="model",
        stream=FRAMES,
    )


def with_sound(c: Config) -> Part:
    """Describe PeAudioVideoEncoder: both encoders, whose frames are brought to one rate and joined."""
    H, A, V = c.hidden, c.audio.hidden, c.video.hidden
    joined = (
        as_child("audio_encoder", submodel(c.audio)),
        as_child("video_encoder", submodel(c.video)),
        convolution("video_proj", V, A, 1),
        layer_norm("video_norm", A),
        linear("concat_modality_proj", A + V, H),
        linear("data_proj", H, H),
    )
    return over_frames(c, part("embedder", *joined, kind="embeddings"))


WITH_SOUND = (
    model_config("audio", "audio_config", "pe_audio_encoder", only=True),
    model_config("video", "video_config", "pe_video_encoder", only=True),
    *LAYERED,
)
TOGETHER = "PeAudioVideoEncoder"
ENCODER, WHOLE = "PeVideoEncoder", "PeVideoModel"
FAMILIES = {
    "pe_video_encoder": Family(
        "pe_video_encoder",
        FIELDS,
        {ENCODER: encoder},
        ENCODER,
        frozenset({"max_position_embeddings"}),
        normalize_config=normalize_config,
    ),
    "pe_audio_video_encoder": Family(
        "pe_audio_video_encoder", WITH_SOUND, {TOGETHER: with_sound}, TOGETHER, frozenset({"max_position_embeddings"})
    ),
    "pe_video": Family("pe_video", BOTH, {WHOLE: both}, WHOLE, frozenset(), normalize_config=with_defaults("text_config", TEXT)),
}
