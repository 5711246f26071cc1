"""Adapters that a text's code sets up, ``LoraConfig(r=16, target_modules=[...])``, and what they make trainable."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.accounts.adapters.source import adapters_of
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import WeighbridgeError
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

OPENS = pattern(r"\bLora[Cc]onfig\s*\(")
RANK = pattern(r"\br\s*[=:]\s*(\d{1,4})\b")
_TARGETS = pattern(r"\btarget_modules\s*[=:]\s*(?:\[([^\]]{1,600})\]|[\"']all-linear[\"'])")
_NAME = pattern(r"[\"']([\w.]{1,60})[\"']")
ELSE = pattern(r"modules_to_save|rank_pattern|use_dora|SEQ_CLS|TOKEN_CLS|layers_to_transform|exclude_modules|\bbias\s*=\s*[\"'](?!none)")
"""What makes more, or other, parameters trainable than rank and targets say."""
_LONGEST, _REACH = 24, 60
"""Lines of a config, and lines below it within which its outcome is printed."""


class ConfiguredAdapter(NamedTuple):
    """What an adapter makes trainable of a model, by the text's own config.

    Attributes:
        line, last: The indices of the config's lines.
        model: The model it is put on.
        name: How that is called.
        trainable: The parameters that are then trained.
    """

    line: int
    last: int
    model: ModelValue
    name: str
    trainable: int


def find_configs(scene: Scene) -> Iterator[ConfiguredAdapter]:
    """Yield the LoRA configs of a text whose rank, targets and base model are all said."""
    for index, line in enumerate(scene.lines):
        if "ora" not in line.text or not OPENS.search(line.text):
            continue
        last = last_line(scene, index)
        code = "\n".join(one.raw.partition("#")[0] for one in scene.lines[index : last + 1])
        config, mention = _config(code), _base_model(scene, index, last)
        if config is None or mention is None:
            continue
        model = preset_model(mention)
        trainable = _count_trainable(model, config) if model is not None else None
        if model is not None and trainable is not None:
            yield ConfiguredAdapter(index, last, model, mention, trainable)


def of_line(found: list[ConfiguredAdapter], line: int) -> ConfiguredAdapter | None:
    """Return the last config before a line, if its outcome may be printed there."""
    before = [one for one in found if one.line < line <= one.last + _REACH]
    return before[-1] if before else None


def last_line(scene: Scene, first: int) -> int:
    """Return the line on which the parentheses of a config close."""
    depth = 0
    for index in range(first, min(first + _LONGEST, len(scene.lines))):
        code = scene.lines[index].raw.partition("#")[0]
        start = code.find("onfig") if index == first else 0
        depth += code.count("(", max(0, start)) - code.count(")", max(0, start))
        if depth <= 0:
            return index
    return min(first + _LONGEST, len(scene.lines)) - 1


def _config(code: str) -> dict[str, Any] | None:
    rank, targets = RANK.search(code), _TARGETS.search(code)
    if rank is None or targets is None or ELSE.search(code):
        return None
    names = _NAME.findall(targets[1]) if targets[1] else "all-linear"
    return {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": int(rank[1]), "target_modules": names}


def _base_model(scene: Scene, first: int, last: int) -> str | None:
    """Return the one model that is named about a config: the nearest before it, if it is known for sure."""
    for index in [*range(last, max(-1, first - _REACH), -1)]:
        found = [m for m in scene.mentions.get(index, ()) if m.kind == MODEL]
        if found:
            return found[-1].name
    return scene.main.name if scene.main is not None and scene.main.config is None and scene.main.firm else None


def trainable_in(name: str, config: dict[str, Any]) -> int | None:
    """Return what a LoRA config makes trainable of a preset.

    >>> trainable_in("llama-2-7b", {"r": 8, "target_modules": ["q_proj", "v_proj"]})
    4194304
    """
    model = preset_model(name)
    return _count_trainable(model, {"peft_type": "LORA", "task_type": "CAUSAL_LM"} | config) if model is not None else None


def _count_trainable(model: ModelValue, config: dict[str, Any]) -> int | None:
    try:
        return int(adapters_of(model, config).trainable)
    except WeighbridgeError:
        return None
