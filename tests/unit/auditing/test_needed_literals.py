"""What must stand in a text for an expression to match is read off the expression, and never asks for more than it does."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import weighbridge.auditing  # noqa: F401  (its modules hold the patterns)
from weighbridge.auditing.needed_literals import asks_first, needed_literals
from weighbridge.auditing.patterns import pattern

CORPUS = Path(__file__).parents[2] / "corpus" / "audit_shapes.txt"
LINES = CORPUS.read_text("utf-8").split("\n")
LINES += [line.upper() for line in LINES[::7]]


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, module in sorted(sys.modules.items()):
        if name.startswith("weighbridge.auditing"):
            for key, value in vars(module).items():
                if type(value) is type(pattern("a")):
                    text = value._text if isinstance(value._text, str) else value._text()  # type: ignore[attr-defined]
                    yield f"{name}.{key}", re.compile(text, value._flags)  # type: ignore[attr-defined]


PATTERNS = list(_patterns())
ASKED_FIRST = [(name, found) for name, found in PATTERNS if needed_literals(found.pattern, found.flags)]
assert len(ASKED_FIRST) > 300


@pytest.mark.parametrize("part", range(8))
def test_a_line_without_the_literals_of_a_pattern_has_no_match(part: int) -> None:
    for name, found in ASKED_FIRST[part::8]:
        search = asks_first(found)["search"]
        literals = needed_literals(found.pattern, found.flags)
        for line in LINES[part::8]:
            match = found.search(line)
            assert match is None or search(line) is not None, (name, literals, line)


@pytest.mark.parametrize(
    ("expression", "flags", "needed"),
    [
        (r"\b(?:more|less) as\b", 0, ("more", "less")),
        (r"(?:a|b)?\d+ layers?", 0, (" layer",)),
        (r"(?i:Over) \d", 0, ()),
        (r"(?:more|\d) than", 0, (" than",)),
        (r"(?:约|大约)+\d", re.IGNORECASE, ("约",)),
        (r"(?=.*flop)\d", re.IGNORECASE, ("flop",)),
        (r"(?!flop)\d", 0, ()),
        (r"(?<=flop)\d", 0, ()),
        (r"[=≈]\s?\d", 0, ("=", "≈")),
        (r"(?:flop)*\d", 0, ()),
        (r"(?:flop|)\d", 0, ()),
        (r"[^a]\d", 0, ()),
        ("é ", re.IGNORECASE, ()),
    ],
)
def test_what_an_expression_needs(expression: str, flags: int, needed: tuple[str, ...]) -> None:
    assert needed_literals(expression, flags) == needed


def test_letters_that_are_one_only_where_case_is_ignored_are_found() -> None:
    often = pattern(r"\b(?:skip|list) \d", re.IGNORECASE)
    for _ in range(300):
        assert often.search("12 layers") is None
    lines = ("SKIP 1", "ſkip 1", "sKip 1", "lıst 1", "LİST 1", "Liſt 1", "skip")
    plain = re.compile(r"\b(?:skip|list) \d", re.IGNORECASE)
    assert [often.search(line) is None for line in lines] == [plain.search(line) is None for line in lines]
    assert often.sub("", "SKIP 12") == "2"
    assert often.split("a list 1b") == ["a ", "b"]
    assert often.findall("list 1, skip 2") == ["list 1", "skip 2"]
    assert [found.span() for found in often.finditer("list 1")] == [(0, 6)]
