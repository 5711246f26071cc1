"""SpeechT5: one encoder and one decoder for text and speech, which come in through nets of their own (Ao et al., 2021).

Source: arXiv 2110.07205; names as in transformers 5.23.0, models/speecht5/modeling_speecht5.py. A side alone reads ``seq``.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints import Blueprint, Family
from weighbridge.blueprints.speech import frames
from weighbridge.blueprints.speecht5_nets import FIELDS, SKIPPED, decoder, encoder, hears, reads, repeats, spoken, writes
from weighbridge.config.fields import Sizes
from weighbridge.core.parts import linear
from weighbridge.core.tree import Node, Part, Stream

Net = Callable[[Sizes], tuple[Node, ...]]


def read(c: Sizes, net: Net | None) -> tuple[Part, ...]:
    """Describe the encoder behind its net, if it has one; the frames of a wave are fewer than its samples."""
    tokens: Stream = frames(c) if net is hears else "seq"
    inner = Part("wrapped_encoder", encoder(c, tokens), "encoder", stream=tokens)
    return (*((Part("prenet", net(c), "embeddings", stream=tokens),) if net else ()), inner)


def write(c: Sizes, net: Net | None, memory: Stream = "encoder") -> tuple[Part, ...]:
    """Describe the decoder behind its net, if it has one."""
    return (*((Part("prenet", net(c), "embeddings"),) if net else ()), Part("wrapped_decoder", decoder(c, memory), "decoder"))


def both(c: Sizes, reading: Net | None, writing: Net | None) -> tuple[Part, Part]:
    """Describe both sides."""
    memory: Stream = frames(c) if reading is hears else "seq"
    return Part("encoder", read(c, reading), "encoder"), Part("decoder", write(c, writing, memory), "decoder", stream="decoder")


def headed(c: Sizes, reading: Net, writing: Net, head: Part) -> Part:
    """Put a head on both sides."""
    return Part("", (Part("speecht5", both(c, reading, writing), "backbone"), head), "model")


def written(c: Sizes) -> Part:
    """Describe the head that writes text: the decoder's table again."""
    words = "speecht5.decoder.prenet.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=words)
    return Part("text_decoder_postnet", (head,), "lm_head", stream="decoder")


CLASSES: dict[str, Blueprint] = {
    "SpeechT5Model": lambda c: Part("", both(c, None, None), "model"),
    "SpeechT5ForSpeechToText": lambda c: headed(c, hears, writes, written(c)),
    "SpeechT5ForTextToSpeech": lambda c: headed(c, reads, repeats, spoken(c)),
    "SpeechT5ForSpeechToSpeech": lambda c: headed(c, hears, repeats, spoken(c)),
    "SpeechT5Encoder": lambda c: Part("", encoder(c, "seq"), "model"),
    "SpeechT5EncoderWithoutPrenet": lambda c: Part("", read(c, None), "model"),
    "SpeechT5EncoderWithSpeechPrenet": lambda c: Part("", read(c, hears), "model"),
    "SpeechT5EncoderWithTextPrenet": lambda c: Part("", read(c, reads), "model"),
    "SpeechT5Decoder": lambda c: Part("", decoder(c, "encoder"), "model"),
    "SpeechT5DecoderWithoutPrenet": lambda c: Part("", write(c, None), "model"),
    "SpeechT5DecoderWithSpeechPrenet": lambda c: Part("", write(c, repeats), "model"),
    "SpeechT5DecoderWithTextPrenet": lambda c: Part("", write(c, writes), "model"),
}

FAMILIES = {"speecht5": Family("speecht5", FIELDS, CLASSES, "SpeechT5Model", SKIPPED)}
