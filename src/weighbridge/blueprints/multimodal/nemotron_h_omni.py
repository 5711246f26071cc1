"""Nemotron Nano Omni: Nemotron-H with RADIO's image encoder and, if it hears, Parakeet's encoder.

Source: NVIDIA, Nemotron 3 Nano Omni (2026); names as in transformers 5.23.0, models/nemotron_h_omni/modeling_nemotron_h_omni.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

FRAMES = unknown("the length of the audio depends on the input")
SQUARES = unknown("the number of tiles depends on the size of the image")
AUDIO = (
    size("projection", "projection_hidden_size", 4096, "P", "inner width of the projector"),
    choice("projection_bias", "projection_bias", False),
)


def _squares(c: Config) -> int:
    """Return how many patches become one token: a square whose side is the whole inverse of the ratio."""
    if not c.ratio:
        raise ConfigError("patches cannot be reduced to nothing", key="downsample_ratio", value=c.ratio)
    return int(1 / c.ratio) ** 2


FIELDS = (
    model_config("text", "text_config", "nemotron_h", more=(Field("ahead", "num_nextn_predict_layers", 0, "choice"),)),
    model_config("vision", "vision_config", "radio", absent={"video_temporal_patch_size": 2}),
    model_config("audio", "audio_config", "parakeet_encoder", only=True, optional=True, more=AUDIO),
    size("vision_width", "vision_hidden_size", 1280, "W", "width of the image encoder"),
    size("projection", "projector_hidden_size", 4096, "P", "inner width of the projector"),
    choice("ratio", "downsample_ratio", 0.5),
    computed("squares", _squares),
)


def projector(name: str, inputs: Size, inner: Size, outputs: Size, stream: Stream, *, bias: bool = False) -> Part:
    """Describe a norm and two linear layers."""
    linears = linear("linear_1", inputs, inner, bias=bias), linear("linear_2", inner, outputs, bias=bias)
    return part(name, rms_norm("layer_norm", inputs), *linears, kind="projector", stream=stream)


def omni(c: Config) -> Part:
    """Describe NemotronH_Omni_Reasoning_V3; the encoder gets its images with mean and deviation taken out."""
    H, width = c.text.hidden, c.vision_width
    encoder = submodel(c.vision)
    encoder = replace(encoder, children=tuple(child for child in encoder.children if child.name != "input_conditioner"), stream=SQUARES)
    norm = (per_image(layer_norm("vision_final_layernorm", width)),) if c.text.ahead else ()
    ears: tuple[Part, ...] = ()
    if c.audio is not None:
        tower = as_child("audio_tower", submodel(c.audio), streams={"seq": FRAMES}, requires="sounds")
        embedded = projector("embed_audio", c.audio.hidden, c.audio.projection, H, FRAMES, bias=c.audio.projection_bias)
        ears = tower, replace(embedded, requires="sounds")
    return part(
        "",
        as_child("language_model", submodel(c.text, "ForCausalLM", "LMHeadModel")),
        as_child("vision_model", encoder, requires="images", executions="images"),
        *norm,
        per_image(projector("multi_modal_projector", width * c.squares, c.projection, H, SQUARES)),
        *ears,
        kind="model",
    )


OLDER = {"llm_config": "text_config", "sound_config": "audio_config", "vit_hidden_size": "vision_hidden_size"}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read the names of released checkpoints, and leave out what they say of the image encoder's preprocessing.

    >>> normalize_config({"sound_config": {"model_type": "parakeet"}})
    {'audio_config': {'attention_bias': False, 'scale_input': False}}
    """
    found = {key: value for key, value in raw.items() if key not in OLDER}
    found |= {name: raw[older] for older, name in OLDER.items() if raw.get(older) is not None and found.get(name) is None}
    audio = found.get("audio_config")
    if isinstance(audio, Mapping):
        own = {key: value for key, value in audio.items() if key != "model_type"}
        found["audio_config"] = {"attention_bias": False, "scale_input": False, **own}
    return found


NAME = "NemotronH_Omni_Reasoning_V3"
MARKS = frozenset(
    """audio_token_id force_image_size img_context_token_id sound_context_token_id video_context_token_id video_pruning_rate
    video_temporal_patch_size""".split()
)
FAMILIES = {
    "nemotron_h_omni": Family("nemotron_h_omni", FIELDS, {NAME: omni}, NAME, IGNORED_KEYS | MARKS, normalize_config=normalize_config)
}
