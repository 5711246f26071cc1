"""MLCD: CLIP's vision tower with 2-D rotary positions and a learned class position.

Source: arXiv 2407.17331; names as in transformers 5.23.0, models/mlcd/modeling_mlcd.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS, WHOLE_HEADS, feed_forward
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, IMAGE, LAYERS, MLP, PATCH, Config
from weighbridge.core.parts import conv2d, fairseq_attention, layer_norm, part
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    HIDDEN.with_default(1664),
    MLP.with_default(8192),
    LAYERS.with_default(48),
    HEADS.with_default(16),
    WHOLE_HEADS,
    IMAGE.with_default(336),
    PATCH.with_default(14),
    CHANNELS,
)


def mlcd(c: Config) -> Part:
    """Describe MLCDVisionModel."""
    H, across = c.hidden, c.image // c.patch
    patch = conv2d("patch_embedding", c.channels, H, c.patch, stream=across * across, bias=False)
    layer = part(
        "layers",
        fairseq_attention("self_attn", H, c.heads, c.head_dim),
        layer_norm("layer_norm1", H),
        feed_forward(c),
        layer_norm("layer_norm2", H),
        kind="layer",
        repeat=c.layers,
    )
    return part(
        "",
        Tensor("class_pos_emb", (1, c.head_dim // 2), "embedding"),
        part("embeddings", Tensor("class_embedding", (H,), "embedding"), patch, kind="embeddings"),
        layer_norm("pre_layrnorm", H),
        part("encoder", layer, kind="encoder"),
        layer_norm("post_layernorm", H, stream="one"),
        kind="model",
        stream=across * across + 1,
    )


OWN_IGNORED_KEYS = IGNORED_KEYS | {"num_key_value_groups"}

FAMILIES = {
    name: Family(name, uneven_heads(FIELDS), {"MLCDVisionModel": mlcd}, "MLCDVisionModel", OWN_IGNORED_KEYS)
    for name in ("mlcd", "mlcd_vision_model")
}
