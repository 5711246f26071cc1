"""Words of a sentence by which a size in it is another model's, or one of something else in the model."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.names import ANOTHER
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_subjects import Sentence
from weighbridge.auditing.checks.size_doubts import belongs_to_a_part, is_of_their_own
from weighbridge.auditing.checks.topics import CLAUSE
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.thresholds import AGREED_FIELDS


def is_clean(scene: Scene, one: Sentence, size: DescribedSize, right: int, *, counted: bool) -> bool:
    """Tell whether no words about a size make it another model's, or one of something else in the model.

    Args:
        counted: Whether the text gives the model its right count, on which the size depends.
    """
    text = scene.lines[one.line].text
    full = counted or (one.named and len(one.own() - {size.word}) > AGREED_FIELDS)  # said of the model itself, whoever builds one like it
    if size.value <= 1 or _is_the_rest(one, size) or belongs_to_a_part(text, size.end) or (is_of_their_own(scene, one.line) and not full):
        return False
    code = _SETS.search(text, 0, size.start) is not None and not (one.named and len(one.own()) >= AGREED_FIELDS)
    code = code and len(_WORDS.findall(text, one.start, one.stop)) < _PROSE and not _is_chinese_prose(text, one, size)
    if SUPPOSED.search(text, one.start, one.stop) or code:
        return False
    first = max((m.end() for m in CLAUSE.finditer(text, one.start, size.first)), default=one.start)
    stop = next((m.start() for m in CLAUSE.finditer(text, size.last, one.stop)), one.stop)
    if size.word in _ROUTED and _LEFT.search(text, one.start, one.stop) is not None:
        return False
    if is_another_sources(text, size.end, one.stop, right):
        return False
    if _ANOTHER_THING.search(text, one.start, size.first):
        return False
    if not one.named and (_INDEFINITE.match(text, one.start) or brings_one_more(text, size, one.start)):
        return False
    before = _TOP_OF.sub("", text[first : size.first]) if size.word == "active" else text[first : size.first]
    around = _TOP.sub(" ", f"{before} {text[size.end : stop]}")
    return not (
        _OTHERWISE.search(around)
        or _DENIED.search(text, one.start, size.start)
        or ANOTHER.search(_TOP.sub(" ", _CALLED.sub(" ", text[max(first, one.behind or 0) if one.named else one.start : size.first])))
        or _EACH.search(text[:first] + before)
    )


def _is_chinese_prose(text: str, one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a setting stands within a Chinese sentence, and not in code with a comment: ``嵌入层的 hidden_size=768，共``."""
    return len(_HAN.findall(text, one.start, one.stop)) >= _PROSE and _COMMENT.search(text) is None


_HAN = pattern("[\u4e00-\u9fff]")
_COMMENT = pattern(r"#|//|\"\"\"|^\s*['\"]?[A-Za-z_0-9]+['\"]?\s?[=:]\s?\S")
"""What makes code of a line: a comment, or a setting that it begins with."""


def brings_one_more(text: str, size: DescribedSize, start: int = 0) -> bool:
    """Tell whether a number of layers or heads is that of something new: ``以及一个 2 层的演示网络``; ``一个 64 维向量`` is none."""
    return size.word not in ("hidden", "mlp", "head_dim") and _ONE_MORE.search(text, start, size.first) is not None


def is_another_sources(text: str, start: int, stop: int, right: int) -> bool:
    """Tell whether the words behind a number give the right one to another source, in parentheses: ``8 heads in the paper (12 in the released code)``."""
    return re.search(rf"[(（,，;][^()（）]{{0,16}}(?<![\d.,]){right:,}(?![.,]?\d)\s(?:in|for|with|when)\b", text[start:stop]) is not None


