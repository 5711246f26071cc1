"""Sizes wherever running text says them: ``a vocabulary of 128,256 tokens``, ``each of dimension 64``, ``隐藏维度 5120``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.text.field_words import LABELS, OF_KEYS
from weighbridge.auditing.text.memory import once_for_each_shape, once_for_each_text
from weighbridge.auditing.text.owners import is_after_a_part, is_of_a_part
from weighbridge.auditing.text.phrases import as_trie, lower_case
from weighbridge.auditing.text.size_words import LOOSE
from weighbridge.core._namedtuple import NamedTuple


class DescribedSize(NamedTuple):
    """A size that running text says.

    Attributes:
        word: Our word for it.
        value: The number.
        start, end: Where the number stands.
        first, last: Where its words begin and end, the number's included.
    """

    word: str
    value: int
    start: int
    end: int
    first: int
    last: int


_NOT_BEHIND = r"(?<![A-Za-z0-9_.×*+^/$-])(?<!\d[,.])(?<![×*+^] )(?<![第前后末首每隔至到剩逐])(?<![第前后] )"
_NUMBER = (
    rf"(?P<number>{_NOT_BEHIND}\d{{1,3}}(?:,\d{{3}})+|{_NOT_BEHIND}\d{{1,7}})"
    r"(?![\d%]|[.,]\d|[A-Za-z](?![A-Za-z])|\s?[×x*+/^]\s?[\dA-Za-z(]|\s?[KMBTkG]\b|\s?[万亿]|\s?[–~-]\s?\d|\s?(?:times|倍))"
)
"""A whole number that is no part of a formula, a range, a share or a larger number."""
_LINK = r"(?:\s?[:：=]\s?|\s?(?:是|为|等于|变化?为|约为|通常取)[^。；;，,\d]{0,12}[(（]?\d[\d./]*[)）]?\s?倍[^。；;，,\d]{0,10}[,，]\s?(?:即|也就是|也即|等于)\s?|\s(?:expands|widens|goes up|projects up) (?:it |them )?to\s|\sis (?:much |far |a lot )?(?:larger|bigger|smaller) at\s|\s(?:of|is|=|has|size of|equals)\s(?:about |only |just )?|\s?(?:[设取]?[置定]?为|是|有|只有|仅有?|一?共有?|达到?|高达|等于|取)\s?[:：]?\s?|\s)"
_MORE = {
    "width": "hidden", "model width": "hidden", "embedding width": "hidden", "d_ff": "mlp", "feed-forward": "mlp", "feedforward": "mlp", "ffn": "mlp", "mlp": "mlp",
    "feed-forward width": "mlp", "feed-forward size": "mlp", "head_dim": "head_dim", "dimension of each head": "head_dim", "head dimension": "head_dim",
    "each of dimension": "head_dim", "heads of dimension": "head_dim", "heads of size": "head_dim", "each of size": "head_dim", "ffn 中间维度": "mlp", "中间层维度": "mlp",
    "前馈层维度": "mlp", "隐藏层": "hidden", "隐藏维": "hidden", "宽度": "hidden", "向量维度": "hidden", "词表": "vocab", "词汇表": "vocab", "vocabulary": "vocab",
    "q 头": "heads", "kv 头": "kv_heads", "q头": "heads", "kv头": "kv_heads", "查询头": "heads", "键值头": "kv_heads", "激活": "active", "每个 token 选": "active", "每个token选": "active", "residual stream": "hidden", "feed-forward layer": "mlp", "feed-forward network": "mlp", "ffn layer": "mlp", "前馈网络": "mlp", "中间维": "mlp", "中间层": "mlp",
    **dict.fromkeys(("feed-forward inner dimension", "feed-forward inner size", "feedforward inner dimension", "inner dimension", "inner size", "feed-forward intermediate size", "feed-forward intermediate dimension", "feedforward dimension", "feedforward size", "feed-forward hidden dimension", "feed-forward filter size", "inner feed-forward dimension", "inner-layer dimensionality", "feed-forward dimensionality"), "mlp"),
    **dict.fromkeys(("dkv", "d_kv", "d_v", "per-head dimension", "heads of dim", "heads, each with a dimension", "heads, each with dimension", "heads each of dimension", "heads each with a dimension", "each head in the model has a dimension", "each head has a dimension", "each attention head has a dimension", "each head has dimension"), "head_dim"),
    **dict.fromkeys(("embedding matrix has a size", "embedding table has a size", "vocabulary with", "vocabulary contains", "vocab size [", "vocabulary size ["), "vocab"),
    **dict.fromkeys(("hidden dimensionality", "embedding dimensionality", "hidden state dimension", "hidden layers being", "representation obtained from it", "output dimension", "embedding length", "residual width", "representation size", "hidden representation size"), "hidden"),
    **dict.fromkeys(("sequences up to", "sequences of up to", "inputs up to", "inputs of up to", "context lengths of up to", "context length of up to", "context window of up to", "context of up to", "context size", "context sizes of up to"), "positions"),
    **dict.fromkeys(("ffn inner", "ffn inner size", "mlp inner", "mlp inner size"), "mlp"),
    **dict.fromkeys(("vocabulary size is set to", "vocab size is set to", "vocabulary is set to"), "vocab"),
    **{f"{book}{inside}{all_}{has}": "vocab" for book in ("词表", "词汇表", "词典", "字典") for inside in ("", "中", "里") for all_ in ("", "共", "一共", "总共") for has in ("有", "包含", "包含了", "含有", "收录")},
    **dict.fromkeys(("序列最长", "最大序列长", "输入最长", "序列最大长度"), "positions"),
    **{f"{most}上下文{what}": "positions" for most in ("", "最大", "最长", "原生") for what in ("窗口", "窗口大小", "窗口长度", "长度", "大小")}, "最大上下文": "positions",
    "vocab": "vocab", "hidden": "hidden", "上下文长度": "positions", "context": "positions", "context window": "positions", "context length": "positions",
}  # fmt: skip
_OWN_WORDS = {
    **{
        phrase: word
        for phrase, word in LABELS.items()
        if phrase not in LOOSE | {"state", "depth", "experts"} and word not in ("types", "patch")
    },
    **_MORE,
}
"""Names of a size that stand in front of its number."""
_LABEL = patterns.by_script(_OWN_WORDS, lambda words: as_trie(words, "[ _-]", "[a-z_]") + "(?![a-z])")
"""In lower case."""
_AFTER_LABEL = patterns.pattern(
    r"(?:\s?[(（][^()（）\d]{1,24}[)）](?:的?(?:大小|规模|数量|维度))?)?(?:\s?[A-Za-z](?=\s?[=为是]))?"
    + _LINK.replace(r"|\s)", r"|\s|(?<=[\u4e00-\u9fff]))")
    + _NUMBER,
    re.IGNORECASE,
)
_ADJECTIVES = r"(?:(?:transformer|decoder|encoder|hidden|attention|self|self-attention|multi|routed|identical|stacked|parallel|query|q|dense|bidirectional|total|separate|local|repeating|repeated|speciali[sz]ed|available)[ -]+)*"
_COUNTED = (
    ("kv_heads", r"[- ]?(?:kv|k/v|key[-/ ]?(?:and[- ])?value(?: \(kv\))?)[- ]?(?:attention )?(?:heads?|groups)\b|[- ]query groups\b|\sfor (?:keys and values|k and v|kv)\b|\s?[个组对]?\s?(?:kv|k/v|键值)\s?(?:注意力)?\s?头"),
    ("positions", r"[- ]positions\b|\s?个\s?位置(?![嵌向编])|[- ]tokens? (?:context|sequence)(?: length| window| size)\b"),
    ("shared", r"[- ](?:always[- ]on |always[- ]active )?shared experts?\b|\s?个\s?共享专家"),
    ("active", r"\s(?:(?:are|is|being|of them|of which)\s)*(?:active|activated|selected|used|chosen)\b(?! param)|\sexperts? (?:(?:are|is|being) )?(?:active|activated|selected|chosen|used)\b|(?:\s|-)of(?:\s|-)(?:(?:the|its|those) (?:model's |\w+ )?)?\d+ (?:routed )?experts\b|\s?个?激活(?!参数|的参数)"),
    ("heads", rf"[- ]?{_ADJECTIVES}heads\b|-headed attention\b|\s?个\s?(?:自?注意力?|查询|q|query|self-attention|attention)?\s?(?:头(?![部文像])|heads?\b)|\s?头(?=\s?(?:[,，、;；。)）|]|$))"),
    ("experts", rf"[- ]?{_ADJECTIVES}experts\b(?! per)|\s?个\s?(?:路由)?专家(?![人个总]?数)"),
    ("layers", rf"[- ]?{_ADJECTIVES}(?:layers|blocks)\b|\s?(?:个\s?)?(?:(?:堆叠|相同|完全相同|结构相同|重复|连续)的?\s?)*(?:transformer|encoder|decoder|编码器?|解码器?|模型|网络|隐藏)?\s?层(?![面次级归叠维大尺神宽]|的?\s?(?:ffn|mlp|全连接|线性|前馈|神经网络|卷积|感知机|layer ?norm|rnn|lstm|cnn|gru))|\s?个\s?(?:(?:堆叠|相同|完全相同|结构相同|重复|连续)的?\s?)*(?:(?:transformer|encoder|decoder|编码|解码)\s?)+(?:器|块|模块|blocks?\b|layers?\b)(?!层)|\s?个\s?(?:blocks?\b|layers?\b(?!\s?norm)|编码器|解码器)|\s?个\s?(?:完全|结构)?(?:相同|一样|重复)的?\s?(?:模块|块|单元)(?=\s?(?:堆叠|组成|串联|构成))"),
    ("vocab", r"[- ](?:bpe |wordpiece |sentencepiece |subword |byte-level )*(?:(?:entry|token|word)[ -](?:vocabulary|vocab)|(?:vocabulary|vocab) (?:entries|tokens|words)|(?:tokens|words|entries) in (?:the|its) (?:vocabulary|vocab)|pieces)\b|\s?(?:个?(?:词元?|tokens?)的?)?\s?(?:词表|词汇表)(?![中里外上])"),
    ("head_dim", r"[- ](?:dimensions (?:per|for each|in each) head|dimensional heads)\b"),
    ("mlp", r"\sfor (?:the )?(?:feed-?forward|ffn|mlp)(?: (?:projections?|networks?|layers?|blocks?|dimension))?\b|[- ](?:feed-?forward|ffn|mlp|intermediate) (?:dimensions?|size|units)\b"),
    ("hidden", r"\swide\b|[- ](?:d )?(?:embedding|hidden|model) (?:dim(?:ensions?)?|size)\b|\sfor (?:the )?embedding vectors\b|[- ](?:dimensions?\b(?! (?:per|for each|in each) head)(?!al)|hidden (?:units|dimensions)|hidden\b(?! states?)|dimensional (?:(?:hidden )?states?|hidden layers?|embeddings?|representations?|vectors?|model))\b|[- ]dim (?:(?:token |hidden )?(?:embeddings?|vectors?|representations?|states?)|residual)\b|[- ]hidden\b|\s?个?隐藏层?(?:单元|神经元|节点)|\s?维(?!护|的?\s?(?:log[- ]?)?(?:mel|梅尔|fbank|mfcc|频谱|声学|滤波|one-?hot))"),
)  # fmt: skip
_BEHIND = patterns.pattern(rf"(?=[^\W\d]|[\s-])(?:{'|'.join(f'(?P<{word}>{pattern})' for word, pattern in _COUNTED)})", re.IGNORECASE)
_ASIDE = patterns.pattern(r"\s?[维层]?\s?[(（][`\s]?(?P<label>[A-Za-z][A-Za-z_ -]{2,30}|[\u4e00-\u9fff]{2,8})[`\s]?[)）]")
"""The name of a size in parentheses behind its number: ``长度都是 128 (head_dim)``."""
_ASIDES = frozenset(("hidden", "mlp", "heads", "kv_heads", "layers", "head_dim", "vocab"))
_PLURAL = frozenset(("layers", "heads", "kv_heads", "experts"))
"""What is counted: of 128 in ``heads of 128`` the heads are not so many, but so wide."""
_FIGURE = patterns.pattern(_NUMBER)
_BY = patterns.pattern(
    r"(?:(?<=layers)|(?<=blocks)) ?[×x] ?(?P<number>\d{2,5})(?![\d.,]*\d|\w)(?= ?(?:wide|dim|hidden|in |,|;|\)|$))", re.IGNORECASE
)
"""A width behind the number of layers: ``12 layers × 768 wide``."""
_TOKENS = patterns.pattern(
    r"\s?(?:bpe |wordpiece |sentencepiece |subword )?(?:units|tokens|entries|words|wordpieces|subwords|个)?", re.IGNORECASE
)
_SQUARE = patterns.pattern(
    r"(?<![\d.×x])(?P<first>\d{1,2})\s?[×x]\s?(?P<second>\d{1,2})(?![\d.]|\s?[×x]\s?\d)(?= (?:pixels? |image |non-overlapping |fixed-size )*patch(?:es)?\b)"
    r"|\bpatch(?:es| size)?(?: of)?(?: size)?\s?[:=]?\s?(?P<third>\d{1,2})\s?[×x]\s?(?P<fourth>\d{1,2})(?![\d.]|\s?[×x]\s?\d)",
    re.IGNORECASE,
)
"""The two sides of a patch: ``16×16 patches``, ``patch size: 14x14``."""
HEADING_NUMBER = patterns.pattern(r"\d{1,2} [A-Z][A-Za-z -]{0,40} [×x] ?\d{1,3}(?:\s{2,}|$)")
"""A heading with its number: ``2 Transformer layers × 32``."""
_OUT_OF = patterns.pattern(r"(?<![\d.,])\d{1,3}[- ](?:out )?of[- ](?:(?:the|its|their) )?$", re.IGNORECASE)
_OF_HEADS = patterns.pattern(r"\bheads of $", re.IGNORECASE)
_LONGEST = 4_000
_DIGITS = 6
"""Of the largest size: what is longer behind such a word is a count (``the MLP 4,722,432``)."""


def find_described_sizes(text: str) -> Iterator[DescribedSize]:
    """Yield the sizes that a line says, each number once, from left to right.

    >>> [(size.word, size.value) for size in find_described_sizes("It uses a vocabulary of 128,256 tokens and 32 heads, each of dimension 128")]
    [('vocab', 128256), ('heads', 32), ('head_dim', 128)]
    >>> [(size.word, size.value) for size in find_described_sizes("28 层，隐藏维度 3584，FFN 中间维度 18944")]
    [('layers', 28), ('hidden', 3584), ('mlp', 18944)]
    """
    yield from _sizes_of(text)[0]


def part_places(text: str) -> tuple[int, ...]:
    """Return where a line gives a size to something else than the model: ``再加 2 层分类器``."""
    return _sizes_of(text)[1]


_DIGIT = patterns.pattern(r"\d")


@once_for_each_text
def _sizes_of(text: str) -> tuple[tuple[DescribedSize, ...], tuple[int, ...]]:
    """Return the sizes of a line, which several checks ask for, and where those of something else stand."""
    if len(text) > _LONGEST or not _DIGIT.search(text):
        return (), ()
    sizes, parts = _places_of_sizes(text)
    read = (DescribedSize(size.word, int(text[size.start : size.end].replace(",", "")), *size[2:]) for size in sizes)
    return tuple(read), parts


@once_for_each_shape
def _places_of_sizes(text: str) -> tuple[tuple[DescribedSize, ...], tuple[int, ...]]:
    """Return where a line says sizes, and where those of something else stand."""
    found: dict[int, DescribedSize] = {}
    lower = lower_case(text)
    for label in _LABEL(lower).finditer(lower):
        after = _AFTER_LABEL.match(text, label.end())
        if after is not None and len(after["number"].replace(",", "")) <= _DIGITS:
            word = _OWN_WORDS[_fold_label(label[0])]
            if word in _PLURAL and text[label.end() : after.start("number")].strip().lower() == "of":
                if word not in ("heads", "kv_heads"):
                    continue  # ``layers of 4096``
                word = "head_dim"
            last = _TOKENS.match(text, after.end())
            found.setdefault(after.start("number"), _size(word, after, label.start(), last.end() if last else after.end()))
    for by in _BY.finditer(text) if "layers" in lower or "blocks" in lower else ():
        found.setdefault(by.start("number"), _size("hidden", by, by.start("number"), by.end()))
    for figure in _FIGURE.finditer(text):
        behind = _BEHIND.match(text, figure.end())
        if behind is None and figure.start() not in found and (aside := _ASIDE.match(text, figure.end())) is not None:
            label_behind = lower_case(aside["label"])
            named = _LABEL(label_behind).fullmatch(label_behind)
            word = _OWN_WORDS[_fold_label(named[0])] if named is not None else ""
            if word in _ASIDES:
                found[figure.start()] = _size(word, figure, figure.start(), aside.end())
        elif behind is not None and figure.start() not in found and not (figure.start() == 0 and HEADING_NUMBER.match(text)):
            if behind.lastgroup == "active" and _OUT_OF.search(text, max(0, figure.start() - 24), figure.start()):
                continue  # ``2 of 8 experts activated``
            word = "head_dim" if behind.lastgroup == "hidden" and _OF_HEADS.search(text, 0, figure.start()) else str(behind.lastgroup)
            word = "kv_heads" if word == "heads" and OF_KEYS.search(text, 0, figure.start()) else word
            found[figure.start()] = _size(word, figure, figure.start(), behind.end())
    for square in _SQUARE.finditer(text) if "patch" in lower else ():
        for side in ("first", "second", "third", "fourth"):
            if square[side]:
                found.setdefault(square.start(side), DescribedSize("patch", 0, *square.span(side), *square.span()))
    sizes = [found[start] for start in sorted(found)]
    parts = [size.start for size in sizes if is_of_a_part(text, size.first, size.last, labelled=size.first < size.start)]
    return tuple(size for size in sizes if not is_after_a_part(text, parts, size.start)), tuple(parts)


def _fold_label(phrase: str) -> str:
    lower = phrase.lower()
    return lower if lower in _OWN_WORDS else re.sub("[ _-]", " ", lower)


def _size(word: str, match: re.Match[str], first: int, last: int) -> DescribedSize:
    return DescribedSize(word, 0, *match.span("number"), first, last)
