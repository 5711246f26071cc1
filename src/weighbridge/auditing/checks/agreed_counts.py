"""Counts of a whole model in sentences whose other numbers settle which model they are about: one that is not its own is wrong, however far off."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

from weighbridge.auditing.checks.count_doubts import is_active, is_hedged
from weighbridge.auditing.checks.count_subjects import Subject, goes_on_elsewhere, of_mention
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.said_sizes import sizes_in_text
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import OPENS_WITH_IT, is_own_size, only_model, sentence_bounds, subject_of_sentence
from weighbridge.auditing.checks.settle import is_near, settle
from weighbridge.auditing.checks.sister_models import sisters
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import goes_on
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL


class _Count(NamedTuple):
    """A count with the model that its sentence is about, whether that names the model in front, and what it counts."""

    token: Token
    subject: Subject
    named: bool
    what: str
    before: str
    after: str
    start: int
    stop: int


_RIGHT = frozenset(("exact", "rounded", "convention", "note"))


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check counts that nobody judged; one is wrong where two other numbers of its sentence or section are its model's.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What is judged so far.
    """
    taken = {(one.line, one.start) for one in claims if one.verdict != "unsettled"}
    right: dict[int, list[Claim]] = {}
    for one in claims:
        if one.verdict in _RIGHT and one.kind in ("total", "configuration"):
            right.setdefault(one.line, []).append(one)
    doubtful = []
    for count in _counts(scene, tabled, taken):
        text = scene.lines[count.token.line].text
        found = settle(count.token, count.subject.models, count.what, hedged=is_hedged(text[: count.token.start]), whole=True)
        if found is None:
            doubtful.append(count)
        else:
            claim = total_claim(scene, count.token, found.verdict, found.expected, found.reason)
            right.setdefault(claim.line, []).append(claim)
            yield claim
    only = only_model(scene) if doubtful else None
    for count in doubtful:
        if _is_wrong(scene, count, right, only):
            yield from report_wrong_count(scene, count.token, count.subject, count.what, sure=True)


def _counts(scene: Scene, tabled: Collection[int], taken: Collection[tuple[int, int]]) -> Iterator[_Count]:
    """Yield the counts of running text that nobody judged, each with its model."""
    for _, _, token in scene.sorted_figures.plain_counts:
        line = scene.lines[token.line]
        if not token.unit or token.line in tabled or len(line.text) > LONGEST:
            continue
        count = _read(scene, token) if (line.number, line.at[token.start]) not in taken else None
        if count is not None:
            yield count


def _read(scene: Scene, token: Token) -> _Count | None:
    text, mentions = scene.lines[token.line].text, scene.mentions.get(token.line, ())
    if any(m.column <= token.start < m.end for m in mentions):
        return None
    start, stop = sentence_bounds(scene, token.line, token.start)
    beside = next((m for m in mentions if m.kind == MODEL and _BESIDE.fullmatch(text, m.end, token.start)), None)
    label = _LABEL.search(text, max(0, token.start - _REACH), token.start)
    if beside is not None and _CLOSES.match(text, token.end):
        mention: Mention | None = beside
        named = True
    elif _NOUN.match(text, token.end) or label is not None:
        mention, named = subject_of_sentence(scene, token.line, start, stop, token.start)
    else:
        return None
    subject = of_mention(scene, mention, firm=True) if mention is not None else None
    if subject is None or not subject.firm or subject.models[0].description is None:
        return None
    whole = _COUNT_OF.search(text, start, token.start)
    before = "" if mention is beside else _CLAUSE.split(_FAMILY_WORDS.sub(" ", text[whole.start() if whole else start : token.start]))[-1]
    after = "" if mention is beside else _CLAUSE.split(_FAMILY_WORDS.sub(" ", text[token.end : stop]))[0]
    if _WITHOUT.search(f"{before} {after} {label[0] if label is not None else ''}"):
        what = "non_embedding"
    else:
        beside_it = _BESIDE_IT.match(text, token.end) or _RIGHT_BEFORE.search(text, start, token.start)
        said_active = beside_it[1].lower() != "total" if beside_it else is_active(text[start : token.start], text[token.end : stop])
        what = "active" if said_active else "total"
    return _Count(token, subject, named, what, before, after, start, stop)


_BESIDE_IT = pattern(r"[\s-]?(total|active|activated)\b", re.IGNORECASE)
_RIGHT_BEFORE = pattern(r"\b(total|active|activated) param(?:eter)?s?(?: count)?(?: of|:| is)? ?[*_`~≈]*$", re.IGNORECASE)
"""Right beside a count, which of the two it is, whatever the rest of the sentence counts."""


