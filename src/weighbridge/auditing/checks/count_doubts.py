"""Words around a count by which it is not the whole model's: compared, of a part, of what works on a token, or only about so large."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.plain_totals import OF_ITS
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.component_words import find_components

REST = 40
"""Characters behind a count that may still be said of it, up to a comma."""
_ACTIVE = pattern(r"activ|激活|per token|each token(?! (?:thus )?has access)|used? (?:during|for|per)", re.IGNORECASE)
_BLOCKED = any_word(
    r"\bthan\b|\bscal(?:e[sd]?|ing)\b|\bmodels (?:of|with|at|having)\b|all params|compar|\btimes\b|more|增加|增大|fewer|\bless\b|smaller|larger|bigger|addition|extra|\bper\b|\beach\b|every|tokens?\b|token 数|\bgpu|\bbatch|learning|\bdata|corpus|expert|专家|"
    r"embedding|attention|adapter|trainable|可训练|\blora\b|\bhead\b(?!s)|without|exclud|except|不含|不包括|up to|over|exceed|nearly|almost|超过|不到|接近|近\s*$|sentences?|words|images?|steps?|"
    r"examples?|samples?|downloads?|speed|faster|cost|price|\$|flop|显存|memory|\bgb\b|vram|decoder|encoder|teacher|student|distill|quantiz|vocab|词表|layer (?:has|contains)|每层|单层|"
    r"reduc|sav|减少|节省|压缩|剪枝|裁剪|蒸馏|精简|compress|prun|if |如果|假如|要是|倘若|suppose|假设|equivalent|similar|like|comparable|相当|类似|vs\.?\b|versus|between|range|from|freez|froze|冻结|misleading|not\b|different",
)
_ARE_PART = pattern(r"\b(?:are|is|sit|live|lie|go|belong|come)\b", re.IGNORECASE)
_COMPARED = any_word(
    r"\bthan\b|compar|distill|teacher|student|\bif\b|如果|假如|要是|倘若|假设|suppose|若|改为|改成|换成|similar|\blike\b|类似|相当|misleading|\bnot\b|embedding|lora|adapter|trainable|可训练|each expert|per expert|quantiz|prun|\bevery\b|\beach\b|每|剪枝|裁剪|蒸馏|压缩|精简",
)
"""Words anywhere in a sentence that make its counts other than the model's."""
_CLASS = pattern(r"(?<!\w)[A-Z]\w*(?:Model|For[A-Z]\w*)(?!\w)")
"""A class, whose name says of what it has a head: ``GPT2LMHeadModel``."""
_KINDS = frozenset("transformer encoder decoder".split())
"""Words that name a kind of model as well as a part of one."""
_HEDGES = pattern(r"(?:约为?|大约|近似|about|approximately|approx\.?|roughly|around|≈|circa|some)\W*$", re.IGNORECASE)


def is_hedged(before: str) -> bool:
    """Tell whether the words right before a number say that it is approximate."""
    return _HEDGES.search(before) is not None


def is_active(before: str, after: str) -> bool:
    """Tell whether a count is of what works on a token, by the words of its own clause behind it, or right before it."""
    if not (_SPEAKS_OF_USE.search(before) or _SPEAKS_OF_USE.search(after)) or _OF_ALL.search(before):
        return False  # ``only 12.9B of Mixtral 8x7B's 46.7B parameters are used``
    if _NEXT_IS_ACTIVE.match(after):
        return False  # ``456B 激活 45.9B``: the next one is
    behind, ahead = TURN.split(after)[0][:32], _BEGUN.split(before)[-1][-28:]
    clause = TURN.split(ahead)[-1]
    for words in (clause,) if _OF_EXPERTS.search(before) else (clause, ahead):
        said = [match[0].lower() for match in _ACTIVE_OR_TOTAL.finditer(words)]
        if said and not (words is ahead and _ACTIVE.search(behind)):
            return said[-1] not in ("总", "total")
    return _ACTIVE.search(behind) is not None


_SPEAKS_OF_USE = any_word(r"activ|激活|per token|each token|use")
_OF_ALL = pattern(
    r"\d[\d.]*\s?(?:[BM]|million|billion)?\s(?:parameters )?(?:out )?of\s[^.;,]{2,48}['’]s (?:total )?[*_~≈]*$", re.IGNORECASE
)
_NEXT_IS_ACTIVE = pattern(r"\s?(?:个?参数)?[,，、]?\s?(?:每[^\d,，]{0,12})?激活(?:参数)?(?:量)?[约为仅]?\s?\d")
_BEGUN = pattern(r"[\d;；。]|(?<=\d)[^()（）\d]*[)）]")
"""Where a count's own words begin: behind another number, and behind the parentheses that it stands in."""
_OF_EXPERTS = pattern(
    r"(?<![\w.\-])\d{1,3}[ 个名]*(?:(?:routed |shared )?experts?|专家|are|is|of (?:them|which|these)|都|被| )*(?:activ\w*|激活|selected|used|chosen|per token)[^\d]*$",
    re.IGNORECASE,
)
"""A number of experts, whose word for working is not the next count's: ``8 are active, 671B parameters in total``."""
_ACTIVE_OR_TOTAL = pattern(r"总|total|activ|激活|per token|each token(?! (?:thus )?has access)|used? (?:during|for|per)", re.IGNORECASE)
TURN = pattern(r"[\d,，;；。(（]|\bbut\b|\bwhile\b|\bwith\b|\bof which\b|\band\b|\byet\b|\bonly\b|但|而|其中|仅|只|却|并", re.IGNORECASE)
"""Where another count begins to be spoken of: ``305B parameters in total but 33B of them active``."""


def is_blocked(before: str, after: str, what: str) -> bool:
    """Tell whether anything in the words about a count leaves room for another meaning."""
    plain = _ASIDE.sub("", re.sub(r"[(（][^()（）]*[)）]", "", before))
    clause = re.split(r"[,，、](?!\d{3})|\band\b|\bbut\b|并|且", plain)[-1]
    following = "" if what == "active" else _COMPARES.split(re.split(r"[,，、;；](?!\d{3})|\d", after[:REST])[0])[0]
    if OF_ITS.search(before):
        return _COMPARED.search(f"{following} ") is not None and _ARE_PART.search(following) is None
    return bool(_BLOCKED.search(f"{clause} {following}") or (what != "active" and _COMPARED.search(plain)))


_COMPARES = pattern(r"\b(?:versus|vs\.?|compared (?:to|with)|against|as opposed to)\s", re.IGNORECASE)
"""Behind a count, where what it is compared with begins."""
_ASIDE = pattern(r"^\W*(?:for|by|in) comparison\b|^\W*(?:相比之下|作为对比|对比)", re.IGNORECASE)
"""Words at a sentence's beginning by which the next model is brought in, and nothing is compared yet."""
_ENDS_COUNT = pattern(r"[,，。.]|[:：;；(（]\s?(?=\d)")
"""What ends the words of a count: ``7B parameters: 32 layers`` goes on with another number."""


def is_of_a_part(before: str, after: str) -> bool:
    """Tell whether words between name and number speak of a component."""
    clause = re.split(r"[,，(（、](?!\d{3})|\band\b|和|以及", before)[-1]
    near = f"{clause} {_ENDS_COUNT.split(after[:24])[0]}"
    words = _CLASS.sub("", near).lower()
    return any(m.subject != "total" and words[m.start : m.end] not in _KINDS for m in find_components(words))
