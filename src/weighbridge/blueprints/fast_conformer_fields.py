"""The fields of fast conformers."""

from __future__ import annotations

from math import log2

from weighbridge.config.fields import Field, fact, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any

ENCODER = (
    size("hidden", "hidden_size", 1024, "H", "hidden size"),
    size("mlp", "intermediate_size", 4096, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 24, "L", "layers"),
    size("heads", "num_attention_heads", 8, "A", "attention heads"),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads"),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "width of a head"),
    size("mels", "num_mel_bins", 80, "M", "mel bins"),
    size("kernel", "conv_kernel_size", 9, "K_dep", "width of the depthwise convolution"),
    size("thin_kernel", "subsampling_conv_kernel_size", 3, "K_sub", "kernel of the first convolutions"),
    size("stride", "subsampling_conv_stride", 2, "R_sub", "stride of the first convolutions"),
    size("channels", "subsampling_conv_channels", 256, "C_sub", "channels of the first convolutions"),
    Field("thinned", "subsampling_factor", 8, "choice", read=lambda value: halvings(value)),
    switch("bias", "attention_bias", True),
    switch("conv_bias", "convolution_bias", True),
    fact("causal", False),
    fact("rotary", False),
)
STREAMING = variant(ENCODER, causal=True)
LASR = variant(
    tuple(field for field in ENCODER if field.word != "thinned"),
    hidden=512, layers=17, mlp=2048, mels=128, kernel=32, thin_kernel=5, rotary=True,
    bias=switch("bias", "attention_bias", False), conv_bias=switch("conv_bias", "convolution_bias", False),
)  # fmt: skip


def halvings(value: Any) -> int:
    """Tell how many convolutions thin the frames out by a factor; the first is always there.

    >>> halvings(8)
    3
    """
    if type(value) is not int or value < 1:
        raise ConfigError(f"expected a whole number, found {value!r:.60}", key="subsampling_factor", value=value)
    return int(log2(value))
