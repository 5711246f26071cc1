"""diffusers: Tencent's transformers, Hunyuan-DiT (of images) and HunyuanVideo.

Source: arXiv 2405.08748 and 2412.03603; diffusers 0.42.1, models/transformers/{hunyuan_transformer_2d,transformer_hunyuan_video}.py,
models/embeddings.py. As in ``diffusers.py``, what has tensors is described, and the arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import conv3d
from weighbridge.blueprints.modules.stage_fields import number, ratio, scale_width
from weighbridge.blueprints.packages.diffusers import (
    HEAD_DIM,
    HEADS,
    PASS,
    WIDTH,
    diffusers_family,
    feed_forward,
    kind_or_none,
    modulation,
    qk_norms,
    to_out,
    two_maps,
)
from weighbridge.blueprints.packages.diffusers_transformers import LAYERS, OUTPUTS, channels
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

VIDEO = (
    channels(16),
    OUTPUTS.with_default(16),
    HEADS,
    HEAD_DIM,
    WIDTH,
    LAYERS.with_default(20),
    size("single_layers", "num_single_layers", 40, "M", "single-stream layers", minimum=0),
    size("refiners", "num_refiner_layers", 2, "R", "layers of the text's refiner", minimum=0),
    ratio("ratio", "mlp_ratio", 4.0),
    number("patch", "patch_size", 2),
    number("frames_of_patch", "patch_size_t", 1),
    replace(kind_or_none("normed", "qk_norm", "rms_norm", "layer_norm"), default="rms_norm"),
    switch("guided", "guidance_embeds", True, report_default=False),
    size("text", "text_embed_dim", 4096, "T", "width of the text states"),
    size("pooled", "pooled_projection_dim", 768, "U", "width of the pooled text"),
)


def refined_text(c: Config) -> Part:
    """Describe what refines the text: the mean of its states and the time decide how much of each layer is added."""
    H = c.hidden
    attn = part("attn", *(linear(f"to_{letter}", H, H) for letter in "qkv"), to_out(H, H), attend(heads=c.heads, head_dim=c.head_dim))
    block = part(
        "refiner_blocks",
        layer_norm("norm1", H),
        replace(attn, kind="self_attention"),
        layer_norm("norm2", H),
        feed_forward("ff", H),
        modulation("norm_out", H, 2),
        kind="layer",
        repeat=c.refiners,
    )
    embeddings = part("time_text_embed", two_maps("timestep_embedder", 256, H), two_maps("text_embedder", c.text, H), kind="embeddings")
    return part("context_embedder", embeddings, linear("proj_in", c.text, H), part("token_refiner", block), kind="encoder")


def joint_attention(c: Config, *, joint: bool) -> Part:
    """Describe attention of a video's tokens, which in double-stream layers is *joint* with those of the text."""
    H, D = c.hidden, c.head_dim
    maps: tuple[Node, ...] = tuple(linear(f"to_{letter}", H, H) for letter in "qkv")
    if joint:
        added = (linear(f"add_{letter}_proj", H, H) for letter in "kvq")
        maps = *maps, *added, to_out(H, H), linear("to_add_out", H, H), *qk_norms(c.normed, D, "norm_added_q", "norm_added_k")
    return part("attn", *qk_norms(c.normed, D, "norm_q", "norm_k"), *maps, attend(heads=c.heads, head_dim=D), kind="self_attention")


