"""Tables of models: rows are models and columns their sizes and counts, or the reverse; a grid of sizes is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.checks import totals
from weighbridge.auditing.checks.configuration import NAMES
from weighbridge.auditing.checks.context import Scene, claim, words_of
from weighbridge.auditing.checks.names import SIZE_WORDS, Mention, within
from weighbridge.auditing.checks.settle import preset_model, settle
from weighbridge.auditing.checks.subjects import family_of
from weighbridge.auditing.claims import Claim, Said, said
from weighbridge.auditing.text.rounding import scales
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.auditing.text.tokens import Token, tokens
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY, MODEL, member

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_COLUMNS = (
    ("other", re.compile(r"flop|mac\b|macs|bytes?\b|memory|显存|vram|\bmb\b|\bgb\b|speed|score|acc|loss|ratio|%|glue|squad|time|latency|throughput|batch|learn|token|\blr\b|download|rank|trainable|lora|data|step|top-?1|throughput", re.IGNORECASE)),
    ("active", re.compile(r"activ|激活", re.IGNORECASE)),
    ("non_embedding", re.compile(r"non[- _]?emb|非嵌入|w/o emb|without emb", re.IGNORECASE)),
    ("part", re.compile(r"(?:encoder|decoder|embedding|vision|text|backbone|head|embed|emb)\w*[- _]*(?:param|参数)|嵌入", re.IGNORECASE)),
    ("total", re.compile(r"param|参数|^#?\s*size$|model size|^大小$|模型大小", re.IGNORECASE)),
    ("kv", re.compile(r"kv|key.?value", re.IGNORECASE)),
    ("head_dim", re.compile(r"d[_ ]?head|head[_ ]?dim|d[_ ]?kv|head size|d_k\b", re.IGNORECASE)),
    ("mlp", re.compile(r"d[_ ]?ffn?|ffn|intermediate|mlp|feed.?forward|中间|前馈", re.IGNORECASE)),
    ("embedding_size", re.compile(r"^embed(?:ding)?s?(?: size| dim\w*)?$", re.IGNORECASE)),
    ("vocab", re.compile(r"vocab|词表", re.IGNORECASE)),
    ("heads", re.compile(r"heads?\b|头数?|^a$", re.IGNORECASE)),
    ("layers", re.compile(r"^(?:#|num|number of|n|no\. of|transformer|encoder|hidden)*[ _#]*(?:hidden |transformer |encoder )?(?:layers?|blocks?)(?:\s*\(?l\)?)?$|层数|^depth$|^l$", re.IGNORECASE)),
    ("hidden", re.compile(r"^(?:d|dmodel|h)$|hidden|d[_ ]?model|model[_ ]dim|^dim(?:ension)?s?$|^width$|embed(?:ding)?[_ ]dim|n_embd|隐藏|维度|dim\b", re.IGNORECASE)),
)  # fmt: skip
"""What a column holds, by the words of its head; the first that fits."""
_SIZES = ("mlp", "vocab", "heads", "layers", "hidden", "head_dim")
_COUNTS = ("total", "active", "non_embedding")
_UNIT = re.compile(r"[(\[（]\s*(?:in )?(?:×?\s*10\^?(\d+)|(millions?|billions?|[MBK]|百万|亿|万|十亿))\s*[)\]）]", re.IGNORECASE)
_GRID = re.compile(r"\b([A-Z])\s*=\s*\d+")
PRINTED = {("gpt3-13b", "hidden"): 5140, ("gpt3-1.3b", "heads"): 24}
"""Sizes that a paper's own table has otherwise than any model can be; everybody copies them."""
_FAMILY_ABOVE = 30
"""Lines above a table within which a family's name is the table's."""


class Bound(NamedTuple):
    """A table whose rows or columns are models: each judged cell with its model and what it holds."""

    table: Table
    cells: tuple[tuple[Row, Cell, str, Subject, str], ...]


class Subject(NamedTuple):
    """The models that a row is about, the likeliest first, and whether the row names it in full."""

    models: tuple[ModelValue, ...]
    name: str
    firm: bool


def bind(scene: Scene) -> list[Bound]:
    """Find the tables whose rows or columns are models."""
    found = []
    for table in scene.tables:
        bound = _by_rows(scene, table) or _by_columns(scene, table)
        if bound or _is_grid(table):
            found.append(Bound(table, tuple(bound)))
    return found


def _is_grid(table: Table) -> bool:
    """Tell whether a row sets one size to several values: ``H=128 | H=256``, a grid of models and no statement."""
    for row in (*table.head, *table.rows):
        letters = [match[1] for cell in row.cells for match in _GRID.finditer(cell.text)]
        if any(letters.count(letter) > 1 for letter in letters):
            return True
    return False


