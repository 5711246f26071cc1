"""Splinter: BERT pre-trained with recurring span selection, for few-shot question answering (Ram et al., 2021).

Source: arXiv 2101.00438; class and tensor names as in transformers 5.23.0, models/splinter/modeling_splinter.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, attention, feed_forward
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import HeadSpec, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.length import Stream
from weighbridge.core.parts import layer_norm, linear, matmul, part
from weighbridge.core.tree import Part


def splinter(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder, without a pooler."""
    layer = part("layer", attention(c), *feed_forward(c), kind="layer", repeat=c.layers)
    return (bert_embeddings(c), encoder_stack(layer))


def span_selection(c: Config, questions: Stream) -> tuple[Part, ...]:
    """Describe the selection of spans for every question token."""
    H = c.hidden

    def transform(name: str, stream: Stream | None = None) -> Part:
        return part(name, linear("dense", H, H), layer_norm("LayerNorm", H), kind="transform", stream=stream)

    return (
        part(
            "splinter_qass",
            transform("query_start_transform", questions),
            transform("query_end_transform", questions),
            transform("start_transform"),
            transform("end_transform"),
            linear("start_classifier", H, H, bias=False, stream=questions),
            linear("end_classifier", H, H, bias=False, stream=questions),
            matmul("select", (2, questions, "seq", H)),
            kind="head",
        ),
    )


def question_answering(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one question for each text."""
    return span_selection(c, "one")


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe as many questions as a text has masked spans."""
    return span_selection(c, "question")


HEADS = {"ForQuestionAnswering": HeadSpec(question_answering), "ForPreTraining": HeadSpec(pre_training)}

FAMILIES = {"splinter": Family("splinter", (*bert_fields(), POOLED), with_heads("Splinter", "splinter", splinter, HEADS), "SplinterModel")}
