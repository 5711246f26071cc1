"""The decoder of TrOCR: BART's, with switches for its positions and its embedding norm.

Source: arXiv 2109.10282; class and tensor names as in transformers 5.23.0, models/trocr/modeling_trocr.py.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, POSITIONS, TIED, VOCAB, Config, derived, size, switch
from weighbridge.core.parts import attend, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def decoder(c: Config, *, crossed: bool) -> Part:
    """Describe words, positions (two rows more than the config says), layers and the attention to an encoder."""
    H = c.hidden
    layer = part(
        "layers",
        fairseq_attention("self_attn", H, c.heads, c.head_dim, causal=True),
        layer_norm("self_attn_layer_norm", H),
        *(cross(c) if crossed else ()),
        linear("fc1", H, c.mlp),
        linear("fc2", c.mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    first: tuple[Node, ...] = (embedding("embed_tokens", c.vocab, H),)
    if c.learned:
        first = (*first, embedding("embed_positions", c.positions + 2, H))
    if c.normed:
        first = (*first, layer_norm("layernorm_embedding", H))
    return part("decoder", *first, layer, kind="decoder")


def cross(c: Config) -> tuple[Part, ...]:
    """Describe attention to an encoder's states, which may be of another width."""
    H = c.hidden
    inner = part(
        "encoder_attn",
        linear("k_proj", c.seen, H, stream="encoder"),
        linear("v_proj", c.seen, H, stream="encoder"),
        linear("q_proj", H, H),
        linear("out_proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim, keys="encoder"),
        kind="cross_attention",
        requires="encoder",
    )
    return (inner, replace(layer_norm("encoder_attn_layer_norm", H), requires="encoder"))


def decoder_model(c: Config) -> Part:
    """Describe TrOCRDecoder."""
    return replace(decoder(c, crossed=c.crossed), name="", kind="model")


def wrapper(c: Config) -> Part:
    """Describe TrOCRDecoderWrapper."""
    return part("", decoder(c, crossed=c.crossed), kind="model")


def causal_lm(c: Config) -> Part:
    """Describe TrOCRForCausalLM, which is a decoder whatever the config says."""
    head = linear("output_projection", c.hidden, c.vocab, bias=False, tied_to="model.decoder.embed_tokens.weight" if c.tied else None)
    return part("", part("model", decoder(c, crossed=True), kind="backbone"), head, kind="model")


FIELDS = (
    VOCAB.with_default(50265),
    POSITIONS.with_default(512),
    D_MODEL.with_default(1024),
    size("mlp", "decoder_ffn_dim", 4096, "I", "intermediate size"),
    size("layers", "decoder_layers", 12, "L", "layers", "num_hidden_layers"),
    size("heads", "decoder_attention_heads", 16, "A", "attention heads", "num_attention_heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "decoder_attention_heads"),
    size("seen", "cross_attention_hidden_size", lambda c: c.hidden, "E", "hidden size of the encoder"),
    switch("crossed", "is_decoder", False),
    switch("learned", "use_learned_position_embeddings", True),
    switch("normed", "layernorm_embedding", True),
    TIED,
)
MORE_IGNORED_KEYS = frozenset({"activation_function", "init_std", "scale_embedding"})
CLASSES = {"TrOCRDecoder": decoder_model, "TrOCRDecoderWrapper": wrapper, "TrOCRForCausalLM": causal_lm}
FAMILIES = {"trocr": Family("trocr", FIELDS, CLASSES, "TrOCRForCausalLM", MORE_IGNORED_KEYS)}
