"""BERT: the encoder of "Pre-training of Deep Bidirectional Transformers" (Devlin et al., 2018).

Source: arXiv 1810.04805, section 3; class and tensor names as in transformers 5.23.0,
models/bert/modeling_bert.py. BERT's relatives are made of the same parts; what they add is in ``modules/bert_family.py``.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.tensorflow_bert import original_row
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, HEADS, HIDDEN, LABELS, LAYERS, MLP, POSITIONS, TIED, VOCAB, Config, derived, size, switch
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

SHARED = (
    VOCAB.with_default(30522),
    POSITIONS.with_default(512),
    size("types", "type_vocab_size", 2, "T", "token types", minimum=0),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED,
)
"""The fields that BERT's relatives have too."""

POOLED = switch("pooled", "add_pooling_layer", True, report_default=False)
"""An argument of the class and no key of its config: that it is absent is not reported."""

FIELDS = (*SHARED, *DECODER, POOLED)
"""What is read of a config: ``size("types", "type_vocab_size", 2, "T", ...)`` makes its ``type_vocab_size``, by default 2, the ``c.types`` of the
functions below and the T of formulas, and ``derived`` computes ``c.head_dim`` (``exact`` divides, and refuses a remainder). ``DECODER`` adds ``c.decoder``, whether a token sees only those before it, and ``c.crossed``, whether each
layer also attends to an encoder."""


def encoder(c: Config, *, pooled: bool) -> tuple[Part, ...]:
    """Describe embeddings, layers and pooler: the parts that all nine classes share."""
    return (embeddings(c), part("encoder", layer(c), kind="encoder"), *((pooler(c),) if pooled else ()))


def embeddings(c: Config, width: Size | None = None, *, typed: bool = True) -> Part:
    """Describe the embeddings of words, positions and token types, and the norm of their sum; relatives have another *width*, or no types."""
    H = c.hidden if width is None else width
    return part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions, H),
        *((embedding("token_type_embeddings", c.types, H),) if typed else ()),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )


def layer(c: Config) -> Part:
    """Describe one layer, repeated: self-attention, cross-attention where a decoder has it, and two linear maps."""
    crossed = (attention(c, "crossattention", keys="encoder"),) if c.crossed else ()
    return part("layer", attention(c), *crossed, *feed_forward(c), kind="layer", repeat=c.layers)


def attention(c: Config, name: str = "attention", *, keys: Stream | None = None, width: Size | None = None) -> Part:
    """Describe attention over the tokens themselves, or over an encoder's of some *width* when *keys* is its stream."""
    inner = (self_attention(c, keys=keys, width=width), output_block(c.hidden, c.hidden))
    requires = keys if isinstance(keys, str) else None
    return part(name, *inner, kind="self_attention" if keys is None else "cross_attention", requires=requires)


def self_attention(c: Config, *extra: Node, keys: Stream | None = None, width: Size | None = None) -> Part:
    """Describe queries, keys and values, and the attention itself; *extra* is what a relative of BERT has beside them."""
    H = c.hidden
    source = H if width is None else width
    # BERT refuses heads that do not divide the hidden size. Some relatives build with them, and their heads then fill less of it; these relatives have
    # a field ``heads_divide``.
    heads = H if getattr(c, "heads_divide", True) else c.heads * c.head_dim
    return part(
        "self",
        linear("query", H, heads),
        linear("key", source, heads, stream=keys),
        linear("value", source, heads, stream=keys),
        *extra,
        attend(heads=c.heads, head_dim=c.head_dim, keys=keys, causal=keys is None and getattr(c, "decoder", False)),
        kind="attention",
    )


def feed_forward(c: Config) -> tuple[Part, Part]:
    """Describe the two linear maps of a layer, up and down again."""
    return part("intermediate", linear("dense", c.hidden, c.mlp), kind="feed_forward"), output_block(c.mlp, c.hidden, kind="feed_forward")


def output_block(inputs: Size, outputs: Size, *extra: Node, kind: str = "attention") -> Part:
    """Describe what ends either half of a layer: a linear map, and the norm of its sum with what the half was given."""
    return part("output", linear("dense", inputs, outputs), layer_norm("LayerNorm", outputs), *extra, kind=kind)


def pooler(c: Config) -> Part:
    """Describe the linear map on the first token."""
    return part("pooler", linear("dense", c.hidden, c.hidden), kind="pooler", stream="one")


def masked_lm_head(c: Config, words: str | None = "bert.embeddings.word_embeddings.weight") -> Part:
    """Describe the vocabulary head: a transform, then the table named *words* again with a bias of its own."""
    H = c.hidden
    transform = part("transform", linear("dense", H, H), layer_norm("LayerNorm", H), kind="transform")
    decoder = part(
        "decoder",
        Tensor("weight", (c.vocab, H), "weight", words if c.tied else None),
        Tensor("bias", (c.vocab,), "bias", "cls.predictions.bias" if c.tied else None),
        kind="linear",
    )
    return part("predictions", Tensor("bias", (c.vocab,), "bias"), transform, decoder, kind="lm_head")


def next_sentence(c: Config) -> Part:
    """Describe next-sentence prediction: two outputs on the pooled token, regardless of the number of labels."""
    return linear("seq_relationship", c.hidden, 2, stream="one")


def with_head(c: Config, *head: Part, pooled: bool = False) -> Part:
    """Describe the encoder, which heads hold under the name ``bert``, and a head; only heads on the pooled token keep the pooler."""
    return part("", part("bert", *encoder(c, pooled=pooled), kind="backbone"), *head, kind="model")


def masked_lm(c: Config) -> Part:
    """Describe BertForMaskedLM and BertLMHeadModel: a vocabulary head."""
    return with_head(c, part("cls", masked_lm_head(c), kind="head"))


CLASSES = {
    "BertModel": lambda c: part("", *encoder(c, pooled=c.pooled), kind="model"),
    "BertForPreTraining": lambda c: with_head(c, part("cls", masked_lm_head(c), next_sentence(c), kind="head"), pooled=True),
    "BertLMHeadModel": masked_lm,
    "BertForMaskedLM": masked_lm,
    "BertForNextSentencePrediction": lambda c: with_head(c, part("cls", next_sentence(c), kind="head"), pooled=True),
    "BertForSequenceClassification": lambda c: with_head(c, linear("classifier", c.hidden, c.labels, stream="one"), pooled=True),
    "BertForMultipleChoice": lambda c: with_head(c, linear("classifier", c.hidden, 1, stream="one"), pooled=True),
    "BertForTokenClassification": lambda c: with_head(c, linear("classifier", c.hidden, c.labels)),
    "BertForQuestionAnswering": lambda c: with_head(c, linear("qa_outputs", c.hidden, c.labels)),
}

# One entry per model type: its fields, its classes, the class that is meant where none is named, and under which names other tools hold its tensors.
FAMILIES = {"bert": Family("bert", FIELDS, CLASSES, "BertModel", renames={"tensorflow": original_row})}
