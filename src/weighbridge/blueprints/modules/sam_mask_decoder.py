"""The mask decoder of Segment Anything: a two-way transformer between output tokens and image, and a mask for each token.

Source: arXiv 2304.02643, section 3, and 2306.01567 (HQ); names as in transformers 5.23.0, models/sam/modeling_sam.py and
models/sam_hq/modeling_sam_hq.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import conv_transpose2d
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP_DIM, Config, computed, size
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

FIELDS = (
    HIDDEN.with_default(256),
    MLP_DIM.with_default(2048),
    LAYERS.with_default(2),
    HEADS.with_default(8),
    size("rate", "attention_downsample_rate", 2, "D", "factor by which the last attention is narrower"),
    size("masks", "num_multimask_outputs", 3, "M", "masks to choose from"),
    size("score_depth", "iou_head_depth", 3, "S", "depth of the scoring head"),
    computed("flat", lambda c: c.layers < 2),
    computed("flat_score", lambda c: c.score_depth < 2),  # one of one layer has two maps all the same
    size("score_width", "iou_head_hidden_dim", 256, "U", "width of the scoring head"),
)
WIDTH = size("vision_width", "vit_dim", 768, "V", "width of the image encoder")


def attention(name: str, c: Config, narrower: Size, queries: Size, keys: Size, *, last: str = "out_proj") -> Part:
    """Describe attention of one set of vectors to another, in a narrower space."""
    inner = c.hidden // narrower
    return part(
        name,
        linear("q_proj", c.hidden, inner, stream=queries),
        linear("k_proj", c.hidden, inner, stream=keys),
        linear("v_proj", c.hidden, inner, stream=keys),
        linear(last, inner, c.hidden, stream=queries),
        attend(heads=c.heads, head_dim=inner // c.heads, queries=queries, keys=keys),
        kind="cross_attention",
    )


def two_way_transformer(c: Config, tokens: Size, places: Size, mlp: Part, *, rate: Size = 2, last: str = "out_proj") -> Part:
    """Describe layers in which the output tokens attend to themselves and the image, and the image to them, then attention to it once more."""
    H = c.hidden

    def attends(name: str, narrower: Size, queries: Size, keys: Size) -> Part:
        return attention(name, c, narrower, queries, keys, last=last)

    layer = part(
        "layers",
        attends("self_attn", 1, tokens, tokens),
        layer_norm("layer_norm1", H),
        attends("cross_attn_token_to_image", rate, tokens, places),
        layer_norm("layer_norm2", H),
        replace(mlp, stream=tokens),
        layer_norm("layer_norm3", H),
        layer_norm("layer_norm4", H),
        attends("cross_attn_image_to_token", rate, places, tokens),
        kind="layer",
        repeat=c.layers,
    )
    final = attends("final_attn_token_to_image", c.rate, tokens, places), layer_norm("layer_norm_final_attn", H)
    return part("transformer", layer, *final, kind="decoder")


def perceptron(name: str, inputs: Size, inner: Size, outputs: Size, *, depth: Size = 3, repeat: Size | None = None) -> Part:
    """Describe linear maps in sequence, on one token."""
    ends = linear("proj_in", inputs, inner), linear("proj_out", inner, outputs)
    middle = linear("layers", inner, inner, repeat=depth - 2)
    return part(name, *ends, middle, kind="feed_forward", stream="one", repeat=repeat)


def upscaling_layers(names: tuple[str, str, str], inputs: Size, width: Size, last: Size, places: Size) -> tuple[Part, ...]:
    """Describe two transposed convolutions with a norm between, each of which makes four positions of one."""
    first, second = conv_transpose2d(names[0], inputs, width, 2, places), conv_transpose2d(names[2], width, last, 2, 4 * places)
    return first, layer_norm(names[1], width), second


def mask_and_score_heads(c: Config, transformer: Part, places: Size) -> tuple[Part, ...]:
    """Describe tokens for the scores and for each mask, what they pass through, and what draws the masks and scores them."""
    H, masks, eighth = c.hidden, c.masks + 1, c.hidden // 8
    first, norm, second = upscaling_layers(("upscale_conv1", "upscale_layer_norm", "upscale_conv2"), H, H // 4, eighth, places)
    return (
        embedding("iou_token", 1, H),
        embedding("mask_tokens", masks, H),
        transformer,
        first,
        second,
        norm,
        perceptron("output_hypernetworks_mlps", H, H, eighth, repeat=masks),
        perceptron("iou_prediction_head", H, c.score_width, masks, depth=2 if c.flat_score else c.score_depth),
    )


def decoder(c: Config, places: Size, *, compressed: bool) -> Part:
    """Describe the mask decoder of SamModel and SamHQModel: the latter has one token more."""
    tokens = c.masks + (3 if c.hq else 2)
    mlp = part("mlp", linear("lin1", c.hidden, c.mlp), linear("lin2", c.mlp, c.hidden), kind="feed_forward")
    return part(
        "mask_decoder",
        *mask_and_score_heads(c, two_way_transformer(c, tokens, places, mlp), places),
        *(hq_features(c, places, compressed=compressed) if c.hq else ()),
        matmul("masks", (tokens - 1, c.hidden // 8, 16 * places)),
        kind="decoder",
    )


def hq_features(c: Config, places: Size, *, compressed: bool) -> tuple[Node, ...]:
    """Describe what HQ adds: a token, and the features of the first layer that looks everywhere, if one does."""
    H, quarter, eighth = c.hidden, c.hidden // 4, c.hidden // 8
    requires = None if compressed else "compressed"
    early = upscaling_layers(("compress_vit_conv1", "compress_vit_norm", "compress_vit_conv2"), c.vision_width, H, eighth, places)
    return (
        embedding("hq_token", 1, H),
        perceptron("hq_mask_mlp", H, H, eighth),
        *(replace(module, requires=requires) for module in early),
        *upscaling_layers(("encoder_conv1", "encoder_norm", "encoder_conv2"), H, quarter, eighth, places),
        conv2d("mask_conv1", eighth, quarter, 3, stream=16 * places),
        layer_norm("mask_norm", quarter),
        conv2d("mask_conv2", quarter, eighth, 3, stream=16 * places),
    )