def _is_the_rest(one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a number is what one number of its sentence leaves of another: ``2 of 8 experts, so that 6 experts sit idle``."""
    before = [other.value for other in one.sizes if other.start < size.start]
    return any(whole - some == size.value for whole in before for some in before)


_ROUTED = frozenset(("experts", "active", "shared"))
_LEFT = pattern(r"\b(?:idle|unused|remaining|remain|rest|left|inactive|untouched|asleep)\b|其余|剩|未被|空闲|闲置", re.IGNORECASE)
"""What is said of those experts of a model that do not work on a token: ``6 experts sit idle``."""
_DENIED = pattern(r"(?:不是|并非|而非|不再是|并不[像是])[^,，。;；、\d]{0,8}$")
"""Right before a number, what says that it is another's: ``不是 24 层而是 12 层``."""
_TOP_OF = pattern(r"\btop[- ]?$", re.IGNORECASE)
"""Before a number of experts that work on a token: ``top-4 routing``."""
_WORDS = pattern(r"(?<![\w.])[a-z]{2,}(?![\w.(=])")
_PROSE = 6
"""Words by which a line with an assignment is a sentence: ``d_model = 768, which can also be expressed as H``."""
_INDEFINITE = pattern(
    r"\W*(?:an?|another|some|many|most|other)\b(?: [\w-]+){0,2} (?:models?|networks?|versions?|variants?|transformers?)\b", re.IGNORECASE
)
"""The beginning of a sentence about some other model: ``A model half as deep has 9 layers``."""
_ANOTHER_THING = pattern(
    r"(?:\b(?:and|or|plus|versus|vs\.?|than|against|to|from)|[,;])\s(?:then )?(?:an?|another|some|two|three)\s(?:[\w/-]+\s){1,4}?(?:with|of|having)\s(?:only |just )?[*_]*$",
    re.IGNORECASE,
)
"""Right before a number, what brings in something else that has so many: ``roberta-base and a BiLSTM with 2 layers``."""
_ONE_MORE = pattern(r"(?<![是为成])一[个种款](?:[\u4e00-\u9fff]{1,4}的)?\s?$")
"""Before a number, what brings in something else of so many: ``以及一个 2 层的演示网络``."""
_CALLED = pattern(r"^[*_`]*\s(?:variant|version|model|checkpoint)\b", re.IGNORECASE)
"""Right behind a name, what only says that it is a model's: ``the 70B variant``."""
_TOP = pattern(
    r"on top of the other|one after the other|on top of each other|\b(?:split|divided) (?:in)?to(?= {1,3}(?:\d{1,3} )?(?:attention )?heads)|\b(?:split|divided) (?:in)?to\W*$|每一?个?\s?(?:输入)?\s?(?:tokens?|词元?|单词|汉字|字符?|词向量|patch|图块|位置|样本)",
    re.IGNORECASE,
)
_EACH = pattern(
    r"\b(?:each|every|per|(?:one|some|all|any|most|many|\d) of|by|from|last|first|top|these|those|other)\s+$|第\s?$|\S\s?[-–~/]\s?$",
    re.IGNORECASE,
)
"""Right before a number, what makes it one of several, or of some of them."""
_SETS = pattern(r"\w\s?(?:: ?[\w\[\] |]{2,16})? ?=\s?$")
SUPPOSED = pattern(
    r"\bw/(?!o)|\b(?:if|suppose|imagine|assum\w+|would|could|should|might|let['’]s|lets (?=assume|say|take|suppose|consider|start|use|look|build|try|imagine)|let us|our|ours|my|custom|scratch|toy|reduced|prun\w*|modif\w*|scaled|ablat\w*|instead of|rather than|"
    r"freez\w*|froze\w*|unfreez\w*|remov\w*|drop(?!out)\w*|kept|keep|student|teacher|distil\w*(?!bert)|(?<!\d[BM] )(?<!\bthis )variants?|e\.g|for example|such as|"
    r"add(?:s|ed|ing)?|insert\w*|append\w*|cut (?:down )?to|truncat\w*|trim\w*|shorten\w*|start(?:s|ed|ing)? (?:from|with)|on top of(?! (?:the|each) other))\b|如果|假如|要是|倘若|假设|我们|自己|若|蒸馏|剪枝|裁剪|学生|教师|有人说|误以为|是错的|说法|新模型|交错|合并(?=后|得|成)|[把将]\s?[两二三]\s?个",
    re.IGNORECASE,
)
"""Words anywhere in a sentence by which its sizes may be another model's."""
_OTHERWISE = pattern(
    r"\b(?:first|last|top|bottom|groups?|nodes?|gpus?|devices?|more|fewer|less|extra|additional|another|into|up to|at least|at most|between|ratio|split|subset|mtp|never|wrong|not|conv\w*|lstm|"
    r"classifiers?|classification|adapters?|lora|rank|batch|beams?|steps?|epochs?|stages?|than|vs|versus|smaller|bigger|larger|output|final|like|"
    r"vision|image|audio|speech|text encoder|dense|cross|images?|patch\w*|windows?|context|sequence|times|years?)\b|每|服务|共享(?!\s*[个组对]?\s?(?:kv|键值|k/v))|分[成为]|划分|改|减|剪|前(?!馈)|后|比",
    re.IGNORECASE,
)
"""Words in a size's own clause by which it is another's, or counts something else."""
