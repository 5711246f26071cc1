"""The sizes that a line of a text about the Transformer of 2017 gives it, in the paper's letters and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.settings import read_settings
from weighbridge.core._namedtuple import NamedTuple


class PaperSize(NamedTuple):
    """A size that a line may give the paper's model: our word for it, the number, and where that stands."""

    word: str
    value: int
    start: int
    end: int


_SYMBOL = patterns.pattern(
    r"(?<![A-Za-z0-9_])(?P<key>N|h|n_?heads?|num_heads|nhead|n_?layers?|num_layers|d_?k|d_?v|d_?q|d_?model|d_?ff|d_?hidden)(?:\s?(?:=|和|与|及|、|,|and)\s?(?:d_?k|d_?v|d_?model\s?/\s?h))*"
    r"\s?(?:都|均|各|分别)?(?:=|:|为|是|取|取为|设为)\s?(?P<number>\d{1,5})(?![\d.,]*\d|\s?[×x*+/^÷]|\s?-\s?\d|[A-Za-z])"
)
_PLAIN = {"n": "layers", "h": "heads", "nhead": "heads", "nheads": "heads", "numheads": "heads", "nlayers": "layers", "nlayer": "layers", "numlayers": "layers",
          "dk": "head_dim", "dv": "head_dim", "dq": "head_dim", "dmodel": "hidden", "dff": "mlp", "dhidden": "mlp"}  # fmt: skip
_UP = patterns.pattern(
    r"(?:维度?|dimensions?)?\s?(?:升|扩|增加?|映射|投影|变换?|放大|拓展|扩展|expand\w*|project\w*|(?:up )?to)[^\d,，。;；]{0,8}(?P<number>\d{3,5})(?!\d)"
)
_FILTER = patterns.pattern(
    r"(?<![\d.,])(?P<number>\d{3,5})[- ](?:filter|inner)(?:[- ](?:size|units|layer))?\b"
    r"|(?:前馈|feed[- ]?forward|ffn)[^,，。;；\d]{0,16}(?:隐藏单元数?|神经元数?|hidden units?)(?:为|是|有|共)?\s?(?P<more>\d{3,5})(?!\d)|(?:feed[- ]?forward|ffn)[^,，。;；\d]{0,30}(?P<last>\d{3,5}) hidden units",
    re.IGNORECASE,
)
_VECTORS = patterns.pattern(r"\bvectors? of (?:size|dimension|length) (?P<number>\d{2,4})(?![\d.,]*\d)", re.IGNORECASE)
_HEADED = patterns.pattern(
    r"(?<![\d.,])(?P<number>\d{1,3})\s?(?:个\s?)?(?:并行的?\s?)?(?:注意力)?头(?:的?\s?(?:自?注意力|attention))?(?![部文像])|(?<![\d.,])(?P<more>\d{1,3})[- ](?:parallel )?(?:attention )?heads?\b",
    re.IGNORECASE,
)
_ADDED = patterns.pattern(r"(?:头数|层数)\s?(?:加|增|提高|提升|扩大)[到至为]\s?(?P<number>\d{1,3})(?!\d)")
_WIDER = patterns.pattern(r"(?P<key>d_?model|d_?ff)\s?(?:加|增加?|提高|提升|扩大|扩展?|翻倍)[到至为]\s?(?P<number>\d{3,5})(?!\d)")
_PAIRED = patterns.pattern(r"(?<![\d.,+])(?P<first>\d{1,2})\s?\+\s?(?P<second>\d{1,2})(?=\s?层| layers)")


def symbol_of(label: str) -> str:
    """Return which size one of the paper's letters stands for.

    >>> symbol_of("d_k"), symbol_of("N"), symbol_of("n")
    ('head_dim', 'layers', '')
    """
    return _PLAIN.get(label.replace("_", "").lower(), "") if _LETTERS.fullmatch(label) else ""


