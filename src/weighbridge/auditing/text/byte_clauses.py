"""Chinese sentences that say what a model's numbers take in memory, read word for word: ``7B 模型用 fp32 要 28GB，fp16 要 14GB``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import NamedTuple

_SCALES = {"b": 10**9, "十亿": 10**9, "亿": 10**8, "m": 10**6, "百万": 10**6, "万": 10**4}
_DTYPES = (
    (Fraction(4), r"fp\s?32|float\s?32|32[- ]?(?:bit|位)|单精度|全精度"),
    (Fraction(2), r"b?fp?\s?16(?:\s?/\s?b?fp?16)?|b?float\s?16|16[- ]?(?:bit|位)|半精度"),
    (Fraction(1), r"int\s?8|fp\s?8|8[- ]?(?:bit|位)"),
    (Fraction(1, 2), r"int\s?4|fp\s?4|4[- ]?(?:bit|位)"),
)
_KINDS = (
    ("active", r"激活(?:参数)?(?:量)?|活跃(?:参数)?"),
    ("count", r"(?<![A-Za-z0-9_.])(?P<number>\d+(?:\.\d+)?)\s?(?P<scale>B|十亿|亿|百万|M(?!i?B))(?![A-Za-z])\s?个?\s?的?(?:规模的?)?(?:参数(?:量)?)?的?(?:大?模型)?"),
    ("figure", r"(?<![A-Za-z0-9_.])(?P<amount>\d+(?:\.\d+)?)\s?(?P<unit>[KMGT]i?B|G(?![A-Za-z]))(?:\s?的?(?:显存|内存|空间|存储))?"),
    ("rate", r"(?:每个?参数)?(?:占|需要?|按|为|用)?\s?(?<![A-Za-z0-9_.])(?P<each>\d{1,2})\s?(?:字节|bytes?|B)\s?(?:/|每个?)\s?(?:参数|param)|每个?参数(?:占用?|需要?|为|用)?\s?(?P<per>\d{1,2})\s?(?:个\s?)?(?:字节|bytes?|B)"),
    *(("dtype", rf"(?P<d{place}>{words})\s?(?:精度|格式)?") for place, (_, words) in enumerate(_DTYPES)),
    ("states", r"模型状态|训练(?:状态|显存)"),
    ("master", r"(?:fp32\s?)?(?:主权重|参数副本|权重副本)"),
    ("moment", r"(?:一阶|二阶)(?:动量|矩)"),
    ("optimizer", r"优化器(?:状态)?|adamw?\s?(?:优化器)?\s?(?:的?状态|动量)?"),
    ("gradients", r"梯度"),
    ("weights", r"(?:模型)?的?(?:权重|参数)(?:本身|存储)?(?:文件)?(?!量|规模|数)"),
    ("sum", r"[合总共]计|一共|总共|加起来|[共和]为"),
    ("each", r"各"),
    ("train", r"(?:混合精度|全参数?|全量)?(?:训练|微调)"),
    ("end", r"[。!?！？]"),
    ("stop", r"[;；]"),
    ("comma", r"[,，、]|\+|以及|[和与]"),
    ("open", r"[(（]"),
    ("close", r"[)）]"),
    (
        "filler",
        r"为例|也?就是说|(?:大约|大概|约|近)?(?:需要?|要|占用?了?|得要|只要|只需要?|仅需|就要|降[到至为]|压[到至]|变成)|[用以按为是就则而仅只光有约]|大约|大概|加载|存储|保存|推理(?:时)?|部署|下|时|的话|的|了|后|量化(?:后|到|为)?"
        r"|显存|内存|一个|一份|这个|该|单是|模型|大小|体积|文件|左右|方面|仅仅|算|[把将]|至少|放进|装[进下]|载入|如果|例如|比如|其中|即|也|同样|以|(?:本身|数据|类型|计算|来算)|[\s:：=≈~*_`\"'·—-]",
    ),
)  # fmt: skip
_PIECE = pattern("|".join(f"(?P<k{place}>{words})" for place, (_, words) in enumerate(_KINDS)), re.IGNORECASE)


class Piece(NamedTuple):
    """A word of a clause about memory: what it is, what it amounts to, and where it stands."""

    kind: str
    value: Fraction
    start: int
    end: int
    unit: str = ""


class SaidBytes(NamedTuple):
    """A figure of memory that a clause says.

    Attributes:
        parameters: How many parameters the model is said to have, or None if it is named.
        name: The place of its name among the names of the line, or -1.
        sizes: The bytes for each parameter that it may be; none for a sum of the figures before it.
        parts: Where those figures stand.
        start, end: Where it stands.
    """

    parameters: Fraction | None
    name: int
    sizes: tuple[Fraction, ...]
    parts: tuple[int, ...]
    start: int
    end: int


def bytes_of_clauses(text: str, names: Sequence[tuple[int, int]]) -> list[SaidBytes]:
    """Return the figures of memory that the clauses of a line say of its models.

    >>> [(text.start, *map(int, text.sizes)) for text in bytes_of_clauses("7B 模型用 fp32 要 28GB,fp16 要 14GB。", ())]
    [(14, 4), (26, 2)]
    """
    reader = _Reader()
    clause: list[Piece] = []
    for piece in _pieces(text, names):
        if piece.kind == "filler":
            continue
        clause.append(piece)
        if piece.kind in ("end", "stop", "comma", "open", "close"):
            reader.read(clause)
            clause = []
    reader.read(clause)
    return reader.found


def _pieces(text: str, names: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    place, at = 0, 0
    while place < len(text):
        while at < len(names) and names[at][1] <= place:
            at += 1
        if at < len(names) and names[at][0] <= place:
            yield Piece("name", Fraction(at), place, names[at][1])
            place = names[at][1]
            continue
        match = _PIECE.match(text, place, names[at][0] if at < len(names) else len(text))
        if match is None:
            yield Piece("unknown", Fraction(0), place, place + 1)
            place += 1
            continue
        yield _piece(match)
        place = match.end()


def _piece(match: re.Match[str]) -> Piece:
    kind = next(name for place, (name, _) in enumerate(_KINDS) if match[f"k{place}"] is not None)
    value, start, end, unit = Fraction(0), match.start(), match.end(), ""
    if kind == "count":
        value = Fraction(match["number"]) * _SCALES[match["scale"].lower()]
    elif kind == "rate":
        value = Fraction(match["each"] or match["per"])
    elif kind == "dtype":
        value = next(size for place, (size, _) in enumerate(_DTYPES) if match[f"d{place}"] is not None)
    elif kind == "figure":
        value, start, end, unit = Fraction(match["amount"]), match.start("amount"), match.end("unit"), match["unit"]
    return Piece(kind, value, start, end, unit)


_ROLES = {"gradients": (2, 4), "optimizer": (12, 8, 4, 2), "master": (4,), "moment": (4,), "states": (16, 18, 20, 12, 8)}
"""Bytes that training keeps for each parameter, by what keeps them."""


class _Reader:
    """What the clauses before tell: the model, whether it is trained, and the figures that a sum may be of."""

    def __init__(self) -> None:
        self.found: list[SaidBytes] = []
        self.count: Fraction | None = None
        self.name = -1
        self.training = False
        self.parts: list[int] = []
        self.rate: Fraction | None = None
        self.dtype: Fraction | None = None
        self.role = ""
        self.listed = 0
        self.waiting: Piece | None = None
        self.aside = False

    def read(self, clause: Sequence[Piece]) -> None:
        """Read a clause; one that is not understood ends what may be said of the model before."""
        kinds = [piece.kind for piece in clause]
        for piece in clause if "active" not in kinds else ():  # ``推理时激活 129 亿`` is no model of 12.9 billion
            if piece.kind == "count":
                self.count, self.name, self.parts, self.rate = piece.value, -1, [], None
            elif piece.kind == "name":
                self.count, self.name, self.parts, self.rate = None, int(piece.value), [], None
        self.training = self.training or "train" in kinds
        aside, self.aside = self.aside and kinds[-1:] == ["close"], "unknown" in kinds and kinds[-1] == "open"
        if aside and "figure" not in kinds:
            return  # ``每 token 的缓存 70KB（BF16）`` says the dtype of what was not understood
        if "unknown" in kinds or "active" in kinds:
            self.role, self.dtype, self.parts, self.waiting = "", None, [], None
            last = max(place for place, kind in enumerate(kinds) if kind in ("unknown", "active"))
            if "figure" in kinds or not any(kind in ("count", "name") for kind in kinds[last:]):
                self.count, self.name = None, -1
        else:
            self._take(clause, kinds)
        if kinds and kinds[-1] == "end":
            self.training, self.parts, self.role, self.dtype = False, [], "", None

    def _take(self, clause: Sequence[Piece], kinds: Sequence[str]) -> None:
        rate = next((piece.value for piece in clause if piece.kind == "rate"), None)
        dtypes = [piece.value for piece in clause if piece.kind == "dtype"]
        roles = [kind for kind in kinds if kind in _ROLES or kind == "weights"]
        figures = [piece for piece in clause if piece.kind == "figure"]
        if rate is not None:
            self.rate = rate
        if not figures:
            self.role = roles[-1] if len(roles) == 1 else self.role if not roles else ""
            self.dtype = dtypes[-1] if len(dtypes) == 1 else None if dtypes else self.dtype
            self.listed += bool(roles)
            if self.waiting is not None and "close" in kinds:
                self._add_waiting()
            return
        if len(figures) != 1 or len(dtypes) > 1 or len(roles) > 1 or (self.count is None and self.name < 0 and kinds[-1] != "open"):
            self.parts, self.listed = [], 0
            return
        figure = figures[0]
        role = roles[0] if roles else "" if dtypes else self.role
        if "sum" in kinds and not roles and not dtypes:
            sizes: tuple[Fraction, ...] = (self.rate,) if self.rate is not None else ()
            parts = tuple(self.parts)
        else:
            sizes, parts = self._sizes(role, dtypes[0] if dtypes else self.dtype if not roles or role == "weights" else None), ()
            self.parts += [figure.start] * (self.listed + 1 if "each" in kinds else 1)
        self.listed = 0
        self.waiting = figure if not sizes and not parts and role in ("weights", "") and kinds[-1] == "open" and not self.training else None
        if sizes or len(parts) > 1:
            self.found.append(SaidBytes(self.count, self.name, sizes, parts, figure.start, figure.end))
        self.role = ""
        if self.waiting is not None:
            self.dtype = None

    def _add_waiting(self) -> None:
        """Take the figure in front of parentheses that say its dtype: ``440MB（fp32）``."""
        if self.waiting is not None and self.dtype is not None and (self.count is not None or self.name >= 0):
            self.found.append(SaidBytes(self.count, self.name, (self.dtype,), (), self.waiting.start, self.waiting.end))
        self.waiting, self.dtype, self.role = None, None, ""

    def _sizes(self, role: str, dtype: Fraction | None) -> tuple[Fraction, ...]:
        """Return the bytes for each parameter that a clause means."""
        if role in ("gradients", "master", "moment") and dtype is not None:
            return (dtype,)
        if role in _ROLES:
            return (self.rate,) if self.rate is not None else tuple(map(Fraction, _ROLES[role]))
        if role == "weights" and dtype is None:
            return ()
        if dtype is not None and (role == "weights" or not self.training):
            return (dtype,)
        return (self.rate,) if self.rate is not None and dtype is None else ()
