"""Lists of one model's sizes: behind its name, in parentheses, in the lines below it, in a cell of its row; what most of them settle makes one wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.checks import totals, wrong_counts
from weighbridge.auditing.checks.configuration import is_of_their_own
from weighbridge.auditing.checks.count_subjects import Subject, goes_on_elsewhere, is_base, of_mention
from weighbridge.auditing.checks.field_values import NO_PARTS, field_values, main_values, values_of
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.names import ANOTHER, SIZE_WORDS, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_verdicts import KEYS, is_no_size, likeliest_length, may_be_otherwise, size_claims
from weighbridge.auditing.checks.subjects import family_of
from weighbridge.auditing.checks.table_subjects import SIZE_COLUMNS, kind_of, member_of, whole_number
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.field_words import label_of_line
from weighbridge.auditing.text.items import Item, read_items
from weighbridge.auditing.text.lengths import lengths_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS, FAMILY_REACH, FIELD_REACH, LEAD_LETTERS, SURE_COUNTS
from weighbridge.presets.aliases import FAMILY, MODEL, join_runs, runs

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_LONGEST = 600
"""Characters of a line that is a list of sizes."""


class Listed(NamedTuple):
    """An item of a list, with the token of its number and whether it is the model's."""

    item: Item
    token: Token
    own: bool


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the lists of sizes that stand behind a model's name, or below it."""
    settings = _settings(scene, tabled)
    block: list[Listed] = []
    subject: Subject | None = None
    since = 0
    for index, line in enumerate(scene.lines):
        named = scene.mentions.get(index, ())
        again = subject is not None and named and not line.heading and all(subject.name in (m.name, *m.names) for m in named)
        if again and subject is not None:
            block += list_sizes(scene, index, named[-1].end, len(line.text), subject) if index not in tabled else []
            since = index
            continue
        if named and _OF_CODE.match(line.text):
            continue  # ``"model_type": "vit"`` in a config names no model
        if named or line.heading:
            yield from _judge(scene, block, subject)
            block, subject, since = [], None, index
        if index in tabled or len(line.text) > _LONGEST or not line.text.strip():
            continue
        if named and named[0].kind == MODEL and all(m.names == named[0].names or _is_family_of(line.text, m, named[0]) for m in named):
            if not OTHERWISE.search(line.text[: named[0].column]) and not is_of_their_own(scene, index):
                subject = of_mention(scene, named[0], firm=True)
                block = list_sizes(scene, index, named[0].end, len(line.text), subject) if subject is not None else []
            if not _leads(scene, index, named):
                yield from _judge(scene, block, subject)
                block, subject = [], None
        elif named:
            yield from _pieces(scene, index, named)
        elif subject is not None and index - since <= FIELD_REACH:
            row = settings.get(index) or _label_above(scene, index)
            found = _setting(scene, row, subject) if row is not None else list_sizes(scene, index, 0, len(line.text), subject)
            since = index if found else since
            block += found
    yield from _judge(scene, block, subject)
    yield from _lone_totals(scene, tabled)


_OF_CODE = re.compile(
    r"""[\s{,(]*["']?(?:model_type|architectures|_?class\w*|\w*config\w*)["']?\s*[:=(]|\s*(?:class|from|import|return) """
)
"""What begins a line of code or of a config, whose names are those of types and classes."""


def _is_family_of(text: str, family: Mention, model: Mention) -> bool:
    """Tell whether a name is that of a model's family: ``Qwen2.5-7B ... (Qwen et al., 2024)``."""
    own = join_runs(runs(model.name or ""))
    return family.kind == FAMILY and (model.name in family.names or own.startswith(join_runs(runs(text[family.column : family.end]))))


def _settings(scene: Scene, tabled: Collection[int]) -> dict[int, Row]:
    """Return the rows of a label and a value, by their lines."""
    rows = (row for table in scene.tables if not table.lines <= set(tabled) for row in (*table.head, *table.rows))
    return {row.cells[1].line: row for row in rows if len(row.cells) == 2}


def _label_above(scene: Scene, index: int) -> Row | None:
    """Return a line that is nothing but a number, with the label that stands on the line above it, as a row."""
    text = scene.lines[index].text
    number = _NUMBER_ALONE.fullmatch(text)
    above = next((i for i in range(index - 1, max(-1, index - 3), -1) if scene.lines[i].text.strip()), -1)
    label = scene.lines[above].text.strip() if above >= 0 else ""
    if number is None or not (label_of_line(label) or _COUNT_LABEL.fullmatch(label) or _LENGTH_LABEL.fullmatch(label)):
        return None
    return Row(above, (Cell(label, 0, len(label), above), Cell(number[1], *number.span(1), index)))


