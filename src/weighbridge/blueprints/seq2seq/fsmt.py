"""FSMT: fairseq's WMT19 translation model, with a vocabulary per language and the head inside the decoder (Ng et al., 2019).

Source: arXiv 1907.06616; names as in transformers 5.23.0, models/fsmt/modeling_fsmt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.parts import embedding, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    size("vocab", "src_vocab_size", 42024, "V", "vocabulary size"),
    size("decoder_vocab", "tgt_vocab_size", 42024, "V_dec", "vocabulary size of the decoder", "vocab_size"),
    size("padding", "pad_token_id", 1, "p", "index of the padding token", minimum=0),
    *(
        field
        for field in fairseq_transformer.fields(42024, 1024, 1024, 4096, (12, 12), 16)
        if field.word not in ("vocab", "labels", "tied")
    ),
    # Tied, the encoder takes the decoder's table, whose size may be another.
    switch("joined", "tie_word_embeddings", False),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | {"langs"}


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe both sides; where they are tied, the encoder's table is the first of the three names."""
    H = c.hidden
    words = f"{prefix}encoder.embed_tokens.weight" if c.joined else None
    positions = embedding("embed_positions", c.positions + c.padding + 1, H)
    encoder = (embedding("embed_tokens", c.decoder_vocab if c.joined else c.vocab, H), positions, fairseq_transformer.layer(c))
    head = linear("output_projection", H, c.decoder_vocab, bias=False, tied_to=words)
    decoder = (embedding("embed_tokens", c.decoder_vocab, H, tied_to=words), positions, fairseq_transformer.layer(c, memory="seq"), head)
    return part("encoder", *encoder, kind="encoder"), part("decoder", *decoder, kind="decoder", stream="decoder")


CLASSES = {
    "FSMTModel": lambda c: part("", *backbone(c), kind="model"),
    "FSMTForConditionalGeneration": lambda c: part("", part("model", *backbone(c, "model."), kind="backbone"), kind="model"),
}

FAMILIES = {"fsmt": Family("fsmt", FIELDS, CLASSES, "FSMTModel", IGNORED_KEYS)}
