"""Shared parts of speech encoders: fields, the convolutional feature extractor, adapters, quantizers.

Source: names as in transformers 5.23.0, models/wav2vec2/modeling_wav2vec2.py.
"""

from __future__ import annotations

from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    MLP,
    VOCAB,
    Config,
    Field,
    choice,
    constant,
    derived,
    sequence,
    size,
    switch,
)
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import conv1d, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Part, Tensor

IGNORED_KEYS = frozenset(
    """apply_spec_augment codevector_dim contrastive_logits_temperature ctc_loss_reduction ctc_zero_infinity diversity_loss_weight
    feat_extract_activation feat_extract_dropout feat_proj_dropout feat_quantizer_dropout final_dropout gradient_checkpointing
    hidden_dropout layerdrop mask_channel_length mask_channel_min_space mask_channel_other mask_channel_prob mask_channel_selection
    mask_feature_length mask_feature_min_masks mask_time_length mask_time_min_masks mask_time_min_space mask_time_other
    mask_time_prob mask_time_selection max_bucket_distance num_codevector_groups num_codevectors_per_group num_ctc_classes num_feat_extract_layers
    num_negatives proj_codevector_dim replace_prob tokenizer_class num_clusters freeze_feat_extract_train no_mask_channel_overlap
    no_mask_time_overlap""".split()
)

FIELDS = (
    VOCAB.with_default(32),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    sequence("widths", "conv_dim", lambda c: [512] * 7),
    sequence("kernels", "conv_kernel", lambda c: [10, 3, 3, 3, 3, 2, 2]),
    sequence("strides", "conv_stride", lambda c: [5, 2, 2, 2, 2, 2, 2]),
    size("position_kernel", "num_conv_pos_embeddings", 128, "K", "kernel size of the position convolution"),
    size("position_groups", "num_conv_pos_embedding_groups", 16, "G", "groups of the same convolution"),
    size("projection", "classifier_proj_size", 256, "P", "width of the classifier"),
    LABELS,
    switch("conv_bias", "conv_bias", False),
    choice("norm", "feat_extract_norm", "group"),
    switch("stable", "do_stable_layer_norm", False),
    switch("weighted", "use_weighted_layer_sum", False),
    choice("time_mask", "mask_time_prob", 0.05),
    choice("feature_mask", "mask_feature_prob", 0.0),
    constant("batch_norm", False),
    constant("projection_norm", True),
    constant("gated", False),
    constant("stacked", False),
    size("adapter", "adapter_attn_dim", None, "D", "width of a language adapter"),
    constant("adapted", lambda c: c.adapter is not None),
)

ADAPTED = (
    size("out", "output_hidden_size", lambda c: c.hidden, "O", "width after the adapter"),
    Field("out_layers", "num_adapter_layers", 3, "choice"),
    Field("out_kernel", "adapter_kernel_size", 3, "choice"),
    Field("out_stride", "adapter_stride", 2, "choice"),
    constant("out_padding", 1),
    switch("extended", "add_adapter", False),
    constant("projected", lambda c: c.out != c.hidden),
)

SPEAKER = (
    sequence("tdnn_widths", "tdnn_dim", lambda c: [512, 512, 512, 512, 1500]),
    sequence("tdnn_kernels", "tdnn_kernel", lambda c: [5, 3, 3, 1, 1]),
    sequence("tdnn_dilations", "tdnn_dilation", lambda c: [1, 2, 3, 1, 1]),
    size("xvector", "xvector_output_dim", 512, "X", "width of an x-vector"),
)

QUANTIZED = (
    size("codes", "num_codevectors_per_group", 320, "Q", "code vectors in a group"),
    size("groups", "num_codevector_groups", 2, "J", "groups of code vectors"),
    size("code", "codevector_dim", 256, "W", "width of a code"),
    size("contrast", "proj_codevector_dim", 256, "Y", "width of the codebook space"),
)


def frames(c: Config, layers: int | None = None) -> Stream:
    """Return the stream that the first *layers* convolutions, or all of them, make of the waveform."""
    stream: Stream = "seq"
    for kernel, stride in list(zip(c.kernels, c.strides, strict=True))[:layers]:
        stream = (length(stream) - kernel) // stride + 1
    return stream


def mask_embedding(c: Config) -> tuple[Tensor, ...]:
    """Describe the vector that stands for masked positions, which is there only if anything may be."""
    return (Tensor("masked_spec_embed", (c.hidden,), "embedding"),) if c.time_mask > 0 or c.feature_mask > 0 else ()


def adapter(c: Config) -> tuple[Part, ...]:
    """Describe the convolutions that shorten the sequence at the end, if there are any."""
    if not c.extended:
        return ()
    inner: tuple[Part, ...] = (linear("proj", c.hidden, c.out), layer_norm("proj_layer_norm", c.out)) if c.projected else ()
    return (part("adapter", *inner, *convolutions(c, frames(c)), kind="adapter", stream=frames(c)),)


def convolutions(c: Config, stream: Stream) -> tuple[Part, ...]:
    """Describe the adapter's layers, each of which sees what the one before has left."""
    layers = []
    for index in layer_range(c.out_layers):
        inner = conv1d("conv", c.out, 2 * c.out, c.out_kernel, stride=c.out_stride, padding=c.out_padding, of=stream)
        stream = "seq" if inner.stream is None else inner.stream
        layers.append(part("layers", inner, kind="convolution", repeat=1, indices=(index,)))
    return tuple(layers)


def adapter_output(c: Config) -> Stream:
    """Return the stream that comes out of the encoder, behind the adapter if there is one."""
    stream = frames(c)
    for _ in layer_range(c.out_layers if c.extended else 0):
        stream = (length(stream) + 2 * c.out_padding - c.out_kernel) // c.out_stride + 1
    return stream


def quantizer(c: Config, width: Size | None = None) -> Part:
    """Describe the code vectors, and the scores by which one of each group is chosen."""
    codes = Tensor("codevectors", (1, c.groups * c.codes, c.code // c.groups), "embedding")
    return part(
        "quantizer",
        codes,
        linear("weight_proj", c.widths[-1] if width is None else width, c.groups * c.codes),
        kind="quantizer",
        stream=frames(c),
    )
