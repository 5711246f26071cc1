"""MGP-STR: scene-text recognition with a vision transformer that predicts characters, BPE tokens and word pieces.

Source: arXiv 2209.03592, section 3; names as in transformers 5.23.0, models/mgp_str/modeling_mgp_str.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vit_common import QKV_BIAS, VIT_HEADS, VIT_HIDDEN, VIT_LAYERS, WHOLE_HEADS, patches, projection, token
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, sides, size, switch
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    VIT_HIDDEN,
    VIT_LAYERS,
    VIT_HEADS,
    WHOLE_HEADS,
    CHANNELS,
    QKV_BIAS,
    *sides("image", "image_size", (32, 128), "R", "image size"),
    *sides("patch", "patch_size", 4, "P", "patch size"),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    switch("distilled", "distilled", False),
    size("longest", "max_token_length", 27, "T", "longest text"),
    size("characters", "num_character_labels", 38, "C", "characters"),
    size("subwords", "num_bpe_labels", 50257, "B", "subwords"),
    size("pieces", "num_wordpiece_labels", 30522, "W", "word pieces"),
)


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe patches behind a class token, and the layers."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        token("cls_token", H),
        Tensor("pos_embed", (1, patches(c) + (2 if c.distilled else 1), H), "embedding"),
        projection(c, "proj"),
        kind="embeddings",
    )
    mixed = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, scale_width(H, c.mlp_ratio), ("fc1", "fc2"), bias=True)
    layer = part("blocks", layer_norm("norm1", H), mixed, layer_norm("norm2", H), mlp, kind="layer", repeat=c.layers)
    return (embeddings, part("encoder", layer, kind="encoder"))


def mgp_str(c: Config) -> Part:
    """Describe MgpstrModel."""
    return part("", *encoder(c), kind="model", stream=patches(c) + 1)


def character_attention(c: Config, name: str) -> Part:
    """Describe how each place of a text gathers what it is from all patches."""
    H, states = c.hidden, patches(c) + 1
    learner = part("tokenLearner", conv2d("0", H, H, 1, groups=8, bias=False), conv2d("1", H, c.longest, 1, bias=False), kind="convolution")
    return part(
        name,
        layer_norm("token_norm", H),
        learner,
        conv2d("feat", H, H, 1, groups=8, bias=False),
        layer_norm("norm", H, stream=c.longest),
        matmul("gather", (c.longest, states, H)),
        kind="block",
        stream=states,
    )


def recognition(c: Config) -> Part:
    """Describe MgpstrForSceneTextRecognition: three ways of reading, each with its head."""
    ways = (character_attention(c, f"{name}_a3_module") for name in ("char", "bpe", "wp"))
    outputs = (("char_head", c.characters), ("bpe_head", c.subwords), ("wp_head", c.pieces))
    heads = (linear(name, c.hidden, labels, stream=c.longest) for name, labels in outputs)
    return part("", replace(mgp_str(c), name="mgp_str", kind="backbone"), *ways, *heads, kind="model")


CLASSES = {"MgpstrModel": mgp_str, "MgpstrForSceneTextRecognition": recognition}
IGNORED_KEYS = frozenset("drop_rate attn_drop_rate drop_path_rate output_a3_attentions".split())
FAMILIES = {"mgp-str": Family("mgp-str", uneven_heads(FIELDS), CLASSES, "MgpstrModel", IGNORED_KEYS)}
