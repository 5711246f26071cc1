"""The Audio Spectrogram Transformer: a vision transformer over overlapping patches of mel frames.

Source: arXiv 2104.01778; names as in transformers 5.23.0,
models/audio_spectrogram_transformer/modeling_audio_spectrogram_transformer.py. Its table of positions fixes the length.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HEADS, HIDDEN, LABELS, LAYERS, MEL_BINS, MLP, Config, derived, size, switch
from weighbridge.core.parts import attend, label_head, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    size("frames", "max_length", 1024, "T", "mel frames"),
    MEL_BINS.with_default(128),
    size("patch_side", "patch_size", 16, "P", "patch size"),
    size("mel_stride", "frequency_stride", 10, "F", "mel stride of patches"),
    size("frame_stride", "time_stride", 10, "E", "frame stride of patches"),
    derived("patches", lambda c: patches(c), "num_mel_bins", "max_length"),
    LABELS,
    switch("qkv_bias", "qkv_bias", True),
)


def patches(c: Config) -> Size:
    """Count the patches, along mel bins times along frames."""
    across: Size = (c.mels - c.patch_side) // c.mel_stride + 1
    along: Size = (c.frames - c.patch_side) // c.frame_stride + 1
    return across * along


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe patches, layers and a last norm; two learned tokens stand in front of the patches."""
    H, inner = c.hidden, c.heads * c.head_dim
    patch = part(
        "projection",
        Tensor("weight", (H, 1, c.patch_side, c.patch_side), "weight"),
        Tensor("bias", (H,), "bias"),
        kind="convolution",
        stream=c.patches,
    )
    embeddings = part(
        "embeddings",
        Tensor("cls_token", (1, 1, H), "embedding"),
        Tensor("distillation_token", (1, 1, H), "embedding"),
        Tensor("position_embeddings", (1, c.patches + 2, H), "embedding"),
        part("patch_embeddings", patch, kind="embeddings"),
        kind="embeddings",
    )
    attention = part(
        "attention",
        *(linear(f"{name}_proj", H, inner, bias=c.qkv_bias) for name in "qkv"),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        attention,
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
        part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return embeddings, layer, layer_norm("layernorm", H)


def ast(c: Config) -> Part:
    """Describe ASTModel."""
    return part("", *encoder(c), kind="model", stream=c.patches + 2)


def classification(c: Config) -> Part:
    """Describe ASTForAudioClassification: a norm and the labels, on the mean of the two learned tokens."""
    inner = part("audio_spectrogram_transformer", *encoder(c), kind="backbone", stream=c.patches + 2)
    head = part("classifier", layer_norm("layernorm", c.hidden), label_head("dense", c.hidden, c.labels), kind="head", stream="one")
    return part("", inner, head, kind="model")


CLASSES = {"ASTModel": ast, "ASTForAudioClassification": classification}

FAMILIES = {"audio-spectrogram-transformer": Family("audio-spectrogram-transformer", FIELDS, CLASSES, "ASTModel")}
