"""The text and vision transformers of CLIP-like models (both pre-norm), and their projections.

Source: arXiv 2103.00020, section 2.4; names as in transformers 5.23.0, models/clip/modeling_clip.py. CLIP's relatives hold the same two towers under the same names; what differs is in their own
files.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    IMAGE,
    LAYERS,
    MLP,
    PATCH,
    POSITIONS,
    PROJECTION_DIM,
    VOCAB,
    Config,
    Field,
    derived,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Matmul, Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HEAD_DIM = derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads")
PATCHES = derived("patches", lambda c: (c.image // c.patch) * (c.image // c.patch), "image_size", "patch_size")
PROJECTED = PROJECTION_DIM.with_default(512)


def stack_fields(hidden: int, mlp: int, heads: int, layers: int = 12) -> tuple[Field, ...]:
    """Return the fields of a stack of layers, with its defaults.

    >>> [field.default for field in stack_fields(512, 2048, 8)][:3]
    [512, 2048, 12]
    """
    return (
        HIDDEN.with_default(hidden),
        MLP.with_default(mlp),
        LAYERS.with_default(layers),
        HEADS.with_default(heads),
        HEAD_DIM,
    )


def text_fields(vocab: int, positions: int, *stack: Field) -> tuple[Field, ...]:
    """Return the fields of a text tower, with its defaults.

    >>> text_fields(49408, 77)[1].key
    'max_position_embeddings'
    """
    return (
        VOCAB.with_default(vocab),
        POSITIONS.with_default(positions),
        *stack,
    )


def image_fields(image: int, patch: int) -> tuple[Field, ...]:
    """Return the fields that cut an image into patches, with their defaults.

    >>> [field.word for field in image_fields(224, 32)]
    ['channels', 'image', 'patch', 'patches']
    """
    return (
        CHANNELS,
        IMAGE.with_default(image),
        PATCH.with_default(patch),
        PATCHES,
    )


def encoder(c: Config, *, attention_first: bool = True) -> Part:
    """Describe the layers of either tower; some relatives name the attention before its norm, others after."""
    H = c.hidden
    attention, mlp = fairseq_attention("self_attn", H, c.heads, c.head_dim), plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    one, two = layer_norm("layer_norm1", H), layer_norm("layer_norm2", H)
    children = (attention, one, mlp, two) if attention_first else (one, attention, two, mlp)
    return part("encoder", part("layers", *children, kind="layer", repeat=c.layers), kind="encoder")


def text_tower(c: Config) -> tuple[Node, ...]:
    """Describe CLIP's text tower: tokens and positions, layers, a last norm."""
    return (text_embeddings(c), encoder(c), layer_norm("final_layer_norm", c.hidden))


def text_embeddings(c: Config) -> Part:
    """Describe a table of tokens and one of positions."""
    return part(
        "embeddings",
        embedding("token_embedding", c.vocab, c.hidden),
        embedding("position_embedding", c.positions, c.hidden),
        kind="embeddings",
    )


def vision_tower(c: Config, *, first_norm: str = "pre_layrnorm") -> tuple[Node, ...]:
    """Describe CLIP's vision tower: patches behind a class token, a norm, layers, and a norm of the class token."""
    H = c.hidden
    return (
        vision_embeddings(c),
        layer_norm(first_norm, H),
        encoder(c),
        layer_norm("post_layernorm", H, stream="one"),
    )


def vision_embeddings(c: Config) -> Part:
    """Describe a class token, a map of each patch and a table of positions."""
    H = c.hidden
    return part(
        "embeddings",
        Tensor("class_embedding", (H,), "embedding"),
        conv2d("patch_embedding", c.channels, H, c.patch, stream=c.patches, bias=False),
        embedding("position_embedding", c.patches + 1, H),
        kind="embeddings",
    )


def projection(name: str, inputs: Size, outputs: Size) -> Part:
    """Describe the map of a tower's one vector into the space that both share."""
    return linear(name, inputs, outputs, bias=False, stream="one")


def similarity(width: Size) -> Matmul:
    """Describe the products of every text with every image of a batch."""
    return matmul("similarity", ("batch", width))


SCALE = Tensor("logit_scale", (), "gain")


def contrastive(text: Part, vision: Part, widths: tuple[Size, Size], shared: Size) -> Part:
    """Describe both towers, a projection for each (of the *widths* of text and image), and the temperature of their similarities."""
    return part(
        "",
        SCALE,
        replace(text, name="text_model"),
        replace(vision, name="vision_model"),
        projection("visual_projection", widths[1], shared),
        projection("text_projection", widths[0], shared),
        similarity(shared),
        kind="model",
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a config's older layout into the present one: ``text_config_dict`` takes the place of ``text_config``.

    >>> normalize_config({"text_config": {"hidden_size": 1}, "text_config_dict": {"hidden_size": 2}})
    {'text_config': {'hidden_size': 2}}
    """
    result = {key: value for key, value in raw.items() if not key.endswith("_config_dict")}
    older = {key.removesuffix("_dict"): value for key, value in raw.items() if key.endswith("_config_dict") and value is not None}
    return result | older
