"""What a dtype's words say of the bytes that each number takes: the one table of them, and lines that state it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark

DTYPES = (
    (Exact(2), patterns.pattern(r"(?<![a-z0-9])(?:fp16|bf16|b?float16|f16|half|16[- ]?bits?)(?![0-9])|半精度|16 ?位", re.IGNORECASE)),
    (
        Exact(4),
        patterns.pattern(
            r"(?<![a-z0-9])(?:fp32|float32|f32|float(?![0-9a-z])|(?:full|single)[- ]precision|32[- ]?bits?)(?![0-9])|单精度|全精度|32 ?位",
            re.IGNORECASE,
        ),
    ),
    (Exact(1), patterns.pattern(r"(?<![a-z0-9])(?:u?int8|fp8|q8|8[- ]?bits?)(?![0-9])|(?<![0-9])8 ?位", re.IGNORECASE)),
    (Exact(1, 2), patterns.pattern(r"(?<![a-z0-9])(?:u?int4|fp4|nf4|q4|4[- ]?bits?)(?![0-9])|(?<![0-9])4 ?位", re.IGNORECASE)),
)
"""Bytes for each number, by the words of a dtype."""
_EACH = patterns.pattern(
    r"(?<![\d.])(\d{1,2}(?:\.\d+)?)[ -]?bytes? (?:per|for each|for every|each|a)\b ?(?:model )?(?:param\w*|weight)|(?<![\d.])(\d{1,2}(?:\.\d+)?)[ -]?bytes?/param|"
    r"(?:each|every|per) (?:param\w*|weight) (?:takes?|needs?|uses?|costs?|requires?|occupies|is|at)(?: up| about)? (\d{1,2}(?:\.\d+)?) ?bytes?|"
    r"每个?参数(?:占用?|需要?|用|共|为|是|约|要)*\W{0,2}(\d{1,2}(?:\.\d+)?) ?(?:个?字节|bytes?)",
    re.IGNORECASE,
)
_FILLERS = patterns.pattern(
    r"precision|integers?|floating[- ]?point|floats?|brain|numbers?|uses?|takes?|needs?|requires?|is|are|has|stores?|each|every|one|parameters?|params?|weights?|in|for|or|at|with|"
    r"精度|整型|整数|浮点数?|类型|每个|一个|参数|权重|占用?|需要?|为|是|用|存储|即|的|和|或|下|时|以",
    re.IGNORECASE,
)
_BEHIND = patterns.pattern(
    r"\s*(?:$|[|,，。;；.)）(（]|(?:per|/|a|each|every|for each)\b ?(?:param|weight|element|number|value)|/ ?参数|每)", re.IGNORECASE
)
_CLAUSE = patterns.pattern(r"[。;；,，](?!\d)|\b(?:and|while|whereas|but)\b|而")
_WIDEST = 16
"""Bytes beyond which a figure is no single number's."""
_BYTES = ("byte", "bytes", "字节")


@once_for_each_text
def dtype_sizes(text: str) -> list[Fraction]:
    """Return the bytes of every dtype that a text names.

    >>> dtype_sizes("in bfloat16, or 4-bit")
    [Fraction(2, 1), Fraction(1, 2)]
    """
    return [size for size, pattern in DTYPES if pattern.search(text)] if _NAMES_ONE.search(text) else []


_NAMES_ONE = patterns.any_word(r"fp|bf|float|f16|f32|half|bit|precision|精度|位|int|q8|q4")
"""What stands in every word for a dtype."""


def bytes_each(text: str) -> list[Fraction]:
    """Return how many bytes a text says that each parameter takes.

    >>> bytes_each("at 2 bytes per parameter"), bytes_each("每个参数共 16 字节")
    ([Fraction(2, 1)], [Fraction(16, 1)])
    """
    said = (next(filter(None, match.groups())) for match in _EACH.finditer(text))
    return [size for size in map(Fraction, dict.fromkeys(said)) if size]


def check(scene: Scene) -> Iterator[Claim]:
    """Check lines that say how many bytes a dtype takes: ``FP32: 4 bytes``, ``| BF16 | 2 bytes |``, ``INT8 (8 位整型): 1 字节``."""
    yield from _of_tables(scene)
    judged: set[tuple[int, int]] = set()
    for _, _, token in scene.sorted_figures.in_bytes:
        if token.unit in _BYTES and token.value and token.value <= _WIDEST:
            right = _stated_dtype(scene, token)
            if right is not None:
                judged.add((token.line, token.start))
                yield _claim(scene, token, right)
    for token, right in (*_of_lists(scene), *_of_pairs(scene)):
        if (token.line, token.start) not in judged:
            judged.add((token.line, token.start))
            yield _claim(scene, token, right)


def _of_tables(scene: Scene) -> Iterator[Claim]:
    """Check a column of bytes per parameter, whose rows begin with a dtype: ``| FP16/BF16 | 2 |``."""
    for table in scene.tables:
        places = [place for place, head in enumerate(column_heads(table)) if place and _PER_PARAMETER.search(head)]
        for row in table.rows if len(places) == 1 else ():
            sizes, cell = dtype_sizes(row.cells[0].text), row.cells[places[0]] if places[0] < len(row.cells) else None
            figure = _PLAIN.fullmatch(cell.text) if cell is not None else None
            if cell is not None and figure is not None and len(sizes) == 1 and not _MIXED.search(row.cells[0].text):
                yield _claim(scene, _token(figure[1], cell.line, cell.start + figure.start(1)), sizes[0])


