"""Qwen2.5-Omni's token2wav: a diffusion transformer from speech tokens to mel frames, and BigVGAN to the waveform.

Source: arXiv 2503.20215, 2206.04658 (BigVGAN), 2005.07143 (ECAPA-TDNN); names as in transformers 5.23.0,
models/qwen2_5_omni/modeling_qwen2_5_omni.py. How often the transformer runs is a matter of the generation.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.speech.hifigan import conv1d_same, fields
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, LAYERS, Config, Field, computed, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

SOLVED = unknown("the steps of the solver are chosen at generation, and filters without weights run between convolutions")
TIMES = 256
"""Sinusoids of which a step's time is made (DiTTimestepEmbedding's own default)."""


def refuse_unequal_lists(c: Config) -> bool:
    """Refuse lists of the speaker encoder that are not equally long."""
    if not 2 <= len(c.channels) == len(c.speaker_kernels):
        raise ConfigError("expected as many channels as kernels, at least two", key="enc_channels", value=c.channels)
    return True


SPEAKER = (
    size("mels", "mel_dim", 80, "M", "mel bins"),
    size("speaker", "enc_dim", 128, "S", "width of a speaker vector"),
    numbers("channels", "enc_channels", (256, 256, 256, 256, 768)),
    numbers("speaker_kernels", "enc_kernel_sizes", (5, 3, 3, 3, 1)),
    size("pooled", "enc_attention_channels", 64, "P", "width of the attentive pooling"),
    Field("scale", "enc_res2net_scale", 2, "choice"),
    size("squeezed", "enc_se_channels", 64, "Q", "squeezed channels of the speaker encoder"),
    computed("alike", refuse_unequal_lists),
)
DIT = (
    HIDDEN.with_default(1024),
    LAYERS.with_default(22),
    HEADS.with_default(16),
    HEAD_DIM.with_default(64),
    size("times", "ff_mult", 2, "X", "intermediate size as a multiple of the hidden size"),
    size("words", "emb_dim", 512, "E", "width of the embeddings"),
    size("codes", "num_embeds", 8193, "V", "vocabulary size"),
    size("given_speaker", "enc_emb_dim", 192, "G", "width of a given speaker vector"),
    *SPEAKER,
)
VOCODER = variant((size("mels", "mel_dim", 80, "M", "mel bins"), *fields((5, 3, 2, 2, 2, 2), (11, 7, 4, 4, 4, 4))), wide=1536)


def tdnn_block(name: str, inputs: Size, outputs: Size, kernel: Size) -> Part:
    """Describe a convolution with its activation."""
    return part(name, conv1d_same("conv", inputs, outputs, kernel), kind="convolution")


def se_res2net_block(c: Config, index: int) -> Part:
    """Describe a block of the speaker encoder: convolutions over groups of channels, and gates for all of them."""
    inputs, outputs = c.channels[index - 1], c.channels[index]
    group = replace(tdnn_block("blocks", outputs // c.scale, outputs // c.scale, c.speaker_kernels[index]), repeat=c.scale - 1)
    return part(
        "blocks",
        tdnn_block("tdnn1", inputs, outputs, 1),
        part("res2net_block", *((group,) if c.scale > 1 else ()), kind="convolutions"),
        tdnn_block("tdnn2", outputs, outputs, 1),
        part("se_block", conv1d_same("conv1", outputs, c.squeezed, 1), conv1d_same("conv2", c.squeezed, outputs, 1), kind="convolutions"),
        kind="convolutions",
        repeat=1,
        indices=(index,),
    )


def speaker(c: Config) -> Part:
    """Describe the encoder of a speaker's voice."""
    last, K = c.channels[-1], c.speaker_kernels
    first = replace(tdnn_block("blocks", c.mels, c.channels[0], K[0]), repeat=1)
    blocks = (se_res2net_block(c, index) for index in range(1, len(c.channels) - 1))
    pooling = part("asp", tdnn_block("tdnn", 3 * last, c.pooled, 1), conv1d_same("conv", c.pooled, last, 1), kind="pooler")
    return part(
        "spk_encoder",
        first,
        *blocks,
        tdnn_block("mfa", last, last, K[-1]),
        pooling,
        conv1d_same("fc", 2 * last, c.speaker, 1),
        kind="encoder",
    )


