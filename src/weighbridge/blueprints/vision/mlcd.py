"""MLCD: CLIP's vision tower with rotary positions, the class token's learned.

Source: arXiv 2407.17331; names as in transformers 5.23.0, models/mlcd/modeling_mlcd.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS, WHOLE_HEADS, feed_forward
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import conv2d, fairseq_attention, layer_norm, part
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    size("hidden", "hidden_size", 1664, "H", "hidden size"),
    size("mlp", "intermediate_size", 8192, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 48, "L", "layers"),
    size("heads", "num_attention_heads", 16, "A", "attention heads"),
    WHOLE_HEADS,
    size("image", "image_size", 336, "R", "side of the image"),
    size("patch", "patch_size", 14, "P", "side of a patch"),
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
    name: Family(name, FIELDS, {"MLCDVisionModel": mlcd}, "MLCDVisionModel", OWN_IGNORED_KEYS) for name in ("mlcd", "mlcd_vision_model")
}
