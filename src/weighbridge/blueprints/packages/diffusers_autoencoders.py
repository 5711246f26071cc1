"""diffusers: further autoencoders of images and videos, of which some have a book of codes, or are small.

Source: diffusers 0.42.1, models/autoencoders/{autoencoder_tiny,vq_model,autoencoder_kl_temporal_decoder,vae}.py, models/resnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import conv3d, group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, numbers
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family
from weighbridge.blueprints.packages.diffusers_unet import VAE, VAE_KEYS, decoder, encoder, resnet, resnets, sampler, square_attention
from weighbridge.config.fields import Config, constant, optional, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, embedding, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

TINY = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    numbers("encoder_widths", "encoder_block_out_channels", (64, 64, 64, 64)),
    numbers("decoder_widths", "decoder_block_out_channels", (64, 64, 64, 64)),
    numbers("encoder_depths", "num_encoder_blocks", (1, 3, 3, 3), minimum=0, most=WRITTEN_OUT),
    numbers("decoder_depths", "num_decoder_blocks", (3, 3, 3, 1), minimum=0, most=WRITTEN_OUT),
    size("latent", "latent_channels", 4, "Z", "latent channels"),
)


def _tiny_block(name: str, width: Size) -> Part:
    """Describe three convolutions with activations between them."""
    return part(name, part("conv", *(conv2d(index, width, width, 3) for index in "024"), kind="convolutions"), kind="layer")


def _one_width(key: str, widths: tuple[int, ...], depths: tuple[int, ...]) -> int:
    """Return the width that all stages share, which the class needs since its stages do not change it."""
    if len(widths) != len(depths) or len(set(widths)) > 1:
        raise ConfigError(Text("expected one width for each of {stages} stages", stages=len(depths)), key=key, value=list(widths))
    return widths[0]


def tiny_autoencoder(c: Config) -> Part:
    """Describe AutoencoderTiny (TAESD): convolutions, half of them without bias, in two flat lists."""
    width = _one_width("encoder_block_out_channels", c.encoder_widths, c.encoder_depths)
    down: list[Part] = []
    for stage, depth in enumerate(c.encoder_depths):
        first = conv2d(str(len(down)), c.channels, width, 3) if not stage else conv2d(str(len(down)), width, width, 3, bias=False)
        down += [first, *(_tiny_block(str(len(down) + 1 + at), width) for at in range(depth))]
    down.append(conv2d(str(len(down)), width, c.latent, 3))
    width = _one_width("decoder_block_out_channels", c.decoder_widths, c.decoder_depths)
    up, at = [conv2d("0", c.latent, width, 3)], 2
    for stage, depth in enumerate(c.decoder_depths):
        up += [_tiny_block(str(at + block), width) for block in range(depth)]
        last = stage == len(c.decoder_depths) - 1
        at += depth + (not last)  # what enlarges the map has a place in the list and no tensors
        up.append(conv2d(str(at), width, c.outputs if last else width, 3, bias=last))
        at += 1
    layers = (part(name, part("layers", *parts, kind="convolutions"), kind=name) for name, parts in (("encoder", down), ("decoder", up)))
    return part("", *layers, kind="model", stream=PASS)


VQ = (
    *variant(
        tuple(field for field in VAE if field.word not in ("quant", "post_quant")),
        size("latent", "latent_channels", 3, "Z", "latent channels"),
    ),
    size("codes", "num_vq_embeddings", 256, "K", "codes"),
    optional("code", "vq_embed_dim", None, "E", "width of a code"),
    read_none("norm_type", "group"),
)


def vq_model(c: Config) -> Part:
    """Describe VQModel (VQ-GAN; Esser et al., 2021): each place of the map of latents becomes the nearest code of a book."""
    code = c.latent if c.code is None else c.code
    return part(
        "",
        encoder(c, c.latent),
        conv2d("quant_conv", c.latent, code, 1),
        part("quantize", embedding("embedding", c.codes, code), kind="embeddings"),
        conv2d("post_quant_conv", code, c.latent, 1),
        decoder(c),
        kind="model",
        stream=PASS,
    )


TEMPORAL = (
    *(field for field in VAE if field.word not in ("quant", "post_quant", "up", "attends")),
    constant("attends", True),
)


def temporal_resnet(width: Size, time: Size | None = None) -> tuple[Node, ...]:
    """Describe a residual block over the same place of neighbouring frames."""
    from_time = tuple(child for child in resnet(width, width, time) if isinstance(child, Part) and child.name == "time_emb_proj")
    first, second = (conv3d(name, width, width, (3, 1, 1)) for name in ("conv1", "conv2"))
    return group_norm("norm1", width), first, *from_time, group_norm("norm2", width), second


def mixed_resnet(inputs: Size, outputs: Size, time: Size | None = None) -> tuple[Node, ...]:
    """Describe a residual block over places, one over frames, and the learned share of each."""
    return (
        part("spatial_res_block", *resnet(inputs, outputs, time), kind="layer"),
        part("temporal_res_block", *temporal_resnet(outputs, time), kind="layer"),
        part("time_mixer", Tensor("mix_factor", (1,), "gain"), kind="mixer"),
    )


def temporal_autoencoder(c: Config) -> Part:
    """Describe AutoencoderKLTemporalDecoder (Stable Video Diffusion): an encoder of images, and a decoder that looks at frames as well."""
    widths, last = c.widths, len(c.widths) - 1
    turned, up = widths[::-1], []
    for index, width in enumerate(turned):
        inputs = [turned[max(index - 1, 0)], *(width,) * c.depth]
        blocks = resnets(*(mixed_resnet(before, width) for before in inputs))
        up.append((blocks, *(() if index == last else (sampler("upsamplers", width),))))
    attention = module_list("attentions", square_attention(widths[-1]), kind="self_attention")
    middle = part("mid_block", attention, resnets(*(mixed_resnet(widths[-1], widths[-1]) for _ in range(c.depth))), kind="stage")
    decoder_parts = (
        conv2d("conv_in", c.latent, widths[-1], 3),
        middle,
        module_list("up_blocks", *up),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        conv3d("time_conv_out", c.outputs, c.outputs, (3, 1, 1)),
    )
    quant = conv2d("quant_conv", 2 * c.latent, 2 * c.latent, 1)
    return part("", encoder(c, 2 * c.latent), part("decoder", *decoder_parts, kind="decoder"), quant, kind="model", stream=PASS)


TINY_KEYS = frozenset(
    """block_out_channels force_upcast latent_magnitude latent_shift scaling_factor shift_factor upsample_fn
    upsampling_scaling_factor""".split()
)
FAMILIES = {
    "diffusers_tiny_vae": diffusers_family("diffusers_tiny_vae", TINY, "AutoencoderTiny", tiny_autoencoder, TINY_KEYS),
    "diffusers_vq": diffusers_family("diffusers_vq", VQ, "VQModel", vq_model, VAE_KEYS | {"lookup_from_codebook"}),
    "diffusers_temporal_vae": diffusers_family(
        "diffusers_temporal_vae", TEMPORAL, "AutoencoderKLTemporalDecoder", temporal_autoencoder, VAE_KEYS
    ),
}
