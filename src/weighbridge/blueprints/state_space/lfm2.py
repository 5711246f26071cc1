"""LFM2 and LFM3: gated short convolutions interleaved with attention.

Source: Liquid AI, LFM2 (July 2025); names as in transformers 5.23.0, models/lfm2, models/lfm2_moe and
models/lfm3.
The MLP is two thirds of the stated width, rounded up to a multiple, unless ``block_auto_adjust_ff_dim`` is off.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, first_dense
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, MIXTURE, required_field, sparse_mlp
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import MLP, NUM_EXPERTS, Config, Field, constant, size, switch, variant
from weighbridge.core.parts import depthwise, embedding, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range, round_up
from weighbridge.core.tree import Node, Part, Tensor


def convolution(c: Config) -> Part:
    """Describe a gated convolution over a few tokens."""
    H = c.hidden
    # the reference keeps no state where no layer attends
    kept = any(kind != "conv" for kind in c.mixers)
    inner = depthwise("conv", H, c.kernel, bias=c.conv_bias, filled=kept)
    return part(
        "conv", inner, linear("in_proj", H, 3 * H, bias=c.conv_bias), linear("out_proj", H, H, bias=c.conv_bias), kind="convolution"
    )


def lfm3(c: Config) -> tuple[Node, ...]:
    """Describe LFM3: a norm after each half as well, and a gate on each head of attention."""
    H = c.hidden
    after = ("post_operator_norm", "post_ffn_norm") if c.sandwiched else ()

    def layer(kind: str) -> tuple[Node, ...]:
        gate = (linear("g_proj", H, c.heads, bias=False),) if c.gated else ()
        mixer = convolution(c) if kind == "conv" else attention(c, *gate)
        return (mixer, feed_forward(c), *(rms_norm(name, H) for name in ("operator_norm", "ffn_norm", *after)))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.mixers, c.layers, layer), rms_norm("embedding_norm", H))


def inner_width(c: Config) -> Size:
    """Return the width of the MLP."""
    stated: Size = c.mlp
    if not c.adjusted:
        return stated
    return stated * 2 // 3 if c.multiplier is None else round_up(scale_width(stated * 2 // 3, c.multiplier), c.multiple)


def lfm2(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds, and the last norm, which stands with the embeddings."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        mixer = attention(c, out="out_proj") if kinds[0] == "full_attention" else convolution(c)
        mlp = mixture(c) if kinds[1] == "sparse" else feed_forward(c)
        return (mixer, mlp, rms_norm("operator_norm", H), rms_norm("ffn_norm", H))

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("embedding_norm", H))


def feed_forward(c: Config) -> Part:
    """Describe a gated MLP under the names of Llama's first code."""
    H, I = c.hidden, inner_width(c)
    return part(
        "feed_forward", linear("w1", H, I, bias=False), linear("w3", H, I, bias=False), linear("w2", I, H, bias=False), kind="feed_forward"
    )


def mixture(c: Config) -> Part:
    """Describe experts and router; the bias that balances them is saved, but not learned by gradient."""
    return sparse_mlp(c, "feed_forward", *((Tensor("expert_bias", (c.experts,), "buffer"),) if c.balanced else ()))


def _kinds(c: Config) -> list[str]:
    return ["full_attention" if c.attended is None or index in c.attended else "conv" for index in layer_range(c.layers)]


TABLE = variant(
    FIELDS,
    size("kernel", "conv_L_cache", 3, "Z", "kernel size of the convolution"),
    size("multiple", "block_multiple_of", 256, "B", "multiple of the MLP width"),
    ratio("multiplier", "block_ffn_dim_multiplier", 1),
    switch("adjusted", "block_auto_adjust_ff_dim", True),
    switch("conv_bias", "conv_bias", False),
    Field("attended", "full_attn_idxs", None, "choice"),
    Field("stated_kinds", "layer_types", _kinds, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("conv", "full_attention"))),
    constant("kinds", lambda c: ["dense"] * len(layer_range(c.layers))),
    vocab=65536,
    hidden=2560,
    kv_heads=8,
    qkv_bias=constant("qkv_bias", False),
    out_bias=constant("out_bias", False),
    mlp=size("mlp", "intermediate_size", 12288, "I", "intermediate size, as stated", "block_ff_dim"),
    tied=switch("tied", "tie_word_embeddings", True, "tie_embedding"),
    qk_norm="head",
    qk_names=("q_layernorm", "k_layernorm"),
)
PARTED = tuple(field for field in (*TABLE, *MIXTURE) if field.word not in ("multiple", "multiplier", "adjusted", "attended", "kinds"))
MOE = variant(
    PARTED,
    constant("adjusted", False),
    switch("balanced", "use_expert_bias", True),
    *first_dense(2, "num_dense_layers"),
    stated_kinds=required_field(Field("stated_kinds", "layer_types", None, "choice")),
    hidden=2048,
    heads=32,
    active=4,
    expert_mlp=EXPERT_MLP.with_default(1792),
    experts=NUM_EXPERTS.with_default(32),
    mlp=MLP.with_default(7168),
    block="experts gate",
)


def _third_kinds(c: Config) -> list[str]:
    return [
        "full_attention" if index % 4 == 2 else "conv" if index % 4 or not index else "sliding_attention" for index in layer_range(c.layers)
    ]


THIRD = variant(
    tuple(field for field in FIELDS if field.word != "windowed"),
    size("kernel", "conv_L_cache", 7, "Z", "kernel size of the convolution"),
    switch("conv_bias", "conv_bias", False),
    switch("sandwiched", "use_sandwich_norm", True),
    switch("gated", "use_attention_gate", True),
    constant("adjusted", False),
    Field("stated_kinds", "layer_types", _third_kinds, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("conv", "full_attention", "sliding_attention"))),
    constant("windowed", lambda c: c.mixers.count("sliding_attention")),
    vocab=128000,
    hidden=2048,
    mlp=7680,
    layers=24,
    heads=16,
    kv_heads=4,
    head_dim=128,
    tied=True,
    qk_norm="head",
    window=window(default=256),
)

FAMILIES = {
    "lfm3": Family("lfm3", THIRD, with_heads("Lfm3", lfm3, "lm"), "Lfm3Model", IGNORED_KEYS | {"norm_eps"}),
    "lfm2_moe": Family("lfm2_moe", MOE, with_heads("Lfm2Moe", lfm2, "lm"), "Lfm2MoeModel", IGNORED_KEYS | {"norm_eps"}),
    "lfm2": Family(
        "lfm2",
        TABLE,
        with_heads("Lfm2", lfm2, "lm"),
        "Lfm2Model",
        IGNORED_KEYS
        | {
            "norm_eps",
            "theta",
            "block_dim",
            "block_mlp_init_scale",
            "block_norm_eps",
            "block_out_init_scale",
            "block_use_swiglu",
            "block_use_xavier_init",
            "conv_dim",
            "conv_dim_out",
            "conv_use_xavier_init",
            "use_pos_enc",
            "num_heads",
        },
    ),
}
