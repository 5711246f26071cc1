"""BERT with approximate attention: Nystromformer, YOSO, MRA (Xiong et al., Zeng et al., 2021 and 2022).

Source: arXiv 2102.03902, 2111.09714, 2207.10284; class and tensor names as in transformers 5.23.0,
models/{nystromformer,yoso,mra}/modeling_*.py. Position tables have two rows more than the config says.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block
from weighbridge.blueprints.modules.bert_family import (
    BERT_TASKS,
    ROBERTA_HEADS,
    Encoder,
    HeadSpec,
    bert_fields,
    bert_lm,
    encoder_stack,
    start_and_end,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

NYSTROM = (
    *bert_fields(vocab=30000, positions=510),
    size("landmarks", "num_landmarks", 64, "M", "landmarks"),
    size("segment", "segment_means_seq_len", 64, "N", "tokens averaged into a landmark"),
    computed("whole", lambda c: c.landmarks == c.segment),
    size("kernel", "conv_kernel_size", 65, "K", "kernel size of the convolution"),
    POOLED,
)
YOSO = (
    *bert_fields(vocab=50265, positions=4096, types=1),
    choice("convolved", "conv_window", None, read=lambda value: value is not None),
    size("kernel", "conv_window", 1, "K", "kernel size of the convolution"),
    switch("expected", "use_expectation", True),
    POOLED,
)
MRA = (*bert_fields(vocab=50265, types=1), POOLED)


def body(c: Config, *inside: Node, buffers: tuple[Tensor, ...] = ()) -> tuple[Part, ...]:
    """Describe BERT with *inside* in its attention, and no pooler."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        *buffers,
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions + 2, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )
    inner = part("self", *(linear(name, H, H) for name in ("query", "key", "value")), *inside, kind="attention")
    layer = part(
        "layer", part("attention", inner, output_block(H, H), kind="self_attention"), *feed_forward(c), kind="layer", repeat=c.layers
    )
    return (embeddings, encoder_stack(layer))


def convolution(c: Config) -> Part:
    """Describe the convolution over the values, one kernel a head."""
    weight = Tensor("weight", (c.heads, 1, c.kernel, 1))
    return part("conv", replace(weight, role="gain"), matmul("convolve", ("seq", c.hidden, c.kernel)), kind="convolution")


def nystromformer(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe attention through landmarks: three kernels, and the inverse of one by six iterations."""
    A, d, M = c.heads, c.head_dim, c.landmarks
    inverse: tuple[Size, ...] = (6 * 4, A, M, M, M)
    through = matmul(
        "landmarks", (A, "seq", M, d), (A, M, M, d), (A, M, "seq", d), inverse, (A, "seq", M, M), (A, M, "seq", d), (A, "seq", M, d)
    )
    return body(c, convolution(c), attend(heads=A, head_dim=d) if c.whole else through)


def yoso(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe attention by its expectation; with hashes it is a kernel whose work does not follow from the config."""
    sight = "seq" if c.expected else unknown("YOSO's hashing is a kernel of its own")
    return body(c, *((convolution(c),) if c.convolved else ()), attend(heads=c.heads, head_dim=c.head_dim, keys=sight))


def mra(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe attention by blocks of several resolutions, a kernel that picks them as it runs."""
    places = Tensor("position_ids", (1, c.positions), "buffer")
    return body(c, attend(heads=c.heads, head_dim=c.head_dim, keys=unknown("MRA picks its blocks as it runs")), buffers=(places,))


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe two linear maps on the first token, one output."""
    return linear("pre_classifier", c.hidden, c.hidden, stream="one"), linear("classifier", c.hidden, 1, stream="one")


HEADS = {
    "ForMaskedLM": HeadSpec(bert_lm),
    "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForTokenClassification": BERT_TASKS["ForTokenClassification"],
    "ForQuestionAnswering": HeadSpec(start_and_end),
}
IGNORED_KEYS = frozenset(
    """add_cross_attention approx_mode block_per_row hash_code_len initial_prior_diagonal_n_blocks initial_prior_first_n_blocks
    inv_coeff_init_option is_decoder lsh_backward num_hash use_fast_hash""".split()
)


def family_of(model_type: str, name: str, fields: tuple[Field, ...], encoder: Encoder) -> Family:
    """Return one of the three."""
    return Family(model_type, fields, with_heads(name, model_type, encoder, HEADS), f"{name}Model", ignored_keys=IGNORED_KEYS)


FAMILIES = {
    "nystromformer": family_of("nystromformer", "Nystromformer", NYSTROM, nystromformer),
    "yoso": family_of("yoso", "Yoso", YOSO, yoso),
    "mra": family_of("mra", "Mra", MRA, mra),
}
