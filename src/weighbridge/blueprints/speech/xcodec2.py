"""X-Codec 2 and NeuCodec: speech as one code per frame, of what is said (wav2vec2-BERT) and of how it sounds, and back by a spectrum.

Source: arXiv 2502.04128 (X-Codec 2), 2509.09550 (NeuCodec); names as in transformers 5.23.0, models/xcodec2/modeling_xcodec2.py and
models/neucodec.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, Config, Field, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FRAMES = unknown("the lengths of the waveform and its features depend on the input")
STREAMS: dict[str, Stream] = {"seq": FRAMES}


def conv(name: str, inputs: Size, outputs: Size, kernel: Size, *, bias: bool = True) -> Part:
    """Describe a convolution over frames."""
    weight = Tensor("weight", (outputs, inputs, kernel))
    return part(name, *((weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,)), kind="convolution")


def snake(name: str, width: Size) -> Part:
    """Describe SnakeBeta: a wave added to each channel, of its own frequency and height."""
    return part(
        name, part("act", Tensor("alpha", (width,), "gain"), Tensor("beta", (width,), "gain"), kind="activation"), kind="activation"
    )


def residual_unit(name: str, width: Size) -> Part:
    """Describe two convolutions with an activation before each."""
    return part(name, snake("snake1", width), conv("conv1", width, width, 7), snake("snake2", width), conv("conv2", width, width, 1))


def acoustic_encoder(c: Config) -> Part:
    """Describe the encoder of the waveform: each block doubles the channels and has a frame for so many."""
    blocks, width = [], c.encoder_hidden
    for index, stride in enumerate(c.strides):
        units = (residual_unit(f"res_unit{unit}", width) for unit in (1, 2, 3))
        last = conv("conv1", width, 2 * width, 2 * stride)
        blocks.append(part(f"block.{index}", *units, snake("snake1", width), last, kind="stage"))
        width = 2 * width
    ends = snake("snake1", width), conv("conv2", width, c.hidden, 3)
    return part("acoustic_encoder", conv("conv1", 1, c.encoder_hidden, 7), *blocks, *ends, kind="encoder")


def resnet_block(name: str, width: Size) -> Part:
    """Describe two convolutions with a norm over groups of channels before each."""
    return part(
        name,
        group_norm("norm1", width, 32),
        conv("conv1", width, width, 3),
        group_norm("norm2", width, 32),
        conv("conv2", width, width, 3),
        kind="block",
        repeat=2,
    )


def acoustic_decoder(c: Config) -> Part:
    """Describe the decoder: a transformer between convolutions, and a spectrum, from which a waveform is made."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    attention = part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.bias),
        linear("k_proj", H, K * D, bias=c.bias),
        linear("v_proj", H, K * D, bias=c.bias),
        linear("o_proj", A * D, H, bias=c.bias),
        attend(heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )
    layer = attention, plain_mlp("mlp", H, c.mlp, ("fc1", "fc2")), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    return part(
        "acoustic_decoder",
        linear("fc", H + c.semantic.hidden, H),
        conv("embed", H, H, 7),
        resnet_block("prior_net", H),
        part("layers", *layer, kind="layer", repeat=c.layers),
        resnet_block("post_net", H),
        layer_norm("norm", H),
        part("head", linear("linear", H, 4 * c.hop + 2), kind="head"),
        kind="decoder",
    )


def codec(c: Config) -> Part:
    """Describe Xcodec2Model and NeuCodecModel."""
    S, levels = c.semantic.hidden, len(c.levels)
    adapter = (conv(f"conv{index}", S, S, 3, bias=index in (2, 3)) for index in (1, 2, 3, 4))
    quantizer = linear("project_in", c.codes, levels), linear("project_out", levels, c.codes)
    return part(
        "",
        as_child("semantic_encoder", submodel(c.semantic), streams=STREAMS),
        part("semantic_adapter", *adapter, kind="adapter"),
        acoustic_encoder(c),
        linear("fc_encoder", c.hidden + S, c.hidden + S),
        part("quantizer", *quantizer, kind="quantizer"),
        acoustic_decoder(c),
        kind="model",
        stream=FRAMES,
    )


def _hop(c: Config) -> int:
    """Return how many samples a frame stands for in the waveform that comes out."""
    if not c.rate_in:
        raise ConfigError("a rate is at least 1", key="input_sampling_rate", value=c.rate_in)
    hop = 1
    for stride in c.strides:
        hop *= stride
    return hop if c.rate_out == c.rate_in else int(hop * c.rate_out / c.rate_in)


FIELDS = (
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(12),
    HEADS.with_default(16),
    replace(KV_HEADS, default=16, null=lambda c: c.heads),
    replace(HEAD_DIM, default=64, null=lambda c: c.hidden // c.heads),
    switch("bias", "attention_bias", False),
    number("encoder_hidden", "encoder_hidden_size", 48),
    numbers("strides", "downsampling_ratios", (2, 2, 4, 4, 5)),
    size("codes", "quantization_dim", 2048, "Q", "width of a frame before it is quantized"),
    numbers("levels", "quantization_levels", (4, 4, 4, 4, 4, 4, 4, 4)),
    model_config("semantic", "semantic_model_config", "wav2vec2-bert", absent={"num_hidden_layers": 16}),
)
IGNORED_KEYS = frozenset("activation_dropout max_position_embeddings sampling_rate tie_word_embeddings".split())


def rates(key_in: str, key_out: str, rate_in: int, rate_out: int) -> tuple[Field, ...]:
    """Return the samples in a second of what goes in and of what comes out, and how many samples a frame stands for."""
    return Field("rate_in", key_in, rate_in, "choice"), Field("rate_out", key_out, rate_out, "choice"), computed("hop", _hop)


XCODEC2 = (*FIELDS, *rates("sampling_rate", "sampling_rate", 16000, 16000))
NEUCODEC = (*FIELDS, *rates("input_sampling_rate", "output_sampling_rate", 16000, 24000))
FAMILIES = {
    "xcodec2": Family("xcodec2", XCODEC2, {"Xcodec2Model": codec}, "Xcodec2Model", IGNORED_KEYS),
    "neucodec": Family("neucodec", NEUCODEC, {"NeuCodecModel": codec}, "NeuCodecModel", IGNORED_KEYS),
}
