"""Sizes and counts that Chinese sentences give to the models they name, where each clause was read word for word: ``A 有 12 层，而 B 为 24 层``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.clause_values import FIELDS, is_free, is_own, main_value, own_values, values_said
from weighbridge.auditing.checks.count_doubts import is_hedged
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import only_model
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.chinese_clauses import Said, sizes_of_clauses
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL

_OTHER_CELLS = pattern(r"\|(?:(?![^|:：]{0,40}[:：]\s?\d)[^|]*(?=\||$))?")
"""The cells of a row that do not begin with a name, a colon and a number."""
_CHINESE = pattern(r"[\u4e00-\u9fff]")
_BARE = pattern(r"(?:v?\d+(?:\.\d+)?[bm]?|base|large|small|medium|tiny|mini|huge|xl|xxl|big)", re.IGNORECASE)
"""A name that is a size alone: whose it is, the words around tell."""
_WIDTHS = ("hidden", "mlp", "head_dim", "width")
_COUNTS = {"total": "total", "active_total": "active"}
_LIKELY = 10
"""How many times a size may be another one before it is taken to be something else altogether."""


class _Held(NamedTuple):
    """A size beside what its model has: whether it is that, and what is right."""

    said: Said
    name: str
    own: bool
    right: int | None
    claims: tuple[Claim, ...]
    near: bool = False


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold the sizes of clauses that were read word for word against the models that they name.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    topic = _only_mention(scene)
    first = min(scene.mentions, default=0)
    for index in scene.counted_lines:
        text = scene.lines[index].text
        mentions = scene.mentions.get(index) or (topic if index > first else [])
        if index in tabled or len(text) > LONGEST or not mentions or not _CHINESE.search(text):
            continue
        if "|" in text and mentions is not topic:
            text = _OTHER_CELLS.sub(lambda cell: " " * len(cell[0]), text)  # ``| 专家数 | A: 256 专家; B: 8 专家 |``
            mentions = [mention for mention in mentions if text[mention.column : mention.end].strip()]
        if "|" in text or not mentions:
            continue
        found = sizes_of_clauses(text, [(m.column, m.end) for m in mentions], topic=mentions is topic)
        if mentions is topic:
            found = [said for said in found if said.word not in _COUNTS]
        held = [one for said in found if (one := _hold(scene, index, said, mentions)) is not None]
        if held:
            yield from _verdicts(scene, index, held, mentions)


@once_for_each_scene
def _only_mention(scene: Scene) -> Sequence[Mention]:
    """Return the one model that a text is about, as if each of its lines named it."""
    name = only_model(scene)
    found = (m for mentions in scene.mentions.values() for m in mentions if m.kind == MODEL and m.name == name)
    return [mention._replace(column=0, end=0) for mention in found][:1] if name is not None else []


def _verdicts(scene: Scene, index: int, held: Sequence[_Held], mentions: Sequence[Mention]) -> Iterator[Claim]:
    """Confirm what is right, and report what is wrong where enough of the line is right, or a plain sentence says nothing else."""
    right, wrong = Counter(one.name for one in held if one.own), Counter(one.name for one in held if not one.own)
    doubtful = SUPPOSED.search(scene.lines[index].text) is not None or is_of_their_own(scene, index)
    for one in held:
        if one.own or (not doubtful and one.claims and _is_settled(scene.lines[index].text, one, mentions, right, wrong)):
            yield from one.claims


def _is_settled(text: str, one: _Held, mentions: Sequence[Mention], right: Counter[str], wrong: Counter[str]) -> bool:
    """Tell whether the rest of a line settles that a size which is not its model's is said of that model."""
    if right[one.name] >= wrong[one.name]:
        return True
    if wrong.total() == 1 and right.total() >= _SISTERS:
        return True
    mention = mentions[one.said.names[0]]
    if mention.column == mention.end and one.said.word in _OF_LAYERS and wrong[one.name] == 1:
        start = max((found.end() for found in _ENDS.finditer(text, 0, one.said.start)), default=0)
        token = text[one.said.start : one.said.end]
        stop = found.start() if (found := _ENDS.search(text, one.said.end)) is not None else len(text)
        if _OPENS.fullmatch(text, start, one.said.start) is None or _COUNTED_IN.search(text, one.said.end, stop):
            return False
        return one.right is not None and is_slip(token, str(one.right))
    bare = _BARE.fullmatch(text, mention.column, mention.end) is not None
    if one.said.word in _COUNTS and not one.said.sure:
        return not bare and wrong[one.name] == 1 and one.near
    tied = _TIED.fullmatch(text, mention.end, one.said.start) or _OF_NAME.fullmatch(text, one.said.end, mention.column)
    return one.said.sure and not bare and wrong[one.name] == 1 and tied is not None


