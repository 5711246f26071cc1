"""JSON out of a file, strictly: no key twice, no NaN, no nesting without end, and errors that name the byte."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text

MOST_VALUES = 400_000
LONGEST_NAME = 1 << 16
LONGEST_KEPT = 1 << 12
"""Texts beyond this length are cut out of a long header before it is parsed."""

_ESCAPE = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_ORDINARY = re.compile(rb'(?:[^"]{0,4096}+"(?:[^"\\\x00-\x1f]{1,64}+|%s){0,64}+"){0,4096}' % _ESCAPE)
"""Many short texts, each with what stands before it. The outer count is not possessive: Python 3.11.2 then takes a part of the next text."""

_PIECE = re.compile(rb'[^"]*+("(?:[^"\\\x00-\x1f]++|%s)*+")?' % _ESCAPE)
"""What stands before a text of any length, and the text, as JSON writes it."""


def parse_object(
    data: bytes,
    what: str,
    *,
    base: int | None = 0,
    entry: Callable[[dict[str, Any]], object] = lambda values: values,
    most: int = MOST_VALUES,
) -> dict[str, Any]:
    """Parse a JSON object, every key of which must stand once.

    Args:
        data: The text, as UTF-8.
        what: What it is, for messages: ``the header``.
        base: Where in the file the text begins, or None if bytes of it cannot be told from the file's.
        entry: Turns each inner object into what is kept of it, to save memory.
        most: Separators it may have: they are what parsing costs.

    Raises:
        ReadError: On anything else, with the byte where parsing failed.

    >>> parse_object(b'{"a": 1}', "the header")
    {'a': 1}
    """

    def entry_of(pairs: list[tuple[str, Any]]) -> object:
        values = dict(pairs)
        if len(values) != len(pairs):
            seen: set[str] = set()
            double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise ReadError(Text("{what} has the key {double!r:.80} twice", what=what, double=double))
        return entry(values)

    def no_constant(text: str) -> NoReturn:
        raise ReadError(Text("{what} holds {text}, which is not JSON", what=what, text=text))

    def at(byte: int) -> int | None:
        return None if base is None else base + byte

    if sum(map(data.count, (b",", b"[", b"{"))) > most:
        raise ReadError(Text("{what} holds more than {most:,} values", what=what, most=most), offset=at(0))
    try:
        text = data.decode("utf-8")
        found = json.loads(text, object_pairs_hook=entry_of, parse_constant=no_constant)
    except UnicodeDecodeError as error:
        raise ReadError(Text("{what} is not UTF-8", what=what), offset=at(error.start)) from None
    except json.JSONDecodeError as error:
        raise ReadError(
            Text("{what} is not JSON: {msg}", what=what, msg=error.msg), offset=at(len(error.doc[: error.pos].encode()))
        ) from None
    except RecursionError:
        raise ReadError(Text("{what} is nested too deep", what=what), offset=at(0)) from None
    except ReadError:
        raise
    except ValueError:
        raise ReadError(Text("{what} holds a number of thousands of digits", what=what), offset=at(0)) from None
    if not isinstance(found, dict):
        raise ReadError(Text("{what} is not an object with an entry for each name", what=what), offset=at(0))
    return found


def shorten_texts(data: bytes, what: str, base: int = 0) -> bytes:
    """Return a JSON text in which values that are long texts are replaced by a word on their length, and long blanks by one.

    Only what is short is copied, so that a header of any length can be parsed in little memory.

    Raises:
        ReadError: A text that is no JSON text, a name without end, or much that is neither text nor blank.

    >>> shorten_texts(b'{"a": "' + b"x" * 5000 + b'"}', "the header")
    b'{"a": "(a text of 5,000 bytes)"}'
    """
    pieces: list[bytes] = []
    kept = 0
    for start, stop, instead in _cuts(data, what, base):
        pieces += (data[kept:start], instead)
        kept = stop
    return b"".join((*pieces, data[kept:]))


def _cuts(data: bytes, what: str, base: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield what to cut out: where it begins and ends, and what to put in its place."""
    at = 0
    while at < len(data):
        at = _end(_ORDINARY.match(data, at))
        match = _PIECE.match(data, at)
        end = _end(match)
        begin = match.start(1) if match is not None and match.start(1) >= 0 else end
        if begin == end < len(data):
            raise ReadError(Text("{what} is not JSON: a damaged text", what=what), offset=base + end)
        if begin - at > LONGEST_KEPT:
            yield at, begin, _without_blanks(data, (at, begin), what, base)
        if end - begin > LONGEST_KEPT and not data[end : end + 64].lstrip().startswith(b":"):
            _check_text(data, (begin, end), what, base)
            yield begin, end, f'"(a text of {end - begin - 2:,} bytes)"'.encode()
        elif end - begin > LONGEST_NAME:
            raise ReadError(Text("{what} has a name of {value:,} bytes", what=what, value=end - begin - 2), offset=base + begin)
        at = end


def _end(match: re.Match[bytes] | None) -> int:
    assert match is not None, "both patterns match nothing at all, too"
    return match.end()


def _without_blanks(data: bytes, span: tuple[int, int], what: str, base: int) -> bytes:
    """Return what stands between two texts with one blank for each run of them."""
    found, length = [], 0
    for match in re.compile(rb"[^ \t\r\n]++").finditer(data, *span):
        length += match.end() - match.start()
        if length > LONGEST_KEPT:
            raise ReadError(
                Text("{what} holds {value:,} bytes in a row that are not text", what=what, value=span[1] - span[0]), offset=base + span[0]
            )
        found.append(match[0])
    return b" ".join(found)


def _check_text(data: bytes, span: tuple[int, int], what: str, base: int) -> None:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(*span, 1 << 20):
            decoder.decode(data[at : min(at + (1 << 20), span[1])])
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        raise ReadError(Text("{what} is not UTF-8", what=what), offset=base + span[0]) from None


def make_printable(name: str) -> str:
    """Return a name as it can stand in a message: short, and without control characters.

    >>> make_printable("a" * 500)[-6:], make_printable("слой")
    ('aaa...', 'слой')
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in (name if len(name) <= 120 else name[:117])) + (
        "..." if len(name) > 120 else ""
    )
