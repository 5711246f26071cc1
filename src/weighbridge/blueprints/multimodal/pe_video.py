"""Perception Encoder for video, with and without sound: one of timm's image encoders on each frame, and a transformer over the frames.

Source: Meta, Perception Encoder Audiovisual (2025); names as in transformers 5.23.0, models/pe_video/modeling_pe_video.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech import pe_audio
from weighbridge.blueprints.speech.pe_audio import (
    FRAMES,
    LAYERED,
    STREAMS,
    TEXT,
    contrastive_head,
    contrastive_model,
    convolution,
    over_frames,
    with_defaults,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Node, Part, Tensor, copy_name, positions

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


def both_towers(c: Config) -> Part:
    """Describe PeVideoModel."""
    return contrastive_model(c, "video", c.video)


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


def share_tensors(module: Part, owner: str) -> Part:
    """Say that every tensor of a part is the storage of the one of the same name under *owner*: a layer of many is written out."""
    children: list[Node] = []
    for child in module.children:
        if isinstance(child, Tensor):
            children.append(replace(child, tied_to=f"{owner}{child.name}"))
        elif isinstance(child, Part) and isinstance(child.repeat, int):  # a symbol stays: names are asked for of numbers alone
            copies = (
                replace(share_tensors(child, f"{owner}{copy_name(child.name, index)}."), repeat=1, indices=(index,))
                for index in positions(child)
            )
            children += copies
        else:
            children.append(share_tensors(child, f"{owner}{child.name}.") if isinstance(child, Part) else child)
    return replace(module, children=tuple(children))


def share(tree: Part, owners: Mapping[str, str]) -> Part:
    """Say of the modules that *owners* name whose storage they are; a dotted name is that of a module within another."""
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            inner = {name.removeprefix(f"{child.name}."): owner for name, owner in owners.items() if name.startswith(f"{child.name}.")}
            child = share_tensors(child, owners[child.name]) if child.name in owners else share(child, inner)
        children.append(child)
    return replace(tree, children=tuple(children))


SHARED = {
    "audio_model.text_model": "text_model.",
    "video_model.text_model": "text_model.",
    "audio_video_encoder.embedder.audio_encoder": "audio_model.audio_encoder.",
    "audio_video_encoder.embedder.video_encoder": "video_model.video_encoder.",
}
"""Modules of PeAudioVideoModel that are others' storage, where the config ties."""


def all_three(c: Config) -> Part:
    """Describe PeAudioVideoModel: the models of sound and of images, one encoder over both of theirs, and one text encoder for all."""
    T, both_sides = c.text.hidden, c.audio_video
    A, V = both_sides.audio.hidden, both_sides.video.hidden
    scales = (
        Tensor(f"{name}_logit_{kind}", (1,), role)
        for name in ("audio_video", "text_audio_video", "audio_plus_text", "video_plus_text")
        for kind, role in (("scale", "gain"), ("bias", "bias"))
    )
    whole = part(
        "",
        *scales,
        as_child("text_model", submodel(c.text), streams=STREAMS),
        as_child("audio_model", pe_audio.both_towers(Config(text=c.text, audio=both_sides.audio))),
        as_child("video_model", both_towers(Config(text=c.text, video=both_sides.video))),
        as_child("audio_video_encoder", submodel(both_sides)),
        contrastive_head("audio_video_head", both_sides.hidden, T),
        contrastive_head("text_audio_video_head", T, T),
        contrastive_head("audio_plus_text_head", T + A, T),
        contrastive_head("video_plus_text_head", T + V, T),
        kind="model",
        stream=FRAMES,
    )
    return share(whole, SHARED) if c.tied else whole


ALL = (
    model_config("text", "text_config", "modernbert", absent=TEXT),
    model_config("audio_video", "audio_video_config", "pe_audio_video_encoder", fixed=True),
    switch("tied", "tie_word_embeddings", True),
)
WITH_SOUND = (
    model_config("audio", "audio_config", "pe_audio_encoder", only=True),
    model_config("video", "video_config", "pe_video_encoder", only=True),
    *LAYERED,
)
TOGETHER, TOGETHER_WITH_TEXT = "PeAudioVideoEncoder", "PeAudioVideoModel"
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
    "pe_audio_video": Family(
        "pe_audio_video", ALL, {TOGETHER_WITH_TEXT: all_three}, TOGETHER_WITH_TEXT, normalize_config=with_defaults("text_config", TEXT)
    ),
    "pe_video": Family("pe_video", BOTH, {WHOLE: both_towers}, WHOLE, frozenset(), normalize_config=with_defaults("text_config", TEXT)),
}
