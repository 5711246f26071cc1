"""EoMT: a plain DINOv2 or DINOv3 whose last layers see object queries beside the patches, on images and on videos.

Source: Your ViT is Secretly an Image Segmentation Model, arXiv 2503.19108; names as in transformers 5.23.0,
models/{eomt,eomt_dinov3,videomt}/modeling_*.py. In each of the last layers the queries attend to their own masks, which are
drawn for it, as the class is built; weights whose ``attn_mask_probs`` are zero skip that, and draw masks once.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS, conv_transpose2d
from weighbridge.blueprints.modules.masked_attention import loss_weights
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import SQUARE_PATCH, WHOLE_HEADS, attention, patches, projection, token
from weighbridge.blueprints.vision import dinov3
from weighbridge.blueprints.vision.dinov2 import OWN_IGNORED_KEYS, RATIO, REGISTERS, WIDENED, dinov2_mlp, layers, tokens
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, MLP, OBJECT_QUERIES, Config, constant, derived, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Every, Node, Part, Tensor

SHARED_FIELDS = (
    HIDDEN.with_default(1024),
    number("layers", "num_hidden_layers", 24),
    HEADS.with_default(16),
    WHOLE_HEADS,
    size("image_height", "image_size", 640, "R", "image size"),
    derived("image_width", lambda c: c.image_height),
    *SQUARE_PATCH,
    CHANNELS,
    REGISTERS,
    OBJECT_QUERIES.with_default(200),
    number("blocks", "num_blocks", 4, minimum=0),
    number("upscales", "num_upscale_blocks", 2, minimum=0, most=64),
    LABELS,
)
DINOV2_FIELDS = (*SHARED_FIELDS, RATIO, WIDENED, switch("gated", "use_swiglu_ffn", False))
DINOV3_FIELDS = (*SHARED_FIELDS, MLP.with_default(4096), *dinov3.SWITCHES)
IGNORED_KEYS = OWN_IGNORED_KEYS | frozenset(
    """class_weight dice_weight importance_sample_ratio mask_weight no_object_weight oversample_ratio rope_parameters
    train_num_points""".split()
)


def input_tokens(c: Config) -> Stream:
    """Return what the first layers see; a video has as many frames as one gives it, each with its queries from the one before."""
    return unknown("the number of frames depends on the video") if c.video else tokens(c)


def all_tokens(c: Config) -> Stream:
    """Return what the last layers see: the queries, the class token, registers and patches."""
    if c.video:
        return input_tokens(c)
    if 0 < c.blocks <= c.layers:
        return tokens(c) + c.queries
    return unknown(
        Text("the queries come in before the last {blocks} of {layers} layers, and no mask can be drawn", blocks=c.blocks, layers=c.layers)
    )


def both_layers(c: Config, attends: Part, mlp: Part) -> tuple[Part, ...]:
    """Describe the layers without queries, then those with them."""
    whole, last = layers(c, attends, mlp), min(c.blocks, c.layers)
    plain = replace(whole, name="layers", repeat=c.layers - last)
    queried = replace(whole, name="layers", repeat=last, indices=Every(c.layers - last), stream=all_tokens(c))
    return tuple(found for found in (plain, queried) if found.repeat != 0)


def upscaling(c: Config, times: Size) -> tuple[Part, Size]:
    """Describe the blocks that double the sides of the map of patches; return the places of the last map, too."""
    H, places, found = c.hidden, patches(c), []
    for index in range(c.upscales):
        wider = conv_transpose2d("conv1", H, H, 2, places)
        places = places * 4
        smooth = conv2d("conv2", H, H, 3, groups=H, bias=False, stream=places)
        found.append(part(str(index), wider, smooth, layer_norm("layernorm2d", H, stream=places), kind="neck"))
    return part("upscale_block", part("block", *found, kind="neck"), kind="neck", executions=times), places


def mask_heads(c: Config, times: Size) -> tuple[Part, ...]:
    """Describe what predicts a mask and a class for each query, so many times."""
    H = c.hidden
    upscale, places = upscaling(c, times)
    maps = (linear(name, H, H) for name in ("fc1", "fc2", "fc3"))
    head = part("mask_head", *maps, matmul("masks", (c.queries, places, H)), kind="head", stream=c.queries, executions=times)
    return upscale, head, linear("class_predictor", H, c.labels + 1, stream=c.queries, executions=times)


def segmentation(c: Config, embeddings: Part, deep: tuple[Part, ...], *more: Node) -> Part:
    """Describe a class of universal segmentation around the embeddings of patches and layers."""
    times = c.blocks + 1
    return part(
        "",
        Tensor("attn_mask_probs", (c.blocks,), "buffer"),
        embeddings,
        layer_norm("layernorm", c.hidden, stream=all_tokens(c), executions=times),
        embedding("query", c.queries, c.hidden),
        *deep,
        *mask_heads(c, times),
        loss_weights(c.labels),
        *more,
        kind="model",
        stream=input_tokens(c),
    )


def dinov2_embeddings(c: Config) -> Part:
    """Describe patches, their positions and the tokens before them, which have none."""
    H = c.hidden
    return part(
        "embeddings",
        token("cls_token", H),
        token("register_tokens", H, c.registers),
        *((token("mask_token", H),) if c.video else ()),
        part("patch_embeddings", projection(c), kind="embeddings"),
        embedding("position_embeddings", patches(c), H),
        kind="embeddings",
    )


def dinov2_layers(c: Config) -> tuple[Part, ...]:
    """Describe the layers over DINOv2."""
    attends = attention(c, ("k_proj", "v_proj", "q_proj", "out_proj"), biases=(True,) * 4, width=c.hidden)
    return both_layers(c, attends, dinov2_mlp(c))


def eomt(c: Config) -> Part:
    """Describe EomtForUniversalSegmentation."""
    return segmentation(c, dinov2_embeddings(c), dinov2_layers(c))


def videomt(c: Config) -> Part:
    """Describe VideomtForUniversalSegmentation: the queries of a frame are made from those of the frame before."""
    return segmentation(c, dinov2_embeddings(c), dinov2_layers(c), linear("query_updater", c.hidden, c.hidden))


def eomt_dinov3(c: Config) -> Part:
    """Describe EomtDinov3ForUniversalSegmentation: no table of positions, and no masked patches."""
    learned = token("cls_token", c.hidden), token("register_tokens", c.hidden, c.registers)
    embeddings = part("embeddings", *learned, projection(c, "patch_embeddings"), kind="embeddings")
    return segmentation(c, embeddings, both_layers(c, *dinov3.blocks(c)))


FAMILIES = {
    model_type: Family(model_type, uneven_heads((*fields, constant("video", video))), {name: blueprint}, name, IGNORED_KEYS)
    for model_type, name, blueprint, fields, video in (
        ("eomt", "EomtForUniversalSegmentation", eomt, DINOV2_FIELDS, False),
        ("eomt_dinov3", "EomtDinov3ForUniversalSegmentation", eomt_dinov3, DINOV3_FIELDS, False),
        ("videomt", "VideomtForUniversalSegmentation", videomt, DINOV2_FIELDS, True),
    )
}
