"""Items of a list of sizes: ``12-layer, 768-hidden, 12-heads, 110M parameters``, ``(L=24, H=1024)``, ``12L / 768H / 12A``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.core._namedtuple import NamedTuple


class Item(NamedTuple):
    """An item of a list that says one size or count.

    Attributes:
        kind: Our word for the size, ``total`` or ``active`` for a count of parameters.
        start, end: Where its number stands, with its unit.
        lettered: Whether only a letter says what it is.
        bare: Whether nothing but its unit does.
    """

    kind: str
    start: int
    end: int
    lettered: bool = False
    bare: bool = False


_DIVIDER = patterns.pattern(
    r"\s*(?:,(?!\d)|,(?=\d{1,2}(?!\d))|[;|、，；()（）•·。]|\.(?=\s|$)|\s/\s|\s\+\s|\b(?:and|with|plus|has|have|uses|features|in total|totall?ing)\b|和|以及|并|共有?|采用|包含|使用|拥有)\s*",
    re.IGNORECASE,
)
_DRESS = " \t*_`~≈约$\"'-–—#>+:："
_FIGURE = r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,4}[kK](?![A-Za-z])|\d{1,13})"
"""A whole number; only a length may be in thousands."""
_COUNT = r"(?P<count>\d[\d,_]*(?:\.\d+)?\s?(?:[KMBT]|million|billion|trillion|万亿|亿|百万|十亿|万)?)"
_NOUNS = (
    ("kv_heads", r"(?:kv|k/v|key[-/ ]?value|键值) ?(?:attention )?(?:heads?|头)"),
    ("heads", r"(?:self-?attention |attention |attn |query |q |注意力|查询)?(?:heads?|头)"),
    ("layers", r"(?:transformer |hidden |encoder |decoder |identical |stacked |total )?(?:layers?|blocks?)|层(?:transformer|编码器|解码器)?"),
    ("hidden", r"dimensional (?:hidden (?:states?|size|layers?|vectors?)|embeddings?|states?|model)|(?:hidden(?: (?:size|units|dim(?:ension)?s?|states?))?|d_model|dim(?:ension)?s? hidden|隐藏(?:层?维度|单元|层大小)|embedding dim(?:ension)?s?)"),
    ("vocab", r"(?:tokens? )?(?:vocab(?:ulary)?(?: size)?|词表)"),
    ("mlp", r"(?:ffn|mlp|intermediate|feed-?forward)(?: (?:size|dim(?:ension)?s?|width))?"),
    ("positions", r"(?:context(?: length| window| size)?|max positions|positions|tokens? (?:of )?context(?: length| window)?)|上下文(?:长度|窗口)?"),
    ("experts", r"(?:routed |total )?experts?|专家"),
    ("total", r"(?:total |model )?(?:param(?:eter)?s?)|(?:总)?参数(?:量)?"),
)  # fmt: skip
_BEHIND = tuple(
    (
        word,
        patterns.pattern(
            rf"{_COUNT if word == 'total' else _FIGURE}[- ]?(?:个 ?)?(?:{noun})(?: (?:in|per|for) [a-z ]{{1,30}})?", re.IGNORECASE
        ),
    )
    for word, noun in _NOUNS
)
_SHORT = patterns.pattern(rf"{_FIGURE}[- ]?(?P<letter>[LHAVdh])")
_LETTER_BEFORE = patterns.pattern(r"[A-Za-z]\w?\s?=\s?(?=\d+ [A-Za-z])")
"""A letter before a number that has its words behind it: ``H=8 KV heads``."""
_SMALL_LETTERS = {"d": "hidden", "D": "hidden", "h": "heads"}
_SHORT_LETTERS = {"L": "layers", "H": "hidden", "A": "heads", "V": "vocab", "d": "hidden", "h": "heads"}
_LABELLED = patterns.pattern(
    rf"(?P<label>[A-Za-z#_][\w #/()-]{{0,40}}?|[\u4e00-\u9fffA-Za-z ]{{1,14}}?)[\"'*`]{{0,3}}\s?(?:[=:：]|\bof\b|\bis\b|为|是|\s)\s?[~≈约\"'*`]{{0,3}}{_FIGURE}(?: ?维)?",
    re.IGNORECASE,
)
_SIGNED = patterns.pattern(
    rf"(?:^|[-•*+|,;，；])\s*(?P<label>[^-•*+|,;，；:：=()（）\d]{{2,40}}?)\s*[(（](?P<sign>[^()（）\d]{{1,16}})[)）][*_`]*\s*[:：=]\s*[~≈约*_`]*{_FIGURE}(?![\d.]|\s?[×*/+^%])"
)
"""A label with its sign in parentheses: ``Hidden dimension (d): 4,096``."""
_LETTERED = patterns.pattern(rf"(?P<letter>[LHAVI])\s?[=:]?\s?{_FIGURE}|(?P<small>[dhD])\s?[=:]\s?{_FIGURE.replace('number', 'width')}")
_TOTAL = patterns.pattern(
    rf"(?:#?(?:total |model )?(?:#? ?(?:param(?:eter)?s?)(?: count)?)|(?:总|模型)?参数(?:总?量|数量?)?|num(?:ber of|_)? ?param(?:eter)?s)[\"'*`]{{0,3}}\s?(?:[=:：]|为|是|约|of|is)?\s?[~≈约\"'*`]{{0,3}}{_COUNT}",
    re.IGNORECASE,
)
_BARE = patterns.pattern(r"(?P<count>\d[\d,]*(?:\.\d+)?\s?(?:[MB]|million|billion|亿)|\d{1,3}(?:,\d{3}){2,})")
_LABELS = {
    **{
        phrase: word
        for phrase, word in LABELS.items()
        if word not in ("types", "patch", "active", "shared") and phrase not in ("state", "size", "hidden", "depth")
    },
    **dict.fromkeys(("dim", "emb dim", "embed dim", "n embed"), "hidden"),
    **dict.fromkeys(
        "context, max context, context len, ctx len, max positions, 上下文, 上下文长度, 上下文窗口, 最大上下文长度".split(", "), "positions"
    ),
}
_LONGEST = 80
"""Characters of an item."""
_DIVISOR = patterns.pattern(r"\d[\d,]*\s*(?:[=≈*×/]|$)")
_ARTICLE = patterns.pattern(
    r"(?:an?|the|its|it|this|model|each|of|total|about|around|roughly|约|达到?|的|有|every)\s+|^[的有]", re.IGNORECASE
)


@once_for_each_shape
def read_items(text: str, start: int, end: int) -> tuple[Item, ...]:
    """Return the items of a stretch of a line that are sizes and nothing else.

    >>> [(item.kind, "12L, 768H, 12A; 110M params"[item.start : item.end]) for item in read_items("12L, 768H, 12A; 110M params", 0, 27)]
    [('layers', '12'), ('hidden', '768'), ('heads', '12'), ('total', '110M')]
    """
    return tuple(_items(text, start, end))


def _items(text: str, start: int, end: int) -> Iterator[Item]:
    for match in _SIGNED.finditer(text, start, end):
        named = _label(match["label"].strip(_DRESS)) or _label(match["sign"])
        if named:
            yield Item(named, *match.span("number"))
    place = start
    for stop, following in [*((match.start(), match.end()) for match in _DIVIDER.finditer(text, start, end)), (end, end)]:
        piece = text[place:stop]
        shift = place + len(piece) - len(piece.lstrip(_DRESS))
        divided = text[stop:following].strip() == "/" and _DIVISOR.match(text, following, end) is not None  # ``heads = 2048 / 32 = 64``
        item = _read(piece.strip(_DRESS), shift) if not divided and re.search(r"\d", piece) and len(piece) < _LONGEST else None
        if item is None and (colon := re.match(r".*[:：](?=.*\d)", piece)) is not None:  # ``Architecture: 12 layers``
            shift = place + colon.end() + len(piece[colon.end() :]) - len(piece[colon.end() :].lstrip(_DRESS))
            item = _read(piece[colon.end() :].strip(_DRESS), shift)
        if item is not None:
            yield item
        place = following


def _read(piece: str, shift: int) -> Item | None:
    while (article := _ARTICLE.match(piece)) is not None and article.end() < len(piece):
        piece, shift = piece[article.end() :], shift + article.end()
    if (letter := _LETTER_BEFORE.match(piece)) is not None:
        piece, shift = piece[letter.end() :], shift + letter.end()
    for word, pattern in _BEHIND if piece[:1].isdigit() else ():
        if (match := pattern.fullmatch(piece)) is not None:
            return _item(word, match, "count" if word == "total" else "number", shift)
    if (match := _TOTAL.fullmatch(piece)) is not None:
        return _item("total", match, "count", shift)
    if (match := _BARE.fullmatch(piece)) is not None:
        found = _item("total", match, "count", shift)
        return found._replace(bare=True) if found is not None else None
    if (match := _SHORT.fullmatch(piece)) is not None:
        return _item(_SHORT_LETTERS[match["letter"]], match, "number", shift, lettered=True)
    if (match := _LETTERED.fullmatch(piece)) is not None:
        if match["small"]:
            return _item(_SMALL_LETTERS[match["small"]], match, "width", shift, lettered=True)
        return _item(LETTERS[match["letter"]], match, "number", shift, lettered=True)
    if (match := _LABELLED.fullmatch(piece)) is not None:
        named = (
            _label(match["label"])
            or _label(re.sub(r"\(.*?\)", " ", match["label"]))
            or _label("".join(re.findall(r"\((.*?)\)", match["label"])))
        )
        return _item(named, match, "number", shift) if named else None
    return None


def _label(written: str) -> str | None:
    """Return the size that a label names: ``num_hidden_layers``, ``defaultHeads``."""
    return _LABELS.get(" ".join(re.sub(r"[_#/()-]+|(?<=[a-z])(?=[A-Z])", " ", written).lower().removeprefix("default").split()))


def _item(word: str, match: re.Match[str], group: str, shift: int, *, lettered: bool = False) -> Item | None:
    start, end = match.span(group)
    end -= len(match[group]) - len(match[group].rstrip())
    return Item(word, start + shift, end + shift, lettered=lettered) if word == "positions" or match[group][-1] not in "kK" else None
