"""diffusers: transformers of images that are modulated by one vector of the time, and read the text by cross-attention or beside the image.

Source: diffusers 0.42.1, models/transformers/{pixart_transformer_2d,sana_transformer,transformer_qwenimage,transformer_flux2,
auraflow_transformer_2d}.py, models/{attention,embeddings,normalization}.py. As in ``diffusers.py``, what has tensors is described, and the
arithmetic is refused. Those of videos stand in ``diffusers_video.py``.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.blueprints.packages.diffusers import (
    HEAD_DIM,
    HEADS,
    PASS,
    WIDTH,
    diffusers_family,
    feed_forward,
    modulation,
    to_out,
    two_maps,
)
from weighbridge.config.fields import Config, Field, choice, computed, optional, size, switch
from weighbridge.core.parts import attend, conv2d, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, exact, round_up
from weighbridge.core.tree import Node, Part, Tensor

LAYERS = size("layers", "num_layers", 28, "L", "layers")
OUTPUTS = size("outputs", "out_channels", lambda c: c.channels, "O", "output channels", null=lambda c: c.channels)
ATTENTION_BIAS = switch("qkv_bias", "attention_bias", True, report_default=False)
AFFINE = switch("affine", "norm_elementwise_affine", False, report_default=False)


def channels(default: int) -> Field:
    """Declare the channels of the latents."""
    return size("channels", "in_channels", default, "N", "latent channels")


def patch(default: int) -> Field:
    """Declare the side of a patch."""
    return size("patch", "patch_size", default, "P", "patch size")


def activation(*more: str) -> Field:
    """Declare the activation, of which a gated one has a map more."""
    read = one_of("activation_fn", "gelu", "gelu-approximate", *more)
    return choice("activation", "activation_fn", "gelu-approximate", read=read, report_default=False)


def table(rows: Size, width: Size) -> Tensor:
    """Describe the learned scales, shifts and gates to which a layer adds those of the time."""
    return Tensor("scale_shift_table", (rows, width), "embedding")


def attention(
    name: str, width: Size, inner: Size, source: Size, *, bias: bool, before: tuple[Node, ...] = (), heads: Size, head_dim: Size
) -> Part:
    """Describe attention of *width* to a *source*, with what stands *before* its maps."""
    maps = linear("to_q", width, inner, bias=bias), *(linear(name, source, inner, bias=bias) for name in ("to_k", "to_v"))
    kind = "self_attention" if source is width else "cross_attention"
    return part(name, *before, *maps, to_out(inner, width), attend(heads=heads, head_dim=head_dim), kind=kind)


def time_embedding(name: str, width: Size, *more: Part) -> Part:
    """Describe the embedding of the time, and the map of it to six vectors that all layers share."""
    inner = part("emb", two_maps("timestep_embedder", 256, width), *more, kind="embeddings")
    return part(name, inner, linear("linear", width, 6 * width), kind="adaptive_norm")


PIXART = (
    HEADS.with_default(16),
    HEAD_DIM.with_default(72),
    WIDTH,
    channels(4),
    OUTPUTS.with_default(8),
    LAYERS,
    size("cross", "cross_attention_dim", 1152, "C", "input width of the cross-attention"),
    ATTENTION_BIAS,
    choice("side", "sample_size", 128, report_default=False),
    replace(choice("additional", "use_additional_conditions", None, report_default=False), nullable=True),
    computed("conditioned", lambda c: c.side == 128 if c.additional is None else bool(c.additional)),
    patch(2),
    activation("geglu"),
    read_none("norm_type", "ada_norm_single"),
    read_none("norm_elementwise_affine"),
    optional("text", "caption_channels", None, "T", "width of the text states"),
)


def pixart(c: Config) -> Part:
    """Describe PixArtTransformer2DModel (PixArt-alpha and -sigma, arXiv 2310.00426): all layers share one map of the time."""
    H = c.hidden
    own, text = (
        attention(name, H, H, source, bias=c.qkv_bias, heads=c.heads, head_dim=c.head_dim)
        for name, source in (("attn1", H), ("attn2", c.cross))
    )
    layer = part(
        "transformer_blocks", table(6, H), own, text, feed_forward("ff", H, gated=c.activation == "geglu"), kind="layer", repeat=c.layers
    )
    more = tuple(two_maps(name, 256, exact(H, 3)) for name in ("resolution_embedder", "aspect_ratio_embedder")) if c.conditioned else ()
    return part(
        "",
        table(2, H),
        part("pos_embed", conv2d("proj", c.channels, H, c.patch), kind="embeddings"),
        layer,
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        time_embedding("adaln_single", H, *more),
        *(() if c.text is None else (two_maps("caption_projection", c.text, H),)),
        kind="model",
        stream=PASS,
    )


SANA = (
    channels(32),
    OUTPUTS.with_default(32),
    HEADS.with_default(70),
    HEAD_DIM.with_default(32),
    WIDTH,
    LAYERS.with_default(20),
    size("cross_heads", "num_cross_attention_heads", 20, "B", "cross-attention heads"),
    size("cross_head_dim", "cross_attention_head_dim", 112, "E", "head dimension in cross-attention"),
    size("cross", "cross_attention_dim", 2240, "C", "input width of the cross-attention"),
    size("text", "caption_channels", 2304, "T", "width of the text states"),
    ratio("ratio", "mlp_ratio", 2.5),
    ATTENTION_BIAS.with_default(False),
    patch(1),
    read_none("norm_elementwise_affine"),
    read_none("guidance_embeds"),
    read_none("qk_norm"),
)


def sana(c: Config) -> Part:
    """Describe SanaTransformer2DModel (arXiv 2410.10629): linear attention, and convolutions in the feed-forward networks."""
    H = c.hidden
    inner = scale_width(H, c.ratio)
    own = attention("attn1", H, H, H, bias=c.qkv_bias, heads=c.heads, head_dim=c.head_dim)
    text = attention("attn2", H, c.cross_heads * c.cross_head_dim, c.cross, bias=True, heads=c.cross_heads, head_dim=c.cross_head_dim)
    convolutions = part(
        "ff",
        conv2d("conv_inverted", H, 2 * inner, 1),
        conv2d("conv_depth", 2 * inner, 2 * inner, 3, groups=2 * inner),
        conv2d("conv_point", inner, H, 1, bias=False),
        kind="feed_forward",
    )
    return part(
        "",
        table(2, H),
        part("patch_embed", conv2d("proj", c.channels, H, c.patch), kind="embeddings"),
        time_embedding("time_embed", H),
        two_maps("caption_projection", c.text, H),
        rms_norm("caption_norm", H),
        part("transformer_blocks", table(6, H), own, text, convolutions, kind="layer", repeat=c.layers),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


QWEN_IMAGE = (
    patch(2),
    channels(64),
    OUTPUTS.with_default(16),
    LAYERS.with_default(60),
    HEAD_DIM,
    HEADS,
    WIDTH,
    size("text", "joint_attention_dim", 3584, "T", "width of the text states"),
    switch("additional", "use_additional_t_cond", False, report_default=False),
)


def joint_maps(width: Size, *, bias: bool) -> tuple[Part, ...]:
    """Describe the maps of queries, keys and values of the other sequence."""
    return tuple(linear(name, width, width, bias=bias) for name in ("add_k_proj", "add_v_proj", "add_q_proj"))


def qwen_image_layers(c: Config) -> Part:
    """Describe layers in which image and text have weights of their own."""
    H, D = c.hidden, c.head_dim
    maps = *(linear(name, H, H) for name in ("to_q", "to_k", "to_v")), *joint_maps(H, bias=True), to_out(H, H), linear("to_add_out", H, H)
    norms = rms_norm("norm_added_q", D), rms_norm("norm_added_k", D)
    attn = part(
        "attn", rms_norm("norm_q", D), rms_norm("norm_k", D), *maps, *norms, attend(heads=c.heads, head_dim=D), kind="self_attention"
    )

    def modulation_of(name: str) -> Part:
        return part(name, linear("1", H, 6 * H), kind="adaptive_norm")

    return part(
        "transformer_blocks",
        modulation_of("img_mod"),
        attn,
        feed_forward("img_mlp", H),
        modulation_of("txt_mod"),
        feed_forward("txt_mlp", H),
        kind="layer",
        repeat=c.layers,
    )


def qwen_image(c: Config) -> Part:
    """Describe QwenImageTransformer2DModel (arXiv 2508.02324)."""
    H = c.hidden
    more = (part("addition_t_embedding", Tensor("weight", (2, H), "embedding"), kind="embeddings"),) if c.additional else ()
    return part(
        "",
        part("time_text_embed", two_maps("timestep_embedder", 256, H), *more, kind="embeddings"),
        rms_norm("txt_norm", c.text),
        linear("img_in", c.channels, H),
        linear("txt_in", c.text, H),
        qwen_image_layers(c),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


FLUX2 = (
    patch(1),
    channels(128),
    OUTPUTS,
    LAYERS.with_default(8),
    size("single_layers", "num_single_layers", 48, "M", "single-stream layers"),
    HEAD_DIM,
    HEADS.with_default(48),
    WIDTH,
    size("text", "joint_attention_dim", 15360, "T", "width of the text states"),
    size("time", "timestep_guidance_channels", 256, "E", "width of the time embedding"),
    ratio("ratio", "mlp_ratio", 3.0),
    switch("guided", "guidance_embeds", True, report_default=False),
)


def linear_without_bias(name: str, inputs: Size, outputs: Size) -> Part:
    """Describe a map without bias in a part of its own."""
    return part(name, linear("linear", inputs, outputs, bias=False), kind="adaptive_norm")


def flux2(c: Config) -> Part:
    """Describe Flux2Transformer2DModel: no biases, and one modulation for all layers of a kind."""
    H, D, inner = c.hidden, c.head_dim, scale_width(c.hidden, c.ratio)

    def maps(*names: str) -> tuple[Part, ...]:
        return tuple(linear(name, H, H, bias=False) for name in names)

    def gated_mlp(name: str) -> Part:
        return part(name, linear("linear_in", H, 2 * inner, bias=False), linear("linear_out", inner, H, bias=False), kind="feed_forward")

    def embedder(name: str) -> Part:
        return part(name, linear("linear_1", c.time, H, bias=False), linear("linear_2", H, H, bias=False), kind="embeddings")

    norms = rms_norm("norm_q", D), rms_norm("norm_k", D)
    added = rms_norm("norm_added_q", D), rms_norm("norm_added_k", D), *maps("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out")
    own = part("to_out", linear("0", H, H, bias=False), kind="output")
    attends = attend(heads=c.heads, head_dim=D)
    double = part("attn", *maps("to_q", "to_k", "to_v"), *norms, own, *added, attends, kind="self_attention")
    fused = linear("to_qkv_mlp_proj", H, 3 * H + 2 * inner, bias=False)
    single = part("attn", fused, *norms, linear("to_out", H + inner, H, bias=False), attends, kind="self_attention")
    embedders = ("timestep_embedder", "guidance_embedder")[: 2 if c.guided else 1]
    return part(
        "",
        part("time_guidance_embed", *(embedder(name) for name in embedders), kind="embeddings"),
        linear_without_bias("double_stream_modulation_img", H, 6 * H),
        linear_without_bias("double_stream_modulation_txt", H, 6 * H),
        linear_without_bias("single_stream_modulation", H, 3 * H),
        linear("x_embedder", c.channels, H, bias=False),
        linear("context_embedder", c.text, H, bias=False),
        part("transformer_blocks", double, gated_mlp("ff"), gated_mlp("ff_context"), kind="layer", repeat=c.layers),
        part("single_transformer_blocks", single, kind="layer", repeat=c.single_layers),
        linear_without_bias("norm_out", H, 2 * H),
        linear("proj_out", H, c.patch * c.patch * c.outputs, bias=False),
        kind="model",
        stream=PASS,
    )


AURAFLOW = (
    patch(2),
    channels(4),
    size("layers", "num_mmdit_layers", 4, "L", "double-stream layers"),
    size("single_layers", "num_single_dit_layers", 32, "M", "single-stream layers"),
    HEAD_DIM.with_default(256),
    HEADS.with_default(12),
    WIDTH,
    size("text", "joint_attention_dim", 2048, "T", "width of the text states"),
    size("caption", "caption_projection_dim", 3072, "C", "width of the projected text"),
    OUTPUTS.with_default(4),
    size("places", "pos_embed_max_size", 1024, "S", "positions"),
)


def auraflow(c: Config) -> Part:
    """Describe AuraFlowTransformer2DModel: layers of two streams, then of one; positions and eight register tokens are learned."""
    H = c.hidden
    inner = round_up(8 * H // 3, 256)

    def gated_mlp(name: str) -> Part:
        maps = (
            linear("linear_1", H, inner, bias=False),
            linear("linear_2", H, inner, bias=False),
            linear("out_projection", inner, H, bias=False),
        )
        return part(name, *maps, kind="feed_forward")

    def attn(*, joint: bool) -> Part:
        own = tuple(linear(name, H, H, bias=False) for name in ("to_q", "to_k", "to_v"))
        out = part("to_out", linear("0", H, H, bias=False), kind="output")
        maps = (*own, *joint_maps(H, bias=False), out, linear("to_add_out", H, H, bias=False)) if joint else (*own, out)
        return part("attn", *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")

    norms = linear_without_bias("norm1", H, 6 * H), linear_without_bias("norm1_context", H, 6 * H)
    places = Tensor("pos_embed", (1, c.places, H), "embedding"), linear("proj", c.channels * c.patch * c.patch, H)
    return part(
        "",
        Tensor("register_tokens", (1, 8, H), "embedding"),
        part("pos_embed", *places, kind="embeddings"),
        linear("context_embedder", c.text, c.caption, bias=False),
        two_maps("time_step_proj", 256, H),
        part("joint_transformer_blocks", *norms, attn(joint=True), gated_mlp("ff"), gated_mlp("ff_context"), kind="layer", repeat=c.layers),
        part("single_transformer_blocks", replace(norms[0]), attn(joint=False), gated_mlp("ff"), kind="layer", repeat=c.single_layers),
        linear_without_bias("norm_out", H, 2 * H),
        linear("proj_out", H, c.patch * c.patch * c.outputs, bias=False),
        kind="model",
        stream=PASS,
    )


PIXART_KEYS = frozenset("interpolation_scale num_embeds_ada_norm upcast_attention attention_type".split())
SANA_KEYS = frozenset("interpolation_scale guidance_embeds_scale timestep_scale".split())
QWEN_IMAGE_KEYS = frozenset("axes_dims_rope guidance_embeds zero_cond_t use_layer3d_rope pooled_projection_dim".split())

FAMILIES = {
    "diffusers_pixart": diffusers_family("diffusers_pixart", PIXART, "PixArtTransformer2DModel", pixart, PIXART_KEYS),
    "diffusers_sana": diffusers_family("diffusers_sana", SANA, "SanaTransformer2DModel", sana, SANA_KEYS),
    "diffusers_qwen_image": diffusers_family(
        "diffusers_qwen_image", QWEN_IMAGE, "QwenImageTransformer2DModel", qwen_image, QWEN_IMAGE_KEYS
    ),
    "diffusers_flux2": diffusers_family(
        "diffusers_flux2", FLUX2, "Flux2Transformer2DModel", flux2, frozenset("axes_dims_rope rope_theta eps".split())
    ),
    "diffusers_auraflow": diffusers_family("diffusers_auraflow", AURAFLOW, "AuraFlowTransformer2DModel", auraflow),
}
