"""diffusers: Stable Cascade and Würstchen, a U-Net of three kinds of blocks over very small latents, and the VQ-GAN behind it.

Source: arXiv 2306.00637; diffusers 0.42.1, models/unets/unet_stable_cascade.py and pipelines/deprecated/wuerstchen/modeling_paella_vq_model.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import conv_transpose2d, module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, to_out
from weighbridge.config.fields import Config, choice, computed, optional, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

RESIDUAL, TIME, ATTENTION = "SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock"


def residual_block(width: int, kernel: int, skipped: int = 0) -> tuple[Node, ...]:
    """Describe a depthwise convolution and a network on each place's channels, beside which *skipped* ones of the way down may stand."""
    wide = 4 * width
    norm = part("2", *(Tensor(name, (1, 1, 1, wide), role) for name, role in (("gamma", "gain"), ("beta", "shift"))), kind="response_norm")
    channelwise = part("channelwise", linear("0", width + skipped, wide), norm, linear("4", wide, width), kind="feed_forward")
    return conv2d("depthwise", width, width, kernel, groups=width), channelwise


def attention_block(width: int, heads: int, condition: Size) -> tuple[Node, ...]:
    """Describe attention to the condition, and to the map itself."""
    if heads < 1 or width < heads:
        raise ConfigError(Text("{width} channels for {heads} heads", width=width, heads=heads), key="num_attention_heads", value=heads)
    inner = width // heads * heads
    maps = (linear(name, width, inner) for name in ("to_q", "to_k", "to_v"))
    attention = part("attention", *maps, to_out(inner, width), attend(heads=heads, head_dim=width // heads), kind="cross_attention")
    return attention, part("kv_mapper", linear("1", condition, width), kind="projector")


def block(c: Config, kind: str, stage: int, skipped: int = 0) -> tuple[Node, ...]:
    """Describe a block of a stage."""
    width = c.widths[stage]
    if kind == RESIDUAL:
        return residual_block(width, c.kernel, skipped)
    if kind == ATTENTION:
        return attention_block(width, c.heads[stage], c.condition)
    return tuple(linear(name, c.time, 2 * width) for name in ("mapper", *(f"mapper_{word}" for word in c.conditions)))


def mappers(name: str, c: Config, repeats: tuple[int, ...], order: list[int]) -> Part:
    """Describe the maps between repetitions of a stage's blocks."""
    return module_list(
        name, *(tuple(conv2d(str(at), c.widths[stage], c.widths[stage], 1) for at in range(repeats[stage] - 1)) for stage in order)
    )


def scaler(before: int, after: int, *, switched: bool, up: bool) -> tuple[Node, ...]:
    """Describe what changes the size of the map: a convolution of four pixels, or one of a single pixel beside an interpolation."""
    if switched:
        return (part("1", part("blocks", conv2d("1" if up else "0", before, after, 1), kind="convolutions"), kind="convolutions"),)
    return (replace(conv_transpose2d("1", before, after, 2, 1), stream=PASS) if up else conv2d("1", before, after, 2),)


def condition_mapper(name: str, channels: Size | None, width: int) -> tuple[Part, ...]:
    """Describe two convolutions of one pixel on a map that conditions, if there is one."""
    return (
        () if channels is None else (part(name, conv2d("0", channels, 4 * width, 1), conv2d("2", 4 * width, width, 1), kind="projector"),)
    )


def cascade(c: Config) -> Part:
    """Describe StableCascadeUNet."""
    widths, count = c.widths, len(c.widths)
    stages, turned = list(range(count)), list(range(count))[::-1]
    down = [
        tuple(part(str(at), *block(c, kind, stage), kind="layer") for at, kind in enumerate(c.types[stage] * c.down[stage]))
        for stage in stages
    ]
    up = []
    for stage in turned:
        kinds = c.types[stage] * c.up[::-1][stage]
        skips = [widths[stage] if stage < count - 1 and at == 0 else 0 for at in range(len(kinds))]
        up.append(tuple(part(str(at), *block(c, kind, stage, skips[at]), kind="layer") for at, kind in enumerate(kinds)))
    switched = c.switched is not None
    smaller = [() if stage == 0 else scaler(widths[stage - 1], widths[stage], switched=switched, up=False) for stage in stages]
    larger = [() if stage == 0 else scaler(widths[stage], widths[stage - 1], switched=switched, up=True) for stage in turned]
    square = c.patch * c.patch
    return part(
        "",
        *condition_mapper("effnet_mapper", c.effnet, widths[0]),
        *condition_mapper("pixels_mapper", c.pixels, widths[0]),
        linear("clip_txt_pooled_mapper", c.pooled, c.condition * c.positions),
        *(() if c.text is None else (linear("clip_txt_mapper", c.text, c.condition),)),
        *(() if c.picture is None else (linear("clip_img_mapper", c.picture, c.condition * c.positions),)),
        part("embedding", conv2d("1", c.channels * square, widths[0], 1), kind="embeddings"),
        module_list("down_blocks", *down),
        module_list("down_downscalers", *smaller, kind="convolutions"),
        mappers("down_repeat_mappers", c, c.down_repeats, stages),
        module_list("up_blocks", *up),
        module_list("up_upscalers", *larger, kind="convolutions"),
        mappers("up_repeat_mappers", c, c.up_repeats[::-1], turned),
        part("clf", conv2d("1", widths[0], c.outputs * square, 1), kind="head"),
        kind="model",
        stream=PASS,
    )


def _types(value: Any) -> tuple[tuple[str, ...], ...]:
    known = (RESIDUAL, TIME, ATTENTION)
    if not isinstance(value, (list, tuple)) or any(not isinstance(row, (list, tuple)) or set(row) - set(known) for row in value):
        raise ConfigError(
            Text("expected lists of {known}, found {value!r:.60}", known=", ".join(known), value=value),
            key="block_types_per_layer",
            value=value,
        )
    return tuple(tuple(row) for row in value)


def _check_stages(c: Config) -> int:
    """Refuse lists that are not as long as there are stages."""
    count = len(c.widths)
    lists = {"down_num_layers_per_block": c.down, "up_num_layers_per_block": c.up, "down_blocks_repeat_mappers": c.down_repeats}
    for key, found in {**lists, "up_blocks_repeat_mappers": c.up_repeats, "block_types_per_layer": c.types}.items():
        if len(found) != count:
            raise ConfigError(Text("expected one entry for each of {stages} stages", stages=count), key=key, value=list(found))
    return count


CASCADE = (
    size("channels", "in_channels", 16, "N", "latent channels"),
    size("outputs", "out_channels", 16, "O", "output channels"),
    size("time", "timestep_ratio_embedding_dim", 64, "E", "width of the time embedding"),
    size("patch", "patch_size", 1, "P", "patch size"),
    size("condition", "conditioning_dim", 2048, "C", "width of the conditions"),
    numbers("widths", "block_out_channels", (2048, 2048)),
    numbers("heads", "num_attention_heads", (32, 32), minimum=-1),
    numbers("down", "down_num_layers_per_block", (8, 24), most=WRITTEN_OUT),
    numbers("up", "up_num_layers_per_block", (24, 8), most=WRITTEN_OUT),
    numbers("down_repeats", "down_blocks_repeat_mappers", (1, 1), most=WRITTEN_OUT),
    numbers("up_repeats", "up_blocks_repeat_mappers", (1, 1), most=WRITTEN_OUT),
    choice("types", "block_types_per_layer", [[RESIDUAL, TIME, ATTENTION]] * 2, read=_types),
    optional("text", "clip_text_in_channels", None, "T", "width of the text states", "clip_text_channels"),
    size("pooled", "clip_text_pooled_in_channels", 1280, "U", "width of the pooled text"),
    optional("picture", "clip_image_in_channels", None, "V", "width of the picture's vector"),
    size("positions", "clip_seq", 4, "S", "positions that a pooled vector becomes"),
    optional("effnet", "effnet_in_channels", None, "F", "channels of EfficientNet's map"),
    optional("pixels", "pixel_mapper_in_channels", None, "X", "channels of the map of pixels"),
    number("kernel", "kernel_size", 3),
    choice("conditions", "timestep_conditioning_type", ["sca", "crp"], read=lambda value: tuple(map(str, value))),
    choice("switched", "switch_level", None, report_default=False),
    computed("stages", _check_stages),
)

PAELLA = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    size("scale", "up_down_scale_factor", 2, "P", "side of the squares of pixels folded into channels"),
    number("levels", "levels", 2, most=16),
    number("deepest", "bottleneck_blocks", 12, minimum=0, most=WRITTEN_OUT),
    number("width", "embed_dim", 384),
    size("latent", "latent_channels", 4, "Z", "latent channels"),
    size("codes", "num_vq_embeddings", 8192, "K", "codes"),
)


def mixing_block(width: int) -> tuple[Node, ...]:
    """Describe a residual block whose six learned numbers scale and shift."""
    channelwise = part("channelwise", linear("0", width, 4 * width), linear("2", 4 * width, width), kind="feed_forward")
    depthwise = part("depthwise", conv2d("1", width, width, 3, groups=width), kind="convolutions")
    return Tensor("gammas", (6,), "gain"), depthwise, channelwise


def paella(c: Config) -> Part:
    """Describe PaellaVQModel."""
    widths = [c.width // 2**level for level in reversed(range(c.levels))]
    down: list[Part] = []
    for level, width in enumerate(widths):
        down += [] if not level else [conv2d(str(len(down)), widths[level - 1], width, 4)]
        down.append(part(str(len(down)), *mixing_block(width), kind="layer"))
    down.append(part(str(len(down)), conv2d("0", widths[-1], c.latent, 1, bias=False), batch_norm("1", c.latent), kind="convolution"))
    up = [part("0", conv2d("0", c.latent, widths[-1], 1), kind="convolution")]
    for level, width in enumerate(widths[::-1]):
        up += [part(str(len(up) + at), *mixing_block(width), kind="layer") for at in range(1 if level else c.deepest)]
        up += [] if level == c.levels - 1 else [replace(conv_transpose2d(str(len(up)), width, widths[::-1][level + 1], 4, 1), stream=PASS)]
    square = c.scale * c.scale
    return part(
        "",
        part("in_block", conv2d("1", c.channels * square, widths[0], 1), kind="embeddings"),
        part("down_blocks", *down, kind="encoder"),
        part("vquantizer", embedding("embedding", c.codes, c.latent), kind="embeddings"),
        part("up_blocks", *up, kind="decoder"),
        part("out_block", conv2d("0", widths[0], c.outputs * square, 1), kind="head"),
        kind="model",
        stream=PASS,
    )


FAMILIES = {
    "diffusers_stable_cascade": diffusers_family(
        "diffusers_stable_cascade", CASCADE, "StableCascadeUNet", cascade, frozenset(("dropout", "self_attn"))
    ),
    "diffusers_paella_vq": diffusers_family("diffusers_paella_vq", PAELLA, "PaellaVQModel", paella, frozenset(("scale_factor",))),
}
