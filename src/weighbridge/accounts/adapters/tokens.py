"""Trainable tokens: some rows of a table are trained, beside another adapter or alone.

Source: huggingface/peft 0.21.2, utils/other.py (set_additional_trainable_modules, TrainableTokensWrapper),
tuners/trainable_tokens/layer.py and model.py
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.sites import AddedTensor, Site, site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any


def trainable_rows(base: Base, config: Mapping[str, Any], adapted_paths: Collection[str]) -> Iterator[AddedTensor]:
    """Yield the rows that ``trainable_token_indices`` trains beside another adapter.

    Raises:
        UsageError: A table that is not there, or is adapted or saved whole already.
    """
    stated = config.get("trainable_token_indices")
    if stated is None:
        return
    wanted: dict[str, Any] = stated if isinstance(stated, dict) else {base.input_embedding or "embed_tokens": stated}
    for name in wanted:
        if name in config["modules_to_save"]:
            raise UsageError(Text("{name}: saved whole (modules_to_save), so its rows cannot be trained separately", name=name))
    tied = base.ties
    skipped = _tables_to_skip(base, config, wanted) if len(wanted) > 1 and tied else set()
    for name, rows in wanted.items():
        if name not in skipped:
            yield from _rows(base, name, rows, adapted_paths)
        elif any(path.endswith(name) and path in adapted_paths for path in base.modules):
            raise UsageError(Text("{path}: its rows cannot be trained separately: it is adapted already, or is not a table", path=name))


def wrapped_tables(base: Base, config: Mapping[str, Any]) -> frozenset[str]:
    """Return the tables that the library wraps to train some of their rows: those that are named, and what is tied to the input table.

    A copy of such a table (``modules_to_save``) lies inside the wrapper, so that it is kept in the adapter's type, not the base's.
    """
    stated = config.get("trainable_token_indices")
    if stated is None:
        return frozenset()
    names = tuple(stated) if isinstance(stated, dict) else (base.input_embedding or "embed_tokens",)
    named = frozenset(path for path in base.modules if path.endswith(names))
    return named | frozenset(base.tied if base.ties and base.input_embedding in named else ())


def _tables_to_skip(base: Base, config: Mapping[str, Any], wanted: Mapping[str, Any]) -> set[str]:
    """Return the tables that follow the one they are tied to: those of tied tables that train the same rows."""
    assert base.input_embedding is not None
    keys = [
        name
        for name in wanted
        if base.input_embedding.endswith(name) or any(path.endswith(name) or name in path.split(".") for path in base.tied)
    ]
    mismatched = len(keys) > 1 and any(wanted[name] != wanted[keys[0]] for name in keys)
    if mismatched and config.get("ensure_weight_tying"):
        raise UsageError("trainable_token_indices: tied tables must train the same rows where ensure_weight_tying is on")
    return set(keys) & set(base.tied) if len(keys) > 1 and not mismatched else set()


def _rows(base: Base, name: str, rows: object, adapted_paths: Collection[str]) -> Iterator[AddedTensor]:
    count = _number(rows)
    found = [path for path in base.modules if path.endswith(name)]
    if not found:
        raise UsageError(Text("trainable_token_indices: no module {name}", name=name))
    for path in found:
        place = site(base, base.modules[path])
        if path in adapted_paths or place.kind not in ("embedding", "linear"):
            raise UsageError(Text("{path}: its rows cannot be trained separately: it is adapted already, or is not a table", path=path))
        yield AddedTensor(f"{path}.token_adapter.trainable_tokens_delta", (count, _width(place)))


def _number(rows: object) -> int:
    if not isinstance(rows, list) or not all(type(row) is int for row in rows):
        raise ConfigError("expected a list of token ids", key="trainable_token_indices", value=rows)
    return len(rows)


def tokens(sites: list[Site], config: Mapping[str, Any], base: Base) -> Iterator[AddedTensor]:
    """Yield the trained rows of each table; what is tied to the input table follows it, and saves its rows once more."""
    count, paths = _number(config.get("token_indices")), {place.path: place for place in sites}
    tied = base.tied if base.ties and base.input_embedding in paths else ()
    for place in sites:
        yield AddedTensor(f"{place.path}.trainable_tokens_delta", (count, _width(place)))
    for path in tied:
        name = f"{path}.outer" if path in paths else path
        yield AddedTensor(f"{name}.trainable_tokens_delta", (count, _width(site(base, base.modules[path]))), parameter=False)


def _width(place: Site) -> int:
    return place.outputs if place.kind == "embedding" else place.inputs
