"""Values of a config that must be known: what reads them, and refuses any other."""

from __future__ import annotations

from weighbridge.config.fields import Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def one_of(key: str, *known: str) -> Callable[[Any], str]:
    """Return what reads a word that must be one of those known."""

    def read(value: Any) -> str:
        if value not in known:
            expected = ", ".join(known)
            raise ConfigError(Text("expected one of {expected}, found {value!r:.60}", expected=expected, value=value), key=key, value=value)
        return str(value)

    return read


def read_none(key: str, *usual: Any) -> Field:
    """Declare a key that makes other tensors than are described, unless it is as *usual*."""

    def read(value: Any) -> None:
        if value not in (None, False, *usual):
            raise ConfigError(Text("{value!r:.60} is not described", value=value), key=key, value=value)

    return Field(key, key, None, "choice", read=read, report_default=False)


def read_true(key: str) -> Field:
    """Declare a switch without which there are other tensors than are described."""

    def read(value: Any) -> None:
        if value is not None and value is not True:
            raise ConfigError(Text("{value!r:.60} is not described", value=value), key=key, value=value)

    return Field(key, key, None, "choice", read=read, report_default=False)
