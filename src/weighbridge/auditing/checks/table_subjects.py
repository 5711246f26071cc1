"""Tables of models: what each column holds, and which model each row or column is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.field_values import LAYER_KINDS
from weighbridge.auditing.checks.names import SIZE_WORDS, Mention, within
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.subjects import family_of
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.tables import Cell, Row, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import FAMILY_ABOVE, MOST_MEMBERS
from weighbridge.presets.aliases import FAMILY, MODEL, member

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


_COLUMNS = (
    ("other", re.compile(r"kv ?@|k[/-]?v[- ]?cache|flop|mac\b|macs|bytes?\b|memory|显存|vram|\bmb\b|\bgb\b|speed|score|acc|loss|ratio|%|glue|squad|time|latency|throughput|batch|learn|token|\blr\b|download|rank|trainable|lora|data|step|top-?1|throughput|hours?\b|year|date|年|日期|小时", re.IGNORECASE)),
    ("active", re.compile(r"activ|激活", re.IGNORECASE)),
    ("non_embedding", re.compile(r"non[- _]?emb|非嵌入|w/o emb|without emb", re.IGNORECASE)),
    ("part", re.compile(r"(?:encoder|decoder|embedding|vision|visual|image|text|backbone|head|embed|emb)\w*[- _]*(?:param|参数)|嵌入", re.IGNORECASE)),
    ("total", re.compile(r"param|参数|^#?\s*size$|model size|^大小$|模型大小", re.IGNORECASE)),
    ("kv_heads", re.compile(r"kv|key.?value", re.IGNORECASE)),
    ("head_dim", re.compile(r"d[_ ]?head|head[_ ]?dim|d[_ ]?kv|head size|d_k\b", re.IGNORECASE)),
    ("mlp", re.compile(r"d[_ ]?ffn?|ffn|intermediate|mlp|feed.?forward|中间|前馈", re.IGNORECASE)),
    ("embedding_size", re.compile(r"^embed(?:ding)?s?(?: size| dim\w*)?$", re.IGNORECASE)),
    ("vocab", re.compile(r"vocab|词表", re.IGNORECASE)),
    ("heads", re.compile(r"heads?\b|头数?|^a$", re.IGNORECASE)),
    ("layers", re.compile(r"^(?:#|num|number of|n|no\. of|transformer|encoder|hidden)*[ _#]*(?:hidden |transformer |encoder )?(?:layers?|blocks?)(?:\s*\(?l\)?)?$|(?:vision|image|text|audio)[ _]layers?$|层数|^depth$|^l$", re.IGNORECASE)),
    ("hidden", re.compile(r"^(?:d|dmodel|h)$|hidden|d[_ ]?model|model[_ ]dim|^dim(?:ension)?s?$|^width$|embed(?:ding)?[_ ]dim|n_embd|_state$|(?:vision|image|text) width$|隐藏|维度|宽度|dim\b", re.IGNORECASE)),
)  # fmt: skip
"""What a column holds, by the words of its head; the first that fits."""

SIZE_COLUMNS = (
    "mlp",
    "vocab",
    "heads",
    "kv_heads",
    "layers",
    "hidden",
    "head_dim",
    "positions",
    "experts",
    "active_experts",
    "shared",
    *LAYER_KINDS,
)
_COUNTS = ("total", "active", "non_embedding", "part")
_GRID = re.compile(r"\b([A-Z])\s*=\s*\d+")


class ModelTable(NamedTuple):
    """A table whose rows or columns are models: each judged cell with its model and what it holds."""

    table: Table
    cells: tuple[tuple[Row, Cell, str, Subject, str], ...]


def bind(scene: Scene) -> list[ModelTable]:
    """Find the tables whose rows or columns are models."""
    found = []
    for table in scene.tables:
        bound = _by_rows(scene, table) or _by_columns(scene, table)
        bound = bound if any(re.search(r"\d", cell.text) for _, cell, *_ in bound) else []
        if bound or is_grid(table):
            found.append(ModelTable(table, tuple(bound)))
    return found


def is_grid(table: Table) -> bool:
    """Tell whether a row sets one size to several values: ``H=128 | H=256``, a grid of models and no statement."""
    for row in (*table.head, *table.rows):
        letters = [match[1] for cell in row.cells for match in _GRID.finditer(cell.text)]
        if any(letters.count(letter) > 1 for letter in letters):
            return True
    return False


def column_heads(table: Table) -> list[str]:
    """Return the words at the head of each column; of the table that was asked for last, which each of its rows asks for, they are kept."""
    global _last_heads
    last, heads = _last_heads
    if last is not table:
        width = max(len(row.cells) for row in (*table.head, *table.rows))
        heads = [" ".join(row.cells[i].text for row in table.head if i < len(row.cells)).strip() for i in range(width)]
        _last_heads = table, heads
    return heads


_last_heads: tuple[Table | None, list[str]] = (None, [])


def kind_of(head: str) -> str:
    """Return what a column holds.

    >>> kind_of("Non-Embedding Params"), kind_of("#Params"), kind_of("d_model"), kind_of("FLOPs"), kind_of("Name"), kind_of("FFN units (H)")
    ('non_embedding', 'total', 'hidden', 'other', '', 'hidden')
    """
    plain = re.sub(r"[*`_\\]+(?=\s|$)|^[*`_\\]+", "", head).strip()
    bare = re.sub(r"[(（\[].*?[)）\]]", "", plain).strip() or plain
    phrase = " ".join(re.sub(r"[_\-\\{}$#]+", " ", re.sub(r"\(.*?\)|（.*?）", " ", head)).translate(_DRESS).split()).lower()
    kind = _PHRASES.get(phrase) or next((kind for kind, pattern in _COLUMNS if pattern.search(bare)), "")
    letter = _SYMBOL.search(plain)
    return LETTERS[letter[1]] if letter and kind in _WIDTHS and LETTERS.get(letter[1]) in _WIDTHS else kind


_LAYER_WORDS = {"dense": ("dense",), "moe": ("moe", "sparse", "expert")}
_PHRASES = {
    **{phrase: word for phrase, word in LABELS.items() if word not in ("types", "patch", "active") and phrase not in ("state", "size", "embedding size")},
    **{phrase: "active_experts" for phrase, word in LABELS.items() if word == "active"},
    **dict.fromkeys("max seqlen, seqlen, seq len, max seq, max len, maxlen, max seq length, n positions, ctx size, context, max context, context len, max context length, ctx, ctx len, max ctx, window, max tokens, max input length, 上下文, 上下文长度, 上下文窗口, 最大上下文, 最大上下文长度".split(", "), "positions"),
    **dict.fromkeys("size per head, head width, heads dim, per head dim, d kv, dkv".split(", "), "head_dim"),
    **dict.fromkeys(("mparams", "params m", "m params"), "total"),
    **{f"{before}{word} layer{plural}": f"{kind}_layers" for kind, words in _LAYER_WORDS.items() for word in words for before in ("", "num ", "number of ", "n ", "no. of ") for plural in ("", "s")},
    "稠密层数": "dense_layers",
    "moe 层数": "moe_layers",
    "v": "vocab",
    "s": "positions",
    **dict.fromkeys("blocks, num blocks, n blocks, network depth, l".split(", "), "layers"),
    **dict.fromkeys("q heads, attn heads, heads, n heads, num heads, query heads, attention heads, a".split(", "), "heads"),
    **dict.fromkeys("ffn, mlp, d ff, dff, d ffn, d mlp, ffn hidden, ffn intermediate, ffn inner, feed forward, ffn 中间维度, ffn 隐藏层维度".split(", "), "mlp"),
}  # fmt: skip
"""What a column holds whose head is one of the phrases that name sizes anywhere."""
_DRESS = str.maketrans("*`.:=：", "      ")
_SYMBOL = re.compile(r"[(（]\$?([A-Z])\$?[)）]")
_WIDTHS = ("mlp", "hidden")
"""Columns whose letter says which width they hold, whatever it is called: ``FFN units (H)``."""


def _by_rows(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    heads = column_heads(table)
    kinds = [kind if _has_figures(table, place) else "" for place, kind in enumerate(kind_of(head) for head in heads)]
    if not any(kind in (*SIZE_COLUMNS, *_COUNTS) for kind in kinds):
        return []
    families = families_of(scene, table)
    found = []
    for row in table.rows:
        subject = _row_subject(scene, row, kinds, families)
        if subject is not None:
            subject = _rank_by_sizes(subject, row, kinds)
            found += [
                (row, cell, kind, subject, head)
                for cell, kind, head in zip(row.cells, kinds, heads, strict=False)
                if kind in (*SIZE_COLUMNS, *_COUNTS)
            ]
    return found


def _has_figures(table: Table, place: int) -> bool:
    """Tell whether a column holds numbers: one called ``Size`` may hold ``tiny`` and ``base``."""
    return any(place < len(row.cells) and re.search(r"\d", row.cells[place].text) for row in table.rows)


def _by_columns(scene: Scene, table: Table) -> list[tuple[Row, Cell, str, Subject, str]]:
    top = (*table.head, *table.rows[:1])[:1]
    families = families_of(scene, table)
    subjects = [named_in_cell(scene, cell.text, families) for cell in (top[0].cells[1:] if top else ())]
    if not any(subjects):
        return []
    found = []
    for row in table.rows:
        kind = kind_of(row.cells[0].text)
        if kind in (*SIZE_COLUMNS, *_COUNTS):
            for cell, subject in zip(row.cells[1:], subjects, strict=False):
                if subject is not None:
                    found.append((row, cell, kind, subject, row.cells[0].text))
    return found


def families_of(scene: Scene, table: Table) -> list[str]:
    """Return the families that a table may be about: named in its head, else last above it, else the only one of the text."""
    first = min(table.lines)
    inside = [(m, line) for line in sorted({cell.line for row in table.head for cell in row.cells}) for m in scene.mentions.get(line, ())]
    above = [(m, line) for line in range(first - 1, max(-1, first - 1 - FAMILY_ABOVE), -1) for m in scene.mentions.get(line, ())]
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
            found = named_in_cell(scene, cell.text, families)
            if found is not None:
                return found
    family = _family_row(scene, row, kinds)
    if family is not None:
        return family
    lead = row.cells[0].text
    if kinds[0] == "total" or re.fullmatch(r"[\d.]+\s*[MB]", lead, re.IGNORECASE):
        return member_of(scene, re.sub(r"[^\w.]", "", lead), families, firm=False) or _by_size(scene, row, kinds)
    return None


def _by_size(scene: Scene, row: Row, kinds: Sequence[str]) -> Subject | None:
    """Take a row that is led by its count for the member of a named family that has its sizes: ``| 6.7B | 4096 | 32 |``."""
    names = dict.fromkeys(name for found in scene.mentions.values() for m in found for name in m.names)
    models = [model for name in list(names)[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
    told = {kind: whole_number(cell) for cell, kind in zip(row.cells, kinds, strict=False) if kind in SIZE_COLUMNS}
    fitting = [model for model in models if len(told) > 1 and all(words_of(model).get(kind) == value for kind, value in told.items())]
    return Subject(tuple(fitting), fitting[0].source, False) if fitting else None


def _family_row(scene: Scene, row: Row, kinds: Sequence[str]) -> Subject | None:
    """Take a row that names only a family for the members that its own count fits: ``| GPT-3 | 175B | 96 |``."""
    mentions = [m for cell, kind in zip(row.cells[:3], kinds, strict=False) if kind in ("", "other") for m in within(cell.text)]
    cells = [cell for cell, kind in zip(row.cells, kinds, strict=False) if kind == "total"]
    figures = [t for cell in cells for t in tokens(cell.text, cell.line) if t.kind == "num" and t.unit]
    if len(mentions) != 1 or mentions[0].kind != FAMILY or len(figures) != 1:
        return None
    models = [model for name in mentions[0].names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
    fitting = tuple(model for model in models if settle(figures[0], (model,)) is not None)
    return Subject(fitting, fitting[0].source, False) if fitting else None


def named_in_cell(scene: Scene, text: str, families: Sequence[str]) -> Subject | None:
    """Return the models that a cell names, sizes alone taken for members of the table's families."""
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
    return member_of(scene, size[1], families, firm=False) if size and len(plain) <= 3 else None