def _heads(table: Table) -> list[str]:
    width = max(len(row.cells) for row in (*table.head, *table.rows))
    return [" ".join(row.cells[i].text for row in table.head if i < len(row.cells)).strip() for i in range(width)]


def kind_of(head: str) -> str:
    """Return what a column holds.

    >>> kind_of("Non-Embedding Params"), kind_of("#Params"), kind_of("d_model"), kind_of("FLOPs"), kind_of("Name")
    ('non_embedding', 'total', 'hidden', 'other', '')
    """
    plain = re.sub(r"[*`_\\]+(?=\s|$)|^[*`_\\]+", "", head).strip()
    bare = re.sub(r"[(（\[].*?[)）\]]", "", plain).strip() or plain
    return next((kind for kind, pattern in _COLUMNS if pattern.search(bare)), "")


def _by_rows(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    heads = _heads(table)
    kinds = [kind_of(head) for head in heads]
    if not any(kind in (*_SIZES, *_COUNTS) for kind in kinds):
        return []
    families = _families(scene, table)
    found = []
    for row in table.rows:
        subject = _row_subject(scene, row, kinds, families)
        if subject is not None:
            subject = _sized(subject, row, kinds)
            found += [
                (row, cell, kind, subject, head)
                for cell, kind, head in zip(row.cells, kinds, heads, strict=False)
                if kind in (*_SIZES, *_COUNTS)
            ]
    return found


def _by_columns(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    top = (*table.head, *table.rows[:1])[:1]
    families = _families(scene, table)
    subjects = [_named(scene, cell.text, families) for cell in (top[0].cells[1:] if top else ())]
    if not any(subjects):
        return []
    found = []
    for row in table.rows:
        kind = kind_of(row.cells[0].text)
        if kind in (*_SIZES, *_COUNTS):
            for cell, subject in zip(row.cells[1:], subjects, strict=False):
                if subject is not None:
                    found.append((row, cell, kind, subject, row.cells[0].text))
    return found


def _families(scene: Scene, table: Table) -> list[str]:
    """Return the families that a table may be about: named in its head, else last above it, else the only one of the text."""
    first = min(table.lines)
    inside = [(m, row.line) for row in table.head for m in scene.mentions.get(row.line, ())]
    above = [(m, line) for line in range(first - 1, max(-1, first - 1 - _FAMILY_ABOVE), -1) for m in scene.mentions.get(line, ())]
    anywhere = [(m, line) for line, found in scene.mentions.items() for m in found]
    for group in (inside, above):
        for mention, line in group:
            if mention.kind in (FAMILY, MODEL):
                return [family_of(scene.lines[line].text[mention.column : mention.end])]
    every = {family_of(scene.lines[line].text[m.column : m.end]) for m, line in anywhere if m.kind in (FAMILY, MODEL)}
    return list(every) if len(every) == 1 else []


def _row_subject(scene: Scene, row: Row, kinds: Sequence[str], families: Sequence[str]) -> Subject | None:
    for cell, kind in zip(row.cells[:3], kinds, strict=False):
        if kind in ("", "other") and re.search(r"[A-Za-z\u4e00-\u9fff]", cell.text):
            found = _named(scene, cell.text, families)
            if found is not None:
                return found
    family = _family_row(scene, row, kinds)
    if family is not None:
        return family
    lead = row.cells[0].text
    if kinds[0] == "total" or re.fullmatch(r"[\d.]+\s*[MB]", lead, re.IGNORECASE):
        return _member(scene, re.sub(r"[^\w.]", "", lead), families, firm=False)
    return None


def _family_row(scene: Scene, row: Row, kinds: Sequence[str]) -> Subject | None:
    """Take a row that names only a family for the members that its own count fits: ``| GPT-3 | 175B | 96 |``."""
    mentions = [m for cell, kind in zip(row.cells[:3], kinds, strict=False) if kind in ("", "other") for m in within(cell.text)]
    cells = [cell for cell, kind in zip(row.cells, kinds, strict=False) if kind == "total"]
    figures = [t for cell in cells for t in tokens(cell.text, row.line) if t.kind == "num" and t.unit]
    if len(mentions) != 1 or mentions[0].kind != FAMILY or len(figures) != 1:
        return None
    models = [model for name in mentions[0].names[:MEMBERS] if (model := preset_model(name)) is not None]
    fitting = tuple(model for model in models if settle(figures[0], (model,)) is not None)
    return Subject(fitting, fitting[0].source, False) if fitting else None


def _named(scene: Scene, text: str, families: Sequence[str]) -> Subject | None:
    mentions = list(within(text))
    for mention in mentions:
        if mention.kind == MODEL:
            return _of(scene, mention, firm=len(mentions) == 1 and _is_whole(text, mention))
        if mention.kind == FAMILY:
            rest = SIZE_WORDS.search(text, mention.end)
            found = member([family_of(text[mention.column : mention.end])], rest[1]) if rest else None
            return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=False) if found else None
    if mentions:
        return None
    size = SIZE_WORDS.search(text)
    plain = re.sub(r"[^\w]", "", SIZE_WORDS.sub("", text, count=1)) if size else text
    return _member(scene, size[1], families, firm=False) if size and len(plain) <= 3 else None


def _is_whole(text: str, mention: Mention) -> bool:
    """Tell whether a cell holds nothing but the name."""
    rest = re.sub(r"\([^)]*\)|\[[^\]]*\]|https?\S+|[\W_]", "", text[: mention.column] + text[mention.end :])
    return len(rest) <= 6


def _member(scene: Scene, size: str, families: Sequence[str], *, firm: bool) -> Subject | None:
    found = member(families, size)
    return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=firm) if found is not None else None


