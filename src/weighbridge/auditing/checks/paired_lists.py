"""Lists that pair up: ``A and B have 12 and 24 layers, respectively``, ``A、B 的隐藏维度分别为 768 和 1024``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks import wrong_counts
from weighbridge.auditing.checks.column_kinds import SIZE_COLUMNS, kind_of
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.names import SIZE_WORDS, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import KEYS, size_claims
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL, member

_PAIRED = pattern(r"\brespectively\b|\bin that order\b|分别|依次", re.IGNORECASE)
_SLASHED = pattern(r"(?<![\w./-])\d{1,6}(?:\s?/\s?\d{1,6}){1,9}(?![\w./])")
_SLASHED_NAMES = pattern(r"(?:[A-Za-z][\w.-]*|\d[\d.]*[BM])(?:\s?/\s?[A-Za-z\d][\w. -]*){1,9}")
"""Figures, and names or sizes, that a slash pairs up without a word for it: ``7B/13B/70B 的层数为 32/40/80``."""
_SENTENCE = pattern(r"[。;；!?！？|]|\.(?![\dA-Za-z])")
_LONGEST = 1000
_UNIT = r"(?:\s?(?:[KMBT]\b|million|billion|trillion|万亿|亿|万|百万|十亿))?"
_FIGURE = rf"[~≈约]?\d[\d,]*(?:\.\d+)?{_UNIT}(?:\s?(?:layers?|heads?|个?参数|层|个头|维|个)(?![\w-]))?"
_AND = r"(?:\s?(?:,|，|、|/|;)\s?(?:and |or |和 ?|与 ?|及 ?)?|\s?(?:and|or|&|和|与|及|以及)\s?)"
_LIST = pattern(rf"(?<![\w.,\-]){_FIGURE}(?:{_AND}{_FIGURE})+(?![\d-])", re.IGNORECASE)
_ITEM = pattern(rf"[~≈约]?(\d[\d,]*(?:\.\d+)?{_UNIT})", re.IGNORECASE)
_BEHIND = pattern(
    r"\s?(?:个|名|维的?)? ?(?:(?:transformer|attention|decoder|encoder|hidden|model|total|key[- ]value|kv|query|注意力|隐藏|总的?|self-attention) ?){0,2}[-\w ]{0,12}?(?P<word>layers?|blocks|heads|param\w*|experts|层|个头|头|参数|dimensions|hidden units)",
    re.IGNORECASE,
)
_LABEL = pattern(
    r"([A-Za-z_#\- /]{1,40}|[\u4e00-\u9fffA-Za-z_ ]{1,16})\s?(?:of|are|is|分别(?:为|是|有)|依次(?:为|是)|为|是|:|：|=)\s?(?:about |roughly |approximately |约)?$"
)
_OTHERWISE = pattern(
    r"\b(?:our|ours|my|custom|scratch|reduc\w*|prun\w*|modif\w*|first|last|top|bottom|freez\w*|frozen|more|fewer|less|extra|remov\w*|student|teacher|trainable|lora|adapter\w*|"
    r"trillion tokens|[BT] tokens|score\w*|accuracy|without|exclud\w*|embedding|not|faster|gpus?)\b|我们|自己|冻结|裁剪|可训练|不含|去掉|准确|得分|提升|减少",
    re.IGNORECASE,
)


class _Paired(NamedTuple):
    """A list of figures of one kind, each with its model."""

    kind: str
    pairs: tuple[tuple[Token, Subject], ...]


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the figures of sentences that say of which model each of them is by their order."""
    for line, named in scene.mentions.items():
        text = scene.lines[line].text
        if line in tabled or len(text) > _LONGEST or not (_PAIRED.search(text) or _SLASHED.search(text)):
            continue
        start = 0
        for end in [*(match.start() for match in _SENTENCE.finditer(text)), len(text)]:
            paired = _PAIRED.search(text, start, end) or (_SLASHED.search(text, start, end) and _SLASHED_NAMES.search(text, start, end))
            if paired and not _OTHERWISE.search(text, start, end):
                yield from _of_sentence(scene, line, [m for m in named if start <= m.column < end], start, end)
            start = end


def _of_sentence(scene: Scene, line: int, named: Sequence[Mention], start: int, end: int) -> Iterator[Claim]:
    subjects = _subjects(scene, line, named, start, end)
    if len(subjects) < 2:
        return
    paired = list(_lists(scene, line, subjects, start, end))
    agreed = sum(_is_own(token, one.kind, subject) for one in paired for token, subject in one.pairs)
    told = sum(len(one.pairs) for one in paired)
    sure = agreed * 2 >= told and agreed > 0
    for one in paired:
        for token, subject in one.pairs:
            if one.kind in SIZE_COLUMNS:
                if not token.unit and not token.places:  # ``7B 和 13B`` are no numbers of layers
                    yield from size_claims(scene, token, one.kind, int(token.value or 0), subject, sure=sure, plain=sure)
            else:
                found = settle(token, subject.models, one.kind)
                if found is not None:
                    yield wrong_counts.total_claim(scene, token, found.verdict, found.expected, found.reason)
                elif subject.firm and sure:
                    yield from wrong_counts.report_wrong_count(scene, token, subject, one.kind, sure=True)


