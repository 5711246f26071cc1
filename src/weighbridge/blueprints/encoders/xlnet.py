"""XLNet: permutation language modelling over Transformer-XL's attention (Yang et al., 2019).

Source: arXiv 1906.08237; class and tensor names as in transformers 5.23.0, models/xlnet/modeling_xlnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.modules.bert_family import (
    STARTS,
    HeadSpec,
    question_answering_head,
    squad_head,
    summary,
    token_classifier,
    vocabulary_projection,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, LABELS, N_HEAD, N_LAYER, TIED, AtInit, Config, Field, choice, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, State, Tensor


def _refuse_other_heads(c: Config) -> bool:
    if c.head_dim != c.hidden // c.heads:
        raise ConfigError(
            Text("the class wants the width of a head to be {width}", width=c.hidden // c.heads), key="d_head", value=c.head_dim
        )
    return True


FIELDS = (
    size("vocab", "vocab_size", 32000, "V", "vocabulary size", "n_token"),
    D_MODEL.with_default(1024),
    size("mlp", "d_inner", 4096, "I", "intermediate size"),
    N_LAYER.with_default(24),
    N_HEAD.with_default(16),
    size("head_dim", "d_head", AtInit(lambda c: exact(c.hidden, c.heads)), "D", "head dimension"),
    computed("even", _refuse_other_heads),
    LABELS,
    TIED,
    choice("sight", "attn_type", "bi"),
    switch("summarized", "summary_use_proj", True),
    switch("to_labels", "summary_proj_to_labels", False),
    STARTS,
    POOLED,
    Field("reused", "reuse_len", None, "choice", report_default=False),
    Field("remembered", "mem_len", 512, "choice", report_default=False),
    switch("remembers", "use_mems_eval", True),
    computed("memories", lambda c: [most for most in (c.reused, c.remembered) if most]),
)
IGNORED_KEYS = frozenset(
    """bi_data clamp_len end_n_top ff_activation same_length summary_activation
    summary_last_dropout summary_type untie_r use_mems_train""".split()
)


def xlnet(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the layers; the positions are sines, and relative ones are as many as can be seen to both sides."""
    H, A, d = c.hidden, c.heads, c.head_dim
    positions = length("seq") * 2 if c.sight == "bi" else length("seq") + 1
    attention = part(
        "rel_attn",
        *(Tensor(name, (H, A, d)) for name in "qkvo"),
        part("", Tensor("r", (H, A, d)), kind="attention", stream=positions),
        *(Tensor(name, (A, d), "bias") for name in ("r_r_bias", "r_s_bias", "r_w_bias")),
        Tensor("seg_embed", (2, A, d), "embedding"),
        layer_norm("layer_norm", H),
        attend(heads=A, head_dim=d),
        matmul("relative_positions", (A, "seq", positions, d)),
        kind="self_attention",
    )
    # what went into the layer, of the last tokens, for the next segment to attend to
    memory = State("mems", H, per_token=True, window=min(c.memories) + 1 if c.memories else None)
    feed_forward = part("ff", layer_norm("layer_norm", H), linear("layer_1", H, c.mlp), linear("layer_2", c.mlp, H), kind="feed_forward")
    layer = part("layer", attention, feed_forward, *((memory,) if c.remembers else ()), kind="layer", repeat=c.layers)
    mask = part("", Tensor("mask_emb", (1, 1, H), "embedding"), kind="embeddings")
    return (mask, embedding("word_embedding", c.vocab, H), layer)


def lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    return (vocabulary_projection(c, "lm_loss", c.hidden, words=words),)


def classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the summary of a sequence and one output per label."""
    return *summary(c), linear("logits_proj", c.hidden, c.labels, stream="one")


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the summary and one output."""
    return *summary(c), linear("logits_proj", c.hidden, 1, stream="one")


HEADS = {
    "LMHeadModel": HeadSpec(lm),
    "ForSequenceClassification": HeadSpec(classifier),
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnsweringSimple": HeadSpec(question_answering_head),
    "ForQuestionAnswering": HeadSpec(squad_head),
}
CLASSES = with_heads("XLNet", "transformer", xlnet, HEADS, words="word_embedding.weight")

FAMILIES = {"xlnet": Family("xlnet", FIELDS, CLASSES, "XLNetModel", ignored_keys=IGNORED_KEYS)}
