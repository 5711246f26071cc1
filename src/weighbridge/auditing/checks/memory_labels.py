"""What a figure of memory is labelled with: the part of training or serving that it is of, the bytes of each parameter, the parameters of its model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.checks.dtypes import DTYPES, bytes_each, dtype_sizes
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact, as_exact
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.core._namedtuple import NamedTuple

FIGURE = pattern(
    r"(?:(?<![A-Za-z0-9_.$/^-])(?<!\d,)|(?<=[a-z]{4}))(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(?P<unit>[MGT]i?B|[mgt]b|(?:mega|giga|tera)bytes?|G(?![A-Za-z0-9]))(?![A-Za-z0-9_/])(?!\s?/\s?s|ps\b)"
)
"""A figure of memory; a bare G is one in Chinese."""
_CALLED = pattern(
    r"(?:(?<![A-Za-z0-9_.])(?<!\d,)|(?<=[a-z]{4}))(?P<count>\d+(?:\.\d+)?)[ -]?(?P<scale>B(?![A-Za-z])|M(?![A-Za-z])|billions?|millions?|十亿|亿|百万)(?!\s?(?:tokens?|bytes?|users?|images|词|token|字节|条|张)(?![A-Za-z]))",
    re.IGNORECASE,
)
_SCALES = {
    "b": 10**9,
    "billion": 10**9,
    "billions": 10**9,
    "m": 10**6,
    "million": 10**6,
    "millions": 10**6,
    "十亿": 10**9,
    "亿": 10**8,
    "百万": 10**6,
}
_ROLES = (
    ("gradients", r"gradients?\b|\bgrads?\b|梯度"),
    ("optimizer", r"optimi[sz]er|\badam\w*|\bmoment(?:s|um)?\b|优化器|动量"),
    (
        "total",
        r"\btotal|\baltogether\b|\bin all\b|\bsum\b|\boverall\b|\bcombined\b|合计|共计|总共|总计|一共|共需|总需求|总量|加起来|相加|三项|三者|三部分|这些",
    ),
    ("weights", r"\bweights?\b|\bparameters?\b|\bparams?\b|\bmodel itself\b|权重|参数|模型本身"),
)
_ROLE = pattern("|".join(f"(?P<{name}>{words})" for name, words in _ROLES), re.IGNORECASE)
DOUBTS = pattern(
    r"\bkv\b|cache|activation|\bq?lora\b|adapter|offload|overhead|\bpeak\b|batch|context|\bat least\b|more than|less than|\bup to\b|\bover\b|\bunder\b|\bbelow\b|\babove\b|almost|nearly|\bextra\b|additional|headroom|recommend|"
    r"minimum|\bgpus?\b|\bcards?\b|\brtx\b|a100|h100|4090|3090|device|laptop|machine|\bram\b(?! required)|disk|download|file|bandwidth|\bper (?!param|weight)|shard|split|parallel|zero-?\d|\bexperts?\b|\bmoe\b|active|embedding|layers?\b|"
    r"sav(?:e|es|ed|ing|ings)\b|\bby\s[~≈]?$|\bfreed?\b|\bleft\b|remain\w*|difference|instead|measured|observed|actual|in practice|real|gguf|q\d_|gptq|awq|\bexl|group|scales?\b|mixed|"
    r"缓存|激活|适配器|卸载|开销|峰值|批|上下文|至少|超过|不到|以上|以下|接近|将近|额外|推荐|最低|最小|最少|建议|显卡|单卡|张卡|卡上|每张|内存条|硬盘|下载|文件|带宽|每(?!个?参数|一?个参数)|切分|分片|并行|专家|嵌入|层|节省|省下|剩|相差|差距|实测|实际|混合精度",
    re.IGNORECASE,
)
"""Words about a figure by which it may be of more than parameters times bytes, or of less, or of a machine."""
_ITEMS = pattern(r"[。;；!?！？|]|\.(?=\s|$)")
_BEHIND = pattern(
    r"\s?(?:of (?:gpu |video )?(?:memory|v?ram)\s?)?(?:(?:in|at|with|using|for)\s(?:the )?|[(（\[]\s?(?:in |at |用|以)?)(?P<words>[^()（）\[\]，,。;；]{2,24}?)(?=\s?[(（)）\],，.;；。:：]|$|\s(?:and|or|to|while)\b)"
)
_OF_MODEL = pattern(r"\s?(?:of (?:gpu |video )?(?:memory|v?ram)\s?)?(?:for|of|in)\s(?:an? |the )?$")
_ASIDE = pattern(r"[(（][^()（）]*[)）]")
POWERS = {"m": (10**6, 2**20), "g": (10**9, 2**30), "t": (10**12, 2**40)}
OPTIMIZER, GRADIENTS, TOTALS = (
    (Exact(8), Exact(4), Exact(12), Exact(2), Exact(16), Exact(6)),
    (Exact(2), Exact(4)),
    (16, 12, 18, 20, 8, 10, 14, 6),
)


class Count(NamedTuple):
    """Parameters, how far their number may be off as it is written, and whether they are a named model's."""

    number: Fraction
    half: Fraction = Fraction(0)
    named: bool = False