def dit(c: Config) -> Part:
    """Describe the diffusion transformer, whose norms follow the time of the step."""
    H, wide = c.hidden, c.heads * c.head_dim
    out, inner = part("to_out", linear("0", wide, H)), part("ff", linear("0", H, H * c.times), linear("3", H * c.times, H))
    layer = part(
        "transformer_blocks",
        part("attn_norm", linear("linear", H, 6 * H), kind="norm"),
        part("attn", *(linear(f"to_{name}", H, wide) for name in "qkv"), out, kind="self_attention"),
        part("ff", inner, kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    joined = linear("proj", c.mels + c.speaker + c.given_speaker + c.words, H)
    return part(
        "",
        part("time_embed", part("time_mlp", linear("0", TIMES, H), linear("2", H, H)), kind="embeddings"),
        part("text_embed", embedding("codec_embed", c.codes + 1, c.words), kind="embeddings"),
        part("input_embed", joined, speaker(c), kind="embeddings"),
        layer,
        part("norm_out", linear("linear", H, 2 * H), kind="norm"),
        linear("proj_out", H, c.mels),
        kind="model",
        stream=SOLVED,
    )


def snake(name: str, width: Size, repeat: int | None = None) -> Part:
    """Describe a periodic activation: how fast and how strong, for each channel."""
    return part(
        name, part("act", Tensor("alpha", (width,), "gain"), Tensor("beta", (width,), "gain"), kind="norm"), kind="norm", repeat=repeat
    )


def bigvgan(c: Config) -> Part:
    """Describe BigVGAN: HiFi-GAN with periodic activations."""
    ups = [
        part(
            "ups",
            part(
                "0",
                Tensor("weight", (c.wide // 2**step, c.wide // 2 ** (step + 1), kernel), "weight"),
                Tensor("bias", (c.wide // 2 ** (step + 1),), "bias"),
                kind="convolution",
            ),
            kind="convolution",
            repeat=1,
            indices=(step,),
        )
        for step, (_, kernel) in enumerate(zip(c.rates, c.kernels, strict=False))
    ]
    blocks: list[Part] = []
    width = c.wide
    for _ in c.rates:  # blocks for each rate, also for those that no kernel is given for
        width //= 2
        for block, _ in zip(c.block_kernels, c.dilations, strict=False):
            convs = (replace(conv1d_same(name, width, width, block), repeat=3) for name in ("convs1", "convs2"))
            blocks.append(part("resblocks", *convs, snake("activations", width, 6), kind="convolution", repeat=1, indices=(len(blocks),)))
    ends = (snake("activation_post", width), conv1d_same("conv_post", width, 1, 7, bias=False))
    return part("", conv1d_same("conv_pre", c.mels, c.wide, 7), *ups, *blocks, *ends, kind="model", stream=SOLVED)


def waves(c: Config) -> Part:
    """Describe both."""
    return part("", as_child("code2wav_dit_model", submodel(c.dit)), as_child("code2wav_bigvgan_model", submodel(c.vocoder)), kind="model")


BOTH = (
    model_config("dit", "dit_config", "qwen2_5_omni_dit", fixed=True),
    model_config("vocoder", "bigvgan_config", "qwen2_5_omni_bigvgan", fixed=True),
)
OUTER_IGNORED_KEYS = frozenset("block_size enc_dilations look_ahead_layers look_backward_layers max_position_embeddings repeats".split())
NAME = "Qwen2_5OmniToken2Wav"
FAMILIES = {
    "qwen2_5_omni_dit": Family("qwen2_5_omni_dit", DIT, {f"{NAME}DiTModel": dit}, f"{NAME}DiTModel", OUTER_IGNORED_KEYS),
    "qwen2_5_omni_bigvgan": Family(
        "qwen2_5_omni_bigvgan", VOCODER, {f"{NAME}BigVGANModel": bigvgan}, f"{NAME}BigVGANModel", OUTER_IGNORED_KEYS
    ),
    "qwen2_5_omni_token2wav": Family("qwen2_5_omni_token2wav", BOTH, {f"{NAME}Model": waves}, f"{NAME}Model", OUTER_IGNORED_KEYS),
}
