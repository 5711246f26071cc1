"""Granite 3 with experts (IBM, 2024): Llama with sparse MLPs, optionally with a shared MLP.

Source: class and tensor names as in transformers 5.23.0, models/granitemoe, models/granitemoeshared, models/granitemoe_swa and
models/granitemoehybrid. Granite 4 puts Mamba-2 in place of attention in most layers.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import sinks
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.blueprints.state_space.mamba2 import BAMBA, mixer
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, NUM_LOCAL_EXPERTS, Config, Field, constant, size, variant
from weighbridge.core.parts import embedding, fused_experts, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part


def granite_moe(c: Config) -> tuple[Node, ...]:
    """Describe Llama whose MLP is a mixture of experts, under the name ``block_sparse_moe``."""
    H = c.hidden
    layer = part(
        "layers",
        attention(c, before=sinks(c)),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        mixture(c),
        *(shared_mlp(c) if c.shared else ()),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def granite_hybrid(c: Config) -> tuple[Node, ...]:
    """Describe Granite 4: Mamba-2 or attention, then experts, if there are any, and an MLP that every token goes through."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        halves = (*((mixture(c),) if c.sparse else ()), *shared_mlp(c))
        norms = (rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))
        return (*norms, *halves, attention(c) if kind == "full_attention" else mixer(c, "mamba", kept="full_attention" in c.kinds))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixture(c: Config) -> Part:
    """Describe router and experts."""
    router = linear("router", c.hidden, c.experts, bias=False)
    return part("block_sparse_moe", router, fused_experts(c.experts, c.active, c.hidden, c.mlp), kind="mixture")


def shared_mlp(c: Config) -> tuple[Part, ...]:
    """Describe the MLP that every token goes through: gate and up projection in one."""
    inner = (
        linear("input_linear", c.hidden, 2 * c.shared_inner, bias=False),
        linear("output_linear", c.shared_inner, c.hidden, bias=False),
    )
    return (part("shared_mlp", *inner, kind="feed_forward"),)


GRANITE = variant(
    FIELDS,
    NUM_LOCAL_EXPERTS.with_default(8),
    ACTIVE_EXPERTS.with_default(2),
    size("shared_inner", "shared_intermediate_size", 0, "S", "intermediate size of the shared MLP", minimum=0),
    constant("shared", lambda c: c.shared_inner > 0),
    constant("sinks", False),
    NO_MLP_BIAS,
)
PLAIN = tuple(constant("shared_inner", 0) if field.word == "shared_inner" else field for field in GRANITE)
SWA = variant(GRANITE, sinks=True, window=window(default=128), windowed=windowed_layers(lambda c: int(c.layers) * 3 // 4))
MAMBA = tuple(field for field in BAMBA if field.word in "state_heads groups state kernel expand chunk conv_bias bias".split())
HYBRID = variant(
    GRANITE,
    *MAMBA,
    constant("sparse", lambda c: c.experts > 0),
    Field(
        "stated_kinds", "layer_types", lambda c: ["linear_attention"] * len(layer_range(c.layers)), "choice", aliases=("layers_block_type",)
    ),
    constant("kinds", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("linear_attention", "full_attention"))),
    experts=size("experts", "num_local_experts", 8, "E", "experts", minimum=0),
    active=size("active", "num_experts_per_tok", 2, "k", "experts per token", minimum=0),
    shared_inner=size("shared_inner", "shared_intermediate_size", 1024, "S", "intermediate size of the shared MLP", minimum=0),
)


FAMILIES = {
    "granitemoe": Family("granitemoe", PLAIN, with_heads("GraniteMoe", granite_moe, "lm"), "GraniteMoeModel", IGNORED_KEYS),
    "granitemoeshared": Family(
        "granitemoeshared", GRANITE, with_heads("GraniteMoeShared", granite_moe, "lm"), "GraniteMoeSharedModel", IGNORED_KEYS
    ),
    "granitemoe_swa": Family(
        "granitemoe_swa", SWA, with_heads("GraniteMoeSWA", granite_moe, "lm"), "GraniteMoeSWAModel", IGNORED_KEYS | {"layer_rope_theta"}
    ),
    "granitemoehybrid": Family(
        "granitemoehybrid",
        HYBRID,
        with_heads("GraniteMoeHybrid", granite_hybrid, "lm"),
        "GraniteMoeHybridModel",
        IGNORED_KEYS | {"mamba_d_head", "time_step_limit", "time_step_min", "time_step_max"},
    ),
}
