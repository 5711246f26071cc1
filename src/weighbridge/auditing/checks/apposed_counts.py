"""Counts that stand right behind their model's name: ``RoBERTa-base (125M parameters)``, ``DeepSeek V3 (671B/37B active)``, ``ALBERT-base – 12M``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.background import is_background
from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets.aliases import FAMILY, MODEL, lookup

_UNIT = r"(?:[MBT](?![A-Za-z])|million\b|billion\b|trillion\b)"
_APPOSED = pattern(
    r"[*_`]*\s?(?P<open>[(（]|[–—:]\s|\s?(?:has|with|at)(?: only| its| just| about| around| roughly)?\s)\s?(?P<hedge>[~≈]|about |around |roughly )?"
    rf"(?P<first>\d[\d,]*(?:\.\d+)?\s?{_UNIT})(?P<between>(?:\s?(?:in )?(?:total|dense))?(?:\s?(?:total )?param(?:eter)?s?)?(?:\s?(?:in )?total)?)"
    rf"(?:\s?[/,，;+]\s?(?:with )?[~≈]?(?P<second>\d[\d,]*(?:\.\d+)?\s?{_UNIT})(?P<active>[ -]?(?:of (?:them|which) )?(?:param\w* )?activ(?:e|ated)\b|(?=\s?[)）]))?)?",
    re.IGNORECASE,
)
_CLOSED = pattern(r"\s?(?:$|[,，;；:)）.](?!\d)|and\b|while\b|but\b|dense\b|all\b)", re.IGNORECASE)
_OF_PARAMETERS = pattern(r"\bparam(?:eter)?s?\b|参数", re.IGNORECASE)
_BEFORE = 24
"""Characters before a name that may say that it is no more that model."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the count right behind each name; of two, the second is what works on a token.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line in scene.named_lines:
        text = scene.lines[line].text
        for mention in scene.mentions[line] if line not in tabled else ():
            opens = text.find("(", mention.column, mention.end)  # ``DeepSeek V3 (671B`` is a name too
            found = _APPOSED.match(text, opens if opens > 0 else mention.end)
            if found is not None and mention.kind in (MODEL, FAMILY) and _is_count(text, found):
                yield from _hold(scene, line, mention, found)


def _is_count(text: str, found: re.Match[str]) -> bool:
    """Tell whether nothing but the count, or the two, stands in its place."""
    if _CLOSED.match(text, found.end()) is None:
        return False
    return found["open"] in "(（" or bool(found["between"].strip()) or _OF_PARAMETERS.search(text) is not None


def _hold(scene: Scene, line: int, mention: Mention, found: re.Match[str]) -> Iterator[Claim]:
    subject = of_mention(scene, mention, firm=mention.kind == MODEL)
    if subject is None or not subject.models:
        return
    figures = [(_token(line, found, "first"), "total")]
    sparse = any(own_count(model) != own_count(model, "active") for model in subject.models)
    if found["second"] and found["active"] is not None and (found["active"].strip() or sparse):
        figures.append((_token(line, found, "second"), "active"))
    if all(scene.is_judged(line, token.start, token.end) for token, _ in figures):
        return
    if mention.kind == FAMILY:
        subject = _member_by_counts(subject, figures)
    firm = subject.firm
    held = [(token, what, settle(token, subject.models, what, hedged=bool(found["hedge"]), whole=True)) for token, what in figures]
    right = sum(judged is not None for *_, judged in held)
    for token, what, judged in held:
        if judged is not None:
            if firm or right == len(held):
                yield total_claim(scene, token, judged.verdict, judged.expected, judged.reason)
        elif firm and right == len(held) - 1 and not _may_be_otherwise(scene, line, mention, token, what, subject):
            yield from report_wrong_count(scene, token, subject, what, sure=len(held) > 1)


def _member_by_counts(subject: Subject, figures: Sequence[tuple[Token, str]]) -> Subject:
    """Return the one member of a family that has one of two counts, where none has both; else the family."""
    fitting = [tuple(m for m in subject.models if settle(token, (m,), what, whole=True) is not None) for token, what in figures]
    if len(fitting) == 1 or set(fitting[0]) & set(fitting[1]):
        return subject
    members = {(own_count(model), own_count(model, "active")): model for found in reversed(fitting) for model in reversed(found)}
    model = next(iter(members.values()), None)
    return Subject((model,), model.source, True) if model is not None and len(members) == 1 else subject


def _token(line: int, found: re.Match[str], group: str) -> Token:
    token = next(one for one in tokens(found[group], line) if one.kind == "num")
    return token._replace(start=found.start(group), end=found.end(group))


def _may_be_otherwise(scene: Scene, line: int, mention: Mention, token: Token, what: str, subject: Subject) -> bool:
    """Tell whether words before a name make another model of it, or a figure is loose enough."""
    text = scene.lines[line].text
    if is_background(text, mention.column) and _VERB.match(text, mention.end) is not None:
        return True  # ``better than Llama-3.2-3B at 1.5B parameters``
    before = text[max(0, mention.column - _BEFORE) : mention.column]
    if _MADE.search(before) or is_of_their_own(scene, line) or is_near(token, subject.models, what):
        return True
    written = lookup(text[mention.column : mention.end])
    family = written.names if written is not None and written.kind == FAMILY else ()
    sisters = of_mention(scene, Mention(mention.column, None, mention.end, family, FAMILY), firm=False) if family else None
    return (
        sisters is not None and settle(token, sisters.models, what, hedged=True, whole=True) is not None
    )  # ``the big GPT-2 (1.6B)``, in a text about the small one


_VERB = pattern(r"[*_`]*\s?\s?(?:with|at)\s", re.IGNORECASE)
_MADE = pattern(
    r"\b(?:our|my|custom|toy|reduced|prun\w*|modif\w*|scaled|smaller|bigger|tiny|mini|small|distill?\w*|student|draft|quanti[sz]ed|compressed|trimmed|extended|half|if)\b[^.;]*$",
    re.IGNORECASE,
)
