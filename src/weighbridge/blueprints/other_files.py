"""Files that lie beside a config and are none: each is recognized by its keys, so that a refusal can name it."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from typing import Any

QUANTIZED = mark("settings of a quantizer")
TOKENS = mark("settings of a tokenizer")
INPUTS = mark("settings of a processor of inputs")
SENTENCES = mark("settings of sentence-transformers")
GENERATION = mark("settings of text generation")
OTHER_FILES: tuple[tuple[str, str], ...] = (
    ("producer quantization", QUANTIZED),
    ("bits group_size", QUANTIZED),
    ("w_bit q_group_size", QUANTIZED),
    ("tokenizer_class", TOKENS),
    ("added_tokens model", TOKENS),
    ("image_processor_type", INPUTS),
    ("feature_extractor_type", INPUTS),
    ("processor_class", INPUTS),
    ("image_mean", INPUTS),
    ("pad_token", TOKENS),
    ("__version__", SENTENCES),
    ("pooling_mode_mean_tokens", SENTENCES),
    ("max_seq_length do_lower_case", SENTENCES),
    ("_from_model_config", GENERATION),
    ("do_sample", GENERATION),
    ("top_p", GENERATION),
    ("log_history", mark("the state of a training run")),
    ("architecture mapping", mark("settings of TensorRT-LLM")),
)
"""Keys that a file has all of, and what it is: hf_quant_config.json, quantize_config.json, generation_config.json ..."""


def refuse_other_file(raw: Mapping[str, Any]) -> None:
    """Refuse a file that is recognized as something other than a model's config.

    Raises:
        ConfigError: It is one of :data:`OTHER_FILES`, or an adapter's config.

    >>> refuse_other_file({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}})
    Traceback (most recent call last):
    ...
    weighbridge.core.errors.ConfigError: producer: settings of a quantizer, and no config (weigh the config.json beside it)
    """
    if "peft_type" in raw:
        raise ConfigError(
            "settings of an adapter, and no config", key="peft_type", hint="weigh adapters BASE ADAPTER counts it on its base"
        )
    for keys, what in OTHER_FILES:
        first, *others = keys.split()
        if first in raw and all(key in raw for key in others):
            raise ConfigError(Text("{what}, and no config", what=Text(what)), key=first, hint="weigh the config.json beside it")


def unwrap(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the sizes of a config of MLC LLM (mlc-chat-config.json), which stand in ``model_config``; another config as it is.

    >>> unwrap({"model_type": "llama", "quantization": "q4f16_1", "model_config": {"hidden_size": 64}})
    {'hidden_size': 64, 'model_type': 'llama'}
    """
    inner = raw.get("model_config")
    if isinstance(inner, Mapping) and isinstance(raw.get("quantization"), str) and isinstance(raw.get("model_type"), str):
        return {**inner, "model_type": raw["model_type"]}
    return raw
