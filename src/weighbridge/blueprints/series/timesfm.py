"""TimesFM: a decoder over patches of a time series, with longer output patches than input patches (Das et al., 2023).

Source: arXiv 2310.10688; names as in transformers 5.23.0, models/timesfm/modeling_timesfm.py. To predict, it always looks back as far as
the config says; the decoder alone reads ``seq`` steps.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import CONTEXT_LENGTH, HEAD_DIM, HEADS, HIDDEN, LAYERS, MLP, Config, computed, sequence, size, switch
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.messages import mark
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

STEPS = (
    size("patch", "patch_length", 32, "P", "time steps per patch"),
    CONTEXT_LENGTH.with_default(512),
    size("ahead", "horizon_length", 128, "F", "forecast steps"),
)
STACK = (
    LAYERS.with_default(50),
    HIDDEN.with_default(1280),
    MLP.with_default(1280),
    HEAD_DIM.with_default(80),
    HEADS.with_default(16),
)
QUANTILES = sequence("quantiles", "quantiles", lambda c: [0.1 * step for step in range(1, 10)])
FIELDS = (
    *STEPS,
    size("frequencies", "freq_size", 3, "Q", "frequencies"),
    *STACK,
    QUANTILES,
    switch("placed", "use_positional_embedding", False),
    computed("whole_patches", lambda c: c.back % c.patch == 0),
)
SPLIT = mark("the forward pass splits the past steps into whole patches, and these are not a multiple of patch_length")
IGNORED_KEYS = frozenset("tolerance pad_val min_timescale max_timescale".split())


def residual(name: str, inputs: Size, hidden: Size, outputs: Size, *, bias: bool = True) -> Part:
    """Describe two linear maps, and one beside them."""
    beside = linear("residual_layer", inputs, outputs, bias=bias)
    return part(
        name,
        linear("input_layer", inputs, hidden, bias=bias),
        linear("output_layer", hidden, outputs, bias=bias),
        beside,
        kind="feed_forward",
    )


def decoder(c: Config, tokens: Stream) -> tuple[Node, ...]:
    """Describe the decoder over *tokens* patches."""
    H, wide = c.hidden, c.heads * c.head_dim
    attention = part(
        "self_attn",
        Tensor("scaling", (c.head_dim,), "gain"),
        linear("q_proj", H, wide),
        linear("k_proj", H, wide),
        linear("v_proj", H, wide),
        linear("o_proj", wide, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
        stream=tokens,
    )
    mlp = part(
        "mlp", linear("gate_proj", H, c.mlp), linear("down_proj", c.mlp, H), layer_norm("layer_norm", H), kind="feed_forward", stream=tokens
    )
    layer = part("layers", attention, mlp, rms_norm("input_layernorm", H, stream=tokens), kind="layer", repeat=c.layers)
    timescales = part("position_emb", Tensor("inv_timescales", (H // 2,), "buffer"), kind="positions")
    first = replace(residual("input_ff_layer", 2 * c.patch, c.mlp, H), stream=tokens)
    return first, embedding("freq_emb", c.frequencies, H), layer, *((timescales,) if c.placed else ())


def prediction(c: Config) -> Part:
    """Describe TimesFmModelForPrediction: the mean and every quantile of the steps ahead."""
    tokens = c.back // c.patch if c.whole_patches else unknown(SPLIT)
    head = replace(residual("horizon_ff_layer", c.hidden, c.mlp, c.ahead * (1 + len(c.quantiles))), stream=tokens)
    return part("", part("decoder", *decoder(c, tokens), kind="backbone"), head, kind="model")


CLASSES = {
    "TimesFmModel": lambda c: part("", *decoder(c, length("seq") // c.patch), kind="model"),
    "TimesFmModelForPrediction": prediction,
}

FAMILIES = {"timesfm": Family("timesfm", FIELDS, CLASSES, "TimesFmModel", IGNORED_KEYS)}
