"""The fields of EnCodec, some of which Mimi shares."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod

from weighbridge.blueprints.staged import numbers
from weighbridge.config.fields import Field, Sizes, choice, size, switch, told
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any


def one_of(*known: str) -> Callable[[Any], str]:
    """Return what reads a name, and refuses one that is not *known*."""

    def read(value: Any) -> str:
        if value not in known:
            raise ConfigError(f"expected {' or '.join(known)}, found {value!r:.40}", key="norm_type", value=value)
        return str(value)

    return read


def shared(filters: int, last: int, ratios: tuple[int, ...], *, hidden: int, shortcut: bool) -> tuple[Field, ...]:
    """List the fields of both codecs."""
    return (
        size("channels", "audio_channels", 1, "N", "channels of the wave"),
        size("hidden", "hidden_size", hidden, "H", "hidden size"),
        size("filters", "num_filters", filters, "F", "channels of the first convolution"),
        size("kernel", "kernel_size", 7, "K", "kernel of the first convolution"),
        size("last_kernel", "last_kernel_size", last, "K_las", "kernel of the last convolution"),
        size("inner_kernel", "residual_kernel_size", 3, "K_res", "kernel of the residual blocks"),
        size("compress", "compress", 2, "R", "narrowing of the residual blocks"),
        Field("blocks", "num_residual_layers", 1, "choice"),
        numbers("ratios", "upsampling_ratios", ratios),
        switch("shortcut", "use_conv_shortcut", shortcut),
        Field("rate", "sampling_rate", 24000, "choice"),
        size("codes", "codebook_size", 2048 if last == 3 else 1024, "V", "code vectors in a group"),
        size("code", "codebook_dim", 256 if last == 3 else lambda c: c.hidden, "W", "width of a code")._replace(null=lambda c: c.hidden),
    )


def powers(c: Sizes) -> bool:
    """Refuse codebooks whose size is no power of two."""
    if c.codes & (c.codes - 1):
        raise ConfigError(f"{c.codes} is no power of two", key="codebook_size", value=c.codes)
    return True


def books(c: Sizes) -> int:
    """Tell how many codebooks the largest bandwidth allows."""
    frames, bits = ceil(c.rate / prod(c.ratios)), c.codes.bit_length() - 1
    return int(1000 * c.bandwidths[-1] // (frames * bits))


ENCODEC = (
    *shared(32, 7, (8, 5, 4, 2), hidden=128, shortcut=True),
    Field("depth", "num_lstm_layers", 2, "choice"),
    choice("norm", "norm_type", "weight_norm", read=one_of("weight_norm", "time_group_norm")),
    Field("bandwidths", "target_bandwidths", [1.5, 3.0, 6.0, 12.0, 24.0], "listed"),
    told("powers", powers), told("quantizers", books),
)  # fmt: skip
