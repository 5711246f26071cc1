"""Key-value caches by the numbers beside them: layers, heads and widths give the bytes of a token, the bytes of a token those of a context and of a batch.

``80 layers, 8 KV heads of 128, fp16: 320 KB a token, 10 GB for a 32K context``: a figure that is one digit off all that these multiply to is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.caches import elements_per_token
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_FIGURE = pattern(
    r"(?<![A-Za-z0-9_.$/^×*-])(?<!\d,)(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s?(?P<unit>[KMGT]i?B|bytes|字节)(?![A-Za-z0-9_])(?!\s?/\s?s)(?!\s?[×x*/]\s?\d)(?!\s?per (?:value|elem|param|number))"
)
_CACHE = pattern(r"\bkv\b|k/v|key.?value|cach(?:e|es|ing)\b|缓存|键值", re.IGNORECASE)
_ELSE = pattern(
    r"weights?\b|param|\btotal\b|plus|\bgpus?\b|cards?\b|saves?\b|sav(?:es|ing)|fewer|less\b|more than|at least|up to|\bover\b|remaining|left\b|window|sliding|\bmla\b|latent|compress|evict|quanti[sz]|int8|fp8|int4|\b8-bit|4-bit|per layer|each layer|a layer|"
    r"activation|instead|without|would|MHA|multi-head attention|\bif\b|\bper second\b|权重|参数|总共|合计|显卡|单卡|节省|减少|降|至少|超过|以上|剩|窗口|滑动|潜在|压缩|量化|每一?层|单层|激活|如果|若|而不是|MHA|多头",
    re.IGNORECASE,
)
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
_SIZES = {
    "layers": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?(?:transformer |decoder |hidden )?layers?\b|(?<![A-Za-z])(?:L|n_?layers?|num_(?:hidden_)?layers)\s?=\s?(\d{1,3})(?!\d)|(?<!\d)(\d{1,3})\s?层(?!数)", re.IGNORECASE),
    "keys": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?个?\s?(?:KV|key[-/ ]value)[- ]?(?:heads?\b|头)|(?:n_?kv(?:_heads)?|num_key_value_heads|kv_heads)\s?=\s?(\d{1,3})(?!\d)", re.IGNORECASE),
    "heads": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?(?:attention )?heads?\b|(?<!\d)(\d{1,3})\s?个(?:注意力)?头", re.IGNORECASE),
    "width": pattern(
        r"(?:head[ _]?dim(?:ension)?|d_?head|(?<![A-Za-z_])d(?:_k)?)\s?(?:of|=|为|是|:)?\s?(\d{2,3})(?!\d)|(?<![\d,.])(\d{2,3})[- ]dim(?:ension(?:al|s)?)?\b(?: heads?)?|(?:heads? )?of (?:size |dimension )(\d{2,3})(?!\d)|heads (?:of|with) (\d{2,3})(?!\d)|每个?头\s?(\d{2,3})\s?维",
        re.IGNORECASE,
    ),
}  # fmt: skip
_BYTES = pattern(r"(?<![\d.])([124])\s?(?:bytes?|字节)(?! per token)", re.IGNORECASE)
_LINE_LENGTH = pattern(
    r"[\s*•\-–|]*(?:@\s?)?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})\s?(?P<k>[kK])?\s?(?:tokens?|个\s?token|词元|context|ctx|上下文)?\s?(?:[:：|→=≈~]|->|\s)\s?[~≈约]?\s?$",
    re.IGNORECASE,
)
_CLAUSE = pattern(r"[,，;；。!?！？(（)）]|\.(?=\s|$)|\b(?:and|but|while)\b")
_SENTENCE = pattern(r"[;；。!?！？|]|\.(?=\s|$)")
_SCALES = {"k": (2**10, 10**3), "m": (2**20, 10**6), "g": (2**30, 10**9), "t": (2**40, 10**12), "b": (1,), "字": (1,)}
_REACH, _LONGEST, _AGREED = 8, 1_200, 2
_ONE = (Fraction(1),)
_LONG = 24
"""Lines of a list of lengths that are compared with each other."""


class _Bytes(NamedTuple):
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


class _Rate(NamedTuple):
    """Between which numbers the bytes of one token lie, and the line that says so."""

    line: int
    low: Fraction
    high: Fraction
    column: int = 0


_Way = tuple[_Bytes, "list[tuple[Fraction, Fraction]]", bool]
"""A figure, between which numbers it may be, and whether sizes say so."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the caches of a text whose sizes, or whose bytes of a token, stand beside them."""
    shaped: _Rate | None = None
    said: _Rate | None = None
    cached = -_REACH - 1
    held: list[_Way] = []
    for index, line in enumerate(scene.lines):
        text = line.text
        if line.heading or scene.mentions.get(index):
            said = None
        cached = index if _CACHE.search(text) else cached
        if len(text) > _LONGEST or not any(char.isdigit() for char in text):
            continue
        sized, named = _of_sizes(scene, index), _of_model(scene, index)
        width = sized if named in (None, sized) else None if sized else named  # sizes that are not the model's are of another, or a slip
        column = scene.mentions[index][0].column if width and not sized else 0
        shaped = _Rate(index, width, width, column) if width else None if scene.mentions.get(index) or sized else shaped
        for figure in _figures(scene, index) if index - cached <= _REACH or shaped is not None else ():
            if sum(m.end <= figure.start for m in scene.mentions.get(index, ())) > 1:
                continue  # of which of them is not told
            rates = [
                one
                for one in (shaped, said)
                if one is not None and index - one.line <= _REACH and (one.line, one.column) <= (index, figure.start)
            ]
            of_shape = shaped in rates
            held.append((figure, _ways(figure, rates), of_shape))
            if figure.tokens == _ONE:
                said = _read_rate(figure)
    yield from _verdicts(scene, _with_ladders(held))


