"""What a number is said to be the count of: the words for a model's components, in English and Chinese."""

from __future__ import annotations

from weighbridge.auditing import patterns
from weighbridge.auditing.text.memory import once_for_each_text, shape_of
from weighbridge.core._namedtuple import NamedTuple

_PHRASES = {
    "word": r"(?:word|token|input|vocabulary|vocab)[ _-]?(?:emb?edd?ings?)(?: table| matrix| layer)?|embed_tokens|\bwte\b|词嵌入|词向量(?!的?(?:维度|大小))|输入嵌入|token ?嵌入|词表嵌入|词嵌入层",
    "position": r"position(?:al)?[ _-]?(?:emb?edd?ings?|encodings?)(?: table| matrix| layer)?|\bwpe\b|位置嵌入|位置编码|位置向量",
    "type": r"(?:segment|token[ _-]?type|type)[ _-]?(?:emb?edd?ings?)(?: table| matrix| layer)?|分段嵌入|段嵌入|标记类型嵌入|词元类型嵌入|句子嵌入|片段嵌入|类型嵌入",
    "embedding_norm": r"embeddings?[ .](?:layer ?)?norm(?:ali[sz]ation)?|嵌入层归一化|嵌入层的归一化|embedding层归一化|嵌入归一化",
    "tables": r"嵌入表|embedding tables|three embeddings",
    "embeddings": r"emb?edd?ings?(?: layers?| block)?|嵌入层|嵌入部分|词嵌入部分|embedding ?层",
    "attention": r"(?:multi[ -]?head(?:ed)?[ -]?)?(?:self[ -_]?)?attention(?: layers?| block| mechanism)?|\bmha\b|多头自注意力|多头注意力|自注意力|注意力层|注意力机制|注意力部分|注意力",
    "query": r"\bquery\b|\bq[ _]proj\b|查询变换|查询矩阵|\bw_?q\b",
    "key": r"\bk[ _]proj\b|键变换|键矩阵|\bw_?k\b",
    "value": r"\bv[ _]proj\b|值变换|值矩阵|\bw_?v\b",
    "qkv": r"query ?[,、/] ?key ?(?:[,、/]|and|和) ?value|q ?[,、/] ?k ?(?:[,、/]|,? and|和) ?v\b|\bqkv\b|查询、键、值",
    "out": r"output projection|(?:attention|attn)[ .]output(?:[ .]dense)?|输出投影|输出变换|\bw_?o\b|\bo[ _]proj\b",
    "ffn": r"feed[ -_]?forward(?: neural)?(?: networks?| layers?| block)?|\bffnn?\b|\bmlps?(?: blocks?| layers?)?\b|前馈神经网络|前馈网络|前馈层|前馈",
    "gate": r"\bgate[ _]proj\b|\bw_gate\b",
    "up": r"\bup[ _]proj\b|\bw_up\b|intermediate(?: dense| layer)|中间层|第一个线性层|第一层线性|第一个全连接层|\bfc1\b|\bw1\b|first linear(?: layer)?",
    "down": r"\bdown[ _]proj\b|\bw_down\b|第二个线性层|第二层线性|第二个全连接层|\bfc2\b|\bw2\b|second linear(?: layer)?",
    "norm": r"rms[ _-]?norms?\b|layer[ _-]?norm(?:ali[sz]ation)?s?|\blns?\b|\bln ?层|层归一化|归一化层|归一化|\bnorms?\b",
    "layer": r"(?:each|per|one|single|every)(?: encoder| transformer| bert)? (?:layer|block)|encoder layer(?!s)|transformer (?:layer|block)(?!s)|单层|每一层|每层|单个(?:编码器|encoder)层?|一层",
    "encoder": r"encoders?(?: layers| stack)?|all (?:\d+ |twelve )?(?:encoder |transformer )?layers|(?:\d+|twelve) (?:encoder |transformer )?layers(?: total)?|编码器|\d+ ?层(?:总计|合计|共)|transformer ?层|所有层|transformer 参数量|transformer layers|transformer",
    "pooler": r"pooler(?: layer)?|pooling layer|池化层|池化",
    "head": r"(?:mlm|lm|nsp|classification|classifier|prediction)[ -]?head|分类头|classifier|分类器",
    "total": r"(?:grand )?totals?|in total|altogether|总参数量|总参数|总的参数量|参数总量|参数总数|总计|合计|总量|全部参数|参数总和|overall",
}
_EDGE = patterns.pattern(r"\\b(?=[a-z(])"), patterns.pattern(r"\\b")
_ALL = [
    (name, patterns.pattern(_EDGE[1].sub("(?![a-z0-9_])", _EDGE[0].sub("(?<![a-z0-9_])", pattern)))) for name, pattern in _PHRASES.items()
]
"""Words end where letters end: Chinese follows English without a space."""
_PIECES = {
    "word": "em wte 嵌入 词向量", "position": "position wpe 位置", "type": "segment type 嵌入", "embedding_norm": "embedding 嵌入", "tables": "embedding 嵌入表",
    "embeddings": "em 嵌入", "attention": "attention mha 注意力", "query": "query proj 查询 wq w_q", "key": "proj 键 wk w_k", "value": "proj 值 wv w_v", "qkv": "q 查询",
    "out": "output 输出 wo w_o proj", "ffn": "feed ffn mlp 前馈", "gate": "gate", "up": "up intermediate 中间层 第一 fc1 w1 first", "down": "down 第二 fc2 w2 second",
    "norm": "norm ln 归一化", "layer": "layer block 层 单个", "encoder": "encoder layers 编码器 层 transformer", "pooler": "pool 池化", "head": "head 分类 classifier",
    "total": "total altogether 总 合计 全部参数 overall",
}  # fmt: skip
"""Of each component, pieces of which every name for it has one: what a line has none of is not searched for."""
_SOUGHT = [(name, pattern, tuple(_PIECES[name].split())) for name, pattern in _ALL]
_PARAMETERS = patterns.pattern(r"param(?:eter)?s?\b|par[aáâ]metros?\b|参数量|个?参数|參數|파라미터|매개변수|パラメ")
_INSIDE = {
    "embeddings": {"word", "position", "type", "tables", "embedding_norm", "norm"},
    "encoder": {"layer", "attention", "ffn", "norm", "query", "key", "value", "qkv", "out", "gate", "up", "down"},
    "layer": {"attention", "ffn", "norm", "query", "key", "value", "qkv", "out", "up", "down"},
    "attention": {"query", "key", "value", "qkv", "out", "norm"},
    "ffn": {"gate", "up", "down", "norm"},
    "total": set(_PHRASES) - {"total"},
    "tables": {"word", "position", "type"},
    "norm": {"embedding_norm"},
}
_BLOCKERS = patterns.pattern(
    r"per head|each head|one head|per-head|每个头|单头|一个头|without|except|exclud|not includ|ignor|不含|除了|去掉|忽略|不计|不包括|first|第一|second|第二|third|matrix|matrices|矩阵|"
    r"weight|bias|权重|偏置|lora|gradient|梯度|显存|memory|byte|字节|flop|mac|计算量|optimizer|优化器|减少|节省|reduc|sav|剩|remain|if |如果|若|假设|suppose|version|"
    r"larger|bigger|fewer|more than|less than|超过|不到|少于|多于|trainable|可训练|frozen|冻结|teacher|student|每个"
)


