"""NeMo's ``model_config.yaml`` as Megatron-LM's arguments, which stand in it under names of their own.

Source: NVIDIA/NeMo 2.0, nemo/collections/nlp/models/language_modeling/megatron_gpt_model.py (``build_transformer_config``, ``model_provider_func``)
and examples/nlp/language_modeling/conf/megatron_gpt_config.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from typing import Any

NEMO_KEYS = frozenset(
    "activation bias encoder_seq_length mcore_gpt megatron_amp_O2 num_moe_experts share_embeddings_and_output_weights".split()
)
"""Keys of NeMo's config that Megatron-LM's arguments have not."""
NORMS = {"layernorm": "LayerNorm", "layernorm1p": "LayerNorm", "low_precision_layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}
GATED = frozenset("fast-geglu fast-reglu fast-swiglu geglu reglu swiglu".split())
PLAIN = frozenset("approx-gelu gelu openai-gelu relu squared-relu".split())
CLASSES = ("MegatronGPTModel", "MegatronGPTSFTModel")
"""The classes whose tensors are those of ``GPTModel``."""


def from_nemo(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return Megatron-LM's arguments; those of a config that has none of NeMo's keys as they are.

    Raises:
        ConfigError: Another class of NeMo, or a value that it has no rule for.

    >>> from_nemo({"num_layers": 2, "activation": "fast-swiglu", "bias": False, "normalization": "rmsnorm"})
    {'num_layers': 2, 'normalization': 'RMSNorm', 'swiglu': True, 'add_bias_linear': False, 'untie_embeddings_and_output_weights': False}
    """
    if not NEMO_KEYS & set(raw):
        return dict(raw)
    _refuse_other_classes(raw)
    found = {key: value for key, value in raw.items() if key not in NEMO_KEYS}
    found["normalization"] = _one_of(NORMS, raw, "normalization", "layernorm")
    found["swiglu"] = _one_of(dict.fromkeys(GATED, True) | dict.fromkeys(PLAIN, False), raw, "activation", "gelu")
    found["add_bias_linear"] = raw.get("bias", True)
    shared = raw.get("share_embeddings_and_output_weights", True)
    found["untie_embeddings_and_output_weights"] = not shared if isinstance(shared, bool) else shared
    if raw.get("num_query_groups") is not None:
        found["group_query_attention"] = True
    if raw.get("num_moe_experts") is not None:
        found["num_experts"] = raw["num_moe_experts"]
    if raw.get("override_vocab_size") is not None:
        found["vocab_size"] = found.pop("override_vocab_size")
    return found


def _refuse_other_classes(raw: Mapping[str, Any]) -> None:
    target = raw.get("target")
    if isinstance(target, str) and not target.endswith(CLASSES):
        raise ConfigError(Text("NeMo's {name} is not described", name=target.rpartition(".")[2]), key="target", value=target)
    if raw.get("transformer_block_type", "pre_ln") != "pre_ln":
        what = Text(mark("a block whose norms stand elsewhere"))
        raise ConfigError(Text("{what} is not described", what=what), key="transformer_block_type", value=raw["transformer_block_type"])


def _one_of(rule: Mapping[str, Any], raw: Mapping[str, Any], key: str, default: str) -> Any:
    value = raw.get(key, default)
    if not isinstance(value, str) or value not in rule:
        raise ConfigError(
            Text("expected one of {names}, found {what}", names=", ".join(sorted(rule)), what=say_value(value)), key=key, value=value
        )
    return rule[value]
