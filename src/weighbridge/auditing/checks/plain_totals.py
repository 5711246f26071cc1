"""Counts that are said of a model so plainly that they are wrong however far off they are: ``GPT-2 XL has 6.56B parameters``."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.count_subjects import FILLER, Subject, goes_on_elsewhere
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.naming_words import opens_sentence
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.topics import is_described, topic
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import BESIDE_LINES, LEFTOVER
from weighbridge.presets.aliases import MODEL

_REACH = 300
"""Characters before a name that may be of its sentence."""


def is_plain(scene: Scene, token: Token, subject: Subject) -> bool:
    """Tell whether a clause says nothing but that its one model has so many parameters, or all that stands with it is the model's."""
    text, on_line = scene.lines[token.line].text, scene.mentions.get(token.line, ())
    before = [m for m in on_line if m.end <= token.start]
    if before:
        return _is_of(text, token, before) or _is_of_its_place(text, token, before) or _stands_with_its_sizes(scene, token, subject)
    if len(on_line) == 1 and opens_sentence(text, token, on_line[0]):
        return True
    return not on_line and (_is_of_heading(scene, token) or _stands_with_its_sizes(scene, token, subject))


def _is_of(text: str, token: Token, before: list[Mention]) -> bool:
    """Tell whether a name, a verb and the count are a clause of their own."""
    name = before[-1]
    verb, noun = _VERB.fullmatch(text, name.end, token.start), _NOUN.match(text, token.end)
    if name.kind != MODEL or verb is None or noun is None or not _is_opening(text, name.column):
        return False
    elliptic = len(before) > 1 and _HAS.search(verb[0]) is not None and _PARAMETERS.search(text, before[0].end, name.column) is not None
    return noun["noun"] is not None or verb["noun"] is not None or elliptic


def _is_of_its_place(text: str, token: Token, before: list[Mention]) -> bool:
    """Tell whether names and counts are two lists: ``A and B have 1M and 2M parameters, respectively``."""
    between = text[before[-1].end : token.start]
    return (
        all(m.kind == MODEL for m in before)
        and _RESPECTIVELY.search(text) is not None
        and _is_opening(text, before[0].column)
        and _PAIRED.fullmatch(between) is not None
    )


def _is_of_heading(scene: Scene, token: Token) -> bool:
    """Tell whether a count is said of ``it``, right below a heading that is one model's name."""
    text = scene.lines[token.line].text
    clause = _SENTENCE.split(text[: token.start])[-1]
    said = PRONOUN.match(clause) is not None and _HAS.search(clause) is not None and _NOUN.match(text, token.end) is not None
    return said and model_of_heading(scene, token.line) is not None


def model_of_heading(scene: Scene, line: int) -> Mention | None:
    """Return the one model whose name is the heading close above a line, and after which no other model is named."""
    heading = scene.headings[line] if line < len(scene.headings) else -1
    named = scene.mentions.get(heading, ())
    if heading < 0 or line - heading > BESIDE_LINES or len(named) != 1 or named[0].kind != MODEL:
        return None
    if any(scene.mentions.get(other) for other in range(heading + 1, line + 1)):
        return None
    title = scene.lines[heading].text
    rest = _TITLE.sub("", title[: named[0].column] + title[named[0].end :])
    return None if rest else named[0]


_TITLE = pattern(r"[\W\d_]|parameters|of|in|model|the|参数量?|的|模型", re.IGNORECASE)


def _stands_with_its_sizes(scene: Scene, token: Token, subject: Subject) -> bool:
    """Tell whether a count stands with sizes that are all its one model's: ``LLaMA-2 13B: 40 layers, 5120 hidden units; 53.02B params``."""
    about = topic(scene, token.line, token.start) if subject.models else None
    if about is None or about.mention.name != subject.name or _NOUN.match(scene.lines[token.line].text, token.end) is None:
        return False
    opens = _is_opening(scene.lines[about.line].text, about.mention.column)
    return opens and is_described(scene, about, subject.models, token.line, token.start)


def words_behind_description(scene: Scene, token: Token, subject: Subject) -> str | None:
    """Return the words between a description of a subject's model and a count, or None if they do not leave the count that model's.

    ``32 layers, hidden size 4096, for a total of 7.24B`` is one, ``36 layers; its siblings have 124M`` is none.
    """
    about = topic(scene, token.line, token.start)
    if about is None or about.mention.name != subject.name or is_of_their_own(scene, token.line):
        return None
    if not is_described(scene, about, subject.models, token.line, token.start):
        return None  # as of nearly all counts
    text = scene.lines[token.line].text
    begin = max((size.last for size in find_described_sizes(text) if size.last <= token.start), default=0)
    begin = max([begin, *(m.end for m in scene.mentions.get(token.line, ()) if m.end <= token.start)])
    said = re.split("[。;；]", _COUNT.sub("", text[begin : token.start]))[-1]
    words = re.sub(r"\s", "", _GIVING.sub("", FILLER.sub("", said)))
    if OF_PART.search(said) or goes_on_elsewhere(text, scene.mentions.get(token.line, ()), token.start):
        return None
    plain = (len(words) <= LEFTOVER and not re.search(r"\d", said)) or OF_ITS.search(said) is not None
    return said if plain else None


