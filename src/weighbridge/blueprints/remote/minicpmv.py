"""MiniCPM-V 2.5 to 4.5: SigLIP's tower, a resampler of learned queries, and Llama, Qwen2 or Qwen3 behind it; its code stands beside its files.

Source: arXiv 2408.01800; modeling_minicpmv.py and resampler.py of openbmb/MiniCPM-V-2_6; which language model a version has by
vLLM's minicpmv.py. Held to published totals, not to a live class. MiniCPM-V 4.6 and 4.7 are the library's.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, layer_norm, linear, part, replace
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

SLICES = unknown("how many slices and patches an image is cut into depends on its sides")
TEXT_OF_VERSION = {"2.5": "llama", "2.6": "qwen2", "4.0": "llama", "4": "llama", "4.5": "qwen3"}
SIGLIP = {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16, "image_size": 980, "patch_size": 14}
"""The tower where a config says nothing of it."""
OUTER = frozenset(
    """vision_config slice_config slice_mode query_num drop_vision_last_layer image_size batch_vision_input use_image_id version
    model_type architectures auto_map batch_3d_resampler""".split()
)


def resampler(c: Config) -> Part:
    """Describe attention of learned queries over the patches of a slice: heads of 128, and a map of what they find."""
    E = c.text.hidden
    attention = part(
        "attn",
        Tensor("in_proj_weight", (3 * E, E), "weight"),
        Tensor("in_proj_bias", (3 * E,), "bias"),
        linear("out_proj", E, E),
        attend(heads=E // 128, head_dim=128),
        kind="cross_attention",
    )
    return part(
        "resampler",
        Tensor("query", (c.queries, E), "embedding"),
        Tensor("proj", (E, E), "weight"),
        linear("kv_proj", c.vision.hidden, E, bias=False),
        attention,
        *(layer_norm(name, E) for name in ("ln_q", "ln_kv", "ln_post")),
        kind="projector",
        stream=SLICES,
        requires="images",
        executions="images",
    )


def minicpmv(c: Config) -> Part:
    """Describe MiniCPMV: language model with its head, tower, resampler."""
    tower = replace(submodel(c.vision), stream=SLICES)
    return part(
        "",
        as_child("llm", submodel(c.text, *CAUSAL)),
        as_child("vpm", tower, requires="images", executions="images"),
        resampler(c),
        kind="model",
    )


def version_of(raw: Mapping[str, Any]) -> str:
    """Return the version whose code is meant: the first two configs say none, and 2.0 is told by its sizes.

    >>> version_of({"version": 2.6}), version_of({"hidden_size": 4096})
    ('2.6', '2.5')
    """
    stated = raw.get("version")
    if stated is not None:
        return str(stated)
    return "2.0" if raw.get("hidden_size") == 2304 and raw.get("query_num") == 64 else "2.5"


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Move the text's keys, which stand beside the others, into a config of their own; a last layer that is dropped is not counted.

    >>> found = normalize_config({"version": 2.6, "hidden_size": 8, "vision_config": {}})
    >>> found["text_config"], found["vision_config"]
    ({'hidden_size': 8, 'model_type': 'qwen2'}, {'num_hidden_layers': 26, 'vision_use_head': False})
    """
    version = version_of(raw)
    kind = TEXT_OF_VERSION.get(version)
    if kind is None:
        known = ", ".join(TEXT_OF_VERSION)
        raise ConfigError(
            Text("version {version} is not described, only {known}", version=version, known=known), key="version", value=version
        )
    return with_halves(raw, kind)


def with_halves(raw: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Give the text, of this type, and the tower configs of their own."""
    text = raw.get("text_config")
    text = {key: value for key, value in raw.items() if key not in OUTER} if text is None else text
    stated = raw.get("vision_config")
    vision = {"num_hidden_layers": 27, **(stated if isinstance(stated, Mapping) else SIGLIP), "vision_use_head": False}
    if raw.get("drop_vision_last_layer", True) and type(vision["num_hidden_layers"]) is int:
        vision["num_hidden_layers"] -= 1
    # Keys of the text beside a config of its own are not read, and stay to be refused.
    outer = {key: value for key, value in raw.items() if key in OUTER or raw.get("text_config") is not None}
    return {**outer, "text_config": {**text, "model_type": kind}, "vision_config": vision}


FIELDS = (
    model_config("text", "text_config", "qwen2 llama qwen3"),
    model_config("vision", "vision_config", "siglip_vision_model", fixed=True),
    size("queries", "query_num", 64, "Q", "queries of the resampler"),
)
FAMILIES = {
    "minicpmv": Family(
        "minicpmv", FIELDS, {"MiniCPMV": minicpmv}, "MiniCPMV", OUTER - {"vision_config"}, normalize_config=normalize_config
    ),
}
