"""Segment Anything's image encoder as DeepSeek's own code has it: in DeepSeek-VL with a second way out of an early layer, in DeepSeek-OCR without.

Source: deepseek_vl/models/sam.py of deepseek-ai/DeepSeek-VL and deepencoder.py of deepseek-ai/DeepSeek-OCR, which fix all sizes.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import window_attention
from weighbridge.blueprints.modules.backbones import bind_backbone
from weighbridge.config.fields import Config
from weighbridge.core.parts import conv2d, layer_norm, linear, part, stack
from weighbridge.core.tree import Node, Part, Tensor

RESIZED = 96
"""The side of the map that DeepSeek-VL's convolutions start from, whatever the neck's."""


def sizes(image: int) -> Config:
    """Return the sizes of ViT-B for images of *image* pixels a side."""
    return bind_backbone("sam_vision_model", {"hidden_size": 768, "image_size": image})


def layers(c: Config) -> tuple[Part, ...]:
    """Describe the layers, a few of which look everywhere."""
    side = c.image // c.patch

    def layer(kind: str) -> tuple[Node, ...]:
        attends = window_attention(c, "attn", (side, side), window=kind == "window")
        mlp = part("mlp", linear("lin1", c.hidden, c.mlp), linear("lin2", c.mlp, c.hidden), kind="feed_forward")
        return layer_norm("norm1", c.hidden), attends, layer_norm("norm2", c.hidden), mlp

    return stack("blocks", c.kinds, c.layers, layer)


def neck(c: Config, name: str = "neck") -> Part:
    """Describe two convolutions and their norms."""
    first, second = conv2d("0", c.hidden, c.outputs, 1, bias=False), conv2d("2", c.outputs, c.outputs, 3, bias=False)
    return part(name, first, layer_norm("1", c.outputs), second, layer_norm("3", c.outputs), kind="neck")


def encoder(c: Config, name: str, *after: Node) -> Part:
    """Describe the patches as a map, the layers, the neck, and what comes after."""
    side = c.image // c.patch
    table = Tensor("pos_embed", (1, side, side, c.hidden), "embedding")
    patches = part("patch_embed", conv2d("proj", 3, c.hidden, c.patch), kind="embeddings")
    return part(name, table, patches, *layers(c), neck(c), *after, kind="vision", stream=side * side)


def with_second_way(image: int, name: str) -> Part:
    """Describe DeepSeek-VL's: two convolutions, and the same for what the first layer that looks everywhere sees, added with a learned gain."""
    c, once, twice = sizes(image), RESIZED // 2, RESIZED // 4
    down = (
        conv2d("0", c.outputs, 512, 3, bias=False, stream=once * once, executions=2),
        conv2d("1", 512, 1024, 3, bias=False, stream=twice * twice, executions=2),
    )
    return encoder(c, name, part("downsamples", *down, kind="projector"), Tensor("hd_alpha_downsamples", (1,), "gain"), neck(c, "neck_hd"))


def with_one_way(image: int, name: str, outputs: int = 1024) -> Part:
    """Describe DeepSeek-OCR's, whose two convolutions see the neck's map as it is."""
    c = sizes(image)
    once, twice = image // c.patch // 2, image // c.patch // 4
    down = (
        conv2d("net_2", c.outputs, 512, 3, bias=False, stream=once * once),
        conv2d("net_3", 512, outputs, 3, bias=False, stream=twice * twice),
    )
    return encoder(c, name, *down)
