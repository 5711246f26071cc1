"""``params.json`` beside the original checkpoints of Llama and Mistral, as the config of the library's class with the same tensors.

Source: meta-llama/llama-models, models/llama3/model.py (``ModelArgs``, and ``FeedForward`` for the width that three numbers give);
mistralai/mistral-inference, src/mistral_inference/args.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

NEEDED = frozenset("dim n_layers n_heads norm_eps vocab_size".split())
RENAMED = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "norm_eps": "rms_norm_eps",
    "vocab_size": "vocab_size",
    "rope_theta": "rope_theta",
    "max_position_embeddings": "max_position_embeddings",
    "sliding_window": "sliding_window",
}
IGNORED = frozenset("causal high_freq_factor low_freq_factor max_batch_size max_seq_len rope_scaling_factor use_scaled_rope".split())
READ = IGNORED | set(RENAMED) | frozenset("ffn_dim_multiplier hidden_dim moe multiple_of tied_embeddings".split())


def is_params_json(raw: Mapping[str, Any]) -> bool:
    """Say whether a file has the keys of ``params.json``, and states no model type."""
    return set(raw) >= NEEDED and "model_type" not in raw and bool({"multiple_of", "hidden_dim"} & set(raw))


def from_params_json(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of LlamaForCausalLM, MistralForCausalLM or MixtralForCausalLM that has the tensors of the original model.

    Raises:
        ConfigError: A key that has no counterpart in these, such as that of a vision encoder.

    >>> llama = from_params_json({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "norm_eps": 1e-05,
    ...     "vocab_size": 128256, "multiple_of": 1024, "ffn_dim_multiplier": 1.3})
    >>> llama["model_type"], llama["intermediate_size"]
    ('llama', 14336)
    """
    strange = next((key for key, value in raw.items() if key not in READ and value not in (None, False)), None)
    if strange is not None:
        raise ConfigError(
            "a key of params.json that is not described", key=strange, value=raw[strange], hint="weigh the config.json of the same model"
        )
    found = {RENAMED[key]: value for key, value in raw.items() if key in RENAMED and value is not None}
    mixture = raw.get("moe")
    kind = "Mixtral" if mixture is not None else "Mistral" if raw.get("hidden_dim") is not None else "Llama"
    found |= {"model_type": kind.lower(), "architectures": [f"{kind}ForCausalLM"], "intermediate_size": _inner_width(raw)}
    found["tie_word_embeddings"] = bool(raw.get("tied_embeddings", False))
    if kind != "Llama":  # whose classes have fewer heads of keys by default
        found = {"num_key_value_heads": raw["n_heads"], "sliding_window": None, **found}
    return {**found, **_experts(mixture)} if mixture is not None else found


def _experts(mixture: Any) -> dict[str, Any]:
    if not isinstance(mixture, Mapping) or set(mixture) != {"num_experts", "num_experts_per_tok"}:
        raise ConfigError(Text("expected numbers of experts, found {what}", what=say_value(mixture)), key="moe", value=mixture)
    return {"num_local_experts": mixture["num_experts"], "num_experts_per_tok": mixture["num_experts_per_tok"]}


def _inner_width(raw: Mapping[str, Any]) -> Any:
    """Return the width between the maps of the MLP, as the code that reads the file works it out."""
    if raw.get("hidden_dim") is not None:
        return raw["hidden_dim"]
    for key, kinds in (("dim", int), ("multiple_of", int), ("ffn_dim_multiplier", (int, float))):
        value = raw.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < 2**40):
            raise ConfigError(Text("expected a positive number, found {value!r:.60}", value=value), key=key, value=value)
    inner = int(2 * (4 * raw["dim"]) / 3)
    if raw.get("ffn_dim_multiplier") is not None:
        inner = int(raw["ffn_dim_multiplier"] * inner)
    multiple = raw.get("multiple_of") or 256
    return multiple * ((inner + multiple - 1) // multiple)
