"""Counts of whole models said in prose: ``BERT-base has 110M parameters``, ``671B in total, 37B active``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weighbridge.auditing.checks.count_doubts import TURN, is_active, is_blocked, is_hedged, is_of_a_part
from weighbridge.auditing.checks.count_subjects import Subject, is_setting_or_bytes, subject_of
from weighbridge.auditing.checks.names import UNKNOWN
from weighbridge.auditing.checks.naming_words import is_example
from weighbridge.auditing.checks.plain_totals import words_behind_description
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.summaries import is_summed
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value
from weighbridge.auditing.text.values import value
from weighbridge.auditing.thresholds import LEFTOVER

SENTENCE = 300
"""Characters of a sentence that are looked at on either side of a number."""
_SENTENCE = pattern(r"[.。;；!！?？|](?!\d)|\bwhile\b|\bwhereas\b|而(?!且)", re.IGNORECASE)
_PARAMETERS = pattern(r"par[aáâ]m|参数|參數|\bweights\b|파라미터|매개변수|パラメ", re.IGNORECASE)
_BYTES = pattern(r"\bweights\b(?!.*par[aáâ]m)", re.IGNORECASE)
"""A whole number that is only said to be of weights may be their bytes."""
_TOTAL = pattern(
    r"\W{0,2}(?:total|active|activated|in total)\b(?! *(?:[a-z]+ )?(?:tokens?|users?|words|steps|images|samples|cost|flops?))",
    re.IGNORECASE,
)
_SUMMED = pattern(
    r"(?:\btotal(?: of| is| comes to)?|\bin all|\bsum\b|\btotal(?:l?ing|s)|总计|合计|共计|总量|总共)\W{0,6}(?:约为?|about|around|roughly|approximately)?\W*$",
    re.IGNORECASE,
)
"""A label that calls what follows the whole, of whatever is counted there."""
_OF_A_TOTAL = pattern(
    r"\b(?:for|with|to|is|has|have|and|gives?) (?:a )?(?:grand )?total of\W*(?:about |around |roughly |approximately )?\W*$", re.IGNORECASE
)
_NON_EMBEDDING = pattern(r"non[- ]?embed|非嵌入|(?:without|excluding|not counting) (?:the )?embed|不含(?:词)?嵌入", re.IGNORECASE)
_UP_TO = pattern(r"\d[\d.,]*\s?(?:[KMBT]|亿|万|million|billion)?\s*(?:到|至|\bto|~|–|—|[-=—]+>|→|➜|⇒)\s*(?:over |about )?$", re.IGNORECASE)
"""Before the second number of a range: ``从 0.5B 到 72B``."""
_VERSION_OF = pattern(r"[- ](?:param(?:eter)?s? )?(?:version|variant|copy|cousin|edition)s? of\b", re.IGNORECASE)
"""Behind a count, what makes it another model's: ``the 66M-parameter version of BERT-base is called DistilBERT``."""
_BESIDE = pattern(
    r"[*_`'\" ]{0,4}(?:['’]s\b|[:：,\-–—]|at|has|have|is|was|with|有|为)?[ (（*_]{1,4}(?:about|around|only|roughly|nearly|over)? ?[~≈约]?",
    re.IGNORECASE,
)
"""Between a name and the count right behind it: ``BERT-large 340M``, ``LLaMA-2 has 7B``."""
_SAID_BY_VERB = pattern(r"(?:\bhas|\bhave|['’]s|有)\W{0,3}(?:about|around|only|约|只)?\W{0,3}$", re.IGNORECASE)
"""A verb right before a count, of which the sentence has said already what is counted: ``A has 1.5B parameters; B has 244M``."""
_SAID_OF_ALL = pattern(
    r"\b(?:models?|networks?|vits?|berts?|gpts?|transformers?) (?:has|have|contains?|comprises?)\W{0,3}(?:about |around |only |just )?\W{0,3}$",
    re.IGNORECASE,
)
"""What says right before a count that it is of a whole model."""
_OF_DATA = pattern(
    r"^\W*(?:tokens?|words|images|pairs|samples|sentences|steps|docs|examples|rows|users|downloads|语料|条|张)", re.IGNORECASE
)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check every number that is said to be the count of a model.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for statement, counts in scene.sorted_figures.counts_by_statement():
        equations = [chain for chain in scene.chains_of(statement) if len(chain.sides) > 1]
        sides = {t.start for chain in equations for t in chain.tokens[chain.start : chain.end] if t.kind == "num"}
        for token in counts:
            if token.line not in tabled and token.start not in sides and not scene.is_judged(token.line, token.start, token.end):
                yield from _judge(scene, token)


