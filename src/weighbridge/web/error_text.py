"""What an error says, in the reader's language.

An error is written once, in English, where it is raised. ``scripts/messages`` collects what is raised anywhere, with numbered holes
where values stand; here a text is held against those patterns, and the values are put into the translation.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from weighbridge.core.errors import ConfigError, ReadError, WeighbridgeError
from weighbridge.core.messages import Text, catalogued, error_text, mark, translator

FRAGMENTS = (
    mark(" and "),
    mark("the config"),
    mark("Expecting value"),
    mark("Expecting property name enclosed in double quotes"),
    mark("Expecting ',' delimiter"),
    mark("Expecting ':' delimiter"),
    mark("Unterminated string starting at"),
    mark("Extra data"),
    mark("did you mean {0}?"),
    mark("did you mean {0} or {1}?"),
    mark("did you mean {0} or {1} or {2}?"),
    mark("see the list of models"),
    mark("known: {0}"),
    mark("the class default is {0}"),
    mark("sees no images"),
    mark("hears nothing"),
    mark(": it reads images of any size, so say into how many patches each is cut, such as patches 16x24"),
    mark(": the tokens of a question see the whole text, so say how many they are, such as question 12"),
    mark("tokens that an expert takes"),
    mark("at byte {0}"),
    mark("no answer within {0} seconds"),
    mark("the body is larger than {0} bytes"),
    mark("the body is larger than is allowed"),
)
"""What is said beside the raised texts: remedies, and what stands in their holes."""


class Pattern(NamedTuple):
    """A text with holes; how surely a text that fits was made of it: by the ends that stand fast, then by what stands fast at all."""

    sentence: str
    holes: re.Pattern[str]
    fast: tuple[int, int]


def told(error: WeighbridgeError | str, language: str) -> str:
    """Say what an error says in *language*; what nobody has translated stays English.

    >>> from weighbridge.core.errors import UsageError
    >>> told(UsageError("seq: expected a whole number from 1 to 999,999,999, found 0"), "zh")
    'seq：应为 1 到 999,999,999 的整数，现为 0'
    """
    if isinstance(error, WeighbridgeError) and error.args and isinstance(error.args[0], Text):
        return error_text(error, language)
    if language == "en" or isinstance(error, str):
        return _said(str(error), language)
    if isinstance(error, ConfigError):
        key = error.key.replace(" and ", translator(language)(" and "))
        where = f"{key}：" if key else ""
        return where + _said(error.message, language) + (f"（{_said(error.hint, language)}）" if error.hint else "")
    if isinstance(error, ReadError):
        where = f"{error.path}：" if error.path else ""
        return (
            where
            + _said(error.message, language)
            + (f"（{_said(f'at byte {error.offset:,}', language)}）" if error.offset is not None else "")
        )
    return _said(str(error), language)


def _said(text: str, language: str, depth: int = 0) -> str:
    """Translate a text: as it stands, or by the pattern of which most stands fast; what is in its holes likewise."""
    if language == "en":
        return text
    say = translator(language)
    if say(text) != text or depth > 3:
        return say(text)
    fitting = [(pattern, found) for pattern in _patterns(language) if (found := pattern.holes.fullmatch(text))]
    if not fitting:
        return text
    pattern, found = max(fitting, key=lambda pair: pair[0].fast)
    return say(pattern.sentence).format(*(_said(value, language, depth + 1) for value in found.groups()))


@cache
def _patterns(language: str) -> tuple[Pattern, ...]:
    """Return the patterns of a catalogue: its sentences with numbered holes."""
    return tuple(
        Pattern(sentence, re.compile(_expression(sentence), re.DOTALL), (_ends(sentence), len(re.sub(r"\{\d+\}", "", sentence))))
        for sentence in catalogued(language)
        if "{0}" in sentence
    )


def _ends(sentence: str) -> int:
    return (re.match(r"\{\d+\}", sentence) is None) + (re.search(r"\{\d+\}$", sentence) is None)


def _expression(sentence: str) -> str:
    """Write a pattern as a regular expression: braces that stand for themselves are doubled in it."""
    pieces = re.split(r"(\{\d+\})", sentence)
    return "".join(
        "(.*?)" if re.fullmatch(r"\{\d+\}", piece) else re.escape(piece.replace("{{", "{").replace("}}", "}")) for piece in pieces
    )
