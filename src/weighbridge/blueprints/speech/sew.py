"""SEW and SEW-D: wav2vec 2.0 with a thinner extractor and a squeezed sequence, with BERT's or DeBERTa's layers (Wu et al., 2021).

Source: arXiv 2109.06870; names as in transformers 5.23.0, models/sew/modeling_sew.py and models/sew_d/modeling_sew_d.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders import deberta, deberta_v2
from weighbridge.blueprints.modules.speech_encoder import FIELDS, IGNORED_KEYS, frames, mask_embedding
from weighbridge.blueprints.modules.speech_heads import with_heads
from weighbridge.blueprints.speech.wav2vec2 import features, layer, positions
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, constant, sequence, size, variant
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part

WIDTHS = [64, 128, 128, 128, 128, 256, 256, 256, 256, 512, 512, 512, 512]
RELATIVE = "positions reach reaching relative kinds buckets bucketed shared normed kernel convolved conv_groups".split()
SEW = (
    *variant(
        tuple(field for field in FIELDS if field.word not in ("stable", "adapter")),
        widths=sequence("widths", "conv_dim", lambda c: list(WIDTHS)),
        kernels=sequence("kernels", "conv_kernel", lambda c: [10, *[3, 1] * 4, *[2, 1] * 2]),
        strides=sequence("strides", "conv_stride", lambda c: [5, *[2, 1] * 6]),
        adapted=constant("adapted", False),
    ),
    constant("extended", False),
    constant("stable", False),
    size("squeeze", "squeeze_factor", 2, "F", "frames squeezed into one"),
    computed("projected", lambda c: c.widths[-1] != c.hidden),
)
SEWD = (
    *variant(SEW, head_dim=next(field for field in deberta_v2.FIELDS if field.word == "head_dim")),
    *variant(
        tuple(replace(field, letter=field.letter and f"{field.letter}_rel") for field in deberta_v2.FIELDS if field.word in RELATIVE),
        buckets=256,
        shared=True,
        relative=True,
        kinds=choice("kinds", "pos_att_type", ["p2c", "c2p"], read=deberta.position_kinds),
        normed=choice("normed", "norm_rel_ebd", "layer_norm", read=deberta_v2.has_embedding_norm),
    ),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"feature_layer_norm_eps", "conv_act", "legacy"}


def squeezed_frames(c: Config) -> Stream:
    """Return the stream that the transformer sees."""
    return length(frames(c)) // c.squeeze


def squeeze_conv(c: Config) -> Part:
    """Describe the convolution of positions, which takes as many frames in one stride."""
    inner = positions(c)
    (conv,) = (module for module in inner.children if isinstance(module, Part))
    stream = (length(frames(c)) + c.position_kernel // 2 * 2 - c.position_kernel) // c.squeeze + 1
    return replace(inner, children=(replace(conv, stream=stream),))


def wav2vec2_layers(c: Config) -> tuple[Part, ...]:
    """Describe wav2vec 2.0's layers."""
    return layer_norm("layer_norm", c.hidden), part("layers", *layer(c), kind="layer", repeat=c.layers)


def deberta_encoder(c: Config) -> tuple[Part, ...]:
    """Describe DeBERTa's layers."""
    return (deberta_v2.layers(c, squeezed_frames(c)),)


def backbone(c: Config, inner: tuple[Part, ...]) -> tuple[Node, ...]:
    """Describe the waveform's convolutions, a projection if one is needed, and the transformer between squeezing and stretching."""
    last = c.widths[-1]
    norm = layer_norm("layer_norm", last, stream=frames(c))
    projection = (linear("feature_projection", last, c.hidden, stream=frames(c)),) if c.projected else ()
    stretched = part("upsample", linear("projection", c.hidden, c.hidden * c.squeeze), kind="projection")
    encoder = part("encoder", squeeze_conv(c), *inner, stretched, kind="encoder", stream=squeezed_frames(c))
    return (*mask_embedding(c), features(c), norm, *projection, encoder)


FAMILIES = {
    "sew": Family(
        "sew",
        SEW,
        with_heads("SEW", "sew", lambda c: backbone(c, wav2vec2_layers(c)), "ctc sequence", summed=squeezed_frames),
        "SEWModel",
        MORE_IGNORED_KEYS,
    ),
    "sew-d": Family(
        "sew-d",
        SEWD,
        with_heads("SEWD", "sew_d", lambda c: backbone(c, deberta_encoder(c)), "ctc sequence", summed=squeezed_frames),
        "SEWDModel",
        MORE_IGNORED_KEYS,
    ),
}
