"""TAPAS: BERT for tables, with seven token-type embeddings (Herzig et al., 2020).

Source: arXiv 2004.02349; class and tensor names as in transformers 5.23.0, models/tapas/modeling_tapas.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import HeadSpec, bert_fields, bert_lm, encoder_stack, sequence_classifier, with_heads
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, computed, size, switch
from weighbridge.core.parts import embedding, linear, part
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *bert_fields(positions=1024, types=None),
    numbers("types", "type_vocab_sizes", (3, 256, 256, 2, 256, 256, 10), minimum=0),
    size("aggregations", "num_aggregation_labels", 0, "G", "ways to aggregate cells", minimum=0),
    computed("aggregated", lambda c: c.aggregations > 0),
    switch("one_column", "select_one_column", True),
    *DECODER,
    POOLED,
)
IGNORED_KEYS = frozenset(
    """positive_label_weight aggregation_loss_weight use_answer_as_supervision answer_loss_importance use_normalized_answer_loss
    huber_loss_delta aggregation_temperature use_gumbel_for_cells use_gumbel_for_aggregation average_approximation_function
    cell_selection_preference answer_loss_cutoff max_num_rows max_num_columns average_logits_per_cell allow_empty_column_selection
    init_cell_selection_weights_to_zero reset_position_index_per_cell disable_per_token_loss aggregation_labels
    no_aggregation_label_index""".split()
)


def tapas(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: a token has a type for its segment, column, row and rank."""
    *tables, norm = bert_embeddings(c, typed=False).children
    types = tuple(embedding(f"token_type_embeddings_{index}", count, c.hidden) for index, count in enumerate(c.types))
    embeddings = part("embeddings", *tables, *types, norm, kind="embeddings")
    return (embeddings, encoder_stack(bert_layer(c)), *((pooler(c),) if pooled else ()))


def question_answering(c: Config) -> Part:
    """Describe the selection of cells and of a column, which is not always asked for, and how the cells are aggregated."""
    column = part("", Tensor("column_output_weights", (c.hidden,), "weight"), kind="head", requires=None if c.one_column else "columns")
    biases = (Tensor("output_bias", (), "bias"), Tensor("column_output_bias", (), "bias"))
    aggregation = (linear("aggregation_classifier", c.hidden, c.aggregations, stream="one"),) if c.aggregated else ()
    body = part("tapas", *tapas(c, pooled=True), kind="backbone")
    return part("", Tensor("output_weights", (c.hidden,), "weight"), column, *biases, body, *aggregation, kind="model")


HEADS = {"ForMaskedLM": HeadSpec(bert_lm), "ForSequenceClassification": HeadSpec(sequence_classifier, True)}
CLASSES = {**with_heads("Tapas", "tapas", tapas, HEADS), "TapasForQuestionAnswering": question_answering}

FAMILIES = {"tapas": Family("tapas", FIELDS, CLASSES, "TapasModel", IGNORED_KEYS)}
