"""timm's EVA: EVA, EVA-02, the Perception Encoders, and DINOv3's and other vision transformers with rotary positions, one class with many switches.

Source: timm 1.0.31, timm/models/eva.py, timm/layers/{attention,attention_pool,mlp,pos_embed_sincos}.py, whose live classes the tests hold
this to. A model is named (``architecture``), or its arguments are given.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import decimal_ratio
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.modules.vit_common import grid
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.packages.timm_vit import IMAGES, WIDTHS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, exact, layer_range, round_up
from weighbridge.core.tree import Node, Part, Tensor

NORMS = ("layernorm", "rmsnorm", "simplenorm")


def _kv_heads(c: Config) -> list[int]:
    """Return the key-value heads of every layer: as many as heads, one number for all, or a list."""
    stated = c.grouped
    if isinstance(stated, (list, tuple)):
        found = [int(c.heads) if heads is None else heads for heads in stated]
        if len(found) != len(layer_range(c.layers)) or any(type(heads) is not int or heads < 1 for heads in found):
            raise ConfigError("expected a whole number for each layer", key="num_kv_heads", value=stated)
        return found
    return [c.heads if stated is None else stated for _ in layer_range(c.layers)]


FIELDS = (
    *IMAGES,
    choice("pool", "global_pool", "avg", read=one_of("global_pool", "", "avg", "avgmax", "max", "token", "map")),
    *WIDTHS,
    Field("grouped", "num_kv_heads", None, "choice", report_default=False),
    *decimal_ratio("embed_dim"),
    switch("qkv_bias", "qkv_bias", True, report_default=False),
    switch("fused", "qkv_fused", True, report_default=False),
    switch("qk_norm", "qk_norm", False, report_default=False),
    switch("gated", "swiglu_mlp", False, report_default=False),
    choice("multiple", "swiglu_align_to", 0, report_default=False),
    switch("scale_mlp", "scale_mlp", False, report_default=False),
    switch("scale_attn", "scale_attn_inner", False, report_default=False),
    choice("attention", "attn_type", "eva", read=one_of("attn_type", "eva", "rope"), report_default=False),
    choice("scaled", "init_values", None, read=bool, report_default=False),
    switch("attention_scaled_alone", "attn_only_layer_scale", False, report_default=False),
    switch("class_token", "class_token", True, report_default=False),
    choice("registers", "num_reg_tokens", 0, report_default=False),
    switch("patches_alone", "no_embed_class", False, report_default=False),
    switch("positioned", "use_abs_pos_emb", True, report_default=False),
    switch("rotary", "use_rot_pos_emb", False, report_default=False),
    choice("rotary_kind", "rope_type", "cat", report_default=False),
    switch("post_norm", "use_post_norm", False, report_default=False),
    switch("pre_norm", "use_pre_transformer_norm", False, report_default=False),
    choice("last_norm", "use_post_transformer_norm", None, report_default=False),
    choice("fc_norm", "use_fc_norm", None, report_default=False),
    choice("norm", "norm_layer", "layernorm", read=one_of("norm_layer", *NORMS), report_default=False),
    size("pool_heads", "attn_pool_num_heads", lambda c: c.heads, "A_pool", "heads that pool", null=lambda c: c.heads, report_default=False),
    choice("pool_ratio", "attn_pool_mlp_ratio", None, report_default=False),
    computed("kv_heads", _kv_heads),
    computed("tokens", lambda c: (1 if c.class_token else 0) + int(c.registers)),
    computed("normed_late", lambda c: c.pool == "avg" if c.fc_norm is None else bool(c.fc_norm)),
    computed("normed_last", lambda c: not c.normed_late if c.last_norm is None else bool(c.last_norm)),
)


def norm(c: Config, name: str, width: Size) -> Part:
    """Describe a norm of the kind that the model has."""
    return layer_norm(name, width) if c.norm == "layernorm" else rms_norm(name, width)


def attention(c: Config, kv_heads: Size) -> Part:
    """Describe attention, whose keys have no bias in EVA's own kind; fused, its biases are two vectors."""
    H = c.hidden
    biased_keys = c.qkv_bias and c.attention == "rope"
    inner: list[Node] = []
    if c.fused:
        whole = c.attention == "rope"
        inner += () if whole or not c.qkv_bias else (Tensor("q_bias", (H,), "bias"), Tensor("v_bias", (H,), "bias"))
        inner.append(linear("qkv", H, 3 * H, bias=whole and c.qkv_bias))
    else:
        wide = kv_heads * c.head_dim
        keys = linear("k_proj", H, wide, bias=biased_keys), linear("v_proj", H, wide, bias=c.qkv_bias)
        inner += linear("q_proj", H, H, bias=c.qkv_bias), *keys
    normed = c.qk_norm and not c.post_norm
    inner += (norm(c, "q_norm", c.head_dim), norm(c, "k_norm", c.head_dim)) if normed else ()
    inner += (norm(c, "norm", H),) if c.scale_attn else ()
    return part("attn", *inner, linear("proj", H, H), attend(heads=c.heads, kv_heads=kv_heads, head_dim=c.head_dim), kind="self_attention")


