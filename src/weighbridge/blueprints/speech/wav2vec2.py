"""Wav2Vec 2.0, HuBERT, WavLM and related encoders: a convolutional extractor over the waveform, then a transformer over 20 ms frames.

Source: arXiv 2006.11477 (wav2vec 2.0), 2106.07447 (HuBERT), 2110.13900 (WavLM), 2101.07597 (UniSpeech), 2110.05752
(UniSpeech-SAT); names as in transformers 5.23.0, models/wav2vec2/modeling_wav2vec2.py and its siblings. ``seq`` counts
samples of the waveform; the convolutions make frames of them.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.speech_encoder import (
    ADAPTED,
    FIELDS,
    IGNORED_KEYS,
    QUANTIZED,
    SPEAKER,
    adapter,
    adapter_output,
    frames,
    mask_embedding,
    quantizer,
)
from weighbridge.blueprints.modules.speech_heads import with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv1d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact, is_some
from weighbridge.core.tree import Every, Node, Part, Tensor


def features(c: Config) -> Part:
    """Describe the convolutions over the waveform; a norm follows the first of them, or all."""
    widths, layers = (1, *c.widths), []
    if c.norm not in ("group", "layer"):
        text = Text("expected one of {expected}, found {value!r:.60}", expected="group, layer", value=c.norm)
        raise ConfigError(text, key="feat_extract_norm", value=c.norm)
    for index, (kernel, stride) in enumerate(zip(c.kernels, c.strides, strict=True)):
        inner = conv1d("conv", widths[index], widths[index + 1], kernel, stride=stride, of=frames(c, index), bias=c.conv_bias)
        normed = c.norm == "layer" or index == 0
        norm = (layer_norm("layer_norm", widths[index + 1], stream=inner.stream),) if normed else ()
        layers.append(part("conv_layers", inner, *norm, kind="convolution", repeat=1, indices=(index,)))
    return part("feature_extractor", *layers, kind="convolutions")


def positions(c: Config) -> Part:
    """Describe the convolution that encodes positions, its weight split into length and direction."""
    H, K, shape = c.hidden, c.position_kernel, (c.hidden, exact(c.hidden, c.position_groups), c.position_kernel)
    stream = length(frames(c)) + K // 2 * 2 - K + 1
    if c.stacked:
        plain = part("conv", Tensor("weight", shape, "weight"), Tensor("bias", (H,), "bias"), kind="convolution", stream=stream)
        return part("pos_conv_embed", part("layers", plain, kind="convolution", repeat=c.position_layers), kind="positions")
    if c.batch_norm:
        whole = part("conv", Tensor("weight", shape, "weight"), Tensor("bias", (H,), "bias"), kind="convolution", stream=stream)
        return part("pos_conv_embed", whole, batch_norm("batch_norm", H), kind="positions")
    split = part("weight", Tensor("original0", (1, 1, K), "gain"), Tensor("original1", shape, "weight"), kind="weight_norm")
    inner = (Tensor("bias", (H,), "bias"), part("parametrizations", split, kind="weight_norm"))
    return part("pos_conv_embed", part("conv", *inner, kind="convolution", stream=stream), kind="positions")


def layer(c: Config, *, first: bool = True) -> tuple[Node, ...]:
    """Describe a layer; a stable one may hold an adapter for a language."""
    H = c.hidden
    attention = fairseq_attention("attention", H, c.heads, c.head_dim)
    if c.gated:
        gate = linear("gru_rel_pos_linear", c.head_dim, 8, stream=length(frames(c)) * c.heads)
        table = (embedding("rel_attn_embed", c.buckets, c.heads),) if first else ()
        attention = replace(
            attention, children=(Tensor("gru_rel_pos_const", (1, c.heads, 1, 1), "gain"), *attention.children, gate, *table)
        )
    adapters = (layer_norm("norm", H), linear("linear_1", H, c.adapter), linear("linear_2", c.adapter, H)) if c.stable and c.adapted else ()
    return (
        attention,
        layer_norm("layer_norm", H),
        part("feed_forward", linear("intermediate_dense", H, c.mlp), linear("output_dense", c.mlp, H), kind="feed_forward"),
        layer_norm("final_layer_norm", H),
        *((part("adapter_layer", *adapters, kind="adapter"),) if adapters else ()),
    )


def backbone(c: Config) -> tuple[Node, ...]:
    """Describe the waveform's convolutions, a projection to the hidden size, and the transformer."""
    last = c.widths[-1]
    projection = (*((layer_norm("layer_norm", last),) if c.projection_norm else ()), linear("projection", last, c.hidden))
    first = part("layers", *layer(c), kind="layer", repeat=1 if c.gated and is_some(c.layers) else c.layers)
    others = (
        (part("layers", *layer(c, first=False), kind="layer", repeat=c.layers - 1, indices=Every(1)),)
        if c.gated and is_some(c.layers)
        else ()
    )
    return (
        *mask_embedding(c),
        features(c),
        part("feature_projection", *projection, kind="projection", stream=frames(c)),
        part("encoder", positions(c), layer_norm("layer_norm", c.hidden), first, *others, kind="encoder", stream=frames(c)),
        *adapter(c),
    )


