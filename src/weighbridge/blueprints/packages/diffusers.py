"""diffusers: the first transformers of latent diffusion (DiT, Stable Diffusion 3, FLUX.1), and what all its networks share.

Models are told apart by the class that their config names (``_class_name``). Source: diffusers 0.42.1,
models/transformers/{dit_transformer_2d,transformer_2d,transformer_flux,transformer_sd3}.py, models/{attention,attention_processor,
embeddings,normalization}.py, whose live classes the tests hold this to. Only what has tensors is described: how many positions
a pass sees is no matter of the config, so that arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, derived, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PASS = unknown("how many positions a pass of a diffusion model sees is not in its config")
"""The stream of every model here."""
HEADS = size("heads", "num_attention_heads", 24, "A", "attention heads")
HEAD_DIM = size("head_dim", "attention_head_dim", 128, "D", "head dimension")
WIDTH = derived("hidden", lambda c: c.heads * c.head_dim, "num_attention_heads", "attention_head_dim")


def kind_or_none(word: str, key: str, *kinds: str) -> Field:
    """Declare a choice that may be null."""
    read = one_of(key, *kinds)
    return replace(choice(word, key, None, read=lambda value: None if value is None else read(value), report_default=False), nullable=True)


def two_maps(name: str, inputs: Size, width: Size) -> Part:
    """Describe an embedding of a time or of a text: two maps with an activation between."""
    return part(name, linear("linear_1", inputs, width), linear("linear_2", width, width), kind="embeddings")


def modulation(name: str, width: Size, times: int) -> Part:
    """Describe an adaptive norm: a map of the condition to *times* vectors that scale, shift and gate; the norm itself has no tensors."""
    return part(name, linear("linear", width, times * width), kind="adaptive_norm")


def feed_forward(name: str, width: Size, *, inner: Size | None = None, gated: bool = False, bias: bool = True) -> Part:
    """Describe a feed-forward network, *inner* wide between its maps, which is four times the width unless it is said."""
    wide = 4 * width if inner is None else inner
    first = part("0", linear("proj", width, 2 * wide if gated else wide, bias=bias), kind="feed_forward")
    return part(name, part("net", first, linear("2", wide, width, bias=bias), kind="feed_forward"), kind="feed_forward")


def qk_norms(kind: str | None, head_dim: Size, *names: str) -> tuple[Part, ...]:
    """Describe the norms of queries and keys, if there are any."""
    if kind is None:
        return ()
    return tuple(rms_norm(name, head_dim) if kind == "rms_norm" else layer_norm(name, head_dim) for name in names)


def to_out(width: Size, outputs: Size) -> Part:
    """Describe the output map, the first of a list."""
    return part("to_out", linear("0", width, outputs), kind="output")


def flux_attention(c: Config, *, joint: bool) -> Part:
    """Describe attention of image tokens; *joint* with those of the text, which have maps of their own."""
    H, D = c.hidden, c.head_dim
    own = rms_norm("norm_q", D), rms_norm("norm_k", D), *(linear(name, H, H) for name in ("to_q", "to_k", "to_v"))
    added: tuple[Node, ...] = ()
    if joint:
        maps = (linear(name, H, H) for name in ("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out"))
        added = to_out(H, H), rms_norm("norm_added_q", D), rms_norm("norm_added_k", D), *maps
    return part("attn", *own, *added, attend(heads=c.heads, head_dim=D), kind="self_attention")


def time_and_text(c: Config, *, guided: bool) -> Part:
    """Describe the embedding of time, of the guidance where the model is distilled, and of the pooled text."""
    H = c.hidden
    guidance = (two_maps("guidance_embedder", 256, H),) if guided else ()
    text = two_maps("text_embedder", c.pooled, H)
    return part("time_text_embed", two_maps("timestep_embedder", 256, H), *guidance, text, kind="embeddings")


FLUX = (
    size("patch", "patch_size", 1, "P", "patch size", report_default=False),
    size("channels", "in_channels", 64, "N", "channels of a token"),
    size("outputs", "out_channels", lambda c: c.channels, "O", "output channels", null=lambda c: c.channels, report_default=False),
    size("layers", "num_layers", 19, "L", "double-stream layers"),
    size("single_layers", "num_single_layers", 38, "M", "single-stream layers"),
    HEAD_DIM,
    HEADS,
    WIDTH,
    size("text", "joint_attention_dim", 4096, "T", "width of the text states"),
    size("pooled", "pooled_projection_dim", 768, "U", "width of the pooled text"),
    switch("guided", "guidance_embeds", False),
)


def flux_layers(c: Config) -> tuple[Part, Part]:
    """Describe layers in which image and text have weights of their own, then layers for both."""
    H = c.hidden
    double = part(
        "transformer_blocks",
        modulation("norm1", H, 6),
        modulation("norm1_context", H, 6),
        flux_attention(c, joint=True),
        feed_forward("ff", H),
        feed_forward("ff_context", H),
        kind="layer",
        repeat=c.layers,
    )
    single = part(
        "single_transformer_blocks",
        modulation("norm", H, 3),
        linear("proj_mlp", H, 4 * H),
        linear("proj_out", 5 * H, H),
        flux_attention(c, joint=False),
        kind="layer",
        repeat=c.single_layers,
    )
    return double, single


def flux(c: Config) -> Part:
    """Describe FluxTransformer2DModel."""
    H = c.hidden
    return part(
        "",
        time_and_text(c, guided=c.guided),
        linear("context_embedder", c.text, H),
        linear("x_embedder", c.channels, H),
        *flux_layers(c),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


def _sd3_kinds(c: Config) -> list[str]:
    """Return what every layer is: attending twice or once, and whether it is the last, which leaves the text as it is."""
    layers = layer_range(c.layers)
    twice = set(c.dual)
    return [("twice" if index in twice else "once") + (" last" if index == len(layers) - 1 else "") for index in layers]


def _indices(value: Any) -> tuple[int, ...]:
    found = () if value is None else value
    if not isinstance(found, (list, tuple)) or any(type(index) is not int or index < 0 for index in found):
        raise ConfigError(Text("expected a list of layers, found {value!r:.60}", value=value), key="dual_attention_layers", value=value)
    return tuple(found)


SD3 = (
    size("patch", "patch_size", 2, "P", "patch size"),
    size("channels", "in_channels", 16, "N", "latent channels"),
    size("layers", "num_layers", 18, "L", "layers"),
    HEAD_DIM.with_default(64),
    HEADS.with_default(18),
    WIDTH,
    size("text", "joint_attention_dim", 4096, "T", "width of the text states"),
    size("caption", "caption_projection_dim", 1152, "C", "width of the projected text"),
    size("pooled", "pooled_projection_dim", 2048, "U", "width of the pooled text"),
    size("outputs", "out_channels", 16, "O", "output channels", null=lambda c: c.channels),
    size("places", "pos_embed_max_size", 96, "S", "size of the position grid"),
    choice("dual", "dual_attention_layers", [], read=_indices, report_default=False),
    kind_or_none("qk_norm", "qk_norm", "rms_norm", "layer_norm"),
    computed("kinds", _sd3_kinds),
)


def sd3_attention(c: Config, name: str, *, joint: bool, last: bool) -> Part:
    """Describe attention of an MMDiT: *joint* with the text, which the *last* layer does not output."""
    H, D = c.hidden, c.head_dim
    parts: list[Node] = [*qk_norms(c.qk_norm, D, "norm_q", "norm_k"), *(linear(name, H, H) for name in ("to_q", "to_k", "to_v"))]
    parts += [linear(name, H, H) for name in ("add_k_proj", "add_v_proj", "add_q_proj")] if joint else []
    parts.append(to_out(H, H))
    parts += [linear("to_add_out", H, H)] if joint and not last else []
    parts += qk_norms(c.qk_norm, D, "norm_added_q", "norm_added_k") if joint else ()
    return part(name, *parts, attend(heads=c.heads, head_dim=D), kind="self_attention")


def sd3_layers(c: Config) -> tuple[Part, ...]:
    """Describe the layers of an MMDiT."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        twice, last = kind.startswith("twice"), kind.endswith("last")
        again = (sd3_attention(c, "attn2", joint=False, last=False),) if twice else ()
        return (
            modulation("norm1", H, 9 if twice else 6),
            modulation("norm1_context", H, 2 if last else 6),
            sd3_attention(c, "attn", joint=True, last=last),
            *again,
            feed_forward("ff", H),
            *(() if last else (feed_forward("ff_context", H),)),
        )

    return stack("transformer_blocks", c.kinds, c.layers, layer)


