"""ProphetNet: a decoder with n-gram prediction, one stream per future token (Qi et al., 2020).

Source: arXiv 2001.04063; names as in transformers 5.23.0, models/prophetnet/modeling_prophetnet.py. The decoder holds its
tokens once, and once more for every word it looks ahead.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, POSITIONS, TIED, VOCAB, Config, derived, size, switch
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    VOCAB.with_default(30522),
    POSITIONS.with_default(512),
    HIDDEN.with_default(1024),
    size("mlp", "encoder_ffn_dim", 4096, "I", "intermediate size of the encoder"),
    size("layers", "num_encoder_layers", 12, "L", "encoder layers"),
    size("heads", "num_encoder_attention_heads", 16, "A", "attention heads of the encoder", "num_attention_heads"),
    size("decoder_mlp", "decoder_ffn_dim", 4096, "I_dec", "intermediate size of the decoder"),
    size("decoder_layers", "num_decoder_layers", 12, "L_dec", "decoder layers"),
    size("decoder_heads", "num_decoder_attention_heads", 16, "A_dec", "attention heads of the decoder"),
    size("ahead", "ngram", 2, "N", "words predicted at once"),
    size("buckets", "num_buckets", 32, "B", "relative distance buckets"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_encoder_attention_heads"),
    derived("decoder_head_dim", lambda c: exact(c.hidden, c.decoder_heads), "hidden_size", "num_decoder_attention_heads"),
    TIED,
    switch("crossed", "add_cross_attention", True),
)
IGNORED_KEYS = frozenset("activation_function init_std relative_max_distance disable_ngram_loss eps is_decoder".split())


def attention(c: Config, name: str, *more: Node, keys: Stream | None = None) -> Part:
    """Describe the four maps of an attention, and *more* of it."""
    H = c.hidden
    return part(
        name,
        linear("key_proj", H, H, stream=keys),
        linear("value_proj", H, H, stream=keys),
        linear("query_proj", H, H),
        linear("out_proj", H, H),
        *more,
        kind="cross_attention" if keys else "self_attention",
    )


def rest(c: Config, mlp: Size) -> tuple[Part, Part]:
    """Describe what ends a layer."""
    return part("feed_forward", linear("intermediate", c.hidden, mlp), linear("output", mlp, c.hidden), kind="feed_forward"), layer_norm(
        "feed_forward_layer_norm", c.hidden
    )


def tables(c: Config, tied_to: str | None) -> tuple[Part, ...]:
    """Describe words and positions."""
    return embedding("word_embeddings", c.vocab, c.hidden, tied_to=tied_to), embedding("position_embeddings", c.positions, c.hidden)


def encoder(c: Config, tied_to: str | None = None) -> tuple[Node, ...]:
    """Describe the encoder."""
    own = attention(c, "self_attn", attend(heads=c.heads, head_dim=c.head_dim))
    layer = part("layers", own, layer_norm("self_attn_layer_norm", c.hidden), *rest(c, c.mlp), kind="layer", repeat=c.layers)
    return (*tables(c, tied_to), layer_norm("embeddings_layer_norm", c.hidden), layer)


def decoder(c: Config, own: Stream, memory: Stream, tied_to: str | None = None) -> tuple[Node, ...]:
    """Describe the decoder over the stream *own*; a stream that looks ahead sees the main one and itself."""
    A, d, tokens = c.decoder_heads, c.decoder_head_dim, length(own) * (c.ahead + 1)
    requires = "encoder" if isinstance(memory, str) and memory == "encoder" else None
    masked = attention(
        c,
        "self_attn",
        linear("relative_pos_embeddings", c.hidden, c.buckets * A),
        attend(heads=A, head_dim=d, queries=own, keys=own, causal=True),
        attend(heads=A, head_dim=d, queries=own, keys=length(own) * 2, groups=c.ahead, cache=0),
    )
    cross = replace(attention(c, "cross_attn", attend(heads=A, head_dim=d, keys=memory), keys=memory), requires=requires)
    crossed = (cross, replace(layer_norm("cross_attn_layer_norm", c.hidden), requires=requires)) if c.crossed else ()
    layer = part(
        "layers",
        masked,
        layer_norm("self_attn_layer_norm", c.hidden),
        *crossed,
        *rest(c, c.decoder_mlp),
        kind="layer",
        repeat=c.decoder_layers,
        stream=tokens,
    )
    ngrams = part("ngram_embeddings", Tensor("weight", (c.ahead, c.hidden), "embedding"), kind="embedding")
    return (*tables(c, tied_to), ngrams, layer, layer_norm("embeddings_layer_norm", c.hidden, stream=tokens))


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the shared table and both sides."""
    words = f"{prefix}word_embeddings.weight" if c.tied else None
    sides = (
        part("encoder", *encoder(c, words), kind="encoder"),
        part("decoder", *decoder(c, "decoder", "seq", words), kind="decoder", stream="decoder"),
    )
    return (embedding("word_embeddings", c.vocab, c.hidden), *sides)


def wrapped_decoder(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the decoder as it stands alone under a head, with the word embeddings beside it."""
    words = f"{prefix}word_embeddings.weight" if c.tied else None
    return embedding("word_embeddings", c.vocab, c.hidden), part("decoder", *decoder(c, "seq", "encoder", words), kind="decoder")


def with_lm_head(c: Config, parts: tuple[Part, ...], own: Stream) -> Part:
    """Put the head on the streams that look ahead."""
    tied_to = "prophetnet.word_embeddings.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied_to, stream=length(own) * c.ahead)
    return part("", part("prophetnet", *parts, kind="backbone"), head, kind="model")


CLASSES = {
    "ProphetNetModel": lambda c: part("", *backbone(c), kind="model"),
    "ProphetNetForConditionalGeneration": lambda c: with_lm_head(c, backbone(c, "prophetnet."), "decoder"),
    "ProphetNetForCausalLM": lambda c: with_lm_head(c, wrapped_decoder(c, "prophetnet."), "seq"),
    "ProphetNetEncoder": lambda c: part("", *encoder(c), kind="model"),
    "ProphetNetDecoder": lambda c: part("", *decoder(c, "seq", "encoder"), kind="model"),
    "ProphetNetDecoderWrapper": lambda c: part("", *wrapped_decoder(c), kind="model"),
}

FAMILIES = {"prophetnet": Family("prophetnet", FIELDS, CLASSES, "ProphetNetModel", IGNORED_KEYS)}
