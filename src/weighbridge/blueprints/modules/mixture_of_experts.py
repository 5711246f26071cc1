"""Shared parts of mixtures of experts: fields, router and experts; ``layer_types.py`` says which layers are sparse.

Source: arXiv 1701.06538, 2401.04088; tensor names as in transformers 5.23.0, which holds all experts of a layer in two
tensors; published files mostly have them one by one, which published.py translates.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.fields import ACTIVE_EXPERTS, Config, Field, constant, derived, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import fused_experts, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

MIXTURE = (
    size("experts", "num_local_experts", 8, "E", "experts", "num_experts"),
    ACTIVE_EXPERTS.with_default(2),
    derived("expert_mlp", lambda c: c.mlp, "intermediate_size"),
    constant("shared_experts", 1),
    derived("shared_mlp", lambda c: c.shared_experts * c.expert_mlp, "moe_intermediate_size"),
    constant("block", "gate experts"),
    constant("router_bias", False),
    constant("kinds", ("sparse",)),
)
"""Mixtral's further fields; ``block`` lists what a sparse layer holds, in order."""

EXPERT_MLP = size("expert_mlp", "moe_intermediate_size", 1408, "M", "intermediate size of an expert")
EXPERTS = size("experts", "n_routed_experts", 64, "E", "routed experts", "num_local_experts")
SHARED = size("shared_experts", "n_shared_experts", 1, "N", "shared experts", minimum=0)


def required_field(field: Field) -> Field:
    """Declare that a config must state a field, since the reference's default does not build."""

    def refuse_missing(c: Config) -> int:
        raise ConfigError("the config does not state it, and the reference has no default that builds", key=field.key)

    return replace(field, default=refuse_missing)


def mlp(c: Config, kind: str, name: str = "mlp") -> Part:
    """Describe the second half of a layer: an ordinary MLP, or a router and experts."""
    return sparse_mlp(c, name) if kind == "sparse" else gated_mlp(name, c.hidden, c.mlp, bias=c.mlp_bias)


def sparse_mlp(c: Config, name: str = "mlp", *more: Node) -> Part:
    """Describe router, experts, and what works on every token beside them, in the order that ``block`` gives."""
    H, E = c.hidden, c.experts
    frozen = Tensor("e_score_correction_bias", (1, E), "bias", frozen=True)
    makers: dict[str, Callable[[], Node]] = {
        "gate": lambda: linear("gate", H, E, bias=False),
        "corrected_gate": lambda: part("gate", Tensor("weight", (E, H)), correction(c), kind="linear"),
        "static_gate": lambda: part("gate", Tensor("weight", (E, H)), part("moe_statics", frozen), kind="linear"),
        "correction": lambda: correction(c),
        "router": lambda: linear("router", H, E, bias=c.router_bias),
        "experts": lambda: fused_experts(E, c.active, H, c.expert_mlp),
        "shared_expert": lambda: gated_mlp("shared_expert", H, c.shared_mlp),
        "shared_experts": lambda: gated_mlp("shared_experts", H, c.shared_mlp, bias=c.mlp_bias),
        "post_norm": lambda: rms_norm("post_mlp_layernorm", H),
        "shared_expert_gate": lambda: linear("shared_expert_gate", H, 1, bias=False),
    }
    return part(name, *(makers[word]() for word in c.block.split()), *more, kind="mixture")


def correction(c: Config) -> Tensor:
    """Describe the router's correction of its scores: saved, but not learned by gradient."""
    return Tensor("e_score_correction_bias", (c.experts,), "buffer")
