"""Fields of a config that its model type does not have: one that is nearly another's name is most likely a typing error."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from weighbridge.config.fields import Field
from weighbridge.core.errors import ConfigError
from weighbridge.core.escape import escape_invisible
from weighbridge.core.messages import Text, translator
from weighbridge.core.suggestions import did_you_mean
from weighbridge.value import ModelValue

MOST = 100
"""Fields that are looked at; a config with more of them that nobody knows has more than one typing error."""


def look_at(model: ModelValue, *, strict: bool = False, lang: str = "en") -> None:
    """Warn of fields that are spelled nearly as another; with *strict*, refuse any that is not known.

    Raises:
        ConfigError: *strict*, and a field is not known.
    """
    if model.description is None:
        return
    known = list(dict.fromkeys(_keys(model.description.family.fields)))
    longest = max(map(len, known), default=0) + 10
    for key in model.unknown[:MOST]:
        name = key.rpartition(".")[2]
        near = did_you_mean(name, known) if len(name) <= longest else ""
        text = Text("{model_type} has no such field", model_type=model.model_type)
        if strict:
            raise ConfigError(text, key=key, hint=near or Text("see weigh count --json: unknown"))
        if near and sys.stderr is not None:
            say = translator(lang)
            line = say("warning: {key}: {what}, so it is ignored; {hint}").format(key=key, what=say(text), hint=say(near))
            print(f"weigh: {escape_invisible(line)}", file=sys.stderr)


def _keys(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        yield from (name for name in (field.key, *field.aliases) if name)
        yield from _keys(field.fields)
