"""Pictures and patches: ``16x16 pixel patches``, ``224x224 resolution``; vocabularies rounded to thousands: ``a vocabulary of 30k entries``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import field_values, main_values
from weighbridge.auditing.checks.fields import OTHERWISE, field_claim
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.topics import topic
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import THOUSANDS_FAR
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_SQUARE = r"(?<![A-Za-z0-9_.])(?P<high>\d{1,4}) ?[x×*] ?(?P<wide>\d{1,4})(?![\d.]*\d| ?[x×*] ?\d)"
_PATCHES = patterns.pattern(
    rf"{_SQUARE}(?=[- ]?(?:pixel[- ]|non-overlapping |image )*patch)|patch(?:es)?(?: size)?(?: of| is|:|=)?[ *|]{{1,4}}(?:size )?{_SQUARE.replace('high', 'tall').replace('wide', 'broad')}",
    re.IGNORECASE,
)
_IMAGES = patterns.pattern(
    rf"{_SQUARE}(?=[- ](?:px|pixels?(?![- ]patch)|resolution|images?|inputs?)\b)|"
    rf"(?:resolution|image size|input size)(?: of| is|:|=)?[ *|]{{1,4}}{_SQUARE.replace('high', 'tall').replace('wide', 'broad')}",
    re.IGNORECASE,
)
_WORDS = patterns.pattern(
    r"\b(?:vocab\w*|wordpiece\S*|bpe)[^.;|]{0,32}?(?<![A-Za-z0-9_.,])(?P<number>\d{1,3}(?:,\d{3})+|\d{4,7}|\d{2,3}(?P<kilo>[kK]))[*_`]{0,2} (?:entries|tokens|words|wordpieces|subwords)\b",
    re.IGNORECASE,
)
_MAY_SAY = patterns.any_word(r"patch|px|pixel|resolution|image|input|vocab|wordpiece|bpe")
"""A word without which none of these says anything."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check sizes of pictures and patches, and of vocabularies, where the text is plainly about one model."""
    for index in scene.counted_lines:
        line = scene.lines[index]
        if len(line.text) > LONGEST or not _MAY_SAY.search(line.text):
            continue
        for word, pattern in (("patch", _PATCHES), ("image", _IMAGES)):
            for match in pattern.finditer(line.text):
                high, wide = ("high", "wide") if match["high"] else ("tall", "broad")
                model = _model_of_pictures(scene, index, match.start(high))
                if model is not None:
                    yield from _square(scene, index, word, (match.span(high), match.span(wide)), model)
        for match in _WORDS.finditer(line.text):
            yield from _vocabulary(scene, index, match)


def _model_of_pictures(scene: Scene, index: int, column: int) -> ModelValue | None:
    """Return the model that a place is about, of its sentence or of the text, if that sees pictures."""
    about = topic(scene, index, column)
    subject = of_mention(scene, about.mention, firm=True) if about is not None else None
    named = scene.main is not None and (scene.given or scene.main.named)
    model = subject.models[0] if subject is not None else scene.models.get("") if named else None
    return model if model is not None and field_values(model).get("patch") else None


def _square(scene: Scene, index: int, word: str, spans: tuple[tuple[int, int], tuple[int, int]], model: ModelValue) -> Iterator[Claim]:
    """Hold the two sides of a square: one that is not as long as the other is wrong, if that is the model's, and so is a slip of the keys."""
    text = scene.lines[index].text
    own = field_values(model).get(word, frozenset())
    sides = [(int(text[start:end]), Token("num", "", index, start, end)) for start, end in spans]
    for place, (side, token) in enumerate(sides):
        other = sides[1 - place][0]
        if side in own:
            yield field_claim(scene, token, word, side, side, "exact")
        elif other in own and is_slip(str(side), str(other)) and not is_of_their_own(scene, index):
            yield field_claim(scene, token, word, side, other, "wrong")


def _vocabulary(scene: Scene, index: int, match: re.Match[str]) -> Iterator[Claim]:
    about = topic(scene, index, match.start("number"))
    subject = of_mention(scene, about.mention, firm=True) if about is not None else None
    rights = [right for model in (subject.models if subject is not None else ()) if (right := main_values(model).get("vocab"))]
    if about is None or not rights or OTHERWISE.search(match[0]) or is_of_their_own(scene, index):
        return
    kilo = match["kilo"] is not None
    number = int(re.sub(r"\D", "", match["number"])) * (1000 if kilo else 1)
    start, end = match.span("number")
    token = Token("num", "", index, start, end)
    if any(abs(number - right) < 1000 if kilo else number == right for right in rights):
        yield field_claim(scene, token, "vocab", number, number, "exact")
    elif (kilo and all(abs(number - right) * THOUSANDS_FAR > right for right in rights) and about.line == index) or (
        not kilo and not any(is_fair_vocabulary(number, right) for right in rights) and is_slip(str(number), str(rights[0]))
    ):
        yield field_claim(scene, token, "vocab", number, rights[0], "wrong")