_COUNT_LABEL = re.compile(
    r"[\s*]*(?:total |number of )?param(?:eter)?s?(?: count)?[\s*:]*|[\s*]*(?:总)?参数(?:总?量|数量)?[\s*:：]*", re.IGNORECASE
)
_LENGTH_LABEL = re.compile(
    r"[*]*(?:max(?:imum)? )?context(?: (?:length|window|size))?[*:：]*|[*]*(?:最大)?上下文(?:长度|窗口)?[*:：]*", re.IGNORECASE
)
_NUMBER_ALONE = re.compile(r"[\s*`~≈]*(\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT]|million|billion))?)[\s*`]*")


def _setting(scene: Scene, row: Row, subject: Subject) -> list[Listed]:
    """Return what a row of a label and a value says, if the label names a size or the count."""
    label, value = row.cells
    kind = kind_of(label.text)
    if kind not in (*SIZE_COLUMNS, "total") or OTHERWISE.search(_HARMLESS.sub(" ", f"{label.text} {value.text}")):
        return []
    figure = _FIGURE.match(value.text)
    if figure is None or (kind != "total" and whole_number(value) is None and kind != "positions"):
        return []
    item = Item(kind, value.start + figure.start(1), value.start + figure.end(1))
    listed = _hold_item(scene.lines[value.line].text, value.line, item, subject)
    return [listed] if listed is not None else []


_FIGURE = re.compile(r"[~≈约* ]*(\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT](?![A-Za-z])|million|billion|亿|万))?)", re.IGNORECASE)


