"""The shared vocabulary of encoders: BERT's attention and layer, and the heads that backbones wear.

Blueprints of encoder families are made of these where they are BERT's; where they differ, the
difference stands in the blueprint. :func:`dressed` puts each head of a family on its backbone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from weighbridge.config import DECODER as DECODER
from weighbridge.config import LABELS, Field, Sizes, derived, size, switch
from weighbridge.parts import attend, embedding, layer_norm, linear, matmul
from weighbridge.sizes import Size, exact
from weighbridge.tree import Node, Part, Span, Stream, Tensor

HEAD_DIM = derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads")
POOLED = switch("pooled", "add_pooling_layer", True, silent=True)
STARTS = size("starts", "start_n_top", 5, "K", "starts of an answer that are followed")


def bert_fields(
    *, vocab: int = 30522, positions: int = 512, types: int | None = 2, hidden: int = 768, mlp: int = 3072, layers: int = 12, heads: int = 12,
    tied: bool = True,
) -> tuple[Field, ...]:  # fmt: skip
    """Declare the fields that BERT's relatives share, with the defaults of one of them.

    >>> [field.letter for field in bert_fields()][:4]
    ['V', 'S', 'T', 'H']
    """
    kinds = () if types is None else (size("types", "type_vocab_size", types, "T", "token types"),)
    return (
        size("vocab", "vocab_size", vocab, "V", "vocabulary size"),
        size("positions", "max_position_embeddings", positions, "S", "positions"),
        *kinds,
        size("hidden", "hidden_size", hidden, "H", "hidden size"),
        size("mlp", "intermediate_size", mlp, "I", "intermediate size"),
        size("layers", "num_hidden_layers", layers, "L", "layers"),
        size("heads", "num_attention_heads", heads, "A", "attention heads"),
        HEAD_DIM,
        LABELS,
        switch("tied", "tie_word_embeddings", tied),
    )


def self_attention(c: Sizes, *extra: Node, keys: Stream | None = None) -> Part:
    """Describe queries, keys and values, then whatever *extra* a family has, and the attention itself."""
    H = c.hidden
    return Part("self", (
        linear("query", H, H),
        linear("key", H, H, stream=keys),
        linear("value", H, H, stream=keys),
        *extra,
        attend(heads=c.heads, head_dim=c.head_dim, keys=keys),
    ), "attention")  # fmt: skip


def attention(c: Sizes, name: str = "attention", *, keys: str | None = None) -> Part:
    """Describe attention and its output over the tokens themselves, or over an encoder's when *keys* names its stream."""
    return Part(
        name, (self_attention(c, keys=keys), closing(c.hidden, c.hidden)), "cross_attention" if keys else "self_attention", given=keys
    )


def crossed(c: Sizes) -> tuple[Part, ...]:
    """Describe the cross-attention of a layer, if the config asks for one."""
    return (attention(c, "crossattention", keys="encoder"),) if c.crossed else ()


def closing(inputs: Size, outputs: Size, *extra: Node, kind: str = "attention") -> Part:
    """Describe what ends a block: a linear map and the norm of its sum with the input."""
    return Part("output", (linear("dense", inputs, outputs), layer_norm("LayerNorm", outputs), *extra), kind)


def feed_forward(c: Sizes) -> tuple[Part, Part]:
    """Describe the two linear maps of a layer and the norm after them."""
    return Part("intermediate", (linear("dense", c.hidden, c.mlp),), "feed_forward"), closing(c.mlp, c.hidden, kind="feed_forward")


def encoder_of(layer: Part, *after: Part) -> Part:
    """Describe the stack of layers, and what follows it inside ``encoder``."""
    return Part("encoder", (layer, *after), "encoder")


def bert_layer(c: Sizes) -> Part:
    """Describe one layer of BERT, repeated."""
    return Part("layer", (attention(c), *crossed(c), *feed_forward(c)), "layer", repeat=c.layers)


