"""Zamba: Mamba layers, and one shared transformer layer applied every few layers.

Source: arXiv 2405.16712; class and tensor names as in transformers 5.23.0, models/zamba/modeling_zamba.py. The shared layer reads
the embeddings beside the hidden states.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.shared_layers import body, classes, owners, tied_to_owner
from weighbridge.blueprints.state_space.mamba import MIXER
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LABELS, LAYERS, MLP, TIED, VOCAB, Config, Field, constant, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, depthwise, gated_mlp, linear, matmul, part, rms_norm
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def mixer(c: Config) -> Part:
    """Describe Mamba with heads that do not see each other."""
    H, inner, A, N, R = c.hidden, c.expand * c.hidden, c.state_heads, c.state, c.rank
    width = exact(inner, A)
    return part(
        "mamba",
        Tensor("x_proj_weight", (A, R + 2 * N, width)),
        Tensor("dt_proj_weight", (A, width, R)),
        Tensor("dt_proj_bias", (A, width), "bias"),
        Tensor("A_log", (A, width, N), "gain"),
        Tensor("D", (A, width), "gain"),
        depthwise("conv1d", inner, c.kernel, bias=c.conv_bias, filled="hybrid" in c.mixers),
        linear("in_proj", H, 2 * inner, bias=c.bias),
        linear("out_proj", inner, H, bias=c.bias),
        matmul("scan", ("seq", inner, N)),
        State("recurrent_state", inner * N, "float32"),
        kind="state_space",
    )


def zamba(c: Config, prefix: str) -> tuple[Node, ...]:
    """Describe Zamba: the first of its hybrid layers owns the weights of all."""
    H = c.hidden
    if c.tied and c.mixers.count("hybrid") == 1:
        raise ConfigError("the class ties each later hybrid layer to the first, and refuses a model without one", key="num_hidden_layers")
    state = (mixer(c), rms_norm("input_layernorm", H))
    shared = part(
        "shared_transf",
        attention(c, "self_attn"),
        gated_mlp("feed_forward", H, c.mlp),
        rms_norm("input_layernorm", c.wide),
        rms_norm("pre_ff_layernorm", H),
        kind="layer",
    )

    def layer(owner: int | None) -> tuple[Node, ...]:
        if owner is None:
            return state
        first = shared if owner < 0 else tied_to_owner(shared, f"{prefix}layers.{owner}.shared_transf.")
        return (first, linear("linear", H, H, bias=False), part("mamba_decoder", *state))

    return body(c, owners(c, 1), layer)


def attention(c: Config, name: str, *more: Part) -> Part:
    """Describe attention whose input is twice as wide as its output."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        name,
        linear("q_proj", c.wide, A * D, bias=False),
        linear("k_proj", c.wide, K * D, bias=False),
        linear("v_proj", c.wide, K * D, bias=False),
        linear("o_proj", A * D, H, bias=False),
        *more,
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def _kinds(c: Config) -> list[str]:
    later = ["hybrid" if index % c.period == c.offset else "linear_attention" for index in layer_range(c.layers - 3)]
    return ["linear_attention", "linear_attention", "hybrid", *later]


COMMON = (
    size("wide", "attention_hidden_size", lambda c: 2 * c.hidden, "W", "input width of the attention"),
    LABELS,
    TIED,
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layers_block_type", ("linear_attention", "hybrid"))),
)
ZAMBA = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(3712),
    MLP.with_default(14848),
    LAYERS.with_default(76),
    HEADS.with_default(16),
    KV_HEADS.with_default(16),
    size("head_dim", "attention_head_dim", lambda c: 2 * c.hidden // c.heads, "D", "head dimension", "head_dim"),
    size("state_heads", "n_mamba_heads", 2, "M", "heads of the state space"),
    *MIXER,
    Field("period", "attn_layer_period", 6, "choice"),
    Field("offset", "attn_layer_offset", 4, "choice"),
    Field("stated_kinds", "layers_block_type", _kinds, "choice", aliases=("layer_types",)),
    *COMMON,
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """hidden_mamba_act num_logits_to_keep time_step_floor time_step_max time_step_min use_associative_scan
    use_long_context use_mamba_kernels use_mem_eff_path use_mem_rope""".split()
)
FAMILIES = {"zamba": Family("zamba", ZAMBA, classes("Zamba", zamba), "ZambaModel", MORE_IGNORED_KEYS)}