class MemoryFigure(NamedTuple):
    """A figure of memory with its labels.

    Attributes:
        line, start, end: Where it stands.
        number, unit: As written.
        counts: The parameters that it may be of.
        sizes: The bytes of each that it may be; none where no label says.
        role: What it is of: ``weights``, ``gradients``, ``optimizer``, ``total`` or the empty string.
        doubtful: Whether a word about it says that it may be something else.
        groups: The row and the column of a table that it stands in.
    """

    line: int
    start: int
    end: int
    number: str
    unit: str
    counts: tuple[Count, ...]
    sizes: tuple[Fraction, ...]
    role: str
    doubtful: bool
    groups: tuple[tuple[str, int, int], ...] = ()

    @property
    def value(self) -> Fraction:
        return Fraction(self.number.replace(",", ""))

    @property
    def places(self) -> int:
        return len(self.number.partition(".")[2])

    @property
    def scales(self) -> tuple[int, ...]:
        """What its unit may multiply it by."""
        powers = POWERS[self.unit[0].lower()]
        return powers[1:] if "i" in self.unit[1:2].lower() else powers


@once_for_each_text
def called_counts(text: str) -> list[tuple[int, Count]]:
    """Return where a text calls models by their counts, and the counts.

    >>> [(place, int(count.number), int(count.half)) for place, count in called_counts("a 7B model, 31.23 million")]
    [(2, 7000000000, 0), (12, 31230000, 5000)]
    """
    found = []
    for match in _CALLED.finditer(text):
        scale, places = _SCALES[match["scale"].lower()], len(match["count"].partition(".")[2])
        exact = len(match["count"].replace(".", "").lstrip("0")) < _COUNTED
        number = as_exact(Exact(match["count"]) * scale)
        if number:
            found.append((match.start(), Count(number, Fraction(0) if exact else Fraction(scale, 2 * 10**places))))
    return found


_COUNTED = 3
"""Digits from which on a number is a rounded count, and no name of a model's size that people reckon with as it stands."""


@once_for_each_text
def sizes_of_label(text: str) -> tuple[Fraction, ...]:
    """Return the bytes of each parameter that a label says, in one dtype or in so many words; none where it says several."""
    each = [Fraction(m[1] or m[2]) for m in _RATE.finditer(text)] or bytes_each(text)
    found = list(dict.fromkeys([*each, *dtype_sizes(text)]))
    return tuple(found) if len(found) == 1 else tuple(each) if len(set(each)) == 1 else ()


_RATE = pattern(
    r"(?<![\d.×x*])(\d{1,2}(?:\.\d)?)\s?(?:个)?(?:bytes?|字节)\s?(?:(?:/|per|for each|for every|each)\s?(?:model )?(?:param\w*|weight|参数)|(?:每个?|一个)参数)|[×x*]\s?(\d{1,2}(?:\.\d)?)\s?个?(?:bytes?|字节)",
    re.IGNORECASE,
)


def role_of(text: str) -> str:
    """Return what the words before a figure say that it is of; parentheses that are still open explain what stands before them.

    >>> role_of("then the gradients take"), role_of("合计约"), role_of("优化器状态（2 倍参数，"), role_of("it needs")
    ('gradients', 'total', 'optimizer', '')
    """
    found = [str(match.lastgroup) for match in _ROLE.finditer(_ASIDE.sub(" ", text))]
    since = len(found) - 1 - found[::-1].index("total") if "total" in found else -1
    behind = found[since + 1 :]
    if since >= 0 and len(set(behind)) != 1:
        return "total"  # of nothing else, or of several parts that follow
    kept = [name for name in behind if name in ("gradients", "optimizer")]
    return (kept or behind or [""])[-1]


def is_ambiguous(text: str) -> bool:
    """Tell whether a label names dtypes of several sizes."""
    return len(dtype_sizes(text)) > 1


def label_behind(text: str, end: int, stop: int) -> tuple[str, int]:
    """Return the words right behind a figure that say which dtype or part it is of, and where they end."""
    found = _BEHIND.match(text, end, stop)
    if found is None or not (dtype_sizes(found["words"]) or _ROLE.search(found["words"])):
        return "", end
    return found["words"], found.end()


def dtype_before(text: str, start: int, end: int) -> tuple[Fraction, ...]:
    """Return the size of the last dtype named in a stretch of a line, if no other stands right beside it."""
    found = sorted((m.end(), size) for size, words in DTYPES for m in words.finditer(text, start, end))
    sizes = {size for _, size in found}
    return (found[-1][1],) if len(sizes) == 1 else ()


def sentence_start(text: str, start: int, end: int) -> int:
    """Return where the sentence of a place begins, after another place."""
    return max([start, *(m.end() for m in _ITEMS.finditer(text, start, end))])


@once_for_each_text
def has_doubt(text: str) -> bool:
    """Tell whether a word about a figure says that it may be more than parameters times bytes, or less."""
    return DOUBTS.search(_MEMORY.sub(" ", text)) is not None


_MEMORY = pattern(r"\b(?:of )?(?:gpu |video )(?:memory|v?ram)\b|\bof v?ram\b", re.IGNORECASE)


def clause_behind(text: str, end: int, stop: int) -> str:
    """Return the words behind a figure that still are of it."""
    return re.split(r"[,，;；。、|!?！？]|\.(?=\s|$)|\band\b|\bor\b|\bwhile\b|\bbut\b|—", text[end:stop])[0]


def sizes_of_role(role: str, label: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the bytes of each parameter that a part of training may keep."""
    if role == "optimizer":
        return OPTIMIZER
    if role == "gradients":
        return tuple(label) or GRADIENTS
    return () if role == "total" else tuple(label)
