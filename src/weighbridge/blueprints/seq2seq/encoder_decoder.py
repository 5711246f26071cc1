"""Any encoder with any decoder: text to text, image to text (TrOCR, Donut), speech to text.

Source: arXiv 1907.12461 (text), 2109.10282 (images), 2104.06678 (speech); names as in transformers 5.23.0,
models/encoder_decoder/modeling_encoder_decoder.py, models/vision_encoder_decoder and models/speech_encoder_decoder.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import speech_encoder
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.swin_common import stage_maps
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, derived
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Attend, Node, Part, State

HALVING = ("swin", "donut-swin", "swinv2")
"""Encoders whose maps halve from stage to stage, while the width doubles."""

DECODERS = "bert gpt2 roberta bart trocr mbart xlm-roberta"


def fields(encoders: str) -> tuple[Field, ...]:
    """List the two sub-configs, and whether the encoder's states are brought to the decoder's width."""
    return (
        model_config("encoder", "encoder", encoders),
        model_config(
            "decoder",
            "decoder",
            DECODERS,
            absent={"is_decoder": True, "add_cross_attention": True},
            more=(choice("cross_width", "cross_attention_hidden_size", None),),
        ),
        derived("states", lambda c: width(c, "encoder")),
        computed("projected", needs_projection),
    )


def width(c: Config, side: str) -> Size:
    """Return the width of a side's states.

    Raises:
        ConfigError: The type has no single one.
    """
    inner = getattr(c, side)
    found: Size | None = getattr(inner, "hidden", None)
    if found is None:
        raise ConfigError(
            Text("a {model_type} has no hidden size that the other side could be joined to", model_type=inner.model_type), key=side
        )
    return found


def needs_projection(c: Config) -> bool:
    """Say whether a linear map stands between the two: not where the decoder's cross-attention takes the encoder's width."""
    across = c.decoder.cross_width
    if across is not None and across != c.states:
        raise ConfigError(
            Text("{across} but the encoder's states are {states} wide", across=across, states=c.states),
            key="decoder.cross_attention_hidden_size",
            value=across,
        )
    return across is None and getattr(c.encoder, "out", c.states) != width(c, "decoder")


def given_out(c: Config, tree: Part) -> Stream:
    """Return the stream that comes out of an encoder: of speech the frames, of halving maps the last, else what the whole model sees."""
    if c.model_type in HALVING:
        return area(stage_maps(c)[-1])
    if hasattr(c, "kernels"):
        return speech_encoder.adapter_output(c)
    return "seq" if tree.stream is None else tree.stream


def bridge(c: Config, states: Stream) -> tuple[Part, ...]:
    """Describe the map from the encoder's width to the decoder's, if they differ."""
    if not c.projected:
        return ()
    # Behind an adapter the states are wider than the map takes them: the reference holds it and cannot run it.
    adapted = getattr(c.encoder, "extended", False) and c.encoder.projected
    stream = unknown("the map after the encoder expects another width than its adapter outputs") if adapted else states
    return (linear("enc_to_dec_proj", c.states, c.decoder.hidden, stream=stream),)


def keep_nothing(tree: Part) -> Part:
    """Let nothing of a tree be kept between tokens: the reference drops the cache of an encoder, even of one that is a decoder by its config."""

    def without(node: Node) -> Node:
        match node:
            case Part():
                return keep_nothing(node)
            case Attend():
                return replace(node, causal=False)
            case _:
                return node

    return replace(tree, children=tuple(without(child) for child in tree.children if not isinstance(child, State)))


def pair(c: Config) -> Part:
    """Describe the encoder, the decoder that attends to its states, and the map between them if their widths differ."""
    encoder = submodel(c.encoder)
    states = given_out(c.encoder, encoder)
    return part(
        "",
        as_child("encoder", keep_nothing(encoder)),
        as_child("decoder", submodel(c.decoder, *CAUSAL), streams={"seq": "decoder", "encoder": states}),
        *bridge(c, states),
        kind="model",
    )


def family_of(model_type: str, name: str, encoders: str) -> Family:
    """Return one of the three: they differ in what the encoder is by default."""
    return Family(model_type, fields(encoders), {name: pair}, name, frozenset(("tie_word_embeddings",)))


FAMILIES = {
    "encoder-decoder": family_of("encoder-decoder", "EncoderDecoderModel", "bert roberta distilbert electra"),
    "vision-encoder-decoder": family_of("vision-encoder-decoder", "VisionEncoderDecoderModel", "vit deit beit swin donut-swin"),
    "speech-encoder-decoder": family_of("speech-encoder-decoder", "SpeechEncoderDecoderModel", "wav2vec2 hubert wavlm"),
}
