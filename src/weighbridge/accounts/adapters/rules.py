"""What the library's configs refuse by themselves, before any model is there.

Source: huggingface/peft 0.21.2, the ``__post_init__`` of each config; tuners/lora/layer.py (orthogonal_init)
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

TASKS = ("SEQ_CLS", "SEQ_2_SEQ_LM", "CAUSAL_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION")

LAYERS_BESIDE_NAMES = frozenset("ADALORA C3A DEFT DELORA FOURIERFT HIRA HRA LORA MISS PSOFT SHADOW UNILORA WAVEFT".split())
"""Methods that take ``layers_to_transform`` beside a list of target modules alone, and not beside a pattern."""

PATTERN_WITH_LAYERS = frozenset(
    "ADALORA BOFT DEFT DELORA FOURIERFT FROD HRA LILY LOHA LOKR LORA OFT PEANUT PSOFT PVERA SHADOW TINYLORA VBLORA VERA WAVEFT".split()
)
"""Methods that take ``layers_pattern`` beside ``layers_to_transform`` alone."""


def check_rules(config: Mapping[str, Any]) -> None:
    """Refuse fields that do not go together, as the library does.

    Raises:
        ConfigError: A word that it does not know, or a number too small.
        UsageError: Fields that exclude each other.

    >>> check_rules({"peft_type": "LORA", "target_modules": "all-linear", "layers_to_transform": [0]})
    Traceback (most recent call last):
    ...
    weighbridge.core.errors.UsageError: layers_to_transform: cannot be combined with a pattern in target_modules; name the modules in a list
    """
    method, task, targets = config.get("peft_type"), config.get("task_type"), config.get("target_modules")
    if task is not None and task not in TASKS:
        raise ConfigError(Text("expected one of {tasks}", tasks=", ".join(TASKS)), key="task_type", value=task)
    for key in ("layers_to_transform", "layers_pattern"):
        if isinstance(targets, str) and config.get(key) is not None and method in LAYERS_BESIDE_NAMES:
            raise UsageError(Text("{key}: cannot be combined with a pattern in target_modules; name the modules in a list", key=key))
    if config.get("layers_pattern") and config.get("layers_to_transform") is None and method in PATTERN_WITH_LAYERS:
        raise UsageError("layers_pattern: says where layers are numbered; say which with layers_to_transform")
    if method == "LILY" and (2 if config.get("num_B") is None else config["num_B"]) < 2:
        raise ConfigError("expected at least 2, between which the router chooses", key="num_B", value=config["num_B"])
    if method == "LORA" and config.get("init_lora_weights") == "orthogonal" and config.get("r", 8) % 2:
        raise ConfigError("expected an even rank for an orthogonal start", key="r", value=config["r"])
    inner = config.get("feedforward_modules")
    if method == "IA3" and isinstance(inner, list) and isinstance(targets, list) and not set(inner) <= set(targets):
        raise UsageError("feedforward_modules: names modules that target_modules does not name")
