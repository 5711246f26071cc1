"""Counts in an English clause that describes the model named in front: ``DeepSeek-V2 (arXiv:2405.04434), a 236B-parameter MoE that activated only 21B``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.background import is_background
from weighbridge.auditing.checks.count_doubts import is_hedged
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import is_own_size, sentence_bounds
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.numbers import Token
from weighbridge.presets.aliases import MODEL

_NOUN = pattern(
    r"[\s-]?(?:(?:total|active|activated)\s)?param(?:eter)?s?\b(?! (?:more|less|fewer|each|per (?!token)))|\s(?:in total|total|active|activated)\b(?! (?:tokens?|users?))",
    re.IGNORECASE,
)
"""What stands behind a count of parameters."""
_DESCRIBES = frozenset(
    "is was are has had have with of that which who a an the it its only just about around approximately roughly some total totaling totalling overall model models variant version "
    "llm lm network language foundation open weight weights source sparse dense large massive small compact lightweight powerful flagship latest new newest smallest largest biggest decoder encoder only "
    "causal autoregressive auto regressive generative bidirectional transformer transformers based mixture experts expert moe smoe architecture backbone featuring features comprising comprises containing contains consisting consists "
    "boasting boasts built designed released developed introduced published trained created around on upon by in and state art multilingual reasoning chat instruct base pretrained pre general purpose "
    "parameters parameter param params activates activated activating activate active using uses used use for per each every token january february march april may june july august september october november december "
    "belonging belongs to family series s employs employing utilizes utilizing utilising leverages counts packs holds carries weighs at while but yet despite having totals".split()
)
"""Words of a clause that describes a model, and of nothing else that could be counted."""
_ASIDE = pattern(r"[(（\[][^()（）\[\]]{0,80}[)）\]]")
_COUNT = pattern(r"[~≈]?\d[\d,]*(?:\.\d+)?[\s-]?(?:[BMT](?![A-Za-z])|million|billion|trillion)\b", re.IGNORECASE)
_YEAR = pattern(r"\b(?:19|20)\d\d\b")
_MAKER = pattern(r"\bby (?:[A-Z][\w.&-]* ?){1,3}|\b[A-Z][a-z]+(?:['’]s)\b")
_WORD = pattern(r"[^\W\d_]+|\d")
_PART = pattern(
    r"^\s?(?:in|for|of|per|from) (?:(?:the|its|each|every|all|both) )?(?:\w+ )?(?:encoder|decoder|embedd\w*|head|layers?|blocks?|experts?|attention|tower|vision|text|adapter|vocab\w*)"
    r"|^\s?(?:more|less|fewer|than|each|larger|smaller|were|are (?:frozen|trained|updated|shared|kept|removed|pruned)|frozen|trainable)\b",
    re.IGNORECASE,
)
"""Behind a count, what makes it one of a part, or of some of the parameters."""
_OF_ALL = pattern(r"\bof\s[^.;,]{2,48}['’]s (?:total )?[*_~≈]*$")
_ACTIVE_BEFORE = pattern(
    r"\b(?:activat(?:es?|ed|ing)|active|uses|using|engag(?:es|ing))(?: (?:only|just|about|around|roughly|approximately|some|merely))*\s[*_~≈]*$",
    re.IGNORECASE,
)
_ACTIVE_BEHIND = pattern(
    r"[\s-]?(?:active|activated)\b|[\s-]?(?:param(?:eter)?s?)?\s(?:(?:are|is|being|get)\s)?(?:only )?(?:active|activated|used|engaged)\b"
    r"|[\s-]?(?:param(?:eter)?s?)?\s(?:per|for each|for every|on each) (?:token|forward pass|inference step)",
    re.IGNORECASE,
)
"""Right beside a count, what makes it one of the parameters that work on a token."""
_OWN = pattern(
    r"\b(?:our|my|a|an|mini|tiny|small|smaller|toy|custom|modified|reduced|pruned|half|distilled|compressed|quanti[sz]ed|variant of|version of|half of|size of|beyond)\W*$",
    re.IGNORECASE,
)
"""Right before a name, what makes another model of it."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check each count behind a name with nothing but words of a description between.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for _, _, token in scene.sorted_figures.plain_counts:
        text = scene.lines[token.line].text
        if not token.unit or token.line in tabled or "|" in text or len(text) > LONGEST or token.line not in scene.mentions:
            continue
        if scene.is_judged(token.line, token.start, token.end):
            continue
        subject = _model_described(scene, token)
        if subject is not None and not is_of_their_own(scene, token.line):
            yield from _hold(scene, token, subject)


def _hold(scene: Scene, token: Token, subject: Subject) -> Iterator[Claim]:
    text = scene.lines[token.line].text
    of_token = _ACTIVE_BEFORE.search(text, 0, token.start) or _ACTIVE_BEHIND.match(text, token.end)
    whole = _OF_ALL.search(text, 0, token.start)  # ``only 12.9B of Mixtral 8x7B's 46.7B parameters are used``
    what = "active" if of_token and whole is None else "total"
    found = settle(token, subject.models, what, hedged=is_hedged(text[: token.start]), whole=True)
    if found is not None:
        yield total_claim(scene, token, found.verdict, found.expected, found.reason)
    elif subject.firm and not is_near(token, subject.models, what):
        yield from report_wrong_count(scene, token, subject, what)


def _model_described(scene: Scene, token: Token) -> Subject | None:
    """Return the model that a clause describes with a count, if nothing else in it could be counted."""
    text = scene.lines[token.line].text
    noun = _NOUN.match(text, token.end)
    start, _ = sentence_bounds(scene, token.line, token.start)
    named = [m for m in scene.mentions[token.line] if start <= m.column and m.end <= token.start]
    if noun is None or not named or _PART.search(text[noun.end() :]) or SUPPOSED.search(text, named[-1].end, token.start):
        return None
    last = named[-1]
    clause = max(start, text.rfind("; ", start, last.column))
    others = [m for m in named if clause <= m.column < last.column and m.kind == MODEL and m.name != last.name]
    if others or last.kind != MODEL or _OWN.search(text, start, last.column) or is_background(text, last.column):
        return None
    subject = of_mention(scene, last, firm=True)
    return subject if subject is not None and _is_description(text, last, token, subject) else None


def _is_description(text: str, name: Mention, token: Token, subject: Subject) -> bool:
    """Tell whether the words between a name and a count only say what kind of model it is, and other numbers of it."""
    sizes = [size for size in find_described_sizes(text) if name.end <= size.first and size.last <= token.start]
    if any(not is_own_size(subject.models, size) for size in sizes):
        return False  # ``BERT-base with 6 layers has 66M parameters``
    words = text[name.end : token.start]
    for size in reversed(sizes):
        words = words[: size.first - name.end] + " " + words[size.last - name.end :]
    for one in (_ASIDE, _COUNT, _YEAR, _MAKER):
        words = one.sub(" ", words)
    return len(words) <= _LONGEST_WORDS and all(word.lower() in _DESCRIBES for word in _WORD.findall(words))


_LONGEST_WORDS = 240
