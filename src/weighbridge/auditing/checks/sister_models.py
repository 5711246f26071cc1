"""The other models of a text, whose sizes a sentence without a name may be about."""

from __future__ import annotations

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


@once_for_each_scene
def sisters(scene: Scene) -> tuple[ModelValue, ...]:
    """Return the models that a text names anywhere, of which a sentence without a name may speak."""
    names = {name for mentions in scene.mentions.values() for m in mentions for name in m.names[:_MOST_SISTERS]}
    subjects = (of_mention(scene, Mention(0, name, 0, (name,), MODEL), firm=False) for name in sorted(names))
    return tuple(dict.fromkeys(model for one in subjects if one is not None for model in one.models))


_MOST_SISTERS = 12


@once_for_each_scene
def is_size_of_sister(scene: Scene, word: str, value: int) -> bool:
    """Tell whether a size is that of a model that the text names anywhere."""
    return any(value in values_of(model, word) for model in sisters(scene))