def pre_training(c: Config) -> tuple[Part, ...]:
    """Describe the quantizer of the targets, and the projections of what is compared."""
    return (
        quantizer(c),
        linear("project_hid", c.hidden, c.contrast, stream=adapter_output(c)),
        linear("project_q", c.code, c.contrast, stream=frames(c)),
    )


def unispeech_training(c: Config) -> tuple[Part, ...]:
    """Describe UniSpeech's: codes are projected back to the hidden size, and read as units."""
    codes = (linear("project_q", c.code, c.contrast), linear("project_hid", c.contrast, c.hidden), linear("ctc_proj", c.hidden, c.units))
    return (quantizer(c), *(replace(module, stream=frames(c)) for module in codes))


def sat_training(c: Config) -> tuple[Node, ...]:
    """Describe UniSpeech-SAT's, which the reference stores and does not run."""
    H = c.hidden
    heads = (
        quantizer(c, c.hidden),
        linear("project_q", c.code, c.contrast),
        linear("project_hid", H, c.contrast),
        linear("speaker_proj", H, c.code),
        layer_norm("layer_norm_for_extract", H),
    )
    return (
        Tensor("label_embeddings_concat", (c.clusters, c.code), "embedding"),
        *(replace(module, requires="targets") for module in heads),
    )


Training = Callable[[Config], tuple[Node, ...]]


def family_of(
    model_type: str, name: str, prefix: str, table: tuple[Field, ...], heads: str, pre_training: Training | None = None
) -> Family:
    """Return one model type: its fields, which of the heads it has, and how it is pre-trained."""
    return Family(model_type, table, with_heads(name, prefix, backbone, heads, pre_training=pre_training), f"{name}Model", IGNORED_KEYS)


WAV2VEC2 = variant((*FIELDS, *ADAPTED, *SPEAKER, *QUANTIZED))
HUBERT = variant(
    FIELDS,
    constant("extended", False),
    batch_norm=switch("batch_norm", "conv_pos_batch_norm", False),
    projection_norm=switch("projection_norm", "feat_proj_layer_norm", True),
)
WAVLM = variant(
    WAV2VEC2,
    size("buckets", "num_buckets", 320, "B", "relative distance buckets"),
    gated=True,
    adapted=constant("adapted", False),
)
UNISPEECH = variant(FIELDS, *QUANTIZED, size("units", "num_ctc_classes", 80, "U", "units"), constant("extended", False))
SAT = variant(
    FIELDS,
    *QUANTIZED,
    *SPEAKER,
    size("clusters", "num_clusters", 504, "Z", "clusters"),
    constant("extended", False),
    time_mask=constant("time_mask", 1),
)
DATA2VEC = variant(
    FIELDS,
    *ADAPTED,
    *SPEAKER,
    size("position_layers", "num_conv_pos_embeddings", 5, "R", "convolutions of positions"),
    position_kernel=size("position_kernel", "conv_pos_kernel_size", 19, "K", "kernel size of a position convolution"),
    stacked=True,
    norm=constant("norm", "layer"),
    stable=constant("stable", False),
    adapter=constant("adapter", None),
    adapted=constant("adapted", False),
)

FAMILIES = {
    "wav2vec2": family_of("wav2vec2", "Wav2Vec2", "wav2vec2", WAV2VEC2, "ctc sequence frame xvector", pre_training=pre_training),
    "hubert": family_of("hubert", "Hubert", "hubert", HUBERT, "ctc sequence"),
    "unispeech": family_of("unispeech", "UniSpeech", "unispeech", UNISPEECH, "ctc sequence", pre_training=unispeech_training),
    "unispeech-sat": family_of(
        "unispeech-sat", "UniSpeechSat", "unispeech_sat", SAT, "ctc sequence frame xvector", pre_training=sat_training
    ),
    "data2vec-audio": family_of("data2vec-audio", "Data2VecAudio", "data2vec_audio", DATA2VEC, "ctc sequence frame xvector"),
    "wavlm": family_of("wavlm", "WavLM", "wavlm", WAVLM, "ctc sequence frame xvector"),
}
