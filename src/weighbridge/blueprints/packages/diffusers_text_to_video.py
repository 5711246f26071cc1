"""diffusers: further transformers that turn text into videos, Mochi 1, Allegro and Cosmos.

Source: diffusers 0.42.1, models/transformers/{transformer_mochi,transformer_allegro,transformer_cosmos}.py, models/embeddings.py. As in
``diffusers.py``, what has tensors is described, and the arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import numbers, ratio, scale_width
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import (
    HEAD_DIM,
    HEADS,
    PASS,
    WIDTH,
    diffusers_family,
    feed_forward,
    kind_or_none,
    modulation,
    to_out,
    two_maps,
)
from weighbridge.blueprints.packages.diffusers_transformers import LAYERS, OUTPUTS, PIXART, channels, patch, pixart
from weighbridge.config.fields import Config, computed, constant, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

MOCHI = (
    patch(2),
    HEADS,
    HEAD_DIM,
    WIDTH,
    LAYERS.with_default(48),
    size("pooled", "pooled_projection_dim", 1536, "U", "width of the text's stream"),
    channels(12),
    OUTPUTS,
    size("text", "text_embed_dim", 4096, "T", "width of the text states"),
    size("time", "time_embed_dim", 256, "E", "width of the time embedding"),
    computed("kinds", lambda c: ["last" if index == c.layers - 1 else "joint" for index in layer_range(c.layers)]),
    read_none("activation_fn", "swiglu"),
)


def mochi_attention(c: Config, *, last: bool) -> Part:
    """Describe attention of a video's tokens and those of the text, which are narrower; the *last* layer does not hand the text on."""
    H, U, D = c.hidden, c.pooled, c.head_dim
    norms = (rms_norm(name, D) for name in ("norm_q", "norm_k", "norm_added_q", "norm_added_k"))
    maps = *(linear(f"to_{letter}", H, H, bias=False) for letter in "qkv"), *(linear(f"add_{x}_proj", U, H, bias=False) for x in "kvq")
    text = () if last else (linear("to_add_out", H, U),)
    return part("attn1", *norms, *maps, to_out(H, H), *text, attend(heads=c.heads, head_dim=D), kind="self_attention")


