"""Figures of key-value caches as sentences say them: the bytes, and the tokens and sequences that they are of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.core._namedtuple import NamedTuple

_FIGURE = pattern(
    r"(?<![A-Za-z0-9_.$/^×*-])(?<!\d,)(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s?(?P<unit>[KMGT]i?B|bytes|字节)(?![A-Za-z0-9_])(?!\s?/\s?s)(?!\s?[×x*/]\s?\d)(?!\s?per (?:value|elem|param|number))"
)
ELSEWHERE = pattern(
    r"weights?\b|param|\btotal\b|plus|\bgpus?\b|cards?\b|saves?\b|sav(?:es|ing)|fewer|less\b|more than|at least|up to|\bover\b|remaining|left\b|window|sliding|\bmla\b|latent|compress|evict|quanti[sz]|int8|fp8|int4|\b8-bit|4-bit|per layer|each layer|a layer|"
    r"activation|instead|without|would|MHA|multi-head attention|\bif\b|\bper second\b|权重|参数|总共|合计|显卡|单卡|节省|减少|降|至少|超过|以上|剩|窗口|滑动|潜在|压缩|量化|每一?层|单层|激活|如果|若|而不是|MHA|多头",
    re.IGNORECASE,
)
"""Words by which a figure may be of more than the cache, of less, or of another than the sizes beside it tell."""
_PER_TOKEN = pattern(
    r"(?:per|each|every|one|a|single)[- ](?:new |generated |additional )?token\b|/\s?token|每(?:生成|新增|多)?一?个?\s?(?:token|词元)|(?:单|一)个\s?(?:token|词元)",
    re.IGNORECASE,
)
_N = r"\d{1,3}(?:,\d{3})+(?!\d)|\d{1,7}"
_LENGTH = pattern(
    rf"(?<![A-Za-z0-9_.])(?<!\d,)(?P<number>{_N})\s?(?P<k>[kK])?[- ]?(?:个\s?)?(?:tokens?\b|词元|(?:token )?(?:context|sequence)\b|的?上下文|长度)"
    rf"|(?:context(?: length| window)?|seq(?:uence)?[ _]?(?:len(?:gth)?)?|上下文(?:长度)?|(?<![A-Za-z])[STNs])\s?(?:of|=|为|是|:)?\s?(?P<after>{_N})\s?(?P<behind>[kK])?(?![A-Za-z0-9%]|\.\d|\s?[KMGT]i?B)",
    re.IGNORECASE,
)
_BATCH = pattern(
    r"(?:batch(?:[ _]?size)?|(?<![A-Za-z])B|并发|批(?:大小|量)?)\s?(?:of|=|为|是|:)?\s?(\d{1,4})(?![\d.]|\s?[KMGT]i?B)|(?<![\d.,])(\d{1,4})\s?(?:路|个)?\s?(?:并发|concurrent|parallel|requests?\b|users?\b|sequences?\b|sessions?\b|条)",
    re.IGNORECASE,
)
_LINE_LENGTH = pattern(
    r"[\s*•\-–|]*(?:@\s?)?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})\s?(?P<k>[kK])?\s?(?:tokens?|个\s?token|词元|context|ctx|上下文)?\s?(?:[:：|→=≈~]|->|\s)\s?[~≈约]?\s?$",
    re.IGNORECASE,
)
_CLAUSE = pattern(r"[,，;；。!?！？(（)）]|\.(?=\s|$)|\b(?:and|but|while)\b")
_SENTENCE = pattern(r"[;；。!?！？|]|\.(?=\s|$)")
_SCALES = {"k": (2**10, 10**3), "m": (2**20, 10**6), "g": (2**30, 10**9), "t": (2**40, 10**12), "b": (1,), "字": (1,)}
ONE_TOKEN = (Fraction(1),)
"""The length that a figure is of which is said for each token."""


class CacheFigure(NamedTuple):
    """A figure: where it stands, what it says, the tokens and sequences that it is of, and the bytes of one sequence that stand before it."""

    line: int
    start: int
    end: int
    number: str
    unit: str
    tokens: tuple[Fraction, ...]
    batches: tuple[int, ...]
    doubtful: bool
    ladder: bool = False
    before: tuple[Fraction, ...] = ()

    @property
    def scales(self) -> tuple[int, ...]:
        known = _SCALES[self.unit[0].lower()]
        return known[:1] if "i" in self.unit[1:2] else known

    @property
    def value(self) -> Fraction:
        return Fraction(self.number.replace(",", ""))

    @property
    def unit_shown(self) -> Fraction:
        """What its last digit counts."""
        return Fraction(1, 10 ** len(self.number.partition(".")[2]))


@once_for_each_shape
def _has_figure(text: str) -> bool:
    return _FIGURE.search(text) is not None


def figures_of_line(scene: Scene, index: int) -> Iterator[CacheFigure]:
    """Yield the figures of a line with the tokens and the batch that their own sentence says."""
    text, last = scene.lines[index].text, 0
    if not _has_figure(text):
        return
    figures = [m for m in _FIGURE.finditer(text) if m["unit"][0] not in "b字" or len(m["number"]) > _SMALL]
    tokens: tuple[Fraction, ...] = ()
    for place, found in enumerate(figures):
        start = max([last, *(m.end() for m in _SENTENCE.finditer(text, last, found.start()))])
        until = figures[place + 1].start() if place + 1 < len(figures) else len(text)
        stop = next((m.start() for m in _CLAUSE.finditer(text, found.end(), until)), until)
        words = text[start : found.start()] + " " + text[found.end() : stop]
        alone = _LINE_LENGTH.fullmatch(text[: found.start()])
        again = place > 0 and tokens == ONE_TOKEN and _AGAIN.fullmatch(text, last, found.start()) is not None
        each = again or _PER_TOKEN.search(words) is not None
        lengths = [alone] if alone is not None else list(_LENGTH.finditer(words))
        batches = tuple(int(m[1] or m[2]) for m in _BATCH.finditer(words))
        before = tokens if batches and tokens != ONE_TOKEN else ()
        of_batch = _span(figures[place - 1]) if before and place else ()
        tokens = (Fraction(1),) if each else tuple(n for one in lengths for n in _length(one)) or before
        behind = _PER_TOKEN_BEHIND.match(text, found.end())
        last = behind.end() if behind is not None else found.end()
        if len(lengths) <= 1 and (tokens or batches) and _BESIDE_MORE.match(text, found.end()) is None:
            yield CacheFigure(
                index,
                *found.span(),
                found["number"],
                found["unit"],
                tokens,
                batches,
                ELSEWHERE.search(words) is not None or len(batches) > 1,
                alone is not None and bool(tokens),
                of_batch,
            )


def _span(found: re.Match[str]) -> tuple[Fraction, ...]:
    """Return the bytes of a figure, in thousands or in powers of two."""
    return tuple(Fraction(found["number"].replace(",", "")) * scale for scale in _SCALES[found["unit"][0].lower()])


_PER_TOKEN_BEHIND = pattern(r"\s?(?:of (?:kv |cache |memory )*)?(?:per|/|for each|for every|each|a|每个?)\s?(?:token|词元)", re.IGNORECASE)
_SMALL = 2
"""Digits up to which bytes are one number's."""
_AGAIN = pattern(r"\s?(?:per token)?[,，]?\s?(?:[(（=≈~]|i\.e\.|that is|即|也就是)\s?[,，]?\s?[~≈约]?\s?", re.IGNORECASE)
"""Between a figure and the same in another unit."""
_BESIDE_MORE = pattern(r"\s?[-–~到]\s?\d")


def _length(found: re.Match[str]) -> list[Fraction]:
    groups = found.groupdict()
    number = Fraction((groups["number"] or groups["after"]).replace(",", ""))
    return [number * 1024, number * 1000] if groups["k"] or groups.get("behind") else [number]