def _with_ladders(held: Sequence[_Way]) -> list[_Way]:
    """Give the figures of lines that are a length and its bytes the rate that all but one of them have."""
    found = list(held)
    run: list[int] = []
    for place, figure in enumerate([*(one[0] for one in held), None]):
        if figure is not None and figure.ladder and (not run or figure.line - held[run[-1]][0].line <= _AGREED):
            run.append(place)
            continue
        for first in run if _AGREED < len(run) <= _LONG else ():
            ways = {one: [_scaled(held[first][0], held[one][0])] for one in run}
            fair = [one for one in run if _fits(held[one][0], *ways[one][0])]
            if len(fair) >= max(_AGREED, len(run) - 1):
                for one in run:
                    found[one] = (held[one][0], held[one][1] or ways[one], held[one][2])
                break
        run = [place] if figure is not None and figure.ladder else []
    return found


def _scaled(base: _Bytes, figure: _Bytes) -> tuple[Fraction, Fraction]:
    """Return between which bytes a figure lies that grows with the length from another."""
    times = Fraction(figure.tokens[0], base.tokens[0]) * base.scales[0]
    half = base.unit_shown / 2
    return (base.value - half) * times, (base.value + half) * times


def _verdicts(scene: Scene, held: Sequence[_Way]) -> Iterator[Claim]:
    fair = [any(_fits(figure, *way) for way in ways) for figure, ways, _ in held]
    right = [figure.line for (figure, *_), fits in zip(held, fair, strict=True) if fits]
    shaped = sum(of_shape and fits and figure.tokens != _ONE for (figure, _, of_shape), fits in zip(held, fair, strict=True))
    for (figure, ways, of_shape), fits in zip(held, fair, strict=True):
        if fits:
            yield _claim(scene, figure, next(low for low, high in ways if _fits(figure, low, high)), "rounded")
        if fits or not ways or figure.doubtful:
            continue
        near = [low for low, high in ways if _is_one_digit_off(figure, low, high)]
        digits = len(figure.number.replace(".", "").replace(",", "").strip("0"))
        borne = bisect_right(right, figure.line + _REACH) - bisect_left(right, figure.line - _REACH)
        if near and (digits > 1 or borne >= _AGREED):
            yield _claim(scene, figure, near[0], "wrong")
        elif of_shape and shaped > _AGREED and figure.tokens != _ONE and all(_is_far(figure, *way) for way in ways):
            yield _claim(scene, figure, ways[0][0], "wrong")


def _of_sizes(scene: Scene, index: int) -> Fraction | None:
    """Return the bytes of a token by the sizes that a line says: layers, heads of keys and values, their width, bytes of each number."""
    text = scene.lines[index].text
    found = {word: {next(filter(None, m.groups())) for m in words.finditer(text)} for word, words in _SIZES.items()}
    heads = found["keys"] or found["heads"]
    if len(found["layers"]) != 1 or len(heads) != 1 or len(found["width"]) != 1 or _ELSE.search(_ON_ITS_OWN.sub(" ", text)):
        return None
    around = " ".join(scene.texts[max(0, index - _REACH) : index + 1])
    sizes = {*dtype_sizes(text), *(Fraction(m[1]) for m in _BYTES.finditer(text))} or set(dtype_sizes(around)) or {Fraction(2)}
    if len(sizes) != 1:
        return None
    return 2 * Fraction(min(found["layers"])) * int(min(heads)) * int(min(found["width"])) * sizes.pop()


def _of_model(scene: Scene, index: int) -> Fraction | None:
    """Return the bytes of a token of the one model that a line names, in the one dtype that its passage says, or in 16 bits."""
    named = scene.mentions.get(index, ())
    if len(named) != 1 or named[0].kind != MODEL or is_of_their_own(scene, index):
        return None
    model = preset_model(named[0].names[0])
    sizes = dtype_sizes(scene.lines[index].text) or dtype_sizes(" ".join(scene.texts[max(0, index - _REACH) : index + 1])) or [Fraction(2)]
    each = elements_per_token(model) if model is not None else 0
    return each * sizes[0] if each and len(sizes) == 1 and sizes[0] >= 1 else None


