"""XLM, a multilingual encoder, and FlauBERT, a French one (Conneau and Lample, 2019; Le et al., 2019).

Source: arXiv 1901.07291, 1912.05372; class and tensor names as in transformers 5.23.0, models/xlm/modeling_xlm.py
and models/flaubert/modeling_flaubert.py. The feed-forward size is always four times the hidden size.
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
from weighbridge.config.fields import LABELS, N_HEADS, N_LAYERS, POSITIONS, TIED, Config, computed, derived, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part

FIELDS = (
    size("vocab", "vocab_size", 30145, "V", "vocabulary size", "n_words"),
    POSITIONS.with_default(512),
    size("hidden", "emb_dim", 2048, "H", "hidden size", "hidden_size"),
    N_LAYERS.with_default(12),
    N_HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "emb_dim", "n_heads"),
    size("languages", "n_langs", 1, "G", "languages"),
    switch("language_table", "use_lang_emb", True),
    computed("many", lambda c: c.languages > 1),
    LABELS,
    TIED,
    switch("adaptive", "asm", False),
    switch("summarized", "summary_use_proj", True),
    switch("to_labels", "summary_proj_to_labels", True),
    STARTS,
    POOLED,
)
IGNORED_KEYS = frozenset(
    """asm_cutoffs asm_div_value bos_index causal embed_init_std end_n_top eos_index gelu_activation id2lang init_std is_encoder
    lang2id lang_id mask_index mask_token_id pad_index pre_norm sinusoidal_embeddings summary_activation
    summary_first_dropout summary_last_dropout summary_type unk_index""".split()
)


def xlm(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: lists of attentions, norms and feed-forward networks, side by side."""
    H, L = c.hidden, c.layers
    languages = (embedding("lang_embeddings", c.languages, H),) if c.many and c.language_table else ()
    maps = tuple(linear(name, H, H) for name in ("q_lin", "k_lin", "v_lin", "out_lin"))
    attention: tuple[Node, ...] = (*maps, attend(heads=c.heads, head_dim=c.head_dim))
    return (
        embedding("position_embeddings", c.positions, H),
        *languages,
        embedding("embeddings", c.vocab, H),
        layer_norm("layer_norm_emb", H),
        part("attentions", *attention, kind="self_attention", repeat=L),
        layer_norm("layer_norm1", H, repeat=L),
        part("ffns", linear("lin1", H, 4 * H), linear("lin2", 4 * H, H), kind="feed_forward", repeat=L),
        layer_norm("layer_norm2", H, repeat=L),
    )


def lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    if c.adaptive:
        raise ConfigError("the adaptive softmax is not described", key="asm", value=True, hint="set it to false")
    return (part("pred_layer", vocabulary_projection(c, "proj", c.hidden, words=words), kind="lm_head"),)


def classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the summary of a sequence, which gives the labels."""
    return summary(c)


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the summary and one output."""
    return *summary(c), linear("logits_proj", c.labels, 1, stream="one")


def question_answering(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe XLNet's question answering under a name of its own."""
    return (part("qa_outputs", *squad_head(c, words), kind="head"),)


HEADS = {
    "WithLMHeadModel": HeadSpec(lm),
    "ForSequenceClassification": HeadSpec(classifier),
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnsweringSimple": HeadSpec(question_answering_head),
    "ForQuestionAnswering": HeadSpec(question_answering),
}


def family_of(model_type: str, name: str) -> Family:
    """Return XLM under this name."""
    return Family(
        model_type,
        FIELDS,
        with_heads(name, "transformer", xlm, HEADS, words="embeddings.weight"),
        f"{name}Model",
        ignored_keys=IGNORED_KEYS,
    )


FAMILIES = {"xlm": family_of("xlm", "XLM"), "flaubert": family_of("flaubert", "Flaubert")}