def mochi(c: Config) -> Part:
    """Describe MochiTransformer3DModel: video and text have weights and widths of their own; the axes of positions are learned."""
    H, U, T = c.hidden, c.pooled, c.text

    def layer(kind: str) -> tuple[Node, ...]:
        last = kind == "last"
        text = part("norm1_context", linear("linear_1", H, U) if last else linear("linear", H, 4 * U), kind="adaptive_norm")
        feeds = (
            feed_forward("ff", H, inner=8 * H // 3, gated=True, bias=False),
            feed_forward("ff_context", U, inner=8 * U // 3, gated=True, bias=False),
        )
        return modulation("norm1", H, 4), text, mochi_attention(c, last=last), *feeds[: 1 if last else 2]

    pooler = part("pooler", linear("to_kv", T, 2 * T), linear("to_q", T, T), linear("to_out", T, H), kind="pooler")
    time = two_maps("timestep_embedder", c.time, H), pooler, linear("caption_proj", T, U)
    return part(
        "",
        Tensor("pos_frequencies", (3, c.heads, c.head_dim // 2), "embedding"),
        part("patch_embed", conv2d("proj", c.channels, H, c.patch), kind="embeddings"),
        part("time_embed", *time, kind="embeddings"),
        *stack("transformer_blocks", c.kinds, c.layers, layer),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


ALLEGRO_DEFAULTS: dict[str, int | str] = {
    "heads": 24,
    "head_dim": 96,
    "outputs": 4,
    "layers": 32,
    "cross": 2304,
    "activation": "gelu-approximate",
    "text": 4096,
}
GONE = "side additional conditioned norm_type norm_elementwise_affine".split()
ALLEGRO = (
    *(
        field.with_default(ALLEGRO_DEFAULTS[field.word]) if field.word in ALLEGRO_DEFAULTS else field
        for field in PIXART
        if field.word not in GONE
    ),
    constant("conditioned", False),
)

COSMOS = (
    channels(16),
    OUTPUTS.with_default(16),
    HEADS.with_default(32),
    HEAD_DIM,
    WIDTH,
    LAYERS,
    ratio("ratio", "mlp_ratio", 4.0),
    size("text", "text_embed_dim", 1024, "T", "width of the text states"),
    size("narrow", "adaln_lora_dim", 256, "R", "rank of what modulates"),
    numbers("largest", "max_size", (128, 240, 240)),
    numbers("patch", "patch_size", (1, 2, 2)),
    switch("masked", "concat_padding_mask", True, report_default=False),
    replace(kind_or_none("places", "extra_pos_embed_type", "learnable"), default="learnable"),
    switch("projected", "use_crossattn_projection", False, report_default=False),
    size("projected_from", "crossattn_proj_in_channels", 1024, "Q", "width of the text states before their map", report_default=False),
    size("projected_to", "encoder_hidden_states_channels", 1024, "J", "width of the text states after their map", report_default=False),
    read_none("img_context_dim_in", 0),
    computed("fits", lambda c: _has_three_axes(c)),
)


def _has_three_axes(c: Config) -> bool:
    for key, value in (("max_size", c.largest), ("patch_size", c.patch)):
        if len(value) != 3:
            raise ConfigError(Text("expected {count} entries", count=3), key=key, value=list(value))
    return True


def low_rank(name: str, width: Size, rank: Size, times: int) -> Part:
    """Describe an adaptive norm whose map goes through a low rank."""
    maps = linear("linear_1", width, rank, bias=False), linear("linear_2", rank, times * width, bias=False)
    return part(name, *maps, kind="adaptive_norm")


def cosmos(c: Config) -> Part:
    """Describe CosmosTransformer3DModel (arXiv 2501.03575): a video attends to itself, then to the text; biases are nowhere."""
    H, D, R = c.hidden, c.head_dim, c.narrow

    def attention(name: str, source: Size) -> Part:
        norms = rms_norm("norm_q", D), rms_norm("norm_k", D)
        maps = linear("to_q", H, H, bias=False), *(linear(f"to_{letter}", source, H, bias=False) for letter in "kv")
        out = part("to_out", linear("0", H, H, bias=False), kind="output")
        kind = "self_attention" if name == "attn1" else "cross_attention"
        return part(name, *norms, *maps, out, attend(heads=c.heads, head_dim=D), kind=kind)

    layer = part(
        "transformer_blocks",
        low_rank("norm1", H, R, 3),
        attention("attn1", H),
        low_rank("norm2", H, R, 3),
        attention("attn2", c.text),
        low_rank("norm3", H, R, 3),
        feed_forward("ff", H, inner=scale_width(H, c.ratio), bias=False),
        kind="layer",
        repeat=c.layers,
    )
    cube = c.patch[0] * c.patch[1] * c.patch[2]
    rows = [Tensor(f"pos_emb_{axis}", (most // step, H), "embedding") for axis, most, step in zip("thw", c.largest, c.patch, strict=True)]
    time = part("t_embedder", linear("linear_1", H, H, bias=False), linear("linear_2", H, 3 * H, bias=False), kind="embeddings")
    text = (part("crossattn_proj", linear("0", c.projected_from, c.projected_to), kind="projector"),) if c.projected else ()
    inputs = c.channels + 1 if c.masked else c.channels
    return part(
        "",
        part("patch_embed", linear("proj", inputs * cube, H, bias=False), kind="embeddings"),
        *(() if c.places is None else (part("learnable_pos_embed", *rows, kind="embeddings"),)),
        part("time_embed", time, rms_norm("norm", H), kind="embeddings"),
        layer,
        low_rank("norm_out", H, R, 2),
        linear("proj_out", H, cube * c.outputs, bias=False),
        *text,
        kind="model",
        stream=PASS,
    )


MOCHI_KEYS = frozenset("max_sequence_length qk_norm".split())
ALLEGRO_KEYS = frozenset(
    """interpolation_scale_h interpolation_scale_t interpolation_scale_w norm_elementwise_affine norm_type patch_size_t sample_frames sample_height
    sample_width""".split()
)
COSMOS_KEYS = frozenset("controlnet_block_every_n img_context_dim_out img_context_num_tokens rope_scale".split())
FAMILIES = {
    "diffusers_mochi": diffusers_family("diffusers_mochi", MOCHI, "MochiTransformer3DModel", mochi, MOCHI_KEYS),
    "diffusers_allegro": diffusers_family("diffusers_allegro", ALLEGRO, "AllegroTransformer3DModel", pixart, ALLEGRO_KEYS),
    "diffusers_cosmos": diffusers_family("diffusers_cosmos", COSMOS, "CosmosTransformer3DModel", cosmos, COSMOS_KEYS),
}
