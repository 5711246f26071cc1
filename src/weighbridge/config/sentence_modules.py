"""``modules.json`` of sentence-transformers: which modules follow one another, and the config of each.

Source: sentence-transformers 6.2.0, base/model.py: a list of objects with name, path (a folder beside it) and type (a class).
"""

from __future__ import annotations

from weighbridge.config.read import parse_config, read_config
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.files import is_file_name, read_whole
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

MOST_MODULES = 100


class SentenceModule(NamedTuple):
    """One entry of ``modules.json``.

    Attributes:
        name: Under which the sequence holds it.
        kind: Its class, without the package.
        config: What its own ``config.json`` says; empty for the first, whose config is the model's.
    """

    name: str
    kind: str
    config: dict[str, Any]


def read_modules(folder: Path) -> tuple[SentenceModule, ...]:
    """Read which modules a directory lists, and their configs; none where it lists none.

    Raises:
        ConfigError: What is no list of modules, or names a folder that is not beside it.
        ReadError: A file that cannot be read.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return ()
    listed = parse_config(b'{"modules":' + read_whole(path) + b"}", str(path))["modules"]  # a list, where all other configs are objects
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_MODULES or not all(isinstance(entry, dict) for entry in listed):
        raise ConfigError(Text("expected a list of up to {most} modules", most=MOST_MODULES), key="modules.json")
    return tuple(_module(folder, entry, index) for index, entry in enumerate(listed))


def _module(folder: Path, entry: dict[str, Any], index: int) -> SentenceModule:
    name, kind, place = (entry.get(key, default) for key, default in (("name", str(index)), ("type", ""), ("path", "")))
    if not all(isinstance(value, str) for value in (name, kind, place)) or not kind:
        raise ConfigError("expected name, path and type", key=f"modules.json.{index}", value=entry)
    if place and not is_file_name(place):
        raise ConfigError("expected a folder beside modules.json", key=f"modules.json.{index}.path", value=place)
    own = folder / place / "config.json"
    return SentenceModule(name, kind.rpartition(".")[2], read_config(own) if index and place and own.is_file() else {})
