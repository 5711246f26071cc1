"""Segment Anything, and its HQ variant: an image encoder, prompts, and a decoder that draws masks.

Its arithmetic is that of an image without points, boxes or masks put in. Source: arXiv 2304.02643, 2306.01567; names as
in transformers 5.23.0, models/sam/modeling_sam.py and models/sam_hq/modeling_sam_hq.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.sam_vision import FIELDS as VISION
from weighbridge.blueprints.sam_vision import encoder, side
from weighbridge.blueprints.vision import NEUTRAL
from weighbridge.config import TIED, Sizes, fact, nested, size
from weighbridge.parts import attend, conv2d, embedding, layer_norm, linear, matmul
from weighbridge.sizes import Size, exact
from weighbridge.tree import Node, Once, Part, Stream, Tensor

PROMPTS = (
    size("hidden", "hidden_size", 256, "H", "hidden size"),
    size("image", "image_size", 1024, "R", "side of the image"),
    size("patch", "patch_size", 16, "P", "side of a patch"),
    size("mask_channels", "mask_input_channels", 16, "M", "channels of an input mask", minimum=4),
    size("points", "num_point_embeddings", 4, "K", "kinds of points"),
)
DECODER = (
    size("hidden", "hidden_size", 256, "H", "hidden size"),
    size("mlp", "mlp_dim", 2048, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 2, "L", "layers"),
    size("heads", "num_attention_heads", 8, "A", "attention heads"),
    size("rate", "attention_downsample_rate", 2, "D", "how often narrower the last attention is"),
    size("masks", "num_multimask_outputs", 3, "M", "masks to choose from"),
    size("score_depth", "iou_head_depth", 3, "S", "depth of the head of scores", minimum=2),
    size("score_width", "iou_head_hidden_dim", 256, "U", "width of the head of scores"),
)
WIDTH = size("vision_width", "vit_dim", 768, "V", "width of the image encoder")


def attention(name: str, c: Sizes, narrower: Size, queries: Size, keys: Size, *, last: str = "out_proj") -> Part:
    """Describe attention of one set of vectors to another, in a narrower space."""
    inner = c.hidden // narrower
    return Part(name, (
        linear("q_proj", c.hidden, inner, stream=queries),
        linear("k_proj", c.hidden, inner, stream=keys),
        linear("v_proj", c.hidden, inner, stream=keys),
        linear(last, inner, c.hidden, stream=queries),
        attend(heads=c.heads, head_dim=exact(inner, c.heads), queries=queries, keys=keys),
    ), "cross_attention")  # fmt: skip


def layer(c: Sizes, tokens: Size, places: Size) -> Part:
    """Describe a layer in which the output tokens look at themselves and the image, and the image at them."""
    H = c.hidden
    return Part("layers", (
        attention("self_attn", c, 1, tokens, tokens),
        layer_norm("layer_norm1", H),
        attention("cross_attn_token_to_image", c, 2, tokens, places),
        layer_norm("layer_norm2", H),
        Part("mlp", (linear("lin1", H, c.mlp), linear("lin2", c.mlp, H)), "feed_forward", stream=tokens),
        layer_norm("layer_norm3", H),
        layer_norm("layer_norm4", H),
        attention("cross_attn_image_to_token", c, 2, places, tokens),
    ), "layer", repeat=c.layers)  # fmt: skip


def perceptron(name: str, inputs: Size, inner: Size, outputs: Size, *, depth: Size = 3, repeat: Size | None = None) -> Part:
    """Describe linear maps in a row, on one token."""
    ends = linear("proj_in", inputs, inner), linear("proj_out", inner, outputs)
    middle = linear("layers", inner, inner)._replace(repeat=depth - 2)
    return Part(name, (*ends, middle), "feed_forward", stream="one", repeat=repeat)


def enlarging(name: str, inputs: Size, outputs: Size, places: Size) -> Part:
    """Describe a transposed convolution that makes four places of each; it multiplies at every place of its input."""
    return Part(name, (Tensor("weight", (inputs, outputs, 2, 2)), Tensor("bias", (outputs,), "bias")), "convolution", stream=places)


def upscaling(names: tuple[str, str, str], inputs: Size, width: Size, last: Size, places: Size) -> tuple[Part, ...]:
    """Describe two transposed convolutions with a norm between, in the order in which the class makes them."""
    return enlarging(names[0], inputs, width, places), layer_norm(names[1], width), enlarging(names[2], width, last, 4 * places)


def decoder(c: Sizes, places: Size, *, compressed: bool) -> Part:
    """Describe the mask decoder: one token for the scores, one for each mask, and for HQ one more."""
    H, masks = c.hidden, c.masks + 1
    quarter, eighth = H // 4, H // 8
    tokens = masks + (2 if c.hq else 1)
    first, norm, second = upscaling(("upscale_conv1", "upscale_layer_norm", "upscale_conv2"), H, quarter, eighth, places)
    last = attention("final_attn_token_to_image", c, c.rate, tokens, places), layer_norm("layer_norm_final_attn", H)
    return Part("mask_decoder", (
        embedding("iou_token", 1, H),
        embedding("mask_tokens", masks, H),
        Part("transformer", (layer(c, tokens, places), *last), "decoder"),
        first, second, norm,
        perceptron("output_hypernetworks_mlps", H, H, eighth, repeat=masks),
        perceptron("iou_prediction_head", H, c.score_width, masks, depth=c.score_depth),
        *(fine(c, places, compressed=compressed) if c.hq else ()),
        matmul("masks", (tokens - 1, eighth, 16 * places)),
    ), "decoder")  # fmt: skip


def fine(c: Sizes, places: Size, *, compressed: bool) -> tuple[Node, ...]:
    """Describe what HQ adds: a token, and the features of the first layer that looks everywhere, if one does."""
    H, quarter, eighth = c.hidden, c.hidden // 4, c.hidden // 8
    given = None if compressed else "compressed"
    early = upscaling(("compress_vit_conv1", "compress_vit_norm", "compress_vit_conv2"), c.vision_width, H, eighth, places)
    return (
        embedding("hq_token", 1, H),
        perceptron("hq_mask_mlp", H, H, eighth),
        *(part._replace(given=given) for part in early),
        *upscaling(("encoder_conv1", "encoder_norm", "encoder_conv2"), H, quarter, eighth, places),
        conv2d("mask_conv1", eighth, quarter, 3, positions=16 * places),
        layer_norm("mask_norm", quarter),
        conv2d("mask_conv2", quarter, eighth, 3, positions=16 * places),
    )


def mask_embedding(c: Sizes) -> Part:
    """Describe the convolutions over a mask that is put in."""
    H, M = c.hidden, c.mask_channels
    return Part("mask_embed", (
        conv2d("conv1", 1, M // 4, 2), conv2d("conv2", M // 4, M, 2), conv2d("conv3", M, H, 1),
        layer_norm("layer_norm1", M // 4), layer_norm("layer_norm2", M // 4 * 4),
    ), "embeddings", given="masks")  # fmt: skip


def prompts(c: Sizes, frequencies: Size, tied_to: str | None) -> Part:
    """Describe the prompt encoder: a vector for each kind of point, and what reads a mask."""
    H = c.hidden
    return Part("prompt_encoder", (
        positions("shared_embedding", frequencies, None, tied_to),
        mask_embedding(c),
        embedding("no_mask_embed", 1, H),
        embedding("point_embed", 1, H)._replace(repeat=c.points),
        embedding("not_a_point_embed", 1, H),
    ), "encoder")  # fmt: skip


def positions(name: str, frequencies: Size, stream: Stream | None, tied_to: str | None = None) -> Part:
    """Describe random frequencies that coordinates are multiplied with; points have none unless they are put in."""
    weight = Tensor("positional_embedding", (2, frequencies), "weight", tied_to)
    return Part(name, (weight,), "embedding", stream=stream, given="points" if stream is None else None)


def sam(c: Sizes) -> Part:
    """Describe SamModel and SamHQModel."""
    vision, prompt, F = c.vision, c.prompts, c.vision.frequencies
    across = prompt.image // prompt.patch
    name = "shared_image_embedding"
    return Part("", (
        positions(name, F, Once(across * across)),
        encoder(vision, "vision_encoder"),
        prompts(prompt, F, f"{name}.positional_embedding" if c.tied else None),
        decoder(c.decoder, side(vision) * side(vision), compressed="global" in vision.kinds),
    ), "model")  # fmt: skip


def family(model_type: str, class_name: str, *, hq: bool) -> Family:
    """Return the family of one of the two."""
    last = (*DECODER, *((WIDTH,) if hq else ()), fact("hq", hq))
    parts = nested("vision", "vision_config", VISION), nested("prompts", "prompt_encoder_config", PROMPTS)
    fields = (*parts, nested("decoder", "mask_decoder_config", last), TIED)
    return Family(model_type, fields, {class_name: sam}, class_name, NEUTRAL | {"scale", "image_embedding_size"})


FAMILIES = {"sam": family("sam", "SamModel", hq=False), "sam_hq": family("sam_hq", "SamHQModel", hq=True)}
