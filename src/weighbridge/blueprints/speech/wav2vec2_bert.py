"""W2v-BERT 2.0: a conformer over mel frames with causal convolutions (Seamless team, 2023).

Source: arXiv 2312.05187; names as in transformers 5.23.0, models/wav2vec2_bert/modeling_wav2vec2_bert.py. ``seq`` counts frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.speech_encoder import IGNORED_KEYS, mask_embedding
from weighbridge.blueprints.modules.speech_heads import with_heads
from weighbridge.blueprints.speech.wav2vec2_conformer import MORE_IGNORED_KEYS, attention, feed_forward, kind, layer, table
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, size, switch, variant
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import conv1d, layer_norm, linear, part
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

LISTS = ("widths", "kernels", "strides", "position_kernel", "position_groups", "conv_bias", "norm", "codes", "groups", "code", "contrast")
FIELDS = variant(
    tuple(
        field
        for field in table(
            constant("kernels", []),
            constant("strides", []),
            kind("relative_key"),
            size("left", "left_max_position_embeddings", 64, "P_lef", "relative positions to the left"),
            size("right", "right_max_position_embeddings", 8, "P_rig", "relative positions to the right"),
            size("mels", "feature_projection_input_dim", 160, "M", "mel bins"),
            switch("expanded", "use_intermediate_ffn_before_adapter", False),
        )
        if field.word not in LISTS or (field.kind == "choice" and not field.key)
    ),
    hidden=1024,
    mlp=4096,
    layers=24,
    heads=16,
    projection=768,
    out_layers=1,
    out_padding=constant("out_padding", lambda c: c.out_stride // 2),
)


def adapter(c: Config) -> tuple[Part, ...]:
    """Describe the layers that shorten the sequence at the end, if there are any: a convolution before attention, and one beside both."""
    if not c.extended:
        return ()
    W, layers, stream = c.out, [], (length("seq"))
    for index in layer_range(c.out_layers):
        first, second = (
            conv1d(name, W, 2 * W, c.out_kernel, stride=c.out_stride, padding=c.out_padding, of=stream)
            for name in ("residual_conv", "self_attn_conv")
        )
        before: Stream = stream
        stream = (length(stream) + 2 * c.out_padding - c.out_kernel) // c.out_stride + 1
        inner = (
            layer_norm("residual_layer_norm", W, stream=before),
            first,
            layer_norm("self_attn_layer_norm", W, stream=before),
            second,
            attention(c, stream, None, W),
            layer_norm("ffn_layer_norm", W),
            feed_forward("ffn", W, c.mlp),
        )
        layers.append(part("layers", *inner, kind="layer", repeat=1, indices=(index,), stream=stream))
    projection = (linear("proj", c.hidden, W), layer_norm("proj_layer_norm", W)) if c.projected else ()
    return (part("adapter", *projection, *layers, kind="adapter"),)


def backbone(c: Config) -> tuple[Node, ...]:
    """Describe a projection of the frames, the layers, and what may follow them."""
    projection = part("feature_projection", layer_norm("layer_norm", c.mels), linear("projection", c.mels, c.hidden), kind="projection")
    inner = part("encoder", layer(c, "seq", layer_norm("depthwise_layer_norm", c.hidden)), kind="encoder")
    expanded = (feed_forward("intermediate_ffn", c.hidden, c.mlp),) if c.expanded else ()
    return (*mask_embedding(c), projection, inner, *adapter(c), *expanded)


CLASSES = with_heads("Wav2Vec2Bert", "wav2vec2_bert", backbone, "ctc sequence frame xvector")

FAMILIES = {
    "wav2vec2-bert": Family(
        "wav2vec2-bert", uneven_heads(FIELDS), CLASSES, "Wav2Vec2BertModel", IGNORED_KEYS | MORE_IGNORED_KEYS | {"adapter_act"}
    )
}
