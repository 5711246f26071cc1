"""ConvBERT: half of the attention heads are replaced by span-based dynamic convolution (Jiang et al., 2020).

Source: arXiv 2008.02496; class and tensor names as in transformers 5.23.0, models/convbert/modeling_convbert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, output_block
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import (
    BERT_TASKS,
    ROBERTA_HEADS,
    HeadSpec,
    bert_fields,
    encoder_stack,
    multiple_choice_head,
    summary,
    vocabulary_projection,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, EMBEDDING_SIZE, Config, computed, size, switch
from weighbridge.core.parts import attend, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *(field for field in bert_fields() if field.word != "head_dim"),
    EMBEDDING_SIZE.with_default(768),
    computed("projected", lambda c: c.embedding != c.hidden),
    size("ratio", "head_ratio", 2, "R", "reduction factor of the heads"),
    computed("single", lambda c: c.heads < c.ratio),
    size("kernel", "conv_kernel_size", 9, "K", "kernel size of the convolution"),
    size("groups", "num_groups", 1, "G", "groups of the feed-forward maps"),
    computed("grouped", lambda c: c.groups > 1),
    switch("summarized", "summary_use_proj", False),
    switch("to_labels", "summary_proj_to_labels", False),
    *DECODER,
    POOLED,
)
IGNORED_KEYS = frozenset({"summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type"})


def convbert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; it has no pooler."""
    H, I = c.hidden, c.mlp
    project = (linear("embeddings_project", c.embedding, H),) if c.projected else ()
    crossed = (replace(attention(c, "crossattention"), requires="encoder"),) if c.crossed else ()
    layer = part(
        "layer",
        attention(c, "attention"),
        *crossed,
        part("intermediate", grouped_linear(c, H, I), kind="feed_forward"),
        part("output", grouped_linear(c, I, H), layer_norm("LayerNorm", H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return (bert_embeddings(c, c.embedding), *project, encoder_stack(layer))


def attention(c: Config, name: str) -> Part:
    """Describe fewer heads of attention and, beside them, as wide a convolution."""
    H, K = c.hidden, c.kernel
    A = 1 if c.single else c.heads // c.ratio
    d = H // A // 2
    wide = A * d
    separable = part(
        "key_conv_attn_layer",
        Tensor("bias", (wide, 1), "bias"),
        part("depthwise", Tensor("weight", (H, 1, K)), kind="convolution"),
        part("pointwise", Tensor("weight", (wide, H, 1)), kind="convolution"),
        kind="convolution",
    )
    inner = part(
        "self",
        linear("query", H, wide),
        linear("key", H, wide),
        linear("value", H, wide),
        separable,
        linear("conv_kernel_layer", wide, A * K),
        linear("conv_out_layer", H, wide),
        attend(heads=A, head_dim=d),
        matmul("convolve", ("seq", wide, K)),
        kind="attention",
    )
    return part(name, inner, output_block(H, H), kind="self_attention")


def grouped_linear(c: Config, inputs: Size, outputs: Size) -> Part:
    """Describe a linear map, or one of several groups."""
    if not c.grouped:
        return linear("dense", inputs, outputs)
    weight = Tensor("weight", (c.groups, exact(inputs, c.groups), exact(outputs, c.groups)))
    return part("dense", weight, Tensor("bias", (outputs,), "bias"), kind="linear")


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the generator's vocabulary head, as ELECTRA has it."""
    predictions = part(
        "generator_predictions", layer_norm("LayerNorm", c.embedding), linear("dense", c.hidden, c.embedding), kind="transform"
    )
    return predictions, vocabulary_projection(c, "generator_lm_head", c.embedding, words=words)


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe a summary of the sequence, on a switch, and one output."""
    return (*summary(c), *multiple_choice_head(c, words))


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    **BERT_TASKS,
    "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    "ForMultipleChoice": HeadSpec(multiple_choice),
}

FAMILIES = {
    "convbert": Family("convbert", FIELDS, with_heads("ConvBert", "convbert", convbert, HEADS), "ConvBertModel", ignored_keys=IGNORED_KEYS)
}
