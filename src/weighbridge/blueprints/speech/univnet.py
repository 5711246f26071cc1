"""UnivNet: a vocoder from noise to waveform, whose convolutions have kernels that a network predicts from the mel frames.

Source: Jang et al. 2021, arXiv 2106.07889, section 2.1, and LVCNet, arXiv 2102.10815, for the location-variable convolution; names as in
transformers 5.23.0, models/univnet/modeling_univnet.py. ``seq`` counts mel frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import equal_length, numbers
from weighbridge.blueprints.speech.hifigan import conv1d_same, conv_transpose1d, steps
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, sequence, size
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.parts import matmul, part, replace
from weighbridge.core.tree import Part

FIELDS = (
    size("noise", "model_in_channels", 64, "N", "channels of the noise, and of the predictors' residual blocks"),
    size("width", "model_hidden_channels", 32, "C", "channels of the convolutions"),
    size("mels", "num_mel_bins", 100, "M", "mel bins"),
    numbers("kernels", "resblock_kernel_sizes", (3, 3, 3)),
    numbers("rates", "resblock_stride_sizes", (8, 8, 4)),
    sequence("dilations", "resblock_dilation_sizes", [[1, 3, 9, 27]] * 3, read=steps),
    computed(
        "blocks",
        lambda c: equal_length(resblock_kernel_sizes=c.kernels, resblock_stride_sizes=c.rates, resblock_dilation_sizes=c.dilations),
    ),
    size("predictor_blocks", "kernel_predictor_num_blocks", 3, "B", "residual blocks of a kernel predictor", minimum=0),
    size("predictor_width", "kernel_predictor_hidden_channels", 64, "H", "channels of a kernel predictor"),
    size("predictor_kernel", "kernel_predictor_conv_size", 3, "K", "kernel size of a kernel predictor's convolutions"),
    computed("runs", lambda c: c.noise == c.predictor_width and all(kernel % 2 for kernel in (*c.kernels, c.predictor_kernel))),
)
IGNORED_KEYS = frozenset(("kernel_predictor_dropout", "leaky_relu_slope"))


def kernel_predictor(c: Config, kernel: int, layers: int) -> Part:
    """Describe what makes, of every frame, a kernel and a bias for each of *layers* gated convolutions after it."""
    block = (conv1d_same(name, c.noise, c.noise, c.predictor_kernel) for name in ("conv1", "conv2"))
    return part(
        "kernel_predictor",
        conv1d_same("input_conv", c.mels, c.predictor_width, 5),
        part("resblocks", *block, kind="convolution", repeat=c.predictor_blocks),
        conv1d_same("kernel_conv", c.predictor_width, layers * kernel * c.width * 2 * c.width, c.predictor_kernel),
        conv1d_same("bias_conv", c.predictor_width, layers * 2 * c.width, c.predictor_kernel),
        kind="convolution",
        stream="seq",
    )


def block(c: Config, index: int, seen: Stream) -> Part:
    """Describe a step that lengthens the stream *seen*, and dilated convolutions, each in front of one with predicted kernels."""
    kernel, rate, layers = c.kernels[index], c.rates[index], len(c.dilations[index])
    longer = length(seen) * rate
    convs = part(
        "resblocks",
        conv1d_same("conv", c.width, c.width, kernel),
        matmul("location_variable_convolution", (longer, kernel * c.width, 2 * c.width)),
        kind="convolution",
        repeat=layers,
        stream=longer,
    )
    first = conv_transpose1d("convt_pre", c.width, c.width, 2 * rate, seen=seen)
    return part("resblocks", first, kernel_predictor(c, kernel, layers), convs, kind="convolution", repeat=1, indices=(index,))


def univnet(c: Config) -> Part:
    """Describe the whole: noise of as many positions as there are frames, steps that turn it into a waveform, and the waveform's one channel."""
    stream: Stream = "seq" if c.runs else unknown("it runs only if kernels are odd and the predictors are as wide as the noise")
    blocks = []
    for index, rate in enumerate(c.rates):
        blocks.append(block(c, index, stream))
        stream = length(stream) * rate
    first = replace(conv1d_same("conv_pre", c.noise, c.width, 7), stream="seq")
    last = replace(conv1d_same("conv_post", c.width, 1, 7), stream=stream)
    return part("", first, *blocks, last, kind="model")


FAMILIES = {"univnet": Family("univnet", FIELDS, {"UnivNetModel": univnet}, "UnivNetModel", IGNORED_KEYS)}
