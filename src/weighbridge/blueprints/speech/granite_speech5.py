"""The encoder of Granite Speech 5, whose first layers halve the frames, and its CTC head.

Source: names as in transformers 5.23.0, models/granite_speech5/modeling_granite_speech5.py. ``seq`` counts groups of four mel frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.multimodal.granite_speech import MORE_IGNORED_KEYS, SHARED, block_attention, middle_head, padded_to_blocks
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, LAYERS, MEL_BINS, MLP, VOCAB, Config, Field, computed, constant, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv1d, embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIFTH = (
    MEL_BINS.with_default(80),
    LAYERS.with_default(16),
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    HEADS.with_default(8),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    VOCAB.with_default(16384),
    size("positions", "max_position_embeddings", 512, "S", "relative positions, each way"),
    replace(SHARED[0], default=7),
    SHARED[1],
    replace(SHARED[2], default=128),
    switch("bias", "attention_bias", True),
    Field("halved", "subsample_layers", None, "choice", read=lambda value: [0, 1] if value is None else list(value)),
    constant(
        "kinds", lambda c: [(sum(other in c.halved for other in layer_range(index)), index in c.halved) for index in layer_range(c.layers)]
    ),
    computed("halfway", lambda c: c.layers > 1),
)


def halved_stream(index: int, c: Config) -> Stream:
    """Return the stream after so many halvings."""
    stream: Stream = "seq"
    for _ in layer_range(index):
        stream = length(stream) // 2
    return stream


def fifth_layer(c: Config, halvings: int, halves: bool) -> tuple[Node, ...]:
    """Describe a layer of the fifth version, which may leave half of its frames."""
    H, wide, inner, tokens = c.hidden, c.heads * c.head_dim, c.hidden * c.wider, halved_stream(halvings, c)
    left = halved_stream(halvings + 1, c) if halves else tokens
    halved = conv1d("conv", 1, 1, c.kernel, stride=2, padding=(c.kernel - 1) // 2, of=tokens).stream if halves else tokens

    def mlp(name: str, stream: Stream) -> Part:
        return part(
            name, linear("linear1", H, c.mlp, bias=c.bias), linear("linear2", c.mlp, H, bias=c.bias), kind="feed_forward", stream=stream
        )

    maps = (linear(f"{name}_proj", H, wide, bias=False, stream=padded_to_blocks(c, tokens)) for name in "qkv")
    attn = (*maps, linear("o_proj", wide, H), embedding("rel_pos_emb", 2 * c.positions + 1, c.head_dim), *block_attention(c, tokens))
    depth = part("depthwise_conv", Tensor("weight", (inner, 1, c.kernel)), kind="convolution", stream=halved)
    last = linear("pointwise_lin2", inner, H, stream=halved)
    conv = (linear("pointwise_lin1", H, 2 * inner), depth, batch_norm("norm", inner, stream=halved), last)
    norms = ("norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out")
    return (
        mlp("feed_forward1", tokens),
        part("self_attn", *attn, kind="self_attention", stream=tokens),
        part("conv", *conv, kind="convolutions", stream=tokens),
        mlp("feed_forward2", left),
        *(layer_norm(name, H, stream=left if name in norms[3:] else tokens) for name in norms),
    )


def encoder_of_fifth(c: Config) -> Part:
    """Describe the fifth version's encoder, which reads four frames at once."""
    layers = stack("layers", c.kinds, c.layers, lambda kind: fifth_layer(c, *kind))
    midway = halved_stream(sum(other in c.halved for other in range(len(c.kinds) // 2)), c)
    return part("", linear("input_linear", 4 * c.mels, c.hidden), *layers, *middle_head(c, midway), kind="model")


def ctc(c: Config) -> Part:
    """Describe its head, which is the one halfway up again."""
    names = ("encoder.out.weight", "encoder.out.bias") if c.tied else (None, None)
    inner = c.encoder
    tensors = Tensor("weight", (c.vocab, inner.hidden), "weight", names[0]), Tensor("bias", (c.vocab,), "bias", names[1])
    stream = halved_stream(sum(other in inner.halved for other in range(len(inner.kinds))), inner)
    return part("", as_child("encoder", submodel(inner)), part("ctc_head", *tensors, kind="linear", stream=stream), kind="model")


def check_vocab(c: Config) -> bool:
    """Refuse a head of another vocabulary than the encoder's."""
    if c.encoder.vocab != c.vocab:
        raise ConfigError(
            Text("{vocab}, but the encoder's is {vocab2}", vocab=c.vocab, vocab2=c.encoder.vocab), key="vocab_size", value=c.vocab
        )
    return True


CTC = (
    VOCAB.with_default(16384),
    model_config("encoder", "encoder_config", "granite_speech5_encoder", fixed=True),
    computed("agreeing", check_vocab),
    switch("tied", "tie_word_embeddings", True),
)

FAMILIES = {
    "granite_speech5_encoder": Family(
        "granite_speech5_encoder", FIFTH, {"GraniteSpeech5Encoder": encoder_of_fifth}, "GraniteSpeech5Encoder", MORE_IGNORED_KEYS
    ),
    "granite_speech5_ctc": Family("granite_speech5_ctc", CTC, {"GraniteSpeech5ForCTC": ctc}, "GraniteSpeech5ForCTC", MORE_IGNORED_KEYS),
}
