"""MiniMax-Text-01 and MiniMax-M1 by their own code: the reference library's MiniMax, whose config lists the kinds of layers as numbers.

Source: arXiv 2501.08313 and 2506.13585; modeling_minimax_text_01.py and modeling_minimax_m1.py of MiniMaxAI. Held to the total of their files (456,089,655,296).
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.mixtures.minimax import FACTORS, MINIMAX, minimax
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import replace

if TYPE_CHECKING:
    from typing import Any

KINDS = {0: "linear_attention", 1: "full_attention"}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read the kinds of layers, and refuse an expert that every token goes through: no published model has one.

    >>> normalize_config({"attn_type_list": [0, 1], "shared_intermediate_size": 0})
    {'layer_types': ['linear_attention', 'full_attention']}
    """
    shared, kinds = raw.get("shared_intermediate_size"), raw.get("attn_type_list")
    if shared:
        raise ConfigError("an expert that every token goes through is not described", key="shared_intermediate_size", value=shared)
    found = {key: value for key, value in raw.items() if key not in ("attn_type_list", "shared_intermediate_size")}
    if kinds is None:
        return found
    if not isinstance(kinds, (list, tuple)) or not all(type(kind) is int and kind in KINDS for kind in kinds):
        raise ConfigError("expected a list of 0 and 1", key="attn_type_list", value=kinds)
    return {**found, "layer_types": [KINDS[kind] for kind in kinds]}


KEYS = (
    IGNORED_KEYS - {"layer_types"}
    | FACTORS
    | frozenset(
        """layernorm_full_attention_alpha layernorm_full_attention_beta layernorm_linear_attention_alpha layernorm_linear_attention_beta
    layernorm_mlp_alpha layernorm_mlp_beta shared_moe_mode postnorm""".split()
    )
)
NAMES = {"minimax_text_01": "MiniMaxText01", "minimax_m1": "MiniMaxM1"}
FAMILIES = {
    name: replace(Family(name, MINIMAX, with_heads(prefix, minimax, "lm"), f"{prefix}ForCausalLM", KEYS), normalize_config=normalize_config)
    for name, prefix in NAMES.items()
}
