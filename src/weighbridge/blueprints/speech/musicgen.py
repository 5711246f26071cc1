"""MusicGen: a T5 text encoder, a decoder of several codebooks, and EnCodec.

Source: arXiv 2306.05284; class and tensor names as in transformers 5.23.0, models/musicgen/modeling_musicgen.py and
models/musicgen_melody/modeling_musicgen_melody.py. The codec runs in generation only.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, choice, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part

MELODY = unknown("text and melody come before the codes, and the caller gives the melody's length")


def needs_projection(c: Config) -> bool:
    """Say whether a map stands between text and decoder: not where the decoder is built with the text's width."""
    across = c.decoder.across
    if across is not None and across != c.text.hidden:
        raise ConfigError(
            Text("{across} but the text's states are {hidden} wide", across=across, hidden=c.text.hidden),
            key="decoder.cross_attention_hidden_size",
            value=across,
        )
    return across is None and c.text.hidden != c.decoder.hidden


def fields(decoder: str, *more: Field) -> tuple[Field, ...]:
    """List the three sub-configs."""
    across = (choice("across", "cross_attention_hidden_size", None),)
    return (
        model_config("text", "text_encoder", "t5 umt5"),
        model_config("audio", "audio_encoder", "encodec"),
        model_config("decoder", "decoder", decoder, fixed=True, more=across),
        *more,
    )


def three_models(c: Config, tokens: Stream, *maps: Part) -> Part:
    """Describe the three, and the *maps* between them."""
    return part(
        "",
        as_child("text_encoder", submodel(c.text, "EncoderModel")),
        as_child("audio_encoder", submodel(c.audio), requires="audios"),
        as_child("decoder", submodel(c.decoder, "ForCausalLM"), streams={"seq": tokens, "encoder": "seq"}),
        *maps,
        kind="model",
    )


def musicgen(c: Config) -> Part:
    """Describe MusicGen."""
    return three_models(c, "decoder", *((linear("enc_to_dec_proj", c.text.hidden, c.decoder.hidden),) if c.projected else ()))


def melody(c: Config) -> Part:
    """Describe MusicGen Melody, which also maps the pitches of a melody."""
    text = (linear("enc_to_dec_proj", c.text.hidden, c.decoder.hidden),) if c.projected else ()
    pitches = (linear("audio_enc_to_dec_proj", c.chroma, c.decoder.hidden, stream=MELODY),) if c.mapped else ()
    return three_models(c, MELODY, *text, *pitches)


CHROMA = (
    size("chroma", "num_chroma", 12, "C", "pitch classes"),
    computed("projected", lambda c: c.text.hidden != c.decoder.hidden),
    computed("mapped", lambda c: c.chroma != c.decoder.hidden),
)
OUTER_IGNORED_KEYS = frozenset(("chroma_length", "tie_word_embeddings"))


def family_of(stem: str, name: str, table: tuple[Field, ...], blueprint: Blueprint) -> Family:
    """Return one model type."""
    class_name = f"{name}ForConditionalGeneration"
    return Family(stem, table, {class_name: blueprint}, class_name, OUTER_IGNORED_KEYS)


FAMILIES = {
    "musicgen": family_of("musicgen", "Musicgen", fields("musicgen_decoder", computed("projected", needs_projection)), musicgen),
    "musicgen_melody": family_of("musicgen_melody", "MusicgenMelody", fields("musicgen_melody_decoder", *CHROMA), melody),
}
