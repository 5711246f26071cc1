"""Counts of a text with the words that say what they count: ``每层注意力约 1.05M``, ``so a layer holds 12.6M``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.auditing.checks.own_models import rows_by_line
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.component_words import find_components
from weighbridge.auditing.text.figures import is_operand
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.own_sizes import placed_sizes
from weighbridge.auditing.text.size_words import COUNTING
from weighbridge.auditing.text.tables import Row
from weighbridge.core._namedtuple import NamedTuple

_OTHERWISE = any_word(
    r"\b(?:flops?|gflops?|macs?|ops|bytes?|kb|mb|gb|kib|mib|gib|memory|vram|cache|activations?|gradients?|optimi[sz]er|tokens per|seconds?|steps?|samples?|sentences|examples|corpus|dataset|tokens of|bleu|loss|lr|"
    r"learning|saves?|saved|saving|fewer|less than|more than|reduc\w*|instead|would|suppose|trainable|frozen|lora|experts?|teacher|per head|each head|one head|wide|dimensional|wrote|claim(?:s|ed)?|mistak\w*|wrong(?:ly)?|error|typo|swapped)\b"
    r"|计算量|浮点|显存|内存|字节|缓存|激活|梯度|优化器|语料|数据集|样本|步数|训练集|节省|减少|假设|可训练|冻结|专家|教师|每个头|单头|每头|词元/|条|写成|误|错"
)
"""Words of a clause by which its number counts something else than the parameters of a part of the model."""
_SUPPOSED = pattern(r"\b(?:would|could|were to|at width)\b|改成|改为|换成|假如", re.IGNORECASE)
"""Words of a sentence that goes on about a model of other sizes."""
_SUBJECTS = {
    "word": ("word", "embeddings"), "position": ("position", "embeddings"), "tables": ("embeddings", "word"), "embeddings": ("embeddings", "word"), "attention": ("attention", "qkv"),
    "query": ("map",), "key": ("map",), "value": ("map",), "qkv": ("qkv",), "out": ("map",), "ffn": ("ffn",), "gate": ("map",), "up": ("map",), "down": ("map",), "norm": ("norm",), "layer": ("layer",),
    "encoder": ("stack", "layer"), "head": ("head", "word"), "total": ("total",),
}  # fmt: skip
"""What the words for a component may mean here."""
_LAYERS = pattern(
    r"(?:每一?|一|单个?)(?:个\s?)?(?:transformer\s?|编码器?|解码器?)?(?:层|block|块)|\b(?:each|every|one|a|per|single) (?:\w+ )?(?:layer|block)\b|per[- ]layer",
    re.IGNORECASE,
)
_STACK = pattern(
    r"\d+\s?[×x*]\s?(?:blocks?|layers?|层|块)|(?:blocks?|layers?|层|块)\s?[×x*]\s?\d+|(?:[两三四五六七八九十]|\d+)\s?(?:个\s?)?(?:层|blocks?|块)|\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|twenty-four|all|the)(?: \w+)? (?:layers|blocks)\b|所有层|全部层",
    re.IGNORECASE,
)
_TOTAL = pattern(
    r"总参数|参数总|总共|一共|总计|合计|总量|\btotals?\b|\bin (?:all|total)\b|\baltogether\b|整个模型|\b(?:whole|entire|full) model\b",
    re.IGNORECASE,
)
_PARAMETERS = pattern(r"参数|\bparam(?:eter)?s\b", re.IGNORECASE)
_NUMBERS = {"两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
            "twelve": 12, "sixteen": 16, "twenty-four": 24}  # fmt: skip


class Said(NamedTuple):
    """A count: its place, what its clause says it counts, and how many of that there may be."""

    line: int
    token: Token
    parts: Sequence[str]
    times: Sequence[int]


def labelled_counts(scene: Scene) -> Iterator[Said]:
    """Yield the counts of a text that no equation computes, with what they are said to count."""
    computed = {(t.line, t.start) for chain in scene.chains if len(chain.sides) > 1 for t in chain.tokens[chain.start : chain.end]}
    rows = rows_by_line(scene)
    last: dict[int, int] = {}
    labels: dict[int, Sequence[str]] = {}
    for statement in scene.numbered:
        for place, token in scene.figures_of(statement):
            sized = any(start == token.start for _, _, start, _ in placed_sizes(scene.texts[token.line]))
            if not _is_count(token) or sized or is_operand(statement, place):
                continue
            start = last.get(token.line, 0)
            last[token.line] = token.end
            found = _read(scene, token, start, rows)
            text = scene.texts[token.line]
            if found is None and token.line in labels and text[start : token.start].strip() and _SAME.fullmatch(text, start, token.start):
                found = Said(token.line, token, labels[token.line], (1,))
            labels.pop(token.line, None)  # of a count whose words say something else nothing goes on
            if found is not None:
                labels[token.line] = found.parts
                if (token.line, token.start) not in computed:
                    yield found


_SAME = pattern(
    r"[\s,，;；(（]*(?:个?参数)?[\s,，;；(（]*(?:约|即|大约|也就是|降[到至]|变[为成]|增[加至到]+|到|≈|about|i\.e\.|that is|or|roughly|approximately)?[\s,，]*(?:about|约为?)?\s*",
    re.IGNORECASE,
)
"""Between a count and the same in other words."""


def _is_count(token: Token) -> bool:
    if token.value is None or token.unit:
        return token.value is not None and token.unit in COUNTING
    return (
        token.value.denominator == 1
        and token.value >= LEAST_COUNT
        and (token.value < _YEARS[0] or token.value > _YEARS[1] or "," in token.text)
    )


LEAST_COUNT, _YEARS = 1000, (1990, 2035)


def _read(scene: Scene, token: Token, after: int, rows: Mapping[int, Row]) -> Said | None:
    """Read what a count is of: by the words behind it that say where it lies, by those since the count before it, or in the first cell of its row."""
    text = scene.texts[token.line]
    start, stop = sentence_of(text, token.start)
    row = rows.get(token.line)
    zone = row.cells[0].text if row is not None and len(row.cells) == _CELLS else text[max(start, after) : token.start]
    behind = _CLAUSE.split(text[token.end : min(stop, token.end + _BEHIND)])[0]
    if (
        _OTHERWISE.search(_clause_of(zone))
        or _OTHERWISE.search(behind)
        or _SUPPOSED.search(text, start, token.start)
        or any(start <= m.column < stop for m in scene.mentions.get(token.line, ()) if m.names)
    ):
        return None
    place = _LIES_IN.match(behind)
    label = behind[place.start("label") :] if place is not None and find_components(behind[place.start("label") :]) else zone
    parts = _parts(label, behind)
    if parts == ["total"] and _LAYERS.search(text, start, token.start) is not None:
        parts = ["layer", "total"]  # ``单层：注意力 4.2M，FFN 8.4M，共 12.6M``
    numbers = tuple(_number(found) for found in _MANY.findall(label))
    times = tuple(sorted({1, *(number for number in numbers if 1 < number <= _MOST_LAYERS)}))
    return Said(token.line, token, tuple(dict.fromkeys(parts)), times) if parts else None


def _clause_of(zone: str) -> str:
    """Return the last clauses of the words before a count, from the one on that names what it counts."""
    place = len(zone)
    while place > 0:
        place = max((zone.rfind(sign, 0, place) for sign in _COMMAS), default=-1)
        if place < 0 or _parts(zone[place:], ""):
            break
    return zone[max(place, 0) :]


_COMMAS = (", ", "，", "；", "; ", "：", ": ", "。")


def _parts(label: str, behind: str) -> list[str]:
    """Return what the words for a count may mean."""
    parts = [part for name in dict.fromkeys(m.subject for m in find_components(label)) for part in _SUBJECTS.get(name, ())]
    if _LAYERS.search(label) is not None or _LAYERS.search(behind) is not None:
        parts.append("layer")
    if _STACK.search(label) is not None:
        parts += ["stack", "layer"]
    if (
        _TOTAL.search(label) is not None
        or _TIED.search(label) is not None
        or (not parts and _PARAMETERS.search(label + behind) is not None)
    ):
        parts.append("total")
    return parts


_TIED = pattern(r"\b(?:un)?tied\b|\btying\b|共享", re.IGNORECASE)
"""Words about tables that are one: what is counted with them or without is the whole model."""
_LIES_IN = pattern(
    r"\s?(?:parameters?\s|params\s|weights\s)?(?:are |is |lie |sit |live )?(?:in|for|from|of) (?:each |every |one )?(?:the |its |all )?(?P<label>[a-z\d][^,.;]{1,40})",
    re.IGNORECASE,
)
"""Behind a count, what it lies in: ``9.44M in the attention``, ``37.8M are in the layers``."""
_CELLS, _BEHIND, _MOST_LAYERS = 2, 40, 256
_CLAUSE = pattern(r"[,，;；。:：|]")
_MANY = pattern(
    r"[两三四五六七八九十]|(?<![\d.,])\d{1,3}(?![\d.,]*\d)|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|twenty-four)\b"
)


def _number(word: str) -> int:
    return _NUMBERS.get(word.lower(), 0) or (int(word) if word.isdigit() else 1)
