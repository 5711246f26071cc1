"""Numbers that are another's: sentences about something else than the model above (``The reward model has 113M parameters``), other sources."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere
from weighbridge.auditing.checks.counts_above import is_of_a_count_above
from weighbridge.auditing.checks.denied_figures import is_denied, is_what_was
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.other_sources import is_another_sources
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.towers import WORDS, towers
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.base_models import STRUCTURE
from weighbridge.auditing.text.described_sizes import part_places
from weighbridge.auditing.text.field_words import parts_with_fields
from weighbridge.auditing.text.openings import sentence_of, turns_in_clause

_IT = patterns.pattern(r"[\W_]*(?:it|the model|this model)\s(?:is|was|has|uses|contains|comes|features|consists)\b", re.IGNORECASE)
_HAS = patterns.pattern(r"\b(?:has|contains|comprises|totall?ing)\s(?:about |around |roughly |approximately |only )?$", re.IGNORECASE)
_OF_NAME = patterns.pattern(
    r"\s(?:(?:param(?:eter)?s?|(?:transformer |encoder |decoder |attention |hidden )*(?:layers?|blocks?|heads?))\s)?(?:for|in|of) (?:the )?[*_`]*",
    re.IGNORECASE,
)
"""Between a count and the name that it is said of: ``125M parameters for RoBERTa-base``."""
_OWNS = patterns.pattern(r"[*_`]*['’]s?\b")
"""Behind a name, what makes a number a part's: ``2 layers in BERT-base's feed-forward network``."""
_HELD = frozenset(("configuration", "total", "component"))
"""Kinds of claims that are held against the model of their lines."""


def leave_out(scene: Scene, claims: Iterable[Claim], tabled: Collection[int]) -> Iterator[Claim]:
    """Yield the claims without those that are wrong of the model above only, and said of something else.

    Args:
        tabled: The numbers of the lines whose rows or columns are models.
    """
    index_of = {line.number: index for index, line in enumerate(scene.lines)}
    for one in claims:
        index, held = index_of[one.line], one.verdict == "wrong" and one.kind in _HELD and one.line not in tabled
        if not held or not _is_elsewhere(scene, index, _as_read(scene, index, one)):
            yield one


def _as_read(scene: Scene, index: int, claim: Claim) -> Claim:
    """Return a claim with its place in the line as it is read: what was pasted twice, or typeset, is gone from there."""
    places = scene.lines[index].at
    if not places:
        return claim
    return claim._replace(start=bisect_left(places, claim.start), end=bisect_left(places, claim.end))


def leave_out_of_parts(scene: Scene, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the claims without the sizes that are said where the text has gone over to something else."""
    index_of = {line.number: index for index, line in enumerate(scene.lines)}
    for one in claims:
        index = index_of[one.line]
        wrong = one.verdict == "wrong" and one.kind == "configuration"
        if not wrong or not (_is_behind_a_part(scene, index, one) or is_another_sources(scene.lines[index].text, one)):
            yield one


