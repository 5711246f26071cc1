"""What cannot be seen is written as JSON writes it, and everything else is left alone."""

from __future__ import annotations

import json
import random
import unicodedata

import pytest

from weighbridge.core.escape import escape_invisible


def test_every_hidden_character_is_written_as_json_writes_it() -> None:
    """Controls, marks of direction, private use, separators, tags beyond the first plane: all of them, held to ``json``."""
    chance = random.Random(7)
    codes = [*range(0x20), 0x7F, 0x85, 0xAD, 0x200B, 0x2028, 0x2029, 0x202E, 0xE000, 0xFEFF, 0xE0001, 0xE007F, 0xF0000, 0x10FFFD, 0x1D173]
    codes += [
        code
        for code in (chance.randrange(0x110000) for _ in range(3000))
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Co", "Zl", "Zp")
    ]
    assert len(codes) > 200
    for letter in map(chr, codes):
        written = json.dumps(letter)[1:-1]
        if letter in "\b\f\x7f":
            written = f"\\u{ord(letter):04x}"
        assert escape_invisible(f"a{letter}b") == f"a{written}b", hex(ord(letter))


@pytest.mark.parametrize("text", ["", "plain text", "嵌入层 ×", "é 😀", "a b"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert escape_invisible(text) == text


def test_spaces_of_other_widths_and_what_is_to_be_kept_stay() -> None:
    assert escape_invisible("1\u2009234\u202f567\u00a0x") == "1\u2009234\u202f567\u00a0x"
    assert escape_invisible("a\nb\tc", keep="\n") == "a\nb\\tc"
    assert escape_invisible("\udc80") == "\\udc80"
