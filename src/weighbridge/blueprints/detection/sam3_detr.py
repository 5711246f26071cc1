"""The detector of Segment Anything 3: DETR encoder and decoder conditioned on a text prompt, and a mask decoder.

Source: arXiv 2511.16719; names as in transformers 5.23.0, models/sam3/modeling_sam3.py; the same three networks under other
names in models/sam3_lite_text/modeling_sam3_lite_text.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import MLP, NUM_LAYERS, OBJECT_QUERIES, Config, Field, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

HIDDEN = size("hidden", "hidden_size", 256, "H", "hidden size")
HEADS = size("heads", "num_attention_heads", 8, "A", "attention heads")
FIELDS = (
    HIDDEN,
    NUM_LAYERS.with_default(6),
    HEADS,
    MLP.with_default(2048),
)
QUERIES = OBJECT_QUERIES.with_default(200)


def refuse_remainder(c: Config) -> bool:
    """Refuse a width that 8 groups do not divide."""
    if c.hidden % 8:
        raise ConfigError(
            Text("norms of 8 groups over {hidden} channels", hidden=c.hidden), key="hidden_size", value=c.hidden, hint="a multiple of 8"
        )
    return True


MASKS = (
    HIDDEN,
    size("stages", "num_upsampling_stages", 3, "L", "upsampling stages"),
    HEADS,
    computed("eighths", refuse_remainder),
)


def attention(name: str, c: Config, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over others."""
    H, head_dim = c.hidden, c.hidden // c.heads
    requires = keys if isinstance(keys, str) else None
    return part(
        name,
        linear("q_proj", H, H),
        linear("k_proj", H, H, stream=keys),
        linear("v_proj", H, H, stream=keys),
        linear("o_proj", H, H),
        attend(heads=c.heads, head_dim=head_dim, keys=keys),
        kind="self_attention" if keys is None else "cross_attention",
        requires=requires,
    )


def mlp(c: Config) -> Part:
    """Describe the feed-forward network of a layer."""
    return plain_mlp("mlp", c.hidden, c.mlp, ("fc1", "fc2"), bias=True)


def encoder(c: Config) -> Part:
    """Describe the encoder: positions of the image attend to each other, and to the prompt."""
    first, second, third = (layer_norm(f"layer_norm{index}", c.hidden) for index in (1, 2, 3))
    parts = first, attention("self_attn", c), attention("cross_attn", c, "encoder"), second, mlp(c), third
    return part("", part("layers", *parts, kind="layer", repeat=c.layers), kind="model")


def perceptron(name: str, *widths: Size) -> Part:
    """Describe linear maps in sequence, numbered from 1."""
    maps = (linear(f"layer{index + 1}", widths[index], widths[index + 1]) for index in range(len(widths) - 1))
    return part(name, *maps, kind="head")


def decoder(c: Config) -> Part:
    """Describe the decoder: queries, and a token that says whether anything is there, attend to the prompt and to the image.

    Where the boxes are is added to the scores only with the shape of a map beside it, which is not given here.
    """
    H, often, tokens = c.hidden, c.layers, c.queries + 1
    layer = part(
        "layers",
        attention("self_attn", c),
        layer_norm("self_attn_layer_norm", H),
        attention("text_cross_attn", c, "seq"),
        layer_norm("text_cross_attn_layer_norm", H),
        attention("vision_cross_attn", c, "encoder"),
        layer_norm("vision_cross_attn_layer_norm", H),
        mlp(c),
        layer_norm("mlp_layer_norm", H),
        kind="layer",
        repeat=c.layers,
        stream=tokens,
    )
    return part(
        "",
        layer,
        layer_norm("output_layer_norm", H, executions=2 * often),
        replace(perceptron("box_head", H, H, H, 4), executions=often),
        embedding("query_embed", c.queries, H),
        embedding("reference_points", c.queries, 4),
        embedding("presence_token", 1, H),
        replace(perceptron("presence_head", H, H, H, 1), executions=often, stream="one"),
        layer_norm("presence_layer_norm", H, executions=often, stream="one"),
        replace(perceptron("ref_point_head", 2 * H, H, H), executions=often),
        replace(perceptron("box_rpb_embed_x", 2, H, c.heads), stream=0),
        replace(perceptron("box_rpb_embed_y", 2, H, c.heads), stream=0),
        kind="model",
        stream=c.queries,
    )


def masks(c: Config) -> Part:
    """Describe the decoder of masks, over maps of any size."""
    H, undetermined = c.hidden, unknown("the maps are those of the image encoder, of any size")
    convs = conv2d("conv_layers", H, H, 3, repeat=c.stages), group_norm("norms", H, 8, repeat=c.stages)
    embedder = linear("layers", H, H, repeat=3)
    return part(
        "",
        part("pixel_decoder", *convs, kind="decoder"),
        part("mask_embedder", embedder, kind="head"),
        conv2d("instance_projection", H, H, 1),
        conv2d("semantic_projection", H, 1, 1),
        attention("prompt_cross_attn", c, "encoder"),
        layer_norm("prompt_cross_attn_norm", H),
        kind="model",
        stream=undetermined,
    )


IGNORED_KEYS = frozenset("hidden_dropout".split())


def family(model_type: str, name: str, fields: tuple[Field, ...], blueprint: Blueprint) -> Family:
    """Return the family of one network."""
    return Family(model_type, fields, {name: blueprint}, name, IGNORED_KEYS)


FAMILIES = {
    f"{prefix}_{ending}": family(f"{prefix}_{ending}", name + kind, fields, blueprint)
    for prefix, name in (("sam3", "Sam3"), ("sam3_lite_text", "Sam3LiteText"))
    for ending, kind, fields, blueprint in (
        ("detr_encoder", "DetrEncoder", FIELDS, encoder),
        ("detr_decoder", "DetrDecoder", (*FIELDS, QUERIES), decoder),
        ("mask_decoder", "MaskDecoder", MASKS, masks),
    )
}