_REACH = 48
_BESIDE = pattern(r"[*_`]{0,3}\s?[(（]\s?[~≈]?\s?")
_CLOSES = pattern(r"\s?(?:param(?:eter)?s)?\s?[)）]", re.IGNORECASE)
"""Around a count in parentheses behind its model's name: ``from tiny (39M) to large (1550M)``."""
_NOUN = pattern(
    r"[\s-]?(?:total |active |activated )?(?:param(?:eter)?s?\b)(?! (?:more|less|fewer))|\s(?:are |is )?(?:total|active|activated|non-embedding|used (?:during|for|per|at|on))\b(?! (?:tokens?|users?))",
    re.IGNORECASE,
)
_LABEL = pattern(
    r"(?:(?:number of (?:parameters|params)|parameter count|parameters|params)(?: (?:in|of|for) [\w.\- ]{2,32})?(?: ?[(（][^()（）\d]{2,24}[)）])?)[*_`]*\s?(?:(?:[:：|=(]|is|of|are){1,2}|(?<=count))\s?(?:about|around|approximately|roughly|only|a total of)?\s?[*_`~≈]*\s?$",
    re.IGNORECASE,
)
"""What stands behind a count of parameters, or before it."""
_COUNT_OF = pattern(r"\b(?:total|overall|active|activated) parameter count (?:of|is|at|to) (?:about |around |only |just |approximately |roughly )?[*_~≈]*$", re.IGNORECASE)  # fmt: skip
"""Right before a count, what says all of what it counts, whatever words stand before: ``lets the model get by with an active parameter count of``."""
_CLAUSE = pattern(r"[,;:()（）|]|\b(?:and|but|while|with|whereas|which|that|despite|although|though|of which)\b|—")
_FAMILY_WORDS = pattern(r"(?:sparse )?mixture[- ]of[- ]experts?|\bmoe\b", re.IGNORECASE)
_WITHOUT = pattern(r"non[- ]?embed\w*|(?:without|excluding) (?:the )?embed|\bbackbone\b", re.IGNORECASE)
_OF_ANOTHER = pattern(
    r"layers?|heads?\b|expert|embedding|attention|vocab|adapter|lora|trainable|extra|addition|\bmore\b|fewer|\bless\b|\bthan\b|\beach\b|every|sav|reduc|memory|tokens?\b(?! during)|\bdata|gpu|"
    r"compar|\bvs\b|versus|\blike\b|similar|teacher|student|encoder|decoder|vision|image|audio|text|generator|discriminator|up to|\bover\b|exceed|nearly|almost|between|\bfrom\b|range|\bto\b|"
    r"[–-]\s?$|frozen|freez|updat|quantiz|\bnot\b|half|third|quarter|%|\btimes\b|\d[\d.]*x\b|\d×|distill|prun|version|variant|sizes?\b|models?\s+(?:of|with|at)|smaller|larger|bigger|class\b|learn|optimi[sz]|projection|matri[cx]|\btables?\b|block|query|\bkeys?\b|value|norm|mlp|ffn|feed|weights?\b|\bsame\b|equivalent|\bas an?\b|compute\b|\bcost|\bspeed|\bruns?\b|steps?|\bper (?!token)",
    re.IGNORECASE,
)
"""Words in a count's own clause by which it counts a part, or another model's parameters."""


def _is_wrong(scene: Scene, count: _Count, right: Mapping[int, Sequence[Claim]], only: str | None) -> bool:
    """Tell whether a count that is not its model's is wrong: what stands about it agrees, and no words make it a part's or another model's."""
    token, subject = count.token, count.subject
    text = scene.lines[token.line].text
    if not _is_agreed(scene, count, right, only) or is_near(token, subject.models, count.what) or is_of_their_own(scene, token.line):
        return False
    clause = f"{count.before} {_OF_ACTIVE.sub(' ', count.after) if count.what == 'active' else count.after}"
    plain = _PLAIN.sub(" ", _WITHOUT.sub(" ", clause) if count.what == "non_embedding" else clause)
    sentence = text[count.start : count.stop]
    predicate = _predicate(scene, count) if count.named else None
    if predicate is not None:
        plain, sentence = (words.replace(predicate["is"], " ") for words in (plain, sentence))
    if _OF_ANOTHER.search(plain) or ANOTHER.search(plain) or SUPPOSED.search(sentence):
        return False
    if count.before and goes_on(text, count.start if predicate is None else predicate.end(), token.start):
        return False
    sizes = {size.word for size in sizes_in_text(text) if count.start <= size.start < count.stop}
    opens = _NEW.match(text, count.start) or goes_on_elsewhere(text, (), token.start, token.end)
    whole = _COUNT_OF.fullmatch(count.before) and _THE_MODEL.search(text, count.start, token.start)
    if not (count.named or whole or OPENS_WITH_IT.match(text, count.start)) and opens and len(sizes) <= AGREED_FIELDS:
        return False
    others = sisters(scene)
    return len(others) <= _MOST_SISTERS and settle(token, others, count.what, whole=True) is None