_LETTERS = patterns.pattern(r"N|h|d_?[kv]|d_?model|d_?ff|[dD]_?(?:MODEL|FF)")
_DIVIDED = patterns.pattern(
    r"(?<![\d.,×x*+/-])(?P<hidden>\d{3,4})\s?(?://?|÷)\s?(?P<heads>\d{1,2})\s?=\s?(?P<head_dim>\d{2,3})(?![\d.,]*\d)"
)


_LAYERED = patterns.pattern(
    r"(?<![\d.,第前后每])(?P<number>\d{1,2})(?:\s?个)?\s?层(?=\s?(?:的?\s?)?(?:编码器|解码器|encoder|decoder))|(?<![\d.,-])(?P<more>\d{1,2}) (?:identical )?(?:encoder|decoder)(?: and (?:encoder|decoder))? layers\b",
    re.IGNORECASE,
)
_WIDE = patterns.pattern(r"(?:隐藏|模型|嵌入)层?(?:的?维度|大小|维数)\s?(?:[为是:=]|都是)?\s?(?P<number>\d{3,4})(?![\d.,]*\d)")


@once_for_each_text
def paper_sizes(text: str) -> tuple[PaperSize, ...]:
    """Return the sizes that a line of a text about the paper gives, in its letters and in words, each number once.

    >>> [(one.word, one.value) for one in paper_sizes("N=6, d_model=512, h=8, d_k=d_v=64")]
    [('layers', 6), ('hidden', 512), ('heads', 8), ('head_dim', 64)]
    >>> [(one.word, one.value) for one in paper_sizes("6+6 layers, 8 头注意力")]
    [('layers', 6), ('layers', 6), ('heads', 8)]
    """
    found: dict[int, PaperSize] = {}
    for word, number, start, end in _read_sizes(text):
        whole = number.replace(",", "")
        if whole.isdecimal() and start not in found and not (word == "layers" and _SUBLAYERS.match(text, end)):
            found[start] = PaperSize(word, int(whole), start, end)
    return tuple(found[start] for start in sorted(found))


_SUBLAYERS = patterns.pattern(r"\s?个?子层|[- ]sub-?layers?\b|\s?层(?:的?感知机|全连接|线性|mlp)", re.IGNORECASE)


def _read_sizes(text: str) -> Iterator[tuple[str, str, int, int]]:
    for symbol in _SYMBOL.finditer(text):
        yield _PLAIN[symbol["key"].replace("_", "").lower()], symbol["number"], *symbol.span("number")
    for wider in _WIDER.finditer(text):
        yield _PLAIN[wider["key"].replace("_", "").lower()], wider["number"], *wider.span("number")
    for divided in _DIVIDED.finditer(text):
        yield from ((word, divided[word], *divided.span(word)) for word in ("hidden", "heads", "head_dim"))
    for added in _ADDED.finditer(text):
        yield "heads" if added[0].startswith("头") else "layers", added["number"], *added.span("number")
    for pair in _PAIRED.finditer(text):
        yield from (("layers", pair[side], *pair.span(side)) for side in ("first", "second"))
    for filters in _FILTER.finditer(text):
        yield "mlp", filters[filters.lastgroup or 0], *filters.span(filters.lastgroup or 0)
    for size in find_described_sizes(text):
        yield (
            size.word if size.word != "hidden" or size.first < size.start else "dimension",
            text[size.start : size.end],
            size.start,
            size.end,
        )
    for setting in read_settings(text):
        yield setting.kind, text[setting.start : setting.end], setting.start, setting.end
    for heads in _HEADED.finditer(text):
        which = "number" if heads["number"] else "more"
        yield "heads", heads[which], *heads.span(which)
    for layers in _LAYERED.finditer(text):
        which = "number" if layers["number"] else "more"
        yield "layers", layers[which], *layers.span(which)
    for wide in _WIDE.finditer(text):
        yield "hidden", wide["number"], *wide.span("number")
    for pattern, word in ((_UP, "dimension"), (_VECTORS, "dimension")):
        for one in pattern.finditer(text):
            yield word, one[one.lastgroup or 0], *one.span(one.lastgroup or 0)
