"""Moonshine: speech recognition from the waveform, with rotary positions and an input of any length (Jeffries et al., 2024).

Source: arXiv 2410.15608; names as in transformers 5.23.0, models/moonshine/modeling_moonshine.py. ``seq`` counts samples of the waveform.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, MLP, TIED, VOCAB, AtInit, Config, optional, size, switch
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, conv1d, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, round_up
from weighbridge.core.tree import Part

FIELDS = (
    VOCAB.with_default(32768),
    HIDDEN.with_default(288),
    MLP.with_default(1152),
    size("layers", "encoder_num_hidden_layers", 6, "L", "encoder layers"),
    size("decoder_layers", "decoder_num_hidden_layers", 6, "L_dec", "decoder layers", "num_hidden_layers"),
    size("heads", "encoder_num_attention_heads", 8, "A", "attention heads of the encoder"),
    size("decoder_heads", "decoder_num_attention_heads", 8, "A_dec", "attention heads of the decoder", "num_attention_heads"),
    size("kv_heads", "encoder_num_key_value_heads", lambda c: c.heads, "K", "key-value heads of the encoder"),
    size(
        "decoder_kv_heads",
        "decoder_num_key_value_heads",
        AtInit(lambda c: c.decoder_heads),
        "K_dec",
        "key-value heads of the decoder",
        "num_key_value_heads",
    ),
    optional("head_dim", "head_dim", None, "D", "head dimension"),
    optional("multiple", "pad_head_dim_to_multiple_of", None, "P", "multiple to which a head is padded"),
    TIED,
    switch("attention_bias", "attention_bias", False),
)
IGNORED_KEYS = frozenset("encoder_hidden_act decoder_hidden_act max_position_embeddings".split())


def attention(c: Config, name: str, heads: Size, kv_heads: Size, keys: Stream | None = None, causal: bool = False) -> Part:
    """Describe attention; heads may be padded for the product, and the output has no bias."""
    H, bias = c.hidden, c.attention_bias
    D = c.hidden // heads if c.head_dim is None else c.head_dim
    padded = D if c.multiple is None else round_up(D, c.multiple)
    requires = "encoder" if isinstance(keys, str) and keys == "encoder" else None
    return part(
        name,
        linear("q_proj", H, heads * D, bias=bias),
        linear("k_proj", H, kv_heads * D, bias=bias, stream=keys),
        linear("v_proj", H, kv_heads * D, bias=bias, stream=keys),
        linear("o_proj", heads * D, H, bias=False),
        attend(heads=heads, kv_heads=kv_heads, head_dim=padded, keys=keys, causal=causal, cache=2 * kv_heads * D),  # kept unpadded
        kind="self_attention" if keys is None else "cross_attention",
        requires=requires,
    )


def norms(c: Config, *names: str) -> tuple[Part, ...]:
    """Describe norms without shifts."""
    return tuple(layer_norm(name, c.hidden, bias=False) for name in names)


def encoder_stream(c: Config) -> Stream:
    """Return the stream that the three convolutions leave."""
    return (((((length("seq") - 127) // 64 + 1) - 7) // 3 + 1) - 3) // 2 + 1


def encoder(c: Config) -> Part:
    """Describe convolutions, and layers whose feed-forward step is plain."""
    H = c.hidden
    first = conv1d("conv1", 1, H, 127, stride=64, bias=False)
    second = conv1d("conv2", H, 2 * H, 7, stride=3, of=(length("seq") - 127) // 64 + 1)
    third = conv1d("conv3", 2 * H, H, 3, stride=2, of=(((length("seq") - 127) // 64 + 1) - 7) // 3 + 1)
    group = layer_norm("groupnorm", H, stream=first.stream)
    own = attention(c, "self_attn", c.heads, c.kv_heads)
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    layer = part(
        "layers",
        own,
        mlp,
        *norms(c, "input_layernorm", "post_attention_layernorm"),
        kind="layer",
        repeat=c.layers,
        stream=encoder_stream(c),
    )
    last = replace(norms(c, "layer_norm")[0], stream=encoder_stream(c))
    return part("encoder", first, second, third, group, layer, last, kind="encoder")


def decoder(c: Config, memory: Stream, heads: Size, kv_heads: Size) -> Part:
    """Describe the decoder, whose feed-forward step is gated."""
    H, A, K = c.hidden, heads, kv_heads
    layer = part(
        "layers",
        attention(c, "self_attn", A, K, causal=True),
        attention(c, "encoder_attn", A, K, memory),
        part("mlp", linear("fc1", H, 2 * c.mlp), linear("fc2", c.mlp, H), kind="feed_forward"),
        *norms(c, "input_layernorm", "post_attention_layernorm", "final_layernorm"),
        kind="layer",
        repeat=c.decoder_layers,
    )
    return part("decoder", embedding("embed_tokens", c.vocab, H), layer, *norms(c, "norm"), kind="decoder")


def encoder_and_decoder(c: Config) -> tuple[Part, Part]:
    """Describe encoder and decoder; the encoder is made first, and writes its numbers of heads over the decoder's in the config."""
    return encoder(c), replace(decoder(c, encoder_stream(c), c.heads, c.kv_heads), stream="decoder")


def generation(c: Config) -> Part:
    """Describe MoonshineForConditionalGeneration: the decoder's table is its head."""
    tied_to = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("proj_out", c.hidden, c.vocab, bias=False, tied_to=tied_to, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c), kind="backbone"), head, kind="model")


CLASSES = {
    "MoonshineModel": lambda c: part("", *encoder_and_decoder(c), kind="model"),
    "MoonshineForConditionalGeneration": generation,
    "MoonshineEncoder": lambda c: part("", replace(encoder(c), name=""), kind="model"),
    "MoonshineDecoder": lambda c: part("", replace(decoder(c, "encoder", c.decoder_heads, c.decoder_kv_heads), name=""), kind="model"),
}

FAMILIES = {"moonshine": Family("moonshine", FIELDS, CLASSES, "MoonshineModel", IGNORED_KEYS)}