def _of(scene: Scene, mention: Mention, *, firm: bool) -> Subject | None:
    found = totals.of_mention(scene, mention, firm=firm)
    return Subject(found.models, found.name, firm) if found is not None else None


def _sized(subject: Subject, row: Row, kinds: Sequence[str]) -> Subject:
    """Put first the model whose sizes are those of the row, and be sure where two sizes and more agree."""

    def agreed(model: ModelValue) -> int:
        own = words_of(model)
        return sum(_whole(cell) == own.get(kind) for cell, kind in zip(row.cells, kinds, strict=False) if kind in _SIZES and kind in own)

    ranked = sorted(subject.models, key=lambda model: -agreed(model))
    return Subject(tuple(ranked), subject.name, subject.firm or agreed(ranked[0]) >= 2)


def _whole(cell: Cell) -> int | None:
    plain = cell.text.strip("*`~ ").replace(",", "")
    return int(plain) if plain.isdigit() and len(plain) < 12 else None


def _grid(scene: Scene, table: Table) -> Iterator[Claim]:
    """Check the names in a grid of sizes against the sizes of their row and column."""
    families = _families(scene, table)
    top = [_GRID_SIZE.search(cell.text) for cell in (table.head or table.rows)[0].cells]
    for row in table.rows:
        side = _GRID_SIZE.search(row.cells[0].text)
        for cell, head in zip(row.cells[1:], top[1:], strict=False):
            subject = _named(scene, cell.text, families)
            if subject is None or side is None or head is None:
                continue
            own = words_of(subject.models[0])
            told = {LETTERS[match[1]]: int(match[2]) for match in (side, head) if match[1] in LETTERS}
            if told and all(own.get(word) == value for word, value in told.items()):
                token = Token("num", cell.text, row.line, cell.start, cell.end)
                yield claim(
                    scene.lines, token, token, "configuration", "exact", value=max(told.values()), expected=max(told.values()), difference=0
                )


_GRID_SIZE = re.compile(r"\b([A-Z])\s*=\s*(\d+)")


def _families_sizes(scene: Scene) -> Iterator[Claim]:
    """Confirm the sizes that a row lists of a family: ``| Llama 3 | 8B, 70B |``; one that no member has is no error."""
    for table in scene.tables:
        kinds = [kind_of(head) for head in _heads(table)]
        for row in table.rows if "total" in kinds else ():
            place = kinds.index("total")
            family = next((m for cell in row.cells[:3] for m in within(cell.text) if m.kind == FAMILY), None)
            cell = row.cells[place] if place < len(row.cells) else None
            if family is None or cell is None:
                continue
            for token in (t for t in tokens(cell.text, row.line) if t.kind == "num" and t.unit in ("m", "b")):
                models = [model for name in family.names[:MEMBERS] if (model := preset_model(name)) is not None]
                found = settle(token, models)
                if found is not None:
                    figure = token._replace(start=cell.start + token.start, end=cell.start + token.end)
                    yield totals.made(scene, figure, found.verdict, found.expected, found.reason)


MEMBERS = 24
"""Members of a family that are held against a size."""


def check(scene: Scene, bound: Sequence[Bound]) -> Iterator[Claim]:
    """Hold the cells of tables of models against their models."""
    lines = {row.line for one in bound for row, *_ in one.cells}
    yield from (made for made in _families_sizes(scene) if made.line not in {scene.lines[line].number for line in lines})
    for one in bound:
        if _is_grid(one.table):
            yield from _grid(scene, one.table)
        agreed = {id(row): 0 for row, *_ in one.cells}
        judged = []
        for row, cell, kind, subject, head in one.cells:
            if kind in _SIZES:
                right = words_of(subject.models[0]).get(kind)
                agreed[id(row)] += right is not None and right == _whole(cell)
            judged.append((row, cell, kind, subject, head))
        yield from _remarks(scene, one)
        for row, cell, kind, subject, head in judged:
            if kind in _SIZES:
                yield from _size(scene, row, cell, kind, subject, sure=agreed[id(row)] >= 1)
            else:
                yield from _count(scene, row, cell, kind, subject, head)