class ComponentMention(NamedTuple):
    """A component that a piece of text names, and where."""

    subject: str
    start: int
    end: int


@once_for_each_text
def find_components(text: str) -> tuple[ComponentMention, ...]:
    """Return the components named in a text, the longest name at each place.

    >>> [m.subject for m in find_components("Position Embedding层参数")]
    ['position']
    """
    lower = text.lower()
    return _components(lower if any(map(lower.__contains__, _WITH_DIGITS)) else shape_of(lower))


_WITH_DIGITS = ("fc1", "fc2", "w1", "w2")
"""The names of components that have a digit in them: a text with none of these names the same ones as all others of its shape."""


@once_for_each_text
def _components(lower: str) -> tuple[ComponentMention, ...]:
    found = []
    for name, pattern, pieces in _SOUGHT:
        for piece in pieces:
            if piece in lower:
                found += [ComponentMention(name, m.start(), m.end()) for m in pattern.finditer(lower)]
                break
    if not found:
        return ()
    found.sort(key=lambda m: (m.start, -(m.end - m.start)))
    kept: list[ComponentMention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
        elif mention.end - mention.start > kept[-1].end - kept[-1].start:
            kept[-1] = mention
    return tuple(kept)


@once_for_each_text
def subject(text: str) -> tuple[str | None, bool]:
    """Return the one component a label speaks of, and whether nothing in it leaves doubt.

    >>> subject("嵌入层总参数"), subject("attention and pooler"), subject("每个头的参数量 attention")
    (('embeddings', True), (None, False), ('attention', False))
    """
    found = find_components(text)
    if not found:
        return None, False
    names = {m.subject for m in found}
    for outer, inner in _INSIDE.items():
        if outer in names and names & inner:
            names.discard(outer)
    if len(names) != 1:
        return None, False
    return names.pop(), not _BLOCKERS.search(text.lower())


def speaks_of_parameters(text: str) -> bool:
    """Tell whether a text speaks of a number of parameters."""
    return bool(_PARAMETERS.search(text.lower()))
