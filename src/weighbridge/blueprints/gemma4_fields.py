"""Gemma 4's fields, and what a config saved layer by layer says of them.

Source: transformers 5.23.0, models/gemma4/configuration_gemma4.py and configuration_utils.py.
"""

from __future__ import annotations

from weighbridge.blueprints.causal import FIELDS, NEUTRAL, UNBIASED
from weighbridge.blueprints.kinds import chosen, of_kinds
from weighbridge.config.bind import bind
from weighbridge.config.fields import Field, Sizes, fact, optional, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _kinds(c: Sizes) -> list[str]:
    return ["sliding_attention" if (index + 1) % 6 else "full_attention" for index in range(c.layers)]


def _mixers(c: Sizes) -> list[str]:
    return [*chosen(c, c.told, "layer_types", ("sliding_attention", "full_attention"))[:-1], "full_attention"]


def reuse(c: Sizes) -> list[bool]:
    """Tell for each layer whether it takes the keys and values of an earlier one of its kind.

    Raises:
        ConfigError: There is no earlier one of some kind.
    """
    first = c.layers - c.shared_layers
    if first < 1 or set(c.mixers) != set(c.mixers[:first]):
        raise ConfigError("a layer reuses the keys of a kind of layer that none makes", key="num_kv_shared_layers", value=c.shared_layers)
    return [index >= first for index in range(c.layers)]


def settled(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a saved config says layer by layer, which the reference takes before the sizes of all layers in full.

    >>> settled({"per_layer_config": {"29": {"head_dim": 64}, "5": {"head_dim": 64}}, "num_hidden_layers": 30})["global_head_dim"]
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: per_layer_config: layers of one kind whose sizes differ are not described
    """
    rest = {key: value for key, value in raw.items() if key != "per_layer_config"}
    if "per_layer_config" not in raw:
        return rest
    c = bind(UNIFIED, rest)
    own = {"head_dim": c.head_dim, "num_key_value_heads": c.kv_heads}
    kinds = of_kinds(c, raw["per_layer_config"] or {}, own)  # even a null is said: then all layers are alike
    full, limited = kinds.get("full_attention", own), kinds.get("sliding_attention", own)
    shared = full["num_key_value_heads"]
    if limited != own or (shared != c.kv_heads and not c.equal):
        raise ConfigError("these sizes of layers are not described", key="per_layer_config", value=raw["per_layer_config"])
    return {**rest, "global_head_dim": full["head_dim"], "num_global_key_value_heads": shared}


def _stated(c: Sizes) -> bool:
    for word, key in (("experts", "num_experts"), ("active", "top_k_experts"), ("expert_mlp", "moe_intermediate_size")):
        if c.sparse and getattr(c, word) is None:
            raise ConfigError("the config asks for experts and does not say it", key=key)
    return True


UNIFIED = variant(
    FIELDS,
    size("full_dim", "global_head_dim", 512, "Y", "width of a head where attention is in full"),
    optional("full_kv", "num_global_key_value_heads", None, "G", "key-value heads where attention is in full"),
    switch("equal", "attention_k_eq_v", False),
    switch("doubled", "use_double_wide_mlp", False),
    size("shared_layers", "num_kv_shared_layers", 0, "Z", "layers that reuse keys", minimum=0),
    Field("told", "layer_types", _kinds, "choice"),
    fact("mixers", _mixers),
    fact("reusing", reuse),
    vocab=262144, hidden=2304, mlp=9216, layers=30, heads=8, kv_heads=4, head_dim=256, tied=True, mlp_bias=UNBIASED["mlp_bias"],
    window=optional("window", "sliding_window", 1024, "W", "attention window"),
)  # fmt: skip
TEXT = variant(
    UNIFIED,
    size("table", "hidden_size_per_layer_input", 256, "T", "width of a layer's table", minimum=0),
    size("table_rows", "vocab_size_per_layer_input", 262144, "U", "rows of a layer's table"),
    fact("tabled", lambda c: c.table > 0),
    switch("sparse", "enable_moe_block", False),
    optional("experts", "num_experts", None, "E", "experts"),
    optional("active", "top_k_experts", None, "k", "experts per token"),
    optional("expert_mlp", "moe_intermediate_size", None, "M", "intermediate size of an expert"),
    fact("stated", _stated),
    window=optional("window", "sliding_window", 512, "W", "attention window"),
)  # fmt: skip
PLAIN = variant(UNIFIED, fact("table", 0), fact("table_rows", 0), fact("tabled", False), fact("sparse", False))

SKIPPED = NEUTRAL | {"use_bidirectional_attention"}
