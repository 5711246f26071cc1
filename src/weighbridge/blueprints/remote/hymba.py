"""Hymba (NVIDIA, 2024): attention and a state space side by side in each layer, behind learned tokens; its code stands beside its files.

Source: arXiv 2411.13676; modeling_hymba.py and configuration_hymba.py of nvidia/Hymba-1.5B-Base. Held to the total of the published file
(1,522,797,824), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_BIAS, with_heads
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.blueprints.state_space.mamba import MIXER
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, constant, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import depthwise, embedding, gated_mlp, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

HYBRID = unknown("the arithmetic of heads beside a state space is not held to a live class")


def hymba(c: Config) -> tuple[Node, ...]:
    """Describe the learned tokens, embeddings, layers of which some take keys and values of an earlier one, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = gated_mlp("0", H, c.mlp) if c.act == "silu" else plain_mlp("0", H, c.mlp, ("up_proj", "down_proj"), bias=False)
        experts = part("moe", part("experts", mlp))
        return (mixer(c, kind), rms_norm("input_layernorm", H), experts, rms_norm("pre_moe_layernorm", H))

    learned = (Tensor("memory_tokens", (c.memory, H), "embedding"),) if c.remembers else ()
    layers = stack("layers", c.kinds, c.layers, layer)
    return (*learned, embedding("embed_tokens", c.vocab, H), *layers, rms_norm("final_layernorm", H))


def mixer(c: Config, kind: str) -> Part:
    """Describe one map into queries, keys, values, the state space and its gate, the state space's own, and a norm for either output."""
    H, N, R, inner = c.hidden, c.state, c.rank, c.inner
    shared = 0 if kind == "reusing" else exact(c.kv_heads * (H + inner), c.heads)
    numbered = Tensor("0", (inner, N), "gain"), Tensor("0", (inner,), "gain")
    norms = (rms_norm("dt_layernorm", R), rms_norm("B_layernorm", N), rms_norm("C_layernorm", N)) if c.normed else ()
    return part(
        "mamba",
        part("A_log", numbered[0]),
        part("D", numbered[1]),
        rms_norm("pre_avg_layernorm1", inner),
        rms_norm("pre_avg_layernorm2", inner),
        linear("in_proj", H, 2 * inner + H + shared, bias=c.bias),
        linear("out_proj", inner, H, bias=c.bias),
        depthwise("conv1d", inner, c.kernel, bias=c.conv_bias),
        part("x_proj", linear("0", inner, R + 2 * N, bias=False)),
        part("dt_proj", linear("0", R, inner)),
        *norms,
        kind="state_space",
        stream=HYBRID,
    )


def read_groups(value: Any) -> list[list[int]]:
    """Read which layers share keys and values: lists of layers, of which the first makes them.

    >>> read_groups([[1, 2], [3, 4, 5]])
    [[1, 2], [3, 4, 5]]
    """
    groups = [] if value is None else value
    if not isinstance(groups, (list, tuple)) or not all(isinstance(group, (list, tuple)) for group in groups):
        raise ConfigError("expected lists of layers", key="kv_reuse_group", value=value)
    return [list(group) for group in groups]


def _kinds(c: Config) -> list[str]:
    taking = [index for group in c.groups for index in group[1:]]
    return ["reusing" if index in taking else "making" for index in layer_range(c.layers)]


HYMBA = variant(
    FIELDS,
    *NO_BIAS,
    *MIXER,
    choice("groups", "kv_reuse_group", None, read=read_groups, report_default=False),
    read_none("kv_reuse_every_i_layer", -1, 0),
    read_none("num_experts", 1),
    read_none("kq_norm", "none"),
    choice("act", "mlp_hidden_act", "silu", read=one_of("mlp_hidden_act", "silu", "relu2")),
    switch("normed", "mamba_inner_layernorms", True),
    size("memory", "num_memory_tokens", 128, "M", "learned tokens", minimum=0),
    constant("remembers", lambda c: c.memory > 0),
    constant("kinds", _kinds),
    vocab=32001,
    hidden=1600,
    mlp=5504,
    heads=25,
    kv_heads=5,
    tied=True,
)
KEYS = IGNORED_KEYS | frozenset(
    """attn_hidden_size attn_implementation attn_implementation_new calc_logits_for_entire_prompt conv_dim global_attn_idx kq_head_dim v_head_dim
    head_dim layer_type memory_tokens_interspersed_every num_mamba orig_max_position_embeddings rope rope_type kv_weight_reuse
    num_logits_to_keep seq_length use_mamba_kernels router_aux_loss_coef output_router_logits""".split()
)
FAMILIES = {"hymba": Family("hymba", HYMBA, with_heads("Hymba", hymba, "lm"), "HymbaForCausalLM", KEYS)}
