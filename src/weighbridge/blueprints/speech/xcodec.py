"""X-Codec and Higgs Audio's tokenizer: DAC's convolutions beside a speech encoder's states, quantized together.

Source: Ye et al. 2024, arXiv 2408.17175; names as in transformers 5.23.0, models/xcodec/modeling_xcodec.py. Codebooks are kept as buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log2, prod

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import equal_length, numbers
from weighbridge.blueprints.speech import dac
from weighbridge.blueprints.speech.encodec import book
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, size, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

ACOUSTIC = {
    "encoder_hidden_size": 64,
    "downsampling_ratios": [8, 5, 4, 2],
    "decoder_hidden_size": 1024,
    "upsampling_ratios": [8, 5, 4, 2],
    "hidden_size": 256,
}
"""What the class puts into the acoustic model's config."""
FITTED = unknown("waves are padded until both encoders make equally many frames, and codes are found by distance")


def books(c: Config) -> int:
    """Return how many quantizers the largest bandwidth allows."""
    frames, bits = ceil(c.rate / prod(c.acoustic.ratios)), ceil(log2(c.codes))
    return int(1000 * c.bandwidths[-1] // (frames * bits))


FIELDS = (
    model_config("acoustic", "acoustic_model_config", "dac"),
    model_config("semantic", "semantic_model_config", "hubert wavlm"),
    Field("bandwidths", "target_bandwidths", [0.5, 1, 1.5, 2, 4], "sequence"),
    Field("rate", "sample_rate", 16000, "choice"),
    size("kernel", "kernel_size", 3, "K", "kernel size of the first convolution"),
    numbers("widening", "channel_ratios", (1, 1)),
    numbers("strides", "strides", (1, 1)),
    numbers("dilations", "block_dilations", (1, 1)),
    size("unit_kernel", "unit_kernel_size", 3, "K_res", "kernel size of the residual blocks' convolutions"),
    Field("codes", "codebook_size", 1024, "choice"),
    size("code", "codebook_dim", lambda c: c.acoustic.hidden + c.semantic.hidden, "W", "width of a code"),
    computed("blocks", lambda c: equal_length(strides=c.strides, channel_ratios=c.widening)),
    computed("books", books),
)


def residual_units(c: Config, width: Size) -> tuple[Part, ...]:
    """Describe residual blocks of a dilated and a pointwise convolution, one for each dilation."""
    pair = conv1d_same("conv1", width, width, c.unit_kernel, bias=False), conv1d_same("conv2", width, width, 1, bias=False)
    return (part("res_units", *pair, kind="convolutions", repeat=len(c.dilations)),)


def semantic_encoder(c: Config) -> Part:
    """Describe the convolutions over the speech encoder's states."""
    H = c.semantic.hidden
    blocks, width = [], H
    for index, (stride, ratio) in enumerate(zip(c.strides, c.widening, strict=True)):
        shorter = conv1d_same("conv", width, H * ratio, 3 if stride == 1 else 2 * stride)
        blocks.append(part(str(index), *residual_units(c, width), shorter, kind="stage"))
        width = H * ratio
    return part("encoder_semantic", conv1d_same("conv", H, H, c.kernel, bias=False), part("conv_blocks", *blocks), kind="encoder")


def semantic_decoder(c: Config) -> Part:
    """Describe the convolutions back to the speech encoder's states, which is used in training only."""
    H = c.semantic.hidden
    widths = [*(H * ratio for ratio in c.widening), H]
    blocks = []
    for index, stride in enumerate(c.strides):
        inputs, outputs = widths[index], widths[index + 1]
        longer = part("conv", Tensor("weight", (inputs, outputs, 2 * stride)), kind="convolution")
        conv = conv1d_same("conv", inputs, outputs, 3) if stride == 1 else longer
        blocks.append(part(str(index), conv, *residual_units(c, outputs), kind="stage"))
    first, last = conv1d_same("conv1", H, widths[0], c.kernel, bias=False), conv1d_same("conv2", H, H, c.kernel, bias=False)
    return part("decoder_semantic", first, part("conv_blocks", *blocks), last, kind="decoder", requires="labels")


def xcodec(c: Config) -> Part:
    """Describe XcodecModel."""
    return codec(c, book(c, "inited", "cluster_size", "embed", "embed_avg"))


def higgs_audio(c: Config) -> Part:
    """Describe HiggsAudioV2TokenizerModel: codes are narrower than what they stand for."""
    both = c.acoustic.hidden + c.semantic.hidden
    one = book(c, "inited", "cluster_size", "embed", "embed_avg")
    narrowed = linear("project_in", both, c.code), linear("project_out", c.code, both)
    return codec(c, replace(one, children=(*one.children, *narrowed)))


def codec(c: Config, quantizer: Part) -> Part:
    """Describe DAC's convolutions and a speech encoder, with a *quantizer* for both together."""
    both = c.acoustic.hidden + c.semantic.hidden
    compressed, frames = dac.encoder(c.acoustic)
    return part(
        "",
        replace(compressed, name="acoustic_encoder"),
        replace(dac.decoder(c.acoustic, frames), name="acoustic_decoder"),
        semantic_encoder(c),
        semantic_decoder(c),
        as_child("semantic_model", submodel(c.semantic)),
        linear("fc", both, both),
        linear("fc1", both, c.semantic.hidden, requires="labels"),
        linear("fc2", both, c.acoustic.hidden),
        part("quantizer", replace(quantizer, name="quantizers", repeat=c.books), kind="quantizer"),
        kind="model",
        stream=FITTED,
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put into the acoustic model's config what the outer class does."""
    inner = raw.get("acoustic_model_config")
    if inner is not None and not isinstance(inner, Mapping):
        return dict(raw)
    return {**raw, "acoustic_model_config": {**ACOUSTIC, **(inner or {})}}


def normalize_higgs(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put into both models' configs what Higgs Audio's class does: its speech encoder masks nothing."""
    inner = raw.get("semantic_model_config")
    if inner is not None and not isinstance(inner, Mapping):
        return normalize_config(raw)
    return normalize_config({**raw, "semantic_model_config": {"mask_time_prob": 0.0, **(inner or {})}})


HIGGS = variant(
    FIELDS,
    rate=24000,
    code=size("code", "codebook_dim", 64, "W", "width of a code", null=lambda c: c.acoustic.hidden + c.semantic.hidden),
)
HIGGS_NAME = "HiggsAudioV2TokenizerModel"
FAMILIES = {
    "xcodec": Family("xcodec", FIELDS, {"XcodecModel": xcodec}, "XcodecModel", normalize_config=normalize_config),
    "higgs_audio_v2_tokenizer": Family(
        "higgs_audio_v2_tokenizer",
        HIGGS,
        {HIGGS_NAME: higgs_audio},
        HIGGS_NAME,
        frozenset(("downsample_factor", "semantic_sample_rate")),
        normalize_config=normalize_higgs,
    ),
}
