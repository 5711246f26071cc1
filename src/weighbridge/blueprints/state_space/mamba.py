"""Mamba: selective state-space layers; and Jamba, which interleaves them with attention and experts.

Source: arXiv 2312.00752 (Mamba), 2410.05355 (Falcon Mamba), 2403.19887 (Jamba); names as in transformers 5.23.0,
models/mamba/modeling_mamba.py and models/jamba/modeling_jamba.py. The recurrence is elementwise but for the
product of each state with C, which is what the reference spends on it.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, NO_BIAS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HIDDEN,
    LAYERS,
    MAMBA_D_CONV,
    MAMBA_D_STATE,
    MAMBA_EXPAND,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    derived,
    settable,
    size,
    switch,
    variant,
)
from weighbridge.core.parts import depthwise, embedding, fused_experts, gated_mlp, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

IGNORED_KEYS = frozenset(
    """time_step_scale time_step_min time_step_max time_step_floor time_step_init_scheme time_step_limit residual_in_fp32
    rescale_prenorm_residual use_mambapy use_associative_scan use_falcon_mambapy mixer_rms_eps fused_add_norm
    ssm_cfg rms_norm d_inner d_model n_layer pad_vocab_size_multiple layer_types""".split()
)


def per_sixteen(c: Config) -> Size:
    """Round a sixteenth of the hidden size up: the rank that ``auto`` stands for."""
    rank: Size = (c.hidden + 15) // 16
    return rank


def mixer(c: Config, name: str, *norms: Part) -> Part:
    """Describe the selective state space: inputs, a short convolution, and a state of *state* numbers per channel."""
    H, inner, N, R = c.hidden, c.inner, c.state, c.rank
    return part(
        name,
        Tensor("A_log", (inner, N), "gain"),
        Tensor("D", (inner,), "gain"),
        depthwise("conv1d", inner, c.kernel, bias=c.conv_bias),
        linear("in_proj", H, 2 * inner, bias=c.bias),
        linear("x_proj", inner, R + 2 * N, bias=False),
        linear("dt_proj", R, inner),
        linear("out_proj", inner, H, bias=c.bias),
        *norms,
        matmul("scan", ("seq", inner, N)),
        State("recurrent_state", inner * N, "float32"),
        kind="state_space",
    )


def mamba(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of one norm and one mixer, and a last norm."""
    layer = part("layers", rms_norm("norm", c.hidden), mixer(c, "mixer"), kind="layer", repeat=c.layers)
    return (embedding("embeddings", c.vocab, c.hidden), layer, rms_norm("norm_f", c.hidden))


def jamba(c: Config) -> tuple[Node, ...]:
    """Describe layers of Mamba with one of attention in every eight, and experts in every second."""
    H = c.hidden
    norms = (rms_norm("dt_layernorm", c.rank), rms_norm("b_layernorm", c.state), rms_norm("c_layernorm", c.state))

    def layer(kind: tuple[str, str]) -> tuple[Node, ...]:
        first = attention(c) if kind[0] == "attention" else mixer(c, "mamba", *norms)
        experts = (linear("router", H, c.experts, bias=False), fused_experts(c.experts, c.active, H, c.mlp))
        second = part("feed_forward", *experts, kind="experts") if kind[1] == "sparse" else gated_mlp("feed_forward", H, c.mlp)
        return (first, second, rms_norm("input_layernorm", H), rms_norm("pre_ff_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("final_layernorm", H))


FIELDS_OF_MAMBA = (
    VOCAB.with_default(50280),
    HIDDEN.with_default(768),
    size("state", "state_size", 16, "N", "state size"),
    LAYERS.with_default(32),
    size("expand", "expand", 2, "E", "ratio of inner width to hidden size"),
    settable("inner", "intermediate_size", lambda c: c.expand * c.hidden, "I", "inner width"),
    size("kernel", "conv_kernel", 4, "K", "kernel size of the convolution"),
    size("rank", "time_step_rank", per_sixteen, "R", "rank of the time step"),
    switch("bias", "use_bias", False),
    switch("conv_bias", "use_conv_bias", True),
    TIED,
    constant("head_bias", False),
)


MIXER = (
    MAMBA_D_STATE.with_default(16),
    MAMBA_D_CONV.with_default(4),
    MAMBA_EXPAND.with_default(2),
    derived("inner", lambda c: c.expand * c.hidden, "mamba_expand", "hidden_size"),
    size("rank", "mamba_dt_rank", per_sixteen, "R", "rank of the time step"),
    switch("conv_bias", "mamba_conv_bias", True),
    switch("bias", "mamba_proj_bias", False),
)
"""What a model has of Mamba beside attention, as Jamba and Zamba name it."""


def _kinds(c: Config) -> list[tuple[str, str]]:
    return [
        (
            "attention" if index % c.attention_period == c.attention_offset else "mamba",
            "sparse" if index % c.expert_period == c.expert_offset and c.experts > 1 else "dense",
        )
        for index in layer_range(c.layers)
    ]


JAMBA = variant(
    FIELDS,
    size("experts", "num_experts", 16, "E", "experts", "num_local_experts"),
    ACTIVE_EXPERTS.with_default(2),
    Field("expert_period", "expert_layer_period", 2, "choice"),
    Field("expert_offset", "expert_layer_offset", 1, "choice"),
    Field("attention_period", "attn_layer_period", 8, "choice"),
    Field("attention_offset", "attn_layer_offset", 4, "choice"),
    *MIXER,
    constant("kinds", _kinds),
    *NO_BIAS,
    vocab=65536,
    hidden=4096,
    mlp=14336,
    kv_heads=8,
)
JAMBA_NEUTRAL = IGNORED_KEYS | {
    "max_position_embeddings",
    "use_mamba_kernels",
    "num_logits_to_keep",
    "mamba_inner_layernorms",
    "sliding_window",
}

FAMILIES = {
    "mamba": Family(
        "mamba", FIELDS_OF_MAMBA, with_heads("Mamba", mamba, "lm", prefix="backbone", table="embeddings"), "MambaModel", IGNORED_KEYS
    ),
    "falcon_mamba": Family(
        "falcon_mamba",
        FIELDS_OF_MAMBA,
        with_heads("FalconMamba", mamba, "lm", prefix="backbone", table="embeddings"),
        "FalconMambaModel",
        IGNORED_KEYS,
    ),
    "jamba": Family("jamba", JAMBA, with_heads("Jamba", jamba, "lm sequence"), "JambaModel", JAMBA_NEUTRAL),
}
