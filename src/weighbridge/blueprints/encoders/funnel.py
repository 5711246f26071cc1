"""Funnel Transformer: blocks of layers, each over a sequence pooled to half its length (Dai et al., 2020).

Source: arXiv 2006.03236; class and tensor names as in transformers 5.23.0, models/funnel/modeling_funnel.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.modules.bert_family import (
    HeadSpec,
    question_answering_head,
    token_classifier,
    vocabulary_projection,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, LABELS, N_HEAD, TIED, VOCAB, Config, choice, sequence, size, switch
from weighbridge.core.length import Length, Stream, length, per_batch, sum_of
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part
from weighbridge.core.tree import Every, Node, Part, Tensor

FIELDS = (
    VOCAB.with_default(30522),
    D_MODEL.with_default(768),
    size("mlp", "d_inner", 3072, "I", "intermediate size"),
    N_HEAD.with_default(12),
    size("head_dim", "d_head", 64, "D", "head dimension"),
    sequence("blocks", "block_sizes", [4, 4, 4]),
    sequence("repeats", "block_repeats", None),
    size("decoder_layers", "num_decoder_layers", 2, "L", "layers of the decoder", minimum=0),
    LABELS,
    TIED,
    choice("positions", "attention_type", "relative_shift"),
    switch("separate", "separate_cls", True),
    switch("truncated", "truncate_seq", True),
    switch("queries_only", "pool_q_only", True),
    POOLED,
)
IGNORED_KEYS = frozenset({"initializer_std", "num_blocks", "num_hidden_layers", "pooling_type"})


def pooled_length(c: Config, stream: Stream) -> Length:
    """Return the stream after pooling: every two tokens become one, the first is kept apart."""
    return (length(stream) + (2 if c.separate and not c.truncated else 1)) // 2


def base(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe embeddings and encoder, whose output is shorter than its input."""
    embeddings = part("embeddings", embedding("word_embeddings", c.vocab, c.hidden), layer_norm("layer_norm", c.hidden), kind="embeddings")
    stream: Stream = "seq"
    blocks = []
    for index, count in enumerate(c.blocks):
        times = c.repeats[index] if c.repeats else 1
        context, stream = stream, pooled_length(c, stream) if index else stream
        blocks.append(part(str(index), *block(c, count, times, stream, context), kind="block"))
    return (embeddings, part("encoder", part("blocks", *blocks, kind="blocks"), kind="encoder"))


def block(c: Config, count: int, times: int, stream: Stream, context: Stream) -> tuple[Part, ...]:
    """Describe a block: its first layer pools, once; every further time, and every other layer, stays on *stream*."""
    plain = layer(c, stream, stream, 2)
    if stream is context:
        return (part("", *plain, kind="layer", repeat=count, executions=count * times),)
    return (
        part("", *layer(c, stream, context if c.queries_only else stream, 2 if not c.queries_only else 1), kind="layer", repeat=1),
        part("", *plain, kind="layer", repeat=0, executions=times - 1),
        part("", *plain, kind="layer", repeat=count - 1, executions=(count - 1) * times, indices=Every(1)),
    )


def layer(c: Config, queries: Stream, keys: Stream, own: int) -> tuple[Part, ...]:
    """Describe attention over *keys* and feed-forward; relative positions are twice the queries' when they are the keys (*own* 2)."""
    H, A, d = c.hidden, c.heads, c.head_dim
    offsets: Stream = length(queries) * 2 if own == 2 else sum_of(length(queries) * 2, keys)
    kernel = Tensor("r_kernel", (H, A, d))
    factorized = c.positions == "factorized"
    products: tuple[Node, ...] = (
        (matmul("positions", (2, A, queries, keys, H)),) if factorized else (matmul("positions", (A, queries, offsets, d)),)
    )
    attention = part(
        "attention",
        Tensor("r_w_bias", (A, d), "bias"),
        Tensor("r_r_bias", (A, d), "bias"),
        kernel if factorized else part("", kernel, kind="attention", stream=per_batch(offsets)),
        Tensor("r_s_bias", (A, d), "bias"),
        Tensor("seg_embed", (2, A, d), "embedding"),
        linear("q_head", H, A * d, bias=False),
        linear("k_head", H, A * d, stream=keys),
        linear("v_head", H, A * d, stream=keys),
        linear("post_proj", A * d, H),
        layer_norm("layer_norm", H),
        attend(heads=A, head_dim=d, queries=queries, keys=keys),
        matmul("segments", (2, A, queries, d)),
        *products,
        kind="self_attention",
        stream=queries,
    )
    maps = (linear("linear_1", H, c.mlp), linear("linear_2", c.mlp, H), layer_norm("layer_norm", H))
    return (attention, part("ffn", *maps, kind="feed_forward", stream=queries))


def funnel(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the same and the decoder, which brings the output back to its full length."""
    layers = part("layers", *layer(c, "seq", "seq", 2), kind="layer", repeat=c.decoder_layers)
    return (*base(c, pooled=pooled), part("decoder", layers, kind="decoder"))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    return (vocabulary_projection(c, "lm_head", c.hidden, words=words),)


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the discriminator, as ELECTRA has it."""
    return (part("discriminator_predictions", linear("dense", c.hidden, c.hidden), linear("dense_prediction", c.hidden, 1), kind="head"),)


def classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe two linear maps on the first token."""
    maps = (linear("linear_hidden", c.hidden, c.hidden), linear("linear_out", c.hidden, c.labels))
    return (part("classifier", *maps, kind="head", stream="one"),)


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the same, always with one output."""
    maps = (linear("linear_hidden", c.hidden, c.hidden), linear("linear_out", c.hidden, 1))
    return (part("classifier", *maps, kind="head", stream="one"),)


HEADS = {
    "ForPreTraining": HeadSpec(pre_training),
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(question_answering_head),
}
CLASSES = {
    **with_heads("Funnel", "funnel", funnel, HEADS),
    **with_heads(
        "Funnel",
        "funnel",
        base,
        {"ForSequenceClassification": HeadSpec(classifier), "ForMultipleChoice": HeadSpec(multiple_choice)},
        bare="BaseModel",
    ),
}

FAMILIES = {"funnel": Family("funnel", FIELDS, CLASSES, "FunnelModel", ignored_keys=IGNORED_KEYS)}
