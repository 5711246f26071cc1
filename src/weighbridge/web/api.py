"""The HTTP API: each call is a command of the table that needs no file of this machine, and answers with its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weighbridge.commands.options import Arguments, Option
from weighbridge.commands.parse import default, read_value
from weighbridge.commands.table import TABLE, Command
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, language, mark
from weighbridge.designs.sweep import parse_range
from weighbridge.web.query import DEFAULT, MOST_COMPARED, Query, check_depth, check_names

CALLS = tuple(command for command in TABLE if command.api)
CONFIG = Option("config", mark("a config as JSON text, in place of source"))
MOST_FILES = {"sources": "models", "files": "text", "keys": "keys"}
"""What a list of arguments of the command line is called in an address: names with commas between them, one text."""
MOST_SWEPT = 20_000
"""The most combinations of a sweep."""


def options(call: Command) -> tuple[Option, ...]:
    """Return what a call takes: the command's options, but for those of the command line alone."""
    found: list[Option] = []
    for option in call.module.OPTIONS:
        if option.local or option.name in [known.name for known in found]:
            continue
        if option.many and not option.switch:
            option = option._replace(name=MOST_FILES[option.name], many=False)
        elif option.many and option.key != "set":
            option = option._replace(help=option.help.removesuffix("; may be repeated"))
        found += [option._replace(needed=False), CONFIG] if option.name == "source" else [option]
    return (*found, *getattr(call.module, "API_OPTIONS", ()))


def answer(call: Command, given: Mapping[str, Any]) -> Any:
    """Answer one call.

    Raises:
        WeighbridgeError: The question is invalid; the text says why.
    """
    for key, value in given.items():
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise UsageError(Text("{key}: expected a text or a number", key=key[:40]))
    flat = {key: value if isinstance(value, str) else "" if value is None else json.dumps(value) for key, value in given.items()}
    return call.module.answer(read_asked(call, flat)).json()


def read_asked(call: Command, given: Mapping[str, str]) -> Arguments:
    """Read what a call was given, by the options that it takes."""
    values: dict[str, Any] = {option.name: default(option) for option in call.module.OPTIONS}
    for option in options(call):
        text = given.get(option.key, "")
        if option.needed and not text.strip() and not (option.key == "set" and any(key.startswith("set.") for key in given)):
            raise UsageError(Text("{key}: missing; expected a text", key=option.key))
        values[option.name] = _value(option, text)
    values["overrides"] = [f"{key[4:]}={value}" for key, value in given.items() if key.startswith("set.") and value != ""]
    values["lang"] = language(given.get("lang") or "en")
    if "names" in values:
        values["checked"] = check_names
    if "models" in values:
        values["sources"] = _split_list(values["models"])
    if "keys" in values:
        values["keys"] = _names(values["keys"] or "")
    if "ranges" in values:
        values["ranges"], values["overrides"] = _ranges(values["overrides"]), []
    return Arguments(values, _open)


def _value(option: Option, text: str) -> object:
    if option.kind == "switch":
        if text not in ("", "true", "false"):
            raise UsageError(Text("{key}: expected true or false, found {value!r}", key=option.key, value=text[:40]))
        return text == "true"
    if option.many and option.key != "set":
        return [read_value(option, name, option.key) for name in _names(text)]
    return option.default if text == "" else read_value(option, text, option.key)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _ranges(pairs: list[str]) -> list[str]:
    """Return the ranges of a sweep, unless they are more than a request is answered with."""
    rows, spans = 1, {}
    for pair in pairs:
        key, _, text = pair.partition("=")
        values = parse_range(text, key)
        rows *= len(values)
        spans[key] = max(values)
    if rows > MOST_SWEPT:
        raise UsageError(Text("this server sweeps at most {most:,} combinations, these are {rows:,}", most=MOST_SWEPT, rows=rows))
    check_depth(spans)
    return pairs


def _split_list(text: str) -> list[str]:
    names = _names(text)
    if not 2 <= len(names) <= MOST_COMPARED:
        raise UsageError(Text("models: expected two to {most} names with commas between them", most=MOST_COMPARED))
    return names


def _open(wanted: Arguments, source: str | None) -> Any:
    """Open a source as a server does: nothing on its disk is read."""
    from weighbridge.commands.options import overrides

    values = wanted.__dict__
    alone = "sources" in values
    query = Query(
        source=source or values.get("source") or DEFAULT,
        config="" if alone else values.get("config") or "",
        class_name=values.get("class_name") or "",
        overrides=() if alone else tuple(overrides(values["overrides"]).items()),
    )
    found = query.model()
    if "checked" in values:
        values["checked"](found.tree)
    return found
