"""diffusers' convolutional networks: the U-Net that removes noise, and the autoencoder between images and latents (Rombach et al., 2022).

Source: arXiv 2112.10752; diffusers 0.42.1, models/autoencoders/{autoencoder_kl,vae}.py, models/unets/{unet_2d_condition,unet_2d_blocks}.py,
models/resnet.py, whose live classes the tests hold this to.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, feed_forward, kind_or_none, to_out, two_maps
from weighbridge.config.fields import Config, Field, choice, optional, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any


def resnet(inputs: Size, outputs: Size, time: Size | None = None, *, scaled: bool = False, always: bool = False) -> tuple[Node, ...]:
    """Describe a residual block of two convolutions, with the time between them, and a convolution beside them where widths differ, or *always*.

    *scaled* is whether the time makes a scale and a shift, and not a shift alone.
    """
    projected = () if time is None else (linear("time_emb_proj", time, 2 * outputs if scaled else outputs),)
    beside = (conv2d("conv_shortcut", inputs, outputs, 1),) if always or (inputs is not outputs and inputs != outputs) else ()
    first, second = group_norm("norm1", inputs), group_norm("norm2", outputs)
    return first, conv2d("conv1", inputs, outputs, 3), *projected, second, conv2d("conv2", outputs, outputs, 3), *beside


def sampler(name: str, width: Size) -> Part:
    """Describe the convolution that halves or doubles a map."""
    return part(name, part("0", conv2d("conv", width, width, 3), kind="convolution"), kind="convolutions")


def resnets(*blocks: tuple[Node, ...]) -> Part:
    """Describe a list of residual blocks."""
    return module_list("resnets", *blocks, kind="layer")


def square_attention(width: int, head_dim: int | None = None, *, normed: bool = True) -> tuple[Node, ...]:
    """Describe attention between all places of a map, *normed* before it: of one head, or of as many as there is room for."""
    heads = 1 if head_dim is None else width // head_dim
    if head_dim is None:
        head_dim = width
    if not heads:
        raise ConfigError(
            Text("a head of {head_dim} is wider than a map of {width} channels", head_dim=head_dim, width=width), key="attention_head_dim"
        )
    inner = heads * head_dim
    maps = (linear(name, width, inner) for name in ("to_q", "to_k", "to_v"))
    before = (group_norm("group_norm", width),) if normed else ()
    return *before, *maps, to_out(inner, width), attend(heads=heads, head_dim=head_dim)


VAE = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    choice("down", "down_block_types", ["DownEncoderBlock2D"], report_default=False),
    choice("up", "up_block_types", ["UpDecoderBlock2D"], report_default=False),
    numbers("widths", "block_out_channels", (64,)),
    number("depth", "layers_per_block", 1, most=WRITTEN_OUT),
    size("latent", "latent_channels", 4, "Z", "latent channels"),
    switch("quant", "use_quant_conv", True, report_default=False),
    switch("post_quant", "use_post_quant_conv", True, report_default=False),
    switch("attends", "mid_block_add_attention", True, report_default=False),
)


def same_blocks(key: str, stated: Any, kind: str, count: int) -> None:
    """Refuse a list of blocks that is not *count* times the *kind*."""
    if not isinstance(stated, (list, tuple)) or len(stated) != count or any(entry != kind for entry in stated):
        raise ConfigError(
            Text("expected {count} times {kind}, found {value!r:.80}", count=count, kind=kind, value=stated), key=key, value=stated
        )


def middle(width: int, *, attends: bool) -> Part:
    """Describe two residual blocks with attention between them."""
    inner = (module_list("attentions", square_attention(width), kind="self_attention"),) if attends else ()
    return part("mid_block", *inner, resnets(resnet(width, width), resnet(width, width)), kind="stage")


def chain(inputs: Size, outputs: Size, depth: int) -> list[tuple[Node, ...]]:
    """Describe residual blocks one after the other, the first of which changes the width."""
    return [resnet(inputs if index == 0 else outputs, outputs) for index in range(depth)]


def encoder(c: Config, latents: int) -> Part:
    """Describe the encoder of an image to a map of so many *latents*."""
    widths, last = c.widths, len(c.widths) - 1
    same_blocks("down_block_types", c.down, "DownEncoderBlock2D", len(widths))
    down = []
    for index, width in enumerate(widths):
        before = widths[max(index - 1, 0)]
        down.append((resnets(*chain(before, width, c.depth)), *(() if index == last else (sampler("downsamplers", width),))))
    return part(
        "encoder",
        conv2d("conv_in", c.channels, widths[0], 3),
        module_list("down_blocks", *down),
        middle(widths[-1], attends=c.attends),
        group_norm("conv_norm_out", widths[-1]),
        conv2d("conv_out", widths[-1], latents, 3),
        kind="encoder",
    )


def decoder(c: Config) -> Part:
    """Describe the decoder of a map of latents to an image."""
    widths, last = c.widths, len(c.widths) - 1
    same_blocks("up_block_types", c.up, "UpDecoderBlock2D", len(widths))
    up, turned = [], widths[::-1]
    for index, width in enumerate(turned):
        before = turned[max(index - 1, 0)]
        up.append((resnets(*chain(before, width, c.depth + 1)), *(() if index == last else (sampler("upsamplers", width),))))
    return part(
        "decoder",
        conv2d("conv_in", c.latent, widths[-1], 3),
        module_list("up_blocks", *up),
        middle(widths[-1], attends=c.attends),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="decoder",
    )


def autoencoder(c: Config) -> Part:
    """Describe AutoencoderKL: an image to the mean and variance of its latents, and back."""
    quant = (conv2d("quant_conv", 2 * c.latent, 2 * c.latent, 1),) if c.quant else ()
    post = (conv2d("post_quant_conv", c.latent, c.latent, 1),) if c.post_quant else ()
    return part("", encoder(c, 2 * c.latent), decoder(c), *quant, *post, kind="model", stream=PASS)


def each_stage(word: str, key: str, default: int | list[Any], most: int | None = None) -> Field:
    """Declare one number for all stages, or a list with one for each; *most* bounds one whose parts are written out one by one."""

    def read(value: Any) -> Any:
        entries = value if isinstance(value, (list, tuple)) else (value,)
        if not entries or any(type(entry) is not int or entry < 1 for entry in entries):
            raise ConfigError(Text("expected whole numbers, found {value!r:.60}", value=value), key=key, value=value)
        if most is not None and max(entries) > most:
            raise ConfigError(Text("at most {most:,} are described", most=most), key=key, value=value)
        return value

    return choice(word, key, default, read=read, report_default=False)


def one_per_stage(stated: Any, key: str, count: int) -> Sequence[int]:
    """Return one number a stage."""
    if isinstance(stated, int):
        return (stated,) * count
    if len(stated) != count:
        raise ConfigError(Text("expected one entry for each of {stages} stages", stages=count), key=key, value=stated)
    return tuple(stated)


def named_kinds(key: str, stated: Any, kinds: Sequence[str], count: int) -> list[str]:
    """Return the kind of each stage.

    Raises:
        ConfigError: It is of none of the *kinds*, or there are not as many as stages.
    """
    if not isinstance(stated, (list, tuple)) or len(stated) != count or any(entry not in kinds for entry in stated):
        raise ConfigError(
            Text(
                "expected one of {kinds} for each of {count} stages, found {value!r:.80}",
                kinds=", ".join(kinds) if len(kinds) > 2 else " and ".join(kinds),
                count=count,
                value=stated,
            ),
            key=key,
            value=stated,
        )
    return list(stated)


def read_kinds(key: str, stated: Any, kinds: tuple[str, str], count: int) -> list[bool]:
    """Say of each stage whether it is of the second of two *kinds*, which attends."""
    return [entry == kinds[1] for entry in named_kinds(key, stated, kinds, count)]


DOWN, UP = ("DownBlock2D", "CrossAttnDownBlock2D"), ("UpBlock2D", "CrossAttnUpBlock2D")
UNET = (
    size("channels", "in_channels", 4, "N", "latent channels"),
    size("outputs", "out_channels", 4, "O", "output channels"),
    choice("down", "down_block_types", [DOWN[1], DOWN[1], DOWN[1], DOWN[0]], report_default=False),
    choice("up", "up_block_types", [UP[0], UP[1], UP[1], UP[1]], report_default=False),
    read_none("mid_block_type", "UNetMidBlock2DCrossAttn"),
    numbers("widths", "block_out_channels", (320, 640, 1280, 1280)),
    each_stage("depth", "layers_per_block", 2, WRITTEN_OUT),
    each_stage("text", "cross_attention_dim", 1280),
    each_stage("transformers", "transformer_layers_per_block", 1),
    each_stage("heads", "attention_head_dim", 8),
    switch("linear", "use_linear_projection", False, report_default=False),
    choice("kernel_in", "conv_in_kernel", 3, report_default=False),
    choice("kernel_out", "conv_out_kernel", 3, report_default=False),
    optional("time_condition", "time_cond_proj_dim", None, "K", "width of the time condition"),
    optional("classes", "num_class_embeds", None, "C", "classes"),
    kind_or_none("class_kind", "class_embed_type", "timestep", "projection"),
    kind_or_none("added", "addition_embed_type", "text_time"),
    optional("text_in", "encoder_hid_dim", None, "J", "width of the text encoder's states"),
    read_none("encoder_hid_dim_type", "text_proj"),
    optional("conditions", "projection_class_embeddings_input_dim", None, "Q", "width of further conditions"),
    *(read_none(key) for key in ("only_cross_attention", "dual_cross_attention", "cross_attention_norm", "class_embeddings_concat")),
    *(read_none(key) for key in ("time_embedding_dim", "reverse_transformer_layers_per_block", "mid_block_only_cross_attention")),
    read_none("resnet_time_scale_shift", "default"),
    read_none("time_embedding_type", "positional"),
    read_none("attention_type", "default"),
)


def text_layer(width: int, text: int, heads: int, *, crossing: bool = False) -> tuple[Node, ...]:
    """Describe a layer that attends to the map, or to the text there too (*crossing*), then to the text, and a gated feed-forward network."""

    def attention(name: str, keys: int) -> Part:
        maps = linear("to_q", width, width, bias=False), linear("to_k", keys, width, bias=False), linear("to_v", keys, width, bias=False)
        scores = attend(heads=heads, head_dim=width // heads)
        return part(
            name, *maps, to_out(width, width), scores, kind="self_attention" if name == "attn1" and not crossing else "cross_attention"
        )

    return (
        layer_norm("norm1", width),
        attention("attn1", text if crossing else width),
        layer_norm("norm2", width),
        attention("attn2", text),
        layer_norm("norm3", width),
        feed_forward("ff", width, gated=True),
    )


def transformer_sizes(c: Config, width: int, stage: int, heads_key: str) -> tuple[int, int, int]:
    """Return the width of the text that a stage's transformers see, their heads, and their layers."""
    count = len(c.widths)
    heads = one_per_stage(c.heads, heads_key, count)[stage]
    if width % heads:
        raise ConfigError(Text("{heads} heads do not divide a width of {width}", heads=heads, width=width), key=heads_key, value=heads)
    text = one_per_stage(c.text, "cross_attention_dim", count)[stage]
    return text, heads, one_per_stage(c.transformers, "transformer_layers_per_block", count)[stage]


