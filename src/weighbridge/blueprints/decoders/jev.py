"""JEV: a language model of any type that picks one of a question's options by a linear head.

Source: autotrust/JEV-9B (2026); names as in transformers 5.23.0, models/jev/modeling_jev.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    model_config("text", "text_config", "qwen3_5_text llama gemma2"),
    HIDDEN.with_default(4096),
    size("options", "num_verbalizers", 24, "O", "labels that are scored"),
)


def jev(c: Config) -> Part:
    """Describe JevForDecision."""
    head = linear("proj", c.hidden, c.options, stream="one")
    return part("", as_child("model", submodel(c.text)), head, kind="model")


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read what older checkpoints state in files of their own beside the model's config.

    >>> normalize_config({"decision_config": {"codes": ["A", "B"]}, "text_config": {"hidden_size": 64}})
    {'text_config': {'hidden_size': 64}, 'num_verbalizers': 2, 'hidden_size': 64}
    """
    text = raw.get("text_config")
    inner = text.get("text_config", text) if isinstance(text, Mapping) else {}
    codes, judge = (raw.get("decision_config") or {}).get("codes"), raw.get("judge_config")
    if not codes and not judge:
        return dict(raw)
    rest = {key: value for key, value in raw.items() if key not in ("decision_config", "judge_config", "calibration")}
    labels = len(codes) if codes else judge["slots"]["num_slots"]  # type: ignore[index]
    return rest | {"num_verbalizers": labels, "hidden_size": inner["hidden_size"]}


FAMILIES = {
    "jev": Family(
        "jev", FIELDS, {"JevForDecision": jev}, "JevForDecision", frozenset(("offsets", "softcap")), normalize_config=normalize_config
    )
}
