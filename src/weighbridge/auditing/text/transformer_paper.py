"""The Transformer of 2017, which no preset is: what texts call it, and the sizes and counts of its paper's Table 3."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.settings import read_settings
from weighbridge.core._namedtuple import NamedTuple

BASE = {"layers": 6, "hidden": 512, "mlp": 2048, "heads": 8, "head_dim": 64}
BIG = {"layers": 6, "hidden": 1024, "mlp": 4096, "heads": 16, "head_dim": 64}
"""Rows ``base`` and ``big`` of Table 3.

Source: arXiv 1706.03762v7, Table 3 and section 3.
"""
VOCAB = 37_000
"""Words of its English and German, "about 37000 tokens" (section 5.1)."""
PUBLISHED = {"base": 65_000_000, "big": 213_000_000}
"""What the same table gives as the numbers of parameters, in millions."""

_NAMED = patterns.pattern(
    r"attention is all you need|vaswani|annotated transformer|(?:原始|原版|原本|最初|最早|经典|标准|原论文(?:中|里)?的?)的?\s?transformer(?![A-Za-z-]|\s?(?:的\s?)?(?:变体|decoder|encoder))"
    r"|(?:\bvanilla|\boriginal|\bclassic) (?:encoder-decoder )?transformer\b(?!s\b| (?:language|encoders?|decoders?)\b)|(?<![A-Za-z-])transformer[\s_-]{0,2}[(（]?(?:base|big)\b(?!\w)|transformer\s?(?:的\s?)?(?:论文|原论文|原文)|\btransformer paper\b"
    r"|(?<![A-Za-z-])transformer\s?的?\s?(?:base|big|基础)\s?(?:版本?|模型)",
    re.IGNORECASE,
)
"""Names that no other model has."""
_TRANSFORMER = patterns.pattern(r"(?<![A-Za-z-])transformer(?![A-Za-z-])", re.IGNORECASE)
_ENCODER, _DECODER = patterns.pattern(r"encoder|编码器", re.IGNORECASE), patterns.pattern(r"decoder|解码器", re.IGNORECASE)
_PAPER = patterns.pattern(r"论文|原文|\bthe (?:paper|authors)\b|\bin the paper\b|\bpaper's\b", re.IGNORECASE)
_SAYS_WHO = patterns.pattern(
    r"论文|原文|\bthe (?:paper|authors)\b|\bpaper's\b|(?<![A-Za-z-])(?:base|big)(?![A-Za-z-])|基础(?:模型|版)|大模型\s?[(（]big",
    re.IGNORECASE,
)
"""Words of a sentence that is about the paper's model, in a text that is."""
_LABEL = patterns.pattern(
    r"(?<![A-Za-z-])(?P<base>base)(?![A-Za-z-])|(?<![A-Za-z-])(?P<big>big)(?![A-Za-z-])|(?P<also_base>基础(?:模型|版|配置))", re.IGNORECASE
)
_OTHERWISE = patterns.any_word(
    r"\b(?:our|ours|my|we (?:use|set|train|reduce|shrink|take|chose|choose|pick|only)|i (?:use|set|train|reduce|chose)|smaller|shallower|tiny|toy|mini|small|reduced?|shrink|shrunk|halved?|doubled?|instead|ablat\w*|variants?|variation|"
    r"varied|vary|varying|suppose|imagine|assume|say|if|would|could|e\.g|for example|for instance|such as|like|unlike|than|modern|today|nowadays|figure|diagram|picture|illustrat\w*|simplif\w*|demo|debug|"
    r"exercise|question|reduce|change[ds]?|only|just|default(?:s)? (?:of|in) (?:pytorch|torch|keras)|implement\w*|homework|assignment|build(?:ing)?|train(?:ing|ed)? an?|nn\.transformer)\b"
    r"|我们|我的|自己|本文|本例|本次|这里(?:取|用|设)|简化|缩小|缩减|减小|减少|减半|加倍|翻倍|改[为成用]|换成|玩具|演示|示例|示意|图中|图里|例如|比如|假设|假如|假定|如果|若|倘若|消融|变体|不同|现代|如今|现在|后来|之后的|相比|而非|不是|只[有用画]|仅|更[大小深浅宽]|小模型|轻量|实现|作业|练习|习题|思考题"
)
"""Words of a sentence by which its sizes are, or may be, those of another model than the paper's."""


