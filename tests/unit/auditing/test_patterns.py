"""Patterns that are searched in lower case find what their expressions find in any case."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import weighbridge.auditing  # noqa: F401  (its modules hold the patterns)
from weighbridge.auditing.patterns import any_word, pattern

CORPUS = Path(__file__).parents[2] / "corpus" / "audit_shapes.txt"


def _patterns() -> Iterator[tuple[str, re.Pattern[str], str]]:
    for name, module in list(sys.modules.items()):
        if name.startswith("weighbridge.auditing"):
            for key, value in vars(module).items():
                if type(value) is type(any_word("a")):
                    yield f"{name}.{key}", value, value._text  # type: ignore[attr-defined]


PATTERNS = {name: (found, text) for name, found, text in _patterns()}
assert PATTERNS


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_words_are_found_where_the_expression_finds_them(name: str) -> None:
    found, text = PATTERNS[name]
    plain = re.compile(text, re.IGNORECASE)
    lines = CORPUS.read_text("utf-8").split("\n")
    lines += [line.upper() for line in lines[::7]]
    for line in lines:
        expected, ours = plain.search(line), found.search(line)
        assert (expected and expected.span()) == (ours and ours.span()), line


def test_words_of_one_letter_are_tried_together_and_keep_their_ends() -> None:
    found = any_word(r"\b(?:our|ours|per (?:node|gpu)|w/(?!o))\b|约|e\.g")
    assert [m.span() for m in found.finditer("Our 12, per GPU; ours, E.G 约, hours, w/o")] == [
        (0, 3),
        (8, 15),
        (17, 21),
        (23, 26),
        (27, 28),
    ]


def test_what_no_expression_has_is_no_attribute_of_a_pattern() -> None:
    assert not hasattr(pattern("a"), "__wrapped__")
    assert not hasattr(any_word("a"), "__wrapped__")
    assert pattern("(a)b").groups == 1
