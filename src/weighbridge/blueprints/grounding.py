"""The encoder of Grounding DINO, in which image and text look at each other.

Source: arXiv 2303.05499; names as in transformers 5.23.0, models/grounding_dino/modeling_grounding_dino.py.
"""

from __future__ import annotations

from weighbridge.blueprints.hybrid import deformable
from weighbridge.config.fields import Sizes
from weighbridge.core.parts import attend, layer_norm, linear, matmul
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Stream, Tensor


def attention(name: str, hidden: Size, heads: Size, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over a text."""
    parts = linear("query", hidden, hidden), linear("key", hidden, hidden, stream=keys), linear("value", hidden, hidden, stream=keys)
    scores = attend(heads=heads, head_dim=exact(hidden, heads), keys=keys)
    return Part(name, (*parts, linear("out_proj", hidden, hidden), scores), "self_attention" if keys is None else "cross_attention")


def pair(hidden: Size, inner: Size) -> tuple[Part, Part]:
    """Describe a feed-forward network."""
    return linear("fc1", hidden, inner), linear("fc2", inner, hidden)


def enhancer(c: Sizes) -> Part:
    """Describe what a layer does to the text: attention and a feed-forward network, both half as wide as those of the image."""
    before, after = layer_norm("layer_norm_before", c.hidden), layer_norm("layer_norm_after", c.hidden)
    parts = attention("self_attn", c.hidden, c.encoder_heads // 2), *pair(c.hidden, c.encoder_mlp // 2), before, after
    return Part("text_enhancer_layer", parts, "layer")


def fusion(c: Sizes, memory: Stream, text: Stream) -> Part:
    """Describe attention both ways: one table of scores says what each place takes of the words, and each word of the places."""
    H, inner = c.hidden, c.encoder_mlp // 2
    exact(inner, c.encoder_heads // 2)
    attended = Part("attn", (
        linear("vision_proj", H, inner, stream=memory),
        linear("text_proj", H, inner),
        linear("values_vision_proj", H, inner, stream=memory),
        linear("values_text_proj", H, inner),
        linear("out_vision_proj", inner, H, stream=memory),
        linear("out_text_proj", inner, H),
        matmul("scores", *((memory, text, inner),) * 3),
    ), "cross_attention")  # fmt: skip
    scales = Tensor("vision_param", (H,), "gain"), Tensor("text_param", (H,), "gain")
    return Part("fusion_layer", (*scales, layer_norm("layer_norm_vision", H), layer_norm("layer_norm_text", H), attended), "layer")


def encoder(c: Sizes, memory: Stream, text: Stream) -> tuple[Part, ...]:
    """Describe the encoder's layers over a text and the places of all maps."""
    H = c.hidden
    seen = deformable(c, c.encoder_heads, c.levels, c.encoder_points, memory, name="self_attn")
    parts = seen, layer_norm("self_attn_layer_norm", H), *pair(H, c.encoder_mlp), layer_norm("final_layer_norm", H)
    places = Part("deformable_layer", parts, "layer", stream=memory)
    return (Part("layers", (enhancer(c), fusion(c, memory, text), places), "layer", repeat=c.encoder_layers, stream=text),)
