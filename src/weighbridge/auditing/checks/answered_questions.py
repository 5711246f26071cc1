"""Questions about a size or the count of one model, and the number that answers: ``How many layers does BERT-base have?``, below it ``A: 12``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_subjects import only_model
from weighbridge.auditing.checks.setting_verdicts import HeldSetting, alarm, confirm, possible_sizes
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.settings import COUNTS, Setting, kind_of_key
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets.aliases import MODEL

_QUESTION = pattern(
    r"\b(?:how many (?P<counted>[a-z][a-z -]{2,40}?)|(?:what|how (?:large|big|wide|deep)) (?:is|are) (?:the )?(?P<measured>[a-z][a-z -]{2,40}?))"
    r"\s(?:do(?:es)?|are|is|in|of|for|has|have|used|there)\b[^?？]{0,80}[?？](?P<behind>[^?？]*)$",
    re.IGNORECASE,
)
_ANSWER = pattern(
    r"[\s>*_`#+\-•]*(?:\d{1,2}[.)]\s)?(?:(?:a|answer|ans)\s?\d?[*_]*\s?[:：][\s*_`]*)?(?:it (?:has|uses|is)|there are|that(?:['’]s| is))?[\s*_`~≈]*(?P<hedge>about |around |roughly |approximately )?"
    r"(?P<number>\d[\d,]*(?:\.\d+)?(?:\s?(?:[KMB]\b|million\b|billion\b))?)(?P<noun>[\s*_`-]*(?:[a-z][a-z-]*\s?){0,4})[*_`]*\s*(?:[.!]\s*$|$|[.(（,;]\s)",
    re.IGNORECASE,
)
"""A number and nothing else but the words for what is counted, whatever follows in a sentence of its own."""
_REPLY = pattern(
    r"[\s>*_`#+\-•]*(?:(?:A|答案?|回答)\s?\d?[*_]*\s?[:：][\s*_`]*)?(?:它|其)?(?:共|一共|总共|有|共有|是|为)?[\s*_`]*(?P<hedge>大?约|差不多)?\s?"
    r"(?P<number>\d[\d,]*(?:\.\d+)?(?:\s?(?:亿|万))?)\s?(?:个|层|维|头)?(?P<noun>)(?:参数|头|层)?[*_`]*\s*(?:[。.!！]\s*$|$|[。（(;；,，]\s?)"
)
"""The same in Chinese: ``答：12 层。``."""
_CHOICE = pattern(r"\s*(?:[-*+•]|\(?[A-Da-d1-4][.):])\s*[\d*_`]")
"""The beginning of one of several answers, of which one is to be chosen."""
_AMONG = pattern(r"\s*(?:(?:or|and)\s)?\d|.*(?:^|\s)(?:[2-9]|[B-Db-d])[.):]\s*[\d*_`]")
"""What goes on behind a number that is the first of several: ``512, 768 or 1,024``, ``1. 512 2. 768``."""
_BELOW = 2
"""Lines below a question on which its answer may stand."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold the number that answers a question against the one model that the question names, or that the whole text is about.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for index, line in enumerate(scene.lines):
        asks = index not in tabled and ("?" in line.text or "？" in line.text)
        question = (_QUESTION.search(line.text) or _ASKED.search(line.text)) if asks else None
        if question is None or is_of_their_own(scene, index):
            continue
        kind = _kind(question) if line.text.isascii() or _is_plain(scene, index, question) else None
        subject = _subject(scene, index)
        if kind is None or subject is None or OTHERWISE.search(line.text):
            continue
        for at, start in _answers(scene, index, question):
            held = _hold(scene, at, start, kind, subject)
            if held is not None:
                yield from confirm(scene, held, subject) if held.own else alarm(scene, held, subject, sure=True)
                break


def _kind(question: re.Match[str]) -> str | None:
    """Return what a question asks for."""
    words = (question["counted"] or question["measured"]).strip()
    if not words.isascii():
        return _COUNTED.get(words) or kind_of_key(words)
    return kind_of_key(re.sub(r"\b(?:parameters|params)$", "parameters", words.lower()))


