"""What errors say: where, what, the remedy; and the same facts as attributes."""

from __future__ import annotations

import pytest

from weighbridge.core.errors import ConfigError, ReadError, SourceError, UnknownArchitecture, UsageError, WeighbridgeError


def test_a_damaged_file_is_named_with_the_byte() -> None:
    error = ReadError("cut off", path="x.gguf", offset=1234)
    assert str(error) == "x.gguf: cut off (at byte 1,234)"
    assert (error.message, error.path, error.offset) == ("cut off", "x.gguf", 1234)
    assert str(ReadError("cut off")) == "cut off"
    assert str(ReadError("cut off", offset=0)) == "cut off (at byte 0)"
    assert str(ReadError("cut off", path="x.gguf")) == "x.gguf: cut off"


def test_a_configs_key_and_remedy_are_named() -> None:
    error = ConfigError("cannot be", key="text_config.hidden_size", value=3, hint="keep one")
    assert str(error) == "text_config.hidden_size: cannot be (keep one)"
    assert (error.message, error.key, error.value, error.hint) == ("cannot be", "text_config.hidden_size", 3, "keep one")
    assert str(ConfigError("cannot be")) == "cannot be"
    assert str(ConfigError("cannot be", hint="keep one")) == "cannot be (keep one)"
    assert str(ConfigError("cannot be", key="k")) == "k: cannot be"


def test_a_source_keeps_what_was_asked_for() -> None:
    error = SourceError("no such preset", source="brt", suggestions=("bert",))
    assert (str(error), error.source, error.suggestions) == ("no such preset", "brt", ("bert",))
    assert SourceError("none").suggestions == ()


@pytest.mark.parametrize("kind", [ReadError, ConfigError, UnknownArchitecture])
def test_what_is_wrong_with_a_value_is_a_value_error(kind: type[Exception]) -> None:
    assert issubclass(kind, (WeighbridgeError, ValueError))
    assert issubclass(kind, ValueError)
    assert not issubclass(UsageError, ValueError)