def hunyuan_video(c: Config) -> Part:
    """Describe HunyuanVideoTransformer3DModel: layers in which video and text have weights of their own, then layers for both."""
    H = c.hidden
    inner = scale_width(H, c.ratio)
    double = part(
        "transformer_blocks",
        *(modulation(name, H, 6) for name in ("norm1", "norm1_context")),
        joint_attention(c, joint=True),
        *(feed_forward(name, H, inner=inner) for name in ("ff", "ff_context")),
        kind="layer",
        repeat=c.layers,
    )
    single = part(
        "single_transformer_blocks",
        joint_attention(c, joint=False),
        modulation("norm", H, 3),
        linear("proj_mlp", H, inner),
        linear("proj_out", H + inner, H),
        kind="layer",
        repeat=c.single_layers,
    )
    guidance = (two_maps("guidance_embedder", 256, H),) if c.guided else ()
    conditions = two_maps("timestep_embedder", 256, H), two_maps("text_embedder", c.pooled, H), *guidance
    return part(
        "",
        part("x_embedder", conv3d("proj", c.channels, H, (c.frames_of_patch, c.patch, c.patch)), kind="embeddings"),
        refined_text(c),
        part("time_text_embed", *conditions, kind="embeddings"),
        double,
        single,
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.frames_of_patch * c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


def _ratio(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1000:
        raise ConfigError(Text("expected a positive number, found {value!r:.60}", value=value), key="mlp_ratio", value=value)
    return value


DIT = (
    HEADS.with_default(16),
    HEAD_DIM.with_default(88),
    size("channels", "in_channels", None, "N", "latent channels"),
    size("patch", "patch_size", None, "P", "patch size"),
    size("width", "hidden_size", 1152, "W", "width of the embeddings"),
    number("layers", "num_layers", 28),
    choice("ratio", "mlp_ratio", 4.0, read=_ratio, report_default=False),
    switch("variance", "learn_sigma", True, report_default=False),
    size("text", "cross_attention_dim", 1024, "C", "input width of the cross-attention"),
    size("other_text", "cross_attention_dim_t5", 2048, "T", "width of T5's states"),
    size("pooled", "pooled_projection_dim", 1024, "U", "width of the pooled text"),
    size("text_length", "text_len", 77, "S", "text positions"),
    size("other_length", "text_len_t5", 256, "Q", "positions of T5's text"),
    switch("styled", "use_style_cond_and_image_meta_size", True, report_default=False),
    WIDTH,
    computed("mlp", lambda c: int(c.hidden * c.ratio)),
)


def conditions(c: Config) -> Part:
    """Describe the embeddings of time, of T5's text, pooled by attention, and of style and size."""
    W, T = c.width, c.other_text
    places = Tensor("positional_embedding", (c.other_length + 1, T), "embedding")
    pooler = part("pooler", places, *(linear(f"{letter}_proj", T, T) for letter in "kqv"), linear("c_proj", T, c.pooled), kind="pooler")
    style = (embedding("style_embedder", 1, W),) if c.styled else ()
    inputs = 256 * 6 + W + c.pooled if c.styled else c.pooled
    extra = part("extra_embedder", linear("linear_1", inputs, 4 * W), linear("linear_2", 4 * W, W), kind="embeddings")
    return part("time_extra_emb", two_maps("timestep_embedder", 256, W), pooler, *style, extra, kind="embeddings")


def hunyuan_dit(c: Config) -> Part:
    """Describe HunyuanDiT2DModel: the second half of the layers takes in what the first half put out, the last first."""
    H, D, T = c.hidden, c.head_dim, c.other_text

    def attention(name: str, source: Size) -> Part:
        maps = linear("to_q", H, H), linear("to_k", source, H), linear("to_v", source, H), to_out(H, H)
        kind = "self_attention" if name == "attn1" else "cross_attention"
        return part(name, *qk_norms("layer_norm", D, "norm_q", "norm_k"), *maps, attend(heads=c.heads, head_dim=D), kind=kind)

    def layer(kind: str) -> tuple[Node, ...]:
        return (
            part("norm1", linear("linear", H, H), layer_norm("norm", H), kind="adaptive_norm"),
            attention("attn1", H),
            layer_norm("norm2", H),
            attention("attn2", c.text),
            layer_norm("norm3", H),
            feed_forward("ff", H, inner=c.mlp),
            *((layer_norm("skip_norm", 2 * H), linear("skip_linear", 2 * H, H)) if kind == "shortcut" else ()),
        )

    kinds = ["shortcut" if index > c.layers // 2 else "plain" for index in layer_range(c.layers)]
    outputs = c.channels * 2 if c.variance else c.channels
    return part(
        "",
        Tensor("text_embedding_padding", (c.text_length + c.other_length, c.text), "embedding"),
        part("text_embedder", linear("linear_1", T, 4 * T), linear("linear_2", 4 * T, c.text), kind="embeddings"),
        part("pos_embed", conv2d("proj", c.channels, c.width, c.patch), kind="embeddings"),
        conditions(c),
        *stack("blocks", kinds, c.layers, layer),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * outputs),
        kind="model",
        stream=PASS,
    )


VIDEO_KEYS = frozenset("image_condition_type rope_axes_dim rope_theta".split())
FAMILIES = {
    "diffusers_hunyuan_video": diffusers_family(
        "diffusers_hunyuan_video", VIDEO, "HunyuanVideoTransformer3DModel", hunyuan_video, VIDEO_KEYS
    ),
    "diffusers_hunyuan_dit": diffusers_family(
        "diffusers_hunyuan_dit", DIT, "HunyuanDiT2DModel", hunyuan_dit, frozenset(("activation_fn", "norm_type"))
    ),
}
