"""What the library's configs refuse by themselves, before any model is there.

Source: huggingface/peft 0.21.2, the ``__post_init__`` of each config; tuners/lora/layer.py (orthogonal_init)
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TASKS = ("SEQ_CLS", "SEQ_2_SEQ_LM", "CAUSAL_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION")

LAYERS_BESIDE_NAMES = frozenset("ADALORA C3A DEFT DELORA FOURIERFT HIRA HRA LORA MISS PSOFT SHADOW UNILORA WAVEFT".split())
"""Methods that take ``layers_to_transform`` beside a list of target modules alone, and not beside a pattern."""

PATTERN_WITH_LAYERS = frozenset(
    "ADALORA BOFT DEFT DELORA FOURIERFT FROD HRA LILY LOHA LOKR LORA OFT PEANUT PSOFT PVERA SHADOW TINYLORA VBLORA VERA WAVEFT".split()
)
"""Methods that take ``layers_pattern`` beside ``layers_to_transform`` alone."""

_OWN = """
ADALORA: lora_A lora_B lora_E lora_dropout lora_embedding_A lora_embedding_B lora_magnitude_vector ranknum
ADAMSS: adamss_A adamss_B adamss_newB
BEFT: beft_bias
BOFT: boft_R boft_dropout boft_s
DEFT: _cached_merge_factor deft_P deft_R deft_dropout
DELORA: delora_A delora_B delora_dropout delora_lambda
FROD: frod_U frod_V frod_dropout frod_lambda_l frod_lambda_s_values frod_s_indices frod_s_size
GLORA: glora_A glora_B glora_C glora_D glora_E
GRALORA: gralora_A gralora_A_general gralora_B gralora_B_general gralora_dropout
HIRA: hira_A hira_B hira_dropout hira_embedding_A hira_embedding_B
HRA: hra_u
IA3: ia3_l
LILY: lily_A lily_B lily_router
LN_TUNING: ln_tuning_layers
LOHA: hada_t1 hada_t2 hada_w1_a hada_w1_b hada_w2_a hada_w2_b
LOKR: lokr_t2 lokr_w1 lokr_w1_a lokr_w1_b lokr_w2 lokr_w2_a lokr_w2_b
LORA: lora_A lora_B lora_dropout lora_embedding_A lora_embedding_B lora_magnitude_vector
OFT: oft_R oft_dropout oft_embedding_R
OSF: _osf_S_low_init _osf_U_high _osf_U_low_init _osf_V_high _osf_V_low_init osf_svd_params
PEANUT: peanut_A peanut_B peanut_decoders peanut_encoders
POLY: poly_lora_A poly_lora_B poly_router
PVERA: pvera_A pvera_B pvera_dropout pvera_lambda_b pvera_lambda_d
RANDLORA: randlora_A randlora_B randlora_dropout randlora_gamma randlora_lambda
SUPERTUNING: supertuning_indices supertuning_lora_A supertuning_lora_B supertuning_lora_dropout supertuning_values
TINYLORA: tinylora_A tinylora_B tinylora_P tinylora_dropout tinylora_v
UNILORA: unilora_dropout unilora_indices_A unilora_indices_B unilora_scales_A unilora_scales_B unilora_theta_d
VERA: vera_A vera_B vera_dropout vera_lambda_b vera_lambda_d
"""
CONTAINERS = {method: names.split() for method, _, names in (line.partition(":") for line in _OWN.strip().splitlines())}
"""The containers that each method puts into a module that it adapts; ``delora_w_norm`` is counted (accounts/adapters/low_rank.py)."""


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
    for container in CONTAINERS.get(method, ()) if isinstance(method, str) else ():
        for name in config.get("modules_to_save") or ():
            if container.endswith(name):
                raise UsageError(
                    Text(
                        "modules_to_save: {name} is the end of {container} too, which the adapter itself adds; write more of the path",
                        name=name,
                        container=container,
                    )
                )
    inner = config.get("feedforward_modules")
    if method == "IA3" and isinstance(inner, list) and isinstance(targets, list) and not set(inner) <= set(targets):
        raise UsageError("feedforward_modules: names modules that target_modules does not name")
