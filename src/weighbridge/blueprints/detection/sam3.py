"""Segment Anything 3: an image and a prompt (a phrase, boxes) in, and every thing it means found, boxed and masked.

Source: arXiv 2511.16719; names as in transformers 5.23.0, models/sam3/modeling_sam3.py and models/sam3_lite_text, whose text encoder
begins and ends with convolutions.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.detection.sam3_detr import FIELDS, attention, mlp, perceptron
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    POSITIONS,
    PROJECTION_DIM,
    VOCAB,
    Config,
    computed,
    derived,
    nested,
    size,
    switch,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import batch_norm, conv2d, embedding, fairseq_attention, layer_norm, linear, part, plain_mlp, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

CLIP = {
    "vocab_size": 49408,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "projection_dim": 512,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "max_position_embeddings": 32,
}
GEOMETRY = (
    *variant(FIELDS, layers=size("layers", "num_layers", 3, "L", "layers")),
    size("roi", "roi_size", 7, "R", "size of the feature map that a box is read from"),
)
PROMPTED = unknown("the prompt's length and number of boxes depend on the input")


def fields(name: str, text: str, *, fixed: bool) -> tuple[Any, ...]:
    """List the sub-configs of the whole."""
    return (
        model_config("vision", "vision_config", "sam3_vision_model", fixed=fixed),
        model_config("text", "text_config", text, fixed=not fixed, absent=CLIP if fixed else None),
        nested("geometry", "geometry_encoder_config", GEOMETRY),
        *(model_config(word, f"{word}_config", f"{name}_{word}", fixed=True) for word in ("detr_encoder", "detr_decoder", "mask_decoder")),
    )


def geometry(c: Config) -> Part:
    """Describe what makes tokens of boxes: their corners, the image's map inside, sinusoids of where they are; and layers over them."""
    H = c.hidden
    norms = [layer_norm(f"layer_norm{index}", H) for index in (1, 2, 3)]
    layer = norms[0], attention("self_attn", c), attention("cross_attn", c, PROMPTED), norms[1], mlp(c), norms[2]
    return part(
        "geometry_encoder",
        embedding("label_embed", 2, H),
        embedding("cls_embed", 1, H),
        linear("boxes_direct_project", 4, H),
        conv2d("boxes_pool_project", H, H, (c.roi, c.roi)),
        linear("boxes_pos_enc_project", H + 2, H),
        layer_norm("vision_layer_norm", H),
        linear("final_proj", H, H),
        layer_norm("prompt_layer_norm", H),
        part("layers", *layer, kind="layer", repeat=c.layers),
        layer_norm("output_layer_norm", H),
        kind="encoder",
    )


def dot_product_scoring(c: Config) -> Part:
    """Describe the products of the prompt with every query."""
    H = c.hidden
    inner = perceptron("text_mlp", H, c.mlp, H), layer_norm("text_mlp_out_norm", H), linear("text_proj", H, H), linear("query_proj", H, H)
    return part("dot_product_scoring", *inner, kind="head")


def sam3_model(c: Config, *, clip: bool) -> Part:
    """Describe the whole; its text encoder is CLIP's, or the light one."""
    streams: dict[str, Stream] = {"seq": PROMPTED, "encoder": PROMPTED}
    text = submodel(c.text, "TextModelWithProjection") if clip else submodel(c.text)
    return part(
        "",
        as_child("vision_encoder", submodel(c.vision)),
        as_child("text_encoder", text, streams=streams),
        linear("text_projection", c.text.hidden, c.detr_encoder.hidden),
        geometry(c.geometry),
        *(as_child(word, submodel(getattr(c, word)), streams=streams) for word in ("detr_encoder", "detr_decoder", "mask_decoder")),
        dot_product_scoring(c.detr_decoder),
        kind="model",
        stream=PROMPTED,
    )


def mixers(c: Config) -> list[str]:
    """Return the kinds of the light text encoder's layers: the first and the last are convolutions, unless that is switched off."""
    return ["mixer" if c.mixed and index in (0, c.layers - 1) else "attention" for index in layer_range(c.layers)]


LIGHT = (
    VOCAB.with_default(49408),
    HIDDEN.with_default(512),
    MLP.with_default(2048),
    PROJECTION_DIM.with_default(512),
    LAYERS.with_default(12),
    HEADS.with_default(8),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    POSITIONS.with_default(77),
    switch("mixed", "use_repmixer_blocks", True),
    size("kernel", "repmixer_kernel_size", 11, "K", "kernel size of the convolutions over words"),
    computed("kinds", mixers),
    computed("centred", lambda c: c.kernel % 2 == 1 or "mixer" not in c.kinds),
)


def mixer(c: Config) -> tuple[Node, ...]:
    """Describe a layer of convolutions: each channel over neighbouring words, then a plain network, with gains of their own."""
    H = c.hidden
    gain = Tensor("layer_scale", (H, 1, 1), "gain")
    conv = conv2d("conv", H, H, (1, c.kernel), groups=H, bias=False)
    inner = part("mixer", batch_norm("batchnorm_skip", H), conv, batch_norm("batchnorm_conv", H), kind="convolutions")
    maps = conv2d("fc1", H, c.mlp, 1), conv2d("fc2", c.mlp, H, 1)
    wide = conv2d("depthwise_conv", H, H, (1, c.kernel), groups=H, bias=False)
    return (
        gain,
        part("token_mixer", gain, batch_norm("reference_batchnorm", H), inner, kind="convolutions"),
        part("conv_feed_forward", wide, batch_norm("depthwise_batchnorm", H), part("mlp", *maps, kind="feed_forward")),
    )


def light_text(c: Config) -> Part:
    """Describe Sam3LiteTextTextModel."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        if kind == "mixer":
            return mixer(c)
        own = fairseq_attention("self_attn", H, c.heads, c.head_dim)
        return layer_norm("layer_norm1", H), own, layer_norm("layer_norm2", H), plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)

    positions = part("position_embedding", Tensor("position_embedding", (1, 1, c.positions, H), "embedding"), kind="embeddings")
    return part(
        "",
        part("embeddings", embedding("token_embedding", c.vocab, H), positions, kind="embeddings"),
        *stack("layers", c.kinds, c.layers, layer),
        layer_norm("final_layer_norm", H),
        linear("projection", H, c.projected, bias=False, stream="one"),
        kind="model",
        stream="seq" if c.centred else unknown("a convolution of even width leaves one word more"),
    )


def detector(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take the detector's config out of one of the whole that follows things through a video."""
    inner = raw.get("detector_config")
    return dict(inner) if isinstance(inner, Mapping) else dict(raw)


LIGHT_NAME = "Sam3LiteTextTextModel"
FAMILIES = {
    "sam3": Family(
        "sam3",
        fields("sam3", "clip_text_model", fixed=True),
        {"Sam3Model": lambda c: sam3_model(c, clip=True)},
        "Sam3Model",
        normalize_config=detector,
    ),
    "sam3_lite_text": Family(
        "sam3_lite_text",
        fields("sam3_lite_text", "sam3_lite_text_text_model", fixed=False),
        {"Sam3LiteTextModel": lambda c: sam3_model(c, clip=False)},
        "Sam3LiteTextModel",
        normalize_config=detector,
    ),
    "sam3_lite_text_text_model": Family(
        "sam3_lite_text_text_model", LIGHT, {LIGHT_NAME: light_text}, LIGHT_NAME, frozenset(("attention_dropout", "layer_scale_init_value"))
    ),
}
