"""Dia: dialogue synthesis with a byte-level text encoder and a decoder of all codec channels of a frame at once.

Source: Nari Labs, Dia (2025); names as in transformers 5.23.0, models/dia/modeling_dia.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, VOCAB, Config, Field, computed, sequence, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part


def fields(vocab: int, hidden: int, mlp: int, layers: int, kv_heads: int) -> tuple[Field, ...]:
    """List the fields of either side."""
    return (
        VOCAB.with_default(vocab),
        HIDDEN.with_default(hidden),
        MLP.with_default(mlp),
        LAYERS.with_default(layers),
        HEADS.with_default(16),
        KV_HEADS.with_default(kv_heads),
        HEAD_DIM.with_default(128),
    )


ENCODER = fields(256, 1024, 4096, 12, 16)
DECODER = (
    *fields(1028, 2048, 8192, 18, 4),
    size("cross_heads", "cross_num_attention_heads", 16, "A_cro", "cross-attention heads"),
    size("cross_kv_heads", "cross_num_key_value_heads", 16, "K_cro", "key-value heads in cross-attention"),
    size("cross_head_dim", "cross_head_dim", 128, "D_cro", "head dimension in cross-attention"),
    size("states", "cross_hidden_size", 1024, "E", "width of the states attended to"),
    size("channels", "num_channels", 9, "C", "channels of a code"),
)


def check_delays(c: Config) -> bool:
    """Refuse a pattern of delays for another number of channels."""
    if len(c.delays) != c.decoder.channels:
        raise ConfigError(
            Text("{count} delays for {channels} channels", count=len(c.delays), channels=c.decoder.channels),
            key="delay_pattern",
            value=c.delays,
        )
    return True


FIELDS = (
    model_config("encoder", "encoder_config", "dia_encoder", fixed=True),
    model_config("decoder", "decoder_config", "dia_decoder", fixed=True),
    sequence("delays", "delay_pattern", [0, 8, 9, 10, 11, 12, 13, 14, 15]),
    computed("agreeing", check_delays),
)


def attention(
    name: str, widths: tuple[Size, Size], heads: tuple[Size, Size, Size], keys: Stream | None = None, causal: bool = False
) -> Part:
    """Describe attention of the first of *widths* to the second."""
    (H, seen), (A, K, D) = widths, heads
    return part(
        name,
        linear("q_proj", H, A * D, bias=False),
        linear("k_proj", seen, K * D, bias=False, stream=keys),
        linear("v_proj", seen, K * D, bias=False, stream=keys),
        linear("o_proj", A * D, H, bias=False),
        attend(heads=A, kv_heads=K, head_dim=D, keys=keys, causal=causal),
        kind="self_attention" if keys is None else "cross_attention",
        requires="encoder" if keys == "encoder" else None,
    )


def mlp(c: Config) -> Part:
    """Describe a gated MLP whose halves are one matrix."""
    H = c.hidden
    return part("mlp", linear("gate_up_proj", H, 2 * c.mlp, bias=False), linear("down_proj", c.mlp, H, bias=False), kind="feed_forward")


def encoder(c: Config) -> tuple[Node, ...]:
    """Describe the reader."""
    H = c.hidden
    own = attention("self_attention", (H, H), (c.heads, c.kv_heads, c.head_dim))
    layer = (rms_norm("pre_sa_norm", H), own, rms_norm("post_sa_norm", H), mlp(c))
    return embedding("embedding", c.vocab, H), part("layers", *layer, kind="layer", repeat=c.layers), rms_norm("norm", H)


def decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe the writer, which looks all channels up in one table."""
    H = c.hidden
    own = attention("self_attention", (H, H), (c.heads, c.kv_heads, c.head_dim), causal=True)
    crossed = attention("cross_attention", (H, c.states), (c.cross_heads, c.cross_kv_heads, c.cross_head_dim), memory)
    norms = (rms_norm(name, H) for name in ("pre_sa_norm", "pre_ca_norm", "pre_mlp_norm"))
    return (
        part("embeddings", embedding("embed", c.vocab * c.channels, H), kind="embeddings"),
        part("layers", own, crossed, *norms, mlp(c), kind="layer", repeat=c.layers),
        rms_norm("norm", H),
    )


def encoder_and_decoder(c: Config) -> tuple[Part, Part]:
    """Describe both sides."""
    return part("encoder", *encoder(c.encoder), kind="encoder"), part(
        "decoder", *decoder(c.decoder, "seq"), kind="decoder", stream="decoder"
    )


def with_lm_head(c: Config) -> Part:
    """Describe DiaForConditionalGeneration: a head for all channels."""
    head = linear("logits_dense", c.decoder.hidden, c.decoder.channels * c.decoder.vocab, bias=False, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c), kind="backbone"), head, kind="model")


OUTER_IGNORED_KEYS = frozenset("max_position_embeddings norm_eps tie_word_embeddings".split())
FAMILIES = {
    "dia": Family(
        "dia",
        FIELDS,
        {"DiaModel": lambda c: part("", *encoder_and_decoder(c), kind="model"), "DiaForConditionalGeneration": with_lm_head},
        "DiaModel",
        OUTER_IGNORED_KEYS,
    ),
    "dia_encoder": Family(
        "dia_encoder", ENCODER, {"DiaEncoder": lambda c: part("", *encoder(c), kind="model")}, "DiaEncoder", OUTER_IGNORED_KEYS
    ),
    "dia_decoder": Family(
        "dia_decoder", DECODER, {"DiaDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model")}, "DiaDecoder", OUTER_IGNORED_KEYS
    ),
}
