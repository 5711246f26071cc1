"""Shared parts of BERT-like encoders, and the heads that their classes have.

Their blueprints are made of these where they are BERT's; where they differ, the difference stands in
the blueprint. :func:`with_heads` puts each head of a family on its backbone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from weighbridge.blueprints.encoders import bert
from weighbridge.blueprints.encoders.bert import masked_lm_head, self_attention
from weighbridge.config.fields import Config, Field, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, is_some
from weighbridge.core.tree import Part, Tensor

HEAD_DIM = bert.SHARED[7]
STARTS = size("starts", "start_n_top", 5, "K", "answer starts kept by beam search")


def bert_fields(*, tied: bool = True, **defaults: int | None) -> tuple[Field, ...]:
    """Declare the fields that BERT's relatives share, with the *defaults* of one of them; one whose default is None is not there.

    >>> [field.letter for field in bert_fields(types=None)][:4]
    ['V', 'S', 'H', 'I']
    """
    table = variant(bert.SHARED, tied=tied, **defaults)
    return tuple(field for field in table if defaults.get(field.word, field) is not None)


def encoder_stack(layer: Part, *after: Part) -> Part:
    """Describe the stack of layers, and what follows it inside ``encoder``."""
    return part("encoder", layer, *after, kind="encoder")


def norm_first_attentions(c: Config, *, before: str | None = None, after: str | None = None) -> tuple[Part, ...]:
    """Describe self-attention and, if the config asks for it, cross-attention, with the norm's name *before* or *after*."""

    def one(name: str, keys: str | None) -> Part:
        first = (layer_norm(before, c.hidden),) if before else ()
        last = (layer_norm(after, c.hidden),) if after else ()
        output = part("output", linear("dense", c.hidden, c.hidden), kind="attention")
        kind = "cross_attention" if keys else "self_attention"
        return part(name, *first, self_attention(c, keys=keys), output, *last, kind=kind, requires=keys)

    return (one("attention", None), *((one("crossattention", "encoder"),) if c.crossed else ()))


def vocabulary_projection(c: Config, name: str, width: Size, *, words: str | None, bias: str | None = None, owner: bool = False) -> Part:
    """Describe the map from *width* back to the vocabulary.

    Args:
        words: The full name of the embedding whose storage its weight is.
        bias: The full name of the vector whose storage its bias is.
        owner: Whether it stands before the backbone, so that the embedding's storage has its name. It
            is a table that is looked up all the same, and counts as one.
    """
    shift = Tensor("bias", (c.vocab,), "bias", bias)
    if owner:
        return part(name, Tensor("weight", (c.vocab, width), "embedding"), shift, matmul("project", ("seq", width, c.vocab)), kind="linear")
    return part(name, Tensor("weight", (c.vocab, width), "weight", words), shift, kind="linear")


class Head(Protocol):
    """What a class puts on its backbone, given the full name of the tied word embeddings, or None."""

    def __call__(self, c: Config, words: str | None) -> tuple[Part, ...]: ...


class HeadSpec(NamedTuple):
    """One class of a family: its head, and whether its backbone keeps the pooler."""

    head: Head
    pooled: bool = False


class Encoder(Protocol):
    """What is inside a backbone; *words* is whose storage the word embeddings are, if a head owns them."""

    def __call__(self, c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]: ...


def bert_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe BERT's vocabulary head: a transform, then the word embeddings again with a bias of their own."""
    return (part("cls", masked_lm_head(c, words), kind="head"),)