class PaperSize(NamedTuple):
    """A size that a line may give the paper's model: our word for it, the number, and where that stands."""

    word: str
    value: int
    start: int
    end: int


def names_paper(text: str) -> tuple[tuple[int, int], ...]:
    """Return where a line names the Transformer of 2017.

    >>> names_paper("The original Transformer has 6 layers"), names_paper("A transformer has layers")
    (((4, 24),), ())
    """
    return (
        tuple(found.span() for found in _NAMED.finditer(text))
        if "ransformer" in text or "ttention" in text or "aswani" in text or "RANS" in text
        else ()
    )


def describes_paper(text: str) -> bool:
    """Tell whether a whole text that names it nowhere is about it all the same: it speaks of a paper, and of a Transformer's encoder and decoder."""
    if _TRANSFORMER.search(text) is None:
        return False
    return _ORIGINAL.search(text) is not None or all(words.search(text) is not None for words in (_PAPER, _ENCODER, _DECODER))


_ORIGINAL = patterns.pattern(r"原论文|原始论文|\boriginal (?:transformer )?paper\b", re.IGNORECASE)


def speaks_of_paper(sentence: str) -> bool:
    """Tell whether a sentence of a text about the paper says that it is about the paper's model.

    >>> speaks_of_paper("论文中 N=6"), speaks_of_paper("the base model has 6 layers"), speaks_of_paper("there are 6 layers")
    (True, True, False)
    """
    return _SAYS_WHO.search(sentence) is not None or bool(names_paper(sentence))


def speaks_otherwise(sentence: str) -> bool:
    """Tell whether a sentence may be about another model than the paper's.

    >>> speaks_otherwise("we use 3 layers instead"), speaks_otherwise("论文中 N=6"), speaks_otherwise("这里取 N=2")
    (True, False, True)
    """
    return _OTHERWISE.search(_IS_BIG.sub("", sentence)) is not None


_CAPITALS = patterns.pattern(r"(?<![A-Za-z0-9_-])[A-Z][A-Za-z]{2,}[\w-]*")
_KNOWN = frozenset(
    """transformer encoder decoder encoders decoders attention multi-head multihead head heads self-attention masked scaled dot-product feed-forward feedforward ffn mha mlp layer layers layernorm add norm linear softmax relu position positional
    position-wise embedding embeddings encoding query key value queries keys values table section figure vaswani google brain research base big wmt bpe english german french english-german english-french en-de en-fr adam bleu dropout qkv the each every both all for and
    there its they this that these here all-you-need need you output input outputs inputs number size dimension dimensions model paper sublayer sub-layer sub-layers residual connection annotated harvard nlp pytorch tensorflow gpu gpus word token tokens vocabulary stack is are per total parameters params feed forward fully connected hidden unit units network networks block blocks sub self cross dot product dropout default defaults value scaling weight weights matrix matrices dim dims width""".split()
)


def names_another(sentence: str) -> bool:
    """Tell whether a sentence has a name in it that is none of the paper's words: somebody else's model, or a library.

    >>> names_another("DeepMind 的 AlphaCode 有 8 个头"), names_another("The Multi-Head Attention of the Transformer has 8 heads")
    (True, False)
    """
    found = [(one.start(), one[0]) for one in _CAPITALS.finditer(sentence)]
    return any(
        name.lower() not in _KNOWN and not (start == len(sentence) - len(sentence.lstrip(" *-#>")) and name[1:].islower())
        for start, name in found
    )


_IS_BIG = patterns.pattern(r"\b(?:large|big|larger|bigger) variant\b(?=\W{0,3}\(?\W?big\b)", re.IGNORECASE)
"""The paper's own other model, which is no variant of anybody else's."""


def label_before(text: str, start: int, place: int) -> str:
    """Return which of the two models the words before a number speak of last, or those right behind it: ``base``, ``big`` or neither.

    >>> label_before("base: 65M, big: 213M", 0, 16), label_before("65M", 0, 0)
    ('big', '')
    """
    if (behind := _FOR.match(text, place)) is not None:
        return behind["label"].lower()
    found = [one for one in _LABEL.finditer(text) if start <= one.start() < place]
    return "" if not found else "big" if found[-1]["big"] else "base"


_FOR = patterns.pattern(
    r"[\d.,]+\s?(?:M|million)?\s?(?:param(?:eter)?s )?(?:for|in) (?:the |its )?(?:[Tt]ransformer )?(?P<label>base|big)\b", re.IGNORECASE
)


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
