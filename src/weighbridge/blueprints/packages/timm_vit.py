"""timm's vision transformers: ViT, DeiT, and those of SigLIP, CLIP, DINOv2 and others, one class with many switches.

Source: timm 1.0.31, timm/models/vision_transformer.py and deit.py, timm/layers/attention_pool.py, whose live classes the tests hold
this to. A model is named (``architecture``), or its arguments are given.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.stage_fields import decimal_ratio
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.modules.timm_stems import patch_embed, refuse_other_width, stem
from weighbridge.blueprints.modules.vit_common import grid, token
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, derived, sides, size, switch
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

NORMS = ("layernorm", "rmsnorm", "simplenorm")


def _tokens(c: Config) -> int:
    return (1 if c.class_token else 0) + (1 if c.distilled else 0) + int(c.registers)


IMAGES = (
    *sides("image", "img_size", 224, "R", "image size"),
    *sides("patch", "patch_size", 16, "P", "patch size"),
    size("channels", "in_chans", 3, "N", "image channels"),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
)
"""What timm's transformers take and give: images in patches, and labels."""
WIDTHS = (
    size("hidden", "embed_dim", 768, "H", "width"),
    size("layers", "depth", 12, "L", "layers"),
    size("heads", "num_heads", 12, "A", "attention heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "embed_dim", "num_heads"),
)
FIELDS = (
    *IMAGES,
    choice("pool", "global_pool", "token", read=one_of("global_pool", "", "avg", "avgmax", "max", "token", "map")),
    *WIDTHS,
    *decimal_ratio("embed_dim"),
    switch("qkv_bias", "qkv_bias", True, report_default=False),
    switch("qk_norm", "qk_norm", False, report_default=False),
    switch("scale_attn_norm", "scale_attn_norm", False, report_default=False),
    switch("scale_mlp_norm", "scale_mlp_norm", False, report_default=False),
    switch("proj_bias", "proj_bias", True, report_default=False),
    choice("scaled", "init_values", None, read=bool, report_default=False),
    switch("class_token", "class_token", True, report_default=False),
    choice("positioned", "pos_embed", "learn", read=lambda value: value == "learn", report_default=False),
    switch("patches_alone", "no_embed_class", False, report_default=False),
    choice("registers", "reg_tokens", 0, report_default=False),
    switch("pooled_whole", "pool_include_prefix", False, report_default=False),
    switch("pre_norm", "pre_norm", False, report_default=False),
    switch("final_norm", "final_norm", True, report_default=False),
    choice("fc_norm", "fc_norm", None, report_default=False),
    choice("embed_norm", "embed_norm_layer", None, report_default=False),
    choice("norm", "norm_layer", "layernorm", read=one_of("norm_layer", *NORMS), report_default=False),
    choice("mlp_kind", "mlp_layer", "Mlp", read=one_of("mlp_layer", "Mlp", "SwiGLU", "GluMlp", "GeGluMlp"), report_default=False),
    choice("block", "block_fn", "Block", read=one_of("block_fn", "Block", "ResPostBlock"), report_default=False),
    choice("attention", "attn_layer", "Attention", read=one_of("attn_layer", "Attention"), report_default=False),
    switch("distilled", "distilled", False, report_default=False),
    choice("stem", "embed_layer", None, read=stem, report_default=False),
    choice("stated_width", "embed_dim", 768, report_default=False),
    computed("stem_fits", refuse_other_width),
    computed("tokens", _tokens),
    computed("normed_late", lambda c: c.pool in ("avg", "avgmax", "max") if c.fc_norm is None else bool(c.fc_norm)),
)


def norm(c: Config, name: str, width: Size) -> Part:
    """Describe a norm of the kind that the model has."""
    return layer_norm(name, width) if c.norm == "layernorm" else rms_norm(name, width)


def feed_forward(c: Config) -> Part:
    """Describe the MLP: plain, or gated with one map or two."""
    H, I, bias = c.hidden, c.mlp, c.proj_bias
    inner = (norm(c, "norm", I),) if c.scale_mlp_norm else ()
    if c.mlp_kind == "SwiGLU":
        gates = linear("fc1_g", H, I, bias=bias), linear("fc1_x", H, I, bias=bias)
        return part("mlp", *gates, *inner, linear("fc2", I, H, bias=bias), kind="feed_forward")
    if c.mlp_kind == "GeGluMlp":  # ViTamin's, with a norm of its own in front
        gates = linear("w0", H, I, bias=bias), linear("w1", H, I, bias=bias)
        return part("mlp", norm(c, "norm", H), *gates, linear("w2", I, H, bias=bias), kind="feed_forward")
    narrow = exact(I, 2) if c.mlp_kind == "GluMlp" else I
    inner = (norm(c, "norm", narrow),) if c.scale_mlp_norm else ()
    return part("mlp", linear("fc1", H, I, bias=bias), *inner, linear("fc2", narrow, H, bias=bias), kind="feed_forward")


def layer(c: Config) -> Part:
    """Describe a layer, with its norms in front or behind."""
    H, wide = c.hidden, c.heads * c.head_dim
    attention = part(
        "attn",
        linear("qkv", H, 3 * wide, bias=c.qkv_bias),
        *((norm(c, "q_norm", c.head_dim), norm(c, "k_norm", c.head_dim)) if c.qk_norm else ()),
        *((norm(c, "norm", wide),) if c.scale_attn_norm else ()),
        linear("proj", wide, H, bias=c.proj_bias),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    norms = norm(c, "norm1", H), norm(c, "norm2", H)
    if c.block == "ResPostBlock":
        children: tuple[Node, ...] = attention, norms[0], feed_forward(c), norms[1]
    else:
        scales = [(part(name, Tensor("gamma", (H,), "gain")),) if c.scaled else () for name in ("ls1", "ls2")]
        children = norms[0], attention, *scales[0], norms[1], feed_forward(c), *scales[1]
    return part("blocks", *children, kind="layer", repeat=c.layers)


def attention_pool(c: Config, tokens: Size) -> Part:
    """Describe attention of one learned query to the patches, or to all *tokens*, and an MLP on what it finds."""
    H = c.hidden
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    return part(
        "attn_pool",
        Tensor("latent", (1, 1, H), "embedding"),
        linear("q", H, H),
        linear("kv", H, 2 * H, stream=tokens),
        linear("proj", H, H),
        norm(c, "norm", H),
        mlp,
        attend(heads=c.heads, head_dim=c.head_dim, keys=tokens),
        kind="pooler",
        stream="one",
    )


def patch_embedding(c: Config) -> tuple[tuple[Part, ...], Size]:
    """Describe what makes vectors of the image, a convolution or a network of them, and count the vectors."""
    if c.stem is not None:
        inner, places = patch_embed(c)
        return inner, area(places)
    patches = area(grid(c))
    return (conv2d("proj", c.channels, c.hidden, (c.patch_height, c.patch_width), bias=not c.pre_norm, stream=patches),), patches


def vision_transformer(c: Config) -> Part:
    """Describe VisionTransformer, and DeiT's with a second token and a second head."""
    H = c.hidden
    embed, patches = patch_embedding(c)
    tokens, late = patches + c.tokens, c.final_norm and c.normed_late
    first = (Tensor("cls_token", (1, 1, H), "embedding"),) if c.class_token else ()
    registers = (Tensor("reg_token", (1, c.registers, H), "embedding"),) if c.registers else ()
    table = (Tensor("pos_embed", (1, patches if c.patches_alone and not c.distilled else tokens, H), "embedding"),) if c.positioned else ()
    heads = ("head", "head_dist") if c.distilled else ("head",)
    labelled = "one" if c.pool or c.distilled else None  # unpooled, every token gets labels
    return part(
        "",
        *first,
        *registers,
        *table,
        *((token("dist_token", H),) if c.distilled else ()),
        part("patch_embed", *embed, *((norm(c, "norm", H),) if c.embed_norm else ()), kind="embeddings"),
        *((norm(c, "norm_pre", H),) if c.pre_norm else ()),
        layer(c),
        *((norm(c, "norm", H),) if c.final_norm and not c.normed_late else ()),
        *((attention_pool(c, tokens if c.pooled_whole else patches),) if c.pool == "map" else ()),
        *((norm(c, "fc_norm", H),) if late else ()),
        *((linear(name, H, c.labels, stream=labelled) for name in heads) if c.headed else ()),
        kind="model",
        stream=tokens,
    )


IGNORED_KEYS = frozenset(
    """act_layer architecture attn_drop_rate drop_path_rate drop_rate dynamic_img_pad dynamic_img_size fix_init model_args num_features
    patch_drop_rate pos_drop_rate pretrained_cfg proj_drop_rate strict_img_size weight_init""".split()
)
FAMILIES = {
    "timm_vit": Family(
        "timm_vit",
        FIELDS,
        {"timm.VisionTransformer": vision_transformer},
        "timm.VisionTransformer",
        IGNORED_KEYS,
        normalize_config=arguments_of,
    )
}
