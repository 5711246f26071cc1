"""Emu3: one language model over words and the codes of images and videos, which a VQ-VAE makes and draws.

Source: arXiv 2409.18869; names as in transformers 5.23.0, models/emu3/modeling_emu3.py. The VQ-VAE has no pass of its own: it codes and it draws.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import conv3d, group_norm
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.blueprints.modules.vqgan import FIELDS as VQGAN
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, choice, computed, constant, derived, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, linear, part, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

GROUPS = 32
"""Groups of channels that every group norm of the class has."""
PLACES = unknown("images have any size, and each is coded as a short film")
DRAWING = "drawing"
"""What the way back from codes waits for: no pass of the class runs it."""


def _levels_with_attention(stages: object) -> tuple[int, ...]:
    if not isinstance(stages, (list, tuple)):
        raise ConfigError("expected the indices of the levels that attend", key="attn_resolutions", value=stages)
    return tuple(stages)


def _refuse_groups(c: Config) -> bool:
    for multiple in c.levels:
        if c.base * multiple % GROUPS:
            raise ConfigError(
                Text("{width} channels cannot be normed in {groups} groups", width=c.base * multiple, groups=GROUPS), key="base_channels"
            )
    return True


CODES = (
    *variant(
        VQGAN,
        code=4,
        latent=4,
        base=256,
        entries=size("entries", "codebook_size", 32768, "V", "codes"),
        levels=numbers("levels", "channel_multiplier", (1, 2, 2, 4)),
        blocks=number("blocks", "num_res_blocks", 2, minimum=0),
    ),
    size("outputs", "out_channels", 3, "O", "output channels"),
    number("faster", "temporal_downsample_factor", 4),
    choice("attending", "attn_resolutions", [3], read=_levels_with_attention),
    HIDDEN.with_default(1024),
    HEADS.with_default(1),
    derived("head_dim", lambda c: c.hidden // c.heads, "hidden_size", "num_attention_heads"),
    computed("fits", _refuse_groups),
)


def _refuse_no_words(c: Config) -> bool:
    if not isinstance(c.words, dict):
        raise ConfigError("the class looks up the tokens of images here", key="vocabulary_map", value=c.words)
    return True


FIELDS = (
    model_config("vq", "vq_config", "emu3_vqgan", fixed=True),
    model_config("text", "text_config", "emu3_text_model", fixed=True),
    choice("words", "vocabulary_map", None),
    constant("mapped", _refuse_no_words),
    switch("tied", "tie_word_embeddings", False),
)
Norm = Callable[[str, Size], Part]


def causal_conv3d(name: str, inputs: Size, outputs: Size, kernel: tuple[int, int, int]) -> Part:
    """Describe a convolution over frames and places, padded in front."""
    return part(name, conv3d("conv", inputs, outputs, kernel), kind="convolution")


def norm_by_codes(c: Config) -> Norm:
    """Return the norm whose gain and shift are convolutions of the codes."""

    def norm(name: str, width: Size) -> Part:
        return part(
            name, group_norm("norm_layer", width, 32), conv2d("conv_y", c.code, width, 1), conv2d("conv_b", c.code, width, 1), kind="norm"
        )

    return norm


def resnet(name: str, c: Config, before: int, after: int, norm: Norm) -> Part:
    """Describe two convolutions with a skip connection around them; *before* and *after* are multiples of the first width."""
    inputs, width = c.base * before, c.base * after
    around = (conv2d("nin_shortcut", inputs, width, 1),) if before != after else ()
    convs = conv2d("conv1", inputs, width, 3), conv2d("conv2", width, width, 3)
    return part(name, norm("norm1", inputs), norm("norm2", width), *convs, *around, kind="block")


def resnet_in_time(c: Config, width: Size) -> Part:
    """Describe the blocks that look at neighbouring frames."""
    convs = (batch_norm("norm1", width), causal_conv3d("conv1", width, width, (3, 3, 3)))
    more = (batch_norm("norm2", width), causal_conv3d("conv2", width, width, (3, 3, 3)))
    return part("time_res_stack", *convs, *more, kind="block", repeat=c.blocks)


def attention(name: str, c: Config) -> Part:
    """Describe attention over the places of a map, as wide as the config says and not as the map is."""
    H = c.hidden
    maps = (linear(module, H, H) for module in ("k_proj", "v_proj", "q_proj", "out_proj"))
    return part(name, *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")


def level(c: Config, index: int, before: int, blocks: int, norm: Norm, between: str) -> Part:
    """Describe the blocks of one resolution, attention after each where it is asked for, and the way to the next."""
    after = c.levels[index]
    width, left = c.base * after, c.base * (after if blocks else before)
    looks = blocks if index in c.attending else 0
    return part(
        str(index),
        part("block", *(resnet(str(at), c, after if at else before, after, norm) for at in layer_range(blocks)), kind="block"),
        part("attn", *(attention(str(at), c) for at in layer_range(looks)), kind="block"),
        part("attn_norms", *(norm(str(at), width) for at in layer_range(looks)), kind="block"),
        *((part(between, conv2d("conv", left, left, 3), kind="convolution"),) if between else ()),
        kind="stage",
    )


def middle(c: Config, norm: Norm) -> Part:
    """Describe two blocks with attention between them."""
    top = c.levels[-1]
    first, second = (resnet(name, c, top, top, norm) for name in ("block_1", "block_2"))
    return part("middle_block", first, attention("attn_1", c), norm("attn_norm", c.base * top), second, kind="stage")


def steps_in_time(c: Config, width: Size, frames: int) -> Part:
    """Describe the convolutions that halve or double the frames."""
    conv = causal_conv3d("conv", width, width, (frames, 3, 3))
    return part("time_conv", conv, kind="convolution", repeat=c.faster.bit_length() - 1)


def encoder(c: Config) -> Part:
    """Describe the network that makes maps of codes."""
    wanted, last = (1, *c.levels), len(c.levels) - 1
    width, out = c.base * c.levels[-1], 2 * c.latent if c.double else c.latent
    down = (level(c, index, wanted[index], c.blocks, group_norm, "downsample" if index < last else "") for index in range(last + 1))
    return part(
        "encoder",
        conv2d("conv_in", c.channels, c.base, 3),
        part("down_block", part("down", *down, kind="stages")),
        middle(c, group_norm),
        group_norm("norm_out", width, 32),
        conv2d("conv_out", width, out, 3),
        steps_in_time(c, out, 4),
        resnet_in_time(c, out),
        kind="encoder",
    )


def decoder(c: Config) -> Part:
    """Describe the network that draws, from the coarsest level to the finest; its levels are numbered the other way round."""
    norm, coming = norm_by_codes(c), (*c.levels, c.levels[-1])
    up = (level(c, index, coming[index + 1], c.blocks + 1, norm, "upsample" if index else "") for index in range(len(c.levels)))
    return part(
        "decoder",
        resnet_in_time(c, c.latent),
        steps_in_time(c, c.latent, 3),
        conv2d("conv_in", c.latent, c.base * c.levels[-1], 3),
        middle(c, norm),
        part("up_block", part("up", *up, kind="stages")),
        norm("norm_out", c.base * c.levels[0]),
        conv2d("conv_out", c.base * c.levels[0], c.outputs, 3),
        kind="decoder",
        requires=DRAWING,
    )


def codes(c: Config) -> Part:
    """Describe Emu3VQVAE."""
    return part(
        "",
        encoder(c),
        decoder(c),
        part("quantize", embedding("embedding", c.entries, c.code), kind="codebook"),
        causal_conv3d("quant_conv", c.latent, c.code, (3, 1, 1)),
        replace(causal_conv3d("post_quant_conv", c.code, c.latent, (3, 1, 1)), requires=DRAWING),
        kind="model",
        stream=PLACES,
    )


def emu3(c: Config) -> tuple[Node, ...]:
    """Describe the language model, and what codes images."""
    return (
        as_child("text_model", submodel(c.text)),
        as_child("vqmodel", submodel(c.vq), requires="images", executions="images"),
    )


FAMILIES = {
    "emu3": Family(
        "emu3",
        FIELDS,
        {"Emu3Model": without_head(emu3), "Emu3ForConditionalGeneration": with_lm_head(emu3, "text_model.embed_tokens")},
        "Emu3Model",
        IGNORED_KEYS,
    ),
    "emu3_vqgan": Family("emu3_vqgan", CODES, {"Emu3VQVAE": codes}, "Emu3VQVAE", frozenset(("attention_dropout",))),
}
