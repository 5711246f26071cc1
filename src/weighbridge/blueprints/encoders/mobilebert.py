"""MobileBERT: a thin BERT whose layers work inside bottlenecks (Sun et al., 2020).

Source: arXiv 2004.02984; class and tensor names as in transformers 5.23.0, models/mobilebert/modeling_mobilebert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.bert_family import BERT_TASKS, POOLED, Worn, bert_fields, dressed, encoder_of, next_sentence, vocabulary
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, choice, echo, size, switch, told
from weighbridge.core.parts import attend, embedding, layer_norm, linear
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *(field for field in bert_fields(hidden=512, mlp=512, layers=24, heads=4) if field.word != "head_dim"),
    size("embedding", "embedding_size", 128, "E", "embedding size"),
    size("inner", "intra_bottleneck_size", 128, "B", "size inside the bottlenecks"),
    size("feed_forwards", "num_feedforward_networks", 4, "F", "feed-forward networks in a layer"),
    switch("bottleneck", "use_bottleneck", True),
    switch("bottleneck_attention", "use_bottleneck_attention", False),
    switch("shared", "key_query_shared_bottleneck", True),
    switch("trigram", "trigram_input", True),
    told("mapped", lambda c: c.trigram or c.embedding != c.hidden),
    choice("norm", "normalization_type", "no_norm"),
    switch("activated", "classifier_activation", True),
    POOLED,
    *echo("true_hidden_size", lambda c: c.inner if c.bottleneck else c.hidden),
)


def norm(c: Sizes, width: Size) -> Part:
    """Describe a norm, or what MobileBERT has in its place: the same vectors, the shift first."""
    if c.norm == "layer_norm":
        return layer_norm("LayerNorm", width)
    return Part("LayerNorm", (Tensor("bias", (width,), "shift"), Tensor("weight", (width,), "gain")), "layer_norm")


def block(c: Sizes, name: str, inputs: Size, outputs: Size, *extra: Part, kind: str = "feed_forward") -> Part:
    """Describe a linear map and its norm."""
    return Part(name, (linear("dense", inputs, outputs), norm(c, outputs), *extra), kind)


def mobilebert(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; the input is a word and its two neighbours side by side."""
    H = c.hidden
    width = 3 * c.embedding if c.trigram else c.embedding
    embeddings = Part("embeddings", (
        embedding("word_embeddings", c.vocab, c.embedding),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        linear("embedding_transformation", width, H)._replace(given=None if c.mapped else "never"),
        norm(c, H),
    ), "embeddings")  # fmt: skip
    pooler = Part("pooler", (linear("dense", H, H),) if c.activated else (), "pooler", stream="one")
    return (embeddings, encoder_of(layer(c)), *((pooler,) if pooled else ()))


def layer(c: Sizes) -> Part:
    """Describe one layer: down into the bottleneck, attention, feed-forward networks, and up again."""
    H, I = c.hidden, c.mlp
    T = c.inner if c.bottleneck else H
    head_dim = exact(T, c.heads)
    inner = Part("self", (
        linear("query", T, T),
        linear("key", T, T),
        linear("value", T if c.bottleneck_attention else H, T),
        attend(heads=c.heads, head_dim=head_dim),
    ), "attention")  # fmt: skip
    intermediate = Part("intermediate", (linear("dense", T, I),), "feed_forward")
    up = (block(c, "bottleneck", T, H, kind="bottleneck"),) if c.bottleneck else ()
    return Part("layer", (
        Part("attention", (inner, block(c, "output", T, T, kind="attention")), "self_attention"),
        intermediate,
        block(c, "output", I, T, *up),
        *((bottleneck(c),) if c.bottleneck else ()),
        Part("ffn", (intermediate, block(c, "output", I, T)), "feed_forward", repeat=c.feed_forwards - 1),
    ), "layer", repeat=c.layers)  # fmt: skip


def bottleneck(c: Sizes) -> Part:
    """Describe the ways down: for the layer's input, and for its queries and keys, unless they take the same one."""
    down = block(c, "input", c.hidden, c.inner, kind="bottleneck")
    second = (down._replace(name="attention", given="never" if c.bottleneck_attention else None),) if c.shared else ()
    return Part("bottleneck", (down, *second), "bottleneck")


def masked_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head: the word embeddings, and the columns they lack to the hidden size."""
    return (Part("cls", (predictions(c, words),), "head"),)


def predictions(c: Sizes, words: str | None) -> Part:
    """Describe ``cls.predictions``."""
    H, E = c.hidden, c.embedding
    transform = Part("transform", (linear("dense", H, H), layer_norm("LayerNorm", H)), "transform")
    decoder = vocabulary(c, "decoder", E, words=words, bias="cls.predictions.bias" if c.tied else None)
    dense = linear("dense", c.vocab, H - E, bias=False)
    return Part("predictions", (Tensor("bias", (c.vocab,), "bias"), transform, dense, decoder), "lm_head")


def pre_training(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head and next-sentence prediction."""
    return (Part("cls", (predictions(c, words), linear("seq_relationship", c.hidden, 2, stream="one")), "head"),)


HEADS = {
    "ForPreTraining": Worn(pre_training, True),
    "ForMaskedLM": Worn(masked_lm),
    "ForNextSentencePrediction": Worn(next_sentence, True),
    **BERT_TASKS,
}

FAMILIES = {"mobilebert": Family("mobilebert", FIELDS, dressed("MobileBert", "mobilebert", mobilebert, HEADS), "MobileBertModel")}
