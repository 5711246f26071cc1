"""T5Gemma: Gemma 2's layers on both sides of an encoder and a decoder, which may differ in size (Zhang et al., 2025).

Source: arXiv 2504.06225; names as in transformers 5.23.0, models/t5gemma/modeling_t5gemma.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, LABELS, LAYERS, MLP, TIED, VOCAB, Config, nested, optional, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

SIDE = (
    VOCAB.with_default(256000),
    HIDDEN.with_default(2304),
    MLP.with_default(9216),
    LAYERS.with_default(26),
    HEADS.with_default(8),
    size("kv_heads", "num_key_value_heads", 4, "K", "key-value heads"),
    HEAD_DIM.with_default(256),
    window(),
    windowed_layers(lambda c: (int(c.layers) + 1) // 2),
    switch("attention_bias", "attention_bias", False),
)
# To the classes with one side or two, a null says nothing: they take the config's own default.
BOTH = switch("both", "is_encoder_decoder", lambda c: True)
FIELDS = (nested("encoder", "encoder", SIDE), nested("decoder", "decoder", SIDE), LABELS, TIED, BOTH)
IGNORED_KEYS = frozenset(
    """vocab_size dropout_rate classifier_dropout_rate hidden_activation max_position_embeddings query_pre_attn_scalar
    final_logit_softcapping attn_logit_softcapping is_decoder""".split()
)


def attention(c: Config, name: str, *, memory: Stream | None = None, width: Size | None = None, causal: bool = False) -> Part:
    """Describe attention over the tokens themselves, or over *memory* of another *width*."""
    H, read, bias = c.hidden, c.hidden if width is None else width, c.attention_bias
    limits = {"window": c.window, "windowed": c.windowed} if causal else {}
    return part(
        name,
        linear("q_proj", H, c.heads * c.head_dim, bias=bias),
        linear("k_proj", read, c.kv_heads * c.head_dim, bias=bias, stream=memory),
        linear("v_proj", read, c.kv_heads * c.head_dim, bias=bias, stream=memory),
        linear("o_proj", c.heads * c.head_dim, H, bias=bias),
        attend(causal=causal, heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim, keys=memory, **limits),
        kind="self_attention" if memory is None else "cross_attention",
    )


def side(c: Config, name: str, width: Size | None = None) -> Part:
    """Describe one side, with a norm before and after each step; a decoder attends to states of *width*."""
    H = c.hidden
    norms = {
        step: (rms_norm(f"pre_{step}_layernorm", H), rms_norm(f"post_{step}_layernorm", H))
        for step in ("self_attn", "cross_attn", "feedforward")
    }
    crossed = (attention(c, "cross_attn", memory="seq", width=width), *norms["cross_attn"]) if width is not None else ()
    layer = part(
        "layers",
        attention(c, "self_attn", causal=width is not None),
        *norms["self_attn"],
        gated_mlp("mlp", H, c.mlp),
        *norms["feedforward"],
        *crossed,
        kind="layer",
        repeat=c.layers,
    )
    return part(name, embedding("embed_tokens", c.vocab, H), rms_norm("norm", H), layer, kind=name)


def t5gemma(c: Config) -> Part:
    """Describe T5GemmaModel, which is not built without a decoder."""
    if not c.both:
        raise ConfigError("this class has an encoder and a decoder", key="is_encoder_decoder", value=False, hint="set it to true")
    return part("", *encoder_and_decoder(c), kind="model")


def encoder_and_decoder(c: Config) -> tuple[Part, Part]:
    """Describe both sides, each with a table of its own."""
    return side(c.encoder, "encoder"), replace(side(c.decoder, "decoder", c.encoder.hidden), stream="decoder")


def generation(c: Config) -> Part:
    """Describe T5GemmaForConditionalGeneration: the decoder's table is its head."""
    tied_to = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("out_proj", c.decoder.hidden, c.decoder.vocab, bias=False, tied_to=tied_to, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c), kind="backbone"), part("lm_head", head, kind="lm_head"), kind="model")


def labels(c: Config) -> Part:
    """Describe the classifiers, which score every token: the decoder's, or without one the encoder's."""
    parts = encoder_and_decoder(c) if c.both else (side(c.encoder, "encoder"),)
    width, stream = (c.decoder.hidden, "decoder") if c.both else (c.encoder.hidden, "seq")
    head = part("score", linear("out_proj", width, c.labels), kind="head", stream=stream)
    return part("", part("model", *parts, kind="backbone"), head, kind="model")


def encoder_alone(c: Config) -> Part:
    """Describe T5GemmaEncoderModel, which is not built with a decoder."""
    if c.both:
        raise ConfigError("this class has only an encoder", key="is_encoder_decoder", value=True, hint="set it to false")
    return part("", side(c.encoder, "encoder"), kind="model")


def one_side(c: Config, decodes: bool) -> Part:
    """Describe one side by itself; a decoder attends to states that come from elsewhere."""
    if decodes and c.memory_width is None:
        raise ConfigError("a decoder needs the width of the states that it attends to", key="cross_attention_hidden_size")
    inner = side(c, "", c.memory_width if decodes else None)
    return replace(reroot(inner, "", {"seq": "encoder"}) if decodes else inner, kind="model", stream="seq")


CLASSES = {
    "T5GemmaModel": t5gemma,
    "T5GemmaEncoderModel": encoder_alone,
    "T5GemmaForConditionalGeneration": generation,
    "T5GemmaForSequenceClassification": labels,
    "T5GemmaForTokenClassification": labels,
}

MODULE = (*SIDE, optional("memory_width", "cross_attention_hidden_size", None, "C", "width of the states that the decoder attends to"))
SIDES = {
    "T5GemmaEncoder": lambda c: one_side(c, decodes=False),
    "T5GemmaDecoder": lambda c: one_side(c, decodes=True),
}
FAMILIES = {
    "t5gemma": Family("t5gemma", FIELDS, CLASSES, "T5GemmaModel", IGNORED_KEYS),
    "t5_gemma_module": Family(
        "t5_gemma_module", MODULE, SIDES, "T5GemmaEncoder", IGNORED_KEYS - {"vocab_size"} | {"tie_word_embeddings", "is_encoder_decoder"}
    ),
}