def transformer(c: Config, width: int, stage: int, *, crossing: bool = False) -> tuple[Node, ...]:
    """Describe a transformer over the places of a map, between two maps of its channels."""
    text, heads, layers = transformer_sizes(c, width, stage, "attention_head_dim")
    inner = part("transformer_blocks", *text_layer(width, text, heads, crossing=crossing), kind="layer", repeat=layers)
    into, out = (linear(name, width, width) if c.linear else conv2d(name, width, width, 1) for name in ("proj_in", "proj_out"))
    return group_norm("norm", width), into, inner, out


def unet_stage(c: Config, stage: int, inputs: Sequence[int], width: int, *, attends: bool, time: int) -> tuple[Part, ...]:
    """Describe a stage: residual blocks of these *inputs*, each with a transformer behind it where it *attends*."""
    blocks = resnets(*(resnet(before, width, time) for before in inputs))
    if not attends:
        return (blocks,)
    return module_list("attentions", *(transformer(c, width, stage) for _ in inputs), kind="block"), blocks


def conditions(c: Config, time: int) -> tuple[Part, ...]:
    """Describe the embeddings of classes and of further conditions, if there are any."""
    found: list[Part] = []
    if c.class_kind is None and c.classes is not None:
        found.append(embedding("class_embedding", c.classes, time))
    elif c.class_kind is not None:
        found.append(two_maps("class_embedding", c.widths[0] if c.class_kind == "timestep" else required_conditions(c), time))
    if c.added is not None:
        found.append(two_maps("add_embedding", required_conditions(c), time))
    return tuple(found)


