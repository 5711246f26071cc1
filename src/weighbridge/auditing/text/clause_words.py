"""The words of Chinese clauses that give models their sizes: what each is there for, and the ones that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.size_words import size_at
from weighbridge.core._namedtuple import NamedTuple


class Piece(NamedTuple):
    """A word of a clause: what it does there, which size it means, and where it stands; of a name, its place among the names."""

    kind: str
    word: str
    start: int
    end: int
    at: int = -1


_NUMBER = r"(?<![A-Za-z0-9_.])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![.\d])"
_SHARE = r"(?:\s?(?:万亿|千亿|百亿|十亿|亿|千万|百万|万|[KMBTkw](?![A-Za-z])))?"
_KINDS = (
    ("end", r"[。!?！？]"),
    ("stop", r"[;；]"),
    ("comma", r"[,，]"),
    ("open", r"[(（]"),
    ("close", r"[)）]"),
    ("figure", rf"(?P<digits>{_NUMBER}{_SHARE})"),
    ("all", r"都|均|皆|同为|同样|各(?!种|个|自|类)"),
    ("dist", r"分别|依次"),
    ("former", r"前者"),
    ("latter", r"后者"),
    ("both", r"(?:两者|二者|两个模型)(?!.{0,8}[合总共]计)"),
    ("other", r"另一个?|[别其]他的?"),
    ("base", r"相比(?!之下)于?|相较于|较之|与之?前的"),
    ("to", r"(?:增加|提升|提高|扩大|扩展|增大|增长|上升|下降|降低|减少|缩小|涨|升|降|增|减)[到至为]了?|变[为成]了?|[到至]"),
    ("from", r"从|由(?=\s?[\dA-Za-z][^,，。;；]{0,20}(?:[到至增提扩升降变减缩]))"),
    ("each", r"每一?个?\s?(?:moe)?\s?层"),
    ("side", r"编码器|解码器|encoders?|decoders?"),
    ("pause", r"[、/+]|以及|[和与及跟]"),
    (
        "filler",
        r"路由(?![专器层网])|注意力(?:机制|部分|模块|方面|层)?(?=\s?(?:采用|使用|是|为|中|方面|[:：,，]))|(?:结构|规模|配置|总体|整体|架构)上|主[干体](?:部分)?(?=\s?(?:是|为|由|采用))|核心(?:结构|架构|参数)(?=\s?(?:是|为|[:：]))|mla(?=\s?(?:把|将|中|里))|(?:采用了?|使用了?|用了?|是)\s?(?:gqa|mha|mqa|mla|moe)(?:架构|机制)?(?![A-Za-z层])|而?相比之下|不过|同时|并且|但是?|然而|而且?|则|且|它们?|其(?:中)?|该|有|为|是|共有?|一共|总共|共计|总计|合计|包[含括]|含有?|采用了?|使用了?|用了?|支持|(?:重复|依次|顺序)?堆叠?了?(?:而成)?|由|组成|构成|只有|仅有?|只"
        r"|达到?了?|高达|多达|大?约为?|大概|近|也|仍|还|的|了|模型(?!并|训|蒸)|版本?|规格|型号|结构|网络(?!层)|总体|整个|具体来说|如下|(?:规模|结构|配置|大小)?(?:相当|相同|一样|一致)|(?:一|[两三四五六几多])[个种款](?!头|专)|不同的?(?=尺寸|规模|版本|规格|大小)|尺寸|以(?=.{0,30}为例)|为例|典型的?|(?:训练|推理)?显存(?:估算|计算)|参数量?(?:估算|计算)|配置|里|中(?!间|文)|具有|拥有|带有?|[\s:：=≈~*_\"'`·—-]",
    ),
)
"""What a word does in a clause, the first that fits: a number, whether a number is of each of several models, from one to another, mere grammar."""
_PIECE = pattern("|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS), re.IGNORECASE)
_EXPERTS = r"个?\s?(?:路由|routed)?\s?(?:专家|experts?\b)"
_MEASURES = (
    ("kv_heads", r"\s?[个组对]?\s?(?:kv|键值|k/v|key[-/]value)\s?(?:注意力)?\s?(?:头|heads?\b)"),
    ("heads", r"\s?个\s?(?:查询|query|q)(?=\s?[、,，和与])"),
    ("heads", r"\s?个?\s?(?:自?注意力|查询|query|q|(?:self-)?attention)?\s?(?:头(?![部文像])|heads?\b)"),
    ("shared", r"\s?个?\s?共享专家"),
    ("experts", rf"\s?{_EXPERTS}"),
    ("layers", r"\s?层\s?(?:的?\s?(?:transformer|encoder|decoder|编码器|解码器|blocks?|layers?)\s?)*(?:层|结构)?"),
    (
        "layers",
        r"\s?个\s?(?:(?:完全)?(?:相同|重复|串联|连续|标准)的?\s?)?(?:(?:transformer|encoder|decoder|编码器?|解码器?|隐藏)\s?){0,2}(?:层|块|模块|blocks?\b|layers?\b|编码器|解码器|encoders?\b(?!-)|decoders?\b(?!-))",
    ),
    ("hidden", r"\s?维\s?(?:的?\s?(?:隐藏层|隐层|隐藏状态|隐状态|hidden\b|隐藏维度|隐藏层维度|维度))?|\s?个?\s?隐藏单元"),
    ("total", r"\s?个?\s?(?:总)?(?:参数|parameters\b|params\b)(?!的|/)"),
    ("words", r"\s?个?\s?(?:词元|tokens?\b|单词|词|汉字|字)(?!节|表)"),
)
_MEASURE = pattern("|".join(f"(?P<m{place}>{words})" for place, (_, words) in enumerate(_MEASURES)), re.IGNORECASE)
_VARIANT = pattern(r"\s?的(?:版本|变体|型号|模型)")
"""Behind a number, what says that another model than the one at hand has it."""
_THING = pattern(r"\s?个(?!\S)|\s?个(?=[,，、;；。()（）和与]|$)")
_LABELS = (
    ("active", r"top\s?-?\s?(?=\d{1,2}\s?(?:个?(?:路由)?(?:专家|路由)|激活|[,，。;；、)）]|$))"),
    ("active", r"激活(?:的)?专家(?:数量?|个数)?|(?:每个\s?token\s?|每次)?(?:激活|选[择中]?)(?=\s?(?:其中\s?)?\d+\s?个)"),
    (
        "active_total",
        r"激活(?:的)?参数(?:总?量|规模)?|(?:每个\s?token\s?|每次|推理时)?(?:只|仅)?激活(?=\s?约?\s?\d[\d.]*\s?(?:[BM]|亿|万))",
    ),
    ("total", r"(?:模型|总)?的?总?参数(?:总?量|总数|规模|数量?)?"),
    ("shared", r"共享专家(?:数量?|个数)"),
    ("experts", r"(?:路由)?专家(?:总)?(?:数量?|个数)"),
    ("kv_heads", r"(?:kv|键值|k/v)\s?的?(?:注意力)?头(?:的?数量?|个数)?|num_(?:kv|key_value)_heads"),
    ("heads", r"(?:q|query|查询)\s?头(?:的?数量?|个数)?|头数"),
    (
        "kv_lora",
        r"(?:把|将)?\s?(?:kv|键值)\s?(?:联合)?的?(?:低秩)?(?:压缩(?:[到为至]|后)?|潜在)的?(?:维度?|秩)?|潜在(?:向量)?维度|kv_lora_rank",
    ),
    ("q_lora", r"(?:q|query|查询)\s?的?(?:低秩)?压缩[到为至]?的?(?:维度?|秩)?|q_lora_rank"),
    ("rope_dim", r"(?:解耦的?\s?)?rope\s?(?:部分|维度?|头|每头|的?维度)+|qk_rope_head_dim"),
    ("expert_mlp", r"(?:每个|单个|路由)专家的?(?:中间层?|隐藏层?|内部|ffn)的?(?:维度?|大小)?|moe_intermediate_size"),
    ("dense_mlp", r"稠密层的?(?:中间层?|ffn\s?的?(?:中间)?)的?(?:维度?|大小)?"),
    ("head_dim", r"每个?(?:注意力)?头|(?:单个?)?头的?维度?|head_dim"),
    ("positions", r"(?:最大)?上下文(?:窗口|长度)?(?:的?大小|长度)?"),
    ("mlp", r"(?:前馈(?:网络|层)?|ffn|mlp)\s?的?(?:中间层?|内部|隐藏层?)?的?(?:维度|大小)?|中间层?(?:的)?(?:维度|大小)?|d_ff"),
    ("hidden", r"隐藏层?(?:的)?(?:维度|大小|尺寸)?|隐层(?:维度|大小)?|模型维度|宽度|d_model|维度"),
    ("layers", r"深度|L(?=\s?=)"),
    ("hidden", r"H(?=\s?=)"),
    ("heads", r"A(?=\s?=)"),
    ("vocab", r"词表(?:的?大小|规模)?|词汇表(?:的?大小)?"),
)
_LABEL = pattern("|".join(f"(?P<l{place}>{words})" for place, (_, words) in enumerate(_LABELS)), re.IGNORECASE)


_LAYER_KIND = pattern(
    r"前\s?(?P<dense>\d{1,2})\s?层(?:仍)?(?:是|为|用|采用|使用|均为|都是)?\s?(?:稠密|dense|普通)\s?(?:的?\s?(?:层|ffn|前馈(?:网络|层)?|mlp))?"
    r"|(?:其余|剩下的?|后)\s?(?P<routed>\d{1,3})\s?层(?:都|均)?(?:是|为|用|采用|使用)?\s?(?:moe|混合专家|稀疏)\s?层?",
    re.IGNORECASE,
)
"""Layers without experts, and those with them: ``前 3 层为稠密层，其余 58 层是 MoE``."""


def read_pieces(text: str, names: Sequence[tuple[int, int]]) -> list[Piece]:
    """Read a line into its pieces.

    Args:
        names: Where models are named.
    """
    found: list[Piece] = []
    place, at = 0, 0
    while place < len(text):
        while at < len(names) and names[at][1] <= place:
            at += 1
        if at < len(names) and names[at][0] <= place:
            end = names[at][1]
            if found and found[-1].word == "layers" and found[-1].end == place and text.startswith("层", end):
                place = end + 1  # ``12 层 BERT 层``
                continue
            counted = next((one for one in reversed(found) if one.kind != "filler"), None)
            named = _NAMED_LAYERS.match(text, end) if counted is not None and counted.kind == "number" and not counted.word else None
            if named is not None and counted is not None and _OF_NAME.fullmatch(text, counted.at, place):
                found += [  # ``28 个 Qwen3 Decoder Layer`` is said of Qwen3
                    Piece("name", "", place, place, at),
                    counted._replace(word="layers", end=named.end()),
                ]
                found.remove(counted)
                place = named.end()
                continue
            found.append(Piece("name", "", place, end, at))
            place = end
            continue
        stop = names[at][0] if at < len(names) else len(text)
        piece = _piece_at(text, place, stop)
        found.append(piece)
        place = piece.end
    return [one for one in found if one.kind != "filler"]


_NAMED_LAYERS = pattern(
    r"\s?(?:(?:transformer|decoder|encoder|解码器?|编码器?)\s?){1,2}(?:layers?|blocks?|层|块)(?![A-Za-z])", re.IGNORECASE
)
_OF_NAME = pattern(r"\s?个\s?")
"""Behind the name of a model, what calls layers by it, and what stands between their number and the name."""


def _piece_at(text: str, place: int, stop: int) -> Piece:
    kind = _LAYER_KIND.match(text, place, stop)
    if kind is not None:
        word = "dense_layers" if kind["dense"] else "moe_layers"
        return Piece(
            "number", word, kind.start("dense" if kind["dense"] else "routed"), kind.end(), kind.end("dense" if kind["dense"] else "routed")
        )
    label = _LABEL.match(text, place, stop)
    sized = size_at(text, place) if text[place].isalpha() else None
    if sized is not None and sized.end <= stop and (label is None or sized.end >= label.end()):
        return Piece("label", sized.word, place, sized.end)
    if label is not None:
        return Piece("label", _LABELS[int(str(label.lastgroup)[1:])][0], place, label.end())
    match = _PIECE.match(text, place, stop)
    if match is None:
        return Piece("unknown", "", place, place + 1)
    if match["figure"] is None:
        return Piece(str(match.lastgroup), "", place, match.end())
    measure = _MEASURE.match(text, match.end(), stop)
    if _VARIANT.match(text, measure.end() if measure is not None else match.end(), stop):
        return Piece("unknown", "", place, match.end())
    if measure is None and not match["digits"][-1].isdigit():
        return Piece("number", "share", place, match.end(), match.end())
    if measure is None:
        thing = _THING.match(text, match.end(), stop)
        return Piece("number", "", place, thing.end() if thing is not None else match.end(), match.end())
    return Piece("number", _MEASURES[int(str(measure.lastgroup)[1:])][0], place, measure.end(), match.end())
