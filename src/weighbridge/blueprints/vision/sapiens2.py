"""Sapiens2: DINOv3's structure with RMS norms and, in the middle layers, grouped-query attention.

Source: names as in transformers 5.23.0, models/sapiens2/modeling_sapiens2.py. Its heads have no default and are not described.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.layer_types import one_per_layer
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import VIT_IMAGE, VIT_PATCH, WHOLE_HEADS, projection, token
from weighbridge.blueprints.vision.dinov2 import OWN_IGNORED_KEYS, REGISTERS, scale, tokens
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, Config, choice, constant, size, switch
from weighbridge.core.parts import attend, gated_mlp, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part


def kinds(c: Config) -> list[int]:
    """Return each layer's heads of keys and values; 0 is as many as queries have, -1 the number of the middle layers."""
    if c.stated_kinds is not None:
        heads = one_per_layer(c, c.stated_kinds, "num_key_value_heads_per_layer")
        return [0 if entry == c.heads else int(entry) for entry in heads]
    return [0 if index < c.first or index >= c.layers - c.last else -1 for index in layer_range(c.layers)]


FIELDS = (
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    size("kv_heads", "num_key_value_attention_heads", 8, "K", "key and value heads"),
    *(WHOLE_HEADS, *VIT_IMAGE, *VIT_PATCH, CHANNELS, REGISTERS.with_default(8)),
    number("first", "num_first_full_attention_layers", 8, minimum=0),
    number("last", "num_last_full_attention_layers", 8, minimum=0),
    choice("stated_kinds", "num_key_value_heads_per_layer", None),
    constant("kinds", kinds),
    switch("masked", "use_mask_token", False),
    switch("gated", "use_gated_mlp", True),
    switch("head_norms", "use_qk_norm", True),
    switch("query_bias", "query_bias", True),
    switch("key_bias", "key_bias", True),
    switch("value_bias", "value_bias", True),
    switch("output_bias", "proj_bias", True),
    switch("mlp_bias", "mlp_bias", True),
)


def layer(c: Config, kind: int) -> tuple[Node, ...]:
    """Describe a layer; only behind attention is there a learned scale."""
    H = c.hidden
    kept: Size = c.heads if kind == 0 else c.kv_heads if kind < 0 else kind
    inner = kept * c.head_dim
    attention = part(
        "attention",
        linear("q_proj", H, H, bias=c.query_bias),
        linear("o_proj", H, H, bias=c.output_bias),
        linear("k_proj", H, inner, bias=c.key_bias),
        linear("v_proj", H, inner, bias=c.value_bias),
        *((rms_norm("q_norm", c.head_dim), rms_norm("k_norm", c.head_dim)) if c.head_norms else ()),
        attend(heads=c.heads, kv_heads=kept, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = (gated_mlp if c.gated else plain_mlp)("mlp", H, c.mlp, bias=c.mlp_bias)
    return rms_norm("norm1", H), attention, scale("layer_scale1", H), rms_norm("norm2", H), mlp


def layers(c: Config) -> tuple[Part, ...]:
    """Describe the layers, of which the first and the last have all heads of keys and values."""
    return stack("layer", c.kinds, c.layers, lambda kind: layer(c, kind))


def sapiens2(c: Config) -> Part:
    """Describe Sapiens2Model and Sapiens2Backbone: rotary positions, no table of them."""
    H = c.hidden
    masked = (token("mask_token", H),) if c.masked else ()
    learned = token("cls_token", H), *masked, token("register_tokens", H, c.registers)
    embeddings = part("embeddings", *learned, projection(c, "patch_embeddings"), kind="embeddings")
    return part("", embeddings, part("model", *layers(c), kind="encoder"), rms_norm("norm", H), kind="model", stream=tokens(c))


def encoder(c: Config) -> Part:
    """Describe Sapiens2Encoder: only the layers, over as many vectors as one gives it."""
    return part("", *layers(c), kind="encoder", stream="seq")


CLASSES = {"Sapiens2Encoder": encoder, "Sapiens2Model": sapiens2, "Sapiens2Backbone": sapiens2}

FAMILIES = {
    "sapiens2": Family(
        "sapiens2",
        uneven_heads(FIELDS),
        CLASSES,
        "Sapiens2Model",
        OWN_IGNORED_KEYS | {"flip_pairs", "head_config", "normalize_backbone_outputs", "semantic_loss_ignore_index"},
    )
}
