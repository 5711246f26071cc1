"""diffusers: autoencoders of videos over frames and places (CogVideoX, HunyuanVideo, Mochi, LTX-Video).

Source: arXiv 2408.06072, 2412.03603 and 2501.00103; diffusers 0.42.1,
models/autoencoders/autoencoder_kl_{cogvideox,hunyuan_video,mochi,ltx}.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import conv3d, group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, entries, number, numbers
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, to_out, two_maps
from weighbridge.blueprints.packages.diffusers_unet import resnets, same_blocks, sampler, square_attention
from weighbridge.config.fields import Config, Field, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

CUBE, POINT = (3, 3, 3), (1, 1, 1)


def causal(name: str, inputs: Size, outputs: Size, kernel: tuple[int, int, int] = CUBE) -> Part:
    """Describe a convolution that is padded before its frames, in a module of its own."""
    return part(name, conv3d("conv", inputs, outputs, kernel), kind="convolution")


def image_and_latents(default: int) -> tuple[Field, ...]:
    """Declare the channels outside and inside."""
    return (
        size("channels", "in_channels", 3, "N", "channels of the video"),
        size("outputs", "out_channels", 3, "O", "output channels"),
        size("latent", "latent_channels", default, "Z", "latent channels"),
    )


# CogVideoX


def spatial_norm(name: str, width: Size, latent: Size) -> Part:
    """Describe a norm that two maps of the latents scale and shift."""
    maps = (causal(word, latent, width, POINT) for word in ("conv_y", "conv_b"))
    return part(name, group_norm("norm_layer", width), *maps, kind="adaptive_norm")


def cog_resnet(before: int, after: int, latent: Size | None = None) -> tuple[Node, ...]:
    """Describe a residual block; the decoder's norms see the *latent* channels."""
    first, second = (
        group_norm(name, width) if latent is None else spatial_norm(name, width, latent)
        for name, width in (("norm1", before), ("norm2", after))
    )
    beside = (conv3d("conv_shortcut", before, after, POINT),) if before != after else ()
    return first, second, causal("conv1", before, after), causal("conv2", after, after), *beside


def cog_stages(c: Config, widths: tuple[int, ...], depth: int, name: str, latent: Size | None = None) -> list[tuple[Part, ...]]:
    """Describe stages of residual blocks, each but the last with what changes the size of the map."""
    found = []
    for stage, width in enumerate(widths):
        inputs = [widths[max(stage - 1, 0)], *(width,) * (depth - 1)]
        blocks = resnets(*(cog_resnet(before, width, latent) for before in inputs))
        found.append((blocks, *(() if stage == len(widths) - 1 else (sampler(name, width),))))
    return found


def cogvideox(c: Config) -> Part:
    """Describe AutoencoderKLCogVideoX."""
    widths, turned, Z = c.widths, c.widths[::-1], c.latent
    same_blocks("down_block_types", c.down, "CogVideoXDownBlock3D", len(widths))
    same_blocks("up_block_types", c.up, "CogVideoXUpBlock3D", len(widths))
    encoder = part(
        "encoder",
        causal("conv_in", c.channels, widths[0]),
        module_list("down_blocks", *cog_stages(c, widths, c.depth, "downsamplers")),
        part("mid_block", resnets(*[cog_resnet(widths[-1], widths[-1])] * 2), kind="stage"),
        group_norm("norm_out", widths[-1]),
        causal("conv_out", widths[-1], 2 * Z),
        kind="encoder",
    )
    decoder = part(
        "decoder",
        causal("conv_in", Z, turned[0]),
        part("mid_block", resnets(*[cog_resnet(turned[0], turned[0], Z)] * 2), kind="stage"),
        module_list("up_blocks", *cog_stages(c, turned, c.depth + 1, "upsamplers", Z)),
        spatial_norm("norm_out", turned[-1], Z),
        causal("conv_out", turned[-1], c.outputs),
        kind="decoder",
    )
    quant = (conv3d("quant_conv", 2 * c.outputs, 2 * c.outputs, POINT),) if c.quant else ()
    post = (conv3d("post_quant_conv", c.outputs, c.outputs, POINT),) if c.post_quant else ()
    return part("", encoder, decoder, *quant, *post, kind="model", stream=PASS)