def norm_first_attentions(c: Sizes, *, before: str | None = None, after: str | None = None) -> tuple[Part, ...]:
    """Describe self-attention and, if the config asks for it, cross-attention, with the norm's name *before* or *after*."""

    def one(name: str, keys: str | None) -> Part:
        first = (layer_norm(before, c.hidden),) if before else ()
        last = (layer_norm(after, c.hidden),) if after else ()
        output = Part("output", (linear("dense", c.hidden, c.hidden),), "attention")
        kind = "cross_attention" if keys else "self_attention"
        return Part(name, (*first, self_attention(c, keys=keys), output, *last), kind, given=keys)

    return (one("attention", None), *((one("crossattention", "encoder"),) if c.crossed else ()))


def bert_embeddings(c: Sizes, width: Size | None = None, *, typed: bool = True) -> Part:
    """Describe the embeddings of words, positions and, if *typed*, token types, and their norm, in the hidden size or another *width*."""
    E = c.hidden if width is None else width
    return Part("embeddings", (
        embedding("word_embeddings", c.vocab, E),
        embedding("position_embeddings", c.positions, E),
        *((embedding("token_type_embeddings", c.types, E),) if typed else ()),
        layer_norm("LayerNorm", E),
    ), "embeddings")  # fmt: skip


def pooler(c: Sizes) -> Part:
    """Describe the linear map on the first token."""
    return Part("pooler", (linear("dense", c.hidden, c.hidden),), "pooler", stream="one")


def vocabulary(c: Sizes, name: str, width: Size, *, words: str | None, bias: str | None = None, owner: bool = False) -> Part:
    """Describe the map from *width* back to the vocabulary.

    Args:
        words: The full name of the embedding whose storage its weight is.
        bias: The full name of the vector whose storage its bias is.
        owner: Whether it stands before the backbone, so that the embedding's storage has its name. It
            is a table that is looked up all the same, and counts as one.
    """
    shift = Tensor("bias", (c.vocab,), "bias", bias)
    if owner:
        return Part(name, (Tensor("weight", (c.vocab, width), "embedding"), shift, matmul("project", ("seq", width, c.vocab))), "linear")
    return Part(name, (Tensor("weight", (c.vocab, width), "weight", words), shift), "linear")


class Head(Protocol):
    """What a class puts on its backbone, given the full name of the tied word embeddings, or None."""

    def __call__(self, c: Sizes, words: str | None) -> tuple[Part, ...]: ...


class Worn(NamedTuple):
    """One class of a family: its head, and whether its backbone keeps the pooler."""

    head: Head
    pooled: bool = False


class Encoder(Protocol):
    """What is inside a backbone; *words* is whose storage the word embeddings are, if a head owns them."""

    def __call__(self, c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]: ...


def bert_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe BERT's vocabulary head: a transform, then the word embeddings again with a bias of their own."""
    return (Part("cls", (predictions(c, words),), "head"),)


def predictions(c: Sizes, words: str | None) -> Part:
    """Describe ``cls.predictions``."""
    H = c.hidden
    transform = Part("transform", (linear("dense", H, H), layer_norm("LayerNorm", H)), "transform")
    decoder = vocabulary(c, "decoder", H, words=words, bias="cls.predictions.bias" if c.tied else None)
    return Part("predictions", (Tensor("bias", (c.vocab,), "bias"), transform, decoder), "lm_head")