def _lone_totals(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check lists of names with nothing but a count each: what two and more rows settle makes another wrong."""
    group: list[tuple[Listed, Subject]] = []
    last = -9
    for index, named in sorted(scene.mentions.items()):
        text = scene.lines[index].text
        if index in tabled or len(named) != 1 or named[0].kind != MODEL or not _LISTED.match(text[: named[0].column]):
            continue
        if not _ALONE.match(text, named[0].end):
            continue
        subject = of_mention(scene, named[0], firm=True)
        found = list_sizes(scene, index, named[0].end, len(text), subject) if subject is not None else []
        if len(found) == 1 and found[0].item.kind == "total" and _ALONE.fullmatch(text[named[0].end : found[0].token.start]):
            if index - last > 2:
                yield from _judge_totals(scene, group)
                group = []
            group.append((found[0], subject))  # type: ignore[arg-type]
            last = index
    yield from _judge_totals(scene, group)
    yield from _judge_totals(scene, [(listed, subject) for _, listed, subject in _led_by_sizes(scene, tabled)])
    for index, line in enumerate(scene.lines):
        if index not in tabled and len(line.text) <= _LONGEST:
            yield from _judge_totals(scene, _in_parentheses(scene, index))


def _in_parentheses(scene: Scene, index: int) -> list[tuple[Listed, Subject]]:
    """Return the counts in parentheses behind names and sizes of one line: ``T5 comes as Small (60M), Base (220M) and ViT-Huge (632M)``."""
    text, named = scene.lines[index].text, scene.mentions.get(index, ())
    found = []
    for match in _COUNT_BEHIND.finditer(text):
        mention = next((m for m in named if m.kind in (MODEL, FAMILY) and m.end == match.end("size")), None)
        subject = of_mention(scene, mention, firm=mention.kind == MODEL) if mention is not None else None
        if mention is None:
            families = _families_before(scene, index, match.start())
            subject = member_of(scene, re.sub(r"\s", "", match["size"]), families, firm=True) if families else None
        listed = _hold_item(text, index, Item("total", *match.span("count")), subject) if subject is not None else None
        if listed is not None and subject is not None:
            found.append((listed, subject))
    return found


def _families_before(scene: Scene, index: int, column: int) -> list[str]:
    """Return the family that is named last before a place, on its line or a few above."""
    for above in range(index, max(-1, index - FAMILY_REACH), -1):
        words = [scene.lines[above].text[m.column : m.end] for m in scene.mentions.get(above, ()) if above < index or m.end <= column]
        names = [word for word in words if SIZE_WORDS.fullmatch(word) is None]
        if names:
            return [family_of(names[-1])]
    return []


_COUNT_BEHIND = re.compile(
    r"(?<![\w.])(?P<size>(?:[A-Za-z][\w.]*[-/ ])*(?:tiny|mini|small|base|medium|large|huge|giant|turbo|x+l|\d+(?:\.\d+)?B|[A-Za-z][\w./]*-[A-Za-z0-9./]+))[*_`]*\s?"
    r"(?:[(（:：=约是为~≈]|(?<=\s)(?:has|is|at)\s)\s?[~≈约]?\s?(?P<count>\d[\d,.]*\s?(?:[MB]\b|million|billion|亿|万))(?: param(?:eter)?s| 参数)?\s?(?:[)）,，;；、.]|$)",
    re.IGNORECASE,
)


def _led_by_sizes(scene: Scene, tabled: Collection[int]) -> Iterator[tuple[int, Listed, Subject]]:
    """Yield the lines that a member's size begins and its count follows, in a text on one family: ``tiny 39 M tiny.en``."""
    families = {family_of(scene.lines[index].text[m.column : m.end]) for index, found in scene.mentions.items() for m in found}
    for index, line in enumerate(scene.lines if len(families) == 1 else ()):
        match = _SIZE_AND_COUNT.match(line.text) if index not in tabled and index not in scene.mentions else None
        subject = member_of(scene, match[1], list(families), firm=True) if match is not None else None
        listed = _hold_item(line.text, index, Item("total", *match.span(2)), subject) if match is not None and subject is not None else None
        if listed is not None and subject is not None:
            yield index, listed, subject


_SIZE_AND_COUNT = re.compile(
    r"[\s*`|-]*(tiny|mini|small|base|medium|large|huge|turbo|x+l|x+large|\d+(?:\.\d+)?B)[*`]*[\s|:]+(\d[\d,.]*\s?(?:[MB]\b|million|billion))",
    re.IGNORECASE,
)


def _judge_totals(scene: Scene, group: Sequence[tuple[Listed, Subject]]) -> Iterator[Claim]:
    right = sum(listed.own for listed, _ in group)
    for listed, subject in group if len(group) > 1 else ():
        yield from hold(scene, listed, subject, sure=right >= SURE_COUNTS and right * 2 > len(group))


_LISTED = re.compile(r"[\s>]*(?:[-*+•·]|\d{1,2}[.)、])?[\s*_`]*$")
_ALONE = re.compile(r"[\s*_`\"]*(?:[:：(（\-–—=→#]|(?=\s))[\s*_`~≈约]*(?:(?:total )?(?:params?|parameters|参数量?)[:：]? ?)?[~≈约]?")


def _pieces(scene: Scene, index: int, named: Sequence[Mention]) -> Iterator[Claim]:
    """Check the lists behind each of several names on one line: ``BERT-base (12L, 768H) and BERT-large (24L, 1024H)``."""
    ends = [*(m.column for m in named[1:]), len(scene.lines[index].text)]
    for place, (mention, end) in enumerate(zip(named, ends, strict=True)):
        based = place > 0 and is_base(scene.lines[index].text, named[place - 1], mention)
        subject = of_mention(scene, named[place - 1] if based else mention, firm=True) if mention.kind == MODEL else None
        if subject is not None and scene.lines[index].text[mention.end :].lstrip(" *`_")[:1] in ("(", "（", ":", "："):
            yield from _judge(scene, list_sizes(scene, index, mention.end, end, subject), subject)


def _leads(scene: Scene, index: int, named: Sequence[Mention]) -> bool:
    """Tell whether a line that names a model opens what stands below it."""
    line = scene.lines[index]
    plain = line.text.strip().strip("*_#`= ")
    rest = len(re.sub(r"[\W_]", "", plain)) - sum(m.end - m.column for m in named)
    return bool(line.heading) or plain.endswith((":", "：")) or rest <= LEAD_LETTERS


def list_sizes(scene: Scene, index: int, start: int, end: int, subject: Subject) -> list[Listed]:
    """Return the sizes that a stretch of a line lists, unless its other words make the model another."""
    text = scene.lines[index].text
    if not re.search(r"\d", text[start:end]):
        return []
    remark = _REMARK_BEHIND.match(text) if not start else None
    if remark is not None:
        end = min(end, remark.end("said"))  # ``- Layers: 80 — each of them ...``
    opening = _OPENING_REMARK.match(text) if not start else None
    start = opening.end() if opening is not None else start
    items = [item for item in read_items(text, start, end) if start or not item.bare]  # alone on a line, its label may stand above
    place, rest = start, []
    for item in items:
        rest.append(text[place : item.start])
        place = item.end
    words = _HARMLESS.sub(" ", " ".join((*rest, text[place:end])))
    if OTHERWISE.search(words) or ANOTHER.search(text, start, end):
        return []
    own = [item for item in items if not start or not goes_on_elsewhere(text, scene.mentions.get(index, ()), item.start)]
    return [listed for item in own if (listed := _hold_item(text, index, item, subject)) is not None]


_REMARK_BEHIND = re.compile(
    r"(?P<said>\s*(?:[-*+•·]|\d{1,2}[.)])\s[^\d:：]{2,48}[:：][*_` ]*[~≈约]?\d[\d,.]*[KMB]?(?: [a-z]{3,12})?[*_`]*)\s*(?:—|–|--|\s-\s|→)",
    re.IGNORECASE,
)
_OPENING_REMARK = re.compile(r"\s*(?:[-*+•·]\s*)?[(（][^()（）\d]{2,60}[)）]\s*(?=\d)")
"""What stands around the size of a line and is a remark: behind a dash, in parentheses at its beginning."""
_HARMLESS = re.compile(r"\b(?:each|per layer|per head|group|groups|only|up to|first|from)\b|每层|每个?头|约", re.IGNORECASE)


_OF_ONE = re.compile(r"\b(?:each|every|per|one|single|expert)\b(?! token)|每(?!个?\s?token)|单|embedding|嵌入", re.IGNORECASE)
"""Words before a count that make it a part's: ``Each expert has 5.6B parameters``."""


def _hold_item(text: str, index: int, item: Item, subject: Subject) -> Listed | None:
    found = tokens(text[item.start : item.end], index)
    if not found or found[0].kind != "num" or found[0].value is None:
        return None
    token = found[0]._replace(start=item.start, end=item.end)
    if item.kind in ("total", "active"):
        if _OF_ONE.search(re.split(r"[,，;；。(（]|\.(?!\d)", text[: item.start])[-1]):
            return None
        return Listed(item, token, settle(token, subject.models, item.kind) is not None) if totals.is_count(token) else None
    number = token.value or Fraction(0)
    item = _meant_letter(text, item, int(number), subject)
    values = set(lengths_of(number, token.unit)) if item.kind == "positions" else {int(number)}
    if not values or (item.kind != "positions" and (token.places or token.unit)) or token.unit not in ("", "k", "m"):
        return None
    word = KEYS.get(item.kind, item.kind)
    own = any(values & field_values(model).get(word, frozenset()) for model in subject.models)
    right = main_values(subject.models[0]).get(word)
    if not own and right is not None and may_be_otherwise(subject.models[0], item.kind, min(values), right):
        return None
    if item.kind == "hidden" and any(values & field_values(model).get("mlp", frozenset()) for model in subject.models):
        return None  # a hidden dimension of the feed-forward network
    return Listed(item, token, own)


def _meant_letter(text: str, item: Item, number: int, subject: Subject) -> Item:
    """Take ``d = 128`` for the width of a head and ``H = 32`` for the heads, where those are the model's and what the letter stands for first is not."""
    if not item.lettered or any(number in values_of(model, item.kind) for model in subject.models):
        return item
    letter = re.search(r"([A-Za-z])\W*$", text[: item.start])
    word = _OTHER_LETTERS.get(letter[1], "") if letter is not None else ""
    other = bool(word) and any(number in values_of(model, word) for model in subject.models)
    return item._replace(kind=word) if other else item


_OTHER_LETTERS = {"d": "head_dim", "H": "heads", "h": "hidden"}


def _judge(scene: Scene, block: Sequence[Listed], subject: Subject | None) -> Iterator[Claim]:
    """Confirm what is the model's; one item that is not is wrong where at least two others are, of other kinds."""
    if subject is None or not block:
        return
    right = {listed.item.kind for listed in block if listed.own}
    said = Counter(listed.item.kind for listed in block)
    odd = [listed for listed in block if not listed.own and said[listed.item.kind] == 1]
    plain = bool(subject.models) and all(map(_is_of_one_piece, subject.models))
    sure = plain and len(right) >= AGREED_FIELDS and len(odd) * 2 <= len(right)
    for listed in block if len(block) > 1 else ():
        yield from hold(scene, listed, subject, sure=sure and (listed.own or (listed in odd and listed.item.kind not in right)))


def _is_of_one_piece(model: ModelValue) -> bool:
    """Tell whether a model is not made of several; an encoder and a decoder have their sizes side by side."""
    description = model.description
    return description is not None and not any(isinstance(part, dict) for key, part in description.raw.items() if key not in NO_PARTS)


def hold(scene: Scene, listed: Listed, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    """Hold one item of a list against its model; it is wrong only where that is sure."""
    item, token = listed.item, listed.token
    if item.kind in ("total", "active"):
        found = settle(token, subject.models, item.kind)
        if found is not None:
            yield wrong_counts.total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif sure:
            yield from wrong_counts.wrong(scene, token, subject, item.kind, sure=True)
        return
    lengths = lengths_of(token.value or Fraction(0), token.unit)
    value = likeliest_length(lengths, subject.models) if item.kind == "positions" and lengths else int(token.value or 0)
    if listed.own or (sure and not (item.lettered and not is_no_size(subject.models, value))):
        yield from size_claims(scene, token, item.kind, value, subject, sure=sure, plain=sure)
