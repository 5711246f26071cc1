"""BERT: the encoder of "Pre-training of Deep Bidirectional Transformers" (Devlin et al., 2018).

Source: arXiv 1810.04805, section 3; class and tensor names as in transformers 5.23.0,
models/bert/modeling_bert.py; the older names as in google-research/bert, modeling.py.
"""

from __future__ import annotations

import re

from weighbridge.blueprints import Family
from weighbridge.config import DECODER, LABELS, TIED, Sizes, derived, size, switch
from weighbridge.parts import attend, embedding, layer_norm, linear
from weighbridge.sizes import exact
from weighbridge.tree import Part, Row, Tensor

FIELDS = (
    size("vocab", "vocab_size", 30522, "V", "vocabulary size"),
    size("positions", "max_position_embeddings", 512, "S", "positions"),
    size("types", "type_vocab_size", 2, "T", "token types"),
    size("hidden", "hidden_size", 768, "H", "hidden size"),
    size("mlp", "intermediate_size", 3072, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 12, "L", "layers"),
    size("heads", "num_attention_heads", 12, "A", "attention heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED,
    *DECODER,
    switch("pooled", "add_pooling_layer", True, silent=True),
)


def encoder(c: Sizes, *, pooled: bool) -> tuple[Part, ...]:
    """Describe embeddings, layers and pooler: the parts that all nine classes share."""
    H = c.hidden
    crossed = (attention(c, "crossattention", keys="encoder"),) if c.crossed else ()
    layer = Part("layer", (
        attention(c, "attention"),
        *crossed,
        Part("intermediate", (linear("dense", H, c.mlp),), "feed_forward"),
        Part("output", (linear("dense", c.mlp, H), layer_norm("LayerNorm", H)), "feed_forward"),
    ), "layer", repeat=c.layers)  # fmt: skip
    embeddings = Part("embeddings", (
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
    ), "embeddings")  # fmt: skip
    pooler = Part("pooler", (linear("dense", H, H),), "pooler", stream="one")
    return (embeddings, Part("encoder", (layer,), "encoder"), *((pooler,) if pooled else ()))


def attention(c: Sizes, name: str, *, keys: str | None = None) -> Part:
    """Describe attention over the tokens themselves, or over an encoder's when *keys* names its stream."""
    H = c.hidden
    inner = Part("self", (
        linear("query", H, H),
        linear("key", H, H, stream=keys),
        linear("value", H, H, stream=keys),
        attend(heads=c.heads, head_dim=c.head_dim, keys=keys),
    ), "attention")  # fmt: skip
    output = Part("output", (linear("dense", H, H), layer_norm("LayerNorm", H)), "attention")
    return Part(name, (inner, output), "cross_attention" if keys else "self_attention", given=keys)


def masked_lm_head(c: Sizes) -> Part:
    """Describe the vocabulary head: a transform, then the word embeddings again with a bias of their own."""
    H = c.hidden
    transform = Part("transform", (linear("dense", H, H), layer_norm("LayerNorm", H)), "transform")
    decoder = Part("decoder", (
        Tensor("weight", (c.vocab, H), "weight", "bert.embeddings.word_embeddings.weight" if c.tied else None),
        Tensor("bias", (c.vocab,), "bias", "cls.predictions.bias" if c.tied else None),
    ), "linear")  # fmt: skip
    return Part("predictions", (Tensor("bias", (c.vocab,), "bias"), transform, decoder), "lm_head")


def bert(c: Sizes) -> Part:
    """Describe BertModel: embeddings, layers and, unless left out, the pooler."""
    return Part("", encoder(c, pooled=c.pooled), "model")


def masked_lm(c: Sizes) -> Part:
    """Describe BertForMaskedLM and BertLMHeadModel: no pooler, a vocabulary head."""
    return Part("", (backbone(c, pooled=False), Part("cls", (masked_lm_head(c),), "head")), "model")


def pre_training(c: Sizes) -> Part:
    """Describe BertForPreTraining: the vocabulary head and next-sentence prediction."""
    heads = Part("cls", (masked_lm_head(c), linear("seq_relationship", c.hidden, 2, stream="one")), "head")
    return Part("", (backbone(c, pooled=True), heads), "model")


def next_sentence(c: Sizes) -> Part:
    """Describe BertForNextSentencePrediction: two outputs on the pooled token."""
    return Part("", (backbone(c, pooled=True), Part("cls", (linear("seq_relationship", c.hidden, 2, stream="one"),), "head")), "model")


def sequence_classification(c: Sizes) -> Part:
    """Describe BertForSequenceClassification: one output per label on the pooled token."""
    return Part("", (backbone(c, pooled=True), linear("classifier", c.hidden, c.labels, stream="one")), "model")


def multiple_choice(c: Sizes) -> Part:
    """Describe BertForMultipleChoice: always one output, whatever the number of labels."""
    return Part("", (backbone(c, pooled=True), linear("classifier", c.hidden, 1, stream="one")), "model")


def token_classification(c: Sizes) -> Part:
    """Describe BertForTokenClassification: one output per label on every token, no pooler."""
    return Part("", (backbone(c, pooled=False), linear("classifier", c.hidden, c.labels)), "model")


def question_answering(c: Sizes) -> Part:
    """Describe BertForQuestionAnswering: start and end (or as many labels as the config has), no pooler."""
    return Part("", (backbone(c, pooled=False), linear("qa_outputs", c.hidden, c.labels)), "model")


def backbone(c: Sizes, *, pooled: bool) -> Part:
    """Describe the encoder as the heads hold it, under the name ``bert``."""
    return Part("bert", encoder(c, pooled=pooled), "backbone")


def tensorflow_row(row: Row) -> Row:
    """Translate a tensor to its name and shape in Google's original release, where kernels are ``[inputs, outputs]``.

    >>> tensorflow_row(Row("encoder.layer.0.intermediate.dense.weight", (3072, 768), "weight", None, None, False))[:2]
    ('bert/encoder/layer_0/intermediate/dense/kernel', (768, 3072))
    """
    name = tensorflow_name(row.name)
    shape = row.shape[::-1] if name.endswith("/kernel") else row.shape
    return row._replace(name=name, shape=shape, tied_to=row.tied_to and tensorflow_name(row.tied_to))


def tensorflow_name(name: str) -> str:
    """Translate a name to that of Google's original release.

    >>> tensorflow_name("bert.embeddings.word_embeddings.weight")
    'bert/embeddings/word_embeddings'
    >>> tensorflow_name("cls.seq_relationship.weight")
    'cls/seq_relationship/output_weights'
    """
    name = name if name.startswith(("bert.", "cls.", "classifier.", "qa_outputs.")) else "bert." + name
    for pattern, replacement in _TENSORFLOW:
        name, found = re.subn(pattern, replacement, name)
        if found and not pattern.startswith(r"\.layer"):
            break
    return name.replace(".", "/")


_TENSORFLOW = (
    (r"\.layer\.(\d+)\.", r".layer_\1."),
    (r"LayerNorm\.weight$", "LayerNorm.gamma"),
    (r"LayerNorm\.bias$", "LayerNorm.beta"),
    (r"_embeddings\.weight$", "_embeddings"),
    (r"^cls\.predictions\.decoder\.weight$", "bert.embeddings.word_embeddings"),
    (r"^cls\.predictions\.(decoder\.)?bias$", "cls.predictions.output_bias"),
    (r"^cls\.seq_relationship\.weight$", "cls.seq_relationship.output_weights"),
    (r"^cls\.seq_relationship\.bias$", "cls.seq_relationship.output_bias"),
    (r"^qa_outputs\.weight$", "cls.squad.output_weights"),
    (r"^qa_outputs\.bias$", "cls.squad.output_bias"),
    (r"^classifier\.weight$", "output_weights"),
    (r"^classifier\.bias$", "output_bias"),
    (r"\.weight$", ".kernel"),
)

CLASSES = {
    "BertModel": bert,
    "BertForPreTraining": pre_training,
    "BertLMHeadModel": masked_lm,
    "BertForMaskedLM": masked_lm,
    "BertForNextSentencePrediction": next_sentence,
    "BertForSequenceClassification": sequence_classification,
    "BertForMultipleChoice": multiple_choice,
    "BertForTokenClassification": token_classification,
    "BertForQuestionAnswering": question_answering,
}

FAMILIES = {"bert": Family("bert", FIELDS, CLASSES, "BertModel", renames={"tensorflow": tensorflow_row})}
