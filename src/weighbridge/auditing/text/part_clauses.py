"""Chinese clauses that count what a part of a model holds, read word for word: ``位置嵌入 512×768，约 39 万``, ``pooler 带偏置，参数量 590,592``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components
from weighbridge.core._namedtuple import NamedTuple

_KINDS = (
    ("end", r"[。!?！？;；]"),
    ("comma", r"[,，]"),
    ("open", r"[(（]"),
    ("close", r"[)）]"),
    ("share", r"\d+(?:\.\d+)?\s?%"),
    ("size", r"(?P<first>\d{2,6})\s?[×x*]\s?(?P<second>\d{2,6})(?:\s?[×x*]\s?\d+)*(?:\s?的)?"),
    ("layers", r"(?P<layers>\d{1,3}|十二|二十四|三十二)\s?(?:层|个\s?(?:block|层))s?(?:一?共|总计|合计)?"),
    ("sum", r"加起来|合起来|合计|总计|共计|总共|一共|总和"),
    ("each", r"[一每单]一?个?层|每个?\s?(?:block|layer)"),
    ("count", r"(?P<count>(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?:\s?(?:亿|千万|百万|万|[KMB](?![A-Za-z])))?)(?P<of>\s?个?\s?(?:可学习的?)?(?:参数|元素|数)(?!量)|\s?个(?!\s?[头层词专矩向]))?"),
    ("bias", r"(?:含|带|加上?|算上|包[括含]|连同)?偏置(?:项)?|bias"),
    ("join", r"[、/]|[和与及]|以及"),
    (
        "filler",
        r"[一二两三四]个|矩阵|向量|投影|权重|线性层|全连接层|变换|由|组成|构成|大小|形状|都?是|有|为|各|共有?|里面?|中|的|了|也|同样|都|总|参数量?|参数(?:总数|个数)?|数量|大约|约|近|等于|得到|就是|即|也就是|约等于|部分|这|该|其|层|块|每个|一个|含|带|只有|本身|γ|β|gamma|beta|模型|[\s:：=≈~*_`\"'·]",
    ),
)  # fmt: skip
_PIECE = pattern("|".join(f"(?P<k{place}>(?<![A-Za-z0-9_.])(?:{words}))" if kind in ("count", "size", "share", "layers") else f"(?P<k{place}>{words})" for place, (kind, words) in enumerate(_KINDS)), re.IGNORECASE)  # fmt: skip
_LAYERS = {"十二": 12, "二十四": 24, "三十二": 32}
_LONG = 4


class SaidCount(NamedTuple):
    """What a clause says that a part of a model holds.

    Attributes:
        part: Our name for the part, or the empty string if only its sizes are said.
        products: The sizes that are multiplied, if the clauses say them.
        start, end: Where the number stands.
        of: Whether words of counting stand behind it.
    """

    part: str
    products: tuple[int, ...]
    start: int
    end: int
    of: bool


def counts_of_parts(text: str, names: Sequence[tuple[int, int]]) -> list[SaidCount]:
    """Return the counts that the clauses of a line give to parts of a model.

    Args:
        names: Where models are named.

    >>> [(one.part, one.products) for one in counts_of_parts("位置嵌入 512×768,约 39 万;pooler 带偏置,参数量 590,592。", ())]
    [('position', (393216,)), ('pooler', ())]
    """
    found: list[SaidCount] = []
    part, doubtful = "", False
    products: tuple[int, ...] = ()
    for clause in _clauses(text, names):
        kinds = [kind for kind, _, _ in clause]
        parts = [(place, match) for place, (kind, match, _) in enumerate(clause) if kind == "part"]
        unknown = [place for place, kind in enumerate(kinds) if kind == "unknown"]
        sizes = [int(match["first"]) * int(match["second"]) for kind, match, _ in clause if kind == "size" and isinstance(match, re.Match)]
        counts = [(place, match) for place, (kind, match, _) in enumerate(clause) if kind == "count" and isinstance(match, re.Match)]
        if parts:
            part, products, doubtful = str(parts[-1][1]) if len(parts) == 1 else "", (), len(parts) > 1
        elif sizes and not (part and kinds[-1] != "end"):
            products = ()
        if unknown or (parts and counts and counts[0][0] < parts[0][0]):
            part, products, doubtful = "", (), True
        if sizes and len(sizes) == 1 and not unknown:
            products = (*products, *sizes)
        elif sizes:
            products, doubtful = (), True
        if (
            len(counts) == 1
            and not doubtful
            and (not unknown or (parts and unknown[-1] < parts[0][0]))
            and (part or products)
            and "share" not in kinds
        ):
            match = counts[0][1]
            if match["of"] or not match["count"].isdigit() or len(match["count"]) > _LONG:
                found.append(SaidCount(part, products, *match.span("count"), bool(match["of"])))
        if kinds and kinds[-1] == "end":
            part, products, doubtful = "", (), False
    return found


_Word = tuple[str, object, int]


def _clauses(text: str, names: Sequence[tuple[int, int]]) -> Iterator[list[_Word]]:
    clause: list[_Word] = []
    for word in _words(text, names):
        clause.append(word)
        if word[0] in ("end", "comma"):
            yield clause
            clause = []
    if clause:
        yield clause


def _words(text: str, names: Sequence[tuple[int, int]]) -> Iterator[_Word]:
    parts = {one.start: one for one in find_components(text)}
    named = dict(names)
    place = 0
    while place < len(text):
        if place in named:
            place = named[place]
            continue
        part = parts.get(place)
        if part is not None and part.subject not in ("total", "layer"):
            yield "part", part.subject, place
            place = part.end
            continue
        match = _PIECE.match(text, place)
        if match is None:
            yield "unknown", None, place
            place += 1
            continue
        kind = _KINDS[int(str(match.lastgroup)[1:])][0]
        if kind not in ("filler", "join", "bias", "open", "close"):
            yield kind, match, place
        place = match.end()
