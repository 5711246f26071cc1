"""Shares and ratios of the counts that stand beside them: ``37B of its 671B, about 5.5%``, ``embeddings 23.8M (21.8%), encoder 85.1M (77.7%)``, ``a 128x reduction``.

A sentence that has two counts, or a list whose shares are all of one whole, says what each share must be; one that is one digit off is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_SHARE = pattern(r"(?<![A-Za-z0-9_.-])(?<!\d,)(?P<number>\d{1,3}(?:\.\d{1,4})?)\s?(?P<sign>%|[×x](?![A-Za-z0-9])(?!\s?\d)|倍)")
_COUNT = pattern(
    r"(?<![A-Za-z0-9_.×*^/-])(?<!\d,)(?<![×*^/]\s)(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s?(?P<unit>[KMB](?![A-Za-z0-9])|thousand|million|billion|万亿|千万|百万|亿|万)?(?![A-Za-z0-9_.,]*\d|\s?[×*^/%]|\s?x\s?\d)",
    re.IGNORECASE,
)
_SCALES = {unit: UNITS[unit][0] for unit in "k m b thousand million billion 万 百万 千万 亿 万亿".split()}
_OF_TOKENS = pattern(
    r"\s?个?\s?(?:tokens?|词元|words?|images?|pairs|samples|GPUs?|FLOPs?|steps?|[KMGT]i?B|bytes?|字节|条|张|次|步|年|月|元|\$)",
    re.IGNORECASE,
)
_SENTENCE = pattern(r"[。;；!?！？|]|\.(?=\s|$)")
_SAID = pattern(
    r"(?:占|占比|比例|减少|降低|压缩|缩小|节省|只有|仅|为|约|是|[=≈~(（]|about|only|just|roughly|around|approximately|or|i\.e\.|is|a mere|by|keeps?|retains?|than|saves?|saving)(?:了|到|至|约|为|的|总|量|参数|仅|只|在|其|an?|the|\s|[:：~≈*])*$",
    re.IGNORECASE,
)
_BEHIND = pattern(
    r"\*{0,2}\s?(?:of (?:the |its |all )?(?:original |total |full )?(?:param|weights|model|size|count)|(?:param\w* )?(?:reduction|fewer|smaller|less)|reduction|的?参数|的?压缩|的?减少)",
    re.IGNORECASE,
)
_FIRM = pattern(r"占|减少|降低|压缩|节省|缩小|参数|reduction|reduc\w+|fewer|smaller|less|param|weights|of (?:its|the|all)", re.IGNORECASE)
_ELSE = pattern(
    r"accura|准确|precision|recall|f1|score|performance|性能|效果|glue|bench|mmlu|loss|perplex|dropout|drop|faster|speed|速度|快|slower|latency|延迟|throughput|吞吐|sparse|sparsity|稀疏|prun|剪枝|mask|掩码|probab|概率|learning rate|学习率|warm|gpu|utili[sz]|利用率|mfu|"
    r"time|时间|cost|成本|price|价格|train(?:ing)? data|数据|corpus|语料|users?|用户|download|memory|显存|内存|flop|bytes?\b|字节|[KMGT]i?B\b|energy|power|top-?[15k]|quality|质量",
    re.IGNORECASE,
)
"""Words of a sentence by which a share may be of something else than its counts."""
_LONGEST, _LEAST, _FEW = 1_200, 1_000, 2
_ENOUGH = 2
"""Shares of one whole that a list has at least before another is wrong."""


class _Number(NamedTuple):
    """A count: where it stands, what it says, and between which numbers it lies."""

    start: int
    end: int
    value: Fraction
    low: Fraction
    high: Fraction


class _Said(NamedTuple):
    """A share or ratio as written, and where."""

    start: int
    end: int
    number: str
    sign: str

    @property
    def value(self) -> Fraction:
        return Fraction(self.number) / (100 if self.sign == "%" else 1)

    @property
    def unit(self) -> Fraction:
        return Fraction(1, 10 ** len(self.number.partition(".")[2]) * (100 if self.sign == "%" else 1))


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the shares that nothing has been said of.

    Args:
        claims: What is judged so far.
    """
    covered = ClaimSpans(one for one in claims if one.verdict != "unsettled")
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST or not _has_share(text):
            continue
        shares = [_Said(m.start(), m.end(), m["number"], m["sign"]) for m in _SHARE.finditer(text) if Fraction(m["number"])]
        counts = _counts(text)
        listed = _of_list(text, shares, counts)
        for said in shares:
            here = scene.lines[index].at[said.start] if said.start < len(scene.lines[index].at) else 0
            if not covered.holds(scene.lines[index].number, here, here + 1):
                right = listed.get(said) or _of_scopes(scene, index, said, counts)
                if right is not None:
                    yield _claim(scene, index, said, *right)


