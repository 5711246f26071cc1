"""What a text claims in numbers and nobody judged: silence must not look like a clean bill."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.column_kinds import SIZE_COLUMNS, column_heads, kind_of
from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.field_values import main_values
from weighbridge.auditing.checks.layer_summaries import rows_of
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.size_verdicts import KEYS
from weighbridge.auditing.checks.table_subjects import ModelTable, is_grid
from weighbridge.auditing.claims import Claim, Reason, Sentence, because
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.component_words import find_components, speaks_of_parameters
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.lengths import read_length
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole
from weighbridge.auditing.text.seen_sizes import SeenSize, seen_sizes
from weighbridge.auditing.text.size_words import BYTES, WORK
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.text.tables import Row, Table
from weighbridge.auditing.thresholds import SMALLEST_CLAIM
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from typing import TypeAlias

_MEMORY = any_word(
    r"memory|cache|weights|gradient|optimizer|optimiser|activation|checkpoint|model size|fp16|fp32|bf16|int8|int4|显存|内存|缓存|梯度|优化器|激活|权重|精度",
)
_SHARE = pattern(r"占|比例|share|percent|of (?:the |all )?(?:total|parameters|model)|trainable", re.IGNORECASE)
_OTHERWISE = any_word(
    r"accuracy|准确率|f1|bleu|score|dropout|learning rate|speed|faster|bandwidth|带宽|gpu|a100|h100|rtx|vram required|corpus|dataset|语料|数据集|training data|download",
)
_PREMISE = pattern(r"[- ]?(?:param(?:eter)?s?)?[- ]?(?:class |个参数|参数)?的?(?:models?\b|模型|大模型)", re.IGNORECASE)
"""What follows a size that is no claim: ``a 70 billion parameter model``."""


_OF_TEXT = pattern(r"\W{0,2}(?:tokens?|words?|个?词)\b", re.IGNORECASE)


_BoundCells: TypeAlias = Mapping[tuple[int, int], tuple[str, Subject]]
"""What the cells of tables of models hold and of which model, by line and column."""


def unsettled_claims(scene: Scene, claims: Sequence[Claim], bound: Sequence[ModelTable]) -> list[Claim]:
    """Return a claim, with what would settle it, for each number that says something about a model and was not judged."""
    cells = {(cell.line, cell.start): (kind, subject) for one in bound for _, cell, kind, subject, _ in one.cells}
    covered = ClaimSpans(claims)
    found = []
    seen: set[tuple[int, int]] = set()

    def is_judged(token: Token) -> bool:
        return covered.holds(scene.lines[token.line].number, *_columns(scene, token))

    for token, kind, reason in (*_unjudged_numbers(scene, is_judged, cells), *_unjudged_sizes(scene, is_judged)):
        line, (_, end) = scene.lines[token.line], _columns(scene, token)
        if (line.number, end) in seen:
            continue
        seen.add((line.number, end))
        found.append(claim(scene.lines, token, token, kind, "unsettled", value=whole(likeliest_value(token)), reason=reason))
    return found


def _columns(scene: Scene, token: Token) -> tuple[int, int]:
    at = scene.lines[token.line].at
    return at[token.start] if token.start < len(at) else 0, at[token.end - 1] + 1 if 0 < token.end <= len(at) else 0


def _unjudged_numbers(scene: Scene, is_judged: Callable[[Token], bool], cells: _BoundCells) -> Iterator[tuple[Token, str, Reason]]:
    tabled = {
        cell.line: (table, row, heads)
        for table in scene.tables
        for heads in [column_heads(table)]
        for row in table.rows
        for cell in row.cells
    }
    sized = {
        (s.token.line, s.token.start): s
        for s in scene.stated
        if s.word not in ("positions", "types") and (s.firm or s.label.start > s.token.start)
    }
    sized = sized if scene.mentions or scene.main is not None else {}
    grids = {line for table in scene.tables if is_grid(table) for line in table.lines} | rows_of(scene)
    for statement in scene.numbered:
        unjudged = [(index, token) for index, token in scene.figures_of(statement) if token.value is not None and not is_judged(token)]
        if not unjudged:
            continue
        results = {
            chain.tokens[side.end - 1].start: side
            for chain in scene.chains_of(statement)
            for side in chain.sides[1:]
            if isinstance(side.term, Token) and not _is_definition(chain)
        }
        for index, token in unjudged:
            if any(m.column <= token.start < m.end for m in scene.mentions.get(token.line, ())):
                continue
            if token.line in grids:
                continue
            if token.line in tabled:
                found = _in_table(scene, token, *tabled[token.line], cells)
            elif (token.line, token.start) in sized:
                found = ("configuration", _why_not(scene, sized[token.line, token.start]))
            elif token.start in results and token.value is not None and token.value >= _LEAST_RESULT:
                found = ("arithmetic", because(mark("the equation could not be read whole")))
            else:
                found = _in_prose(scene, statement, index)
            if found is not None:
                yield token, *found


_LEAST_RESULT = 24
"""A smaller result of an equation is no count of anything."""


def _why_not(scene: Scene, size: StatedSize) -> Reason:
    """Say why a size was not judged: no model is settled for it, or it is said in passing and the model's is another."""
    model = scene.model_at(size.label.line, size.label.start)
    right = words_of(model).get(size.word) if model is not None else None
    if model is None or right is None:
        return because(mark("of no settled model: name one in the text, or give --model"))
    return because(mark("said in passing, though {name} has {right}"), name=model.class_name, right=right)


