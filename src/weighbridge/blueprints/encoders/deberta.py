"""DeBERTa: attention disentangled into content and relative position (He et al., 2020).

Source: arXiv 2006.03654; class and tensor names as in transformers 5.23.0, models/deberta/modeling_deberta.py.
"""

from __future__ import annotations

from typing import Any

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, encoder_stack, vocabulary_projection, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import EMBEDDING_SIZE, Config, Field, choice, computed, size, switch
from weighbridge.core.length import at_most, per_batch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def fields(**defaults: Any) -> tuple[Field, ...]:
    """Declare the fields that DeBERTa and DeBERTa-v2 share."""
    return (
        *(field for field in bert_fields(**defaults) if field.word != "types"),
        size("types", "type_vocab_size", 0, "T", "token types", minimum=0),
        computed("typed", lambda c: c.types > 0),
        EMBEDDING_SIZE.with_default(lambda c: c.hidden),
        computed("projected", lambda c: c.embedding != c.hidden),
        size("pooler", "pooler_hidden_size", lambda c: c.hidden, "P", "pooler size"),
        size("reach", "max_relative_positions", -1, "R", "relative positions, each way", minimum=-1),
        computed("reaching", lambda c: c.reach > 0),
        switch("placed", "position_biased_input", True),
        switch("relative", "relative_attention", False),
        choice("kinds", "pos_att_type", None, read=position_kinds),
        switch("legacy", "legacy", True),
        POOLED,
    )


def position_kinds(value: object) -> tuple[str, ...]:
    """Read which products with positions there are: a list, or names with bars between them.

    >>> position_kinds("p2c|c2p")
    ('p2c', 'c2p')
    """
    if isinstance(value, str):
        return tuple(kind.strip() for kind in value.lower().split("|"))
    return tuple(str(kind) for kind in value) if isinstance(value, (list, tuple)) else ()


def reach(c: Config) -> Size:
    """Return how many relative positions there are, each way."""
    found: Size = c.reach if c.reaching else c.positions
    return found


def embeddings(c: Config) -> Part:
    """Describe the embeddings; positions and token types are there on a switch, a projection if they are narrower."""
    E = c.embedding
    return part(
        "embeddings",
        embedding("word_embeddings", c.vocab, E),
        *((embedding("position_embeddings", c.positions, E),) if c.placed else ()),
        *((embedding("token_type_embeddings", c.types, E),) if c.typed else ()),
        *((linear("embed_proj", E, c.hidden, bias=False),) if c.projected else ()),
        layer_norm("LayerNorm", c.hidden),
        kind="embeddings",
    )


def deberta(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; it has no pooler of its own."""
    attention = part("attention", disentangled_attention(c), output_block(c.hidden, c.hidden), kind="self_attention")
    layer = part("layer", attention, *feed_forward(c), kind="layer", repeat=c.layers)
    table = (embedding("rel_embeddings", 2 * reach(c), c.hidden),) if c.relative else ()
    return (embeddings(c), encoder_stack(layer, *table))


def disentangled_attention(c: Config) -> Part:
    """Describe attention with fused queries, keys and values, and products with the positions in sight."""
    H, A, d = c.hidden, c.heads, c.head_dim
    sight = at_most("seq", reach(c)) * 2
    nodes: list[Node] = [Tensor("q_bias", (H,), "bias"), Tensor("v_bias", (H,), "bias"), linear("in_proj", H, 3 * H, bias=False)]
    if c.talking:
        # The matrices work on every pair of tokens: stream 0, and the product by hand.
        nodes += [part(name, Tensor("weight", (A, A)), kind="linear", stream=0) for name in ("head_logits_proj", "head_weights_proj")]
        nodes += [matmul("talk", (2, "seq", "seq", A, A))]
    if c.relative and "c2p" in c.kinds:
        nodes += [linear("pos_proj", H, H, bias=False, stream=per_batch(sight)), matmul("content_to_position", (A, "seq", sight, d))]
    if c.relative and "p2c" in c.kinds:
        nodes += [linear("pos_q_proj", H, H, stream=per_batch(sight)), matmul("position_to_content", (A, "seq", sight, d))]
    return part("self", *nodes, attend(heads=A, head_dim=d), kind="attention")


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head: BERT's, or the original one, which reads the word embeddings where they are."""
    E, H = c.embedding, c.hidden
    bias = Tensor("bias", (c.vocab,), "bias")
    if not c.legacy:
        head = (bias, linear("dense", H, H), layer_norm("LayerNorm", H), matmul("project", ("seq", H, c.vocab)))
        return (part("lm_predictions", part("lm_head", *head, kind="lm_head"), kind="head"),)
    transform = part("transform", linear("dense", H, E), layer_norm("LayerNorm", E), kind="transform")
    decoder = vocabulary_projection(c, "decoder", E, words=words, bias="cls.predictions.bias" if c.tied else None)
    return (part("cls", part("predictions", bias, transform, decoder, kind="lm_head"), kind="head"),)


def context_pooler(c: Config) -> Part:
    """Describe the pooler, which stands beside the backbone."""
    return part("pooler", linear("dense", c.pooler, c.pooler), kind="pooler", stream="one")


def sequence_classification(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the pooler and one output per label."""
    return context_pooler(c), linear("classifier", c.hidden, c.labels, stream="one")


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the pooler and always one output."""
    return context_pooler(c), linear("classifier", c.hidden, 1, stream="one")


HEADS = {**BERT_TASKS, "ForMaskedLM": HeadSpec(masked_lm), "ForSequenceClassification": HeadSpec(sequence_classification)}
HEADS.pop("ForMultipleChoice")
IGNORED_KEYS = frozenset({"cls_dropout", "pooler_dropout", "pooler_hidden_act"})

FAMILIES = {
    "deberta": Family(
        "deberta",
        (*fields(vocab=50265), switch("talking", "talking_head", False)),
        with_heads("Deberta", "deberta", deberta, HEADS),
        "DebertaModel",
        ignored_keys=IGNORED_KEYS,
    )
}
