"""Mimi: SEANet with a transformer, and semantic and acoustic residual quantizers.

Source: arXiv 2410.00037; names as in transformers 5.23.0, models/mimi/modeling_mimi.py. Codebooks are kept as buffers.
"""

from __future__ import annotations

from math import ceil, prod

from weighbridge.blueprints.speech.encodec import (
    FILLED,
    OUTER_IGNORED_KEYS,
    book,
    convolution,
    refuse_odd_codebooks,
    seanet_decoder,
    seanet_encoder,
    shared_fields,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, LAYERS, MLP, Config, Field, computed, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def downsampling_factor(c: Config) -> int:
    """Return by how much Mimi subsamples the frames of its convolutions; 0 is not at all."""
    frames = ceil(c.rate / prod(c.ratios))
    rate = c.rate / (2 * prod(c.ratios)) if c.frame_rate is None else c.frame_rate
    return 0 if frames == rate else int(frames / rate)


def refuse_half(value: Any) -> bool:
    """Read a half of Mimi, which can only be left out."""
    if value is not True:
        raise ConfigError("it is derived from the fields of the whole model, and can only be null", key="encoder_config", value=value)
    return True


MIMI = (
    *shared_fields(64, 3, (8, 6, 5, 4), hidden=512, shortcut=False),
    size("quantizers", "num_quantizers", 32, "Q", "codebooks"),
    size("semantic", "num_semantic_quantizers", 1, "Q_sem", "semantic codebooks"),
    size("looked_up", "vector_quantization_hidden_dimension", 256, "X", "width of the code look-up"),
    size("groups", "upsample_groups", 512, "G", "groups of the convolution that restores frames"),
    LAYERS.with_default(8),
    MLP.with_default(2048),
    HEADS.with_default(8),
    size("kv_heads", "num_key_value_heads", 8, "K_kv", "key-value heads"),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    switch("bias", "attention_bias", False),
    Field("frame_rate", "frame_rate", None, "choice", report_default=False),
    Field("encodes", "encoder_config", True, "choice", read=refuse_half, report_default=False, nullable=True),
    Field("decodes", "decoder_config", True, "choice", read=refuse_half, report_default=False, nullable=True),
    computed("powers", refuse_odd_codebooks),
    computed("stride", downsampling_factor),
    computed("projected", lambda c: c.looked_up != c.hidden),
    constant("norm", ""),
    constant("depth", 0),
)


def transformer(c: Config, name: str) -> Part:
    """Describe Mimi's layers, each half of which has a gain of its own."""
    H, D = c.hidden, c.head_dim
    maps = (("q_proj", H, c.heads * D), ("k_proj", H, c.kv_heads * D), ("v_proj", H, c.kv_heads * D), ("o_proj", c.heads * D, H))
    projections = (linear(module, inputs, outputs, bias=c.bias) for module, inputs, outputs in maps)
    attention: tuple[Node, ...] = (*projections, attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=D))
    mlp: tuple[Node, ...] = (linear("fc1", H, c.mlp, bias=False), linear("fc2", c.mlp, H, bias=False))
    scales = (part(module, Tensor("scale", (H,), "gain"), kind="norm") for module in ("self_attn_layer_scale", "mlp_layer_scale"))
    norms = (layer_norm(module, H) for module in ("input_layernorm", "post_attention_layernorm"))
    layer = (part("self_attn", *attention, kind="self_attention"), part("mlp", *mlp, kind="feed_forward"), *norms, *scales)
    return part(name, part("layers", *layer, kind="layer", repeat=c.layers), kind="stack")


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe Mimi's encoder."""
    downsample = (convolution(c, "downsample", (c.hidden, c.hidden, 2 * c.stride), c.hidden, bias=False),) if c.stride else ()
    return part("encoder_seanet", *seanet_encoder(c), kind="encoder"), transformer(c, "encoder_transformer"), *downsample


def decoder(c: Config) -> tuple[Part, ...]:
    """Describe Mimi's decoder."""
    brought = (convolution(c, "upsample", (c.hidden, exact(c.hidden, c.groups), 2 * c.stride), c.hidden, bias=False),) if c.stride else ()
    return *brought, transformer(c, "decoder_transformer"), part("decoder_seanet", *seanet_decoder(c), kind="decoder")


def quantizer(c: Config, name: str, layers: Size) -> Part:
    """Describe codebooks that each take what those before have left, and the maps around them."""
    maps = (("input_proj", c.looked_up, c.hidden), ("output_proj", c.hidden, c.looked_up)) if c.projected else ()
    around = (part(module, Tensor("weight", (outs, ins, 1), "weight"), kind="convolution") for module, outs, ins in maps)
    return part(name, replace(book(c, "initialized", "cluster_usage", "embed_sum"), repeat=layers), *around, kind="quantizer")


def mimi(c: Config) -> Part:
    """Describe Mimi: either half may be left out."""
    split = (
        quantizer(c, "semantic_residual_vector_quantizer", c.semantic),
        quantizer(c, "acoustic_residual_vector_quantizer", c.quantizers - c.semantic),
    )
    return part(
        "",
        *((part("encoder", *encoder(c), kind="encoder"),) if c.encodes else ()),
        *((part("decoder", *decoder(c), kind="decoder"),) if c.decodes else ()),
        part("quantizer", *split, kind="quantizer"),
        kind="model",
        stream=FILLED,
    )


FAMILIES = {
    "mimi": Family("mimi", MIMI, {"MimiModel": mimi}, "MimiModel", OUTER_IGNORED_KEYS),
    "mimi_encoder": Family(
        "mimi_encoder",
        MIMI,
        {"MimiEncoderModel": lambda c: part("", *encoder(c), kind="model", stream=FILLED)},
        "MimiEncoderModel",
        OUTER_IGNORED_KEYS,
    ),
    "mimi_decoder": Family(
        "mimi_decoder",
        MIMI,
        {"MimiDecoderModel": lambda c: part("", *decoder(c), kind="model", stream=FILLED)},
        "MimiDecoderModel",
        OUTER_IGNORED_KEYS,
    ),
}
