"""ELECTRA: a generator and a discriminator with BERT's structure and a separate embedding size (Clark et al., 2020).

Source: arXiv 2003.10555; class and tensor names as in transformers 5.23.0, models/electra/modeling_electra.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import (
    HeadSpec,
    bert_fields,
    encoder_stack,
    first_token_classifier,
    multiple_choice_head,
    question_answering_head,
    summary,
    token_classifier,
    vocabulary_projection,
    with_heads,
)
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, EMBEDDING_SIZE, Config, computed, switch
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *uneven_heads(bert_fields(hidden=256, mlp=1024, heads=4)),
    EMBEDDING_SIZE.with_default(128),
    computed("projected", lambda c: c.embedding != c.hidden),
    switch("summarized", "summary_use_proj", True),
    switch("to_labels", "summary_proj_to_labels", False),
    *DECODER,
    POOLED,
)
IGNORED_KEYS = frozenset({"summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type"})


def electra(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: BERT's, without a pooler, with a projection where the embeddings are narrower."""
    project = (linear("embeddings_project", c.embedding, c.hidden),) if c.projected else ()
    return (bert_embeddings(c, c.embedding), *project, encoder_stack(bert_layer(c)))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the generator's vocabulary head, back down to the embeddings' width."""
    predictions = part(
        "generator_predictions", layer_norm("LayerNorm", c.embedding), linear("dense", c.hidden, c.embedding), kind="transform"
    )
    return predictions, vocabulary_projection(c, "generator_lm_head", c.embedding, words=words)


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the discriminator: for every token, whether it was replaced."""
    return (part("discriminator_predictions", linear("dense", c.hidden, c.hidden), linear("dense_prediction", c.hidden, 1), kind="head"),)


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe a summary of the sequence and one output."""
    return (*summary(c), *multiple_choice_head(c, words))


HEADS = {
    "ForPreTraining": HeadSpec(pre_training),
    "ForCausalLM": HeadSpec(masked_lm),
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": HeadSpec(first_token_classifier),
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(question_answering_head),
}

FAMILIES = {
    "electra": Family("electra", FIELDS, with_heads("Electra", "electra", electra, HEADS), "ElectraModel", ignored_keys=IGNORED_KEYS)
}
