"""What the user typed, turned into a config: preset, path, standard input, dict.

A preset's name comes first, then what lies on disk; nothing is fetched and nothing is guessed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

from weighbridge.config.fields import did_you_mean
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, ReadError, SourceError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

PRESETS = os.path.join(os.path.dirname(__file__), "presets")
GOOGLE_KEYS = frozenset(
    """attention_probs_dropout_prob directionality hidden_act hidden_dropout_prob hidden_size initializer_range
    intermediate_size max_position_embeddings num_attention_heads num_hidden_layers pooler_fc_size
    pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type type_vocab_size vocab_size""".split()
)
"""The keys of ``bert_config.json`` in google-research/bert, which names no model type."""


class Preset(NamedTuple):
    """A published model's config values, with where they were published.

    Attributes:
        name: What one types.
        source: Where the values come from.
        hub: The Hub id, which may be typed as well.
        published: The parameter count its authors state, as they wrote it, or the empty string.
        config: The values that decide its tensors.
    """

    name: str
    source: str
    hub: str
    published: str
    config: dict[str, Any]


def preset(name: str) -> Preset | None:
    """Return the preset of this name or Hub id, or None.

    >>> preset("bert-base-chinese").config["vocab_size"]
    21128
    """
    if name not in _CACHE:
        needle = f'"{name}"'
        for text in _preset_files():
            if needle in text:
                _CACHE.update({key: found for found in _presets(text) for key in (found.name, found.hub) if key})
    return _CACHE.get(name)


def presets() -> Iterator[Preset]:
    """Yield all presets, file by file."""
    for text in _preset_files():
        yield from _presets(text)


_CACHE: dict[str, Preset] = {}


def _preset_files() -> Iterator[str]:
    """Yield the text of each file of presets; a name is looked for before anything is parsed."""
    for name in sorted(os.listdir(PRESETS)):
        if name.endswith(".json"):
            with open(os.path.join(PRESETS, name), encoding="utf-8") as file:
                yield file.read()


def _presets(text: str) -> Iterator[Preset]:
    for name, entry in json.loads(text).items():
        yield Preset(name, entry["source"], entry.get("hub", ""), entry.get("published", ""), entry["config"])


def read_config(path: Path | str) -> dict[str, Any]:
    """Read a JSON config from a file, or from what answers like a path.

    Raises:
        ReadError: The file cannot be read.
        ConfigError: It is no JSON object, repeats a key, or is nested without end.
    """
    try:
        if isinstance(path, str):
            with open(path, "rb") as file:
                return parse_config(file.read(), path)
        return parse_config(path.read_bytes(), str(path))
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=str(path)) from None


def parse_config(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a JSON config; duplicate keys are refused, since one of them would win silently.

    >>> parse_config(b'{"hidden_size": 768}', "<text>")
    {'hidden_size': 768}
    """
    try:
        raw = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 text (byte {error.start:,})") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ConfigError(f"{name} is nested too deep to be a config") from None
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{name} holds a number that is no size of any model: {error}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{name} holds {type(raw).__name__}, expected an object with the config's keys")
    return raw


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ConfigError("the key stands twice in one object", key=double, hint="keep one")
    return result


def standard_input() -> dict[str, Any]:
    """Read a JSON config from standard input."""
    return parse_config(sys.stdin.buffer.read(), "standard input")


def raw_config(source: str) -> tuple[dict[str, Any], str]:
    """Return the config that *source* names, as it stands, and what to call it.

    >>> raw_config("bert-base-chinese")[0]["vocab_size"]
    21128
    """
    from pathlib import Path

    if source == "-":
        return standard_input(), "standard input"
    found = preset(source)
    if found is not None:
        return found.config, source
    path = Path(source)
    if path.is_dir():
        path /= "config.json"
    if not path.is_file():
        raise not_found(source)
    return read_config(path), source


def not_found(source: str) -> SourceError:
    """Return the error for a source that is neither a preset nor a path, with the nearest names."""
    hint = did_you_mean(source, [entry.name for entry in presets()])
    if "/" in source or source.endswith((".json", ".safetensors")):
        return SourceError(f"{source}: no such file or directory", source=source)
    ways = (
        "a preset (weigh models lists them), a config.json, a directory, a checkpoint file, a Hub id, an address, or - for standard input"
    )
    return SourceError(f"{source}: no such preset or file; {hint or 'expected ' + ways}", source=source)


def model_type(raw: Mapping[str, Any]) -> str:
    """Return the model type a config states, or that its keys or class leave no doubt about.

    Raises:
        ConfigError: It states none and nothing else tells.

    >>> model_type({"model_type": "bert"}), model_type({"architectures": ["BertForMaskedLM"]})
    ('bert', 'bert')
    """
    from weighbridge.blueprints import model_type_of

    stated = raw.get("model_type")
    if isinstance(stated, str) and stated:
        return stated
    for name in architectures(raw):
        known = model_type_of(name)
        if known:
            return known
    keys = set(raw) - {"architectures", "model_type"}
    needed = {"type_vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}
    if needed <= keys <= GOOGLE_KEYS | {"num_labels", "id2label", "add_pooling_layer", "tie_word_embeddings"}:
        return "bert"
    raise ConfigError(
        "the config does not say what it is", key="model_type", hint='add "model_type", such as "bert", or name a class with --class'
    )


def architectures(raw: Mapping[str, Any]) -> list[str]:
    """Return the classes that a config names."""
    stated = raw.get("architectures")
    if stated is None:
        return []
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        raise ConfigError(f"expected a list of class names, found {stated!r:.60}", key="architectures", value=stated)
    return stated
