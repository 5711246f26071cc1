"""Moondream 3: the second one's tower, layers with many small experts behind a few dense ones, and attention whose temperature depends on what it sees.

Source: moondream.py, text.py, layers.py and config.py of moondream/moondream3-preview. Towers and text are held tensor by tensor to the classes of mlx-vlm 0.7.10,
models/moondream3; the whole, with what reads and writes places, to the total of the published file (9,268,626,928).
"""

from __future__ import annotations

from weighbridge.blueprints.remote.moondream import KEYS, PLACES, REGION, TEXT, VISION, features, fused_attention, vision
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, constant, derived, nested, size
from weighbridge.core.parts import layer_norm, linear, part, plain_mlp, replace, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def attention(c: Config) -> Part:
    """Describe attention whose queries and values are scaled by what two small maps make of queries, keys and values, and by the position."""
    A, K, D = c.heads, c.kv_heads, c.head_dim
    width = (A + 2 * K) * D
    tau = part("tau", Tensor("wq", (A, width)), Tensor("wv", (A, width)), Tensor("alpha", (A,), "gain"), kind="linear")
    found = fused_attention(c.hidden, A, D, K, causal=True)
    return replace(found, children=(*found.children, tau))


def experts(c: Config) -> Part:
    """Describe a router, and experts whose gate and up projection are one matrix."""
    E, H, I = c.mixture.experts, c.hidden, c.mixture.expert_mlp
    router = linear("router", H, E)
    shapes = {"fc1": (E, 2 * I, H), "fc2": (E, H, I)}
    maps = (part(name, Tensor("weight", shape), kind="experts", experts=E, active=c.mixture.active) for name, shape in shapes.items())
    return part("mlp", router, *maps, kind="mixture")


def text(c: Config) -> Part:
    """Describe the layers, whose attention and MLP see the same states."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = experts(c) if kind == "sparse" else plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
        return layer_norm("ln", H), attention(c), mlp

    table, head = Tensor("wte", (c.vocab, H), "embedding"), linear("lm_head", H, c.vocab)
    return part("text", table, *stack("blocks", c.kinds, c.layers, layer), layer_norm("post_ln", H), head, kind="text")


def places(c: Config) -> Part:
    """Describe what makes words of coordinates and sizes, and these of words, behind a norm."""
    H = c.hidden
    return part(
        "region",
        *features(c),
        layer_norm("ln", H),
        linear("coord_encoder", c.coordinate, H),
        linear("coord_decoder", H, c.coordinates),
        linear("size_encoder", c.extent, H),
        linear("size_decoder", H, c.extents),
        kind="head",
        requires=PLACES,
    )


def moondream3(c: Config) -> Part:
    """Describe HfMoondream."""
    inside = c.inside
    return part("", part("model", vision(inside.vision), text(inside.text), places(inside.region), kind="backbone"), kind="model")


def _kinds(c: Config) -> list[str]:
    return ["sparse" if index >= c.mixture.dense else "dense" for index in layer_range(c.layers)]


MIXTURE = (
    size("experts", "num_experts", 64, "E", "experts"),
    choice("dense", "start_layer", 4),
    size("active", "experts_per_token", 8, "k", "experts per token"),
    size("expert_mlp", "expert_inner_dim", 1024, "M", "intermediate size of an expert"),
)
WORDS = (
    *TEXT,
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "dim", "n_heads"),
    nested("mixture", "moe", MIXTURE),
    constant("kinds", _kinds),
)
SPOTS = tuple(field for field in REGION if field.word != "inner")
CONFIG = (nested("text", "text", WORDS), nested("vision", "vision", VISION), nested("region", "region", SPOTS))
FAMILIES = {
    "moondream3": Family(
        "moondream3", (nested("inside", "config", CONFIG),), {"HfMoondream": moondream3}, "HfMoondream", KEYS | {"skills"}
    ),
}
