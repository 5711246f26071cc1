"""Zamba2: Mamba-2 layers, and a few shared transformer blocks with a LoRA adapter per use.

Source: arXiv 2411.15242; class and tensor names as in transformers 5.23.0, models/zamba2/modeling_zamba2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.shared_layers import body, classes, owners, tied_to_owner
from weighbridge.blueprints.state_space.mamba2 import mixer
from weighbridge.blueprints.state_space.zamba import COMMON, MORE_IGNORED_KEYS, attention
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MAMBA_D_CONV,
    MAMBA_D_STATE,
    MAMBA_EXPAND,
    MLP,
    VOCAB,
    Config,
    Field,
    constant,
    size,
    switch,
)
from weighbridge.core.parts import linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part


def zamba2(c: Config, prefix: str) -> tuple[Node, ...]:
    """Describe Zamba2: a few blocks take turns, each with an adapter for every layer that it serves."""
    H = c.hidden
    state = (mixer(c, "mamba", kept="hybrid" in c.mixers), rms_norm("input_layernorm", H))
    places = [index for index, kind in enumerate(c.mixers) if kind == "hybrid"]

    def layer(kind: tuple[int, int] | None) -> tuple[Node, ...]:
        if kind is None:
            return state
        place, owner = kind
        served = [other for other in range(len(c.adapted_layers)) if other % c.blocks == place % c.blocks]
        shared = transformer(c, place, served)
        shared = shared if owner < 0 else tied_to_owner(shared, f"{prefix}layers.{owner}.shared_transformer.")
        return (linear("linear", H, H, bias=False), part("mamba_decoder", *state), shared)

    kinds = [None if owner is None else (places.index(index), owner) for index, owner in enumerate(owners(c, c.blocks))]
    return body(c, kinds, layer)


def transformer(c: Config, place: int, served: list[int]) -> Part:
    """Describe a block of Zamba2 in one of its positions: of the adapters for all its positions, only this one's runs."""
    H, I, R = c.hidden, c.mlp, c.adapter_rank

    def adapters(name: str, inputs: Size, outputs: Size) -> Part:
        made = (linear("0", inputs, R, bias=False), linear("1", R, outputs, bias=False))
        ranks = tuple(part(str(other), *made, kind="adapter", executions=1 if other == place else 0) for other in served)
        return part(f"{name}_adapter_list", *ranks, kind="adapter")

    more = [adapters(f"linear_{name}", c.wide, c.wide) for name in "qkv"] if c.adapted else []
    joined = (linear("gate_up_proj", H, 2 * I, bias=c.bias), linear("down_proj", I, H, bias=c.bias))
    return part(
        "shared_transformer",
        attention(c, "self_attn", *more),
        part("feed_forward", *joined, adapters("gate_up_proj", H, 2 * I), kind="feed_forward"),
        rms_norm("input_layernorm", c.wide),
        rms_norm("pre_ff_layernorm", H),
        kind="layer",
    )


def _kinds(c: Config) -> list[str]:
    line, hybrid = "linear_attention", "hybrid"
    return [line, *([*[line] * 5, hybrid] * 7), *[line] * 4, hybrid, *[line] * 3, hybrid, line, line]


def _adapter_layers(c: Config) -> list[int]:
    """Return the layers that adapters are made for: the config class looks for them before ``layer_types``, its other name, arrives."""
    if c.stated_adapted is not None:
        return list(c.stated_adapted)
    kinds = c.mixers if c.late is None else c.stated
    return [index for index, kind in enumerate(kinds) if kind == "hybrid"]


ZAMBA2 = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(2560),
    MLP.with_default(lambda c: 4 * c.hidden),
    LAYERS.with_default(54),
    HEADS.with_default(32),
    KV_HEADS.with_default(lambda c: c.heads),
    size("head_dim", "attention_head_dim", lambda c: 2 * c.hidden // c.heads, "D", "head dimension", "head_dim", "attention_head_dim"),
    size("state_heads", "n_mamba_heads", 8, "M", "heads of the state space"),
    size("groups", "mamba_ngroups", 1, "G", "head groups that share B and C"),
    MAMBA_D_STATE.with_default(64),
    MAMBA_D_CONV.with_default(4),
    MAMBA_EXPAND.with_default(2),
    size("chunk", "chunk_size", 256, "Q", "tokens per chunk"),
    size("adapter_rank", "adapter_rank", 128, "R", "rank of an adapter"),
    Field("blocks", "num_mem_blocks", 1, "choice"),
    constant("conv_bias", True),
    switch("bias", "add_bias_linear", False),
    switch("adapted", "use_shared_attention_adapter", False),
    Field("stated", "layers_block_type", _kinds, "choice"),
    Field("late", "layer_types", None, "choice", report_default=False),
    constant("stated_kinds", lambda c: c.stated if c.late is None else c.late),
    *COMMON,
    Field("stated_adapted", "hybrid_layer_ids", None, "choice", report_default=False),
    constant("adapted_layers", _adapter_layers),
)
FAMILIES = {"zamba2": Family("zamba2", ZAMBA2, classes("Zamba2", zamba2), "Zamba2Model", MORE_IGNORED_KEYS | {"use_conv_bias"})}
