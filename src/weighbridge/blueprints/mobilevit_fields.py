"""The fields of MobileViT and MobileViT v2, whose widths are lists, or told by one multiplier.

Source: names as in transformers 5.23.0, models/mobilevit/configuration_mobilevit.py and models/mobilevitv2/configuration_mobilevitv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.convolutions import divisible, real
from weighbridge.blueprints.grids import CHANNELS, image
from weighbridge.blueprints.staged import number, numbers
from weighbridge.config.fields import LABELS, Sizes, fact, size, switch, told
from weighbridge.core.errors import ConfigError

SHARED = (
    CHANNELS,
    image(256),
    number("patch", "patch_size", 2),
    number("kernel", "conv_kernel_size", 3),
    number("output_stride", "output_stride", 32),
    numbers("rates", "atrous_rates", (6, 12, 18)),
    switch("expanded", "expand_output", True, silent=True),
    LABELS,
)

FIRST = (
    *SHARED,
    numbers("inner", "hidden_sizes", (144, 192, 240)),
    numbers("widths", "neck_hidden_sizes", (16, 32, 64, 96, 128, 160, 640)),
    number("heads", "num_attention_heads", 4),
    real("mlp_ratio", "mlp_ratio", 2.0),
    real("expansion", "expand_ratio", 4.0),
    switch("qkv_bias", "qkv_bias", True),
    size("aspp", "aspp_out_channels", 256, "S", "width of the segmentation head"),
    fact("depths", (2, 4, 3)),
    fact("second", False),
    told("fits", lambda c: fits(c)),
)

SECOND = (
    *SHARED,
    real("wider", "width_multiplier", 1.0),
    numbers("bases", "base_attn_unit_dims", (128, 192, 256)),
    numbers("depths", "n_attn_blocks", (2, 4, 3)),
    number("mlp_times", "ffn_multiplier", 2),
    real("expansion", "expand_ratio", 2.0),
    size("aspp", "aspp_out_channels", 512, "S", "width of the segmentation head"),
    told("inner", lambda c: tuple(divisible(base * c.wider) for base in c.bases)),
    told("widths", lambda c: widths(c.wider)),
    fact("second", True),
    told("fits", lambda c: fits(c)),
)


def widths(wider: float) -> tuple[int, ...]:
    """Return the widths of stem and stages, all from one multiplier."""
    stem = divisible(max(16, min(64, 32 * wider)), 8, 16)
    return (stem, divisible(64 * wider, 16), *(divisible(width * wider) for width in (128, 256, 384, 512)))


def fits(c: Sizes) -> bool:
    """Refuse lists of another length, and kernels that leave a map of another size."""
    lengths = {
        "hidden_sizes": (c.inner, 3),
        "neck_hidden_sizes": (c.widths, 6 if c.second else 7),
        "depths": (c.depths, 3),
        "atrous_rates": (c.rates, 3),
    }
    for key, (entries, length) in lengths.items():
        if len(entries) != length:
            raise ConfigError(f"expected {length} entries, found {len(entries)}", key=key, value=entries)
    if c.kernel % 2 == 0:
        raise ConfigError("an even kernel leaves a map of another size", key="conv_kernel_size", value=c.kernel)
    return True
