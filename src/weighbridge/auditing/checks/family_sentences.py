"""Sizes that a text gives the one family it names: wrong where no member has them, and all else that it says is some member's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.background import is_background
from weighbridge.auditing.checks.family_lists import is_closed
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.sentence_doubts import is_clean
from weighbridge.auditing.checks.sentence_subjects import Sentence, is_own_size, sections
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.claims import Sentence as Words
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_BLOCK
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_JUDGED = frozenset("layers heads kv_heads hidden mlp vocab experts active".split())
"""Sizes that nobody chooses anew for a model of such a name; a context one may."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes of running text in a text that names one closed family, and none of its members.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    family = None if scene.given else _only_family(scene)
    if family is None:
        return
    named = family._replace(name=family.names[0], kind=MODEL)
    mentions = {
        line: [m._replace(name=named.name, kind=MODEL) if m.names == family.names else m for m in found]
        for line, found in scene.mentions.items()
    }
    meant = scene._replace(mentions=mentions)
    said = [one for section in sections(meant, tabled) for one in section if one.name == named.name]
    kinds = {size.word for one in said for size in one.sizes if is_own_size(one.models, size)}
    odd = [(one, size) for one in said for size in one.others() if size.word in _JUDGED]
    for one in said:
        for size in one.sizes:
            if is_own_size(one.models, size):
                yield _claim(scene, one, size, size.value, "exact")
    if len(odd) == 1 and len(kinds - {odd[0][1].word}) >= AGREED_BLOCK:
        one, size = odd[0]
        right = _nearest(one.models, size)
        if right is not None and is_clean(meant, one, size, right, counted=False):
            yield _claim(scene, one, size, right, "wrong")


def _only_family(scene: Scene) -> Mention | None:
    """Return the one family that a text is about, where it names no model but in passing."""
    found = [m for line, mentions in scene.mentions.items() for m in mentions if not is_background(scene.lines[line].text, m.column)]
    families = {m.names: m for m in found}
    return found[0] if len(families) == 1 and found[0].kind == FAMILY and is_closed(found[0]) else None


def _nearest(models: Sequence[ModelValue], size: DescribedSize) -> int | None:
    """Return the members' size that a number is but for a slip, or else the nearest."""
    values = {value for model in models for value in values_of(model, size.word)}
    meant = [value for value in values if is_slip(str(size.value), str(value))]
    return meant[0] if len(meant) == 1 else min(values, key=lambda value: abs(value - size.value), default=None)


def _claim(scene: Scene, one: Sentence, size: DescribedSize, right: int, verdict: str) -> Claim:
    token = Token("num", "", one.line, size.start, size.end)
    listed = sorted({main_values(model).get(size.word, 0) for model in one.models} - {0})
    reason = because(mark("no model of this family has it; they have {values}"), values=Words(", ".join(map(str, listed))))
    facts: dict[str, object] = {"value": size.value, "expected": right, "difference": size.value - right}
    return claim(scene.lines, token, token, "configuration", verdict, reason=reason if verdict == "wrong" else (), **facts)
