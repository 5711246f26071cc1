"""MobileBERT: a thin BERT with bottleneck layers (Sun et al., 2020).

Source: arXiv 2004.02984; class and tensor names as in transformers 5.23.0, models/mobilebert/modeling_mobilebert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.modules.bert_family import (
    BERT_TASKS,
    HeadSpec,
    bert_fields,
    encoder_stack,
    next_sentence,
    vocabulary_projection,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import EMBEDDING_SIZE, Config, choice, computed, settable, size, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *(field for field in bert_fields(hidden=512, mlp=512, layers=24, heads=4) if field.word != "head_dim"),
    EMBEDDING_SIZE.with_default(128),
    size("inner", "intra_bottleneck_size", 128, "B", "bottleneck size"),
    size("feed_forwards", "num_feedforward_networks", 4, "F", "feed-forward networks in a layer"),
    switch("bottleneck", "use_bottleneck", True),
    switch("bottleneck_attention", "use_bottleneck_attention", False),
    switch("shared", "key_query_shared_bottleneck", True),
    switch("trigram", "trigram_input", True),
    computed("mapped", lambda c: c.trigram or c.embedding != c.hidden),
    choice("norm", "normalization_type", "no_norm"),
    switch("activated", "classifier_activation", True),
    POOLED,
    settable("true_hidden", "true_hidden_size", lambda c: c.inner if c.bottleneck else c.hidden, "Q", "inner size of the layers"),
    computed("heads_divide", lambda c: c.true_hidden % c.heads == 0),
)


def norm(c: Config, width: Size) -> Part:
    """Describe a norm, or what MobileBERT has in its place: the same vectors, the shift first."""
    if c.norm == "layer_norm":
        return layer_norm("LayerNorm", width)
    return part("LayerNorm", Tensor("bias", (width,), "shift"), Tensor("weight", (width,), "gain"), kind="layer_norm")


def block(c: Config, name: str, inputs: Size, outputs: Size, *extra: Part, kind: str = "feed_forward") -> Part:
    """Describe a linear map and its norm."""
    return part(name, linear("dense", inputs, outputs), norm(c, outputs), *extra, kind=kind)


def mobilebert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; the input is a word and its two neighbours, concatenated."""
    H = c.hidden
    width = 3 * c.embedding if c.trigram else c.embedding
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, c.embedding),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        replace(linear("embedding_transformation", width, H), requires=None if c.mapped else "never"),
        norm(c, H),
        kind="embeddings",
    )
    pooler = part("pooler", *((linear("dense", H, H),) if c.activated else ()), kind="pooler", stream="one")
    return (embeddings, encoder_stack(layer(c)), *((pooler,) if pooled else ()))


def layer(c: Config) -> Part:
    """Describe one layer: down into the bottleneck, attention, feed-forward networks, and up again."""
    H, I = c.hidden, c.mlp
    T = c.true_hidden
    head_dim = exact(T, c.heads) if c.heads_divide else T // c.heads
    heads = T if c.heads_divide else c.heads * head_dim
    inner = part(
        "self",
        linear("query", T, heads),
        linear("key", T, heads),
        linear("value", T if c.bottleneck_attention else H, heads),
        attend(heads=c.heads, head_dim=head_dim),
        kind="attention",
    )
    intermediate = part("intermediate", linear("dense", T, I), kind="feed_forward")
    up = (block(c, "bottleneck", T, H, kind="bottleneck"),) if c.bottleneck else ()
    return part(
        "layer",
        part("attention", inner, block(c, "output", T, T, kind="attention"), kind="self_attention"),
        intermediate,
        block(c, "output", I, T, *up),
        *((bottleneck(c),) if c.bottleneck else ()),
        part("ffn", intermediate, block(c, "output", I, T), kind="feed_forward", repeat=c.feed_forwards - 1),
        kind="layer",
        repeat=c.layers,
    )


def bottleneck(c: Config) -> Part:
    """Describe the ways down: for the layer's input, and for its queries and keys, unless they take the same one."""
    down = block(c, "input", c.hidden, c.inner, kind="bottleneck")
    second = (replace(down, name="attention", requires="never" if c.bottleneck_attention else None),) if c.shared else ()
    return part("bottleneck", down, *second, kind="bottleneck")


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head: the word embeddings, and the columns they lack to the hidden size."""
    return (part("cls", predictions(c, words), kind="head"),)


def predictions(c: Config, words: str | None) -> Part:
    """Describe ``cls.predictions``."""
    H, E = c.hidden, c.embedding
    transform = part("transform", linear("dense", H, H), layer_norm("LayerNorm", H), kind="transform")
    decoder = vocabulary_projection(c, "decoder", E, words=words, bias="cls.predictions.bias" if c.tied else None)
    dense = linear("dense", c.vocab, H - E, bias=False)
    return part("predictions", Tensor("bias", (c.vocab,), "bias"), transform, dense, decoder, kind="lm_head")


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head and next-sentence prediction."""
    return (part("cls", predictions(c, words), linear("seq_relationship", c.hidden, 2, stream="one"), kind="head"),)


HEADS = {
    "ForPreTraining": HeadSpec(pre_training, True),
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForNextSentencePrediction": HeadSpec(next_sentence, True),
    **BERT_TASKS,
}

FAMILIES = {"mobilebert": Family("mobilebert", FIELDS, with_heads("MobileBert", "mobilebert", mobilebert, HEADS), "MobileBertModel")}