COGVIDEOX = (
    *image_and_latents(16),
    choice("down", "down_block_types", ["CogVideoXDownBlock3D"] * 4, report_default=False),
    choice("up", "up_block_types", ["CogVideoXUpBlock3D"] * 4, report_default=False),
    numbers("widths", "block_out_channels", (128, 256, 256, 512)),
    number("depth", "layers_per_block", 3, most=WRITTEN_OUT),
    switch("quant", "use_quant_conv", False),
    switch("post_quant", "use_post_quant_conv", False),
)


# HunyuanVideo


def hunyuan_resnet(before: int, after: int) -> tuple[Node, ...]:
    """Describe a residual block of causal convolutions."""
    beside = (causal("conv_shortcut", before, after, POINT),) if before != after else ()
    return group_norm("norm1", before), causal("conv1", before, after), group_norm("norm2", after), causal("conv2", after, after), *beside


def hunyuan_stages(c: Config, widths: tuple[int, ...], depth: int, name: str) -> list[tuple[Part, ...]]:
    """Describe stages; the first ones change the map's size, those before the last the number of frames."""
    found, last = [], len(widths) - 1
    for stage, width in enumerate(widths):
        inputs = [widths[max(stage - 1, 0)], *(width,) * (depth - 1)]
        blocks = resnets(*(hunyuan_resnet(before, width) for before in inputs))
        scaled = stage < c.in_space or last - c.in_time <= stage < last
        more = (part(name, part("0", causal("conv", width, width), kind="convolution"), kind="convolutions"),) if scaled else ()
        found.append((blocks, *more))
    return found


def hunyuan_middle(c: Config, width: int) -> Part:
    """Describe the middle, with attention between two residual blocks."""
    attention = (module_list("attentions", square_attention(width), kind="self_attention"),) if c.attends else ()
    return part("mid_block", *attention, resnets(*[hunyuan_resnet(width, width)] * 2), kind="stage")


def hunyuan_video(c: Config) -> Part:
    """Describe AutoencoderKLHunyuanVideo."""
    widths, turned = c.widths, c.widths[::-1]
    same_blocks("down_block_types", c.down, "HunyuanVideoDownBlock3D", len(widths))
    same_blocks("up_block_types", c.up, "HunyuanVideoUpBlock3D", len(widths))
    halves = []
    for name, order, depth, ends in (
        ("encoder", widths, c.depth, (c.channels, 2 * c.latent)),
        ("decoder", turned, c.depth + 1, (c.latent, c.outputs)),
    ):
        way = "down" if name == "encoder" else "up"
        inner = module_list(f"{way}_blocks", *hunyuan_stages(c, order, depth, f"{way}samplers")), hunyuan_middle(c, widths[-1])
        tail = group_norm("conv_norm_out", order[-1]), causal("conv_out", order[-1], ends[1])
        halves.append(part(name, causal("conv_in", ends[0], order[0]), *inner, *tail, kind=name))
    quant = conv3d("quant_conv", 2 * c.latent, 2 * c.latent, POINT), conv3d("post_quant_conv", c.latent, c.latent, POINT)
    return part("", *halves, *quant, kind="model", stream=PASS)


def _read_four(value: Any) -> int:
    if value != 4:
        raise ConfigError("only 4 is described", key="temporal_compression_ratio", value=value)
    return 2


