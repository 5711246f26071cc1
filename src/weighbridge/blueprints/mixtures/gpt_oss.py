"""gpt-oss: "gpt-oss-120b & gpt-oss-20b Model Card" (OpenAI, 2025); and the privacy filter with the same structure.

Source: arXiv 2508.10925; class and tensor names as in transformers 5.23.0, models/gpt_oss/modeling_gpt_oss.py. The published
files hold the experts in four bits, as blocks and scales.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.sliding_window import all_but_every, window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, LABELS, Config, size, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import embedding, linear, part, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def gpt_oss(c: Config) -> tuple[Node, ...]:
    """Describe Llama with attention sinks, and experts that have biases."""
    H = c.hidden
    sinks = Tensor("sinks", (c.heads,), "bias")
    layer = part(
        "layers",
        attention(c, before=(sinks,)),
        part("mlp", linear("router", H, c.experts), experts(c), kind="mixture"),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def experts(c: Config) -> Part:
    """Describe the experts in four tensors, matrices as ``[inputs, outputs]``."""
    E, H, I = c.experts, c.hidden, c.mlp
    return part(
        "experts",
        Tensor("gate_up_proj", (E, H, 2 * I), inputs_first=True),
        Tensor("gate_up_proj_bias", (E, 2 * I), "bias"),
        Tensor("down_proj", (E, I, H), inputs_first=True),
        Tensor("down_proj_bias", (E, H), "bias"),
        kind="experts",
        experts=E,
        active=c.active,
    )


FIELDS_OF_OSS = variant(
    FIELDS,
    size("experts", "num_local_experts", 128, "E", "experts", "num_experts"),
    ACTIVE_EXPERTS.with_default(4),
    NO_MLP_BIAS,
    vocab=201088,
    hidden=2880,
    mlp=2880,
    layers=36,
    heads=64,
    kv_heads=8,
    head_dim=64,
    qkv_bias=True,
    out_bias=True,
    window=window(default=128),
    windowed=all_but_every(2),
)

MORE_IGNORED_KEYS = IGNORED_KEYS | {"experts_per_token", "initial_context_length", "swiglu_alpha", "swiglu_limit"}
FILTER = variant(
    FIELDS_OF_OSS,
    vocab=200064,
    hidden=640,
    mlp=640,
    layers=8,
    heads=14,
    kv_heads=2,
    labels=LABELS.with_default(33),
    windowed=windowed_layers(lambda c: int(c.layers)),
)


def names_before_number(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the number of labels where these have names: the class reads it only where there are none.

    >>> names_before_number({"id2label": {"0": "person"}, "num_labels": 5})
    {'id2label': {'0': 'person'}}
    """
    return {key: value for key, value in raw.items() if key != "num_labels" or raw.get("id2label") is None}


FILTERS = with_heads("OpenAIPrivacyFilter", gpt_oss, "token")
FAMILIES = {
    "openai_privacy_filter": Family(
        "openai_privacy_filter", FILTER, FILTERS, "OpenAIPrivacyFilterModel", MORE_IGNORED_KEYS, normalize_config=names_before_number
    ),
    "gpt_oss": Family("gpt_oss", FIELDS_OF_OSS, with_heads("GptOss", gpt_oss, "lm sequence token"), "GptOssModel", MORE_IGNORED_KEYS),
}