_THE_MODEL = pattern(r"\b(?:the|this) (?:model|architecture|network)\b", re.IGNORECASE)
_MOST_SISTERS = 100
"""Models of a text that a count may be of instead; where more are named, nobody can tell whose it is."""


_PLAIN = pattern(
    r"\b(?:across|among|over|in|with|and|from) (?:all )?(?:its )?\d{1,3} (?:routed |total )?experts\b|\b(?:(?:must |need to |have to )?(?:are |is |be )?(?:loaded|held|kept|stored)(?: in(?:to)?(?: the)? (?:gpu )?(?:memory|vram|ram))?|only|about|around|approximately|roughly|total|large|language|model|transformer)\b",
    re.IGNORECASE,
)


def _predicate(scene: Scene, count: _Count) -> re.Match[str] | None:
    """Return what a sentence says, right behind a name, that its model is; its words bring up no other."""
    text = scene.lines[count.token.line].text
    named = [m for m in scene.mentions.get(count.token.line, ()) if count.start <= m.column and m.end <= count.token.start]
    return _PREDICATE.match(text, named[0].end) if named else None


_PREDICATE = pattern(
    r"[*_`\"']*\s?(?:,|\bis|\bwas)\s(?P<is>(?:an?|the)\s(?:(?:[\w-]+\s){0,4}?(?:models?|variants?|versions?|networks?|llms?|members?)\b(?:\sof the (?:[\w-]+\s){1,3}(?:models|variants|versions))?|"
    r"(?:[\w-]+\s){1,2}?of the (?:[\w-]+\s){0,3}(?:models|variants|versions|two|three)\b))",
    re.IGNORECASE,
)
"""What a sentence says that the model is which it names: ``is the larger variant``, ``, the smaller of the two``."""
_NEW = pattern(r"\W*(?:an?|some|any|most|many|other|another|these|those|such)\s", re.IGNORECASE)
"""The beginning of a sentence about other models."""
_OF_ACTIVE = pattern(
    r"\b(?:activated|active|used)?\s?(?:for|per|on|during)?\s?(?:each |every |a )?(?:token|inference|forward pass)s?\b", re.IGNORECASE
)


def _is_agreed(scene: Scene, count: _Count, right: Mapping[int, Sequence[Claim]], only: str | None) -> bool:
    """Tell whether two other numbers about a count are its model's, one of them in its sentence unless that names the model; or the name stands right before."""
    line = scene.lines[count.token.line]
    inside = [
        one
        for one in right.get(line.number, ())
        if one.end <= len(line.raw) and count.start <= _column(scene, count.token.line, one.start) < count.stop
    ]
    near = [one for number in range(line.number - _LINES, line.number + _LINES + 1) for one in right.get(number, ())]
    said = [size for size in sizes_in_text(line.text) if count.start <= size.start < count.stop]
    if any(not is_own_size(count.subject.models, size) for size in said if size.word not in ("positions", "types", "vocab")):
        return False
    kinds = {size.word for size in said} | {one.kind for one in inside if one.kind == "total"}
    alone = only == count.subject.name
    if len(kinds) >= AGREED_FIELDS or (bool(kinds) and (count.named or alone)):
        return True
    said_so = _LABEL.search(line.text, max(0, count.token.start - _REACH), count.token.start) or _HAS.search(
        line.text, 0, count.token.start
    )
    meant = count.named or alone or OPENS_WITH_IT.match(line.text, count.start) is not None
    return (said_so is not None and alone) or (meant and len({one.text for one in near}) >= AGREED_FIELDS)


_HAS = pattern(
    r"\b(?:has|have|contains?|comprises?|features?|with|featuring|of)\s(?:about |around |approximately |roughly |only |just |a total of |some )*[*_`~≈]*$",
    re.IGNORECASE,
)


_LINES = 12


def _column(scene: Scene, line: int, at: int) -> int:
    """Return where a place of a line as it was written stands in the line as it is read."""
    return bisect_left(scene.lines[line].at, at)
