"""Moondream 2: SigLIP's tower over crops, Phi's layers, and maps between places in an image and words; its code stands beside its files.

Source: moondream/torch/config.py, vision.py, text.py and moondream.py of vikhyat/moondream. Towers and text are held tensor by tensor to the classes
of mlx-vlm 0.7.10, models/moondream2; the whole, with what reads and writes places, to the size of the published file.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import IN_CHANNELS, Config, Field, nested, size
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

PLACES = "places"
"""What the maps between places and words wait for: points and boxes, which no forward pass over text gives."""


CROPS = unknown("how many crops an image is cut into depends on its sides")


def packing_fields() -> tuple[Field, ...]:
    """Declare the size of the groups in which the code packs weights: what it packs is not described."""
    return (read_none("group_size"),)


def patches(c: Config) -> Size:
    """Count the patches of a crop."""
    side = c.crop // c.patch
    result: Size = side * side
    return result


def fused_attention(hidden: Size, heads: Size, head_dim: Size, kv_heads: Size, *, causal: bool) -> Part:
    """Describe attention whose queries, keys and values are one map."""
    maps = linear("qkv", hidden, (heads + 2 * kv_heads) * head_dim), linear("proj", hidden, hidden)
    reach = attend(causal=causal, heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    return part("attn", *maps, reach, kind="self_attention")


def vision(c: Config) -> Part:
    """Describe the tower over the patches of each crop; crops of one image are put together again before the two last maps."""
    W, of_crop = c.hidden, patches(c)
    block = part(
        "blocks",
        layer_norm("ln1", W),
        fused_attention(W, c.heads, exact(W, c.heads), c.heads, causal=False),
        layer_norm("ln2", W),
        plain_mlp("mlp", W, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    tower = (
        Tensor("pos_emb", (1, of_crop, W), "embedding"),
        linear("patch_emb", c.channels * c.patch * c.patch, W),
        block,
        layer_norm("post_ln", W),
    )
    maps = part("proj_mlp", linear("fc1", 2 * W, c.inner), linear("fc2", c.inner, c.outputs), kind="projector")
    return part("vision", *tower, maps, kind="vision", stream=CROPS, requires="images", executions="images")


def text(c: Config) -> Part:
    """Describe Phi's layers, whose attention and MLP see the same states."""
    H = c.hidden
    block = part(
        "blocks",
        layer_norm("ln", H),
        fused_attention(H, c.heads, exact(H, c.heads), c.kv_heads, causal=True),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return part(
        "text", Tensor("wte", (c.vocab, H), "embedding"), block, layer_norm("post_ln", H), linear("lm_head", H, c.vocab), kind="text"
    )


def features(c: Config) -> tuple[Tensor, ...]:
    """Describe the directions in which coordinates and sizes are turned into waves."""
    return Tensor("coord_features", (1, exact(c.coordinate, 2)), "embedding"), Tensor("size_features", (2, exact(c.extent, 2)), "embedding")


def region(c: Config) -> Part:
    """Describe what makes words of coordinates and sizes, and these of words."""
    H = c.hidden

    def decoder(name: str, outputs: Size) -> Part:
        return part(name, linear("fc1", H, c.inner), linear("fc2", c.inner, outputs), kind="head")

    return part(
        "region",
        *features(c),
        linear("coord_encoder", c.coordinate, H),
        decoder("coord_decoder", c.coordinates),
        linear("size_encoder", c.extent, H),
        decoder("size_decoder", c.extents),
        kind="head",
        requires=PLACES,
    )


def moondream(c: Config) -> Part:
    """Describe HfMoondream."""
    inside = c.inside
    return part("", part("model", vision(inside.vision), text(inside.text), region(inside.region), kind="backbone"), kind="model")


TEXT = (
    size("hidden", "dim", 2048, "H", "hidden size"),
    size("mlp", "ff_dim", 8192, "I", "intermediate size"),
    size("layers", "n_layers", 24, "L", "layers"),
    size("vocab", "vocab_size", 51200, "V", "vocabulary size"),
    size("heads", "n_heads", 32, "A", "attention heads"),
    size("kv_heads", "n_kv_heads", 32, "K", "key-value heads"),
    *packing_fields(),
)
VISION = (
    size("hidden", "enc_dim", 1152, "W", "width of the tower"),
    size("patch", "enc_patch_size", 14, "P", "patch size"),
    size("layers", "enc_n_layers", 27, "L", "layers"),
    size("mlp", "enc_ff_dim", 4304, "I", "intermediate size"),
    size("heads", "enc_n_heads", 16, "A", "attention heads"),
    size("outputs", "proj_out_dim", 2048, "H", "width of the words"),
    size("crop", "crop_size", 378, "R", "size of a crop"),
    IN_CHANNELS.with_default(3),
    size("inner", "proj_inner_dim", 8192, "J", "inner width of the projector"),
    *packing_fields(),
)
REGION = (
    size("hidden", "dim", 2048, "H", "hidden size"),
    size("coordinate", "coord_feat_dim", 256, "F", "features of a coordinate"),
    size("coordinates", "coord_out_dim", 1024, "C", "coordinates told apart"),
    size("extent", "size_feat_dim", 512, "E", "features of a size"),
    size("extents", "size_out_dim", 2048, "S", "sizes told apart"),
    size("inner", "inner_dim", 8192, "J", "inner width"),
    *packing_fields(),
)
CONFIG = (nested("text", "text", TEXT), nested("vision", "vision", VISION), nested("region", "region", REGION))
KEYS = frozenset("max_context prefix_attn max_crops overlap_margin tokenizer".split())
FAMILIES = {
    "moondream1": Family("moondream1", (nested("inside", "config", CONFIG),), {"HfMoondream": moondream}, "HfMoondream", KEYS),
}
