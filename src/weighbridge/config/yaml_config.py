"""A config in YAML, as LitGPT and others write it: keys and plain values, mappings and lists below one another by their indentation.

What a config needs and no more: anchors, tags, documents and texts of several lines are refused by their line.

Source: YAML 1.1, sections 5.3 and 10.2 (what PyYAML reads ``null``, booleans and numbers as).
"""

from __future__ import annotations

import re

from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

DEEPEST = 20
CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
KEY = re.compile(r"('[^']*'|\"[^\"]*\"|[^\s'\"#&*!|>%@`{}\[\],:-][^\s:#]*):(?:\s+(.*))?$")
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,40})")
FLOAT = re.compile(r"[-+]?[0-9]{1,40}\.[0-9]{0,40}(?:[eE][-+]?[0-9]{1,3})?")
WORD = re.compile(r"[^\s'\"#&*!|>%@`{}\[\],:?-][^#:]*|-[^\s#:][^#:]*")


class Line(NamedTuple):
    """A line that says something: its number, its indentation and its text."""

    number: int
    indent: int
    text: str


def parse_yaml(text: str, name: str) -> dict[str, Any]:
    """Parse a config in YAML.

    Raises:
        ConfigError: It holds something else than keys with plain values, lists and mappings, or a key twice.

    >>> parse_yaml("n_layer: 2\\nbias: false\\nrope:\\n  factor: 8.0\\nkinds:\\n- 1\\n- 0\\n", "<text>")
    {'n_layer': 2, 'bias': False, 'rope': {'factor': 8.0}, 'kinds': [1, 0]}
    """
    lines = [
        Line(number, len(line) - len(line.lstrip(" ")), line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and not (number == 1 and line.strip() == "---")
    ]
    if not lines:
        raise ConfigError(Text("{name} is empty; expected a config as a JSON object", name=name))
    found, rest = _read_mapping(lines, 0, name, 0)
    if rest < len(lines):
        raise _unreadable(lines[rest], name)
    return found


def _read_mapping(lines: list[Line], start: int, name: str, depth: int) -> tuple[dict[str, Any], int]:
    """Read the keys that stand at the indentation of the line at *start*; return them and the place of the line after them."""
    found: dict[str, Any] = {}
    indent, place = lines[start].indent, start
    while place < len(lines) and lines[place].indent == indent:
        line = lines[place]
        match = KEY.match(line.text)
        if match is None or depth > DEEPEST or "\t" in line.text:
            raise _unreadable(line, name)
        key, stated = match[1].strip("'\""), (match[2] or "").strip()
        if key in found:
            raise ConfigError("the key stands twice in one object", key=key, hint="keep one")
        place += 1
        below = lines[place] if place < len(lines) else None
        if (not stated or stated.startswith("#")) and below is not None and below.text.startswith("- ") and below.indent >= indent:
            found[key], place = _list(lines, place, name)
        elif (not stated or stated.startswith("#")) and below is not None and below.indent > indent:
            found[key], place = _read_mapping(lines, place, name, depth + 1)
        else:
            found[key] = _scalar(stated, line, name)
    return found, place


def _list(lines: list[Line], start: int, name: str) -> tuple[list[Any], int]:
    """Read the plain values of a list."""
    indent, place = lines[start].indent, start
    found = []
    while place < len(lines) and lines[place].indent == indent and lines[place].text.startswith("- "):
        found.append(_scalar(lines[place].text[2:].strip(), lines[place], name))
        place += 1
    return found, place


def _scalar(stated: str, line: Line, name: str) -> Any:
    if stated[:1] in ("'", '"') and len(stated) > 1 and stated[-1] == stated[0] and stated[0] not in stated[1:-1] and "\\" not in stated:
        return stated[1:-1]
    if stated[:1] in ("[", "{"):
        try:
            return loads(stated, dict)
        except (ValueError, RecursionError):
            raise _unreadable(line, name) from None
    stated = stated.partition(" #")[0].rstrip()
    if stated.startswith("#"):
        stated = ""
    if stated.lower() in CONSTANTS:
        return CONSTANTS[stated.lower()]
    if INTEGER.fullmatch(stated):
        return int(stated.replace("_", ""))
    if FLOAT.fullmatch(stated):
        return float(stated)
    if WORD.fullmatch(stated):
        return stated
    raise _unreadable(line, name)


def _unreadable(line: Line, name: str) -> ConfigError:
    return ConfigError(Text("{name}, line {line}: expected a key with a plain value, a list or keys below it", name=name, line=line.number))
