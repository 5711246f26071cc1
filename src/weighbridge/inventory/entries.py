"""The configs in one file of many: lines of JSON, the rows of a table, an archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple
from zipfile import ZipFile

from weighbridge.config.read import parse_config
from weighbridge.core.errors import ReadError, WeighbridgeError
from weighbridge.core.files import open_file
from weighbridge.core.messages import Text
from weighbridge.inventory.items import OTHER_CONFIGS, Item
from weighbridge.inventory.schema import Row, failure_row
from weighbridge.inventory.years import STATED, stated_year, year_at

LARGEST_CONFIG = 64 << 20
"""Bytes of a config in an archive or a table, beyond which it is refused."""
IDS = ("id", "modelId", "model_id", "path", "name", "_id")
"""Columns of a table that say what a row is called."""


CLAIMS = ("total_parameters", "num_parameters", "n_parameters", "parameters", "params")
"""Columns of a table that say how many parameters a model has; so does ``safetensors.total``, as the Hub's API gives it."""


class Entry(NamedTuple):
    """A config out of a table or an archive: what its row is called, the parameters and the year that its record states, and from where."""

    path: str
    config: dict[str, Any]
    claimed: int | None = None
    year: int | None = None
    year_from: str = "record"


def _lines(item: Item) -> Iterator[Row | Entry]:
    """Yield the configs of a stretch of lines; a line is a config, or an object with one under ``config``."""
    with open(item.path, "rb") as file:
        file.seek(item.start)
        lines = file.read(item.end - item.start).split(b"\n")
    for number, line in enumerate(lines, item.line):
        if not line.strip():
            continue
        where = f"{item.path}:{number}"
        try:
            yield _entry(parse_config(line, where), where)
        except WeighbridgeError as error:
            yield failure_row(where, error)


def _entry(record: dict[str, Any], where: str) -> Entry:
    """Return a record's config, what to call it, and how many parameters it says that there are."""
    inner = record.get("config")
    name = next((record[key] for key in IDS if isinstance(record.get(key), str) and record[key]), None) if inner is not None else None
    if isinstance(inner, str):
        inner = parse_config(inner.encode(), where)
    if isinstance(inner, dict):
        return Entry(f"{where} {name}" if name else where, inner, _stated_parameters(record), stated_year(record))
    return Entry(where, record)


def _stated_parameters(record: Mapping[str, Any]) -> int | None:
    """Return the parameters that a record states beside its config: in a column of its own, or as the Hub's API does."""
    stated = [record.get(key) for key in CLAIMS]
    if isinstance(record.get("safetensors"), dict):
        stated.append(record["safetensors"].get("total"))
    return next((value for value in stated if type(value) is int and value > 0), None)


def _table_rows(item: Item) -> Iterator[Row | Entry]:
    """Yield the configs of a row group: its column ``config``, as JSON text or as a struct."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(item.path)
    names = file.schema_arrow.names
    if "config" not in names:
        raise ReadError(Text("no column config; it has {names:.250}", names=", ".join(names)), path=item.path)
    named = next((name for name in IDS if name in names), None)
    claims = [name for name in (*CLAIMS, "safetensors", *STATED) if name in names]
    table = file.read_row_group(item.start, columns=["config", *([named] if named else []), *claims])
    for number, record in enumerate(table.slice(item.line, item.end - item.line).to_pylist(), item.line):
        where = f"{item.path}:{item.start}:{number}" + (f" {record[named]}" if named else "")
        config = record["config"]
        try:
            if config is None:
                raise ReadError("the config is null", path=where)
            raw = parse_config(config.encode(), where) if isinstance(config, str) else _without_nulls(config)
            yield Entry(where, raw, _stated_parameters(record), stated_year(record))
        except WeighbridgeError as error:
            yield failure_row(where, error)


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is null: in a struct, a key that one config lacks is null there."""
    return {key: _without_nulls(value) if isinstance(value, dict) else value for key, value in record.items() if value is not None}


def _members(item: Item) -> Iterator[Row | Entry]:
    """Yield the configs in an archive; weights inside are not read."""
    for name, size, year, read in _open_archive(item.path):
        if not name.endswith("config.json") or name.endswith(OTHER_CONFIGS):
            continue
        where = f"{item.path}!{name}"
        try:
            if size > LARGEST_CONFIG:
                raise ReadError(Text("{size:,} bytes are too many for a config", size=size), path=where)
            yield Entry(where, parse_config(read(), where), None, year, "file")
        except (WeighbridgeError, OSError) as error:
            yield failure_row(where, error)


def _unzip(archive: ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return file.read(LARGEST_CONFIG)


def _open_archive(path: str) -> Iterator[tuple[str, int, int, Any]]:
    """Yield the members of a ZIP or TAR archive: name, size, year, and how to read one, bounded whatever the header says."""
    if path.lower().endswith(".zip"):
        from zipfile import BadZipFile

        try:
            with open_file(path) as file, ZipFile(file) as archive:
                for info in archive.infolist():
                    yield info.filename, info.file_size, info.date_time[0], partial(_unzip, archive, info.filename)
        except (BadZipFile, NotImplementedError, RuntimeError) as error:
            raise ReadError(Text("not a readable ZIP archive: {error}", error=error), path=path) from None
        return
    from tarfile import TarError
    from tarfile import open as open_tar

    try:
        with open_file(path) as file, open_tar(fileobj=file) as tape:
            for entry in tape:
                inner = tape.extractfile(entry) if entry.isfile() else None
                if inner is not None:
                    yield entry.name, entry.size, year_at(entry.mtime), partial(inner.read, LARGEST_CONFIG)
    except (TarError, EOFError) as error:
        raise ReadError(Text("not a readable TAR archive: {error}", error=error), path=path) from None


ENTRIES: dict[str, Callable[[Item], Iterator[Row | Entry]]] = {"lines": _lines, "rows": _table_rows, "archive": _members}
"""What yields them, by the kind of an item; an entry that cannot be read is a row of its own already."""