def _judge(scene: Scene, token: Token) -> Iterator[Claim]:
    text = scene.lines[token.line].text
    named = scene.mentions.get(token.line, ())
    if any(m.column <= token.start < m.end for m in named):
        return
    first = max(0, token.start - SENTENCE)
    start = max((m.end() for m in _SENTENCE.finditer(text, first, token.start) if not _is_inside(text, m.start())), default=first)
    start = _start_of_question(text, start)
    stop = next((m.start() for m in _SENTENCE.finditer(text, token.end, token.end + SENTENCE)), min(len(text), token.end + SENTENCE))
    before, after = text[start : token.start], text[token.end : stop]
    before = _label_above(scene, token, text) + _first_cell(text, token) + before
    beside = after[:28] + " " + before[-48:]
    bracketed = before.rstrip().endswith(("(", "（")) and bool(named)
    counted = bool(_PARAMETERS.search(beside) or (token.unit in ("m", "b", "t") and _TOTAL.match(after)))
    beside_name = token.unit in ("m", "b") and any(m.kind != UNKNOWN and _BESIDE.fullmatch(text, m.end, token.start) for m in named)
    counted = counted or (beside_name and _SAID_BY_VERB.search(text[: token.start]) is not None and _PARAMETERS.search(text) is not None)
    labelled = bool(token.unit) and _SUMMED.search(before) is not None
    apposed = (bracketed and token.unit) or (beside_name and not _OF_DATA.search(after[:24])) or _ends_sizes(text, token)
    if (not counted and not labelled and not apposed) or is_setting_or_bytes(scene, token):
        return
    subject = subject_of(scene, token, start, stop)
    if subject is None or not subject.models:
        return
    said = words_behind_description(scene, token, subject)
    example = any(is_example(text, token, m) for m in named)
    if said is not None:
        subject, before = subject._replace(firm=True), said  # whatever stands before the description is not about the count
    elif not subject.firm and _OWNED.search(before) and _is_the_only_one(scene, token, subject) and not example:
        subject = subject._replace(firm=True)
    counted = (
        counted
        or (labelled and _OF_A_TOTAL.search(before) is not None)
        or (_ends_sizes(text, token) and _IN_ALL.search(before) is not None)
    )
    what = "total"
    if re.match(r"\W{0,2}(?:(?:in )?total\b|个?总参数|的总参数)", after, re.IGNORECASE) or _OUT_OF.search(before):
        pass  # ``12.9B active per token out of 46.7B total``
    elif is_active(before, after) and not _NON_EMBEDDING.search(TURN.split(before)[-1]):
        what = "active"
    elif _NON_EMBEDDING.search(_NEXT_CLAUSE.split(after[:28])[0] + " " + before[-48:]):
        what = "non_embedding"
    elif is_of_a_part(before, after):
        return
    found = settle(token, subject.models, what, hedged=is_hedged(before))
    if found is not None:
        if token.unit and _SAID_OF_ALL.search(before) and settle(token, subject.models, what, hedged=is_hedged(before), whole=True) is None:
            return  # ``A mini ViT has 12M parameters`` is no claim of one layer of another
        yield total_claim(scene, token, found.verdict, found.expected, found.reason)
    elif (
        subject.firm
        and counted
        and (token.unit or not _BYTES.search(beside))
        and not is_blocked(_of_its_own_kind(subject, _wrapped_words(scene, token) + before), after, what)
        and _UP_TO.search(before) is None
        and _VERSION_OF.match(after) is None
        and not is_summed(scene, token.line)
        and not _is_computed(scene, token)
    ):
        yield from report_wrong_count(scene, token, subject, what)


def _start_of_question(text: str, start: int) -> int:
    """Return where the question begins that a sentence answers, or where the sentence itself does: ``BERT-large 有多少参数？答：3.4 亿``."""
    asked = _QUESTION.search(text, 0, start) if _ANSWER.match(text, start) else None
    return asked.start() if asked is not None else start


_QUESTION = pattern(r"[^。;；!！?？|]*(?:多少|几个|多大|how many)[^。;；!！?？|]*[?？]$", re.IGNORECASE)
_ANSWER = pattern(r"\s*[*_]{0,2}(?:答案?|A|Answer)[*_]{0,2}\s?[:：]")


def _of_its_own_kind(subject: Subject, words: str) -> str:
    """Return words without those that say how the model was made, which for DistilBERT are no other model's."""
    return _DISTILLED.sub("", words) if subject.name.startswith("distil") else words


_DISTILLED = pattern(r"\bdistill?\w*", re.IGNORECASE)


