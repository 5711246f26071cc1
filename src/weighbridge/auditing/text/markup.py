"""HTML tags and entities and Markdown's stars in a line, and what is written of it so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from weighbridge.auditing.text.typed_signs import (
    PUNCTUATION,
    is_between_groups,
    is_operand,
    sign_as_read,
)

NOTHING = frozenset("\u200b\u200c\u200d\ufeff\u2060\u2061\u2062\u2063\u00ad")
THIN = frozenset("\u00a0\u2009\u202f\u2007\u2008")


class Writer:
    """Collects characters and their columns."""

    def __init__(self, raw: str, dropped: Sequence[tuple[int, int]]) -> None:
        self.raw = raw
        self.text: list[str] = []
        self.at: list[int] = []
        self.skip = dict(dropped)

    @cached_property
    def tabular(self) -> bool:
        """Whether an ampersand parts columns in this line."""
        raw = self.raw
        return (raw.count("&") >= 2 and "&=" not in raw and "& =" not in raw) or ("=" not in raw and raw.rstrip().endswith("\\\\"))

    def put(self, text: str, column: int) -> None:
        self.text.extend(text)
        self.at.extend([column] * len(text))


def read_tag(writer: Writer, position: int, end: int) -> int:
    """Leave out an HTML tag inside Markdown; ``<sup>`` raises what follows."""
    raw = writer.raw
    following = raw[position + 1 : position + 2]
    closing = raw.find(">", position, min(end, position + 500))
    if closing < 0 or not (following.isalpha() or following in ("/", "!")):
        writer.put("<", position)
        return position + 1
    name = raw[position + 1 : closing].strip().lower()
    if name.split(" ")[0] in ("td", "th"):
        span = re.search(r"colspan\D{0,3}(\d{1,2})", name)
        writer.put(" | " * (int(span[1]) if span else 1), position)
        return closing + 1
    writer.put("^(" if name == "sup" else ")" if name == "/sup" else " ", position)
    return closing + 1


def read_entity(writer: Writer, position: int, end: int) -> int:
    """Read an HTML entity, or an ampersand that parts columns; return where reading goes on."""
    from html import unescape

    raw = writer.raw
    closing = raw.find(";", position, min(end, position + 12))
    if closing > position + 1 and raw[position + 1].isalnum() | (raw[position + 1] == "#"):
        meant = unescape(raw[position : closing + 1])
        if len(meant) == 1:
            thin = "," if is_between_groups(raw, position, closing + 1 - position) else " "
            writer.put("" if meant in NOTHING else thin if meant in THIN else sign_as_read(meant), position)
            return closing + 1
    writer.put("|" if writer.tabular else " ", position)
    return position + 1


def read_star(writer: Writer, position: int) -> int:
    """Tell emphasis from a product and from a power."""
    raw = writer.raw
    after = position
    while raw[after : after + 1] == "*":
        after += 1
    count, before, following = after - position, raw[position - 1 : position], raw[after : after + 1]
    if (count == 2 and is_operand(before, ")]") and is_operand(following, "(") and (before.isascii() and following.isascii())) or (
        count == 2 and before == following == " "
    ):
        writer.put("^", position)
    elif (
        count == 1
        and raw[max(0, position - 8) : position].rstrip()[-1:] not in PUNCTUATION
        and raw[after : after + 4].lstrip()[:1] not in PUNCTUATION
    ):
        writer.put("*", position)
    return after
