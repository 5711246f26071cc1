"""Counts that a Chinese sentence gives one model, whatever else it says between: ``X 是由 A 继 Y 之后开发的,包含 130 亿参数``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.count_doubts import is_hedged
from weighbridge.auditing.checks.count_subjects import Subject, is_resized, of_mention
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_subjects import only_model
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.topics import topic
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import opens_with_another, sentence_of
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.presets.aliases import MODEL


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the counts of whole models, and of what works on a token, that a verb of having or their name stands right before."""
    for _, _, token in scene.sorted_figures.plain_counts:
        text = scene.lines[token.line].text
        if not token.unit or token.line in tabled or text.isascii() or "|" in text or scene.is_judged(token.line, token.start, token.end):
            continue
        if any(m.column <= token.start < m.end for m in scene.mentions.get(token.line, ())):
            continue
        found = _counted_model(scene, token)
        if found is not None:
            yield from _judge(scene, token, *found)


def _judge(scene: Scene, token: Token, subject: Subject, what: str) -> Iterator[Claim]:
    before = scene.lines[token.line].text[: token.start]
    held = settle(token, subject.models, what, hedged=is_hedged(before), whole=True)
    if held is not None:
        yield total_claim(scene, token, held.verdict, held.expected, held.reason)
    elif subject.firm and not is_near(token, subject.models, what) and not _is_called_so(token, subject):
        yield from report_wrong_count(scene, token, subject, what, sure=_VERSION.search(before) is None)


def _is_called_so(token: Token, subject: Subject) -> bool:
    """Tell whether a model is called by a count that it has not: ``Gemma-7B`` of 8.5 billion is one of the ``70 亿``."""
    called = _CALLED.search(subject.models[0].source)
    said = likeliest_value(token)
    return called is not None and said is not None and Exact(called[1]) * 10**9 == said


_CALLED = pattern(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])")


def _counted_model(scene: Scene, token: Token) -> tuple[Subject, str] | None:
    """Return the model that a count is surely of, and which of its counts it is."""
    text = scene.lines[token.line].text
    start, stop = sentence_of(text, token.start)
    clause_start = max((m.end() for m in _CLAUSE.finditer(text, start, token.start)), default=start)
    own, behind = text[clause_start : token.start], text[token.end : min(stop, token.end + _BEHIND)]
    labelled = _LABELLED.search(text, start, token.start) if _CLOSES.match(behind) else None
    if labelled is not None:
        clause_start, own = labelled.start(), labelled["label"]
    named, counted = _NAMED.search(own), _COUNTED.match(behind)
    if counted is not None and (instance := _instance(scene, token)) is not None:
        return (instance, "total") if _DOUBTS.search(own) is None else None
    if named is None and not (counted is not None and (_HAS.search(own) or (not own.strip() and _SCALE.match(behind)))):
        return None
    if named is not None and not _ENDS.match(behind):
        return None
    active = bool((named is not None and named["active"]) or (counted is not None and (counted["active"] or _ACTIVATES.search(own))))
    if _DOUBTS.search(own) or _DOUBTS.match(behind[counted.end() if counted is not None else 0 :]):
        return None
    owner = _owner(scene, token, start, clause_start)
    subject = of_mention(scene, owner, firm=True) if owner is not None else None
    if subject is None or is_of_their_own(scene, token.line) or is_resized(scene, token.line, token.start):
        return None
    return subject, "active" if active else "total"


def _owner(scene: Scene, token: Token, start: int, clause: int) -> Mention | None:
    """Return the one model that a sentence is about: named in it and not merely compared with, or the one of what stands above."""
    text = scene.lines[token.line].text
    named = [m for m in scene.mentions.get(token.line, ()) if start <= m.column and m.end <= token.start]
    if named and _REMARK.fullmatch(text, named[-1].end, token.start):
        return named[-1] if named[-1].kind == MODEL else None
    makers = [m for m in named if m.kind != MODEL and any(_begins(text, m, other) for other in named)]
    about = [m for m in named if m not in makers and not _is_framed(text, m)]
    if ANOTHER.search(text, about[-1].end if about else start, token.start) or _SUPPOSED.search(text, start, token.start):
        return None
    if about:
        return (
            about[-1]
            if about[-1].kind == MODEL and len({m.names for m in about}) == 1 and not _turns(text, about[-1].end, clause)
            else None
        )
    if any(not _is_framed(text, m) for m in named) or not (_OF_ABOVE.match(text, start, token.start) or _is_of_only_model(scene, token)):
        return None
    found = topic(scene, token.line, max(0, start - 1) if named else token.start)
    return found.mention if found is not None else None


