"""Lists of one model's sizes: behind its name, in parentheses, in the lines below it, in a cell of its row; what most of them settle makes one wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks import wrong_counts
from weighbridge.auditing.checks.column_kinds import SIZE_COLUMNS, kind_of
from weighbridge.auditing.checks.count_subjects import Subject, goes_on_elsewhere, of_mention
from weighbridge.auditing.checks.field_values import NO_PARTS
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.listed_items import Listed, hold_item
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.naming_words import is_base
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.size_verdicts import is_no_size, likeliest_length, size_claims
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.field_words import label_of_line
from weighbridge.auditing.text.items import Item, read_items
from weighbridge.auditing.text.lengths import lengths_of
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.thresholds import AGREED_FIELDS, FIELD_REACH, LEAD_LETTERS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import FAMILY, MODEL, join_runs, runs

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

LONGEST = 600
"""Characters of a line that is a list of sizes."""


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
        if named and OF_CODE.match(line.text):
            continue  # ``"model_type": "vit"`` in a config names no model
        if named or line.heading:
            yield from _judge(scene, block, subject)
            block, subject, since = [], None, index
        if index in tabled or len(line.text) > LONGEST or not line.text.strip():
            continue
        if named and named[0].kind == MODEL and all(m.names == named[0].names or _is_family_of(line.text, m, named[0]) for m in named):
            if not OTHERWISE.search(line.text[: named[0].column]) and not is_of_their_own(scene, index):
                subject = of_mention(scene, named[0], firm=True)
                block = list_sizes(scene, index, named[0].end, len(line.text), subject) if subject is not None else []
            if not _leads(scene, index, named):
                yield from _judge(scene, block, subject, published=_is_of_repository(line.text, named[0], block))
                block, subject = [], None
        elif named:
            yield from _pieces(scene, index, named)
        elif subject is not None and index - since <= FIELD_REACH:
            row = settings.get(index) or _label_above(scene, index)
            found = _setting(scene, row, subject) if row is not None else list_sizes(scene, index, 0, len(line.text), subject)
            since = index if found else since
            block += found
    yield from _judge(scene, block, subject)


def _is_of_repository(text: str, mention: Mention, block: Sequence[Listed]) -> bool:
    """Tell whether a list is what stands in parentheses behind the name of a repository: its files are what they are."""
    pair = _PAIR.match(text, mention.end) or _PAIR.match(text, mention.end + 1)
    return text[mention.column - 1 : mention.column] == "/" and pair is not None and all(one.token.end < pair.end() for one in block)


OF_CODE = pattern(r"""[\s{,(]*["']?(?:model_type|architectures|_?class\w*|\w*config\w*)["']?\s*[:=(]|\s*(?:class|from|import|return) """)
"""What begins a line of code or of a config, whose names are those of types and classes."""


def _is_family_of(text: str, family: Mention, model: Mention) -> bool:
    """Tell whether a name is that of a model's family: ``Qwen2.5-7B ... (Qwen et al., 2024)``."""
    own = join_runs(runs(model.name or ""))
    return family.kind == FAMILY and (model.name in family.names or own.startswith(join_runs(runs(text[family.column : family.end]))))


def _settings(scene: Scene, tabled: Collection[int]) -> dict[int, Row]:
    """Return the rows of a label and a value, by their lines."""
    known = frozenset(tabled)
    rows = (row for table in scene.tables if not table.lines <= known for row in (*table.head, *table.rows))
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


_COUNT_LABEL = pattern(
    r"[\s*]*(?:total |number of )?param(?:eter)?s?(?: count)?[\s*:]*|[\s*]*(?:总)?参数(?:总?量|数量)?[\s*:：]*", re.IGNORECASE
)
_LENGTH_LABEL = pattern(
    r"[*]*(?:max(?:imum)? )?context(?: (?:length|window|size))?[*:：]*|[*]*(?:最大)?上下文(?:长度|窗口)?[*:：]*", re.IGNORECASE
)
_NUMBER_ALONE = pattern(r"[\s*`~≈]*(\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT]|million|billion))?)[\s*`]*")


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
    listed = hold_item(scene.lines[value.line].text, value.line, item, subject)
    return [listed] if listed is not None else []


_FIGURE = pattern(r"[~≈约* ]*(\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMBT](?![A-Za-z])|million|billion|亿|万))?)", re.IGNORECASE)


def _pieces(scene: Scene, index: int, named: Sequence[Mention]) -> Iterator[Claim]:
    """Check the lists behind each of several names on one line: ``BERT-base (12L, 768H) and BERT-large (24L, 1024H)``."""
    ends = [*(m.column for m in named[1:]), len(scene.lines[index].text)]
    for place, (mention, end) in enumerate(zip(named, ends, strict=True)):
        based = place > 0 and is_base(scene.lines[index].text, named[place - 1], mention)
        subject = of_mention(scene, named[place - 1] if based else mention, firm=True) if mention.kind == MODEL else None
        text = scene.lines[index].text
        if subject is not None and text[mention.end :].lstrip(" *`_")[:1] in ("(", "（", ":", "："):
            block = list_sizes(scene, index, mention.end, end, subject)
            pair = _PAIR.match(text, mention.end, end)
            yield from _judge(scene, block, subject, apposed=pair is not None and all(one.token.end < pair.end() for one in block))


_PAIR = pattern(r"[*_`]{0,3}\s?[(（][^()（）]{4,60}[)）]")
"""Right behind a name, what it is: ``Llama-3.2-1B (16 layers, 1.24B)``."""


def _leads(scene: Scene, index: int, named: Sequence[Mention]) -> bool:
    """Tell whether a line that names a model opens what stands below it."""
    line = scene.lines[index]
    plain = line.text.strip().strip("*_#`= ")
    rest = len(re.sub(r"[\W_]", "", plain)) - sum(m.end - m.column for m in named)
    return bool(line.heading) or plain.endswith((":", "：")) or rest <= LEAD_LETTERS


def list_sizes(scene: Scene, index: int, start: int, end: int, subject: Subject) -> list[Listed]:
    """Return the sizes that a stretch of a line lists, unless its other words make the model another."""
    text = scene.lines[index].text
    if not _DIGIT.search(text, start, end):
        return []
    remark = _REMARK_BEHIND.match(text) if not start else None
    if remark is not None:
        end = min(end, remark.end("said"))  # ``- Layers: 80 — each of them ...``
    opening = _OPENING_REMARK.match(text) if not start else None
    start = opening.end() if opening is not None else start
    items = [item for item in read_items(text, start, end) if start or not item.bare]  # alone on a line, its label may stand above
    if not items:
        return []
    place, rest = start, []
    for item in items:
        rest.append(text[place : item.start])
        place = item.end
    words = _HARMLESS.sub(" ", " ".join((*rest, text[place:end])))
    if OTHERWISE.search(words) or ANOTHER.search(text, start, end):
        return []
    own = [item for item in items if not start or not goes_on_elsewhere(text, scene.mentions.get(index, ()), item.start)]
    return [listed for item in own if (listed := hold_item(text, index, item, subject)) is not None]


_DIGIT = re.compile(r"\d")
_REMARK_BEHIND = pattern(
    r"(?P<said>\s*(?:[-*+•·]|\d{1,2}[.)])\s[^\d:：]{2,48}[:：][*_` ]*[~≈约]?\d[\d,.]*[KMB]?(?: [a-z]{3,12})?[*_`]*)\s*(?:—|–|--|\s-\s|→)",
    re.IGNORECASE,
)
_OPENING_REMARK = pattern(r"\s*(?:[-*+•·]\s*)?[(（][^()（）\d]{2,60}[)）]\s*(?=\d)")
"""What stands around the size of a line and is a remark: behind a dash, in parentheses at its beginning."""
_HARMLESS = pattern(r"\b(?:each|per layer|per head|group|groups|only|up to|first|from)\b|每层|每个?头|约", re.IGNORECASE)


def _judge(
    scene: Scene, block: Sequence[Listed], subject: Subject | None, *, apposed: bool = False, published: bool = False
) -> Iterator[Claim]:
    """Confirm what is the model's; one item that is not is wrong where at least two others are, of other kinds.

    Args:
        published: Whether the block is what stands in parentheses right behind the name of a repository: one other size settles it then.
        apposed: Whether the block is what stands in parentheses right behind a name: its count alone settles then that the model is meant.
    """
    if subject is None or not block:
        return
    right = {listed.item.kind for listed in block if listed.own}
    said = Counter(listed.item.kind for listed in block)
    odd = [listed for listed in block if not listed.own and said[listed.item.kind] == 1]
    plain = bool(subject.models) and all(map(_is_of_one_piece, subject.models))
    settled = len(right) >= AGREED_FIELDS and len(odd) * 2 <= len(right)
    settled = settled or (published and bool(right) and len(odd) == 1)
    sure = plain and (settled or (apposed and len(block) == AGREED_FIELDS and _has_exact_count(block)))
    for listed in block if len(block) > 1 else ():
        if not scene.is_judged(listed.token.line, listed.token.start, listed.token.end):
            yield from hold(scene, listed, subject, sure=sure and (listed.own or (listed in odd and listed.item.kind not in right)))


def _has_exact_count(block: Sequence[Listed]) -> bool:
    """Tell whether a list has a count of two digits and more that is the model's."""
    return any(one.own and one.item.kind == "total" and len(re.sub(r"\D", "", one.token.text)) >= AGREED_FIELDS for one in block)


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
            yield from wrong_counts.report_wrong_count(scene, token, subject, item.kind, sure=True)
        return
    lengths = lengths_of(token.value or Fraction(0), token.unit)
    value = likeliest_length(lengths, subject.models) if item.kind == "positions" and lengths else int(token.value or 0)
    if listed.own or (sure and not (item.lettered and not is_no_size(subject.models, value))):
        yield from size_claims(scene, token, item.kind, value, subject, sure=sure, plain=sure)
