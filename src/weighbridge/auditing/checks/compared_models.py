"""One size of two models, set against each other: ``12 versus 24 layers``, ``the hidden size grows from 768 to 1024``; where one is its model's, so is the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.names import UNKNOWN, Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import sentence_bounds
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.field_words import label_before
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_NUMBER = r"\d{1,3}(?:,\d{3})+|\d{1,7}"
_PAIR = pattern(
    rf"(?<![\w.,×*/+-])(?P<x>{_NUMBER})(?P<xk>[kK]\b)?(?P<noun>(?:[ -][a-z]+){{0,2}}?)\s?(?:(?P<sign>→|->|=>)|\b(?P<word>vs\.?|versus|against|instead of|rather than|compared (?:to|with)|to|and)\b)"
    rf"\s?(?:about |only |just )?(?P<y>{_NUMBER})(?P<yk>[kK]\b)?(?![\w.,]*\d|\s?[%×*/])",
)
_LEADS = pattern(
    r"(?:\s|[:：=(,]|\b(?:is|are|was|of|from|grows?|goes|going|increases?d?|rises?|rose|doubles|shrinks?|drops?|falls?|changes?|jumps?|went|grew|moves?|raised|reduced|extended|expanded)\b)+$",
    re.IGNORECASE,
)
_FROM = pattern(r"\bfrom\s$|[:：]\s?$", re.IGNORECASE)
_SOME = pattern(r"\b(?:first|last|top|bottom|each|every|between|only|step|epochs?|batch\w*|per)\s$", re.IGNORECASE)
_NUMBERED = pattern(r"\b(?:layers?|heads?|blocks?)\s$", re.IGNORECASE)
"""Before two numbers that count along: ``layers 4 and 8``."""
_WORDS = frozenset("layers hidden heads kv_heads mlp vocab head_dim experts active".split())


class _Pair(NamedTuple):
    """Two numbers of one kind, each with its place."""

    line: int
    word: str
    first: tuple[int, int, int]
    second: tuple[int, int, int]


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check every pair of sizes in a sentence on two models; one is wrong where the other is its model's.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line in scene.counted_lines:
        text = scene.lines[line].text
        if line in tabled or len(text) > LONGEST or _PAIR.search(text) is None or is_of_their_own(scene, line):
            continue
        for pair in _pairs(line, text):
            models = _two_models(scene, line, pair.first[1])
            start, stop = sentence_bounds(scene, line, pair.first[1])
            if models is not None and not SUPPOSED.search(_COMPARES.sub(" ", text[start:stop])):
                yield from _hold(scene, pair, models)


_COMPARES = pattern(r"\b(?:instead of|rather than)\b|\bdistilbert\b", re.IGNORECASE)


def _pairs(line: int, text: str) -> Iterator[_Pair]:
    described = {size.start: size for size in find_described_sizes(text)}
    for match in _PAIR.finditer(text):
        if _SOME.search(text, 0, match.start()) or (match["word"] == "and" and _NUMBERED.search(text, 0, match.start())):
            continue
        lead = _LEADS.search(text, 0, match.start())
        end = lead.start() if lead is not None else match.start()
        of_x, of_y = described.get(match.start("x")), described.get(match.start("y"))
        word = of_y.word if of_y is not None else None
        if of_x is not None and of_y is not None and of_x.word != of_y.word:
            continue
        if word is None or (match["word"] == "to" and not _FROM.search(text, 0, match.start())):
            named = label_before(text[:end], end) if lead is not None else None
            told = match["sign"] or (match["word"] == "to" and re.search(r"\bfrom\s$", text[: match.start()]))
            word = (
                named
                if named is not None and (told or match["word"] not in ("to", "and"))
                else (of_x.word if of_x is not None and match["word"] not in ("to", "and") else None)
            )
        if word in _WORDS and (match["word"] != "to" or re.search(r"\bfrom\s$", text[: match.start()])):
            thousands = {side: 1000 if match[f"{side}k"] else 1 for side in "xy"}
            first, second = (
                (
                    int(match[side].replace(",", "")) * thousands[side],
                    match.start(side),
                    match.end(f"{side}k" if match[f"{side}k"] else side),
                )
                for side in "xy"
            )
            yield _Pair(line, str(word), first, second)


def _two_models(scene: Scene, line: int, column: int) -> tuple[ModelValue, ModelValue] | None:
    """Return the two models that a sentence names, or that the line does before it, or its heading, in their order."""
    start, stop = sentence_bounds(scene, line, column)
    on_line = scene.mentions.get(line, ())
    inside = [m for m in on_line if start <= m.column < stop]
    earlier = [m for m in on_line if m.column < start]
    heading = scene.headings[line] if line < len(scene.headings) else -1
    for found in (inside, earlier, scene.mentions.get(heading, ()) if heading >= 0 else ()):
        if found:
            return _models(scene, found)
    return None


def _models(scene: Scene, found: Sequence[Mention]) -> tuple[ModelValue, ModelValue] | None:
    names = list(dict.fromkeys(m.name for m in found))
    if len(names) != _TWO or any(m.kind != MODEL or m.kind == UNKNOWN for m in found):
        return None
    subjects = [of_mention(scene, next(m for m in found if m.name == name), firm=True) for name in names]
    models = [one.models[0] for one in subjects if one is not None and one.models[0].description is not None]
    return (models[0], models[1]) if len(models) == _TWO else None


_TWO = 2


def _hold(scene: Scene, pair: _Pair, models: tuple[ModelValue, ModelValue]) -> Iterator[Claim]:
    for one, other in (models, models[::-1]):
        if _is_own(one, pair.word, pair.first[0]) and _is_own(other, pair.word, pair.second[0]):
            for number in (pair.first, pair.second):
                yield _claim(scene, pair, number, number[0], "exact")
            return
    for one, other in (models, models[::-1]):
        fits = _is_own(one, pair.word, pair.first[0]), _is_own(other, pair.word, pair.second[0])
        if any(fits):
            number, model = (pair.second, other) if fits[0] else (pair.first, one)
            right = main_values(model).get(pair.word) or min(values_of(model, pair.word), default=None)
            alike = values_of(model, pair.word) | (values_of(model, "width") if pair.word in ("hidden", "mlp", "head_dim") else frozenset())
            if right is not None and number[0] not in alike and len(values_of(model, pair.word)) == 1:
                yield _claim(scene, pair, number, right, "wrong")
            return


def _is_own(model: ModelValue, word: str, value: int) -> bool:
    values = values_of(model, word)
    near = word == "vocab" and value % _THOUSAND == 0 and any(abs(value - own) < _THOUSAND for own in values)
    return value in values or near


_THOUSAND = 1000


def _claim(scene: Scene, pair: _Pair, number: tuple[int, int, int], right: int, verdict: str) -> Claim:
    assert pair.word in SIZE_TITLES
    return field_claim(scene, Token("num", "", pair.line, number[1], number[2]), pair.word, number[0], right, verdict)