def _is_opening(text: str, column: int) -> bool:
    """Tell whether nothing that could be counted stands before a name in its clause: ``The up projection of Llama 2 7B has 45M``."""
    return _OPENING.fullmatch(_CLAUSE.split(text[max(0, column - _REACH) : column])[-1]) is not None


_SENTENCE = pattern(r"[.。;；!?！？|](?!\d)")
_CLAUSE = pattern(r"[.,，。;；!?！？|:：)）](?!\d)|\b(?:while|whereas|and|but|to|with|from)\b|而(?!且)|(?<=参数)[和与]", re.IGNORECASE)
_OPENING = pattern(
    r"[\W\d_]*(?:(?:the|an?|so|thus|however|note that|model|in fact|here|we|i|us(?:e|es|ed|ing)|load|loaded|small(?:er|est)|larg(?:er|est)|big(?:ger|gest)|original|first|standard|famous|popular|plain|newer|older|even|so-called|例如|比如|其中|对于?|针对|以|我们|使用|采用|而|但|模型)"
    r"(?![a-z])\W*)*",
    re.IGNORECASE,
)
_VERB = pattern(
    r"[*_`'\"]{0,4}\s*(?:[:：,，(（]?\s*(?:has|have|with|contains|weighs|counts|totals|comes with|stands at|clocks in at|模型)?\s*|(?:模型)?\s*(?:一?共|总共)?(?:包?含有?|拥有|具?有|则有|只有|仅有|则达到?)\s*|"
    r"(?:模型)?(?:来说|而言)?\s*[,，]?\s*的?\s*(?P<noun>(?:总|模型)?参数(?:总?量|总?数量?))\s*(?:是|为|有)?\s*)"
    r"(?:only|just|some|exactly|about|around|approximately|roughly|a total of|in total|约为?|大约为?|大概|共)?\s*[*_`~≈]{0,3}\s*",
    re.IGNORECASE,
)
_NOUN = pattern(
    r"\s?[*_`]{0,3}(?:\s?个)?[\s-]?(?P<noun>(?:model )?param(?:eter)?s?\b|总?参数)?[*_`]{0,3}\s?(?:$|[.,;:)，。；）](?!\d)|(?:and|while|but|to|whereas) )",
    re.IGNORECASE,
)
"""What stands between a name and a count, and behind it, in a clause that says nothing else."""
_HAS = pattern(r"\b(?:has|have)\b|有", re.IGNORECASE)
_PARAMETERS = pattern(r"param|参数", re.IGNORECASE)
_RESPECTIVELY = pattern(r"respectively|分别", re.IGNORECASE)
_PAIRED = pattern(
    r"\s?(?:have|has|contain|的?(?:总|模型)?参数(?:总?量|总?数量?)|分别(?:有|为|是|约为)|[~≈约,，、和与及 ]|and|about|\d[\d.,]*\s?(?:[KMBT]\b|million|billion|亿|万)|个?参数)+",
    re.IGNORECASE,
)
PRONOUN = pattern(r"\W*(?:it|the model|this model|该模型|它|模型|其)(?![a-z])", re.IGNORECASE)
OF_ITS = pattern(r"\bof (?:its|their|the model[’']s|all) \W*$|(?:其|它的)\W*$", re.IGNORECASE)
"""Before a count that is the model's own, of which something is told: ``half of its 559M parameters``."""
OF_PART = pattern(
    r"layers?\b|heads?\b|experts?\b|embedding|\beach\b|\bevery\b|\bper\b|blocks?\b|\bone\b|层|头|专家|嵌入|每(?!个?\s?token)|单",
    re.IGNORECASE,
)
"""Words of a part, which make a count that part's."""
_COUNT = pattern(
    r"(?:总|激活|活跃|模型)?参数(?:总?量)?(?:为|约|是|达|共)*\s?\d[\d.,]*\s?[亿万BM](?:个?参数)?|\d[\d.,]*\s?[BM] (?:total|active|activated)?(?: ?param(?:eter)?s?)?(?: in total| active)?",
    re.IGNORECASE,
)
"""Another count of the same model: what is active beside the total."""
_GIVING = pattern(
    r"每个?\s?token(?:仅|只)?\s?激活|\b(?:activating|activates|for|gives|giving|makes|making|reaching|reaches|that|so|grand|this|tokens|units|entries|BPE|dimensions|kv|vocabulary|vocab)\b|其|则|达|个",
    re.IGNORECASE,
)
"""Words around a count, and behind a size, that leave it its model's."""
