"""Sizes that a text gives the one family, or the sisters, that it names: wrong where no member has them, and all else that it says is some member's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.background import is_background
from weighbridge.auditing.checks.brought_in import is_brought_in
from weighbridge.auditing.checks.family_lists import is_closed
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.sentence_doubts import is_clean
from weighbridge.auditing.checks.sentence_subjects import WIDTHS, Sentence, is_own_size, sections, unnamed_sentences
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.claims import Sentence as Words
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_BLOCK
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY, MODEL, table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_JUDGED = frozenset("layers heads kv_heads hidden mlp vocab experts active".split())
"""Sizes that nobody chooses anew for a model of such a name; a context one may."""


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes of running text in a text that names one closed family, and none of its members.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What is judged so far: sizes that are right are evidence.
    """
    right = {str(one.expected) for one in claims if one.kind == "configuration" and one.verdict == "exact"}
    family = None if scene.given else _only_family(scene)
    if family is not None:
        named = family._replace(name=family.names[0], kind=MODEL)
        mentions = {
            line: [m._replace(name=named.name, kind=MODEL) if m.names == family.names else m for m in found]
            for line, found in scene.mentions.items()
        }
        meant = scene._replace(mentions=mentions)
        yield from _judge(scene, meant, [one for section in sections(meant, tabled) for one in section if one.name == named.name], set())
    elif sisters := _sisters(scene):
        yield from _judge(scene, scene, list(unnamed_sentences(scene, tabled, sisters)), right)


def _judge(scene: Scene, meant: Scene, said: Sequence[Sentence], right: set[str]) -> Iterator[Claim]:
    """Judge the sizes that sentences give a family, or any of the sisters that a text names.

    Args:
        right: Sizes that the text says right elsewhere.
    """
    kinds = {size.word for one in said for size in one.sizes if is_own_size(one.models, size)}
    odd = [(one, size) for one in said for size in one.others() if size.word in _JUDGED]
    for one in said:
        for size in one.sizes:
            if is_own_size(one.models, size):
                yield _claim(scene, one, size, (size.word, size.value), "exact")
    if len(odd) == 1 and len(kinds - {odd[0][1].word}) + len(right) >= AGREED_BLOCK:
        one, size = odd[0]
        own = _nearest(one.models, size)
        passed = scene.lines[one.line].text[: size.first].rstrip()[-1:] == "="  # ``summary(model, depth=99)``
        if own is not None and not passed and is_clean(meant, one, size, own[1], counted=False):
            yield _claim(scene, one, size, own, "wrong")


def _sisters(scene: Scene) -> tuple[ModelValue, ...]:
    """Return the several models of one family that a text is about, if it names no other: what it says of none of them it says of all."""
    found = [m for line, mentions in scene.mentions.items() for m in mentions if not is_brought_in(scene.lines[line].text, m)]
    names = {m.name for m in found if m.kind == MODEL}
    if not _FEW <= len(names) <= _MOST or any(m.kind not in (MODEL, FAMILY) for m in found):
        return ()
    if not any(meaning.kind == FAMILY and names <= set(meaning.names) for meaning in table().values()):
        return ()
    meant = dict.fromkeys(name for m in found if m.kind == MODEL for name in (m.names if len(m.names) <= _MOST else (m.name,)))
    models = (preset_model(str(name)) for name in meant)
    return tuple(model for model in models if model is not None and model.description is not None)


_FEW, _MOST = 2, 4
"""Sisters that are several, and few enough for a size to be none of theirs by a slip."""


def _only_family(scene: Scene) -> Mention | None:
    """Return the one family that a text is about, where it names no model but in passing."""
    found = [m for line, mentions in scene.mentions.items() for m in mentions if not is_background(scene.lines[line].text, m.column)]
    families = {m.names: m for m in found}
    return found[0] if len(families) == 1 and found[0].kind == FAMILY and is_closed(found[0]) else None


def _nearest(models: Sequence[ModelValue], size: DescribedSize) -> tuple[str, int] | None:
    """Return the members' size that a number is but for a slip, with what it is, or else the nearest of that name."""
    words = WIDTHS if size.word in WIDTHS else (size.word,)
    meant = {
        (word, value) for model in models for word in words for value in values_of(model, word) if is_slip(str(size.value), str(value))
    }
    if len({value for _, value in meant}) == 1:
        return min(meant)
    values = {value for model in models for value in values_of(model, size.word)}
    nearest = min(values, key=lambda value: abs(value - size.value), default=None)
    return (size.word, nearest) if nearest is not None and not (meant or size.word in WIDTHS) else None


def _claim(scene: Scene, one: Sentence, size: DescribedSize, right: tuple[str, int], verdict: str) -> Claim:
    token = Token("num", "", one.line, size.start, size.end)
    word, value = right
    listed = sorted({number for model in one.models for number in values_of(model, word)})
    reason = because(mark("no model of this family has it; they have {values}"), values=Words(", ".join(map(str, listed))))
    facts: dict[str, object] = {"value": size.value, "expected": value, "difference": size.value - value}
    return claim(scene.lines, token, token, "configuration", verdict, reason=reason if verdict == "wrong" else (), **facts)
