"""diffusers: transformers of videos (CogVideoX, LTX, Wan), whose patches have a depth in time.

Source: diffusers 0.42.1, models/transformers/{cogvideox_transformer_3d,transformer_ltx,transformer_wan}.py. As in ``diffusers.py``,
what has tensors is described, and the arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import (
    HEAD_DIM,
    HEADS,
    PASS,
    WIDTH,
    diffusers_family,
    feed_forward,
    to_out,
    two_maps,
)
from weighbridge.blueprints.packages.diffusers_transformers import (
    AFFINE,
    ATTENTION_BIAS,
    LAYERS,
    OUTPUTS,
    activation,
    attention,
    channels,
    patch,
    table,
    time_embedding,
)
from weighbridge.config.fields import Config, optional, size, switch
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

COGVIDEOX = (
    HEADS.with_default(30),
    HEAD_DIM.with_default(64),
    WIDTH,
    channels(16),
    replace(OUTPUTS, default=16, null=None),
    size("time", "time_embed_dim", 512, "E", "width of the time embedding"),
    optional("offset", "ofs_embed_dim", None, "F", "width of the offset embedding"),
    size("text", "text_embed_dim", 4096, "T", "width of the text states"),
    LAYERS.with_default(30),
    ATTENTION_BIAS,
    patch(2),
    optional("frames_of_patch", "patch_size_t", None, "Q", "frames per patch"),
    activation("geglu"),
    AFFINE.with_default(True),
    switch("patch_bias", "patch_bias", True, report_default=False),
    read_none("use_learned_positional_embeddings"),
)


def cogvideox(c: Config) -> Part:
    """Describe CogVideoXTransformer3DModel (arXiv 2408.06072): text and video in one sequence, with norms of their own."""
    H = c.hidden

    def norm(name: str, times: int) -> Part:
        inner = (layer_norm("norm", H),) if c.affine else ()
        return part(name, linear("linear", c.time, times * H), *inner, kind="adaptive_norm")

    norms = layer_norm("norm_q", c.head_dim), layer_norm("norm_k", c.head_dim)
    own = attention("attn1", H, H, H, bias=c.qkv_bias, before=norms, heads=c.heads, head_dim=c.head_dim)
    gated = c.activation == "geglu"
    layer = part(
        "transformer_blocks", norm("norm1", 6), own, norm("norm2", 6), feed_forward("ff", H, gated=gated), kind="layer", repeat=c.layers
    )
    area = c.patch * c.patch
    if c.frames_of_patch is None:
        proj, outputs = conv2d("proj", c.channels, H, c.patch, bias=c.patch_bias), area * c.outputs
    else:
        proj, outputs = linear("proj", c.channels * area * c.frames_of_patch, H), area * c.frames_of_patch * c.outputs
    return part(
        "",
        part("patch_embed", proj, linear("text_proj", c.text, H), kind="embeddings"),
        part("time_embedding", linear("linear_1", H, c.time), linear("linear_2", c.time, c.time), kind="embeddings"),
        *(() if c.offset is None else (two_maps("ofs_embedding", c.offset, c.offset),)),
        layer,
        *((layer_norm("norm_final", H),) if c.affine else ()),
        norm("norm_out", 2),
        linear("proj_out", H, outputs),
        kind="model",
        stream=PASS,
    )


LTX = (
    channels(128),
    OUTPUTS.with_default(128),
    HEADS.with_default(32),
    HEAD_DIM.with_default(64),
    WIDTH,
    size("cross", "cross_attention_dim", 2048, "C", "input width of the cross-attention"),
    LAYERS,
    activation("geglu"),
    read_none("qk_norm", "rms_norm_across_heads"),
    AFFINE,
    size("text", "caption_channels", 4096, "T", "width of the text states"),
    ATTENTION_BIAS,
    read_none("attention_out_bias", True),
)


def ltx(c: Config) -> Part:
    """Describe LTXVideoTransformer3DModel (arXiv 2501.00103): queries and keys are normalized across all heads."""
    H = c.hidden
    norms = rms_norm("norm_q", H), rms_norm("norm_k", H)
    inner: list[Node] = []
    for index, source in ((1, H), (2, c.cross)):
        inner += [rms_norm(f"norm{index}", H)] if c.affine else []
        inner.append(attention(f"attn{index}", H, H, source, bias=c.qkv_bias, before=norms, heads=c.heads, head_dim=c.head_dim))
    layer = part(
        "transformer_blocks", table(6, H), *inner, feed_forward("ff", H, gated=c.activation == "geglu"), kind="layer", repeat=c.layers
    )
    return part(
        "",
        table(2, H),
        linear("proj_in", c.channels, H),
        time_embedding("time_embed", H),
        two_maps("caption_projection", c.text, H),
        layer,
        linear("proj_out", H, c.outputs),
        kind="model",
        stream=PASS,
    )


WAN = (
    numbers("patch", "patch_size", (1, 2, 2)),
    HEADS.with_default(40),
    HEAD_DIM,
    WIDTH,
    channels(16),
    OUTPUTS.with_default(16),
    size("text", "text_dim", 4096, "T", "width of the text states"),
    size("time", "freq_dim", 256, "E", "width of the time embedding"),
    size("mlp", "ffn_dim", 13824, "I", "width between the maps of a feed-forward network"),
    LAYERS.with_default(40),
    switch("normed", "cross_attn_norm", True, report_default=False),
    optional("image", "image_dim", None, "M", "width of a video's first image"),
    optional("added", "added_kv_proj_dim", None, "C", "width of the image in cross-attention"),
    optional("places", "pos_embed_seq_len", None, "S", "image positions"),
)


def wan_attention(c: Config, name: str, *, added: Size | None) -> Part:
    """Describe attention whose queries and keys are normalized across all heads; *added* keys and values come from an image."""
    H = c.hidden
    maps = (*(linear(name, H, H) for name in ("to_q", "to_k", "to_v")), to_out(H, H), rms_norm("norm_q", H), rms_norm("norm_k", H))
    more = () if added is None else (linear("add_k_proj", added, H), linear("add_v_proj", added, H), rms_norm("norm_added_k", H))
    kind = "self_attention" if name == "attn1" else "cross_attention"
    return part(name, *maps, *more, attend(heads=c.heads, head_dim=c.head_dim), kind=kind)


def wan_feed_forward(name: str, inputs: Size, inner: Size, outputs: Size) -> Part:
    """Describe two maps with an activation between them, in the names of a list."""
    first = part("0", linear("proj", inputs, inner), kind="feed_forward")
    return part(name, part("net", first, linear("2", inner, outputs), kind="feed_forward"), kind="feed_forward")


def wan_conditions(c: Config) -> Part:
    """Describe the embeddings of time, text and, for a video that begins with one, image."""
    H = c.hidden
    image: tuple[Part, ...] = ()
    if c.image is not None:
        places = () if c.places is None else (Tensor("pos_embed", (1, c.places, c.image), "embedding"),)
        maps = layer_norm("norm1", c.image), wan_feed_forward("ff", c.image, c.image, H), layer_norm("norm2", H)
        image = (part("image_embedder", *places, *maps, kind="embeddings"),)
    time = two_maps("time_embedder", c.time, H), linear("time_proj", H, 6 * H)
    return part("condition_embedder", *time, two_maps("text_embedder", c.text, H), *image, kind="embeddings")


def wan(c: Config) -> Part:
    """Describe WanTransformer3DModel (arXiv 2503.20314): Wan 2.1 and 2.2, from text or from an image."""
    H = c.hidden
    cube = c.patch[0] * c.patch[1] * c.patch[2]
    layer = part(
        "blocks",
        Tensor("scale_shift_table", (1, 6, H), "embedding"),
        wan_attention(c, "attn1", added=None),
        wan_attention(c, "attn2", added=c.added),
        *((layer_norm("norm2", H),) if c.normed else ()),
        wan_feed_forward("ffn", H, c.mlp, H),
        kind="layer",
        repeat=c.layers,
    )
    kernel = Tensor("weight", (H, c.channels, *c.patch)), Tensor("bias", (H,), "bias")
    return part(
        "",
        Tensor("scale_shift_table", (1, 2, H), "embedding"),
        part("patch_embedding", *kernel, kind="convolution"),
        wan_conditions(c),
        layer,
        linear("proj_out", H, cube * c.outputs),
        kind="model",
        stream=PASS,
    )


COGVIDEOX_KEYS = frozenset(
    """flip_sin_to_cos freq_shift sample_width sample_height sample_frames temporal_compression_ratio max_text_seq_length timestep_activation_fn
    spatial_interpolation_scale temporal_interpolation_scale use_rotary_positional_embeddings""".split()
)
WAN_KEYS = frozenset("eps qk_norm rope_max_seq_len".split())

FAMILIES = {
    "diffusers_cogvideox": diffusers_family("diffusers_cogvideox", COGVIDEOX, "CogVideoXTransformer3DModel", cogvideox, COGVIDEOX_KEYS),
    "diffusers_ltx": diffusers_family("diffusers_ltx", LTX, "LTXVideoTransformer3DModel", ltx, frozenset(("patch_size", "patch_size_t"))),
    "diffusers_wan": diffusers_family("diffusers_wan", WAN, "WanTransformer3DModel", wan, WAN_KEYS),
}
