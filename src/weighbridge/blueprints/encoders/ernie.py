"""ERNIE 1 to 3 (encoders): BERT with optional task-type embeddings (Sun et al., 2019).

Source: arXiv 1904.09223, 1907.12412; class and tensor names as in transformers 5.23.0, models/ernie/modeling_ernie.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import BERT_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, size, switch
from weighbridge.core.parts import embedding, replace
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(),
    size("tasks", "task_type_vocab_size", 3, "K", "task types"),
    switch("tasked", "use_task_id", False),
    *DECODER,
    POOLED,
)


def ernie(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder."""
    embeddings = bert_embeddings(c)
    if c.tasked:
        embeddings = replace(embeddings, children=(*embeddings.children, embedding("task_type_embeddings", c.tasks, c.hidden)))
    return (embeddings, encoder_stack(bert_layer(c)), *((pooler(c),) if pooled else ()))


FAMILIES = {"ernie": Family("ernie", FIELDS, with_heads("Ernie", "ernie", ernie, BERT_HEADS), "ErnieModel")}
