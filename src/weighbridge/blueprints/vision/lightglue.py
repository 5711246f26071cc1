"""LightGlue: adaptive matching of two images' keypoints (Lindenberger et al., 2023).

Source: arXiv 2306.13643; names as in transformers 5.23.0, models/lightglue/modeling_lightglue.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.vision.superglue import FOUND
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, LAYERS, Config, computed, size, switch
from weighbridge.core.parts import attend, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

FIELDS = (
    size("hidden", "descriptor_dim", 256, "H", "hidden size"),
    LAYERS.with_default(9),
    HEADS.with_default(4),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads"),
    HEAD_DIM.with_default(lambda c: exact(c.hidden, c.heads)),
    switch("biased", "attention_bias", True),
    model_config("detector", "keypoint_detector_config", "superpoint"),
    computed("alike", lambda c: c.hidden == c.detector.described),
)


def attention(c: Config, name: str) -> Part:
    """Describe attention within an image, or to the other."""
    H, dim, b = c.hidden, c.head_dim, c.biased
    return part(
        name,
        linear("q_proj", H, c.heads * dim, bias=b),
        linear("k_proj", H, c.kv_heads * dim, bias=b),
        linear("v_proj", H, c.kv_heads * dim, bias=b),
        linear("o_proj", c.heads * dim, H, bias=b),
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=dim),
        kind="self_attention" if name.startswith("self") else "cross_attention",
    )


def network(c: Config, name: str) -> Part:
    """Describe the network over what attention found beside what there was."""
    wide = 2 * c.hidden
    return part(name, linear("fc1", wide, wide), linear("fc2", wide, c.hidden), layer_norm("layer_norm", wide), kind="feed_forward")


def lightglue(c: Config) -> Part:
    """Describe LightGlueForKeypointMatching; after every layer but the last it is asked whether that was enough."""
    H = c.hidden
    rest = part(
        "",
        *(() if c.alike else (linear("input_projection", c.detector.described, H),)),
        part("positional_encoder", linear("projector", 2, exact(H, c.heads) // 2, bias=False), kind="embeddings"),
        part(
            "transformer_layers",
            attention(c, "self_attention"),
            network(c, "self_mlp"),
            attention(c, "cross_attention"),
            network(c, "cross_mlp"),
            kind="layer",
            repeat=c.layers,
        ),
        part("match_assignment_layers", linear("final_projection", H, H), linear("matchability", H, 1), kind="head", repeat=c.layers),
        part("token_confidence", linear("token", H, 1), kind="head", repeat=c.layers - 1),
        stream=FOUND,
    )
    return part("", as_child("keypoint_detector", submodel(c.detector)), rest, kind="model")


CLASSES = {"LightGlueForKeypointMatching": lightglue}
IGNORED_KEYS = frozenset("depth_confidence filter_threshold hidden_size intermediate_size width_confidence".split())
FAMILIES = {"lightglue": Family("lightglue", FIELDS, CLASSES, "LightGlueForKeypointMatching", IGNORED_KEYS)}
