"""diffusers: the networks of latent diffusion, told apart by the class that their config names (``_class_name``).

Source: diffusers 0.42.1, models/autoencoders/{autoencoder_kl,vae}.py, models/unets/{unet_2d_condition,unet_2d_blocks}.py,
models/transformers/{dit_transformer_2d,transformer_2d,transformer_flux,transformer_sd3}.py, models/{attention,attention_processor,
embeddings,normalization,resnet}.py, whose live classes the tests hold this to. Only what has tensors is described: how many positions
a pass sees is no matter of the config, so that arithmetic is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, derived, optional, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PASS = unknown("how many positions a pass of a diffusion model sees is not in its config")
"""The stream of every model here."""
HEADS = size("heads", "num_attention_heads", 24, "A", "attention heads")
HEAD_DIM = size("head_dim", "attention_head_dim", 128, "D", "width of a head")
WIDTH = derived("hidden", lambda c: c.heads * c.head_dim, "num_attention_heads", "attention_head_dim")


def read_none(key: str, *usual: Any) -> Field:
    """Declare a key that makes other tensors than are described, unless it is as *usual*."""

    def read(value: Any) -> None:
        if value not in (None, False, *usual):
            raise ConfigError(Text("{value!r:.60} is not described", value=value), key=key, value=value)

    return Field(key, key, None, "choice", read=read, report_default=False)


def kind_or_none(word: str, key: str, *kinds: str) -> Field:
    """Declare a choice that may be null."""
    read = one_of(key, *kinds)
    return choice(word, key, None, read=lambda value: None if value is None else read(value), report_default=False)._replace(nullable=True)


def two_maps(name: str, inputs: Size, width: Size) -> Part:
    """Describe an embedding of a time or of a text: two maps with an activation between."""
    return part(name, linear("linear_1", inputs, width), linear("linear_2", width, width), kind="embeddings")


def modulation(name: str, width: Size, times: int) -> Part:
    """Describe an adaptive norm: a map of the condition to *times* vectors that scale, shift and gate; the norm itself has no tensors."""
    return part(name, linear("linear", width, times * width), kind="adaptive_norm")


def feed_forward(name: str, width: Size, *, gated: bool = False) -> Part:
    """Describe a feed-forward network four times as wide."""
    inner = 4 * width
    first = part("0", linear("proj", width, 2 * inner if gated else inner), kind="feed_forward")
    return part(name, part("net", first, linear("2", inner, width), kind="feed_forward"), kind="feed_forward")


def qk_norms(kind: str | None, head_dim: Size, *names: str) -> tuple[Part, ...]:
    """Describe the norms of queries and keys, if there are any."""
    if kind is None:
        return ()
    return tuple(rms_norm(name, head_dim) if kind == "rms_norm" else layer_norm(name, head_dim) for name in names)


def to_out(width: Size, outputs: Size) -> Part:
    """Describe the output map, the first of a list."""
    return part("to_out", linear("0", width, outputs), kind="output")


def flux_attention(c: Config, *, joint: bool) -> Part:
    """Describe attention of image tokens; *joint* with those of the text, which have maps of their own."""
    H, D = c.hidden, c.head_dim
    own = rms_norm("norm_q", D), rms_norm("norm_k", D), *(linear(name, H, H) for name in ("to_q", "to_k", "to_v"))
    added: tuple[Node, ...] = ()
    if joint:
        maps = (linear(name, H, H) for name in ("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out"))
        added = to_out(H, H), rms_norm("norm_added_q", D), rms_norm("norm_added_k", D), *maps
    return part("attn", *own, *added, attend(heads=c.heads, head_dim=D), kind="self_attention")


def time_and_text(c: Config, *, guided: bool) -> Part:
    """Describe the embedding of time, of the guidance where the model is distilled, and of the pooled text."""
    H = c.hidden
    guidance = (two_maps("guidance_embedder", 256, H),) if guided else ()
    text = two_maps("text_embedder", c.pooled, H)
    return part("time_text_embed", two_maps("timestep_embedder", 256, H), *guidance, text, kind="embeddings")


FLUX = (
    size("patch", "patch_size", 1, "P", "side of a patch", report_default=False),
    size("channels", "in_channels", 64, "N", "channels of a token"),
    size("outputs", "out_channels", lambda c: c.channels, "O", "channels that come out", null=lambda c: c.channels, report_default=False),
    size("layers", "num_layers", 19, "L", "layers of two streams"),
    size("single_layers", "num_single_layers", 38, "M", "layers of one stream"),
    HEAD_DIM,
    HEADS,
    WIDTH,
    size("text", "joint_attention_dim", 4096, "T", "width of the text"),
    size("pooled", "pooled_projection_dim", 768, "U", "width of the pooled text"),
    switch("guided", "guidance_embeds", False),
)


def flux(c: Config) -> Part:
    """Describe FluxTransformer2DModel: layers in which image and text have weights of their own, then layers for both."""
    H = c.hidden
    double = part(
        "transformer_blocks",
        modulation("norm1", H, 6),
        modulation("norm1_context", H, 6),
        flux_attention(c, joint=True),
        feed_forward("ff", H),
        feed_forward("ff_context", H),
        kind="layer",
        repeat=c.layers,
    )
    single = part(
        "single_transformer_blocks",
        modulation("norm", H, 3),
        linear("proj_mlp", H, 4 * H),
        linear("proj_out", 5 * H, H),
        flux_attention(c, joint=False),
        kind="layer",
        repeat=c.single_layers,
    )
    return part(
        "",
        time_and_text(c, guided=c.guided),
        linear("context_embedder", c.text, H),
        linear("x_embedder", c.channels, H),
        double,
        single,
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


def _sd3_kinds(c: Config) -> list[str]:
    """Return what every layer is: attending twice or once, and whether it is the last, which leaves the text as it is."""
    layers = layer_range(c.layers)
    twice = set(c.dual)
    return [("twice" if index in twice else "once") + (" last" if index == len(layers) - 1 else "") for index in layers]


def _indices(value: Any) -> tuple[int, ...]:
    found = () if value is None else value
    if not isinstance(found, (list, tuple)) or any(type(index) is not int or index < 0 for index in found):
        raise ConfigError(Text("expected a list of layers, found {value!r:.60}", value=value), key="dual_attention_layers", value=value)
    return tuple(found)


SD3 = (
    size("patch", "patch_size", 2, "P", "side of a patch"),
    size("channels", "in_channels", 16, "N", "channels of the latents"),
    size("layers", "num_layers", 18, "L", "layers"),
    HEAD_DIM._replace(default=64),
    HEADS._replace(default=18),
    WIDTH,
    size("text", "joint_attention_dim", 4096, "T", "width of the text"),
    size("caption", "caption_projection_dim", 1152, "C", "width of the projected text"),
    size("pooled", "pooled_projection_dim", 2048, "U", "width of the pooled text"),
    size("outputs", "out_channels", 16, "O", "channels that come out", null=lambda c: c.channels),
    size("places", "pos_embed_max_size", 96, "S", "side of the table of positions"),
    choice("dual", "dual_attention_layers", [], read=_indices, report_default=False),
    kind_or_none("qk_norm", "qk_norm", "rms_norm", "layer_norm"),
    computed("kinds", _sd3_kinds),
)


def sd3_attention(c: Config, name: str, *, joint: bool, last: bool) -> Part:
    """Describe attention of an MMDiT: *joint* with the text, which the *last* layer does not put out."""
    H, D = c.hidden, c.head_dim
    parts: list[Node] = [*qk_norms(c.qk_norm, D, "norm_q", "norm_k"), *(linear(name, H, H) for name in ("to_q", "to_k", "to_v"))]
    parts += [linear(name, H, H) for name in ("add_k_proj", "add_v_proj", "add_q_proj")] if joint else []
    parts.append(to_out(H, H))
    parts += [linear("to_add_out", H, H)] if joint and not last else []
    parts += qk_norms(c.qk_norm, D, "norm_added_q", "norm_added_k") if joint else ()
    return part(name, *parts, attend(heads=c.heads, head_dim=D), kind="self_attention")


def sd3(c: Config) -> Part:
    """Describe SD3Transformer2DModel: MMDiT, whose positions are a fixed table."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        twice, last = kind.startswith("twice"), kind.endswith("last")
        again = (sd3_attention(c, "attn2", joint=False, last=False),) if twice else ()
        return (
            modulation("norm1", H, 9 if twice else 6),
            modulation("norm1_context", H, 2 if last else 6),
            sd3_attention(c, "attn", joint=True, last=last),
            *again,
            feed_forward("ff", H),
            *(() if last else (feed_forward("ff_context", H),)),
        )

    places = part("pos_embed", Tensor("pos_embed", (1, c.places * c.places, H), "buffer"), conv2d("proj", c.channels, H, c.patch))
    return part(
        "",
        places,
        time_and_text(c, guided=False),
        linear("context_embedder", c.text, c.caption),
        *stack("transformer_blocks", c.kinds, c.layers, layer),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


DIT = (
    HEADS._replace(default=16),
    HEAD_DIM._replace(default=72),
    WIDTH,
    size("channels", "in_channels", 4, "N", "channels of the latents"),
    size("outputs", "out_channels", lambda c: c.channels, "O", "channels that come out", null=lambda c: c.channels, report_default=False),
    size("layers", "num_layers", 28, "L", "layers"),
    switch("qkv_bias", "attention_bias", True, report_default=False),
    size("patch", "patch_size", 2, "P", "side of a patch"),
    choice(
        "activation",
        "activation_fn",
        "gelu-approximate",
        read=one_of("activation_fn", "gelu", "gelu-approximate", "geglu"),
        report_default=False,
    ),
    size("classes", "num_embeds_ada_norm", 1000, "C", "classes of images"),
    read_none("norm_type", "ada_norm_zero"),
    switch("normed", "norm_elementwise_affine", False, report_default=False),
)


def dit(c: Config) -> Part:
    """Describe DiTTransformer2DModel: every layer has its own embedding of the time and of the class, one more for none."""
    H = c.hidden
    label = part("class_embedder", embedding("embedding_table", c.classes + 1, H), kind="embeddings")
    norm = part(
        "norm1",
        part("emb", two_maps("timestep_embedder", 256, H), label, kind="embeddings"),
        linear("linear", H, 6 * H),
        kind="adaptive_norm",
    )
    maps = (linear(name, H, H, bias=c.qkv_bias) for name in ("to_q", "to_k", "to_v"))
    attention = part("attn1", *maps, to_out(H, H), attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")
    last = (layer_norm("norm3", H),) if c.normed else ()
    layer = part(
        "transformer_blocks", norm, attention, *last, feed_forward("ff", H, gated=c.activation == "geglu"), kind="layer", repeat=c.layers
    )
    return part(
        "",
        part("pos_embed", conv2d("proj", c.channels, H, c.patch), kind="embeddings"),
        layer,
        linear("proj_out_1", H, 2 * H),
        linear("proj_out_2", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


def resnet(inputs: Size, outputs: Size, time: Size | None = None) -> tuple[Node, ...]:
    """Describe a residual block of two convolutions, with the time between them, and a convolution beside them where widths differ."""
    projected = () if time is None else (linear("time_emb_proj", time, outputs),)
    beside = (conv2d("conv_shortcut", inputs, outputs, 1),) if inputs is not outputs and inputs != outputs else ()
    first, second = group_norm("norm1", inputs), group_norm("norm2", outputs)
    return first, conv2d("conv1", inputs, outputs, 3), *projected, second, conv2d("conv2", outputs, outputs, 3), *beside


def sampler(name: str, width: Size) -> Part:
    """Describe the convolution that halves or doubles a map."""
    return part(name, part("0", conv2d("conv", width, width, 3), kind="convolution"), kind="convolutions")


def resnets(*blocks: tuple[Node, ...]) -> Part:
    """Describe a list of residual blocks."""
    return module_list("resnets", *blocks, kind="layer")


def square_attention(width: Size) -> tuple[Node, ...]:
    """Describe attention of one head between all places of a map."""
    maps = (linear(name, width, width) for name in ("to_q", "to_k", "to_v"))
    return group_norm("group_norm", width), *maps, to_out(width, width), attend(heads=1, head_dim=width)


VAE = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "channels that come out"),
    choice("down", "down_block_types", ["DownEncoderBlock2D"], report_default=False),
    choice("up", "up_block_types", ["UpDecoderBlock2D"], report_default=False),
    numbers("widths", "block_out_channels", (64,)),
    number("depth", "layers_per_block", 1),
    size("latent", "latent_channels", 4, "Z", "channels of the latents"),
    switch("quant", "use_quant_conv", True, report_default=False),
    switch("post_quant", "use_post_quant_conv", True, report_default=False),
    switch("attends", "mid_block_add_attention", True, report_default=False),
)


def _same_blocks(key: str, stated: Any, kind: str, count: int) -> None:
    if not isinstance(stated, (list, tuple)) or len(stated) != count or any(entry != kind for entry in stated):
        raise ConfigError(
            Text("expected {count} times {kind}, found {value!r:.80}", count=count, kind=kind, value=stated), key=key, value=stated
        )


def middle(width: Size, *, attends: bool) -> Part:
    """Describe two residual blocks with attention between them."""
    inner = (module_list("attentions", square_attention(width), kind="self_attention"),) if attends else ()
    return part("mid_block", *inner, resnets(resnet(width, width), resnet(width, width)), kind="stage")


def chain(inputs: Size, outputs: Size, depth: int) -> list[tuple[Node, ...]]:
    """Describe residual blocks one behind the other, the first of which changes the width."""
    return [resnet(inputs if index == 0 else outputs, outputs) for index in range(depth)]


def autoencoder(c: Config) -> Part:
    """Describe AutoencoderKL: an image to the mean and variance of its latents, and back."""
    widths, depth = c.widths, c.depth
    _same_blocks("down_block_types", c.down, "DownEncoderBlock2D", len(widths))
    _same_blocks("up_block_types", c.up, "UpDecoderBlock2D", len(widths))
    down, up, last = [], [], len(widths) - 1
    for index, width in enumerate(widths):
        before = widths[max(index - 1, 0)]
        down.append((resnets(*chain(before, width, depth)), *(() if index == last else (sampler("downsamplers", width),))))
    turned = widths[::-1]
    for index, width in enumerate(turned):
        before = turned[max(index - 1, 0)]
        up.append((resnets(*chain(before, width, depth + 1)), *(() if index == last else (sampler("upsamplers", width),))))
    encoder = part(
        "encoder",
        conv2d("conv_in", c.channels, widths[0], 3),
        module_list("down_blocks", *down),
        middle(widths[-1], attends=c.attends),
        group_norm("conv_norm_out", widths[-1]),
        conv2d("conv_out", widths[-1], 2 * c.latent, 3),
        kind="encoder",
    )
    decoder = part(
        "decoder",
        conv2d("conv_in", c.latent, widths[-1], 3),
        module_list("up_blocks", *up),
        middle(widths[-1], attends=c.attends),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="decoder",
    )
    quant = (conv2d("quant_conv", 2 * c.latent, 2 * c.latent, 1),) if c.quant else ()
    post = (conv2d("post_quant_conv", c.latent, c.latent, 1),) if c.post_quant else ()
    return part("", encoder, decoder, *quant, *post, kind="model", stream=PASS)


def each_stage(word: str, key: str, default: int) -> Field:
    """Declare one number for all stages, or a list with one for each."""

    def read(value: Any) -> Any:
        entries = value if isinstance(value, (list, tuple)) else (value,)
        if not entries or any(type(entry) is not int or entry < 1 for entry in entries):
            raise ConfigError(Text("expected whole numbers, found {value!r:.60}", value=value), key=key, value=value)
        return value

    return choice(word, key, default, read=read, report_default=False)


def one_per_stage(stated: Any, key: str, count: int) -> Sequence[int]:
    """Return one number a stage."""
    if isinstance(stated, int):
        return (stated,) * count
    if len(stated) != count:
        raise ConfigError(Text("expected one entry for each of {stages} stages", stages=count), key=key, value=stated)
    return tuple(stated)


DOWN, UP = ("DownBlock2D", "CrossAttnDownBlock2D"), ("UpBlock2D", "CrossAttnUpBlock2D")


def _attention_stages(key: str, stated: Any, kinds: tuple[str, str], count: int) -> list[bool]:
    if not isinstance(stated, (list, tuple)) or len(stated) != count or any(entry not in kinds for entry in stated):
        raise ConfigError(
            Text(
                "expected one of {kinds} for each of {count} stages, found {value!r:.80}",
                kinds=" and ".join(kinds),
                count=count,
                value=stated,
            ),
            key=key,
            value=stated,
        )
    return [entry == kinds[1] for entry in stated]


UNET = (
    size("channels", "in_channels", 4, "N", "channels of the latents"),
    size("outputs", "out_channels", 4, "O", "channels that come out"),
    choice("down", "down_block_types", [DOWN[1], DOWN[1], DOWN[1], DOWN[0]], report_default=False),
    choice("up", "up_block_types", [UP[0], UP[1], UP[1], UP[1]], report_default=False),
    read_none("mid_block_type", "UNetMidBlock2DCrossAttn"),
    numbers("widths", "block_out_channels", (320, 640, 1280, 1280)),
    each_stage("depth", "layers_per_block", 2),
    each_stage("text", "cross_attention_dim", 1280),
    each_stage("transformers", "transformer_layers_per_block", 1),
    each_stage("heads", "attention_head_dim", 8),
    switch("linear", "use_linear_projection", False, report_default=False),
    choice("kernel_in", "conv_in_kernel", 3, report_default=False),
    choice("kernel_out", "conv_out_kernel", 3, report_default=False),
    optional("time_condition", "time_cond_proj_dim", None, "K", "width of what the time is conditioned on"),
    optional("classes", "num_class_embeds", None, "C", "classes"),
    kind_or_none("class_kind", "class_embed_type", "timestep", "projection"),
    kind_or_none("added", "addition_embed_type", "text_time"),
    optional("conditions", "projection_class_embeddings_input_dim", None, "Q", "width of further conditions"),
    *(
        read_none(key)
        for key in ("encoder_hid_dim", "only_cross_attention", "dual_cross_attention", "cross_attention_norm", "class_embeddings_concat")
    ),
    *(read_none(key) for key in ("time_embedding_dim", "reverse_transformer_layers_per_block", "mid_block_only_cross_attention")),
    read_none("resnet_time_scale_shift", "default"),
    read_none("time_embedding_type", "positional"),
    read_none("attention_type", "default"),
)


def text_layer(width: int, text: int, heads: int) -> tuple[Node, ...]:
    """Describe a layer that attends to the map, then to the text, and a gated feed-forward network."""

    def attention(name: str, keys: int) -> Part:
        maps = linear("to_q", width, width, bias=False), linear("to_k", keys, width, bias=False), linear("to_v", keys, width, bias=False)
        scores = attend(heads=heads, head_dim=width // heads)
        return part(name, *maps, to_out(width, width), scores, kind="self_attention" if name == "attn1" else "cross_attention")

    return (
        layer_norm("norm1", width),
        attention("attn1", width),
        layer_norm("norm2", width),
        attention("attn2", text),
        layer_norm("norm3", width),
        feed_forward("ff", width, gated=True),
    )


def transformer(c: Config, width: int, stage: int) -> tuple[Node, ...]:
    """Describe a transformer over the places of a map, between two maps of its channels."""
    count = len(c.widths)
    text, heads = one_per_stage(c.text, "cross_attention_dim", count)[stage], one_per_stage(c.heads, "attention_head_dim", count)[stage]
    layers = one_per_stage(c.transformers, "transformer_layers_per_block", count)[stage]
    if width % heads:
        raise ConfigError(
            Text("{heads} heads do not divide a width of {width}", heads=heads, width=width), key="attention_head_dim", value=heads
        )
    inner = part("transformer_blocks", *text_layer(width, text, heads), kind="layer", repeat=layers)
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
        found.append(two_maps("class_embedding", c.widths[0] if c.class_kind == "timestep" else _required_conditions(c), time))
    if c.added is not None:
        found.append(two_maps("add_embedding", _required_conditions(c), time))
    return tuple(found)


def _required_conditions(c: Config) -> Size:
    if c.conditions is None:
        raise ConfigError("missing, and the class needs it", key="projection_class_embeddings_input_dim")
    return c.conditions


def unet(c: Config) -> Part:
    """Describe UNet2DConditionModel: stages down, a middle and stages up, each of which gets what the stage beside it put out."""
    widths, count = c.widths, len(c.widths)
    time, last, depths = 4 * widths[0], count - 1, one_per_stage(c.depth, "layers_per_block", count)
    down, up, before = [], [], widths[0]
    for stage, attends in enumerate(_attention_stages("down_block_types", c.down, DOWN, count)):
        width = widths[stage]
        inner = unet_stage(c, stage, (before, *(width,) * (depths[stage] - 1)), width, attends=attends, time=time)
        down.append((*inner, *(() if stage == last else (sampler("downsamplers", width),))))
        before = width
    middle_parts = module_list("attentions", transformer(c, widths[-1], last), kind="block")
    turned = widths[::-1]
    for index, attends in enumerate(_attention_stages("up_block_types", c.up, UP, count)):
        stage, width = last - index, turned[index]
        below, blocks = turned[min(index + 1, last)], depths[last - index] + 1
        inputs = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = unet_stage(c, stage, inputs, width, attends=attends, time=time)
        up.append((*inner, *(() if index == last else (sampler("upsamplers", width),))))
        before = width
    condition = () if c.time_condition is None else (linear("cond_proj", c.time_condition, widths[0], bias=False),)
    embed = part("time_embedding", linear("linear_1", widths[0], time), *condition, linear("linear_2", time, time), kind="embeddings")
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], c.kernel_in),
        embed,
        *conditions(c, time),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        part("mid_block", middle_parts, resnets(*(resnet(widths[-1], widths[-1], time) for _ in range(2))), kind="stage"),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, c.kernel_out),
        kind="model",
        stream=PASS,
    )


