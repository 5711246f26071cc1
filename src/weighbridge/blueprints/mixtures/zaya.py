"""ZAYA1: attention with convolved queries and keys and partly delayed values, and a router with a recurrent state.

Source: arXiv 2510.04476, 2511.17127; names as in transformers 5.23.0, models/zaya/modeling_zaya.py. One more expert than there are
does nothing.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LABELS,
    LAYERS,
    NUM_EXPERTS,
    TIED,
    VOCAB,
    Config,
    Field,
    size,
    switch,
)
from weighbridge.core.length import length
from weighbridge.core.parts import attend, embedding, fused_experts, linear, part, rms_norm
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Every, Node, Part, State, Tensor

FIELDS = (
    VOCAB.with_default(262272),
    HIDDEN.with_default(2048),
    size("mlp", "moe_intermediate_size", 2048, "I", "intermediate size of an expert"),
    LAYERS.with_default(40),
    HEADS.with_default(8),
    KV_HEADS.with_default(2),
    HEAD_DIM.with_default(128),
    NUM_EXPERTS.with_default(16),
    size("router", "router_hidden_size", 256, "R", "width of the router"),
    size("first_kernel", "cca_time0", 2, "K_one", "kernel size of the first convolution"),
    size("second_kernel", "cca_time1", 2, "K_two", "kernel size of the second convolution"),
    LABELS,
    TIED,
    switch("bias", "attention_bias", False),
    switch("head_bias", "lm_head_bias", False),
    window(default=None),
    Field(
        "windowed",
        "layer_types",
        0,
        "choice",
        read=lambda kinds: kinds and sum("sliding" in kind for kind in kinds),
        report_default=False,
    ),
)


def attention(c: Config) -> Part:
    """Describe attention: values of this token and of the one before, queries and keys convolved twice."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    wide, late = (A + K) * D, c.second_kernel - 1
    bias = Tensor("bias", (wide,), "bias")
    convolved = (
        part("conv_qk_depthwise", Tensor("weight", (wide, 1, c.first_kernel)), bias, kind="convolution", stream=length("seq") + late),
        part("conv_qk_grouped", Tensor("weight", (wide, D, c.second_kernel)), bias, kind="convolution"),
    )
    projections = (
        linear("q_proj", H, A * D, bias=c.bias),
        linear("k_proj", H, K * D, bias=c.bias),
        linear("v_proj_current", H, K * D // 2, bias=c.bias),
        # In front of the first token stands a zero, which is mapped too.
        linear("v_proj_delayed", H, K * D // 2, bias=c.bias, stream=length("seq") + 1),
    )
    return part(
        "self_attn",
        linear("o_proj", A * D, H, bias=c.bias),
        part("qkv_proj", *projections, *convolved, kind="projection"),
        part("qk_norm", Tensor("temp", (K,), "gain"), kind="norm"),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window, windowed=c.windowed),
        State("conv_state", wide * (c.first_kernel - 1 + late)),
        State("delayed_value", K * D // 2),
        kind="self_attention",
    )


def router(c: Config, *, first: bool) -> Part:
    """Describe the router, which all but the first layer give the states of the one before."""
    R = c.router
    mlp = (rms_norm("norm", R), linear("fc1", R, R), linear("fc2", R, R), linear("out_proj", R, c.experts + 1, bias=False))
    kept = () if first else (Tensor("router_states_scale", (R,), "gain"),)
    biases = Tensor("balancing_biases", (c.experts + 1,), "buffer")
    return part("gate", *kept, biases, linear("down_proj", c.hidden, R), part("router_mlp", *mlp, kind="feed_forward"), kind="router")


def scales(name: str, c: Config) -> Part:
    """Describe gains and shifts of what is added and of what it is added to."""
    names = (("hidden_states_scale", "gain"), ("hidden_states_bias", "shift"), ("residual_scale", "gain"), ("residual_bias", "shift"))
    return part(name, *(Tensor(tensor, (c.hidden,), role) for tensor, role in names), kind="norm")


def layer(c: Config, *, first: bool) -> tuple[Node, ...]:
    """Describe a layer."""
    return (
        attention(c),
        part("mlp", router(c, first=first), fused_experts(c.experts, 1, c.hidden, c.mlp), kind="mixture"),
        rms_norm("input_layernorm", c.hidden),
        rms_norm("post_attention_layernorm", c.hidden),
        scales("post_attention_residual_scale", c),
        scales("post_mlp_residual_scale", c),
    )


def zaya(c: Config) -> tuple[Node, ...]:
    """Describe words with a gain and a shift, layers, and a last norm."""
    H = c.hidden
    layers = (
        part("layers", *layer(c, first=True), kind="layer", repeat=1),
        part("layers", *layer(c, first=False), kind="layer", repeat=c.layers - 1, indices=Every(1)),
    )
    return (
        Tensor("input_hidden_states_scale", (H,), "gain"),
        Tensor("input_hidden_states_bias", (H,), "shift"),
        embedding("embed_tokens", c.vocab, H),
        *(layers if is_some(c.layers) else ()),
        rms_norm("norm", H),
    )


FAMILIES = {"zaya": Family("zaya", FIELDS, with_heads("Zaya", zaya, "lm"), "ZayaModel", IGNORED_KEYS)}