_ON_ITS_OWN = pattern(r"\b(?:if|would|total|param\w*|over|weights?|a)\b", re.IGNORECASE)


@once_for_each_shape
def _has_figure(text: str) -> bool:
    return _FIGURE.search(text) is not None


def _figures(scene: Scene, index: int) -> Iterator[_Bytes]:
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
        again = place > 0 and tokens == _ONE and _AGAIN.fullmatch(text, last, found.start()) is not None
        each = again or _PER_TOKEN.search(words) is not None
        lengths = [alone] if alone is not None else list(_LENGTH.finditer(words))
        batches = tuple(int(m[1] or m[2]) for m in _BATCH.finditer(words))
        before = tokens if batches and tokens != _ONE else ()
        of_batch = _span(figures[place - 1]) if before and place else ()
        tokens = (Fraction(1),) if each else tuple(n for one in lengths for n in _length(one)) or before
        behind = _PER_TOKEN_BEHIND.match(text, found.end())
        last = behind.end() if behind is not None else found.end()
        if len(lengths) <= 1 and (tokens or batches) and _BESIDE_MORE.match(text, found.end()) is None:
            yield _Bytes(
                index,
                *found.span(),
                found["number"],
                found["unit"],
                tokens,
                batches,
                _ELSE.search(words) is not None or len(batches) > 1,
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


def _read_rate(figure: _Bytes) -> _Rate:
    """Return between which numbers the bytes of a token lie, in thousands or in powers of two."""
    half = figure.unit_shown / 2 if figure.unit[0] not in "b字" else Fraction(0)
    exact = figure.value.denominator == 1 and figure.value % _POWER == 0
    low, high = (figure.value, figure.value) if exact else (figure.value - half, figure.value + half)
    return _Rate(figure.line, low * min(figure.scales), high * max(figure.scales))


_POWER = 32
"""Kilobytes of a token that are a multiple of so many are exact: ``512 KB``."""


def _ways(figure: _Bytes, rates: Sequence[_Rate]) -> list[tuple[Fraction, Fraction]]:
    tokens = figure.tokens or ()
    batches = set(figure.batches) or {1}
    beside = [(one * batch, one * batch) for one in figure.before for batch in batches]
    return [
        *beside,
        *[
            (one.low * many * batch, one.high * many * batch)
            for one in rates
            for many in tokens
            for batch in batches
            if many != 1 or one.line == figure.line or one.low == one.high
        ],
    ]


def _fits(figure: _Bytes, low: Fraction, high: Fraction) -> bool:
    value, unit = figure.value, figure.unit_shown
    return any((value - unit / 2) * scale <= high and low < (value + unit) * scale for scale in figure.scales)  # rounded, or cut off


def _is_far(figure: _Bytes, low: Fraction, high: Fraction) -> bool:
    return all(figure.value * scale > high * _FAR or figure.value * scale * _FAR < low for scale in figure.scales)


_FAR = Fraction(5, 4)


def _is_one_digit_off(figure: _Bytes, low: Fraction, high: Fraction) -> bool:
    written = figure.number.replace(",", "").replace(".", "")
    for scale in figure.scales:
        first, last = int(low / scale / figure.unit_shown), int(high / scale / figure.unit_shown + Fraction(1, 2))
        for way in range(first, min(last, first + _WAYS) + 1):
            digits = str(way).rjust(len(written), "0")
            if len(digits) == len(written) and sum(a != b for a, b in zip(digits, written, strict=True)) == 1:
                return True
    return False


_WAYS = 80


def _claim(scene: Scene, figure: _Bytes, right: Fraction, verdict: str) -> Claim:
    token = Token(
        "num",
        scene.lines[figure.line].text[figure.start : figure.end],
        figure.line,
        figure.start,
        figure.end,
        figure.value,
        figure.unit.lower(),
        len(figure.number.partition(".")[2]),
    )
    scale = min(figure.scales, key=lambda one: abs(figure.value * one - right))
    said = figure.value * scale
    facts: dict[str, object] = {"value": whole(said), "expected": whole(right), "difference": whole(said - right)}
    reason = because(mark("rounded"))
    if verdict == "wrong":
        direction = (
            mark("should be {right}, as the other figures say ({number} too high)")
            if said > right
            else mark("should be {right}, as the other figures say ({number} too low)")
        )
        base = 1024 if scale % 1024 == 0 else 1000
        shown = [whole(one) if scale == 1 else write_bytes(token, one, base) for one in (right, abs(said - right))]
        reason = because(direction, right=shown[0], number=shown[1])
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts, reason=reason)