def _is_whole(text: str, mention: Mention) -> bool:
    """Tell whether a cell holds nothing but the name."""
    rest = re.sub(r"\([^)]*\)|\[[^\]]*\]|https?\S+|[\W_]", "", text[: mention.column] + text[mention.end :])
    return len(rest) <= 6


def member_of(scene: Scene, size: str, families: Sequence[str], *, firm: bool) -> Subject | None:
    """Return the member of a family that has a size."""
    found = member(families, size)
    return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=firm) if found is not None else None


def _of(scene: Scene, mention: Mention, *, firm: bool) -> Subject | None:
    found = of_mention(scene, mention, firm=firm)
    return found._replace(firm=firm) if found is not None else None


def _rank_by_sizes(subject: Subject, row: Row, kinds: Sequence[str]) -> Subject:
    """Put first the model whose sizes are those of the row, and be sure where two sizes and more agree."""

    def agreement(model: ModelValue) -> int:
        own = words_of(model)
        return sum(
            whole_number(cell) == own.get(kind)
            for cell, kind in zip(row.cells, kinds, strict=False)
            if kind in SIZE_COLUMNS and kind in own
        )

    ranked = sorted(subject.models, key=lambda model: -agreement(model))
    return Subject(tuple(ranked), subject.name, subject.firm or agreement(ranked[0]) >= 2)


def whole_number(cell: Cell) -> int | None:
    """Return the whole number that a cell holds and nothing else but a remark, or None.

    >>> whole_number(Cell("32,768 (GQA)", 0, 6)), whole_number(Cell("128K", 0, 4)), whole_number(Cell("12-16", 0, 5))
    (32768, None, None)
    """
    plain = _REMARK.sub("", cell.text.strip("*`~≈$\\ †‡^")).strip("*`~ ").replace(",", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 12 else None


_REMARK = re.compile(
    r"\s*[(（\[][^()（）\[\]]*[)）\]]$|\s+(?:layers?|heads?|dims?|dimensions?|tokens?|blocks?|units|experts?|[层个维])$", re.IGNORECASE
)
