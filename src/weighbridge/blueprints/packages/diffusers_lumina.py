"""diffusers: single-stream transformers of images with refiners before them, Lumina-Image 2.0 and Z-Image.

Source: arXiv 2503.21758 and 2511.22699; diffusers 0.42.1, models/transformers/{transformer_lumina2,transformer_z_image}.py,
models/{normalization,attention}.py. As in ``diffusers.py``, what has tensors is described, and the arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family
from weighbridge.blueprints.packages.diffusers_transformers import LAYERS, OUTPUTS, channels, patch
from weighbridge.config.fields import HIDDEN, Config, choice, computed, optional, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def attention(name: str, width: Size, heads: Size, kv_heads: Size, head_dim: Size, *, normed: bool = True) -> Part:
    """Describe attention without biases, its queries and keys normalized."""
    norms = (rms_norm("norm_q", head_dim), rms_norm("norm_k", head_dim)) if normed else ()
    inner, keys = heads * head_dim, kv_heads * head_dim
    maps = (linear(f"to_{letter}", width, inner if letter == "q" else keys, bias=False) for letter in "qkv")
    out = part("to_out", linear("0", inner, width, bias=False), kind="output")
    return part(name, *norms, *maps, out, attend(heads=heads, kv_heads=kv_heads, head_dim=head_dim), kind="self_attention")


def _multiplier(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0):
        raise ConfigError(Text("expected a positive number, found {value!r:.60}", value=value), key="ffn_dim_multiplier", value=value)
    return value


def _inner_width(c: Config) -> int:
    """Return the width between the maps of a feed-forward network: four times the hidden size, in whole multiples."""
    inner = 4 * c.hidden if c.multiplier is None else int(c.multiplier * 4 * c.hidden)
    multiples: int = (inner + c.multiple - 1) // c.multiple
    return c.multiple * multiples


LUMINA2 = (
    patch(2),
    channels(16),
    OUTPUTS,
    HIDDEN.with_default(2304),
    LAYERS.with_default(26),
    size("refiners", "num_refiner_layers", 2, "R", "layers of each refiner", minimum=0),
    size("heads", "num_attention_heads", 24, "A", "attention heads"),
    size("kv_heads", "num_kv_heads", 8, "K", "key-value heads"),
    number("multiple", "multiple_of", 256),
    choice("multiplier", "ffn_dim_multiplier", None, read=_multiplier, report_default=False),
    computed("head_dim", lambda c: c.hidden // c.heads),
    computed("mlp", _inner_width),
    computed("condition", lambda c: min(c.hidden, 1024)),
    size("text", "cap_feat_dim", 1024, "T", "width of the text states"),
)


def lumina2(c: Config) -> Part:
    """Describe Lumina2Transformer2DModel: image and text are refined alone, then go through one stack of layers together."""
    H = c.hidden

    def layer(name: str, repeat: Size, *, modulated: bool) -> Part:
        gated = tuple(linear(f"linear_{index}", *(H, c.mlp) if index != "2" else (c.mlp, H), bias=False) for index in "123")
        first = part("norm1", linear("linear", c.condition, 4 * H), rms_norm("norm", H), kind="adaptive_norm")
        return part(
            name,
            attention("attn", H, c.heads, c.kv_heads, c.head_dim),
            part("feed_forward", *gated, kind="feed_forward"),
            first if modulated else rms_norm("norm1", H),
            *(rms_norm(norm, H) for norm in ("ffn_norm1", "norm2", "ffn_norm2")),
            kind="layer",
            repeat=repeat,
        )

    time = part("timestep_embedder", linear("linear_1", 256, c.condition), linear("linear_2", c.condition, c.condition), kind="embeddings")
    caption = part("caption_embedder", rms_norm("0", c.text), linear("1", c.text, H), kind="embeddings")
    last = linear("linear_1", c.condition, H), linear("linear_2", H, c.patch * c.patch * c.outputs)
    return part(
        "",
        linear("x_embedder", c.patch * c.patch * c.channels, H),
        part("time_caption_embed", time, caption, kind="embeddings"),
        layer("noise_refiner", c.refiners, modulated=True),
        layer("context_refiner", c.refiners, modulated=False),
        layer("layers", c.layers, modulated=True),
        part("norm_out", *last, kind="adaptive_norm"),
        kind="model",
        stream=PASS,
    )


def _refuse_axes(c: Config) -> bool:
    if sum(c.axes) != c.head_dim:
        raise ConfigError(
            Text("the axes of positions sum to {total}, and a head has {head_dim}", total=sum(c.axes), head_dim=c.head_dim),
            key="axes_dims",
            value=list(c.axes),
        )
    if len(c.patches) != len(c.frame_patches):
        raise ConfigError(Text("expected {count} entries", count=len(c.patches)), key="all_f_patch_size", value=list(c.frame_patches))
    return True


Z_IMAGE = (
    numbers("patches", "all_patch_size", (2,)),
    numbers("frame_patches", "all_f_patch_size", (1,)),
    channels(16),
    size("hidden", "dim", 3840, "H", "hidden size"),
    LAYERS.with_default(30)._replace(key="n_layers"),
    size("refiners", "n_refiner_layers", 2, "R", "layers of each refiner", minimum=0),
    size("heads", "n_heads", 30, "A", "attention heads"),
    computed("head_dim", lambda c: c.hidden // c.heads),
    computed("mlp", lambda c: int(c.hidden / 3 * 8)),
    computed("condition", lambda c: min(c.hidden, 256)),
    switch("normed", "qk_norm", True, report_default=False),
    size("text", "cap_feat_dim", 2560, "T", "width of the text states"),
    optional("picture", "siglip_feat_dim", None, "G", "width of the states of a picture's encoder"),
    numbers("axes", "axes_dims", (32, 48, 48)),
    computed("axes_fit", _refuse_axes),
)


def z_image(c: Config) -> Part:
    """Describe ZImageTransformer2DModel: image and text are refined alone, then go through one stack of layers together."""
    H = c.hidden

    def layer(name: str, repeat: Size, *, modulated: bool) -> Part:
        gated = linear("w1", H, c.mlp, bias=False), linear("w2", c.mlp, H, bias=False), linear("w3", H, c.mlp, bias=False)
        return part(
            name,
            attention("attention", H, c.heads, c.heads, c.head_dim, normed=c.normed),
            part("feed_forward", *gated, kind="feed_forward"),
            *(rms_norm(norm, H) for norm in ("attention_norm1", "ffn_norm1", "attention_norm2", "ffn_norm2")),
            *((part("adaLN_modulation", linear("0", c.condition, 4 * H), kind="adaptive_norm"),) if modulated else ()),
            kind="layer",
            repeat=repeat,
        )

    def embedder(name: str, inputs: Size) -> Part:
        return part(name, rms_norm("0", inputs), linear("1", inputs, H), kind="embeddings")

    cubes = {f"{side}-{depth}": side * side * depth * c.channels for side, depth in zip(c.patches, c.frame_patches, strict=True)}
    first = part("all_x_embedder", *(linear(name, cube, H) for name, cube in cubes.items()), kind="embeddings")
    modulation = part("adaLN_modulation", linear("1", c.condition, H), kind="adaptive_norm")
    last = part("all_final_layer", *(part(name, linear("linear", H, cube), modulation, kind="head") for name, cube in cubes.items()))
    time = part("t_embedder", part("mlp", linear("0", 256, 1024), linear("2", 1024, c.condition)), kind="embeddings")
    tokens: tuple[Node, ...] = (Tensor("x_pad_token", (1, H), "embedding"), Tensor("cap_pad_token", (1, H), "embedding"))
    picture: tuple[Node, ...] = ()
    if c.picture is not None:
        tokens = Tensor("siglip_pad_token", (1, H), "embedding"), *tokens
        picture = embedder("siglip_embedder", c.picture), layer("siglip_refiner", c.refiners, modulated=False)
    return part(
        "",
        *tokens,
        first,
        last,
        layer("noise_refiner", c.refiners, modulated=True),
        layer("context_refiner", c.refiners, modulated=False),
        time,
        embedder("cap_embedder", c.text),
        *picture,
        layer("layers", c.layers, modulated=True),
        kind="model",
        stream=PASS,
    )


LUMINA2_KEYS = frozenset("axes_dim_rope axes_lens norm_eps scaling_factor".split())
Z_IMAGE_KEYS = frozenset("axes_lens n_kv_heads norm_eps rope_theta t_scale".split())
FAMILIES = {
    "diffusers_lumina2": diffusers_family("diffusers_lumina2", LUMINA2, "Lumina2Transformer2DModel", lumina2, LUMINA2_KEYS),
    "diffusers_z_image": diffusers_family("diffusers_z_image", Z_IMAGE, "ZImageTransformer2DModel", z_image, Z_IMAGE_KEYS),
}
