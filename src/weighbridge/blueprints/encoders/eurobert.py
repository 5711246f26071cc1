"""EuroBERT and UltraBERT: Llama's layers as a bidirectional encoder (Boizard et al., 2025).

Source: arXiv 2503.05500; class and tensor names as in transformers 5.23.0, models/eurobert/modeling_eurobert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.modules.bert_family import HeadSpec, sequence_classifier, start_and_end, token_classifier, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HIDDEN, LABELS, LAYERS, MLP, VOCAB, Config, choice, size, switch, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

FIELDS = (
    VOCAB.with_default(128256),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    size("heads", "num_attention_heads", 12, "A", "attention heads"),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads"),
    HEAD_DIM.with_default(lambda c: exact(c.hidden, c.heads)),
    LABELS,
    switch("tied", "tie_word_embeddings", False),
    switch("attention_bias", "attention_bias", False),
    switch("mlp_bias", "mlp_bias", False),
    choice("pooling", "classifier_pooling", "late"),
    POOLED,
)
IGNORED_KEYS = frozenset({"clf_pooling", "mask_token", "mask_token_id", "max_position_embeddings"})


def attention(c: Config, *norms: Part) -> Part:
    """Describe attention of groups of heads, and the *norms* that queries and keys have in a relative."""
    H, wide, narrow, bias = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim, c.attention_bias
    return part(
        "self_attn",
        linear("q_proj", H, wide, bias=bias),
        linear("k_proj", H, narrow, bias=bias),
        linear("v_proj", H, narrow, bias=bias),
        linear("o_proj", wide, H, bias=bias),
        *norms,
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim),
        kind="self_attention",
    )


def eurobert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe embeddings, layers and the last norm."""
    H = c.hidden
    norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    layer = part("layers", attention(c), gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias), *norms, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    return (linear("lm_head", c.hidden, c.vocab, bias=c.mlp_bias, tied_to=words),)


def classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the classifier: on every token, whose answers are averaged, or on one that is pooled before."""
    stream = "seq" if c.pooling == "late" else "one"
    return linear("dense", c.hidden, c.hidden, stream=stream), linear("classifier", c.hidden, c.labels, stream=stream)


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": HeadSpec(classifier),
    "ForTokenClassification": HeadSpec(token_classifier),
}
CLASSES = with_heads("EuroBert", "model", eurobert, HEADS, words="embed_tokens.weight")


def narrow_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe UltraBERT's vocabulary head: down to a narrow layer, up again, and to the vocabulary."""
    down, up = linear("linear1", c.hidden, c.narrow, bias=False), linear("linear2", c.narrow, c.hidden, bias=False)
    return (part("head", down, up, linear("decoder", c.hidden, c.vocab, bias=False, tied_to=words), kind="lm_head"),)


ULTRA = (
    *variant(tuple(field for field in FIELDS if field.word != "pooling"), vocab=32000, hidden=4096, mlp=11008, layers=32, heads=32),
    size("narrow", "prediction_head_size", 768, "P", "width of the vocabulary head"),
)
ULTRA_HEADS = {
    "ForMaskedLM": HeadSpec(narrow_lm),
    "ForSequenceClassification": HeadSpec(sequence_classifier),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(start_and_end),
}
ULTRA_CLASSES = with_heads("Ultrabert", "model", eurobert, ULTRA_HEADS, words="embed_tokens.weight")

FAMILIES = {
    "eurobert": Family("eurobert", FIELDS, CLASSES, "EuroBertModel", ignored_keys=IGNORED_KEYS),
    "ultrabert": Family("ultrabert", ULTRA, ULTRA_CLASSES, "UltrabertModel", ignored_keys=IGNORED_KEYS | {"sliding_window", "layer_types"}),
}
