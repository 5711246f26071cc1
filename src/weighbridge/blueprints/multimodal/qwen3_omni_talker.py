"""Qwen3-Omni whole: the thinker, a talker with experts that says codes, and the decoder from codes to a waveform.

Source: arXiv 2509.17765; names as in transformers 5.23.0, models/qwen3_omni_moe/modeling_qwen3_omni_moe.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.blueprints.decoders.llama import LLAMA
from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, expert_width, mixtral
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.mixture_of_experts import required_field
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.multimodal.qwen3_omni_moe import MORE_IGNORED_KEYS, NAME
from weighbridge.config.family import Family
from weighbridge.config.fields import SHARED_EXPERT_MLP, Config, nested, size, switch, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, gated_mlp, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

GENERATED = unknown("how many codes are spoken is a matter of the generation")
TEXT = variant(
    MIXTRAL,
    NO_MLP_BIAS,
    vocab=3072,
    hidden=1024,
    mlp=2048,
    layers=20,
    heads=16,
    kv_heads=2,
    qk_norm="head",
    experts=size("experts", "num_experts", 128, "E", "experts", "num_local_experts"),
    active=8,
    expert_mlp=expert_width(384),
    shared_mlp=required_field(SHARED_EXPERT_MLP),
    block="gate experts shared_expert shared_expert_gate",
)
"""Every layer has experts, whatever ``mlp_only_layers`` and ``decoder_sparse_step`` say: the class sets them in afterwards."""
WAVES = variant(
    LLAMA,
    NO_MLP_BIAS,
    size("codes", "codebook_size", 2048, "V", "codes of a codebook"),
    size("quantizers", "num_quantizers", 16, "Q", "codebooks"),
    number("wide", "decoder_dim", 1536),
    numbers("rates", "upsample_rates", (8, 5, 4, 3)),
    numbers("ratios", "upsampling_ratios", (2, 2)),
    hidden=1024,
    mlp=3072,
    layers=8,
    heads=16,
    kv_heads=16,
)
TALKER = (
    model_config("text", "text_config", "qwen3_omni_moe_talker_text", fixed=True),
    model_config("predictor", "code_predictor_config", "qwen3_omni_moe_talker_code_predictor", fixed=True),
    size("thought", "thinker_hidden_size", 2048, "T", "width of the thinker"),
    required_field(number("merge", "spatial_merge_size", None)),
    switch("tied", "tie_word_embeddings", False),
)
WHOLE = (
    model_config("thinker", "thinker_config", "qwen3_omni_moe_thinker", fixed=True),
    nested("talker", "talker_config", TALKER),
    nested("waves", "code2wav_config", WAVES),
    switch("speaks", "enable_audio_output", True),
)


def talker(c: Config) -> tuple[Node, ...]:
    """Describe the talker's body, whose table of codes stands last."""
    _, *rest = mixtral(c)
    return *rest, embedding("codec_embedding", c.vocab, c.hidden)


def talker_body(c: Config) -> Part:
    """Describe the talker: both projections of what the thinker thinks, its layers, its head, and the predictor of the other codes."""
    words, I, H = c.text, c.text.mlp, c.text.hidden
    owner = "model.codec_embedding.weight" if c.tied else None
    projections = (
        part(name, linear("linear_fc1", c.thought, I), linear("linear_fc2", I, H), kind="projector")
        for name in ("text_projection", "hidden_projection")
    )
    return part(
        "",
        as_child("model", submodel(words)),
        *projections,
        linear("codec_head", H, words.vocab, bias=False, tied_to=owner),
        as_child("code_predictor", submodel(c.predictor, "ForConditionalGeneration")),
        kind="model",
    )


def as_list_item(name: str, index: int, module: Part) -> Part:
    """Put a module into a list, under its index."""
    return replace(module, name=name, repeat=1, indices=(index,))


def conv(name: str, *shape: Size) -> Part:
    """Describe a convolution with its bias, inside a module that cuts what it has not heard yet; all output as many channels as *shape* says first."""
    return part(
        name, part("conv", Tensor("weight", shape, "weight"), Tensor("bias", shape[:1], "bias"), kind="convolution"), kind="convolution"
    )


