"""InternVL, Idefics 3, SmolVLM, Aya Vision and Command A Vision: squares of patches are put side by side before they meet the text.

Source: arXiv 2504.10479 (InternVL 3), 2408.12637 (Idefics 3), 2504.05299 (SmolVLM), 2505.08751 (Aya Vision); names as in
transformers 5.23.0, models/internvl/modeling_internvl.py, models/idefics3, models/aya_vision and models/cohere2_vision.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.composite import composed, submodel, under
from weighbridge.blueprints.grids import CHANNELS
from weighbridge.blueprints.llava import body, kin
from weighbridge.blueprints.seeing import NEUTRAL, alone, generation, seen, tokens
from weighbridge.blueprints.towers import encoder, image_fields, stack_fields
from weighbridge.blueprints.vision import WHOLE_HEADS, patches, projection, token
from weighbridge.config import Field, Sizes, choice, fact, sides, size, switch
from weighbridge.parts import attend, conv2d, embedding, layer_norm, linear, plain_mlp, rms_norm
from weighbridge.sizes import Size
from weighbridge.tree import Node, Part, Span, Stream, Tensor, Untold

BEIT = (
    *stack_fields(1024, 4096, 16, 24)[:-1],
    WHOLE_HEADS,
    *sides("image", "image_size", 448, "R", "side of the image"),
    *sides("patch", "patch_size", 14, "P", "side of a patch"),
    CHANNELS,
    switch("qkv_bias", "attention_bias", False),
    switch("normed", "use_qk_norm", False),
    choice("norm", "norm_type", "layer_norm"),
    switch("masked", "use_mask_token", False),
    switch("absolute", "use_absolute_position_embeddings", True),
    switch("mean", "use_mean_pooling", True),
)
SIGHT = (*stack_fields(1152, 3072, 16), *image_fields(224, 32))


def internvl_vision(c: Sizes) -> Part:
    """Describe InternVL's tower: a vision transformer with learned scales behind each half of a layer."""
    H = c.hidden
    norm = layer_norm if c.norm == "layer_norm" else rms_norm
    attention = Part("attention", (
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "qkv"),
        linear("projection_layer", H, H),
        *((rms_norm("q_norm", H), rms_norm("k_norm", H)) if c.normed else ()),
        attend(heads=c.heads, head_dim=c.head_dim),
    ), "self_attention")  # fmt: skip
    layer = Part("layer", (
        *(Tensor(name, (H,), "gain") for name in ("lambda_1", "lambda_2")),
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        norm("layernorm_before", H),
        norm("layernorm_after", H),
    ), "layer", repeat=c.layers)  # fmt: skip
    embeddings = Part("embeddings", (
        token("cls_token", H),
        *((token("mask_token", H),) if c.masked else ()),
        *((token("position_embeddings", H, patches(c) + 1),) if c.absolute else ()),
        Part("patch_embeddings", (projection(c),), "embeddings"),
    ), "embeddings")  # fmt: skip
    last = () if c.mean else (layer_norm("layernorm", H),)
    return Part("", (embeddings, Part("encoder", (layer,), "encoder"), *last), "vision", stream=patches(c) + 1)


def idefics3_vision(c: Sizes) -> Part:
    """Describe Idefics 3's tower: SigLIP's without a class token and without a pooling query."""
    H = c.hidden
    patch = conv2d("patch_embedding", c.channels, H, c.patch)
    embeddings = Part("embeddings", (patch, embedding("position_embedding", c.patches, H)), "embeddings")
    return Part("", (embeddings, encoder(c), layer_norm("post_layernorm", H)), "vision", stream=c.patches)


def squares(stream: Stream, side: Size) -> Stream:
    """Return the stream of squares of patches; what cannot be cut into squares does not run."""
    return stream if isinstance(stream, Untold) else Span(stream, over=side * side, evenly=True)


def internvl_projector(c: Sizes, tower: Part) -> Part:
    """Describe a norm and two linear layers over squares of patches."""
    wide = c.vision.hidden * c.shuffle**2
    return Part("multi_modal_projector", (
        layer_norm("layer_norm", wide),
        linear("linear_1", wide, c.text.hidden),
        linear("linear_2", c.text.hidden, c.text.hidden),
    ), "projector", stream=squares(tokens(tower, c.select), c.shuffle))  # fmt: skip