def next_sentence(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe next-sentence prediction: always two outputs."""
    return (Part("cls", (linear("seq_relationship", c.hidden, 2, stream="one"),), "head"),)


def pre_training(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head and next-sentence prediction."""
    return (Part("cls", (predictions(c, words), linear("seq_relationship", c.hidden, 2, stream="one")), "head"),)


def roberta_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe RoBERTa's vocabulary head."""
    H = c.hidden
    decoder = vocabulary(c, "decoder", H, words=words, bias="lm_head.bias" if c.tied else None, owner=words == OWN)
    return (Part("lm_head", (Tensor("bias", (c.vocab,), "bias"), linear("dense", H, H), layer_norm("layer_norm", H), decoder), "lm_head"),)


def labels_of_one(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on the pooled token."""
    return (linear("classifier", c.hidden, c.labels, stream="one"),)


def labels_of_first(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe a classifier of two linear maps on the first token, in place of a pooler."""
    return (Part("classifier", (linear("dense", c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels)), "head", stream="one"),)


def labels_of_each(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on every token."""
    return (linear("classifier", c.hidden, c.labels),)


def choice_of_one(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe multiple choice: always one output, whatever the number of labels."""
    return (linear("classifier", c.hidden, 1, stream="one"),)


def span_ends(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe question answering: start and end, or as many outputs as the config has labels."""
    return (linear("qa_outputs", c.hidden, c.labels),)


def two_ends(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe question answering where it is always start and end."""
    return (linear("qa_outputs", c.hidden, 2),)


def beams(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe question answering by beams: likely starts, an end for each of them, and whether there is an answer at all."""
    H = c.hidden
    paired = (linear("dense_0", 2 * H, H), layer_norm("LayerNorm", H), linear("dense_1", H, 1))
    answered = (matmul("start", ("seq", H)), linear("dense_0", 2 * H, H), linear("dense_1", H, 1, bias=False))
    return (
        Part("start_logits", (linear("dense", H, 1),), "head"),
        Part("end_logits", paired, "head", stream=Span("seq", times=c.starts)),
        Part("answer_class", answered, "head", stream="one"),
    )


def summary(c: Sizes) -> tuple[Part, ...]:
    """Describe the map of a sequence's summary, if there is one: to the hidden size or to the labels."""
    width = c.labels if c.to_labels else c.hidden
    return (Part("sequence_summary", (linear("summary", c.hidden, width),), "pooler", stream="one"),) if c.summarised else ()


BERT_TASKS = {
    "ForSequenceClassification": Worn(labels_of_one, True),
    "ForMultipleChoice": Worn(choice_of_one, True),
    "ForTokenClassification": Worn(labels_of_each),
    "ForQuestionAnswering": Worn(span_ends),
}
"""The classes for tasks of BERT's kind, by what follows the family's name."""

BERT_HEADS = {
    "ForPreTraining": Worn(pre_training, True),
    "ForCausalLM": Worn(bert_lm),
    "ForMaskedLM": Worn(bert_lm),
    "ForNextSentencePrediction": Worn(next_sentence, True),
    **BERT_TASKS,
}
"""All classes of BERT's kind."""

ROBERTA_HEADS = {
    "ForCausalLM": Worn(roberta_lm),
    "ForMaskedLM": Worn(roberta_lm),
    "ForSequenceClassification": Worn(labels_of_first),
    "ForMultipleChoice": Worn(choice_of_one, True),
    "ForTokenClassification": Worn(labels_of_each),
    "ForQuestionAnswering": Worn(span_ends),
}
"""The classes of RoBERTa's kind."""

OWN = "lm_head.decoder.weight"
"""The word embeddings' storage, in families whose head is built before the backbone."""


def dressed(
    family: str, backbone: str, encoder: Encoder, heads: Mapping[str, Worn], *, words: str = "embeddings.word_embeddings.weight",
    first: bool = False, bare: str = "Model",
) -> dict[str, Callable[[Sizes], Part]]:  # fmt: skip
    """Return a family's classes: the bare model, and each head on the backbone.

    Args:
        family: How the names of its classes begin.
        backbone: The name under which heads hold the model.
        words: The name of the word embeddings inside the backbone.
        first: Whether heads are built before the backbone, and so own what is tied.
        bare: What follows the family's name in that of the class without a head.
    """

    def alone(c: Sizes) -> Part:
        return Part("", encoder(c, pooled=c.pooled), "model")

    def wearing(worn: Worn) -> Callable[[Sizes], Part]:
        def blueprint(c: Sizes) -> Part:
            owner = (OWN if first else f"{backbone}.{words}") if c.tied else None
            head = worn.head(c, owner)
            tied = OWN if first and c.tied and head[0].name == "lm_head" else None
            body = Part(backbone, encoder(c, pooled=worn.pooled, words=tied), "backbone")
            return Part("", (*head, body) if first else (body, *head), "model")

        return blueprint

    return {family + bare: alone, **{family + name: wearing(worn) for name, worn in heads.items()}}