def _remarks(scene: Scene, bound: Bound) -> Iterator[Claim]:
    """Confirm sizes in the other cells of a model's row: ``| BERT-base | 110M | Encoder, 12 layers |``."""
    subjects = {row.line: subject for row, _, _, subject, _ in bound.cells}
    judged = {(row.line, cell.start) for row, cell, kind, _, _ in bound.cells if kind in _SIZES}
    for size in scene.stated:
        subject = subjects.get(size.token.line)
        if subject is None or any(line == size.token.line and start == size.token.start for line, start in judged):
            continue
        if any(words_of(model).get(size.word) == size.value for model in subject.models):
            yield claim(scene.lines, size.token, size.token, "configuration", "exact", value=size.value, expected=size.value, difference=0)


def _size(scene: Scene, row: Row, cell: Cell, kind: str, subject: Subject, *, sure: bool) -> Iterator[Claim]:
    value = _whole(cell)
    rights = [words_of(model).get(kind) for model in subject.models]
    if value is None or rights[0] is None:
        return
    token = Token("num", cell.text, row.line, cell.start, cell.end, Fraction(value))
    facts: dict[str, object] = {"value": value, "expected": rights[0], "difference": value - rights[0]}
    if value in rights:
        facts |= {"expected": value, "difference": 0}
        yield claim(scene.lines, token, token, "configuration", "exact", **facts)
    elif any(PRINTED.get((model.source, kind)) == value for model in subject.models):
        yield claim(scene.lines, token, token, "configuration", "note", **facts, reason=said(mark("as its paper prints it")))
    elif (
        subject.firm
        and (sure or _is_plain(subject.models, row, value))
        and kind in ("layers", "hidden", "mlp", "vocab")
        and not (kind == "layers" and _is_translator(subject.models[0]))
    ):
        reason = said(mark("should be {right}"), right=rights[0]) + said(
            mark("{what} of {name}"), what=Said(NAMES[kind]), name=subject.name
        )
        yield claim(scene.lines, token, token, "configuration", "wrong", **facts, reason=reason)


def _is_plain(models: Sequence[ModelValue], row: Row, value: int) -> bool:
    """Tell whether a row says nothing of its model but one size, which is none of the model's sizes whatever it is called."""
    if len(row.cells) != _NAME_AND_SIZE or any(model.description is None for model in models):
        return False
    sizes = {size for model in models if model.description for size in vars(model.description.sizes).values() if type(size) is int}
    return value not in sizes


_NAME_AND_SIZE = 2
"""Cells of a row that holds a name and one size."""


def _is_translator(model: ModelValue) -> bool:
    """Tell whether a model has an encoder and a decoder: its layers may be counted in either or in both."""
    return model.description is not None and hasattr(model.description.sizes, "decoder_layers")


def _count(scene: Scene, row: Row, cell: Cell, kind: str, subject: Subject, head: str) -> Iterator[Claim]:
    found = [t for t in tokens(cell.text, row.line) if t.kind == "num" and t.unit != "%"]
    if not found or found[0].value is None:
        return
    token = found[0]._replace(start=cell.start + found[0].start, end=cell.start + found[0].end)
    unit = _UNIT.search(head)
    if not token.unit and unit and token.value is not None and token.value < 100_000:
        token = token._replace(unit=_unit(unit), text=f"{token.text}{_unit(unit).upper()}") if _unit(unit) else token
    if not token.unit and token.value is not None and token.value < 10_000:
        return
    if any(m.column <= token.start < m.end for m in scene.mentions.get(row.line, ())):
        return
    hedged = bool(re.match(r"\W*[~≈约]", cell.text))
    settled = settle(token, subject.models, kind, hedged=hedged)
    if settled is not None:
        yield totals.made(scene, token, settled.verdict, settled.expected, settled.reason)
    elif subject.firm and len(scales(token)) and not re.search(r"[-–/]\s*\d", cell.text[found[0].end :]):
        yield from totals.wrong(scene, token, totals.Subject(subject.models, subject.name, True), kind)


def _unit(found: re.Match[str]) -> str:
    if found[1]:
        return {"3": "k", "6": "m", "9": "b"}.get(found[1], "")
    return {"millions": "m", "million": "m", "billions": "b", "billion": "b"}.get(found[2].lower(), found[2].lower())