def sd3_places(c: Config) -> Part:
    """Describe the map of patches and the fixed table of positions."""
    H = c.hidden
    return part("pos_embed", Tensor("pos_embed", (1, c.places * c.places, H), "buffer"), conv2d("proj", c.channels, H, c.patch))


def sd3(c: Config) -> Part:
    """Describe SD3Transformer2DModel: MMDiT, whose positions are a fixed table."""
    H = c.hidden
    return part(
        "",
        sd3_places(c),
        time_and_text(c, guided=False),
        linear("context_embedder", c.text, c.caption),
        *sd3_layers(c),
        modulation("norm_out", H, 2),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


DIT = (
    HEADS.with_default(16),
    HEAD_DIM.with_default(72),
    WIDTH,
    size("channels", "in_channels", 4, "N", "latent channels"),
    size("outputs", "out_channels", lambda c: c.channels, "O", "output channels", null=lambda c: c.channels, report_default=False),
    size("layers", "num_layers", 28, "L", "layers"),
    switch("qkv_bias", "attention_bias", True, report_default=False),
    size("patch", "patch_size", 2, "P", "patch size"),
    choice(
        "activation",
        "activation_fn",
        "gelu-approximate",
        read=one_of("activation_fn", "gelu", "gelu-approximate", "geglu"),
        report_default=False,
    ),
    size("classes", "num_embeds_ada_norm", 1000, "C", "image classes"),
    read_none("norm_type", "ada_norm_zero"),
    switch("normed", "norm_elementwise_affine", False, report_default=False),
)


def dit(c: Config) -> Part:
    """Describe DiTTransformer2DModel: every layer has its own embedding of the time and of the class, one more for none."""
    H = c.hidden
    label = part("class_embedder", embedding("embedding_table", c.classes + 1, H), kind="embeddings")
    norm = part(
        "norm1",
        part("emb", two_maps("timestep_embedder", 256, H), label, kind="embeddings"),
        linear("linear", H, 6 * H),
        kind="adaptive_norm",
    )
    maps = (linear(name, H, H, bias=c.qkv_bias) for name in ("to_q", "to_k", "to_v"))
    attention = part("attn1", *maps, to_out(H, H), attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")
    last = (layer_norm("norm3", H),) if c.normed else ()
    layer = part(
        "transformer_blocks", norm, attention, *last, feed_forward("ff", H, gated=c.activation == "geglu"), kind="layer", repeat=c.layers
    )
    return part(
        "",
        part("pos_embed", conv2d("proj", c.channels, H, c.patch), kind="embeddings"),
        layer,
        linear("proj_out_1", H, 2 * H),
        linear("proj_out_2", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


SHARED_KEYS = frozenset(
    "_class_name _diffusers_version _name_or_path architectures model_type sample_size dropout norm_num_groups norm_eps act_fn".split()
)
FLUX_KEYS = frozenset(("axes_dims_rope",))
DIT_KEYS = frozenset("dropout norm_eps upcast_attention".split())


def diffusers_family(model_type: str, fields: tuple[Field, ...], name: str, blueprint: Any, keys: frozenset[str] = frozenset()) -> Family:
    """Make the family of one of diffusers' classes."""
    return Family(model_type, fields, {f"diffusers.{name}": blueprint}, f"diffusers.{name}", SHARED_KEYS | keys)


FAMILIES = {
    "diffusers_flux": diffusers_family("diffusers_flux", FLUX, "FluxTransformer2DModel", flux, FLUX_KEYS),
    "diffusers_sd3": diffusers_family("diffusers_sd3", SD3, "SD3Transformer2DModel", sd3),
    "diffusers_dit": diffusers_family("diffusers_dit", DIT, "DiTTransformer2DModel", dit, DIT_KEYS),
}