def transposed_conv(inputs: Size, outputs: Size, kernel: Size) -> Part:
    """Describe a transposed convolution with its bias."""
    tensors = Tensor("weight", (inputs, outputs, kernel), "weight"), Tensor("bias", (outputs,), "bias")
    return part("", part("conv", *tensors, kind="convolution"), kind="convolution")


def snake(name: str, width: Size) -> Part:
    """Describe a periodic activation: how fast and how strong, for each channel."""
    return part(name, Tensor("alpha", (width,), "gain"), Tensor("beta", (width,), "gain"), kind="norm")


def upsample(width: Size, ratio: int) -> Part:
    """Describe a step from codes to more frames: a transposed convolution and a ConvNeXt block."""
    block = part(
        "1",
        Tensor("gamma", (width,), "gain"),
        conv("dwconv", width, 1, 7),
        layer_norm("norm", width),
        linear("pwconv1", width, 4 * width),
        linear("pwconv2", 4 * width, width),
        kind="convolutions",
    )
    return part("", replace(transposed_conv(width, width, ratio), name="0"), block, kind="convolutions")


def residual(width: Size) -> tuple[Node, ...]:
    """Describe what one convolution of seven frames and one of a single frame add."""
    return snake("act1", width), conv("conv1", width, width, 7), snake("act2", width), conv("conv2", width, width, 1)


def decoder(c: Config) -> Iterator[Part]:
    """Yield the decoder's modules, each step of which has half the channels of the one before."""
    yield conv("", c.wide, c.hidden, 7)
    for step, rate in enumerate(c.rates):
        before, after = c.wide // 2**step, c.wide // 2 ** (step + 1)
        first = snake("", before), transposed_conv(before, after, 2 * rate)
        units = (part("", *residual(after), kind="convolutions") for _ in range(3))
        yield part("", *(as_list_item("block", index, module) for index, module in enumerate((*first, *units))), kind="convolutions")
    last = c.wide // 2 ** len(c.rates)
    yield snake("", last)
    yield conv("", 1, last, 7)


def code2wav(c: Config) -> Part:
    """Describe the decoder: layers with a scale behind each half, and convolutions that spread a code over its samples."""
    H = c.hidden
    scales = (part(f"{name}_layer_scale", Tensor("scale", (H,), "gain"), kind="norm") for name in ("self_attn", "mlp"))
    norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    layer = part("layers", attention(c), gated_mlp("mlp", H, c.mlp), *norms, *scales, kind="layer", repeat=c.layers)
    return part(
        "",
        part("pre_transformer", layer, rms_norm("norm", H), kind="backbone"),
        embedding("code_embedding", c.codes * c.quantizers, H),
        *(as_list_item("upsample", index, upsample(H, ratio)) for index, ratio in enumerate(c.ratios)),
        *(as_list_item("decoder", index, module) for index, module in enumerate(decoder(c))),
        kind="model",
        stream=GENERATED,
    )


def omni(c: Config) -> Part:
    """Describe the whole; a forward pass of it there is not, only generation."""
    spoken = as_child("talker", talker_body(c.talker), requires="speech"), as_child("code2wav", code2wav(c.waves), requires="speech")
    return part("", as_child("thinker", submodel(c.thinker, "ForConditionalGeneration")), *(spoken if c.speaks else ()), kind="model")


IGNORED_KEYS = MORE_IGNORED_KEYS | TEXT_IGNORED_KEYS
TALKS = {f"{NAME}TalkerModel": lambda c: part("", *talker(c), kind="model")}
SPEAKS = f"{NAME}ForConditionalGeneration"
FAMILIES = {
    "qwen3_omni_moe_talker_text": Family("qwen3_omni_moe_talker_text", TEXT, TALKS, f"{NAME}TalkerModel", IGNORED_KEYS),
    "qwen3_omni_moe": Family("qwen3_omni_moe", WHOLE, {SPEAKS: omni}, SPEAKS, IGNORED_KEYS),
}
