"""A config as it is written: JSON from a file, from bytes, from standard input."""

from __future__ import annotations

import os
import sys

from weighbridge.config.arguments import MARK, parse_arguments
from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError, UsageError
from weighbridge.core.files import read_bounded, read_pipe, read_whole
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


CONFIG_NAMES = ("config.json", "bert_config.json", "open_clip_config.json")
"""What the config of a directory is called: in the reference library, in google-research/bert, and in open_clip."""

QUANTIZER = "hf_quant_config.json"
"""What ModelOpt calls the file in which it says how it quantized, which is also all it said until 2025."""


def find_config(directory: Path) -> Path | None:
    """Return the config of a directory, the first of :data:`CONFIG_NAMES` that is a file, or None.

    Where there is none, a ``config.json`` that is something else (a pipe, a broken link) is returned: reading it tells what it is.

    >>> from pathlib import Path
    >>> find_config(Path("no/such/directory")) is None
    True
    """
    found = next((directory / name for name in CONFIG_NAMES if (directory / name).is_file()), None)
    on_disk = hasattr(directory, "lstat")  # a folder of a server has none, and says itself what it holds
    if found is None and on_disk and os.path.lexists(directory / CONFIG_NAMES[0]):
        return directory / CONFIG_NAMES[0]
    return found


def read_config(path: Path | str) -> dict[str, Any]:
    """Read a JSON config from a file, or from what answers like a path; a file of ModelOpt's beside it on this disk says how it is quantized.

    Raises:
        ReadError: The file cannot be read.
        ConfigError: It is no JSON object, repeats a key, or is nested without end.
    """
    try:
        found = parse_config(read_whole(path), str(path))
        beside = os.path.join(os.path.dirname(str(path)), QUANTIZER)
        if found.get("quantization_config") is not None or os.path.basename(str(path)) != CONFIG_NAMES[0] or not os.path.isfile(beside):
            return found
        return with_quantizer(found, parse_config(read_whole(beside), beside))
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(path)) from None


def with_quantizer(config: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    """Return a config with what ``hf_quant_config.json`` says, as ModelOpt itself writes it into newer configs.

    >>> said = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    >>> with_quantizer({"model_type": "llama"}, said)["quantization_config"]["quant_algo"]
    'FP8'
    """
    stated = beside.get("quantization")
    if not isinstance(stated, dict) or not stated.get("quant_algo"):
        return config
    producer = {"producer": beside["producer"]} if "producer" in beside else {}
    return {**config, "quantization_config": {"quant_method": "modelopt", **producer, **stated}}


def config_text(path: Path | str) -> str:
    """Read the text of a config that is no JSON.

    Raises:
        ReadError: The file cannot be read.
        ConfigError: It is not UTF-8.
    """
    try:
        return read_whole(path).decode("utf-8-sig")
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(path)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(Text("{name} is not UTF-8 text (byte {start:,})", name=str(path), start=error.start)) from None


def read_piped_config(path: str) -> dict[str, Any]:
    """Read a JSON config from a pipe or a device that was named as the source, such as ``<(...)``.

    Raises:
        ReadError: It cannot be read, or does not end.
    """
    try:
        return parse_config(read_pipe(path), path)
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=path) from None


def parse_config(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a JSON config; duplicate keys are refused, since one of them would win silently.

    >>> parse_config(b'{"hidden_size": 768}', "<text>")
    {'hidden_size': 768}
    """
    if not data.strip():
        raise ConfigError(Text("{name} is empty; expected a config as a JSON object", name=name))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or (data[1:2] == b"\0" or data[:1] == b"\0"):
        raise ConfigError(Text("{name} is UTF-16 text; save it as UTF-8", name=name))
    try:
        text = data.decode("utf-8-sig")
        if MARK in text and not text.lstrip().startswith("{"):
            return parse_arguments(text)
        raw = loads(text, _unique_keys)
    except UnicodeDecodeError as error:
        raise ConfigError(Text("{name} is not UTF-8 text (byte {start:,})", name=name, start=error.start)) from None
    except RecursionError:
        raise ConfigError(Text("{name} is nested too deep to be a config", name=name)) from None
    except ConfigError:
        raise
    except ValueError as error:
        if text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
            raise ConfigError(Text("{name} is a web page, in place of a config; fetch the file itself", name=name)) from None
        if hasattr(error, "lineno"):  # only json.JSONDecodeError has one; importing json to name it would cost more than the rest
            where = {"line": error.lineno, "column": error.colno}  # type: ignore[attr-defined]
            what = Text(error.msg)  # type: ignore[attr-defined]
            raise ConfigError(Text("{name} is not JSON: {what} at line {line}, column {column}", name=name, what=what, **where)) from None
        raise ConfigError(Text("{name} holds a number that is no size of any model: {error}", name=name, error=error)) from None
    if not isinstance(raw, dict):
        raise ConfigError(
            Text("{name} holds {what}, expected an object with the config's keys", name=name, what=Text(KINDS.get(type(raw), "a value")))
        )
    return raw


JSON_ERRORS = (
    mark("Expecting value"),
    mark("Expecting property name enclosed in double quotes"),
    mark("Expecting ',' delimiter"),
    mark("Expecting ':' delimiter"),
    mark("Unterminated string starting at"),
    mark("Extra data"),
)
"""What the standard library says of a text that is no JSON, for the catalogue."""

KINDS = {
    list: mark("a list"),
    str: mark("a string"),
    int: mark("a number"),
    float: mark("a number"),
    bool: mark("true or false"),
    type(None): mark("null"),
}
"""What a JSON text may hold in place of an object."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ConfigError("the key occurs twice in one object", key=double, hint="keep one")
    return result


def standard_input() -> dict[str, Any]:
    """Read a JSON config from standard input."""
    if sys.stdin is None:
        raise UsageError(Text("standard input is closed"))
    try:
        return parse_config(read_bounded(sys.stdin.buffer), "standard input")
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path="standard input") from None