def _is_of_only_model(scene: Scene, token: Token) -> bool:
    """Tell whether a text names one model and no other, and the sentence of a count speaks of nothing else."""
    return only_model(scene) is not None and not opens_with_another(scene.lines[token.line].text, token.start)


def _instance(scene: Scene, token: Token) -> Subject | None:
    """Return the model that is named in parentheses as one that has so many: ``70 亿个参数（例如 Llama-2-7b）``."""
    text = scene.lines[token.line].text
    behind = next((m for m in scene.mentions.get(token.line, ()) if m.column >= token.end), None)
    if behind is None or behind.kind != MODEL or _AS.fullmatch(text, token.end, behind.column) is None:
        return None
    return of_mention(scene, behind, firm=True)


_AS = pattern(r"\s?个?参数(?:的(?:大语言|语言|大)?模型)?\s?[(（]\s?(?:例如|比如|譬如|如)\s?[*_`]*")
_LABELLED = pattern(r"(?P<label>(?:总|激活|活跃)的?总?参数(?:总?量|规模|数量?)?)\s?[(（]\s?$")
_CLOSES = pattern(r"\s?[)）]")
"""Around a count in parentheses, right behind its label: ``总参数量（671B）与激活参数量（37B）``."""
_SCALE = pattern(r"\s?[*_`]{0,2}\s?个?参数的?(?:规模|体量)")
"""Behind a count that a clause begins with, what says that it is a model's."""


def _begins(text: str, maker: Mention, mention: Mention) -> bool:
    """Tell whether a name is only the beginning of another behind it: ``DeepSeek 推出了 DeepSeek-V3``."""
    return mention.column > maker.column and text[mention.column : mention.end].startswith(text[maker.column : maker.end])


def _is_framed(text: str, mention: Mention) -> bool:
    """Tell whether a model is named only to place another beside it: ``继 Baichuan-7B 之后``, ``超过 LLaMA-13B``."""
    spelled = _SPELLED_OUT.search(text, max(0, mention.column - _LONGEST_NAME), mention.column)
    column = spelled.start() if spelled is not None else mention.column
    return _COMPARES.search(text, max(0, column - _FRAME), column) is not None or _AFTER.match(text, mention.end) is not None


_REMARK = pattern(r"[*_`]*\s?[(（][^()（）。；;]*")
"""Between a name and a count, where the count is in the parentheses right behind the name: ``媲美 DeepSeek-R1（它可是有 6710 亿参数）``."""
_SPELLED_OUT = pattern(r"\[?(?:[A-Z][A-Za-z-]+ ){1,6}[(（]$")
"""What an abbreviation in parentheses stands for: ``基于 General Language Model (GLM) 架构``."""
_LONGEST_NAME = 80


def _turns(text: str, first: int, clause: int) -> bool:
    """Tell whether a sentence turns to something else between its model and the clause of a count."""
    return _TURN.search(text, first, clause) is not None


