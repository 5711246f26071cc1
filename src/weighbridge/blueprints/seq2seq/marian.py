"""Marian: BART's structure with sinusoidal positions and, optionally, separate vocabularies.

Source: arXiv 1804.00344; OPUS-MT, eamt-1.61; names as in transformers 5.23.0, models/marian/modeling_marian.py.
The sinusoids are frozen parameters, so they count.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *fairseq_transformer.fields(58101, 1024, 1024, 4096, (12, 12), 16),
    size("decoder_vocab", "decoder_vocab_size", lambda c: c.vocab, "V_dec", "vocabulary size of the decoder"),
    switch("shared", "share_encoder_decoder_embeddings", True),
)
STYLE = fairseq_transformer.Style("fixed")


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe both sides: one table for all, or one for each language."""
    owner = f"{prefix}shared.weight" if c.tied and c.shared else None
    return (
        *((embedding("shared", c.vocab, c.hidden),) if c.shared else ()),
        part("encoder", *fairseq_transformer.stack(c, STYLE, c.vocab, owner, fairseq_transformer.layer(c)), kind="encoder"),
        part(
            "decoder",
            *fairseq_transformer.stack(c, STYLE, c.vocab if owner else c.decoder_vocab, owner, fairseq_transformer.layer(c, memory="seq")),
            kind="decoder",
            stream="decoder",
        ),
    )


def generation(c: Config) -> Part:
    """Describe MarianMTModel: a head that is the decoder's table again, and the bias of its logits, a buffer."""
    owner = "model.shared.weight" if c.shared else "model.decoder.embed_tokens.weight"
    vocab = c.vocab if c.shared else c.decoder_vocab
    bias = Tensor("final_logits_bias", (1, vocab), "buffer")
    head = linear("lm_head", c.hidden, vocab, bias=False, tied_to=owner if c.tied else None, stream="decoder")
    return part("", bias, part("model", *backbone(c, "model."), kind="backbone"), head, kind="model")


def decoder(c: Config) -> Part:
    """Describe MarianDecoder: alone, with the decoder's vocabulary."""
    return bart.decoder(c, STYLE, c.decoder_vocab)


def causal_lm(c: Config) -> Part:
    """Describe MarianForCausalLM: the decoder alone, and its head."""
    inner = replace(decoder(c), name="decoder", kind="decoder")
    vocab = c.decoder_vocab if c.tied else c.vocab
    tied_to = "model.decoder.embed_tokens.weight" if c.tied else None
    return part("", part("model", inner, kind="backbone"), linear("lm_head", c.hidden, vocab, bias=False, tied_to=tied_to), kind="model")


CLASSES = {
    "MarianModel": lambda c: part("", *backbone(c), kind="model"),
    "MarianMTModel": generation,
    "MarianForCausalLM": causal_lm,
    "MarianEncoder": lambda c: bart.encoder(c, STYLE),
    "MarianDecoder": decoder,
    "MarianDecoderWrapper": lambda c: bart.wrapped_decoder(decoder(c)),
}

FAMILIES = {"marian": Family("marian", FIELDS, CLASSES, "MarianModel", fairseq_transformer.IGNORED_KEYS)}