def _is_computed(scene: Scene, token: Token) -> bool:
    """Tell whether a figure says again what its own line has worked out: ``64 * 4096 * ... = 18.4e9, so it has 184 亿``."""
    if not token.unit or "=" not in scene.lines[token.line].text[: token.start]:
        return False
    chains = scene.chains_of(scene.statement_at(token.line))
    results = (value(chain.sides[-1].term, likeliest_value, {}) for chain in chains if len(chain.sides) > 1)
    return any(result is not None and fit(token, result) is not None for result in results)


def _ends_sizes(text: str, token: Token) -> bool:
    """Tell whether a count is the last item of a list of sizes, as an aside gives them: ``24 层,1024 维,约 3.55 亿。``."""
    if token.unit not in ("m", "b", "亿", "million", "billion") or not _LAST_ITEM.match(text, token.end):
        return False
    item = _ITEM_BEFORE.search(text, max(0, token.start - _ITEM_REACH), token.start)
    return item is not None and any(item.start() <= size.last <= item.end() + 1 for size in find_described_sizes(text))


_LAST_ITEM = pattern(r"\s?(?:$|[。；;)）]|\.(?!\d))")
_ITEM_BEFORE = pattern(
    r"[^\s,，、]{0,12}(?:[,，、]|\s(?=共|总共|一共))\s?(?:(?:and|共|总共|一共|约|大约|about|around|roughly|[~≈])\s?)*$", re.IGNORECASE
)
_ITEM_REACH = 32
_IN_ALL = pattern(r"(?:[共总]共?|一共)(?:约|大约)?\s?$")
"""Before the count of a model whose sizes it ends: ``12 层 768 隐藏单元 12 个 head 共 110M``."""
_OWNED = pattern(
    r"(?:(?:^|[,，。]|模型)\s*(?:拥有|具有|共有)|(?:总?参数量|总参数)(?:约?为|是|达到?)|\b(?:the|this) model (?:has|contains|comprises))"
    r"\s*(?:约|大约|about |around |a total of )?[*_ ]*$",
    re.IGNORECASE,
)
"""Words right before a count by which it is the model's own, however long its sentence."""


def _is_the_only_one(scene: Scene, token: Token, subject: Subject) -> bool:
    """Tell whether a text names no model but one, and gives it no other sizes in the line of a count."""
    only = scene.alternates.keys() == {subject.name} and scene.known_only
    return only and not is_of_their_own(scene, token.line) and not scene.is_at_other_sizes(token.line)


def _is_inside(text: str, place: int) -> bool:
    """Tell whether a mark stands between parentheses: ``Yi-6B (32 layers; 6.06B parameters)``."""
    if "(" not in text:
        return False  # as in nearly every row of a table, whose bars are marks too
    before = text[max(0, place - SENTENCE) : place]
    return before.rfind("(") > before.rfind(")") and ")" in text[place : place + SENTENCE]


_NEXT_CLAUSE = pattern("[,，;；](?=[\u4e00-\u9fff])")
"""Where a Chinese sentence goes on to something else: ``76.1 亿,更关键的是其非嵌入参数``."""
_OUT_OF = pattern(r"\bof (?:its|the|a total(?: of)?) [~≈]?$|out of (?:its |a total of )?[~≈]?$", re.IGNORECASE)


def _label_above(scene: Scene, token: Token, text: str) -> str:
    """Return the label on the line above, where a line is nothing but a number."""
    if re.search(r"[^\W_]", text[: token.start]) or len(re.sub(r"[\W_]", "", text[token.end : token.end + SENTENCE])) > LEFTOVER:
        return ""
    above = next((scene.lines[i].text for i in range(token.line - 1, max(-1, token.line - 3), -1) if scene.lines[i].text.strip()), "")
    return f"{above.strip(' *-:|')}: " if len(above) < 40 and not re.search(r"\d", above) else ""


def _wrapped_words(scene: Scene, token: Token) -> str:
    """Return the words at the end of the line above, where a sentence goes on at the beginning of the number's line: ``Scaling ViTs to``, ``22 billion parameters``."""
    above = scene.lines[token.line - 1] if token.line and not scene.lines[token.line].text[: token.start].strip(" *_") else None
    return f"{above.text[-_WRAPPED:]} " if above is not None and not above.heading and above.text[-1:].isalpha() else ""


_WRAPPED = 60
"""Characters of a line above that say what its sentence is about."""


def _first_cell(text: str, token: Token) -> str:
    """Return the label of a row of two cells."""
    row = text.strip().strip("|")
    cells = [cell.strip(" *") for cell in row.split("|")] if row.count("|") == 1 else []
    return f"{cells[0]}: " if cells and text.rfind("|", 0, token.start) > text.find(cells[0]) >= 0 else ""