def required_conditions(c: Config) -> Size:
    """Return the width of further conditions, which must be stated."""
    if c.conditions is None:
        raise ConfigError("missing, and the class needs it", key="projection_class_embeddings_input_dim")
    return c.conditions


def attention_stages(c: Config) -> list[bool]:
    """Say of each stage on the way down whether it attends to the text."""
    return read_kinds("down_block_types", c.down, DOWN, len(c.widths))


def down_stages(c: Config, attends: Sequence[bool]) -> list[tuple[Part, ...]]:
    """Describe the stages on the way down."""
    widths, count, time = c.widths, len(c.widths), 4 * c.widths[0]
    depths, found, before = one_per_stage(c.depth, "layers_per_block", count), [], widths[0]
    for stage, width in enumerate(widths):
        inner = unet_stage(c, stage, (before, *(width,) * (depths[stage] - 1)), width, attends=attends[stage], time=time)
        found.append((*inner, *(() if stage == count - 1 else (sampler("downsamplers", width),))))
        before = width
    return found


def middle_with_text(c: Config) -> Part:
    """Describe the middle: two residual blocks, and a transformer that attends to the text between them."""
    width, time = c.widths[-1], 4 * c.widths[0]
    attentions = module_list("attentions", transformer(c, width, len(c.widths) - 1), kind="block")
    return part("mid_block", attentions, resnets(*(resnet(width, width, time) for _ in range(2))), kind="stage")