def leave_out_denied(scene: Scene, claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims without the sizes and counts that the text itself says are not so."""
    index_of = {line.number: index for index, line in enumerate(scene.lines)}
    return [
        one for one in claims if one.verdict != "wrong" or one.kind not in _HELD or not is_denied(scene.lines[index_of[one.line]].text, one)
    ]


def _is_elsewhere(scene: Scene, index: int, claim: Claim) -> bool:
    text, mentions = scene.lines[index].text, scene.mentions.get(index, ())
    if any(
        is_so(text, claim) for is_so in (is_another_sources, _is_another_networks, is_denied, _is_of_a_head, _is_set_right)
    ) or is_of_a_count_above(scene, index, claim):
        return True
    if claim.kind == "configuration" and _is_behind_a_part(scene, index, claim):
        return True
    if _is_made_up(scene, index) or is_what_was(text, claim) or _is_in_another_column(text, claim):
        return True
    start, stop = sentence_of(text, claim.start)
    owned = any(m.column >= claim.end and _OF_NAME.fullmatch(text, claim.end, m.column) and not _OWNS.match(text, m.end) for m in mentions)
    if "|" in text or "=" in text[start:stop] or owned or _is_in_a_shape(text, claim):
        return False  # a row, a formula or a line of code is no sentence
    named = max((m.end for m in mentions if start <= m.column < claim.end), default=0)
    if _is_of_some(text, mentions, claim, start) or _is_of_one_alike(text, mentions, claim, start):
        return True
    if named:  # a named model is what its own sentence is about, unless a clause turns to something else
        return turns_in_clause(text, named, claim.start)
    if claim.kind == "total" and _IT.match(text, start) and _HAS.search(text, start, claim.start):
        return False  # ``It was made by distillation, has 66 million parameters``
    text = _without_towers(scene, index, claim, text)
    return goes_on_elsewhere(text, (), claim.start, claim.end) or ANOTHER.search(text, start, claim.start) is not None


def _is_behind_a_part(scene: Scene, index: int, claim: Claim) -> bool:
    """Tell whether the text has gone over to something else with sizes of its own since it named a model: ``再加 2 层分类器。隐藏层 256 维``."""
    stop = claim.start
    if "|" in scene.lines[index].text:
        return False  # each row of a table says what it is of
    for line in range(index, max(-1, index - _SECTION), -1):
        text = scene.lines[line].text
        named = max((m.end for m in scene.mentions.get(line, ()) if m.end <= stop), default=-1)
        places = (place for place in (*part_places(text), *parts_with_fields(text)) if named < place < stop)
        if any(_OF_EXPERTS.search(text, max(0, place - _AROUND), place + _AROUND) is None for place in places):
            return True
        if named >= 0 or scene.lines[line].heading:
            return False
        stop = len(scene.lines[line - 1].text) + 1
    return False


_AROUND = 12
_OF_EXPERTS = patterns.pattern("稠密|moe|专家|dense", re.IGNORECASE)
"""Beside a part that is described with its model."""


def _is_of_one_alike(text: str, mentions: Sequence[Mention], claim: Claim, start: int) -> bool:
    """Tell whether a count is of a model that is only built like the one named: ``我们的模型与 BERT-large 结构一致，3.24 亿参数``."""
    named = [m for m in mentions if start <= m.column and m.end <= claim.start]
    if claim.kind != "total" or not named or (_ALIKE.match(text, named[-1].end) or STRUCTURE.match(text, named[-1].end)) is None:
        return False
    return _WITH.search(text, start, named[-1].column) is not None


_WITH = patterns.pattern(r"[^\s,，:：]{2}[^,，:：]{0,32}?(?:与|和|跟|同|沿用|继承|采用|使用|借鉴|参考|复用|延续|基于)了?\s?[*_`]*$")
_ALIKE = patterns.pattern(
    r"[*_`]*\s?的?(?:模型)?(?:结构|架构|配置|规模|大小|设置|骨干)?(?:上|都|均)?(?:完全|基本|大致|保持)?(?:相同|一致|一样|类似|相似|相当|相仿)"
)


def _is_of_some(text: str, mentions: Sequence[Mention], claim: Claim, start: int) -> bool:
    """Tell whether a count is one of some parameters only, or of any model that has so many: ``其中有 3 亿参数``, ``3 亿参数的模型则``.

    Args:
        start: Where its sentence begins.
    """
    if claim.kind != "total" or _ACTIVE.match(text, claim.end):
        return False
    clause = max((m.end() for m in _CLAUSES.finditer(text, start, claim.start)), default=start)
    named = max((m.end for m in mentions if clause <= m.column < claim.start), default=clause)
    before = text[named : claim.start]
    if _SOME_BEFORE.search(before) is not None or _SOME_BEHIND.match(text, claim.end) is not None:
        return True
    return named == clause and not _IT.search(before) and _ANY_MODEL.match(text, claim.end) is not None


_ACTIVE = patterns.pattern(r"\s?(?:个?参数)?(?:是|为|被|已|处于)*(?:激活|活跃)")
_CLAUSES = patterns.pattern(r"[，；;。:：]|,(?!\d)")
_SOME_BEFORE = patterns.pattern(
    r"其中(?!.{0,6}激活了?\W*$)|一半|剩[下余]|其余|余下|平均|每[张块台]|单卡|新增|增加(?![到至为])|减少|降|缩|压|冻结|更新|解冻|前[一二两三四五六七八九十\d]+层|最后[一二两三四五六七八九十\d]*层|我们|自己|从头|本文|(?:mini|tiny|small|base|medium|large|huge|xl|小|大|一般|同级|同类|其他|别的|某些?|这类|现在的大?)号?(?:版本?|模型)",
    re.IGNORECASE,
)
_SOME_BEHIND = patterns.pattern(
    r"\s?个?(?:参数)?(?:以[下上内]|量?级(?!联)|出头)|\s?个?参数(?:被|不参与|保持不变|放在|在(?!内)|位于|来自|用于|属于)|\s?(?:条|张|篇|次|美元|元|人(?!工)|个(?=元素|样本|句|词|token|神经|用户))"
)
_ANY_MODEL = patterns.pattern(r"\s?(?:个?参数)?(?:量|规模)?的(?:大|小|同类|其他)?(?:模型|网络|版本)(?!$|[，。；;,])")
_IT = patterns.pattern("它|其|该|这|本")
"""Around a count, what makes it one of some of the parameters, or of any model of that size."""


def _is_of_a_head(text: str, claim: Claim) -> bool:
    """Tell whether a width is said to be a head's, and divides the model's: ``hidden_dim=128 (per head)``."""
    value, right = int(claim.value or 0), int(claim.expected or 0)
    return value > 1 and right > value and right % value == 0 and _OF_A_HEAD.match(text, claim.end) is not None


def _is_another_networks(text: str, claim: Claim) -> bool:
    """Tell whether a size is of a network that its sentence has brought in beside the model, or of ELECTRA's generator."""
    return claim.kind == "configuration" and _ANOTHER_NETWORK.search(text, 0, claim.start) is not None


_ANOTHER_NETWORK = patterns.pattern(
    r"(?:(?:\b(?:and|plus|with|followed by|on|into)|\+) an? (?:\d+|one|two|three|four|six|single)[- ]layer|\bgenerator\b(?!.*\bdiscriminator\b)|生成器(?!.*判别器))(?:(?!\. )[^;。；!?])*$",
    re.IGNORECASE,
)
"""``BERT-base as the encoder and a 6-layer decoder with a hidden size of 512``."""


def _is_in_another_column(text: str, claim: Claim) -> bool:
    """Tell whether another cell of a row has the right size: one column is then of something else, ``| NUM_HEADS | 32 | 16 | change it |``."""
    cells = [cell.strip("*` ").replace(",", "") for cell in text.split("|")]
    return claim.kind == "configuration" and len(cells) > _CELLS and str(claim.expected) in cells and str(claim.value) in cells


_CELLS = 4
"""Pieces of a row of a name and two numbers."""


def _is_set_right(text: str, claim: Claim) -> bool:
    """Tell whether a size is followed in parentheses by the right one, and whose that is: ``8 attention heads (12 in the published files)``."""
    behind = _PARENTHESES.match(text, claim.end) if claim.kind == "configuration" else None
    return behind is not None and str(claim.expected) in (match[1] or match[0] for match in _NUMBER.finditer(behind[1].replace(",", "")))


_PARENTHESES = patterns.pattern(r"[^()（）.;；。]{0,48}[(（]([^()（）]{1,60})[)）]")
_NUMBER = patterns.pattern(
    r"(?<![\w.])\d+(?= (?:in|for|at|on|with|originally)\b)|(?:原[文作版]?|论文|实现|版本?)[^\d]{0,6}(\d+)(?![\w.]*\d)"
)


def _is_made_up(scene: Scene, index: int) -> bool:
    """Tell whether the lines above go over to a model that is yet to be made, and no name stands between: ``How would you design a 3B model?``."""
    if scene.given or scene.mentions.get(index):
        return False
    for above in range(index - 1, max(-1, index - 1 - _SECTION), -1):
        if _MADE_UP.search(scene.lines[above].text):
            return True
        if scene.mentions.get(above) or scene.lines[above].heading:
            return False
    return False


_SECTION = 12
"""Lines that a question or a task speaks for."""
_MADE_UP = patterns.pattern(
    r"\b(?:design|build|create|invent|imagine|suppose|consider|train) (?:you |we )?(?:have |had )?(?:an?|your own|our own|my own) (?:new |small |tiny |custom |hypothetical )?(?:[\w.-]+ )?(?:[\w.-]+ )?(?:models?|llms?|transformers?|networks?|slms?)\b|\bhypothetical\b"
    r"|设计一个|如果要|你会如何|假设有?一个|假想|想象一个|虚构",
    re.IGNORECASE,
)
"""Words that begin a model that nobody has published."""
_OF_A_HEAD = patterns.pattern(r"\s?[(（](?:每个?头|per[- ]head|each head|a head)", re.IGNORECASE)
"""Behind a width that is said to be a head's."""


def _without_towers(scene: Scene, index: int, claim: Claim, text: str) -> str:
    """Return a line without the names of the towers that its model has: ``The vision encoder has 24 layers`` goes on about CLIP."""
    model = scene.model_at(index, claim.start)
    for pattern in (WORDS[kind] for kind in towers(model)) if model is not None and claim.kind == "configuration" else ():
        text = pattern.sub(lambda found: " " * len(found[0]), text)
    return text


def _is_in_a_shape(text: str, claim: Claim) -> bool:
    """Tell whether a number is a key's value in code, a side of a square or an end of an arrow, and no number of a sentence."""
    beside = _SIDE.match(text, claim.end) or _OTHER_SIDE.search(text, max(0, claim.start - 4), claim.start)
    return beside is not None or _KEYED.search(text, 0, claim.start) is not None


_SIDE = patterns.pattern(r"\s?(?:→|->|[x×])\s?\d")
_OTHER_SIDE = patterns.pattern(r"(?:→|->|\d\s?[x×])\s?$")
_KEYED = patterns.pattern(r"[\"'`]\w+[\"'`]\s*:\s*[\"']?$")
"""Before the value of a key that code writes."""
