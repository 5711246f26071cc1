"""diffusers: the deep compression autoencoder, which Sana has.

Source: arXiv 2410.10733; diffusers 0.42.1, models/autoencoders/autoencoder_dc.py, models/attention_processor.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family
from weighbridge.config.fields import Config, choice, computed, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NORMS = "rms_norm", "layer_norm", "batch_norm"
BLOCKS = "ResBlock", "EfficientViTBlock"
WIDTHS = (128, 256, 512, 512, 1024, 1024)
SCALES = [[], [], [], [5], [5], [5]]


def norm_of(kind: str, name: str, width: Size) -> Part:
    """Describe a norm of channels; a root mean square has a shift here too."""
    if kind == "rms_norm":
        return part(name, Tensor("weight", (width,), "gain"), Tensor("bias", (width,), "shift"), kind="rms_norm")
    return (layer_norm if kind == "layer_norm" else batch_norm)(name, width)


def residual_block(width: int, norm: str) -> tuple[Node, ...]:
    """Describe two convolutions and a norm."""
    return conv2d("conv1", width, width, 3), conv2d("conv2", width, width, 3, bias=False), norm_of(norm, "norm", width)


def attention_block(width: int, head_dim: int, scales: tuple[int, ...], norm: str) -> tuple[Node, ...]:
    """Describe linear attention over several neighbourhoods, and a network of three convolutions."""
    heads = width // head_dim
    inner = heads * head_dim
    several = [
        (conv2d("proj_in", 3 * inner, 3 * inner, kernel, groups=3 * inner, bias=False), conv2d("proj_out", 3 * inner, 3 * inner, 1, groups=3 * heads, bias=False))
        for kernel in scales
    ]  # fmt: skip
    attention = part(
        "attn",
        *(linear(name, width, inner, bias=False) for name in ("to_q", "to_k", "to_v")),
        module_list("to_qkv_multiscale", *several, kind="convolutions"),
        linear("to_out", inner * (1 + len(scales)), width, bias=False),
        norm_of(norm, "norm_out", width),
        kind="self_attention",
    )
    wide = 8 * width
    convolutions = part(
        "conv_out",
        conv2d("conv_inverted", width, wide, 1),
        conv2d("conv_depth", wide, wide, 3, groups=wide),
        conv2d("conv_point", wide // 2, width, 1, bias=False),
        norm_of("rms_norm", "norm", width),
        kind="feed_forward",
    )
    return attention, convolutions


def blocks(c: Config, half: str, stage: int, norm: str = "rms_norm") -> list[tuple[Node, ...]]:
    """Describe the blocks of a stage of the *half* called so."""
    width, kind = getattr(c, f"{half}_widths")[stage], getattr(c, f"{half}_kinds")[stage]
    many = getattr(c, f"{half}_depths")[stage]
    if kind == "ResBlock":
        return [residual_block(width, norm)] * many
    return [attention_block(width, c.head_dim, getattr(c, f"{half}_scales")[stage], norm)] * many


def smaller(c: Config, name: str, before: Size, after: int) -> Part:
    """Describe a convolution that halves the map, or one whose squares are folded into channels."""
    if c.folding and after % 4:
        raise ConfigError(Text("{width} channels are no multiple of 4", width=after), key="encoder_block_out_channels", value=after)
    return part(name, conv2d("conv", before, after // 4 if c.folding else after, 3), kind="convolution")


def larger(c: Config, name: str, before: int, after: Size) -> Part:
    """Describe a convolution that doubles the map, by interpolation or by channels unfolded into squares."""
    return part(name, conv2d("conv", before, 4 * after if c.unfolding else after, 3), kind="convolution")


def encoder(c: Config) -> Part:
    """Describe the encoder; a first stage without blocks is a convolution that halves the map."""
    widths, depths = c.encoder_widths, c.encoder_depths
    stages = []
    for stage, depth in enumerate(depths):
        found = blocks(c, "encoder", stage)
        if stage < len(widths) - 1 and depth:
            found.append(smaller(c, "", widths[stage], widths[stage + 1]).children)
        stages.append(tuple(part(str(at), *children, kind="layer") for at, children in enumerate(found)))
    first = conv2d("conv_in", c.channels, widths[0], 3) if depths[0] else smaller(c, "conv_in", c.channels, widths[1])
    return part("encoder", first, module_list("down_blocks", *stages), conv2d("conv_out", widths[-1], c.latent, 3), kind="encoder")


def decoder(c: Config) -> Part:
    """Describe the decoder."""
    widths, depths = c.decoder_widths, c.decoder_depths
    stages = []
    for stage, depth in enumerate(depths):
        found = blocks(c, "decoder", stage, c.norms[stage])
        if stage < len(widths) - 1 and depth:
            found.insert(0, larger(c, "", widths[stage + 1], widths[stage]).children)
        stages.append(tuple(part(str(at), *children, kind="layer") for at, children in enumerate(found)))
    outer = widths[0] if depths[0] else widths[1]
    last = conv2d("conv_out", outer, c.channels, 3) if depths[0] else larger(c, "conv_out", outer, c.channels)
    first = conv2d("conv_in", c.latent, widths[-1], 3)
    return part("decoder", first, module_list("up_blocks", *stages), norm_of("rms_norm", "norm_out", outer), last, kind="decoder")


def autoencoder(c: Config) -> Part:
    """Describe AutoencoderDC."""
    return part("", encoder(c), decoder(c), kind="model", stream=PASS)


def _each(key: str, *known: str) -> Callable[[Any], str | tuple[str, ...]]:
    """Return what reads one word for all stages, or a list with one for each."""
    read = one_of(key, *known)
    return lambda value: tuple(map(read, value)) if isinstance(value, (list, tuple)) else read(value)


def _scales(value: Any) -> tuple[tuple[int, ...], ...]:
    whole = isinstance(value, (list, tuple)) and all(isinstance(row, (list, tuple)) for row in value)
    if not whole or any(type(kernel) is not int or kernel < 1 for row in value for kernel in row):
        raise ConfigError(
            Text("expected lists of whole numbers from 1 up, found {value!r:.60}", value=value), key="qkv_multiscales", value=value
        )
    return tuple(tuple(row) for row in value)


def _for_each(word: str, half: str) -> Callable[[Config], tuple[Any, ...]]:
    """Return what gives every stage of a half its entry, and refuses a list that is too short."""

    def found(c: Config) -> tuple[Any, ...]:
        value, count = getattr(c, word), len(getattr(c, f"{half}_widths"))
        entries = (value,) * count if isinstance(value, str) else value
        if len(entries) < count:
            raise ConfigError(Text("expected one entry for each of {stages} stages", stages=count), key=word, value=list(entries))
        return tuple(entries)

    return found


def _half(half: str, depths: tuple[int, ...]) -> tuple[Any, ...]:
    """Declare the stages of the encoder or the decoder."""
    return (
        numbers(f"{half}_widths", f"{half}_block_out_channels", WIDTHS),
        numbers(f"{half}_depths", f"{half}_layers_per_block", depths, minimum=0, most=WRITTEN_OUT),
        choice(f"{half}_block_types", f"{half}_block_types", "ResBlock", read=_each(f"{half}_block_types", *BLOCKS)),
        choice(f"{half}_scales", f"{half}_qkv_multiscales", SCALES, read=_scales),
        computed(f"{half}_kinds", _for_each(f"{half}_block_types", half)),
    )


FIELDS = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("latent", "latent_channels", 32, "Z", "latent channels"),
    number("head_dim", "attention_head_dim", 32),
    *_half("encoder", (2, 2, 2, 3, 3, 3)),
    *_half("decoder", (3, 3, 3, 3, 3, 3)),
    choice("unfolding", "upsample_block_type", "pixel_shuffle", read=lambda value: value != "interpolate"),
    choice("folding", "downsample_block_type", "pixel_unshuffle", read=lambda value: value == "pixel_unshuffle"),
    choice("decoder_norm_types", "decoder_norm_types", "rms_norm", read=_each("decoder_norm_types", *NORMS)),
    computed("norms", _for_each("decoder_norm_types", "decoder")),
)
KEYS = frozenset("decoder_act_fns encoder_out_shortcut decoder_in_shortcut decoder_conv_act_fn scaling_factor".split())
FAMILIES = {"diffusers_deep_vae": diffusers_family("diffusers_deep_vae", FIELDS, "AutoencoderDC", autoencoder, KEYS)}
