"""The quick way to JSON gives what ``json`` gives: values, text, and every complaint."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import json_values
from weighbridge.core._json import encode, loads


@given(json_values)
def test_values_are_written_and_read_alike(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert "".join(encode(value)) == text
    assert repr(loads(text)) == repr(json.loads(text))
    assert repr(loads(f" \n\t{text}\r ")) == repr(json.loads(text))


def outcome(read: Any, text: str) -> object:
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return type(error), str(error)[:80]


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsnN\\u \n\ufeff', max_size=30) | st.text(max_size=8))
def test_what_is_no_json_is_refused_alike(text: str) -> None:
    assert outcome(loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a": 1} x', "\ufeff{}", "[" * 100_000, "1" * 5000, "NaN", "-Infinity", '{"a": 1, "a": 2}']
)
def test_corners(text: str) -> None:
    assert outcome(loads, text) == outcome(json.loads, text)


def test_pairs_are_handed_on() -> None:
    assert loads('{"a": 1, "a": {"b": 2}}', list) == [("a", 1), ("a", [("b", 2)])]


def test_what_json_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        encode({"a": {1, 2}})