def _unjudged_sizes(scene: Scene, is_judged: Callable[[Token], bool]) -> Iterator[tuple[Token, str, Reason]]:
    """Yield the numbers beside the name of a size that nobody judged, in a text that names a model; those of its tables are told already."""
    if not scene.mentions and scene.main is None:
        return
    tabled = {line for table in scene.tables if table.head for line in table.lines}
    summed = rows_of(scene)
    for index in scene.counted_lines:
        line = scene.lines[index]
        if index in tabled or index in summed:
            continue
        named = scene.mentions.get(index, ())
        for seen in seen_sizes(line.text):
            token = Token("num", line.text[seen.start : seen.end], index, seen.start, seen.end, Fraction(0))
            if any(m.column < seen.end and seen.start < m.end for m in named) or is_judged(token):
                continue
            length = read_length(token.text)
            token = token._replace(value=Fraction(length[0][0] if length is not None and length[0] else 0))
            yield token, "configuration", _reason_unjudged(scene, index, seen)


def _reason_unjudged(scene: Scene, index: int, seen: SeenSize) -> Reason:
    model = scene.model_at(index, seen.start)
    if model is None:
        return because(mark("of no settled model: name one in the text, or give --model"))
    right = main_values(model).get(seen.word)
    if right is None:
        return because(mark("these words name no known size of {name}"), name=model.class_name)
    return because(mark("said in passing, though {name} has {right}"), name=model.class_name, right=right)


def _is_definition(chain: Chain) -> bool:
    """Tell whether an equation only gives a name its value: ``MAX_LENGTH = 128``."""
    lead = chain.sides[0].term
    return len(chain.sides) == 2 and isinstance(lead, Token) and lead.kind == "name"


def _in_table(scene: Scene, token: Token, table: Table, row: Row, heads: list[str], bound: _BoundCells) -> tuple[str, Reason] | None:
    if re.fullmatch(r"(?:19|20)\d\d", token.text) or _OF_TEXT.match(scene.lines[token.line].text, token.end):
        return None  # a year, a length
    for place, (cell, head) in enumerate(zip(row.cells, heads, strict=False)):
        if not (cell.line == token.line and cell.start <= token.start < cell.end):
            continue
        kind = kind_of(head) if table.head else "total" if token.value is not None and is_count(token) and token.value >= 10_000 else ""
        if kind not in (*_COUNTS, *SIZE_COLUMNS) and place and not re.search(r"\d", row.cells[0].text):
            kind = kind_of(row.cells[0].text) or kind  # a row of a label and its values
        reason = _why_not_in_row(bound.get((cell.line, cell.start)))
        if kind in _COUNTS and (is_count(token) or (token.value is not None and token.value > 1)):
            return "total", reason
        if kind in SIZE_COLUMNS:
            return "configuration", reason
        if token.unit in BYTES or token.unit in WORK or (_WORK_HEAD.search(head) and place and token.value):
            return "total", because(mark("memory or arithmetic whose conditions are not all stated"))
        if (
            not kind
            and token.value is not None
            and token.value >= SMALLEST_CLAIM
            and not token.places
            and speaks_of_parameters(" ".join(heads))
        ):
            return "component", because(mark("in a table whose columns were not understood"))
    return None


_COUNTS = ("total", "active", "non_embedding", "part")
_WORK_HEAD = pattern(r"flop|\bg?macs?\b|memory|显存|内存|\b[MG]i?B\b", re.IGNORECASE)


def _why_not_in_row(found: tuple[str, Subject] | None) -> Reason:
    """Say why a cell was not judged: its row names no known model, or nothing else of the row settles that the one it names is meant."""
    if found is None or not found[1].models:
        return because(mark("in a table whose rows name no model that is known for sure"))
    kind, subject = found
    model = subject.models[0]
    right = own_count(model, kind) if kind in ("total", "active") else main_values(model).get(KEYS.get(kind, kind))
    if right is None:
        return because(mark("the words of its column name no known figure of {name}"), name=Sentence(subject.name))
    return because(
        mark("{name} has {right}, and the rest of its row does not settle that it is meant"), name=Sentence(subject.name), right=right
    )


def _in_prose(scene: Scene, statement: Sequence[Token], index: int) -> tuple[str, Reason] | None:
    token, text = statement[index], scene.lines[statement[index].line].text
    if not token.unit and (token.places or token.value is None or token.value.numerator < 10_000 * token.value.denominator):
        return None
    if any(t.kind == "op" and t.text in "*/^" for t in statement[max(0, index - 1) : index + 2]):
        return None
    near = text[max(0, token.start - 60) : token.end + 40]
    found = _kind_in_prose(token, text, near)
    return None if found is None or _OTHERWISE.search(near) else found


def _kind_in_prose(token: Token, text: str, near: str) -> tuple[str, Reason] | None:
    """Return what a number in running text may say, by the words about it."""
    if token.unit == "%":
        shared = _SHARE.search(near) and (find_components(near.lower()) or speaks_of_parameters(near))
        return ("share", because(mark("unclear what this is a share of"))) if shared else None
    if token.unit in BYTES and token.unit not in ("byte", "bytes", "字节"):
        return ("total", because(mark("memory or arithmetic whose conditions are not all stated"))) if _MEMORY.search(near) else None
    if token.unit in WORK:
        return "total", because(mark("memory or arithmetic whose conditions are not all stated"))
    if _PREMISE.match(text, token.end):
        return None
    if is_count(token) and speaks_of_parameters(text[max(0, token.start - 40) : token.end + 24]):
        return "total", because(mark("unclear which model, or which part of it, this counts"))
    large = not token.unit and not token.places and token.value is not None and token.value >= 10_000
    if (
        large
        and ("," in token.text or (token.value is not None and token.value >= 100_000))
        and find_components(text[max(0, token.start - 60) : token.start].lower())
    ):
        return "component", because(mark("unclear which model, or which part of it, this counts"))
    return None
