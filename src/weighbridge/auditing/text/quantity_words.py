"""Words of sentences about memory and arithmetic work, English and Chinese, told apart one by one: ``every token``, ``batch of 16``, ``优化器状态``.

A sentence that has no other words is read whole; a word that is not known is a piece of its own, ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.core._namedtuple import NamedTuple

_N = r"(?<![A-Za-z0-9_.])\d[\d,]*(?:\.\d+)?"
_UNIT = r"(?:[KMGT]i?B|(?:kilo|mega|giga|tera)bytes?|bytes?|字节|G(?![A-Za-z]))(?![A-Za-z0-9_])(?!\s?/\s?s)"
_TERM = r"(?:[\d.,()×*/+^·−– -]|bytes?|字节|layers?|层|GB|MB|KB|B|param(?:eter)?s?|(?<=\d)e\+?(?=\d))"
"""What an expression of numbers is written with."""
_MANY = r"\d[\d,]*(?:\.\d+)?\s?[Kk万]?"
_KINDS = (
    ("aside", r"(?:[(（]\s?)?(?:(?:before|without|excluding|not (?:counting|including)|plus|ignoring)(?: (?:any|the|a single|counting|other))* (?:activations?|overheads?)(?: (?:is|are) (?:stored|counted|added))?|(?:不含|不包括|还?不算|不计|不算|未计|还没算|不考虑)(?:激活值?|其他|开销))(?:\s?[)）])?"),
    ("sum", rf"(?:{_N}|\()(?={_TERM}{{0,40}}[×*/+]){_TERM}{{1,200}}[=≈]\s?[~≈约]?\s?"),
    ("rate", r"(?:per|each|every) param(?:eter)?s? (?:takes?|needs?|uses?|costs?|is) (?<![\d.])\d{1,2}(?:\.\d)? bytes|(?<![\d.])\d{1,2}(?:\.\d)?\s?(?:bytes?|字节|B)\s?(?:/|per|for each|for every|每个?)\s?(?:model )?(?:param(?:eter)?s?|参数)|每个?参数(?:都|要|需要?|占用?|共|总共|为|用|存|是|约)*\s?(?<![\d.])\d{1,2}(?:\.\d)?\s?个?\s?(?:字节|bytes?)"),
    ("range", rf"{_N}\s?(?:(?:-|–|—|~|到|至|\bto\b)\s?\d[\d,]*(?:\.\d+)?|{_UNIT}\s?(?:-|–|—|~)\s?\d[\d,]*(?:\.\d+)?)\s?{_UNIT}"),
    ("data", rf"{_N}\s?(?:[TB]\b|trillion|billion|万亿|亿)\s?个?\s?(?:training |text )?(?:tokens?|词元)|(?:训练)?\s?tokens?\s?数(?:量|为|是)*\s?\d[\d.]*\s?(?:万亿|亿|[TB]\b)"),
    ("work", rf"{_N}(?:\s?[×x*·]\s?\d\d\^?[{{(]?\d+[}})]?|e\+?\d+)?\s?(?:[KMGTPEZ]|kilo|mega|giga|tera|peta|exa|zetta)?\s?FLOPs?(?![A-Za-z/])(?!\s?/\s?s)"),
    ("count", rf"{_N}\s?(?:B(?![A-Za-z0-9/])|billion|十亿|亿|百万)(?![ -]?(?:token|bytes))[ -]?个?\s?的?(?:param(?:eter)?s?|参数)?[ -]?(?:规模|量)?的?\s?(?:dense |language )?(?:大?模型|models?\b|LLMs?\b)?"),
    ("length", rf"(?<![A-Za-z0-9_.]){_MANY}[- ]?个?\s?(?:tokens?|词元)(?![A-Za-z])(?:\s?(?:context|prompt|sequence|的?上下文|的?序列))?(?:\s?(?:length|window|长度))?|(?<![A-Za-z0-9_.]){_MANY}[- ]?(?:context|sequence|上下文|长度|序列)(?: length| window|长度)?(?:下|时)?|(?:max(?:imum)? )?(?:context|sequence)(?:[- _]?(?:length|len|window))?(?: of|:|=| is)?\s?{_MANY}(?:\s?tokens?)?(?![A-Za-z0-9]|\.\d)|seq_?len\s?=\s?{_MANY}|(?:最大|最长)?(?:上下文|序列)?(?:长度|窗口|上下文|最长)\s?(?:为|是|取|=|:|：)?\s?{_MANY}(?:\s?个?\s?(?:tokens?|词元))?(?![A-Za-z0-9]|\.\d)"),
    ("batch", r"batch(?:[ _-]?size)?\s?(?:of|为|是|=|:|：)?\s?\d{1,4}(?![\w.])|(?<![A-Za-z0-9_.,])\d{1,4}\s?(?:such |concurrent |parallel |simultaneous )*(?:requests?|sequences?|users?|prompts?)\b|(?<![A-Za-z0-9_.,])\d{1,4}\s?(?:条|个|路)(?:并发)?(?:请求|序列|用户|会话)|(?:批大小|批次|并发)(?:大小|数)?(?:为|是|=)?\s?\d{1,4}(?![\w.])"),
    ("gpus", r"(?<![A-Za-z0-9_.,])\d[\d,]*[- ]?way(?: data)?[- ]?(?:parallel(?:ism)?)?|(?<![A-Za-z0-9_.,])\d[\d,]*\s?(?:张|块|个)?\s?(?:[×x]\s?)?(?:GPUs?\b|显卡|卡(?!尔)|[AHV]\d{3}s?\b)(?:数据并行)?"),
    ("per", r"\b(?:per|for (?:each|every)|each(?: additional| new| generated| extra)?|every(?: single| new)?|one|a|for one|single)[- ](?:generated |training |new |output )?token\b(?:'s)?|每(?:生成|新增|处理|增加|多|缓存)*一?个?\s?(?:token|词元)|/\s?token|(?:单|一)个\s?(?:token|词元)"),
    ("each", r"\b(?:on|for|in) each\b(?! param)|\b(?:per|each|on every|every)[- ](?:GPU|device|card|rank)\b|每(?:张|块|个)?\s?(?:卡|显卡|GPU)|单卡"),
    ("layers", r"(?<![A-Za-z0-9_.,])\d{1,3}[- ](?:transformer |decoder |hidden )?(?:layers?|blocks?)\b|(?<![A-Za-z0-9_.,])\d{1,3}\s?层|层数(?:为|是|=)?\s?\d{1,3}|(?:n_layers?|num_layers|num_hidden_layers|layers)\s?=\s?\d{1,3}"),
    ("layer", r"每一?层(?!\s?\d)|(?:per|each|every)[ -]layer\b|/\s?层|/\s?layer"),
    ("ratio", r"(?:KV|键值)\s?头(?:数)?从\s?\d+\s?个?(?:减少?|降低?)?[到至]\s?\d+\s?个?"),
    ("kvheads", r"(?<![A-Za-z0-9_.,])\d{1,3}[- ]?个?\s?(?:KV|key[-/ ]value|kv)[- ]?(?:heads?|头)|(?:n_kv_heads|num_key_value_heads)\s?=\s?\d{1,3}|KV\s?头(?:数)?(?:为|是|有|=)?\s?\d{1,3}\s?个?"),
    ("headdim", r"head[_ ]?dim(?:ension)?(?: of|为|是|=|:)?\s?\d{2,3}|(?<![A-Za-z0-9_.,])\d{2,3}[- ]dim(?:ension(?:al|s)?)? heads?|heads? of (?:size |dimension )?\d{2,3}|每个?头\s?\d{2,3}\s?维|头维度(?:为|是)?\s?\d{2,3}|(?<=heads )of \d{2,3}"),
    ("heads", r"(?<![A-Za-z0-9_.,])\d{1,3}[- ](?:attention |query )?heads?\b|(?<![A-Za-z0-9_.,])\d{1,3}\s?个\s?(?:注意力|查询)?头|(?:查询|注意力)头(?:数)?(?:为|是|有)?\s?\d{1,3}\s?个?"),
    ("hidden", r"(?:a )?(?:hidden(?:[- _](?:size|dim(?:ension)?|dimensions?|states?))?|d_model|model dim(?:ension)?|embedding dim(?:ension)?|h)(?: of|:| is|\s?=)?\s?\d[\d,]{2,6}(?![\w.])|(?:隐藏层?|模型)?(?:维度|大小)\s?(?:为|是|=)?\s?\d[\d,]{2,6}(?![\w.])"),
    ("figure", rf"{_N}\s?{_UNIT}(?:\s?(?:of )?(?:(?:GPU|video|device) )?(?:memory|VRAM|RAM|显存|内存|空间)\b)?(?:的?(?:显存|内存|空间))?"),
    ("dtype", r"(?:(?:(?:bf|[fn]?fp?)\s?\d{1,2}|b?float\s?\d\d|int\s?\d)(?![A-Za-z0-9]|\.\d)(?:\s?/\s?(?:b?fp?\s?\d\d))?|(?<![\d.,])\d{1,2}[- ]?(?:bits?|位))(?:[- ]?(?:precision|精度))?|(?:half|full|single|半|单|全)[- ]?(?:precision|精度)"),
    ("zero", r"(?:DeepSpeed )?ZeRO[- ]?(?:stage[- ]?)?\d(?!\d)|(?:stage|阶段)[- ]?\d(?!\d)"),
    ("cache", r"k[/ -]?v[- ]?(?:cache|缓存)s?|key[- ]value caches?|keys and values|(?<![A-Za-z])cach(?:e|es|ing)\b|缓存|键值缓存"),
    ("master", r"(?:(?:fp\d\d|float\d\d|full[- ]precision|single[- ]precision)\s?)?(?:master (?:weights?|cop(?:y|ies)|param\w*)|cop(?:y|ies) of the (?:weights|parameters)|主权重|(?:参数|权重)副本)"),
    ("moments", r"(?:adam(?:w)?(?:'s|’s|的)?\s?)?(?:(?:two |both |\d )(?:fp\d\d )?(?:moments?|momentum\w*|states?)|moments|一阶[和、与及]二阶(?:动量|矩)|两个(?:动量|状态)|momentum and variance)(?:估计)?"),
    ("moment", r"(?:first|second)[- ](?:order )?moments?|momentum|variance|(?:一阶|二阶)(?:动量|矩)"),
    ("optimizer", r"(?:adam(?:w)?(?:'s|’s)?\s?)?(?:的?优化器(?:状态)?|optimi[sz]er(?: (?:states?|memory))?)|adam(?:w)?(?: states?)"),
    ("gradients", r"gradients?|梯度"),
    ("states", r"model[- ]states?|training states?|模型状态"),
    ("train", r"(?:mixed[- ]precision |full[- ]?|full[- ]parameter |全参数?|全量|混合精度)*(?:training|train(?:s|ed)?\b|fine[- ]?tun(?:ing|e|ed)|训练|微调)"),
    ("backward", r"(?:the )?backward(?:[- ]pass)?|反向(?:传播)?"),
    ("forward", r"(?:the )?forward(?:[- ]pass)?|inference|generation|decoding|推理|前向(?:传播|计算量?)?"),
    ("active", r"激活(?:参数量?)?(?=约|为|是|有|\s|\d)|活跃(?:参数量?)?|\bactiv(?:e|ated)\b(?: param\w*)?(?: (?:per|for each) token)?"),
    ("activations", r"activations?|激活值?"),
    ("weights", r"(?:model )?(?:weights?|param(?:eter)?s?)\b|(?:模型)?(?:权重|参数)(?!量|规模|数)"),
    ("total", r"together|in (?:total|all|sum)|altogether|(?:grand )?total|sum\b|adding up|[合总共]计|一共|总共|加起来|总的?"),
    ("latent", r"MLA|latent(?: vectors?| attention)?|multi-head latent attention|潜在|压缩|compress\w*"),
    ("otherwise", r"window\w*|sliding|evict\w*|offload\w*|prun\w+|distill\w*|sparse|checkpointing|recomput\w+|LoRA|QLoRA|tensor parallel\w*|pipeline parallel\w*|overhead|peak|窗口|滑动|卸载|剪枝|蒸馏|稀疏|重计算|检查点|张量并行|流水线并行|开销|峰值"),
    ("shard", r"shards?|sharded|sharding|partition(?:s|ed|ing)?|split(?:s|ting)?|切分|划分|分片|切到|拆分|平分"),
    ("old", r"from(?=\s[~≈]?\d)|从(?=\s?[\d~≈约])|(?:rather than|instead of)(?=\s[~≈]?\d)|(?:而不是|而非)(?=\s?[~≈约]?\d)"),
    ("to", r"to(?=\s[~≈]?\d)|[降减]?[到至](?=\s?[\d~≈约])"),
    ("ratio", r"(?<![A-Za-z0-9_.])\d+(?:\.\d+)?\s?(?:x|×|times|[- ]fold)\b(?:\s(?:smaller|less|larger|more|lower))?|(?<![\d.])\d+(?:\.\d+)?\s?倍|缩小(?:为原来的|到)?|原来的|(?<![\d.])\d{1,2}/\d{1,2}(?![\d.])|(?:vector|key|dimension|rank)s? of \d+|\bof \d{2,5}(?![\d.,]*\s?(?:[KMGT]i?B|[KMBT]\b|%|bytes|tokens|GPU))|\d+ (?:values|elements|floats|numbers|dimensions)\b|\d+\s?(?:个(?:元素|值|数)|维)|shrinks?|smaller"),
    ("when", r"(?:if|when|would|could|without|unless|assum\w+|suppose\w*|hypothetical\w*|our|their|my|own|other)\b|another(?!\s\d)|我们|自己|其他|另一|如果|若|假设|假如|没有"),
    ("contrast", r"(?:instead|rather|unlike|compared?|MHA|multi-head attention|naive\w*|from|than|not|no|never)\b|而不是|相比|原本|本来|不再|从"),
    ("bound", r"(?:more|less|fewer|greater) than|at (?:least|most)|up to(?!\s\d[\d,]*\s?k?\s?token)|(?:over|under)(?=\s[~≈]?\d[\d.,]*\s?[KMGT]i?B)|above|below|nearly|almost|close to|exceed\w*|至少|至多|最多(?!\s?\d[\d,]*\s?[Kk]?\s?个?\s?token)|超过|不到|不足|以上|以下|接近|将近|近(?=\s?\d)"),
    ("vague", r"(?:context|sequences?|requests?|batch(?:es)?|prompts?|users?|conversation)\b|请求|序列|上下文|并发|用户|对话"),
    ("with", r"\b(?:with|plus|including|incl)\b|加上|连同|包括|包含|算上"),
    ("end", r"[。!?！？]|\.(?=\s|$)"),
    ("comma", r"[;；,，、:：]|\b(?:and|while|but)\b|而|以及|[和与]|\+|→|->"),
    ("open", r"[(（\[]"),
    ("close", r"[)）\]]"),
    ("filler", r"grouped[- ]query attention|multi-query attention|[GM]QA\b|分组查询注意力|(?:的?参数(?:总)?(?:量|规模|数)|显存(?:需求|占用|开销)?量?|\dN{1,2}D?\b(?=\s?FLOP|[。，,.]|$)|模型规模|全部|再|混合精度|另外|各占|各|共|一条|使用|采用|另算|反而|还|没有 ?GQA|只用到|一次|放(?![进入得不])|它|其(?!他)|加(?![上载入在])|ZeRO(?![- ]?\d)|按照?|根据|论文|分别为)|(?:a|an|the|following|according to|paper|rotary|keys?|values?|over|up to|generate|falls|how (?:much|big|large|many|long)|what|let us|let's|each of|everything|falls|themselves|really|this|that|these|those|it|its|itself|they|them|which|in|on|of|for|at|to|as|by|so|or|also|already|therefore|thus|hence|then|now|only|just|merely|even|still|alone|about|around|roughly|approximately|approx|again|is|are|be|being|was|were|will|can|may|must|do|does|has|have|having|i\.e|e\.g|such|same|full|whole|entire|one|single|another(?= \d)|further|extra|additional(?=ly)|"
     r"needs?|needed|takes?|taking|costs?|requires?|required|requiring|uses?|using|occup(?:y|ies|ied)|consumes?|leaves?|leaving|behind|stor(?:e|es|ed|ing)|keep(?:s|ing)?|kept|holds?|holding|becomes?|comes? (?:down )?to|amounts? to|adds?(?: up to)?|gives?|giving|makes?|yields?|means?|meaning|grows? by|weighs?|load(?:s|ed|ing)?|halves|drops? to|falls? to|goes down to|shrinks? to|brings?|brought|down to|cuts?|reaches|"
     r"GPU|gpu|memory|VRAM|RAM|HBM|models?|size|space|storage|footprint|numbers?|figures?|example|case|precision|serving|served|deploy(?:ed|ment|ing)?|quanti[sz](?:ed|ing|ation)|reads?|sits?|holding|us|we|processing|prompt(?= of)|bits|mixed|each|every|additional|there|again|where|long|length|Adam|AdamW|optimizer|adam|adamw|bytes|parameter|layers?|all|version|take|consider|let|say|roughly|decoder|dense|tokens?|generates?|produces?|run(?:s|ning)?|compute|FLOPs?)\b|"
     r"为例|以(?=\s?[A-Za-z0-9])|也?就是说|(?:大约|大概|约)?(?:需要?|要|占用?了?|得要|只要|只需要?|仅需|就要|降[到至为]|压[到至]|变成)|[用以按为是就则而仅只光有约大在上中这该每的了后下时都还再又其把将]|大约|大概|加载|存储|保存|部署|的话|量化(?:后|到|为)?|显存|内存|一个|一份|这个|单是|模型|大小|体积|文件|左右|方面|仅仅|算|放进|装[进下]|载入|例如|比如|其中|即|也|同样|本身|数据|类型|计算(?:量)?|对应|分别|因此|所以|于是|那么|另外|此外|个|条|份|前向|生成|处理|"
     r"[\s=≈~*_`\"'“”‘’·—–\-…|#>]"),
)  # fmt: skip
_PIECE = pattern("|".join(f"(?P<k{place}>{words})" for place, (_, words) in enumerate(_KINDS)), re.IGNORECASE)
_WORD = pattern(r"[A-Za-z](?:[\w'’-]|\.(?=\w))*|\d[\d,]*(?:\.\d+)?\w*|.")
MOST = 1_200
"""Characters of a line that is read; a longer one is no paragraph."""


class Piece(NamedTuple):
    """A word: what it is, and where it stands."""

    kind: str
    start: int
    end: int


@once_for_each_shape
def pieces_of(text: str, names: Sequence[tuple[int, int]] = ()) -> tuple[Piece, ...]:
    """Tell the words of a line apart, all but those that say nothing.

    Args:
        names: Where the models that it names stand.

    >>> [piece.kind for piece in pieces_of("A batch of 16 takes 2 GB in fp16, says Bob")]
    ['batch', 'figure', 'dtype', 'comma', 'unknown', 'unknown']
    """
    found: list[Piece] = []
    place, at = 0, 0
    while place < len(text):
        while at < len(names) and names[at][1] <= place:
            at += 1
        if at < len(names) and names[at][0] <= place:
            found.append(Piece("name", place, names[at][1]))
            place = names[at][1]
            continue
        match = _PIECE.match(text, place, names[at][0] if at < len(names) else len(text))
        if match is None or match.end() == place or _is_cut(text, match):
            word = _WORD.match(text, place)
            end = word.end() if word is not None else place + 1
            found.append(Piece("unknown", place, end))
            place = end
            continue
        kind = next(name for index, (name, _) in enumerate(_KINDS) if match[f"k{index}"] is not None)
        if kind != "filler":
            found.append(Piece(kind, match.start(), match.end()))
        place = match.end()
    return tuple(found)


def _is_cut(text: str, match: re.Match[str]) -> bool:
    """Tell whether a match ends within a word, of which it is no more than the beginning: ``form`` of ``formula``."""
    last, after = text[match.end() - 1], text[match.end() : match.end() + 1]
    return last.isascii() and last.isalpha() and after.isascii() and (after.isalnum() or after == "_")
