"""Moonshine Streaming: a sliding-window encoder over 5 ms frames, and a decoder with learned positions on the encoder states.

Source: Useful Sensors, Moonshine v2 (2026); names as in transformers 5.23.0, models/moonshine_streaming/modeling_moonshine_streaming.py.
``seq`` counts samples of the waveform.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    POSITIONS,
    VOCAB,
    Config,
    Field,
    computed,
    constant,
    optional,
    switch,
)
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, layer_range, round_up
from weighbridge.core.tree import Node, Part, Tensor

SIDE = (
    HIDDEN.with_default(320),
    MLP.with_default(1280),
    LAYERS.with_default(6),
    HEADS.with_default(8),
    KV_HEADS.with_default(lambda c: c.heads),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    switch("bias", "attention_bias", False),
)
ENCODER = (
    *(replace(field, default=8) if field.word == "kv_heads" else field for field in SIDE),
    Field("rate", "sample_rate", 16000, "choice"),
    Field("milliseconds", "frame_ms", 5.0, "choice"),
    computed("frame", lambda c: round(c.rate * c.milliseconds / 1000.0)),
    constant("multiple", None),
)
FIELDS = (
    VOCAB.with_default(32768),
    *SIDE,
    POSITIONS.with_default(4096),
    optional("multiple", "pad_head_dim_to_multiple_of", None, "P", "multiple to which a head is padded"),
    switch("tied", "tie_word_embeddings", False),
    model_config("encoder", "encoder_config", "moonshine_streaming_encoder", fixed=True),
    computed("projected", lambda c: c.encoder.hidden != c.hidden),
)


def attention(c: Config, name: str, out_bias: bool, keys: Stream | None = None, causal: bool = False) -> Part:
    """Describe attention, whose heads may be padded for the product."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    padded = D if c.multiple is None else round_up(D, c.multiple)
    return part(
        name,
        linear("q_proj", H, A * D, bias=c.bias),
        linear("k_proj", H, K * D, bias=c.bias, stream=keys),
        linear("v_proj", H, K * D, bias=c.bias, stream=keys),
        linear("o_proj", A * D, H, bias=out_bias),
        attend(heads=A, kv_heads=K, head_dim=padded, keys=keys, causal=causal, cache=2 * K * D),  # kept unpadded
        kind="self_attention" if keys is None else "cross_attention",
    )


def frames(c: Config, halvings: int) -> Stream:
    """Return the stream after the cut into frames, and after so many of the two convolutions that halve it."""
    stream: Stream = length("seq") // c.frame
    for _ in layer_range(halvings):
        stream = (length(stream) - 1) // 2 + 1
    return stream


def gamma(name: str, width: Size) -> Part:
    """Describe a norm whose gain has a name of its own."""
    return part(name, Tensor("gamma", (width,), "gain"), kind="layer_norm")


def encoder(c: Config) -> tuple[Node, ...]:
    """Describe frames, convolutions and layers."""
    H = c.hidden
    embedder = part(
        "embedder",
        part("comp", Tensor("log_k", (), "gain"), kind="norm"),
        replace(conv1d_same("conv1", H, 2 * H, 5), stream=frames(c, 1)),
        replace(conv1d_same("conv2", 2 * H, H, 5), stream=frames(c, 2)),
        linear("linear", c.frame, H, bias=False, stream=frames(c, 0)),
        kind="embeddings",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = (gamma(name, H) for name in ("input_layernorm", "post_attention_layernorm"))
    layer = part("layers", attention(c, "self_attn", c.bias), mlp, *norms, kind="layer", repeat=c.layers, stream=frames(c, 2))
    return embedder, layer, replace(gamma("final_norm", H), stream=frames(c, 2))


def decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe the decoder; the states it attends to get positions, and its width if they have another."""
    H = c.hidden
    mlp = part("mlp", linear("fc1", H, 2 * c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = (layer_norm(name, H, bias=False) for name in ("input_layernorm", "post_attention_layernorm", "final_layernorm"))
    layer = (attention(c, "self_attn", False, causal=True), attention(c, "encoder_attn", False, memory), mlp, *norms)
    return (
        embedding("embed_tokens", c.vocab, H),
        part("layers", *layer, kind="layer", repeat=c.layers),
        layer_norm("norm", H, bias=False),
        embedding("pos_emb", c.positions, c.encoder.hidden),
        *((linear("proj", c.encoder.hidden, H, bias=False, stream=memory),) if c.projected else ()),
    )


def encoder_and_decoder(c: Config) -> tuple[Part, Part]:
    """Describe both sides."""
    memory = frames(c.encoder, 2)
    return as_child("encoder", submodel(c.encoder)), part("decoder", *decoder(c, memory), kind="decoder", stream="decoder")


def with_lm_head(c: Config) -> Part:
    """Describe the class for generation."""
    tied = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("proj_out", c.hidden, c.vocab, bias=False, tied_to=tied, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c), kind="backbone"), head, kind="model")


NAME = "MoonshineStreaming"
CLASSES = {
    f"{NAME}Model": lambda c: part("", *encoder_and_decoder(c), kind="model"),
    f"{NAME}ForConditionalGeneration": with_lm_head,
    f"{NAME}Decoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
}
ALONE = {f"{NAME}Encoder": lambda c: part("", *encoder(c), kind="model")}
FAMILIES = {
    "moonshine_streaming": Family("moonshine_streaming", FIELDS, CLASSES, f"{NAME}Model"),
    "moonshine_streaming_encoder": Family(
        "moonshine_streaming_encoder", ENCODER, ALONE, f"{NAME}Encoder", frozenset(("max_position_embeddings", "sliding_windows"))
    ),
}
