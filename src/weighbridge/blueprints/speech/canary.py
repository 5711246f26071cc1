"""Canary and Cohere ASR: a Fast Conformer over mel frames, and a Transformer that writes the text.

Source: Puvvada et al. 2024, arXiv 2406.19674; names as in transformers 5.23.0, models/canary/modeling_canary.py and models/cohere_asr.
``seq`` counts mel frames, ``decoder`` tokens of text.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.fast_conformer import frames
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, POSITIONS, TIED, VOCAB, Config, computed, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

ENCODERS = "parakeet_encoder nemotron_asr_streaming_encoder lasr_encoder"
COHERE_ENCODER = {
    "hidden_size": 1280,
    "num_hidden_layers": 48,
    "num_attention_heads": 8,
    "intermediate_size": 5120,
    "attention_bias": True,
    "convolution_bias": True,
    "conv_kernel_size": 9,
    "subsampling_factor": 8,
    "subsampling_conv_channels": 256,
    "num_mel_bins": 128,
    "subsampling_conv_kernel_size": 3,
    "subsampling_conv_stride": 2,
    "max_position_embeddings": 5000,
}
"""What CohereAsrConfig puts into every encoder whose config does not say otherwise."""


def is_even(c: Config) -> bool:
    """Refuse a width whose positions cannot be sines and cosines."""
    if c.hidden % 2:
        raise ConfigError("positions alternate sines and cosines, which takes an even width", key="hidden_size", value=c.hidden)
    return True


DECODER = (
    VOCAB.with_default(16384),
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(8),
    HEADS.with_default(8),
    KV_HEADS.with_default(8),
    size("head_dim", "head_dim", 128, "D", "head dimension"),
    switch("bias", "attention_bias", True),
    constant("learned", False),
    computed("even", is_even),
)
COHERE_DECODER = (
    VOCAB.with_default(16384),
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(8),
    HEADS.with_default(8),
    KV_HEADS.with_default(lambda c: c.heads),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "head dimension"),
    POSITIONS.with_default(1024),
    switch("bias", "attention_bias", True),
    constant("learned", True),
    TIED.with_default(False),
    model_config("encoder", "encoder_config", ENCODERS, only=True),
)


def refuse_other_vocabulary(c: Config) -> bool:
    """Refuse a whole whose vocabulary is not its decoder's."""
    if c.vocab != c.decoder.vocab:
        raise ConfigError(Text("the decoder's vocabulary has {inner:,} tokens", inner=c.decoder.vocab), key="vocab_size", value=c.vocab)
    return True


CANARY = (
    VOCAB.with_default(16384),
    model_config("encoder", "encoder_config", ENCODERS, absent={"num_hidden_layers": 32, "num_mel_bins": 128}),
    model_config("decoder", "decoder_config", "canary_decoder", fixed=True),
    computed("same", refuse_other_vocabulary),
    TIED,
)


def attention(c: Config, name: str, keys: Stream | None = None) -> Part:
    """Describe attention to what is written, or to the encoder's states."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        name,
        linear("q_proj", H, A * D, bias=c.bias),
        *(linear(f"{which}_proj", H, K * D, bias=c.bias, stream=keys) for which in "kv"),
        linear("o_proj", A * D, H, bias=c.bias),
        attend(heads=A, kv_heads=K, head_dim=D, keys=keys, causal=keys is None),
        kind="self_attention" if keys is None else "cross_attention",
        requires=keys if isinstance(keys, str) else None,
    )


def decoder(c: Config, keys: Stream) -> tuple[Part, ...]:
    """Describe the decoder, which attends to *keys*; positions are sinusoids, or a learned table after a map of the encoder's states."""
    H, requires = c.hidden, keys if isinstance(keys, str) else None
    layer = part(
        "layers",
        attention(c, "self_attn"),
        attention(c, "encoder_attn", keys),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("input_layernorm", H),
        replace(layer_norm("post_attention_layernorm", H), requires=requires),
        layer_norm("final_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    own = (embedding("pos_emb", c.positions, H),) if c.learned else ()
    last = (linear("proj", c.encoder.hidden, H, stream=keys, requires=requires),) if c.learned else ()
    return embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H), *own, layer_norm("embedding_layernorm", H), *last


def encoder_frames(c: Config) -> Stream:
    """Return the stream of frames that a conformer outputs; of any other encoder it is not known."""
    known = c.model_type in ENCODERS.split()
    return frames(c) if known else unknown("how many frames this kind of encoder outputs is not described")


def model(c: Config, inner: Config) -> tuple[Part, Part]:
    """Describe encoder and decoder; *inner* is what the config says of the decoder."""
    keys = encoder_frames(c.encoder)
    return as_child("encoder", submodel(c.encoder)), part("decoder", *decoder(inner, keys), kind="decoder", stream="decoder")


def generation(c: Config, inner: Config) -> Part:
    """Describe the model with a head, which may be the words again."""
    tied = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("proj_out", inner.hidden, inner.vocab, tied_to=tied, stream="decoder")
    return part("", part("model", *model(c, inner), kind="backbone"), head, kind="model")


def with_encoder_defaults(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put into the encoder's config what the outer class does."""
    inner = raw.get("encoder_config")
    if inner is not None and not isinstance(inner, Mapping):
        return dict(raw)
    return {**raw, "encoder_config": {**COHERE_ENCODER, **(inner or {})}}


CANARY_CLASSES = {
    "CanaryModel": lambda c: part("", *model(c, c.decoder), kind="model"),
    "CanaryForConditionalGeneration": lambda c: generation(c, c.decoder),
}
COHERE_CLASSES = {
    "CohereAsrDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "CohereAsrModel": lambda c: part("", *model(c, c), kind="model"),
    "CohereAsrForConditionalGeneration": lambda c: generation(c, c),
}
IGNORED_KEYS = frozenset(("max_position_embeddings", "decoder_start_token_id"))
FAMILIES = {
    "canary": Family("canary", CANARY, CANARY_CLASSES, "CanaryModel", IGNORED_KEYS),
    "canary_decoder": Family(
        "canary_decoder",
        DECODER,
        {"CanaryDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model")},
        "CanaryDecoder",
        IGNORED_KEYS,
    ),
    "cohere_asr": Family(
        "cohere_asr", COHERE_DECODER, COHERE_CLASSES, "CohereAsrModel", IGNORED_KEYS, normalize_config=with_encoder_defaults
    ),
}