def time_embedding(c: Config, *condition: Part) -> Part:
    """Describe the embedding of the time, with a *condition* that is added to it before its second map."""
    width, time = c.widths[0], 4 * c.widths[0]
    return part("time_embedding", linear("linear_1", width, time), *condition, linear("linear_2", time, time), kind="embeddings")


def text_projection(c: Config) -> tuple[Part, ...]:
    """Describe the map of a text encoder's states to the width that is attended to, as Kolors has it."""
    if c.text_in is None:
        return ()
    if not isinstance(c.text, int):
        raise ConfigError("one width of the text for each stage is not described here", key="encoder_hid_dim", value=c.text_in)
    return (linear("encoder_hid_proj", c.text_in, c.text),)


VAE_KEYS = frozenset("force_upcast latents_mean latents_std scaling_factor shift_factor".split())
UNET_KEYS = frozenset(
    """addition_embed_type_num_heads addition_time_embed_dim center_input_sample downsample_padding flip_sin_to_cos
    freq_shift mid_block_scale_factor num_attention_heads resnet_out_scale_factor resnet_skip_time_act time_embedding_act_fn
    timestep_post_act upcast_attention""".split()
)


FAMILIES = {"diffusers_vae": diffusers_family("diffusers_vae", VAE, "AutoencoderKL", autoencoder, VAE_KEYS)}