def next_sentence(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe next-sentence prediction: always two outputs."""
    return (part("cls", bert.next_sentence(c), kind="head"),)


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head and next-sentence prediction."""
    return (part("cls", masked_lm_head(c, words), bert.next_sentence(c), kind="head"),)


def roberta_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe RoBERTa's vocabulary head."""
    H = c.hidden
    decoder = vocabulary_projection(c, "decoder", H, words=words, bias="lm_head.bias" if c.tied else None, owner=words == OWN)
    return (
        part("lm_head", Tensor("bias", (c.vocab,), "bias"), linear("dense", H, H), layer_norm("layer_norm", H), decoder, kind="lm_head"),
    )


def sequence_classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on the pooled token."""
    return (linear("classifier", c.hidden, c.labels, stream="one"),)


def first_token_classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe a classifier of two linear maps on the first token, in place of a pooler."""
    return (part("classifier", linear("dense", c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels), kind="head", stream="one"),)


def token_classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on every token."""
    return (linear("classifier", c.hidden, c.labels),)


def multiple_choice_head(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe multiple choice: always one output, regardless of the number of labels."""
    return (linear("classifier", c.hidden, 1, stream="one"),)


def question_answering_head(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe question answering: start and end, or as many outputs as the config has labels."""
    return (linear("qa_outputs", c.hidden, c.labels),)


def start_and_end(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe question answering where it is always start and end."""
    return (linear("qa_outputs", c.hidden, 2),)


def squad_head(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe question answering by beams: likely starts, an end for each of them, and whether there is an answer at all."""
    H = c.hidden
    paired = (linear("dense_0", 2 * H, H), layer_norm("LayerNorm", H), linear("dense_1", H, 1))
    answered = (matmul("start", ("seq", H)), linear("dense_0", 2 * H, H), linear("dense_1", H, 1, bias=False))
    return (
        part("start_logits", linear("dense", H, 1), kind="head"),
        part("end_logits", *paired, kind="head", stream=length("seq") * c.starts),
        part("answer_class", *answered, kind="head", stream="one"),
    )


def summary(c: Config) -> tuple[Part, ...]:
    """Describe the map of a sequence's summary, if there is one: to the hidden size or to the labels."""
    width = c.labels if c.to_labels and is_some(c.labels) else c.hidden
    return (part("sequence_summary", linear("summary", c.hidden, width), kind="pooler", stream="one"),) if c.summarized else ()


BERT_TASKS = {
    "ForSequenceClassification": HeadSpec(sequence_classifier, True),
    "ForMultipleChoice": HeadSpec(multiple_choice_head, True),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(question_answering_head),
}
"""The classes for tasks of BERT's kind, by what follows the family's name."""

BERT_HEADS = {
    "ForPreTraining": HeadSpec(pre_training, True),
    "ForCausalLM": HeadSpec(bert_lm),
    "ForMaskedLM": HeadSpec(bert_lm),
    "ForNextSentencePrediction": HeadSpec(next_sentence, True),
    **BERT_TASKS,
}
"""All classes of BERT's kind."""

ROBERTA_HEADS = {
    "ForCausalLM": HeadSpec(roberta_lm),
    "ForMaskedLM": HeadSpec(roberta_lm),
    "ForSequenceClassification": HeadSpec(first_token_classifier),
    "ForMultipleChoice": HeadSpec(multiple_choice_head, True),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(question_answering_head),
}
"""The classes of RoBERTa's kind."""

OWN = "lm_head.decoder.weight"
"""The word embeddings' storage, in families whose head is built before the backbone."""


def with_heads(
    family: str,
    backbone: str,
    encoder: Encoder,
    heads: Mapping[str, HeadSpec],
    *,
    words: str = "embeddings.word_embeddings.weight",
    first: bool = False,
    bare: str = "Model",
) -> dict[str, Callable[[Config], Part]]:
    """Return a family's classes: the bare model, and each head on the backbone.

    Args:
        family: How the names of its classes begin.
        backbone: The name under which heads hold the model.
        words: The name of the word embeddings inside the backbone.
        first: Whether heads are built before the backbone, and so own what is tied.
        bare: What follows the family's name in that of the class without a head.
    """

    def alone(c: Config) -> Part:
        return part("", *encoder(c, pooled=c.pooled), kind="model")

    def with_head(spec: HeadSpec) -> Callable[[Config], Part]:
        def blueprint(c: Config) -> Part:
            owner = (OWN if first else f"{backbone}.{words}") if c.tied else None
            head = spec.head(c, owner)
            tied = OWN if first and c.tied and head[0].name == "lm_head" else None
            body = part(backbone, *encoder(c, pooled=spec.pooled, words=tied), kind="backbone")
            return part("", *((*head, body) if first else (body, *head)), kind="model")

        return blueprint

    return {family + bare: alone, **{family + name: with_head(spec) for name, spec in heads.items()}}
