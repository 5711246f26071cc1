"""The words people use for sizes, in English and Chinese, as one table that is looked up and never searched."""

from __future__ import annotations

from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import NamedTuple

LETTERS = {"H": "hidden", "V": "vocab", "L": "layers", "A": "heads", "I": "mlp", "S": "positions", "T": "types"}
"""The letters that mean a size when a text does not say otherwise."""

SYMBOLS = {word: letter for letter, word in LETTERS.items()} | {"head_dim": "D", "kv_heads": "K"}
"""Our word for a size, and the letter it has in formulas here."""

POSSIBLE = frozenset("HVLAISTNCEDFdhnklmrs")
"""Single letters that may stand for a size in a formula."""

_PHRASES = {
    "vocab": """vocab size, vocabulary size, vocabulary, vocab, n vocab, vocab words, word list, 词表大小, 词汇表大小, 词典大小, 词表的大小, 词汇量, 词汇表的大小,
        词典的大小, 字典大小, 词表, 词表长度, 词汇表长度, 词汇大小""",
    "hidden": """hidden size, hidden dim, hidden dimension, hidden dimensions, hidden units, d model, dmodel, n embd, embedding dim, embedding dimension,
        embedding size, embedding dimensions, hidden dimension size, hidden layer size, model dim, model dimension, hidden, dim model, vocab dim, 隐藏层大小, 隐藏层维度, 隐层维度, 隐藏维度, 隐层大小, 隐藏层尺寸, 隐藏大小, 词向量的大小,
        词向量大小, 词向量维度, 词向量的维度, 嵌入维度, 模型维度, 隐藏单元数, 隐藏层的大小, 隐藏层神经元数""",
    "layers": """num hidden layers, num layers, n layer, n layers, number of layers, number of hidden layers, hidden layers, layers, layer,
        encoder layers, transformer layers, decoder layers, encoder blocks, decoder blocks, num blocks, n blocks, number of blocks, layer num, num encoder layers, transformer blocks, 层数, transformer层数, transformer 层数, encoder层个数, encoder 层数, encoder层数, 编码器层数,
        层个数, 隐藏层数, 网络层数, transformer 层数量, 编码层数""",
    "heads": """num attention heads, num heads, n head, n heads, number of heads, number of attention heads, attention heads, attention heads per layer, heads per layer, heads, self attention heads,
        头数, 注意力头数, 头个数, 头的个数, 注意力头个数, 头的数量, 多头数, 注意力头的数量, 注意力头数量""",
    "mlp": """intermediate size, ffn hidden size, ffn size, ffn dim, ffn dimension, d ff, dff, feed forward size, feed forward dim, feed forward dimension,
        feed forward hidden size, intermediate dim, intermediate dimension, filter size, intermediate, ffn width, mlp hidden size, mlp hidden dim, mlp ratio dim, n inner, mlp dim, mlp size, 中间层大小, 中间层维度, 前馈网络维度, 前馈层维度,
        前馈维度, ffn 维度, ffn维度, ffn 中间层维度, 中间维度, 前馈网络隐藏层大小, 前馈网络中间层大小, 前馈网络大小, 前馈层大小, 中间层的大小""",
    "positions": """max position embeddings, n positions, max sequence length, maximum sequence length, max seq length, max seq len, seq length, seq len, sequence length,
        maximum position embeddings, max positions, maximum length, max length, context length, context window, context size, n ctx, positions, maximum positions, 最大位置编码, 文本最大长度, 最大序列长度, 最大长度, 序列长度,
        序列最大长度, 最大位置数, 最大位置, 位置数, 最大位置嵌入, 句子最大长度, 最大句长""",
    "types": """type vocab size, token types, segment types, number of segments, number of token types, segments, types, 标记类型数, 词元类型数, 句子类型数, 分段数, 片段类型数, 片段数, 类型数, 类型词表大小""",
    "kv_heads": "kv heads, num key value heads, n kv heads, num kv heads, key value heads, number of kv heads, kv head num, kv 头数, kv头数",
    "head_dim": "head dim, head size, head dimension, d k, d head, dim head, 每个头的维度, 头维度, 单头维度, 头的维度",
}