@once_for_each_shape
def _has_share(text: str) -> bool:
    return _SHARE.search(text) is not None


def _counts(text: str) -> list[_Number]:
    """Return the numbers of a line that count parameters."""
    found = []
    for match in _COUNT.finditer(text):
        written, unit = match["number"].replace(",", ""), (match["unit"] or "").lower()
        scale = _SCALES.get(unit, 1)
        value = Fraction(written) * scale
        if value < _LEAST or (not unit and ("," not in match["number"] or "." in written)) or _OF_TOKENS.match(text, match.end()):
            continue
        half = Fraction(scale, 2 * 10 ** len(written.partition(".")[2])) if unit else Fraction(0)
        found.append(_Number(match.start(), match.end(), value, value - half, value + half))
    return found


def _of_list(text: str, shares: Sequence[_Said], counts: Sequence[_Number]) -> dict[_Said, tuple[Fraction, str]]:
    """Return what each share of a list must be, whose counts stand right before their shares, and its verdict."""
    pairs = [(said, one) for said in shares if said.sign == "%" for one in counts if _BETWEEN.fullmatch(text, one.end, said.start)]
    if len(pairs) <= _ENOUGH:
        return {}
    wholes = [one.value for one in counts] + [sum((one.value for _, one in pairs), Fraction(0))]
    best = max(wholes, key=lambda whole: sum(_fits(said, one.low / whole, one.high / whole) for said, one in pairs))
    fair = [said for said, one in pairs if _fits(said, one.low / best, one.high / best)]
    if len(fair) < _ENOUGH or len(fair) < len(pairs) - 1:
        return {}
    odd = {said: one.value / best for said, one in pairs if said not in fair and _is_one_digit_off(said, one.low / best, one.high / best)}
    return {said: (one.value / best, "rounded") for said, one in pairs if said in fair} | {
        said: (right, "wrong") for said, right in odd.items()
    }


_BETWEEN = pattern(r"\s?(?:个?参数|params?|parameters)?\s?[,，]?\s?[(（~≈约]\s?(?:约|占|about |i\.e\. )?\s?")


def _of_scopes(scene: Scene, index: int, said: _Said, counts: Sequence[_Number]) -> tuple[Fraction, str] | None:
    """Return what a share must be by the two counts of its sentence, of that and the one before, or of the lines above, and its verdict."""
    text = scene.lines[index].text
    ends = [m.end() for m in _SENTENCE.finditer(text, 0, said.start)]
    stop = next((m.start() for m in _SENTENCE.finditer(text, said.end)), len(text))
    if not _LONE.fullmatch(text):
        around = text[max(0, said.start - _REACH) : said.start] + text[said.end : min(stop, said.end + _REACH)]
        linked = _SAID.search(text, 0, said.start) or _BEHIND.match(text, said.end, stop)
        if not linked or not (_FIRM.search(around) or ("." in said.number and _FIRM.search(text))):
            return None
    for start in ([0, *ends][-1], [0, 0, *ends][-2]):
        named = [m for m in scene.mentions.get(index, ()) if start <= m.column < stop]
        if _ELSE.search(text, start, stop) or (len(named) > 1 and said.sign == "%" and not _REDUCED.search(text, start, stop)):
            return None  # of two models one is no part of the other
        beside = [one for one in counts if start <= one.start < said.start] or [one for one in counts if start <= one.start < stop]
        if len({one.value for one in beside}) == _FEW:
            return _of_counts(text[start:stop], said, beside)
    above = [scene.lines[line].text for line in range(max(0, index - (_LINES if _LONE.fullmatch(text) else _FEW)), index)]
    label = next((one for one in reversed(above) if one.strip()), "")
    beside = [one for line in above for one in _counts(line) if "," in line[one.start : one.end]] + list(counts)
    if (
        len({one.value for one in beside}) != _FEW
        or any(_ELSE.search(line) for line in above)
        or (_LONE.fullmatch(text) and not _LABEL.search(label))
    ):
        return None
    return _of_counts(f"{label} {text}" if _LONE.fullmatch(text) else text, said, beside)


