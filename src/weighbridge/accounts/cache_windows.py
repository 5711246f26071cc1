"""Windows that the reference's cache reads out of a config, whatever the model: keys that limit what is kept and no tensor.

A ``DynamicCache`` is made from the text config alone (transformers 5.23.0, cache_utils.py, ``get_layer_types_and_kwargs``): where
``layer_types`` names no kinds, ``sliding_window`` limits every layer, and without it ``attention_chunk_size`` does. A family
that declares these keys decides itself what they mean; for all others this rule holds.
"""

from __future__ import annotations

from weighbridge.config.bind import find_sub_config
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.tree import Attend, Node, Part, State, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from weighbridge.config.fields import Field
    from weighbridge.value import ModelValue

TEXT_CONFIGS = ("decoder", "decoder_config", "generator", "text_config", "thinker_config", "language_config", "llm_config", "vlm_config")
"""Keys of the sub-config that a language model inside another one is made from."""

KINDS = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}
"""From a kind of layer to the key of its window."""


UNLIMITED = frozenset(
    (
        "axk2",
        "bamba",
        "deepseek_v32",
        "glm5_next",
        "glm5_next_text",
        "glm_moe_dsa",
        "hy_v4",
        "jamba",
        "mistral_large4",
        "mistral_large4_text",
        "reformer",
        "unlimited_ocr",
        "unlimited_ocr_text",
        "xlnet",
    )
)
"""Model types that these keys do not limit: their config names the kinds of its layers itself, or their cache is one of its own."""


UNNAMED = frozenset(("qwen3_moe",))
"""Model types whose config names no kinds of layers where it is not given any, though their blueprint reads them."""


WHOLE = frozenset(("minimax",))
"""Model types whose cache is made without their config: what no query sees any more is kept all the same."""


class Limit(NamedTuple):
    """A window, how many layers have it (None is all of them), and at which places of a list of all layers they stand, where there is one."""

    window: int
    layers: int | None
    places: frozenset[int] = frozenset()


def limit_of(model: ModelValue) -> Limit | None:
    """Return the window that the cache reads out of the config, if the family does not declare it.

    >>> from weighbridge import model
    >>> limit_of(model("llama-3.2-1b", overrides={"sliding_window": 512}))
    Limit(window=512, layers=None, places=frozenset())
    """
    assert model.description is not None
    family, outer, _ = model.description
    fields, raw = text_config(family.fields, outer)
    stated = raw.get("model_type")
    model_type = stated if isinstance(stated, str) else family.model_type
    if model_type in UNLIMITED:
        return None
    declared = {key for field in fields for key in (field.key, *field.aliases)}
    kinds = raw.get("layer_types")
    if "layer_types" in declared and (kinds is not None or model_type not in UNNAMED):
        return None
    if isinstance(kinds, (list, tuple)):
        # a decoder takes as many of the list as it has layers
        limited = {place: kind for place, kind in enumerate(kinds) if kind in KINDS}
        if not limited:
            return Limit(1, 0)
        window, count = raw.get(KINDS[next(iter(limited.values()))]), _causal_layers(model.tree)
        layers = sum(count is None or place < count for place in limited)
        return Limit(window, layers, frozenset(limited)) if type(window) is int else None
    for key in KINDS.values():
        window = raw.get(key)
        if key in declared and _has_window(model.tree):
            return None
        if key not in declared and type(window) is int:
            return Limit(window, None)
    return None


def _has_window(tree: Part) -> bool:
    nodes = (node for _, part in walk(tree) for node in part.children)
    return any(isinstance(node, Attend) and node.causal and node.window is not None and node.windowed != 0 for node in nodes)


def _causal_layers(part: Part, copies: int = 1) -> int | None:
    """Count the layers that keep their own tokens; None where that is no int."""
    often = part.repeat if part.executions is None else part.executions
    if often is not None and not isinstance(often, int):
        return None
    copies = copies if often is None else copies * often
    total = copies if any(_sees_itself(node) for node in part.children) else 0
    for node in part.children:
        if isinstance(node, Part):
            inner = _causal_layers(node, copies)
            if inner is None:
                return None
            total += inner
    return total


def _sees_itself(node: Node) -> bool:
    """Tell whether a node keeps the decoder's own tokens: causal attention does, and what stands for it where it is no matrix product."""
    return node.causal if isinstance(node, Attend) else isinstance(node, State) and node.per_token and node.tokens is None


def text_config(fields: Sequence[Field], raw: Mapping[str, Any]) -> tuple[Sequence[Field], Mapping[str, Any]]:
    """Return the fields and the raw values of the language model inside a config, which may be the config itself."""
    for field in fields:
        if field.kind == "nested" and field.key in TEXT_CONFIGS:
            inner = find_sub_config(field, raw)
            if inner is not None:
                return text_config(inner.fields, inner.raw)
    return fields, raw