def _read_log(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ConfigError(
            Text("expected a whole number from 1 up, found {value!r:.60}", value=value), key="spatial_compression_ratio", value=value
        )
    return value.bit_length() - 1


HUNYUAN = (
    *image_and_latents(16),
    choice("down", "down_block_types", ["HunyuanVideoDownBlock3D"] * 4, report_default=False),
    choice("up", "up_block_types", ["HunyuanVideoUpBlock3D"] * 4, report_default=False),
    numbers("widths", "block_out_channels", (128, 256, 512, 512)),
    number("depth", "layers_per_block", 2, most=WRITTEN_OUT),
    choice("in_space", "spatial_compression_ratio", 8, read=_read_log),
    choice("in_time", "temporal_compression_ratio", 4, read=_read_four),
    switch("attends", "mid_block_add_attention", True, report_default=False),
)


# Mochi


def chunked_norm(name: str, width: Size) -> Part:
    """Describe a norm of groups, in a module of its own."""
    return part(name, group_norm("norm_layer", width), kind="group_norm")


def mochi_resnet(width: int) -> tuple[Node, ...]:
    """Describe a residual block."""
    return chunked_norm("norm1", width), causal("conv1", width, width), chunked_norm("norm2", width), causal("conv2", width, width)


def mochi_blocks(width: int, depth: int, *, attends: bool) -> tuple[Part, ...]:
    """Describe residual blocks, with a norm and attention over frames behind each where the stage attends."""
    blocks = resnets(*[mochi_resnet(width)] * depth)
    if not attends:
        return (blocks,)
    heads = width // 32
    maps = *(linear(name, width, 32 * heads, bias=False) for name in ("to_q", "to_k", "to_v")), to_out(32 * heads, width)
    norm: tuple[Node, ...] = (group_norm("norm_layer", width),)
    attention: tuple[Node, ...] = (*maps, attend(heads=heads, head_dim=32, causal=True))
    return (
        blocks,
        module_list("norms", *[norm] * depth, kind="group_norm"),
        module_list("attentions", *[attention] * depth, kind="self_attention"),
    )


def mochi(c: Config) -> Part:
    """Describe AutoencoderKLMochi."""
    inner, outer, depths = c.encoder_widths, c.decoder_widths, c.depths
    down: list[tuple[Node, ...]] = []
    for stage in range(len(inner) - 1):
        kernel = (c.in_time[stage], c.in_space[stage], c.in_space[stage])
        blocks = mochi_blocks(inner[stage + 1], depths[stage + 1], attends=c.attends[stage + 1])
        down.append((causal("conv_in", inner[stage], inner[stage + 1], kernel), *blocks))
    up: list[tuple[Node, ...]] = []
    for stage in range(len(outer) - 1):
        wide = outer[-stage - 2] * c.in_time[-stage - 1] * c.in_space[-stage - 1] ** 2
        up.append((*mochi_blocks(outer[-stage - 1], depths[-stage - 2], attends=False), linear("proj", outer[-stage - 1], wide)))
    encoder = part(
        "encoder",
        linear("proj_in", c.channels, inner[0]),
        part("block_in", *mochi_blocks(inner[0], depths[0], attends=c.attends[0]), kind="stage"),
        module_list("down_blocks", *down),
        part("block_out", *mochi_blocks(inner[-1], depths[-1], attends=c.attends[-1]), kind="stage"),
        chunked_norm("norm_out", inner[-1]),
        linear("proj_out", inner[-1], 2 * c.latent, bias=False),
        kind="encoder",
    )
    decoder = part(
        "decoder",
        conv3d("conv_in", c.latent, outer[-1], POINT),
        part("block_in", *mochi_blocks(outer[-1], depths[-1], attends=False), kind="stage"),
        module_list("up_blocks", *up),
        part("block_out", *mochi_blocks(outer[0], depths[0], attends=False), kind="stage"),
        linear("proj_out", outer[0], c.outputs),
        kind="decoder",
    )
    return part("", encoder, decoder, kind="model", stream=PASS)


def _check_mochi(c: Config) -> int:
    """Refuse lists that are too short for the stages."""
    count = max(len(c.encoder_widths), len(c.decoder_widths))
    for key, found, most in (
        ("layers_per_block", c.depths, count),
        ("add_attention_block", c.attends, len(c.encoder_widths)),
        ("temporal_expansions", c.in_time, count - 1),
        ("spatial_expansions", c.in_space, count - 1),
    ):
        if len(found) < most:
            raise ConfigError(Text("expected one entry for each of {stages} stages", stages=most), key=key, value=list(found))
    return count


MOCHI = (
    size("channels", "in_channels", 15, "N", "channels of the video and its waves"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    size("latent", "latent_channels", 12, "Z", "latent channels"),
    numbers("encoder_widths", "encoder_block_out_channels", (64, 128, 256, 384)),
    numbers("decoder_widths", "decoder_block_out_channels", (128, 256, 512, 768)),
    numbers("depths", "layers_per_block", (3, 3, 4, 6, 3), most=WRITTEN_OUT),
    numbers("in_time", "temporal_expansions", (1, 2, 3)),
    numbers("in_space", "spatial_expansions", (2, 2, 2)),
    entries("attends", "add_attention_block", [False, True, True, True, True], bool),
    computed("checked", _check_mochi),
)


# LTX-Video


def ltx_resnet(before: int, after: int, *, noisy: bool = False, timed: bool = False) -> tuple[Node, ...]:
    """Describe a residual block without norms' gains; noise has gains of its own, and a time four vectors."""
    gains = tuple(Tensor(f"per_channel_scale{index}", (before, 1, 1), "gain") for index in (1, 2)) if noisy else ()
    table = (Tensor("scale_shift_table", (4, before), "embedding"),) if timed else ()
    beside = (layer_norm("norm3", before), causal("conv_shortcut", before, after, POINT)) if before != after else ()
    return *gains, *table, causal("conv1", before, after), causal("conv2", after, after), *beside


def ltx_time(width: Size) -> Part:
    """Describe the embedding of the time."""
    return part("time_embedder", two_maps("timestep_embedder", 256, width), kind="embeddings")


FOLDS = {"spatial": 4, "temporal": 2, "spatiotemporal": 8}
PLAIN, LATER = "LTXVideoDownBlock3D", "LTXVideo095DownBlock3D"


def ltx_down(c: Config) -> tuple[list[tuple[Part, ...]], int]:
    """Describe the encoder's stages, and return with them the width that they end with."""
    widths, found, after = c.encoder_widths, [], c.encoder_widths[0]
    later = c.down[-1] == LATER
    count = len(widths) - later
    for stage in range(count):
        before, after = after, widths[stage + 1] if later or stage + 1 < count else widths[stage]
        kind, scaled = c.down[stage], c.encoder_scaled[stage]
        if kind not in (PLAIN, LATER):
            raise ConfigError(Text("{kind!r:.60} is not described", kind=kind), key="down_block_types", value=kind)
        parts: list[Part] = [resnets(*[ltx_resnet(before, before)] * c.encoder_depths[stage])]
        if scaled and kind == LATER and c.smaller[stage] in FOLDS:
            folded = part("conv", conv3d("conv", before, after // FOLDS[c.smaller[stage]], CUBE), kind="convolution")
            parts.append(part("downsamplers", part("0", folded, kind="convolution"), kind="convolutions"))
        elif scaled and (kind == PLAIN or c.smaller[stage] == "conv"):
            parts.append(part("downsamplers", causal("0", before, before), kind="convolutions"))
        if kind == PLAIN and before != after:
            parts.append(part("conv_out", *ltx_resnet(before, after), kind="layer"))
        found.append(tuple(parts))
    return found, after


def ltx_up(c: Config) -> tuple[list[tuple[Part, ...]], int]:
    """Describe the decoder's stages, and return with them the width that they end with."""
    widths, found, after = c.decoder_widths[::-1], [], c.decoder_widths[-1]
    scaled, noisy, factors = c.decoder_scaled[::-1], c.noisy[::-1], c.factors[::-1]
    depths = c.decoder_depths[::-1]
    for stage, width in enumerate(widths):
        before, after = after // factors[stage], width // factors[stage]
        block = {"noisy": noisy[stage + 1], "timed": c.timed}
        parts: list[Part] = [ltx_time(4 * before)] if c.timed else []
        if before != after:
            parts.append(part("conv_in", *ltx_resnet(before, after, **block), kind="layer"))
        if scaled[stage]:
            wide = after * factors[stage]
            inner = part("conv", conv3d("conv", wide, wide * 8 // factors[stage], CUBE), kind="convolution")
            parts.append(part("upsamplers", part("0", inner, kind="convolution"), kind="convolutions"))
        found.append((*parts, resnets(*[ltx_resnet(after, after, **block)] * depths[stage + 1])))
    return found, after


def ltx(c: Config) -> Part:
    """Describe AutoencoderKLLTXVideo."""
    square = c.patch * c.patch
    down, inner = ltx_down(c)
    up, outer = ltx_up(c)
    encoder = part(
        "encoder",
        causal("conv_in", c.channels * square, c.encoder_widths[0]),
        module_list("down_blocks", *down),
        part("mid_block", resnets(*[ltx_resnet(inner, inner)] * c.encoder_depths[-1]), kind="stage"),
        causal("conv_out", inner, c.latent + 1),
        kind="encoder",
    )
    width, noisy = c.decoder_widths[-1], c.noisy[-1]
    middle = resnets(*[ltx_resnet(width, width, noisy=noisy, timed=c.timed)] * c.decoder_depths[-1])
    own = (Tensor("timestep_scale_multiplier", (), "gain"), Tensor("scale_shift_table", (2, outer), "embedding")) if c.timed else ()
    decoder = part(
        "decoder",
        *own,
        causal("conv_in", c.latent, width),
        part("mid_block", *((ltx_time(4 * width),) if c.timed else ()), middle, kind="stage"),
        module_list("up_blocks", *up),
        causal("conv_out", outer, c.outputs * square),
        *((ltx_time(2 * outer),) if c.timed else ()),
        kind="decoder",
    )
    buffers = (Tensor(name, (c.latent,), "buffer") for name in ("latents_mean", "latents_std"))
    return part("", *buffers, encoder, decoder, kind="model", stream=PASS)


def _check_ltx(c: Config) -> int:
    """Refuse lists that are too short for the stages."""
    inner, outer = len(c.encoder_widths), len(c.decoder_widths)
    fewer = inner - (c.down[-1] == LATER)
    for key, found, least in (
        ("down_block_types", c.down, fewer),
        ("layers_per_block", c.encoder_depths, fewer),
        ("spatio_temporal_scaling", c.encoder_scaled, fewer),
        ("downsample_type", c.smaller, fewer),
        ("decoder_layers_per_block", c.decoder_depths, outer + 1),
        ("decoder_spatio_temporal_scaling", c.decoder_scaled, outer),
        ("decoder_inject_noise", c.noisy, outer + 1),
        ("upsample_factor", c.factors, outer),
    ):
        if len(found) < least:
            raise ConfigError(Text("expected one entry for each of {stages} stages", stages=least), key=key, value=list(found))
    return inner


LTX = (
    *image_and_latents(128),
    numbers("encoder_widths", "block_out_channels", (128, 256, 512, 512)),
    numbers("decoder_widths", "decoder_block_out_channels", (128, 256, 512, 512)),
    entries("down", "down_block_types", [PLAIN] * 4, str),
    numbers("encoder_depths", "layers_per_block", (4, 3, 3, 3, 4), minimum=0, most=WRITTEN_OUT),
    numbers("decoder_depths", "decoder_layers_per_block", (4, 3, 3, 3, 4), minimum=0, most=WRITTEN_OUT),
    entries("encoder_scaled", "spatio_temporal_scaling", [True, True, True, False], bool),
    entries("decoder_scaled", "decoder_spatio_temporal_scaling", [True, True, True, False], bool),
    entries("noisy", "decoder_inject_noise", [False] * 5, bool),
    entries("smaller", "downsample_type", ["conv"] * 4, str),
    numbers("factors", "upsample_factor", (1, 1, 1, 1)),
    switch("timed", "timestep_conditioning", False),
    size("patch", "patch_size", 4, "P", "patch size"),
    computed("checked", _check_ltx),
)

COG_KEYS = frozenset(
    """temporal_compression_ratio sample_height sample_width scaling_factor shift_factor latents_mean latents_std force_upcast
    invert_scale_latents""".split()
)
LTX_KEYS = frozenset(
    """upsample_residual patch_size_t resnet_norm_eps scaling_factor encoder_causal decoder_causal spatial_compression_ratio
    temporal_compression_ratio latents_mean latents_std""".split()
)
FAMILIES = {
    "diffusers_cogvideox_vae": diffusers_family("diffusers_cogvideox_vae", COGVIDEOX, "AutoencoderKLCogVideoX", cogvideox, COG_KEYS),
    "diffusers_hunyuan_video_vae": diffusers_family(
        "diffusers_hunyuan_video_vae", HUNYUAN, "AutoencoderKLHunyuanVideo", hunyuan_video, frozenset(("scaling_factor",))
    ),
    "diffusers_mochi_vae": diffusers_family(
        "diffusers_mochi_vae", MOCHI, "AutoencoderKLMochi", mochi, frozenset("latents_mean latents_std scaling_factor".split())
    ),
    "diffusers_ltx_vae": diffusers_family("diffusers_ltx_vae", LTX, "AutoencoderKLLTXVideo", ltx, LTX_KEYS),
}