def gated_projector(c: Sizes, tower: Part) -> Part:
    """Describe two linear layers over squares of patches, between which one half gates the other."""
    wide = c.vision.hidden * c.factor * c.factor
    return Part("multi_modal_projector", (
        *((layer_norm("layernorm", wide),) if c.normed else ()),
        linear("linear_1", wide, c.aligned),
        linear("linear_2", c.aligned // 2, c.text.hidden),
    ), "projector", stream=squares(tokens(tower, c.select), c.factor))  # fmt: skip


def idefics3(c: Sizes) -> tuple[Node, ...]:
    """Describe the tower, one linear layer over squares of patches, and the text."""
    tower = submodel(c.vision)
    proj = linear("proj", c.vision.hidden * c.factor * c.factor, c.text.hidden, bias=False)
    stream = squares(tokens(tower), c.factor)
    return (
        under("vision_model", tower, given="images", runs="images"),
        seen(Part("connector", (Part("modality_projection", (proj,), "projector"),), "projector", stream=stream)),
        under("text_model", submodel(c.text)),
    )


INTERNVL = (
    composed("vision", "vision_config", "internvl_vision", fixed=True),
    composed("text", "text_config", "qwen2 llama qwen3"),
    choice("shuffle", "downsample_ratio", 0.5, read=lambda ratio: int(1 / ratio)),
    choice("select", "vision_feature_select_strategy", "default"),
    switch("tied", "tie_word_embeddings", True),
)
FACTOR = size("factor", "downsample_factor", 2, "F", "patches merged along an axis")


def gated(vision: dict[str, int | bool], aligned: Field, *more: Field) -> tuple[Field, ...]:
    """List the fields of the two of Cohere."""
    return (
        composed("vision", "vision_config", "siglip_vision_model", absent=vision),
        composed("text", "text_config", "cohere2 cohere"),
        FACTOR,
        aligned,
        switch("tied", "tie_word_embeddings", True),
        *more,
    )


WIDTH = ("aligned", "alignment_intermediate_size")
AYA = gated(
    {"hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14, "image_size": 384, "num_hidden_layers": 26,
     "num_attention_heads": 14, "vision_use_head": False},
    size(*WIDTH, lambda c: c.text.hidden, "E", "width inside the projector"),
    choice("select", "vision_feature_select_strategy", "full"),
    fact("normed", True),
)  # fmt: skip
COMMAND = gated(
    {"hidden_size": 1152, "intermediate_size": 3072, "image_size": 512, "num_hidden_layers": 27, "num_attention_heads": 12},
    size(*WIDTH, 36864, "E", "width inside the projector"),
    fact("select", "full"),
    fact("normed", False),
)


def small(name: str, prefix: str) -> dict[str, Family]:
    """Return Idefics 3 or SmolVLM, which differ in name alone: the whole, and its tower."""
    fields = (
        composed("vision", "vision_config", f"{name}_vision", fixed=True),
        composed("text", "text_config", "llama", absent={"rms_norm_eps": 1e-05}),
        size("factor", "scale_factor", 2, "F", "patches merged along an axis"),
        switch("tied", "tie_word_embeddings", False),
    )
    classes = {f"{prefix}Model": alone(idefics3), f"{prefix}ForConditionalGeneration": generation(idefics3, "text_model.embed_tokens")}
    tower = f"{prefix}VisionTransformer"
    return {
        name: Family(name, fields, classes, f"{prefix}Model", NEUTRAL),
        f"{name}_vision": Family(f"{name}_vision", SIGHT, {tower: idefics3_vision}, tower),
    }


FAMILIES = {
    "internvl": kin("internvl", "InternVL", INTERNVL, lambda c: body(c, internvl_projector), "vision_feature_layer"),
    "internvl_vision": Family(
        "internvl_vision", BEIT, {"InternVLVisionModel": internvl_vision}, "InternVLVisionModel", frozenset(("layer_scale_init_value",))
    ),
    "aya_vision": kin("aya_vision", "AyaVision", AYA, lambda c: body(c, gated_projector), "adapter_layer_norm_eps vision_feature_layer"),
    "cohere2_vision": kin("cohere2_vision", "Cohere2Vision", COMMAND, lambda c: body(c, gated_projector)),
    **small("idefics3", "Idefics3"),
    **small("smolvlm", "SmolVLM"),
}
