"""The fields of Swin2SR.

Source: names as in transformers 5.23.0, models/swin2sr/configuration_swin2sr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.grids import CHANNELS, alike, both, image, number, numbers, ratio
from weighbridge.config.fields import Sizes, choice, size, switch, told
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any


def connection(value: Any) -> str:
    """Take how a stage ends: with one convolution, or with three around a narrow one."""
    if value not in ("1conv", "3conv"):
        raise ConfigError(f"expected 1conv or 3conv, found {value!r:.60}", key="resi_connection", value=value)
    return str(value)


def scale(c: Sizes) -> int:
    """Refuse scales that the class refuses."""
    if c.upsampler == "nearest+conv" and c.scale != 4:
        raise ConfigError("nearest+conv makes images four times as large", key="upscale", value=c.scale)
    if c.upsampler in ("pixelshuffle", "pixelshuffle_aux") and c.scale != 3 and c.scale & (c.scale - 1):
        raise ConfigError("expected a power of two, or 3", key="upscale", value=c.scale)
    return int(c.scale)


FIELDS = (
    CHANNELS,
    size("channels_out", "num_channels_out", lambda c: c.channels, "N_o", "channels of the larger image"),
    size("hidden", "embed_dim", 180, "H", "hidden size", "hidden_size"),
    numbers("depths", "depths", (6, 6, 6, 6, 6, 6)),
    numbers("heads", "num_heads", (6, 6, 6, 6, 6, 6), "num_attention_heads"),
    told("stages", lambda c: alike(depths=c.depths, num_heads=c.heads)),
    number("window", "window_size", 8),
    ratio("mlp_ratio", "mlp_ratio", 2.0),
    image(64),
    both("patch", "patch_size", 1),
    switch("qkv_bias", "qkv_bias", True),
    switch("absolute", "use_absolute_embeddings", False),
    choice("connection", "resi_connection", "1conv", read=connection),
    choice("upsampler", "upsampler", "pixelshuffle"),
    number("scale", "upscale", 2),
    told("checked", scale),
)