_FRAME = 12
_BEHIND = 16
_VERSION = pattern(r"(?:tiny|mini|small|base|medium|large|huge|xl|\d[\d.]*[BM])\s?版本?[^,，。；;]{0,12}$", re.IGNORECASE)
"""A member called by its size alone: a count far off is that of somebody's own."""
_CLAUSE = pattern(r"[,，;；:：、(（]")
_NAMED = pattern(
    r"(?:(?P<active>(?:激活|活跃)的?总?参数(?:总?量|规模|数量?)?|每[个次]?\s?(?:token|推理|令牌|词元|标记)?\s?(?:实际上?|只|仅|会)*激活|推理时?\s?(?:实际上?|只|仅|会|也)*激活|(?:^|其中|虽然?|但)\s?(?:每次|实际|已|只|仅|约)*激活了?)|(?<!激活)(?<!嵌入)(?:总|模型|全部)?参数(?:总量|总数|规模|数量|个数|量|数)?)"
    r"(?:大小)?\s*(?:也|就|已|高|共|总计|合计|共计)?(?:扩大到|增加到|增加至|提升到|提升至|扩展到|扩展至|扩大至|到|至|为|是|有|达到了?|达|约)?(?:大约|约为|约|≈|共|了|高达|只|仅|\s|[*_`])*$",
    re.IGNORECASE,
)
"""Right before a count, what calls it the model's parameters, or those that work on a token."""
_HAS = pattern(
    r"(?:包含了?|拥有|具有|具备|有|以|凭借?|共|激活了?|启用|是一?个?|达到?|由|保持了?|维持在?|实现了?)(?:大约|约|近似|高达|总共|一?共|其中|的|≈|\s|[*_`])*$",
    re.IGNORECASE,
)
"""Right before a count behind which parameters are named: ``拥有 1750 亿个参数``."""
_ACTIVATES = pattern(r"(?:激活|启用)[^,，]{0,6}$")
_COUNTED = pattern(r"\s?[*_`]{0,2}\s?个?(?P<active>激活)?的?(?:模型)?(?:总|激活)?参数(?!高效)", re.IGNORECASE)
_ENDS = pattern(
    r"\s?[*_`]{0,2}\s?(?:个?参数)?\s?(?:\s(?=[\u4e00-\u9fff]{2,8}\s?[(（:：])|$|[,，。.;；、)）(（!！]|左右|的|以?[上下])", re.IGNORECASE
)
_DOUBTS = pattern(
    r"嵌入|注意力|每一?层|单层|各层|专家(?!混合)|每个?头|lora|adapter|适配|可训练|训练参数|新增|额外|增加了|减少|节省|冻结|编码器|解码器|视觉|文本塔|词表|显存|以上|以下|左右的?模型|倍|token数|语料|数据|"
    r"超过|不到|不足|近(?!似)|接近|至少|最多|最大|最小|小于|大于|低于|高于|相当于|等效|差不多|几|草稿|蒸馏|剪枝|量化|只有.{0,8}的?[一二三四五六七八九十\d]+分之|从|降|缩",
    re.IGNORECASE,
)
"""Words of a clause by which a count is a part's, another model's, or no more than near."""
_SUPPOSED = pattern(
    r"剪枝|蒸馏|裁剪|压缩后|微调后|精简|假设|如果|假如|要是|倘若|若|假如|比如说|不是|并非|而非|误|传闻|据传|预计|可能|自己|我们训练|又训练|训练[了出]一个|改成|改为|换成|缩小|裁剪|前者|后者|学生|教师|分别"
)
_COMPARES = pattern(
    r"(?:比|比起|超过|超越|相比于?|较|不同于|类似于?|类似|继|基于|源自|来自|对标|媲美|优于|胜过|高于|低于|不如|接近|远超|击败|参考|借鉴|沿用|与|和|跟|同|以|从|像|由|用|在|对|给|将|把|让|于|通过|训练|微调|加载|部署|压缩|剪枝|蒸馏|裁剪|量化|打败|战胜|追平|赶上|赶超|领先|逼近|强于|好于|逊于|弱于|落后)了?\s?[*_`]{0,3}$"
)
_AFTER = pattern(r"[*_`]{0,3}\s?(?:之后|之前|的?基础上|相比|相当|类似|一样|不同|等模型|那样|等)")
"""Around a model that a sentence only compares its own with."""
_TURN = pattern(r"而(?!且)|但|相比之下|另一|其他|对比|然而|不过|与此|vs", re.IGNORECASE)
_OF_ABOVE = pattern(
    r"[\s\W\d]*(?:首先|先|再)?(?:推导|推算|计算|算出|得出|给出|估算)?(?:其|它|它的|该模型|该系列|该架构|这个模型|此模型|模型|整个模型|总参数|激活参数|总共|总的?参数|参数总?量|参数规模|参数数量|激活参数|每次推理)",
    re.IGNORECASE,
)
"""How a sentence begins that goes on about the model of those above."""
