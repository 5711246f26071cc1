"""CLAP: a RoBERTa for text, and a Swin transformer over patches of mel frames for sound, that meet in one space.

Source: arXiv 2211.06687, section 3; names as in transformers 5.23.0, models/clap/modeling_clap.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.bert import layer as text_layer
from weighbridge.blueprints.bert import pooler
from weighbridge.blueprints.blip import POOLED
from weighbridge.blueprints.clap_audio import FIELDS as AUDIO
from weighbridge.blueprints.clap_audio import audio
from weighbridge.blueprints.roberta import roberta_embeddings
from weighbridge.blueprints.towers import PROJECTED, similarity, stack_fields, text_fields
from weighbridge.config.fields import Sizes, fact, nested, size
from weighbridge.core.parts import linear
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

TEXT = (
    *text_fields(50265, 514, *stack_fields(768, 3072, 12)),
    size("types", "type_vocab_size", 1, "T", "token types"),
    PROJECTED,
    fact("crossed", False),
)


def text_parts(c: Sizes) -> tuple[Part, ...]:
    """Describe RoBERTa's embeddings, whose counters are saved, and its layers."""
    counters = (Tensor(name, (1, c.positions), "buffer") for name in ("position_ids", "token_type_ids"))
    return (roberta_embeddings(c, *counters), Part("encoder", (text_layer(c),), "encoder"))


def text(c: Sizes) -> Part:
    """Describe ClapTextModel."""
    return Part("", (*text_parts(c), *((pooler(c),) if c.pooled else ())), "text")


def text_tower(c: Sizes) -> Part:
    """Describe the text tower as the others hold it, with its pooler."""
    return Part("text_model", (*text_parts(c), pooler(c)), "text")


def projected(name: str, c: Sizes, width: Size) -> Part:
    """Describe the two linear maps from a tower's one vector into the space that both share."""
    return Part(name, (linear("linear1", c.hidden, width), linear("linear2", width, width)), "projector", stream="one")


def clap(c: Sizes) -> Part:
    """Describe ClapModel: both towers and their projections, and a temperature for each direction."""
    return Part("", (
        Tensor("logit_scale_a", (), "gain"),
        Tensor("logit_scale_t", (), "gain"),
        text_tower(c.text),
        projected("text_projection", c.text, c.projected),
        audio(c.audio)._replace(name="audio_model"),
        projected("audio_projection", c.audio, c.projected),
        similarity(c.projected)._replace(name="of_texts"),
        similarity(c.projected)._replace(name="of_sounds"),
    ), "model")  # fmt: skip


def projected_text(c: Sizes) -> Part:
    """Describe ClapTextModelWithProjection."""
    return Part("", (text_tower(c), projected("text_projection", c, c.projected)), "model")


def projected_audio(c: Sizes) -> Part:
    """Describe ClapAudioModelWithProjection."""
    return Part("", (audio(c)._replace(name="audio_model"), projected("audio_projection", c, c.projected)), "model")


NEUTRAL = frozenset(
    "logit_scale_init_value projection_hidden_act num_classes flatten_patch_embeds drop_path_rate num_hidden_layers hidden_size".split()
)
FIELDS = (nested("text", "text_config", TEXT), nested("audio", "audio_config", AUDIO), PROJECTED)
TEXTS = {"ClapTextModel": text, "ClapTextModelWithProjection": projected_text}
SOUNDS = {"ClapAudioModel": audio, "ClapAudioModelWithProjection": projected_audio}
FAMILIES = {
    "clap": Family("clap", FIELDS, {"ClapModel": clap}, "ClapModel", NEUTRAL),
    "clap_text_model": Family("clap_text_model", (*TEXT, POOLED), TEXTS, "ClapTextModel", NEUTRAL),
    "clap_audio_model": Family("clap_audio_model", AUDIO, SOUNDS, "ClapAudioModel", NEUTRAL),
}
