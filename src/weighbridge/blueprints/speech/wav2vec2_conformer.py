"""Wav2Vec 2.0 with conformer layers: attention and a convolution between two half-step feed-forward networks (Gulati et al., 2020).

Source: arXiv 2005.08100, 2010.05171 (fairseq S2T); names as in transformers 5.23.0,
models/wav2vec2_conformer/modeling_wav2vec2_conformer.py. It hears the wave as wav2vec 2.0 does.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.speech_encoder import ADAPTED, FIELDS, IGNORED_KEYS, QUANTIZED, SPEAKER, adapter, frames, mask_embedding
from weighbridge.blueprints.modules.speech_heads import with_heads
from weighbridge.blueprints.speech.wav2vec2 import features, positions, pre_training
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, size, variant
from weighbridge.core.length import Stream, length, per_batch
from weighbridge.core.parts import attend, batch_norm, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

CONVOLVED = size("kernel", "conv_depthwise_kernel_size", 31, "K_dep", "kernel size of the depthwise convolution")
MORE_IGNORED_KEYS = frozenset("rotary_embedding_base max_source_positions conformer_conv_dropout".split())


def kind(default: str) -> Field:
    """Declare the kind of positions, which a null switches off."""
    return Field("kind", "position_embeddings_type", default, "choice", nullable=True)


def feed_forward(name: str, hidden: Size, mlp: Size) -> Part:
    """Describe a feed-forward step."""
    return part(name, linear("intermediate_dense", hidden, mlp), linear("output_dense", mlp, hidden), kind="feed_forward")


def attention(c: Config, tokens: Stream, kind: str | None, width: Size | None = None) -> Part:
    """Describe attention over *tokens*, to which relative positions add by their *kind*."""
    H, A = c.hidden if width is None else width, c.heads
    D = H // A
    around = length(tokens) * 2 - 1
    biases = tuple(Tensor(f"pos_bias_{name}", (A, D), "bias") for name in "uv") if kind == "relative" else ()
    maps = tuple(linear(f"linear_{name}", H, H) for name in ("q", "k", "v", "out"))
    more: tuple[Node, ...] = ()
    if kind == "relative":
        more = (linear("linear_pos", H, H, bias=False, stream=per_batch(around)), matmul("positions", (A, tokens, around, D)))
    if kind == "relative_key":
        more = (embedding("distance_embedding", c.left + c.right + 1, D), matmul("positions", (A, tokens, tokens, D)))
    return part("self_attn", *biases, *maps, *more, attend(heads=A, head_dim=D), kind="self_attention")


def convolution(c: Config, norm: Part) -> Part:
    """Describe the convolution of each channel between two maps, and the *norm* after it."""
    H = c.hidden
    return part(
        "conv_module",
        layer_norm("layer_norm", H),
        part("pointwise_conv1", Tensor("weight", (2 * H, H, 1), "weight"), kind="convolution"),
        part("depthwise_conv", Tensor("weight", (H, 1, c.kernel), "weight"), kind="convolution"),
        norm,
        part("pointwise_conv2", Tensor("weight", (H, H, 1), "weight"), kind="convolution"),
        kind="convolutions",
    )


def rotary(c: Config) -> tuple[Part, ...]:
    """Describe the frequencies of rotary positions, which are saved."""
    frequencies = Tensor("inv_freq", ((c.hidden // c.heads + 1) // 2,), "buffer")
    return (part("embed_positions", frequencies, kind="positions"),) if c.kind == "rotary" else ()


def layer(c: Config, tokens: Stream, norm: Part) -> Part:
    """Describe a layer."""
    H = c.hidden
    return part(
        "layers",
        layer_norm("ffn1_layer_norm", H),
        feed_forward("ffn1", H, c.mlp),
        layer_norm("self_attn_layer_norm", H),
        attention(c, tokens, c.kind),
        convolution(c, norm),
        layer_norm("ffn2_layer_norm", H),
        feed_forward("ffn2", H, c.mlp),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )


def backbone(c: Config) -> tuple[Node, ...]:
    """Describe the waveform's convolutions, a projection, and the layers; the convolution of positions is stored and does not run."""
    last = c.widths[-1]
    inner = (
        *rotary(c),
        replace(positions(c), requires="convolved positions"),
        layer_norm("layer_norm", c.hidden),
        layer(c, frames(c), batch_norm("batch_norm", c.hidden)),
    )
    projection = part("feature_projection", layer_norm("layer_norm", last), linear("projection", last, c.hidden), kind="projection")
    return (
        *mask_embedding(c),
        features(c),
        replace(projection, stream=frames(c)),
        part("encoder", *inner, kind="encoder", stream=frames(c)),
        *adapter(c),
    )


def table(*more: Field) -> tuple[Field, ...]:
    """List the fields of conformers beside those of wav2vec 2.0."""
    kept = variant((*FIELDS, *ADAPTED, *SPEAKER, *QUANTIZED), vocab=None)
    return (*(field for field in kept if field.word not in ("stable", "adapter", "adapted")), CONVOLVED, *more)


CONFORMER = table(kind("relative"))
CLASSES = with_heads("Wav2Vec2Conformer", "wav2vec2_conformer", backbone, "ctc sequence frame xvector", pre_training=pre_training)

FAMILIES = {
    "wav2vec2-conformer": Family(
        "wav2vec2-conformer", uneven_heads(CONFORMER), CLASSES, "Wav2Vec2ConformerModel", IGNORED_KEYS | MORE_IGNORED_KEYS
    )
}