def _of_lists(scene: Scene) -> Iterator[tuple[Token, Fraction]]:
    """Yield bytes whose dtype stands behind them: ``bytes/weight ≈ 0.5 (4-bit), 1 (8-bit)``, ``each parameter takes 4 bytes in float32``."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        lead = _OF_EACH.search(text) if "byte" in text.lower() else None
        for figure in _WITH_DTYPE.finditer(text, lead.start()) if lead is not None else ():
            sizes = dtype_sizes(figure["dtype"] or figure["of"])
            if len(sizes) == 1 and (
                figure["bytes"] or _PER_PARAMETER.search(text, lead.start() if lead is not None else 0, figure.start())
            ):
                yield _token(figure["number"], index, figure.start("number")), sizes[0]


def _of_pairs(scene: Scene) -> Iterator[tuple[Token, Fraction]]:
    """Yield the bytes of a line that pairs dtypes with them: ``每个参数的字节数（fp32=4，fp16=2，int8≈1）``; one at least must be right."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        lead = _OF_PAIRS.search(text)
        found = [
            (_token(pair["number"], index, pair.start("number")), sizes[0])
            for pair in (_PAIR.finditer(text, lead.end()) if lead is not None else ())
            if len(sizes := dtype_sizes(pair["dtype"])) == 1
        ]
        if len(found) > 1 and any(token.value == right for token, right in found):
            yield from found


_OF_PAIRS = patterns.pattern(
    r"(?:每个?|单个)(?:参数|元素|权重|数值?|数字)的?字节数?|精度字节数?|字节数|\bbytes? (?:per|for each|a) (?:param\w*|element|value|number|weight)|\bbytes?/param\w*",
    re.IGNORECASE,
)
_PAIR = patterns.pattern(
    r"(?<![\w/])(?P<dtype>(?:fp|bf|float|bfloat|int|nf)\d{1,2}(?:/(?:fp|bf|float|bfloat|int|nf)\d{1,2})?)\s?(?:=|≈|:|：|为|是|占|→|->)\s?(?P<number>\d{1,2}(?:\.\d+)?)"
    r"(?=\s?(?:[,，、;；)）|]|$|个?字节|bytes?\b|B\b))",
    re.IGNORECASE,
)
"""Before pairs of a dtype and its bytes, and such a pair."""


def _token(number: str, line: int, start: int) -> Token:
    return Token("num", number, line, start, start + len(number), Exact(number))


_PER_PARAMETER = patterns.pattern(
    r"\bbytes?\b ?(?:/|per|for each|each|a) ?(?:model )?(?:param\w*|weights?|values?|numbers?|elements?)\b|每个?参数的?字节数?|字节/参数",
    re.IGNORECASE,
)
_OF_EACH = patterns.pattern(
    r"\b(?:each|every|a|per|one|/) ?(?:model )?(?:param\w*|weights?)\b|\bbytes?[/ ](?:per )?(?:param\w*|weight)", re.IGNORECASE
)
_WITH_DTYPE = patterns.pattern(
    r"(?<![\w.,×*/^-])(?P<number>\d{1,2}(?:\.\d+)?)(?P<bytes>[ -]?bytes?(?: each)?)?"
    r"(?:\s?[(（](?:in |for )?(?P<dtype>[A-Za-z0-9/ -]{3,20})[)）]| (?:in|for|with|as|at) (?:an? )?(?P<of>[A-Za-z]*[ -]?\d{0,2}[ -]?(?:bits?|precision)?)\b(?!\s?\d))",
    re.IGNORECASE,
)
_PLAIN = patterns.pattern(r"[\s*`]*(\d{1,2}(?:\.\d+)?)(?:\s?bytes?)?[\s*`]*", re.IGNORECASE)
_MIXED = patterns.pattern(
    r"mixed|混合|tf32|block|group|adam|moments?|moment(?:um|a)|states?\b|optimi[sz]er|total|动量|优化器|状态|合计|总", re.IGNORECASE
)


def _stated_dtype(scene: Scene, token: Token) -> Fraction | None:
    """Return the bytes of the dtype whose label is all that stands before a number, in its line or its row."""
    text = scene.lines[token.line].text
    label = _CLAUSE.split(text[: token.start])[-1]
    sizes = dtype_sizes(label)
    if len(sizes) != 1 or not _BEHIND.match(text, token.end):
        return None
    rest = _FILLERS.sub("", next(pattern for size, pattern in DTYPES if size == sizes[0]).sub("", label))
    return None if re.search(r"[^\W_]", rest) else sizes[0]


def _claim(scene: Scene, token: Token, right: Fraction) -> Claim:
    value = token.value or Exact(0)
    if value == right:
        verdict, reason = "exact", because(mark("the bytes of this dtype"))
    else:
        verdict, reason = "wrong", because(mark("it is {right}"), right=right)
    facts = {"value": whole(value), "expected": whole(right), "difference": whole(value - right), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