SHARED_KEYS = frozenset(
    "_class_name _diffusers_version _name_or_path architectures model_type sample_size dropout norm_num_groups norm_eps act_fn".split()
)
FLUX_KEYS = frozenset(("axes_dims_rope",))
DIT_KEYS = frozenset("dropout norm_eps upcast_attention".split())
VAE_KEYS = frozenset("force_upcast latents_mean latents_std scaling_factor shift_factor".split())
UNET_KEYS = frozenset(
    """addition_embed_type_num_heads addition_time_embed_dim center_input_sample downsample_padding encoder_hid_dim_type flip_sin_to_cos
    freq_shift mid_block_scale_factor num_attention_heads resnet_out_scale_factor resnet_skip_time_act time_embedding_act_fn
    timestep_post_act upcast_attention""".split()
)


def diffusers_family(model_type: str, fields: tuple[Field, ...], name: str, blueprint: Any, keys: frozenset[str] = frozenset()) -> Family:
    """Make the family of one of diffusers' classes."""
    return Family(model_type, fields, {f"diffusers.{name}": blueprint}, f"diffusers.{name}", SHARED_KEYS | keys)


FAMILIES = {
    "diffusers_flux": diffusers_family("diffusers_flux", FLUX, "FluxTransformer2DModel", flux, FLUX_KEYS),
    "diffusers_sd3": diffusers_family("diffusers_sd3", SD3, "SD3Transformer2DModel", sd3),
    "diffusers_dit": diffusers_family("diffusers_dit", DIT, "DiTTransformer2DModel", dit, DIT_KEYS),
    "diffusers_vae": diffusers_family("diffusers_vae", VAE, "AutoencoderKL", autoencoder, VAE_KEYS),
    "diffusers_unet": diffusers_family("diffusers_unet", UNET, "UNet2DConditionModel", unet, UNET_KEYS),
}
