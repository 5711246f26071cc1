"""Text from files, shown as data: what a terminal, a page or a reader's eye would obey or not see is written out.

Names of tensors, keys of configs, paths and notes are somebody else's. An escape code in one of them could rewrite a terminal, a mark of
direction could make a line read backwards, and half a surrogate pair cannot be written at all. All three are shown as JSON writes them:
``\\u001b``, ``\\u202e``, ``\\udc80``.
"""

from __future__ import annotations

HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""The general categories of the Unicode standard (chapter 4.5) that are written out: controls, marks of format (those of direction among them),
private use, halves of surrogate pairs, and separators of lines."""

UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0" + "".join(map(chr, range(0xE0100, 0xE01F0))))
"""Letters and marks that no font draws (``Default_Ignorable_Code_Point`` of the standard's DerivedCoreProperties.txt, beyond the categories
above): two names that differ by one look alike. The selectors U+FE00 to U+FE0F, which make emoji of signs, are left."""

SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_visible(text: str) -> bool:
    """Tell whether every character of a text can be seen.

    >>> is_visible("嵌入层"), is_visible("a\u3164"), is_visible("a\x1b")
    (True, False, False)
    """
    return text.isprintable() and (text.isascii() or UNSEEN.isdisjoint(text))


def escape_invisible(text: str, keep: str = "") -> str:
    """Return *text* with every character that cannot be seen written out, but for those to *keep*.

    >>> escape_invisible("a\\x1b[2Jb\\u202e"), escape_invisible("嵌入层 ×"), escape_invisible("a\\nb", keep="\\n")
    ('a\\\\u001b[2Jb\\\\u202e', '嵌入层 ×', 'a\\nb')
    """
    if is_visible(text):
        return text
    return "".join(letter if (letter.isprintable() and letter not in UNSEEN) or letter in keep else _escape(letter) for letter in text)


def _escape(letter: str) -> str:
    from unicodedata import category

    if letter not in UNSEEN and category(letter) not in HIDDEN:
        return letter
    code = ord(letter)
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return SHORT.get(letter) or f"\\u{code:04x}"
