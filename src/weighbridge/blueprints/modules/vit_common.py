"""Shared parts of vision transformers: fields, patch embedding, class tokens, layers, heads.

Source: An Image is Worth 16x16 Words, arXiv 2010.11929; names as in transformers 5.23.0, models/vit/modeling_vit.py,
where others differ as in models/yolos/modeling_yolos.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, LABELS, LAYERS, MLP, Config, derived, sides, size, switch
from weighbridge.core.parts import attend, conv2d, label_head, layer_norm, linear, part, split_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

VIT_HIDDEN = HIDDEN.with_default(768)
VIT_MLP = MLP.with_default(3072)
VIT_LAYERS = LAYERS.with_default(12)
VIT_HEADS = HEADS.with_default(12)
VIT_HEAD_DIM = HEAD_DIM.with_default(lambda c: exact(c.hidden, c.heads))
WHOLE_HEADS = derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads")
VIT_IMAGE = sides("image", "image_size", 224, "R", "image size")
VIT_PATCH = sides("patch", "patch_size", 16, "P", "patch size")
SQUARE_PATCH = (size("patch_height", "patch_size", 16, "P", "patch size"), derived("patch_width", lambda c: c.patch_height))
QKV_BIAS = switch("qkv_bias", "qkv_bias", True)
POOLED = switch("pooled", "add_pooling_layer", True, report_default=False)
FIELDS = uneven_heads((VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, VIT_HEAD_DIM, *VIT_IMAGE, *VIT_PATCH, CHANNELS, LABELS, QKV_BIAS))
"""The fields that nearly every vision transformer has, with the defaults of ViT-base."""

IGNORED_KEYS = frozenset(("drop_path_rate", "initializer_std", "interpolate_pos_encoding", "out_features", "out_indices", "stage_names"))
"""Keys that change no tensor of a vision transformer."""


def grid(c: Config) -> Grid:
    """Return the rows and columns of patches; what is left at the edges of the image is dropped.

    >>> grid(Config(image_height=224, image_width=330, patch_height=16, patch_width=16))
    (14, 20)
    """
    return c.image_height // c.patch_height, c.image_width // c.patch_width


def patches(c: Config) -> Size:
    """Count the patches of an image.

    >>> patches(Config(image_height=224, image_width=330, patch_height=16, patch_width=16))
    280
    """
    return area(grid(c))


def projection(c: Config, name: str = "projection", *, bias: bool = True) -> Part:
    """Describe the convolution that maps each patch to a vector."""
    return conv2d(name, c.channels, c.hidden, (c.patch_height, c.patch_width), stream=patches(c), bias=bias)


def cubes(name: str, c: Config, kernel: tuple[Size, Size, Size], positions: Size) -> Part:
    """Describe the convolution that maps each cube of a video, so many frames high and wide, to a vector."""
    weight = Tensor("weight", (c.hidden, c.channels, *kernel), "weight")
    return part(name, weight, Tensor("bias", (c.hidden,), "bias"), kind="convolution", stream=positions)


def token(name: str, width: Size, number: Size = 1) -> Tensor:
    """Describe learned vectors that stand among the patches, such as ``cls_token``."""
    return Tensor(name, (1, number, width), "embedding")


def attention(
    c: Config,
    names: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj"),
    *,
    biases: tuple[bool, ...] | None = None,
    width: Size | None = None,
) -> Part:
    """Describe self-attention over all patches: queries, keys and values in the order of these names, then the output.

    Args:
        biases: Which of the four have one; None is what the config says of the three, and one for the output.
        width: Of all heads; None is that of one, times how many there are.
    """
    inner = c.heads * c.head_dim if width is None else width
    owned = biases or (c.qkv_bias, c.qkv_bias, c.qkv_bias, True)
    return part(
        "attention",
        *(linear(name, c.hidden, inner, bias=bias) for name, bias in zip(names[:3], owned[:3], strict=True)),
        linear(names[3], inner, c.hidden, bias=owned[3]),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )


def feed_forward(c: Config, name: str = "mlp") -> Part:
    """Describe the two linear maps between which the hidden size is widened."""
    return part(name, linear("fc1", c.hidden, c.mlp), linear("fc2", c.mlp, c.hidden), kind="feed_forward")


def layer(c: Config, name: str = "layers") -> Part:
    """Describe a layer with its norms in front of attention and feed-forward."""
    norms = layer_norm("layernorm_before", c.hidden), layer_norm("layernorm_after", c.hidden)
    return part(name, attention(c), *norms, feed_forward(c), kind="layer", repeat=c.layers)


def split_attention(c: Config, biases: tuple[bool, ...] | None = None, *more: Part) -> Part:
    """Describe self-attention with the names of the older classes: ``attention.query`` and so on, then ``output.dense``."""
    inner = c.heads * c.head_dim
    mixed = part(
        "attention",
        *(
            linear(name, c.hidden, inner, bias=bias)
            for name, bias in zip(("query", "key", "value"), biases or (c.qkv_bias,) * 3, strict=True)
        ),
        attend(heads=c.heads, head_dim=c.head_dim),
        *more,
        kind="attention",
    )
    return part("attention", mixed, part("output", linear("dense", inner, c.hidden), kind="attention"), kind="self_attention")


def split_layer(c: Config, *own: Tensor, attends: Part | None = None) -> Part:
    """Describe a layer with the names of the older classes: attention, intermediate, output, then the two norms."""
    return part(
        "layer",
        *own,
        attends or split_attention(c),
        *split_mlp(c.hidden, c.mlp),
        layer_norm("layernorm_before", c.hidden),
        layer_norm("layernorm_after", c.hidden),
        kind="layer",
        repeat=c.layers,
    )


def pooler(c: Config) -> Part:
    """Describe a linear map of the first token."""
    return part("pooler", linear("dense", c.hidden, c.hidden), kind="pooler", stream="one")


def classifier(c: Config, name: str = "classifier") -> Part:
    """Describe one output per label on one vector of the whole image."""
    return label_head(name, c.hidden, c.labels, stream="one")