def _is_plain(scene: Scene, index: int, question: re.Match[str]) -> bool:
    """Tell whether a Chinese question speaks of nothing but its model: not of ``LoRA 微调`` of it, and of no part."""
    text, place, words = scene.lines[index].text, 0, ""
    if (question["counted"] or question["measured"]).isascii():
        return True
    for mention in scene.mentions.get(index, ()):
        words, place = words + text[place : mention.column] + " ", mention.end
    return _PLAIN.fullmatch(words + text[place : question.start()]) is not None


_PLAIN = pattern(
    r"(?:[\s\W\d_]|Q|问题?|请问|面试题|题目|例题|那么|请|那|在|对于?|的|中|里|模型|网络|它|一共|总共|到底|究竟|具体|编码器|base|版)*",
    re.IGNORECASE,
)
_COUNTED = {
    "层": "layers",
    "编码器层": "layers",
    "解码器层": "layers",
    "头": "heads",
    "注意力头": "heads",
    "参数": "total",
    "参数量": "total",
    "总参数量": "total",
    "词": "vocab",
    "token": "vocab",
}
"""What Chinese counts, by the words behind ``多少``."""
_ASKED = pattern(
    r"(?:(?:有|共有?|堆叠了?|包含)(?:多少|几)\s?个?(?P<counted>层|编码器层|解码器层|注意力头|头|参数)"
    r"|的?(?P<measured>[\u4e00-\u9fff]{2,8}?|[\u4e00-\u9fff]{0,4}参数量)(?:是|为|有|等于)?\s?(?:多少|多大|几)(?:维|层|个|头)?)\s?[?？](?P<behind>[^?？]*)$"
)
"""``BERT-base 有多少层？``, ``隐藏层维度是多少？``."""


def _subject(scene: Scene, index: int) -> Subject | None:
    """Return the model that a question names, if it names one; the text's only model where it names none."""
    named = scene.mentions.get(index, ())
    if not named:
        only = only_model(scene)
        named = tuple(m for found in scene.mentions.values() for m in found if m.name == only)[:1] if only is not None else ()
    return of_mention(scene, named[0], firm=True) if len(named) == 1 and named[0].kind == MODEL else None


def _answers(scene: Scene, index: int, question: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield where the answer to a question may begin: behind it, or on the next line with words."""
    if question["behind"].strip(" *_`"):
        yield index, question.start("behind")
        return
    below = [line for line in range(index + 1, min(len(scene.lines), index + 1 + _BELOW + 1)) if scene.lines[line].text.strip()]
    choices = len(below) > 1 and all(_CHOICE.match(scene.lines[line].text) for line in below[:2])
    if below and below[0] <= index + _BELOW and not choices:
        yield below[0], 0


def _hold(scene: Scene, index: int, start: int, kind: str, subject: Subject) -> HeldSetting | None:
    text = scene.lines[index].text
    answer = _ANSWER.match(text, start) or _REPLY.match(text, start)
    if answer is None or (start == 0 and scene.mentions.get(index)) or _AMONG.match(text, answer.end()):
        return None
    noun = answer["noun"].strip(" *_`-").lower()
    if noun and not noun.startswith(("bit", "param")) and kind_of_key(noun) not in (None, kind):
        return None
    found = [token for token in tokens(answer["number"], index) if token.kind == "num" and token.value is not None]
    if len(found) != 1:
        return None
    token = found[0]._replace(start=answer.start("number"), end=answer.end("number"))
    setting = Setting(kind, token.start, token.end, kind)
    if kind in COUNTS:
        return HeldSetting(index, setting, token, settle(token, subject.models, kind) is not None, False) if token.unit else None
    values = possible_sizes(subject.models[0], kind)
    if token.unit or token.places or not values:
        return None
    number = int(token.value or 0)
    own = any(number in possible_sizes(model, kind) for model in subject.models)
    fair = not own and (answer["hedge"] or any(number == value + 1 for value in values))  # with the embeddings' output, layers are 13
    return None if fair else HeldSetting(index, setting, token, own, False)
