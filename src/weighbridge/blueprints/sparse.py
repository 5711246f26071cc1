"""What mixtures of experts share: their fields, the block of router and experts, and which layers have one.

Source: arXiv 1701.06538, 2401.04088; tensor names as in transformers 5.23.0, which holds all experts of a layer in two
tensors; published files mostly have them one by one, which published.py translates.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config import Field, Sizes, derived, fact, listed, size
from weighbridge.errors import ConfigError
from weighbridge.parts import fused_experts, gated_mlp, linear
from weighbridge.records import TYPE_CHECKING
from weighbridge.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

MIXTURE = (
    size("experts", "num_local_experts", 8, "E", "experts", "num_experts"),
    size("active", "num_experts_per_tok", 2, "k", "experts per token"),
    derived("expert_mlp", lambda c: c.mlp, "intermediate_size"),
    fact("shared_experts", 1),
    derived("shared_mlp", lambda c: c.shared_experts * c.expert_mlp, "moe_intermediate_size"),
    fact("block", "gate experts"),
    fact("router_bias", False),
    fact("kinds", ("sparse",)),
)
"""Mixtral's further fields; ``block`` lists what a sparse layer holds, in order."""

EXPERT_MLP = size("expert_mlp", "moe_intermediate_size", 1408, "M", "intermediate size of an expert")
EXPERTS = size("experts", "n_routed_experts", 64, "E", "routed experts", "num_experts", "num_local_experts")
SHARED = size("shared_experts", "n_shared_experts", 1, "N", "shared experts", minimum=0)


def required(field: Field) -> Field:
    """Declare that a config must state a field, since the reference's default does not build."""

    def missing(c: Sizes) -> int:
        raise ConfigError("the config does not state it, and the reference has no default that builds", key=field.key)

    return field._replace(default=missing)


def first_dense(default: int, key: str = "first_k_dense_replace") -> tuple[Field, Field]:
    """Declare that the first few layers have an ordinary MLP."""
    return (
        Field("dense", key, default, "choice"),
        fact("kinds", lambda c: ["dense" if index < c.dense else "sparse" for index in range(c.layers)]),
    )


def every_step() -> tuple[Field, ...]:
    """Declare that every so many-th layer has experts, but for those named."""
    return (
        Field("step", "decoder_sparse_step", 1, "choice"),
        listed("only_dense", "mlp_only_layers", []),
        fact("kinds", lambda c: ["sparse" if _sparse(c, index) else "dense" for index in range(c.layers)]),
    )


def _sparse(c: Sizes, index: int) -> bool:
    return index not in c.only_dense and c.experts > 0 and (index + 1) % c.step == 0


def between() -> tuple[Field, ...]:
    """Declare that every so many-th layer has experts, from a first to a last one."""
    return (
        Field("step", "moe_layer_interval", 1, "choice"),
        Field("start", "moe_layer_start_index", 1, "choice"),
        Field("end", "moe_layer_end_index", -1, "choice"),
        fact("kinds", lambda c: ["sparse" if _between(c, index) else "dense" for index in range(c.layers)]),
    )


def _between(c: Sizes, index: int) -> bool:
    end = c.layers - 1 if c.end == -1 else c.end
    return bool((index + 1) % c.step == 0 and c.start <= index <= end)


def told(rule: Callable[[Sizes], list[str]], key: str = "mlp_layer_types") -> tuple[Field, Field]:
    """Declare that a list tells each layer's kind; where it is absent, *rule* does."""
    return (Field("told", key, rule, "choice"), fact("kinds", lambda c: one_per_layer(c, c.told, key)))


def one_per_layer(c: Sizes, kinds: Any, key: str) -> list[str]:
    """Check that a list names the kind of every layer.

    Raises:
        ConfigError: It is of another length than there are layers, or no list.
    """
    if not isinstance(kinds, (list, tuple)) or len(kinds) != c.layers:
        found = f"{len(kinds)} entries" if isinstance(kinds, (list, tuple)) else f"{kinds!r:.60}"
        raise ConfigError(f"expected the kind of each of {c.layers} layers, found {found}", key=key, value=kinds)
    return list(kinds)


def mlp(c: Sizes, kind: str, name: str = "mlp") -> Part:
    """Describe the second half of a layer: an ordinary MLP, or a router and experts."""
    return sparse_mlp(c, name) if kind == "sparse" else gated_mlp(name, c.hidden, c.mlp, bias=c.mlp_bias)


def sparse_mlp(c: Sizes, name: str = "mlp", *more: Node) -> Part:
    """Describe router, experts, and what works on every token beside them, in the order that ``block`` gives."""
    H, E = c.hidden, c.experts
    frozen = Tensor("e_score_correction_bias", (1, E), "bias", frozen=True)
    makers: dict[str, Callable[[], Node]] = {
        "gate": lambda: linear("gate", H, E, bias=False),
        "corrected_gate": lambda: Part("gate", (Tensor("weight", (E, H)), correction(c)), "linear"),
        "static_gate": lambda: Part("gate", (Tensor("weight", (E, H)), Part("moe_statics", (frozen,))), "linear"),
        "correction": lambda: correction(c),
        "router": lambda: linear("router", H, E, bias=c.router_bias),
        "experts": lambda: fused_experts(E, c.active, H, c.expert_mlp),
        "shared_expert": lambda: gated_mlp("shared_expert", H, c.shared_mlp),
        "shared_experts": lambda: gated_mlp("shared_experts", H, c.shared_mlp, bias=c.mlp_bias),
        "shared_expert_gate": lambda: linear("shared_expert_gate", H, 1, bias=False),
    }
    return Part(name, (*(makers[word]() for word in c.block.split()), *more), "mixture")


def correction(c: Sizes) -> Tensor:
    """Describe the router's correction of its scores: saved, but not learned by gradient."""
    return Tensor("e_score_correction_bias", (c.experts,), "buffer")
