"""BERT for generation: BERT without token types and pooler, to initialize an encoder or a decoder (Rothe et al., 2019).

Source: arXiv 1907.12461; class and tensor names as in transformers 5.23.0, models/bert_generation/modeling_bert_generation.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import HeadSpec, bert_fields, encoder_stack, vocabulary_projection, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config
from weighbridge.core.parts import part
from weighbridge.core.tree import Part, Tensor


def bert_generation(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder, or the decoder that attends to one."""
    return (bert_embeddings(c, typed=False), encoder_stack(bert_layer(c)))


def lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head: the word embeddings again, and a bias."""
    decoder = vocabulary_projection(c, "decoder", c.hidden, words=words, bias="lm_head.bias" if c.tied else None)
    return (part("lm_head", Tensor("bias", (c.vocab,), "bias"), decoder, kind="lm_head"),)


FAMILIES = {
    "bert-generation": Family(
        "bert-generation",
        (*bert_fields(vocab=50358, types=None, hidden=1024, mlp=4096, layers=24, heads=16), *DECODER, POOLED),
        with_heads("BertGeneration", "bert", bert_generation, {"Decoder": HeadSpec(lm)}, bare="Encoder"),
        "BertGenerationEncoder",
    )
}
