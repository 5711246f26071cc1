"""V-JEPA 2: a video encoder with rotary positions, a predictor, and an attentive pooler.

Source: arXiv 2506.09985; names as in transformers 5.23.0, models/vjepa2/modeling_vjepa2.py. Its arithmetic is that of a call
without masks: the predictor sees every cube as context and again as target.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import decimal_ratio, number, ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS, QKV_BIAS, cubes, token
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, PATCH, Config, computed, derived, size
from weighbridge.core.parts import attend, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    HIDDEN.with_default(1024),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    *decimal_ratio("hidden"),
    size("image", "crop_size", 256, "R", "image size"),
    PATCH.with_default(16),
    size("channels", "in_chans", 3, "N", "image channels"),
    number("frames", "frames_per_clip", 64),
    number("tubelet", "tubelet_size", 2),
    # Fewer frames than a cube has are repeated, each as often as the cube is deep.
    computed("depth", lambda c: c.frames // c.tubelet or c.frames),
    size("poolers", "num_pooler_layers", 3, "K", "layers of the pooler", minimum=0),
    size("predictor_hidden", "pred_hidden_size", 384, "E", "hidden size of the predictor"),
    size("predictor_layers", "pred_num_hidden_layers", 12, "M", "layers of the predictor"),
    size("predictor_heads", "pred_num_attention_heads", 12, "B", "attention heads of the predictor"),
    size("masks", "pred_num_mask_tokens", 10, "Q", "mask tokens"),
    ratio("predictor_ratio", "pred_mlp_ratio", 4.0),
    LABELS,
    QKV_BIAS,
)


def feed_forward(hidden: Size, inner: Size) -> Part:
    """Describe two linear maps and the width between them."""
    return part("mlp", linear("fc1", hidden, inner), linear("fc2", inner, hidden), kind="feed_forward")


def layer(c: Config, hidden: Size, heads: Size, inner: Size) -> tuple[Node, ...]:
    """Describe a layer of the encoder or the predictor."""
    attention = part(
        "attention",
        *(linear(name, hidden, hidden, bias=c.qkv_bias) for name in ("query", "key", "value")),
        linear("proj", hidden, hidden),
        attend(heads=heads, head_dim=exact(hidden, heads)),
        kind="self_attention",
    )
    return layer_norm("norm1", hidden), attention, layer_norm("norm2", hidden), feed_forward(hidden, inner)


def places(c: Config) -> Size:
    """Count the cubes of a clip."""
    across: Size = c.image // c.patch
    depth: Size = c.depth
    return across * across * depth


def vjepa2(c: Config, name: str = "") -> Part:
    """Describe VJEPA2Model; where it is a backbone, the predictor does not run."""
    H, E, seen = c.hidden, c.predictor_hidden, places(c)
    embedded = part("patch_embeddings", cubes("proj", c, (c.tubelet, c.patch, c.patch), seen), kind="embeddings")
    encoder = part(
        "encoder",
        part("embeddings", embedded, kind="embeddings"),
        part("layer", *layer(c, H, c.heads, c.mlp), kind="layer", repeat=c.layers),
        layer_norm("layernorm", H),
        kind="encoder",
        stream=seen,
    )
    masks = Tensor("mask_tokens", (c.masks, 1, 1, E), "embedding")
    predictor = part(
        "predictor",
        part("embeddings", masks, linear("predictor_embeddings", H, E, stream=seen), kind="embeddings"),
        part("layer", *layer(c, E, c.predictor_heads, scale_width(E, c.predictor_ratio)), kind="layer", repeat=c.predictor_layers),
        layer_norm("layernorm", E),
        linear("proj", E, H, stream=seen),
        kind="decoder",
        stream=seen + seen,
        requires="targets" if name else None,
    )
    return part(name, encoder, predictor, kind="backbone" if name else "model")


def attentive_pooler(c: Config) -> Part:
    """Describe the pooler: layers over all cubes, then one learned vector that attends to them."""
    H, seen = c.hidden, places(c)
    own = tuple(linear(name, H, H, stream=seen) for name in ("k_proj", "v_proj"))
    asked = attend(heads=c.heads, head_dim=c.head_dim, queries=1, keys=seen)
    among = attend(heads=c.heads, head_dim=c.head_dim)
    crossed = part("cross_attn", *own, linear("q_proj", H, H), asked, kind="cross_attention")
    looked = part("self_attn", *own, linear("q_proj", H, H), linear("out_proj", H, H), among, kind="self_attention")
    last = layer_norm("layer_norm2", H), feed_forward(H, 4 * H)
    return part(
        "pooler",
        token("query_tokens", H),
        part("cross_attention_layer", layer_norm("layer_norm1", H), crossed, *last, kind="layer", stream="one"),
        part("self_attention_layers", layer_norm("layer_norm1", H), looked, *last, kind="layer", repeat=c.poolers, stream=seen),
        kind="pooler",
    )


def classification(c: Config) -> Part:
    """Describe VJEPA2ForVideoClassification: one output per label on the pooled vector."""
    return part("", vjepa2(c, "vjepa2"), attentive_pooler(c), linear("classifier", c.hidden, c.labels, stream="one"), kind="model")


CLASSES = {"VJEPA2Model": vjepa2, "VJEPA2ForVideoClassification": classification}

FAMILIES = {"vjepa2": Family("vjepa2", FIELDS, CLASSES, "VJEPA2Model", IGNORED_KEYS | {"image_size", "pred_zero_init_mask_tokens"})}
