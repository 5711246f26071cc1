"""diffusers: ControlNets of transformers (Stable Diffusion 3, FLUX.1, Qwen-Image): their layers, each of whose states goes through a map.

Source: arXiv 2302.05543; diffusers 0.42.1, models/controlnets/{controlnet_flux,controlnet_sd3,controlnet_qwenimage}.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import (
    FLUX,
    FLUX_KEYS,
    PASS,
    SD3,
    diffusers_family,
    feed_forward,
    flux_layers,
    modulation,
    sd3_layers,
    sd3_places,
    time_and_text,
    to_out,
    two_maps,
)
from weighbridge.blueprints.packages.diffusers_control import picture_embedding
from weighbridge.blueprints.packages.diffusers_transformers import QWEN_IMAGE, QWEN_IMAGE_KEYS, qwen_image_layers
from weighbridge.config.fields import Config, computed, optional, size, switch, variant
from weighbridge.core.parts import attend, conv2d, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part


def control_maps(name: str, width: Size, count: Size) -> Part:
    """Describe a map of the states of each of *count* layers."""
    return part(name, linear("", width, width), kind="linear", repeat=count)


FLUX_CONTROL = (
    *variant(
        FLUX,
        size("layers", "num_layers", 19, "L", "double-stream layers", minimum=0),
        size("single_layers", "num_single_layers", 38, "M", "single-stream layers", minimum=0),
    ),
    optional("modes", "num_mode", None, "K", "kinds of pictures"),
    optional("hint", "conditioning_embedding_channels", None, "E", "channels that the picture becomes"),
)


def flux_control(c: Config) -> Part:
    """Describe FluxControlNetModel; one for several kinds of pictures has a vector for each."""
    H = c.hidden
    modes = () if c.modes is None else (embedding("controlnet_mode_embedder", c.modes, H),)
    hint: tuple[Node, ...] = ()
    if c.hint is not None:
        hint = (picture_embedding("input_hint_block", 3, (16, 16, 16, 16), c.hint),)
    return part(
        "",
        time_and_text(c, guided=c.guided),
        linear("context_embedder", c.text, H),
        linear("x_embedder", c.channels, H),
        *flux_layers(c),
        control_maps("controlnet_blocks", H, c.layers),
        control_maps("controlnet_single_blocks", H, c.single_layers),
        *modes,
        *hint,
        linear("controlnet_x_embedder", c.channels, H),
        kind="model",
        stream=PASS,
    )


SD3_CONTROL = (
    *variant(
        SD3,
        optional("text", "joint_attention_dim", 4096, "T", "width of the text states"),
        computed("kinds", lambda c: ["twice" if index in c.dual else "once" for index in layer_range(c.layers)]),
    ),
    size("more", "extra_conditioning_channels", 0, "M", "further channels of the picture", minimum=0),
    switch("placed", "use_pos_embed", True),
    read_none("pos_embed_type", "sincos"),
)


def lone_layers(c: Config) -> Part:
    """Describe layers without a text."""
    H = c.hidden
    maps = (linear(name, H, H) for name in ("to_q", "to_k", "to_v"))
    attn = part("attn", *maps, to_out(H, H), attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")
    return part("transformer_blocks", modulation("norm1", H, 6), attn, feed_forward("ff", H), kind="layer", repeat=c.layers)


def sd3_control(c: Config) -> Part:
    """Describe SD3ControlNetModel, with the text or without it."""
    H = c.hidden
    text: tuple[Node, ...] = (lone_layers(c),) if c.text is None else (linear("context_embedder", c.text, c.caption), *sd3_layers(c))
    return part(
        "",
        *((sd3_places(c),) if c.placed else ()),
        time_and_text(c, guided=False),
        *text,
        control_maps("controlnet_blocks", H, c.layers),
        part("pos_embed_input", conv2d("proj", c.channels + c.more, H, c.patch), kind="embeddings"),
        kind="model",
        stream=PASS,
    )


QWEN_CONTROL = (
    *(field for field in QWEN_IMAGE if field.word not in ("additional", "outputs", "patch")),
    size("more", "extra_condition_channels", 0, "M", "further channels of the picture", minimum=0),
)


def qwen_control(c: Config) -> Part:
    """Describe QwenImageControlNetModel."""
    H = c.hidden
    return part(
        "",
        part("time_text_embed", two_maps("timestep_embedder", 256, H), kind="embeddings"),
        rms_norm("txt_norm", c.text),
        linear("img_in", c.channels, H),
        linear("txt_in", c.text, H),
        qwen_image_layers(c),
        control_maps("controlnet_blocks", H, c.layers),
        linear("controlnet_x_embedder", c.channels + c.more, H),
        kind="model",
        stream=PASS,
    )


FAMILIES = {
    "diffusers_flux_controlnet": diffusers_family(
        "diffusers_flux_controlnet", FLUX_CONTROL, "FluxControlNetModel", flux_control, FLUX_KEYS | {"patch_size", "out_channels"}
    ),
    "diffusers_sd3_controlnet": diffusers_family(
        "diffusers_sd3_controlnet", SD3_CONTROL, "SD3ControlNetModel", sd3_control, frozenset(("force_zeros_for_pooled_projection",))
    ),
    "diffusers_qwen_image_controlnet": diffusers_family(
        "diffusers_qwen_image_controlnet",
        QWEN_CONTROL,
        "QwenImageControlNetModel",
        qwen_control,
        QWEN_IMAGE_KEYS | {"patch_size", "out_channels"},
    ),
}