_ENDS = pattern("[。;；!?！？]")
_OPENS = pattern(
    r"[-*+•·>\s]*(?:(?:其|它|该|这个|整个)?(?:模型|网络|架构|结构)?(?:整体|总体)?上?)?(?:一共|总共|合计|一般|重复)?\s?(?:由|共有|一共|总共|共计?|含|包含了?|堆叠了?|使用了?|采用了?|有)\s?"
)
"""What stands before the layers of the only model of a text, in a sentence that says nothing else before: ``整个模型由 32 层 Decoder 组成``."""
_COUNTED_IN = pattern(r"嵌入|embed|[含加]|包括|输入|输出|pool|hidden_?states|其中|[（(]", re.IGNORECASE)
"""Behind such a number, what may be counted with the layers: ``共 13 层，包括嵌入层``."""
_OF_LAYERS = frozenset(("layers", "heads"))
_SISTERS = 2
"""Sizes of other models that are right beside one that is not."""
_TIED = pattern(
    r"(?=.*(?:有|为|是|的|由|共|堆叠|组成|采用|使用|包含|[:：]))(?:模型)?[^()（）、]{1,16}",
)
"""What stands between a full name and the only size that is said of it."""
_OF_NAME = pattern(r"\s?个\s?")
"""And between a number and the name of the model of whose layers there are so many."""


def _hold(scene: Scene, index: int, said: Said, mentions: Sequence[Mention]) -> _Held | None:
    subjects = []
    for place in said.names:
        mention = mentions[place]
        subject = of_mention(scene, mention, firm=True) if mention.kind in (MODEL, FAMILY) else None
        if subject is None or not subject.models or any(model.description is None for model in subject.models):
            return None
        subjects.append((mention, subject))
    token = _token(scene, index, said)
    if not subjects or token is None or token.value is None:
        return None
    results = [_hold_one(scene, token, said, mention, subject) for mention, subject in subjects]
    known = [one for one in results if one is not None]
    if len(known) < len(results) or len({one.own for one in known}) > 1:
        return None
    return known[0]


def _token(scene: Scene, index: int, said: Said) -> Token | None:
    """Return the number of a size as the checks of counts read it."""
    text = scene.lines[index].text
    read = next((token for token in tokens(text, index) if token.kind == "num" and token.start == said.start), None)
    if read is None and text[said.start : said.end].isdecimal():
        return Token("num", text[said.start : said.end], index, said.start, said.end, Exact(text[said.start : said.end]))  # ``top-8``
    return read


def _hold_one(scene: Scene, token: Token, said: Said, mention: Mention, subject: Subject) -> _Held | None:
    name = mention.name or "/".join(mention.names)
    if said.word in _COUNTS:
        return _hold_count(scene, token, said, name, subject)
    values = [value for value in values_said(token) if value.denominator == 1]
    own = {value for model in subject.models for value in own_values(model, said.word)}
    if not own or not values:
        return None
    if any(is_own(said.word, int(value), own, token) for value in values):
        value = next(int(value) for value in values if is_own(said.word, int(value), own, token))
        return _Held(said, name, True, value, (_claim(scene, token, said.word, value, value, "exact"),))
    if mention.kind != MODEL or token.unit:
        return None
    value = int(values[0])
    if said.word == "hidden" and any(value in values_of(model, word) for model in subject.models for word in _WIDTHS):
        return None
    main = main_value(subject.models[0], said.word)
    if main is None or not main <= value * _LIKELY <= main * _LIKELY**2 or is_free(said.word, value, own):
        return None
    return _Held(said, name, False, main, (_claim(scene, token, said.word, value, main, "wrong"),))


def _hold_count(scene: Scene, token: Token, said: Said, name: str, subject: Subject) -> _Held | None:
    """Hold a count of parameters against its model's."""
    what = _COUNTS[said.word]
    hedged = is_hedged(scene.lines[token.line].text[: token.start])
    found = settle(token, subject.models, what, hedged=hedged, whole=True)
    if found is not None:
        claims = (total_claim(scene, token, found.verdict, found.expected, found.reason),)
        return _Held(said, name, True, None, claims)
    other = "active" if what == "total" else "total"
    if own_count(subject.models[0], other) != own_count(subject.models[0], what) and settle(token, subject.models, other, whole=True):
        return None
    if is_near(token, subject.models, what):
        return None
    near = tuple(report_wrong_count(scene, token, subject, what))
    return _Held(said, name, False, None, near or tuple(report_wrong_count(scene, token, subject, what, sure=bool(token.unit))), bool(near))


def _claim(scene: Scene, token: Token, word: str, value: int, right: int, verdict: str) -> Claim:
    return field_claim(scene, token, FIELDS.get(word, word), value, right, verdict)
