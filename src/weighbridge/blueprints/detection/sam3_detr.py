"""The detector inside Segment Anything 3: an image read with a prompt, queries for what the prompt names, and masks.

Source: arXiv 2511.16719; names as in transformers 5.23.0, models/sam3/modeling_sam3.py; the same three networks under other
names in models/sam3_lite_text/modeling_sam3_lite_text.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Field, Sizes, size, told
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, plain_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Stream, Untold

HIDDEN = size("hidden", "hidden_size", 256, "H", "hidden size")
HEADS = size("heads", "num_attention_heads", 8, "A", "attention heads")
FIELDS = (
    HIDDEN,
    size("layers", "num_layers", 6, "L", "layers", "num_hidden_layers"),
    HEADS,
    size("mlp", "intermediate_size", 2048, "I", "intermediate size"),
)
QUERIES = size("queries", "num_queries", 200, "Q", "object queries")


def eighths(c: Sizes) -> bool:
    """Refuse a width that 8 groups do not divide."""
    if c.hidden % 8:
        raise ConfigError(f"norms of 8 groups over {c.hidden} channels", key="hidden_size", value=c.hidden, hint="a multiple of 8")
    return True


MASKS = (HIDDEN, size("stages", "num_upsampling_stages", 3, "L", "stages that enlarge the map"), HEADS, told("eighths", eighths))


def attention(name: str, c: Sizes, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over others."""
    H, head_dim = c.hidden, c.hidden // c.heads
    exact(H, c.heads)
    given = keys if isinstance(keys, str) else None
    return Part(name, (
        linear("q_proj", H, H),
        linear("k_proj", H, H, stream=keys),
        linear("v_proj", H, H, stream=keys),
        linear("o_proj", H, H),
        attend(heads=c.heads, head_dim=head_dim, keys=keys),
    ), "self_attention" if keys is None else "cross_attention", given=given)  # fmt: skip


def mlp(c: Sizes) -> Part:
    """Describe the feed-forward network of a layer."""
    return plain_mlp("mlp", c.hidden, c.mlp, ("fc1", "fc2"), bias=True)


def encoder(c: Sizes) -> Part:
    """Describe the encoder: places of the image look at each other, and at the prompt."""
    first, second, third = (layer_norm(f"layer_norm{index}", c.hidden) for index in (1, 2, 3))
    parts = first, attention("self_attn", c), attention("cross_attn", c, "encoder"), second, mlp(c), third
    return Part("", (Part("layers", parts, "layer", repeat=c.layers),), "model")


def perceptron(name: str, *widths: Size) -> Part:
    """Describe linear maps one after another, numbered from 1."""
    maps = (linear(f"layer{index + 1}", widths[index], widths[index + 1]) for index in range(len(widths) - 1))
    return Part(name, tuple(maps), "head")


def decoder(c: Sizes) -> Part:
    """Describe the decoder: queries, and a token that tells whether anything is there, look at the prompt and at the image.

    Where the boxes are is added to the scores only with the shape of a map beside it, which is not given here.
    """
    H, often, tokens = c.hidden, c.layers, c.queries + 1
    layer = Part("layers", (
        attention("self_attn", c),
        layer_norm("self_attn_layer_norm", H),
        attention("text_cross_attn", c, "seq"),
        layer_norm("text_cross_attn_layer_norm", H),
        attention("vision_cross_attn", c, "encoder"),
        layer_norm("vision_cross_attn_layer_norm", H),
        mlp(c),
        layer_norm("mlp_layer_norm", H),
    ), "layer", repeat=c.layers, stream=tokens)  # fmt: skip
    return Part("", (
        layer,
        layer_norm("output_layer_norm", H)._replace(runs=2 * often),
        perceptron("box_head", H, H, H, 4)._replace(runs=often),
        embedding("query_embed", c.queries, H),
        embedding("reference_points", c.queries, 4),
        embedding("presence_token", 1, H),
        perceptron("presence_head", H, H, H, 1)._replace(runs=often, stream="one"),
        layer_norm("presence_layer_norm", H)._replace(runs=often, stream="one"),
        perceptron("ref_point_head", 2 * H, H, H)._replace(runs=often),
        perceptron("box_rpb_embed_x", 2, H, c.heads)._replace(stream=0),
        perceptron("box_rpb_embed_y", 2, H, c.heads)._replace(stream=0),
    ), "model", stream=c.queries)  # fmt: skip


def masks(c: Sizes) -> Part:
    """Describe the decoder of masks, over maps of any size."""
    H, untold = c.hidden, Untold("the maps are those of the image encoder, of any size")
    convs = conv2d("conv_layers", H, H, 3)._replace(repeat=c.stages), group_norm("norms", H)._replace(repeat=c.stages)
    embedder = linear("layers", H, H)._replace(repeat=3)
    return Part("", (
        Part("pixel_decoder", convs, "decoder"),
        Part("mask_embedder", (embedder,), "head"),
        conv2d("instance_projection", H, H, 1),
        conv2d("semantic_projection", H, 1, 1),
        attention("prompt_cross_attn", c, "encoder"),
        layer_norm("prompt_cross_attn_norm", H),
    ), "model", stream=untold)  # fmt: skip


NEUTRAL = frozenset("hidden_dropout".split())


def family(model_type: str, name: str, fields: tuple[Field, ...], blueprint: Blueprint) -> Family:
    """Return the family of one network."""
    return Family(model_type, fields, {name: blueprint}, name, NEUTRAL)


FAMILIES = {
    f"{prefix}_{ending}": family(f"{prefix}_{ending}", name + kind, fields, blueprint)
    for prefix, name in (("sam3", "Sam3"), ("sam3_lite_text", "Sam3LiteText"))
    for ending, kind, fields, blueprint in (
        ("detr_encoder", "DetrEncoder", FIELDS, encoder),
        ("detr_decoder", "DetrDecoder", (*FIELDS, QUERIES), decoder),
        ("mask_decoder", "MaskDecoder", MASKS, masks),
    )
}
