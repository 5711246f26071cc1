"""What kind of value each field of an adapter's config takes: PEFT's annotations, where its code or ours would fall over another kind.

Source: peft 0.21, the dataclasses of ``PEFT_TYPE_TO_CONFIG_MAPPING``.
"""

from __future__ import annotations

from math import isfinite

from weighbridge.config.bind import LARGEST
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

WHOLE = frozenset(
    """adapter_layers adapter_len block_size boft_block_num boft_block_size boft_n_butterfly_factor bottleneck depth
    encoder_hidden_size encoder_num_layers hybrid_r init_r mini_r n_frequency n_skills n_tasks num_B
    num_attention_heads num_frozen_tokens num_layers num_ranks num_tasks num_transformer_submodules num_vectors num_virtual_tokens oft_block_size r
    stride_A target_r theta_d_length token_dim topk u""".split()
)
NAMES = frozenset("target_modules exclude_modules feedforward_modules layers_pattern".split())
LISTS = frozenset("modules_to_save target_parameters".split())
FLAGS = frozenset(
    """apply_GS block_share coft decompose_both enable_softmax enable_softmax_topk ensure_weight_tying fan_in_fan_out inference_mode
    layerwise_scalings lora_bias para prefix_projection proportional_parameters psoft_mag_a psoft_mag_b psoft_orth rank_dropout_scale
    runtime_offload_base_weight save_indices save_only_topk_weights save_precomputed_indices save_projection select_top share_embeddings sparse
    use_asa use_cayley_neumann use_dora use_dynamic_rank use_effective_conv2d use_idwt use_qalora use_rslora use_trainable_adapters very_sparse""".split()
)
PATTERNS = frozenset("rank_pattern block_size_pattern n_frequency_pattern".split())
OBJECTS = frozenset("alpha_pattern lambda_pattern monteclora_config target_svd_config velora_config".split())
SHARES = frozenset("sparse_rate weight_tying".split())


def check_kinds(raw: Mapping[str, Any]) -> None:
    """Refuse a value of a kind that its field does not take; null is for every field its default.

    >>> check_kinds({"r": 8, "target_modules": ["query"]})
    >>> check_kinds({"r": "eight"})
    Traceback (most recent call last):
        ...
    weighbridge.core.errors.ConfigError: r: expected a whole number from 0 to 10^15, found 'eight'
    """
    for key, value in raw.items():
        for kind, (fields, fits) in KINDS.items():
            if key in fields and value is not None and not fits(value):
                raise ConfigError(Text("expected {kind}, found {value}", kind=Text(kind), value=f"{value!r:.40}"), key=key, value=value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST  # in a derivation it carries its formula


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple | set) and all(isinstance(item, str) for item in value)


def _is_pattern(value: object) -> bool:
    """Tell whether these are ranks by names, OSF's shares of the full rank, or AdaLoRA's masks: a list of truths for each name."""
    return isinstance(value, dict) and all(
        isinstance(key, str)
        and (_is_whole(size) or _is_share(size) or (isinstance(size, list) and all(type(kept) is bool for kept in size)))
        for key, size in value.items()
    )


def _is_share(value: object) -> bool:
    return type(value) is float and 0 < value < 1


def _are_numbers(value: object) -> bool:
    return isinstance(value, list | tuple) and all(type(item) is int for item in value)


def _are_tokens(value: object) -> bool:
    lists = list(value.values()) if isinstance(value, dict) and all(isinstance(key, str) for key in value) else [value]
    return all(_are_numbers(item) for item in lists)


def _are_pairs(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_are_numbers(pair) and len(pair) == 2 for pair in value)


KINDS: dict[str, tuple[frozenset[str], Callable[[object], bool]]] = {
    mark("a whole number from 0 to 10^15"): (WHOLE, _is_whole),
    mark("a whole number from 1 to 10^15"): (
        frozenset(("gralora_k", "group_size", "n_splits", "vector_length")),
        lambda value: value != 0 and _is_whole(value),
    ),
    mark("true or false"): (FLAGS, lambda value: isinstance(value, int) and value in (0, 1)),
    mark("a number"): (frozenset(("alpha", "lora_alpha", "lora_dropout")), lambda value: isinstance(value, int | float)),
    mark("a text"): (frozenset(("variant",)), lambda value: isinstance(value, str)),
    mark("a list of names, or a pattern"): (NAMES, lambda value: isinstance(value, str) or _is_list(value)),
    mark("a list of names"): (LISTS, _is_list),
    mark("whole numbers by names"): (PATTERNS, _is_pattern),
    mark("an object"): (OBJECTS, lambda value: isinstance(value, dict)),
    mark("a share from 0 to 1"): (SHARES, lambda value: type(value) in (int, float) and 0 <= value <= 1),  # type: ignore[operator]
    mark("a finite number"): (
        frozenset(("effective_rank",)),
        lambda value: type(value) is int or (type(value) is float and isfinite(value)),
    ),
    mark("a layer number, or a list of them"): (
        frozenset(("layers_to_transform",)),
        lambda value: type(value) is int or _are_numbers(value),
    ),
    mark("a list of token ids"): (frozenset(("cpt_token_ids", "token_indices")), _are_tokens),
    mark("pairs of layer numbers"): (frozenset(("layer_replication",)), _are_pairs),
    mark("a whole number from -1 up"): (frozenset(("decompose_factor",)), lambda value: value == -1 or _is_whole(value)),
}
"""What to say is expected: the fields of that kind, and whether a value is of it."""
