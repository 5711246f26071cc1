"""What is read once for all lines of a shape does not ask which digits a line has."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import weighbridge.auditing  # noqa: F401  (its modules hold the functions)
from weighbridge.auditing.text import component_words, settings, tokens
from weighbridge.auditing.text.memory import BY_SHAPE, shape_of

CORPUS = Path(__file__).parents[2] / "corpus"
LINES = sorted({line for name in ("audit_shapes.txt", "audit_true.txt") for line in (CORPUS / name).read_text("utf-8").split("\n")})
assert len(BY_SHAPE) > 3


def read_tokens(line: str) -> object:
    return tokens._read(line, 0)


def _without_digits(found: object) -> object:
    if isinstance(found, str):
        return shape_of(found)
    if isinstance(found, Fraction):
        return None
    return tuple(map(_without_digits, found)) if isinstance(found, tuple) else found


@pytest.mark.parametrize("read", [read_tokens, *BY_SHAPE], ids=lambda read: f"{read.__module__}.{read.__name__}")
def test_lines_of_one_shape_are_read_alike(read: Callable[..., object]) -> None:
    for line in LINES:
        shape = shape_of(line)
        if "0e" in shape or "0E" in shape or "0^0" in shape:
            continue
        stretch = (0, len(line)) if read.__name__ == "read_items" else ()
        assert _without_digits(read(line, *stretch)) == _without_digits(read(shape, *stretch)), line


def test_what_may_have_a_digit_in_its_name_is_read_as_written() -> None:
    assert [m.subject for m in component_words.find_components("fc1, then fc2, then fc3")] == ["up", "down"]
    for line in LINES:
        assert component_words.find_components(line) == component_words._components.__wrapped__(line.lower()), line
        assert settings.read_settings(line) == tuple(settings._settings(line)), line
