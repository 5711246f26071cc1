"""TimesFM 2.5: TimesFM with rotary positions and optional flip invariance.

Source: google-research/timesfm; names as in transformers 5.23.0, models/timesfm2_5/modeling_timesfm2_5.py. To predict, it always looks back
as far as the config says; the decoder alone reads ``seq`` steps.
"""

from __future__ import annotations

from weighbridge.blueprints.series.timesfm import QUANTILES, STACK, STEPS, residual
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch, variant
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, linear, part, replace, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *variant(STEPS, back=16384),
    size("spread", "output_quantile_len", 1024, "Q", "forecast steps of the quantiles"),
    *variant(STACK, layers=20),
    size("kv_heads", "num_key_value_heads", 16, "K", "key-value heads"),
    QUANTILES,
    switch("attention_bias", "attention_bias", False),
    switch("biased", "use_bias", False),
    switch("flipped", "force_flip_invariance", True),
)
IGNORED_KEYS = frozenset("decode_index activation use_continuous_quantile_head infer_is_positive max_position_embeddings".split())
NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")


def decoder(c: Config, tokens: Stream) -> tuple[Part, ...]:
    """Describe the decoder over *tokens* patches."""
    H, wide, narrow, bias = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim, c.attention_bias
    attention = part(
        "self_attn",
        Tensor("scaling", (c.head_dim,), "gain"),
        linear("q_proj", H, wide, bias=bias),
        linear("k_proj", H, narrow, bias=bias),
        linear("v_proj", H, narrow, bias=bias),
        linear("o_proj", wide, H, bias=bias),
        rms_norm("q_norm", c.head_dim),
        rms_norm("k_norm", c.head_dim),
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp, bias=c.biased), linear("fc2", c.mlp, H, bias=c.biased), kind="feed_forward")
    norms = (rms_norm(name, H) for name in NORMS)
    layer = part("layers", attention, mlp, *norms, kind="layer", repeat=c.layers, stream=tokens)
    return replace(residual("input_ff_layer", 2 * c.patch, H, H), stream=tokens), layer


def prediction(c: Config) -> Part:
    """Describe TimesFm2_5ModelForPrediction: it runs twice where the answer to a flipped series must be the flipped answer."""
    tokens, values = exact(c.back, c.patch), 1 + len(c.quantiles)
    heads = (("output_projection_point", c.ahead), ("output_projection_quantiles", c.spread))
    projections = tuple(residual(name, c.hidden, c.hidden, steps * values, bias=False) for name, steps in heads)
    parts = (part("model", *decoder(c, tokens), kind="backbone"), *projections)
    return part("", *(replace(module, executions=2 if c.flipped else 1, stream=tokens) for module in parts), kind="model")


CLASSES = {
    "TimesFm2_5Model": lambda c: part("", *decoder(c, length("seq") // c.patch), kind="model"),
    "TimesFm2_5ModelForPrediction": prediction,
}

FAMILIES = {"timesfm2_5": Family("timesfm2_5", FIELDS, CLASSES, "TimesFm2_5Model", IGNORED_KEYS)}
