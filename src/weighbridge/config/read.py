"""A config as it is written: JSON from a file, from bytes, from standard input."""

from __future__ import annotations

import json
import sys

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def read_config(path: Path | str) -> dict[str, Any]:
    """Read a JSON config from a file, or from what answers like a path.

    Raises:
        ReadError: The file cannot be read.
        ConfigError: It is no JSON object, repeats a key, or is nested without end.
    """
    try:
        if isinstance(path, str):
            with open(path, "rb") as file:
                return parse_config(file.read(), path)
        return parse_config(path.read_bytes(), str(path))
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=str(path)) from None


def parse_config(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a JSON config; duplicate keys are refused, since one of them would win silently.

    >>> parse_config(b'{"hidden_size": 768}', "<text>")
    {'hidden_size': 768}
    """
    try:
        raw = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 text (byte {error.start:,})") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ConfigError(f"{name} is nested too deep to be a config") from None
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{name} holds a number that is no size of any model: {error}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{name} holds {type(raw).__name__}, expected an object with the config's keys")
    return raw


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ConfigError("the key stands twice in one object", key=double, hint="keep one")
    return result


def standard_input() -> dict[str, Any]:
    """Read a JSON config from standard input."""
    return parse_config(sys.stdin.buffer.read(), "standard input")