def feed_forward(c: Config) -> Part:
    """Describe the MLP: plain; gated with one map; or with two, where it has a norm inside or a width that is rounded up."""
    H, I = c.hidden, c.mlp
    normed = (norm(c, "norm", I),) if c.scale_mlp else ()
    if not c.gated:
        return part("mlp", linear("fc1", H, I), *normed, linear("fc2", I, H), kind="feed_forward")
    if not (c.scale_mlp or (c.multiple and not c.post_norm)):
        return part("mlp", linear("fc1", H, 2 * I), linear("fc2", I, H), kind="feed_forward")
    I = round_up(I, int(c.multiple)) if c.multiple else I
    normed = (norm(c, "norm", I),) if c.scale_mlp else ()
    return part("mlp", linear("fc1_g", H, I), linear("fc1_x", H, I), *normed, linear("fc2", I, H), kind="feed_forward")


def layer(c: Config, kv_heads: Size) -> tuple[Node, ...]:
    """Describe a layer, with its norms in front or behind."""
    H = c.hidden
    if c.post_norm:
        return attention(c, kv_heads), norm(c, "norm1", H), feed_forward(c), norm(c, "norm2", H)
    gammas = ("gamma_1", *(() if c.attention_scaled_alone else ("gamma_2",))) if c.scaled else ()
    scales = tuple(Tensor(name, (H,), "gain") for name in gammas)
    return *scales, norm(c, "norm1", H), attention(c, kv_heads), norm(c, "norm2", H), feed_forward(c)


def attention_pool(c: Config, tokens: Size) -> Part:
    """Describe attention of one learned query to all tokens, and an MLP on what it finds."""
    H = c.hidden
    inner = c.mlp if not c.pool_ratio else exact(H * int(c.pool_ratio * 1000), 1000)
    mlp = part("mlp", linear("fc1", H, inner), linear("fc2", inner, H), kind="feed_forward")
    scores = attend(heads=c.pool_heads, head_dim=exact(H, c.pool_heads), keys=tokens)
    maps = linear("q", H, H), linear("kv", H, 2 * H, stream=tokens), linear("proj", H, H)
    query = Tensor("latent", (1, 1, H), "embedding")
    return part("attn_pool", query, *maps, norm(c, "norm", H), mlp, scores, kind="pooler", stream="one")


def eva(c: Config) -> Part:
    """Describe Eva: patches with learned positions, rotary ones or both; layers; and a head on what is pooled."""
    H, (rows, columns) = c.hidden, grid(c)
    patches = rows * columns
    tokens = patches + c.tokens
    first = (Tensor("cls_token", (1, 1, H), "embedding"),) if c.class_token else ()
    registers = (Tensor("reg_token", (1, c.registers, H), "embedding"),) if c.registers else ()
    table = (Tensor("pos_embed", (1, patches if c.patches_alone else tokens, H), "embedding"),) if c.positioned else ()
    mixed = c.rotary and c.rotary_kind == "mixed"
    angles = Tensor("freqs", (2, c.layers, c.heads, exact(c.head_dim, 2)), "weight") if mixed else None
    embed = conv2d("proj", c.channels, H, (c.patch_height, c.patch_width), bias=not c.pre_norm, stream=patches)
    return part(
        "",
        *first,
        *registers,
        *table,
        part("patch_embed", embed, kind="embeddings"),
        *((part("rope", angles, kind="rotary", stream=0),) if angles is not None else ()),
        *((norm(c, "norm_pre", H),) if c.pre_norm else ()),
        *stack("blocks", c.kv_heads, c.layers, lambda kv_heads: layer(c, kv_heads)),
        *((norm(c, "norm", H),) if c.normed_last else ()),
        *((attention_pool(c, tokens),) if c.pool == "map" else ()),
        *((replace(norm(c, "fc_norm", H), stream="one"),) if c.normed_late else ()),
        *((linear("head", H, c.labels, stream="one"),) if c.headed else ()),
        kind="model",
        stream=tokens,
    )


IGNORED_KEYS = frozenset(
    """architecture attn_drop_rate drop_path_rate drop_rate dynamic_img_pad dynamic_img_size head_init_scale model_args num_features
    patch_drop_rate pos_drop_rate pretrained_cfg proj_drop_rate ref_feat_shape rope_grid_indexing rope_grid_offset rope_jitter_coords
    rope_mrope_section rope_rescale_coords rope_rotate_half rope_shift_coords rope_temperature""".split()
)
FAMILIES = {"timm_eva": Family("timm_eva", FIELDS, {"timm.Eva": eva}, "timm.Eva", IGNORED_KEYS, normalize_config=arguments_of)}
