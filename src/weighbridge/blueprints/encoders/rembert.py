"""RemBERT: small input embeddings, large untied output embeddings (Chung et al., 2020).

Source: arXiv 2010.12821; class and tensor names as in transformers 5.23.0, models/rembert/modeling_rembert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, size
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(vocab=250300, hidden=1152, mlp=4608, layers=32, heads=18, tied=False),
    size("embedding", "input_embedding_size", 256, "E", "size of the input embeddings"),
    size("output", "output_embedding_size", 1664, "O", "size of the output embeddings"),
    *DECODER,
    POOLED,
)


def rembert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: BERT's behind a projection."""
    encoder = part("encoder", linear("embedding_hidden_mapping_in", c.embedding, c.hidden), bert_layer(c), kind="encoder")
    return (bert_embeddings(c, c.embedding), encoder, *((pooler(c),) if pooled else ()))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, which shares nothing with the input."""
    inner = (linear("dense", c.hidden, c.output), linear("decoder", c.output, c.vocab), layer_norm("LayerNorm", c.output))
    return (part("cls", part("predictions", *inner, kind="lm_head"), kind="head"),)


HEADS = {"ForMaskedLM": HeadSpec(masked_lm), "ForCausalLM": HeadSpec(masked_lm), **BERT_TASKS}
IGNORED_KEYS = frozenset({"classifier_dropout_prob"})

FAMILIES = {
    "rembert": Family("rembert", FIELDS, with_heads("RemBert", "rembert", rembert, HEADS), "RemBertModel", ignored_keys=IGNORED_KEYS)
}