def _subjects(scene: Scene, line: int, named: Sequence[Mention], start: int, end: int) -> list[Subject]:
    """Return the models of a list of names, or of the sizes of one family: ``Llama 2 7B, 13B and 70B``."""
    text = scene.lines[line].text
    names = [m for m in named if m.kind == MODEL]
    families = {family_of(text[m.column : m.end]) for m in named if m.kind in (MODEL, FAMILY)}
    if any(m.kind not in (MODEL, FAMILY) for m in named):
        return []
    if _OTHER_SIZES.search(text, start, end) and len({m.name for m in names}) < max(2, len(names)):
        return []
    if len(names) > 1 and len(names) == len(named):
        return [subject for m in names if (subject := of_mention(scene, m, firm=True)) is not None]
    if len(families) != 1 or not named:
        return []
    found: list[Subject] = []
    sizes = list(SIZE_WORDS.finditer(text, start, end))
    if len(names) == 1 and sizes and names[0].end <= sizes[0].start() and (first := of_mention(scene, names[0], firm=True)) is not None:
        found.append(first)  # ``Llama-2-7B/13B/70B``
    for match in sizes:
        meaning = member(families, match[1])
        inside = next((m for m in names if m.column <= match.start() < m.end), None)
        if meaning is not None or inside is not None:
            mention = inside or Mention(0, meaning.names[0], 0, meaning.names, MODEL)  # type: ignore[union-attr]
            subject = of_mention(scene, mention, firm=True)
            if subject is not None and all(subject.name != other.name for other in found):
                found.append(subject)
    return found


_OTHER_SIZES = pattern(r"(?<![A-Za-z])(?:tiny|mini|nano|micro|xsmall)(?![A-Za-z])", re.IGNORECASE)
"""Sizes that not every family has: the figures of a list with them are of more models than are known."""


def _lists(scene: Scene, line: int, subjects: Sequence[Subject], start: int, end: int) -> Iterator[_Paired]:
    """Yield the lists of as many figures as there are models; two lists may run into each other."""
    text, many = scene.lines[line].text, len(subjects)
    for match in _LIST.finditer(text, start, end):
        items = list(_ITEM.finditer(text, *match.span()))
        if len(items) not in (many, 2 * many) or any(m.column <= match.start() < m.end for m in scene.mentions[line]):
            continue
        groups = [items[place : place + many] for place in range(0, len(items), many)]
        for group in groups:
            before = text[start : match.start()] if group is groups[0] else ""
            after = text[group[0].start() : min(end, match.end() + 40)] if group is groups[-1] else ""
            kind = _kind(before, after, group[-1].end() - group[0].start(), group[0][1])
            found = [(tokens(item[1], line), item.start(1)) for item in group]
            if kind in (*SIZE_COLUMNS, *_COUNTS) and all(
                pieces and pieces[0].kind == "num" and pieces[0].value is not None for pieces, _ in found
            ):
                shifted = [pieces[0]._replace(start=pieces[0].start + place, end=pieces[0].end + place) for pieces, place in found]
                yield _Paired(kind, tuple(zip(shifted, subjects, strict=True)))


def _kind(before: str, after: str, length: int, first: str) -> str:
    """Return what a list of figures counts, by the words behind it, within it, or before it."""
    behind = _BEHIND.match(after, length) or _BEHIND.search(after, 0, length)
    if behind is not None:
        return kind_of(behind[0].strip()) or kind_of(behind["word"]) or _KINDS.get(behind["word"], "")
    label = _LABEL.search(before)
    words = re.split(r"\b(?:have|has|with|and|the|use|uses)\b|的|和|与", label[1])[-1].strip() if label else ""
    kind = kind_of(words) if words else ""
    return kind or ("total" if re.search(r"[MBT亿]|illion", first) and re.search(r"param|参数", before) else "")


_COUNTS = ("total", "active", "non_embedding")
_KINDS = {"层": "layers", "头": "heads", "个头": "heads"}


def _is_own(token: Token, kind: str, subject: Subject) -> bool:
    if kind in SIZE_COLUMNS:
        return any(int(token.value or 0) in field_values(model).get(KEYS.get(kind, kind), ()) for model in subject.models)
    return settle(token, subject.models, kind) is not None
