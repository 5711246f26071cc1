"""Counts that running text gives the model it is about: wrong where what else the text says of that model is right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from weighbridge.auditing.checks.count_doubts import is_active, is_blocked, is_hedged, is_of_a_part
from weighbridge.auditing.checks.count_subjects import Subject, goes_on_elsewhere, of_mention
from weighbridge.auditing.checks.cut_figures import Judgement
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.names import ANOTHER
from weighbridge.auditing.checks.plain_totals import OF_PART
from weighbridge.auditing.checks.said_sizes import SaidSize, sizes_by_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import is_size_of, topic
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import NamedTuple

_RIGHT = frozenset(("exact", "rounded", "convention", "note"))


class _Told(NamedTuple):
    """A count of running text, with the model that it is said of and whether it is right of that."""

    token: Token
    subject: Subject
    what: str
    judged: bool
    found: Judgement | None

    @property
    def right(self) -> bool:
        """Whether it is right, as was judged before or is settled here."""
        return self.judged or self.found is not None


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check counts of whole models in running text; one is wrong if all else that is said of its model there is right, and enough of it.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What is judged so far.
    """
    judged = {(claim.line, claim.start): claim.verdict for claim in claims}
    told: dict[str, list[_Told]] = defaultdict(list)
    for statement, figures in scene.sorted_figures.counts_by_statement():
        sides = {t.start for chain in scene.chains_of(statement) if len(chain.sides) > 1 for t in chain.tokens[chain.start : chain.end]}
        for token in figures:
            if token.unit and token.line not in tabled and token.start not in sides:
                verdict = judged.get((scene.lines[token.line].number, scene.lines[token.line].at[token.start]))
                found = _read_count(scene, token, verdict) if verdict in (None, "unsettled", *_RIGHT) else None
                if found is not None:
                    told[found.subject.name].append(found)
    for one in (one for found in told.values() for one in found if one.found is not None):
        assert one.found is not None
        yield total_claim(scene, one.token, one.found.verdict, one.found.expected, one.found.reason)
    if all(one.right for counts in told.values() for one in counts):
        return
    sizes = sizes_by_model(scene, tabled)
    for name, counts in told.items():
        doubtful = [one for one in counts if not one.right]
        if len(doubtful) == 1 and _is_agreed(name, doubtful[0], counts, sizes):
            yield from _hold(scene, doubtful[0])


def _is_agreed(name: str, doubtful: _Told, counts: Sequence[_Told], sizes: Mapping[str | None, Sequence[SaidSize]]) -> bool:
    """Tell whether enough is said of a model beside one count, and all of it is right: two sizes of it, or another count in one sentence."""
    said = sizes.get(name, ())
    if any(not one.own and not is_size_of(one.models, one.size) for one in said):
        return False
    others = [one for one in counts if one is not doubtful]
    kinds = {one.size.word for one in said}
    same_line = any(one.token.line == doubtful.token.line for one in others)
    return len(kinds) + bool(others) >= AGREED_FIELDS or (same_line and bool(others))


def _read_count(scene: Scene, token: Token, verdict: str | None) -> _Told | None:
    """Return a count with the one model that its place is about, if its words call it a count of parameters."""
    text = scene.lines[token.line].text
    if "|" in text or len(text) > LONGEST or any(m.column <= token.start < m.end for m in scene.mentions.get(token.line, ())):
        return None
    if not (_NOUN.match(text, token.end) or _LABEL.search(text, max(0, token.start - _REACH), token.start)):
        return None
    about = topic(scene, token.line, token.start)
    subject = of_mention(scene, about.mention, firm=True) if about is not None else None
    if subject is None or not subject.firm or subject.models[0].description is None:
        return None
    judged = verdict in _RIGHT
    what = _counted_part(text, token)
    found = None if judged else settle(token, subject.models, what, hedged=is_hedged(text[: token.start]), whole=True)
    return _Told(token, subject, what, judged, found)


_REACH = 48
"""Characters before a count within which it is called one."""
_NOUN = pattern(
    r"\s?(?:total |active |activated |trainable )?(?:param(?:eter)?s?\b)|\s?个?(?:总|激活)?参数|\s?(?:total|active|activated)\b(?! (?:tokens?|users?))|\s?(?:被|已)?激活",
    re.IGNORECASE,
)
_LABEL = pattern(
    r"(?:parameter count|parameters|参数(?:总?量|总?数量?)?|非嵌入(?:层|部分|参数)?)\s?(?:of|is|为|约|达到?|仅|只有?|共|总计|是|高达|[:：(（]){0,3}\s?[~≈约]?\s?$",
    re.IGNORECASE,
)
"""What stands behind a count of parameters, or before it."""


def _counted_part(text: str, token: Token) -> str:
    """Return what a count is of, by the words of its sentence: the whole model, what works on a token, or all but the embeddings."""
    start, stop = sentence_of(text, token.start)
    before, after = text[start : token.start], text[token.end : stop]
    if _WITHOUT.search(f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"):
        return "non_embedding"
    return "active" if is_active(before, after) else "total"


def _hold(scene: Scene, told: _Told) -> Iterator[Claim]:
    """Say that a count is wrong, if no word of its clause makes it another's, or a part's."""
    token = told.token
    text = scene.lines[token.line].text
    start, stop = sentence_of(text, token.start)
    before, after = text[start : token.start], text[token.end : stop]
    if is_near(token, told.subject.models, told.what) or is_of_their_own(scene, token.line):
        return
    if goes_on_elsewhere(text, scene.mentions.get(token.line, ()), token.start, token.end):
        return
    clause = f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"
    what = told.what
    plain = _PLAIN.sub(" ", clause)
    if (OTHERWISE.search(plain) and what == "total") or ANOTHER.search(clause) or is_blocked(_PLAIN.sub(" ", before), after, what):
        return
    own = _CLAUSE.split(_PLAIN.sub(" ", before))[-1]
    if (what != "non_embedding" and OF_PART.search(own)) or (what == "total" and is_of_a_part(before, after)):
        return
    yield from report_wrong_count(scene, token, told.subject, what)


_CLAUSE = pattern(r"[,，;；:：()（）]|\band\b|\bbut\b|\bwhile\b|但|而")
_WITHOUT = pattern(r"non[- ]?embed|非嵌入|(?:without|excluding) (?:the )?embed|不含(?:词)?嵌入", re.IGNORECASE)
_PLAIN = pattern(
    r"\beach token (?:thus |therefore )?has access to\b|\bonly (?:uses?|activates?)\b|\bdespite (?:having )?\b|(?:约|大约|约为|仅|只|高达)|\b(?:about|around)\b",
    re.IGNORECASE,
)
"""Words about a count that leave it the model's."""
