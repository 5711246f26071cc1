"""Whether the setting of a model is its own, and what is said where it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks import wrong_counts
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import KEYS, may_be_otherwise
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.checks.topics import is_composite
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import write_like
from weighbridge.auditing.text.settings import COUNTS, Setting
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class HeldSetting(NamedTuple):
    """A setting held against the model it is of: whether it is that model's, and whether code sets it far from the model's name."""

    line: int
    setting: Setting
    token: Token
    own: bool
    loose: bool


def possible_sizes(model: ModelValue, kind: str) -> frozenset[int]:
    """Return all that a key may set in a model.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> sorted(possible_sizes(preset_model("deepseek-v3"), "kv_lora"))
    [512]
    """
    if model.description is None:
        return frozenset()
    word = KEYS.get(kind, kind)
    if word in _OF_LATENT:
        value = getattr(model.description.sizes, word, None)
        return frozenset((value,)) if type(value) is int else frozenset()
    return values_of(model, word)


_OF_LATENT = {
    "q_lora": mark("rank of the queries' compression"),
    "kv_lora": mark("rank of the keys' and values' compression"),
    "plain_dim": mark("size of a head's part without rotation"),
    "rope_dim": mark("size of a head's rotated part"),
    "value_dim": mark("size of a head's values"),
    "expert_mlp": mark("intermediate size of an expert"),
    "window": mark("sliding window"),
}
"""Sizes that only some models have, and what they are called."""


def confirm(scene: Scene, held: HeldSetting, subject: Subject) -> Iterator[Claim]:
    """Make the claim of a setting that is its model's."""
    if held.setting.kind in COUNTS:
        found = settle(held.token, subject.models, held.setting.kind)
        if found is not None:
            yield wrong_counts.total_claim(scene, held.token, found.verdict, found.expected, found.reason)
        return
    number = int(held.token.value or 0)
    yield claim(scene.lines, held.token, held.token, "configuration", "exact", value=number, expected=number, difference=0)


def alarm(scene: Scene, held: HeldSetting, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    """Say that a setting is wrong, unless another reading is left: a model of several, another size called alike, a choice."""
    kind, model = held.setting.kind, subject.models[0]
    if any(map(is_composite, subject.models)):
        return
    if kind in COUNTS:
        yield from wrong_counts.report_wrong_count(
            scene, held.token, subject, kind, sure=sure or _is_mistyped_count(held.token, model, kind)
        )
        return
    word, number = KEYS.get(kind, kind), int(held.token.value or 0)
    values = possible_sizes(model, kind)
    right = main_values(model).get(word) or (min(values) if len(values) == 1 else None)
    if right is None or number <= 0 or _is_called_alike(subject.models, word, number):
        return
    slip = is_slip(str(number), str(right))
    if (held.loose and not slip) or may_be_otherwise(model, kind, number, right) or (kind == "window" and not slip):
        return
    reason = because(mark("should be {right}"), right=right) + because(
        mark("{what} of {name}"), what=Sentence(_OF_LATENT.get(word) or SIZE_TITLES[word]), name=subject.name
    )
    facts: dict[str, object] = {"value": number, "expected": right, "difference": number - right, "reason": reason}
    yield claim(scene.lines, held.token, held.token, "configuration", "wrong", **facts)


def _is_mistyped_count(token: Token, model: ModelValue, kind: str) -> bool:
    """Tell whether a rounded count is the model's but for one digit: ``26.6M`` of 86.6 million."""
    right = own_count(model, kind)
    written = write_like(token, Fraction(right)) if right is not None and token.unit else ""
    return is_slip(*(re.sub(r"\D", "", one) for one in (token.text, str(written))))


_ALIKE = (("heads", "kv_heads"), ("experts", "active", "shared"), ("hidden", "mlp", "head_dim"), ("layers", "moe_layers", "dense_layers"))


def _is_called_alike(models: Sequence[ModelValue], word: str, number: int) -> bool:
    """Tell whether a number is a size of its models that is called alike."""
    words = {other for group in _ALIKE if word in group for other in group}
    return any(number in values_of(model, other) for model in models for other in words)