_LONE = pattern(r"[\s*`~≈约]*\d[\d.]*\s?(?:%|[×x]|倍)[\s*`]*")
"""A line that is a share and nothing else, below its label."""
_LABEL = pattern(r"减少|压缩|占比|比例|节省|reduc|compress|ratio|share|saving|fewer", re.IGNORECASE)
_LINES = 9
_REDUCED = pattern(r"减少|降低|压缩|节省|缩小|reduc|fewer|smaller|less\b|sav(?:es|ing)", re.IGNORECASE)


def _of_counts(words: str, said: _Said, counts: Sequence[_Number]) -> tuple[Fraction, str] | None:
    """Return what a share of two counts must be, and its verdict: the part of the whole, or what is left out where something is made less."""
    small, large = (next(one for one in counts if one.value == value) for value in sorted({one.value for one in counts}))
    low, high = small.low / large.high, small.high / large.low
    ways = [(low, high), (1 - high, 1 - low)] if said.sign == "%" else [(1 / high, 1 / low)]
    if any(_fits(said, *way) for way in ways):
        return min(((low + high) / 2 for low, high in ways), key=lambda one: abs(one - said.value)), "rounded"
    meant = ways[-1:] if _REDUCED.search(words) else ways[:1]
    near = [way for way in meant if _is_one_digit_off(said, *way)]
    return ((near[0][0] + near[0][1]) / 2, "wrong") if near else None


_REACH = 24


def _fits(said: _Said, low: Fraction, high: Fraction) -> bool:
    """Tell whether a share lies between two, rounded or cut off at its last digit."""
    return low - said.unit < said.value < high + said.unit


def _is_one_digit_off(said: _Said, low: Fraction, high: Fraction) -> bool:
    """Tell whether a share is one between two bounds, written to as many digits, but for one of them."""
    written = said.number.replace(".", "")
    if len(written.lstrip("0")) < _FEW:
        return False  # of one digit everything is one off
    first, last = int(low / said.unit), int(high / said.unit + Fraction(1, 2))
    for way in range(first, min(last, first + _WAYS) + 1):
        digits = str(way).rjust(len(written), "0")
        if len(digits) == len(written) and sum(a != b for a, b in zip(digits, written, strict=True)) == 1:
            return True
    return False


_WAYS = 10
"""Ways to write what is right beyond which one of them is one digit off by chance."""


def _claim(scene: Scene, index: int, said: _Said, right: Fraction, verdict: str) -> Claim:
    token = Token("num", scene.lines[index].text[said.start : said.end], index, said.start, said.end)
    times = 100 if said.sign == "%" else 1
    value, expected = said.value * times, right * times
    facts: dict[str, object] = {"value": whole(value), "expected": whole(expected), "difference": whole(value - expected)}
    if verdict == "rounded":
        return claim(scene.lines, token, token, "share", verdict, **facts, reason=because(mark("rounded")))
    shown = f"{float(expected):.{max(1, len(said.number.partition('.')[2]))}f}"
    reason = because(mark("should be {right} %") if said.sign == "%" else mark("should be {right} times"), right=shown)
    return claim(scene.lines, token, token, "share", verdict, **facts, reason=reason)
