"""ModernBERT, and its decoder variant: rotary positions, gated feed-forward, no biases (Warner et al., 2024).

Source: arXiv 2412.13663; Ettin 2507.11412; class and tensor names as in transformers 5.23.0,
models/modernbert/modeling_modernbert.py and models/modernbert_decoder/modeling_modernbert_decoder.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.modules.bert_family import HEAD_DIM, HeadSpec, with_heads
from weighbridge.blueprints.modules.sliding_window import windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, LABELS, LAYERS, MLP, TIED, VOCAB, Config, Field, choice, optional, size, switch
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.tree import Every, Part

FIELDS: tuple[Field, ...] = (
    VOCAB.with_default(50368),
    HIDDEN.with_default(768),
    MLP.with_default(1152),
    LAYERS.with_default(22),
    size("heads", "num_attention_heads", 12, "A", "attention heads"),
    HEAD_DIM,
    LABELS,
    TIED,
    switch("attention_bias", "attention_bias", False),
    switch("mlp_bias", "mlp_bias", False),
    switch("norm_bias", "norm_bias", False),
    switch("decoder_bias", "decoder_bias", True),
    switch("classifier_bias", "classifier_bias", False),
    POOLED,
)
IGNORED_KEYS = frozenset(
    """classifier_activation classifier_pooling cls_token_id deterministic_flash_attn embedding_dropout global_attn_every_n_layers
    global_rope_theta hidden_activation initializer_cutoff_factor layer_types local_attention local_rope_theta max_position_embeddings
    mlp_dropout norm_eps reference_compile repad_logits_with_grad sliding_window sparse_pred_ignore_index sparse_prediction""".split()
)


def _local_layers(c: Config) -> int:
    return int(c.layers) - -(-int(c.layers) // c.every)


WINDOWS: tuple[Field, ...] = (
    choice("local", "local_attention", 128),
    Field("every", "global_attn_every_n_layers", 3, "choice", report_default=False),
    optional("window", "sliding_window", lambda c: c.local // 2 if c.local else None, "W", "attention window"),
    windowed_layers(_local_layers),
)
"""The decoder's window, which bounds its cache: what is stated as local attention counts the tokens on both sides."""
DECODER_IGNORED_KEYS = IGNORED_KEYS - {"global_attn_every_n_layers", "layer_types", "local_attention", "sliding_window"}


def modernbert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder, with queries, keys and values in one matrix."""
    return body(c, linear("Wqkv", c.hidden, 3 * c.hidden, bias=c.attention_bias))


def modernbert_decoder(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the decoder, with queries, keys and values apart."""
    return body(c, *(linear(name, c.hidden, c.hidden, bias=c.attention_bias) for name in ("q_proj", "k_proj", "v_proj")), causal=True)


def body(c: Config, *inputs: Part, causal: bool = False) -> tuple[Part, ...]:
    """Describe embeddings, layers and the last norm; the first layer has no norm in front of its attention."""
    H = c.hidden
    limits = {"window": c.window, "windowed": c.windowed} if causal else {}
    attention = part(
        "attn",
        *inputs,
        linear("Wo", H, H, bias=c.attention_bias),
        attend(heads=c.heads, head_dim=c.head_dim, causal=causal, **limits),
        kind="self_attention",
    )
    mlp = part("mlp", linear("Wi", H, 2 * c.mlp, bias=c.mlp_bias), linear("Wo", c.mlp, H, bias=c.mlp_bias), kind="feed_forward")
    block = (attention, norm(c, "mlp_norm"), mlp)
    return (
        part("embeddings", embedding("tok_embeddings", c.vocab, H), norm(c, "norm"), kind="embeddings"),
        part("layers", *block, kind="layer", repeat=1),
        part("layers", norm(c, "attn_norm"), *block, kind="layer", repeat=c.layers - 1, indices=Every(1)),
        norm(c, "final_norm"),
    )


def norm(c: Config, name: str) -> Part:
    """Describe a norm, with a shift on a switch."""
    return layer_norm(name, c.hidden, bias=c.norm_bias)


def transform(c: Config, name: str, stream: Stream | None = None) -> Part:
    """Describe the linear map and norm in front of every output."""
    return part(name, linear("dense", c.hidden, c.hidden, bias=c.classifier_bias), norm(c, "norm"), kind="transform", stream=stream)


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    return transform(c, "head"), linear("decoder", c.hidden, c.vocab, bias=c.decoder_bias, tied_to=words)


def causal_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the same as the decoder names it."""
    return transform(c, "lm_head"), linear("decoder", c.hidden, c.vocab, bias=c.decoder_bias, tied_to=words)


def labels_of_one(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on the pooled token."""
    return transform(c, "head", "one"), linear("classifier", c.hidden, c.labels, stream="one")


def labels_of_each(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on every token."""
    return transform(c, "head"), linear("classifier", c.hidden, c.labels)


def choice_of_one(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe multiple choice: always one output."""
    return transform(c, "head", "one"), linear("classifier", c.hidden, 1, stream="one")


def labels_of_last(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the decoder's classifier: it works on every token, and the last one is taken."""
    return transform(c, "head"), linear("classifier", c.hidden, c.labels, bias=c.classifier_bias)


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": HeadSpec(labels_of_one),
    "ForMultipleChoice": HeadSpec(choice_of_one),
    "ForTokenClassification": HeadSpec(labels_of_each),
    "ForQuestionAnswering": HeadSpec(labels_of_each),
}
DECODER_HEADS = {"ForCausalLM": HeadSpec(causal_lm), "ForSequenceClassification": HeadSpec(labels_of_last)}
WORDS = "embeddings.tok_embeddings.weight"

FAMILIES = {
    "modernbert": Family(
        "modernbert",
        FIELDS,
        with_heads("ModernBert", "model", modernbert, HEADS, words=WORDS),
        "ModernBertModel",
        ignored_keys=IGNORED_KEYS,
    ),
    "modernbert-decoder": Family(
        "modernbert-decoder",
        (*FIELDS, *WINDOWS),
        with_heads("ModernBertDecoder", "model", modernbert_decoder, DECODER_HEADS, words=WORDS),
        "ModernBertDecoderModel",
        ignored_keys=DECODER_IGNORED_KEYS,
    ),
}