_COUNTS = "数 数量 数目 个数 总数 的数量 的个数 的数目 的总数 num"
_WIDTHS = "维度 的维度 维数 的维数 大小 的大小 尺寸 的尺寸 宽度 的宽度 dim 的dim size 的size"
_INNER = "维度 的维度 隐藏维度 的隐藏维度 中间维度 的中间维度 内部维度 中间层维度 的中间层维度 隐藏层维度 的隐藏层维度 大小 中间层大小 的中间层大小 隐藏层大小 的隐藏层大小 宽度 的宽度 size dim 的dim"
_BUILT = (
    ("layers", "层,隐藏层,编码层,解码层,编码器层,解码器层,网络层,模型层,transformer层,transformer块,transformer模块,transformer layer,transformer block,transformer blocks,encoder层,encoder layer,"
     "decoder层,decoder layer,decoder block,layer,layers,block,blocks", _COUNTS),
    ("heads", "头,注意力头,自注意力头,多头注意力的头,查询头,head,heads,attention head,attention heads,注意力head,q头,q head,q heads,query头,query head,query heads", _COUNTS),
    ("kv_heads", "kv头,kv head,kv heads,键值头,key/value头,key-value头,k/v头,kv注意力头,kv的头,key/value head,key/value heads", _COUNTS),
    ("hidden", "隐藏层,隐层,隐藏,隐状态,隐藏状态,隐向量,隐藏向量,嵌入,嵌入层,词嵌入,词嵌入向量,词向量,嵌入向量,embedding,词embedding,token embedding,token向量,hidden,hidden state,模型隐藏", _WIDTHS),
    ("hidden", "模型,网络", "维度 的维度 宽度 的宽度"),
    ("mlp", "ffn,mlp,前馈,前馈层,前馈网络,前馈神经网络,前馈全连接层,feed forward,feedforward,ffn层,mlp层,ffn网络", _INNER),
    ("mlp", "中间层,中间隐藏层", _WIDTHS),
    ("vocab", "词表,词汇表,词典,字典,词汇,vocab,vocabulary,tokenizer词表", "大小 的大小 规模 的规模 长度 的长度 容量 size"),
    ("head_dim", "每个头,每个head,每个注意力头,每个attention head,每头,单头,单个头,单个注意力头,单个head,注意力头,head", _WIDTHS),
)  # fmt: skip
"""Names in Chinese, or half in Chinese, are built of a thing and of what is said of it: each is written with each, ``KV head`` and ``的数量``."""


def _built_phrases() -> dict[str, str]:
    """Return the names that are built, with and without a space beside English letters."""
    found: dict[str, str] = {}
    for word, things, measures in _BUILT:
        for thing in things.split(","):
            for measure in measures.split():
                seam = thing[-1].isascii() or measure.isascii()
                for gap in ("", " ") if seam and not (thing[-1].isascii() and measure.isascii()) else (" ",) if seam else ("",):
                    found[f"{thing}{gap}{measure}"] = word
                    found.setdefault(_SEAM.sub(" ", f"{thing}{gap}{measure}"), word)
    return found


_SEAM = pattern(r"(?<=[a-z])(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?=[a-z])")
SIZES = _built_phrases() | {phrase.strip(): word for word, phrases in _PHRASES.items() for phrase in " ".join(phrases.split()).split(",")}
"""From a phrase, lower case and with spaces for ``_`` and ``-``, to our word for the size."""

LOOSE = frozenset("vocabulary vocab hidden layer layers heads intermediate positions segments types 词表".split())
"""Phrases that are words of ordinary prose too: they name a size only beside a number or a sign."""

NOUNS = frozenset("layers layer heads head blocks block elements params parameters weights matrices copies times".split())
"""Words that may follow a number inside a formula without changing it."""

MEASURES = "层个头维次份组"
"""The same in Chinese."""

