"""JSON out of a file, strictly: no key twice, no NaN, no nesting without end, and errors that name the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from weighbridge.errors import ReadError


def parse_object(
    data: bytes, what: str, *, base: int = 0, entry: Callable[[dict[str, Any]], object] = lambda values: values
) -> dict[str, Any]:
    """Parse a JSON object, every key of which must stand once.

    Args:
        data: The text, as UTF-8.
        what: What it is, for messages: ``the header``.
        base: Where in the file the text begins.
        entry: Turns each inner object into what is kept of it, to save memory.

    Raises:
        ReadError: On anything else, with the byte where parsing failed.

    >>> parse_object(b'{"a": 1}', "the header")
    {'a': 1}
    """

    def closed(pairs: list[tuple[str, Any]]) -> object:
        values = dict(pairs)
        if len(values) != len(pairs):
            seen: set[str] = set()
            double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise ReadError(f"{what} has the key {double!r:.80} twice")
        return entry(values)

    def no_constant(text: str) -> NoReturn:
        raise ReadError(f"{what} holds {text}, which is not JSON")

    try:
        text = data.decode("utf-8")
        found = json.loads(text, object_pairs_hook=closed, parse_constant=no_constant)
    except UnicodeDecodeError as error:
        raise ReadError(f"{what} is not UTF-8", offset=base + error.start) from None
    except json.JSONDecodeError as error:
        raise ReadError(f"{what} is not JSON: {error.msg}", offset=base + len(error.doc[: error.pos].encode())) from None
    except RecursionError:
        raise ReadError(f"{what} is nested too deep", offset=base) from None
    except ReadError:
        raise
    except ValueError:
        raise ReadError(f"{what} holds a number of thousands of digits", offset=base) from None
    if not isinstance(found, dict):
        raise ReadError(f"{what} is no object with an entry for each name", offset=base)
    return found


def shown(name: str) -> str:
    """Return a name as it can stand in a message: short, and without control characters.

    >>> shown("a" * 500)[-6:], shown("слой")
    ('aaa...', 'слой')
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in (name if len(name) <= 120 else name[:117])) + (
        "..." if len(name) > 120 else ""
    )