UNITS: dict[str, tuple[int, ...]] = {
    "k": (10**3, 2**10), "m": (10**6, 2**20), "b": (10**9, 2**30, 1), "g": (10**9, 2**30), "t": (10**12, 2**40), "bn": (10**9,), "mn": (10**6,),
    "kb": (2**10, 10**3), "mb": (2**20, 10**6), "gb": (2**30, 10**9), "tb": (2**40, 10**12), "kib": (2**10,), "mib": (2**20,), "gib": (2**30,), "tib": (2**40,),
    "thousand": (10**3,), "million": (10**6,), "millions": (10**6,), "billion": (10**9,), "billions": (10**9,), "trillion": (10**12,),
    "万": (10**4,), "亿": (10**8,), "千万": (10**7,), "百万": (10**6,), "十亿": (10**9,), "万亿": (10**12,), "千": (10**3,), "兆": (10**6, 2**20), "千亿": (10**11,), "百亿": (10**10,),
    "kflops": (10**3,), "mflops": (10**6,), "gflops": (10**9,), "tflops": (10**12,), "pflops": (10**15,), "gflop": (10**9,), "tflop": (10**12,), "mflop": (10**6,),
    "mmacs": (10**6,), "gmacs": (10**9,), "tmacs": (10**12,), "bytes": (1,), "byte": (1,), "字节": (1,), "mbytes": (2**20, 10**6), "gbytes": (2**30, 10**9),
    "gbs": (2**30, 10**9), "mbs": (2**20, 10**6), "gigabytes": (2**30, 10**9), "megabytes": (2**20, 10**6), "terabytes": (2**40, 10**12),
} | {f"×10^{power}": (10**power,) for power in range(5, 14)}  # fmt: skip
"""What a unit may mean, the likeliest first; a power of ten behind a count of parameters is one, ``1.1 × 10^8``."""

COUNTING = frozenset(unit for unit in UNITS if unit.startswith("×")) | frozenset(
    "k m b t bn mn million millions billion billions trillion thousand 万 亿 千万 百万 十亿 百亿 千亿 万亿".split()
)
"""Units that count parameters, in words and letters."""

BYTES = frozenset("kb mb gb tb kib mib gib tib bytes byte 字节 mbytes gbytes gbs mbs gigabytes megabytes terabytes".split())
"""Units that are bytes, though some write them for counts."""

WORK = frozenset(unit for unit in UNITS if "flop" in unit or "mac" in unit)
"""Units of arithmetic work, which is never held against parameters."""


class PhraseMatch(NamedTuple):
    """A phrase found in a text: our word, where it ends, and how it was written."""

    word: str
    end: int
    phrase: str


def size_at(text: str, start: int) -> PhraseMatch | None:
    """Return the longest size phrase that starts at *start* and ends at a word's end.

    >>> size_at("max_position_embeddings × 768", 0)
    PhraseMatch(word='positions', end=23, phrase='max position embeddings')
    """
    if not text[start].isascii():
        return _chinese(text, start)
    word = _LETTERS.match(text, start)
    if word is None or word.group().lower() not in _STARTS:
        return None
    phrase, best = "", None
    for _ in range(5):
        end = word.end()
        phrase = f"{phrase} {word.group().lower()}" if phrase else word.group().lower()
        following = text[end : end + 1]
        if phrase in SIZES and not (following == "_" or (following.isascii() and following.isdigit())):
            best = PhraseMatch(SIZES[phrase], end, phrase)
        best = _find_mixed(text, end, phrase) or best
        gap = _GAP.match(text, end)
        word = _LETTERS.match(text, gap.end()) if gap else None
        if word is None:
            break
    return best


def begins_size(word: str) -> bool:
    """Tell whether a phrase for a size may begin with the letters that a word begins with."""
    letters = _LETTERS.match(word)
    return letters is not None and letters.group().lower() in _STARTS


_LETTERS = pattern("[A-Za-z]+")
_GAP = pattern("[ _/-]{1,2}")
_STARTS = frozenset(found.group() for phrase in SIZES if (found := _LETTERS.match(phrase)))


_BEGINNINGS = frozenset(phrase[:2] for phrase in SIZES)


def _find_mixed(text: str, end: int, phrase: str) -> PhraseMatch | None:
    """Look for a phrase that goes on in Chinese, such as ``Transformer 层数``."""
    if text[end : end + 2].isascii():
        return None
    for gap in ("", " "):
        if text[end : end + len(gap)] == gap:
            for length in range(8, 0, -1):
                found = phrase + gap + text[end + len(gap) : end + len(gap) + length]
                if found in SIZES:
                    return PhraseMatch(SIZES[found], end + len(gap) + length, found)
    return None


def _chinese(text: str, start: int) -> PhraseMatch | None:
    if text[start : start + 2] not in _BEGINNINGS:
        return None
    for length in range(min(12, len(text) - start), 1, -1):
        phrase = text[start : start + length]
        if phrase in SIZES:
            return PhraseMatch(SIZES[phrase], start + length, phrase)
    return None
