"""A shard of a census: some items, weighed by one pure function into one Parquet file, which is there whole or not at all."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from weighbridge import __version__
from weighbridge.config.read import parse_config
from weighbridge.core.errors import ReadError, WeighbridgeError
from weighbridge.core.messages import Text
from weighbridge.inventory.batch import rows_of_configs
from weighbridge.inventory.items import OTHER_CONFIGS, Item, described
from weighbridge.inventory.rows import row_of_checkpoint, row_of_config, row_of_directory
from weighbridge.inventory.schema import VERSION, Row, arrow_schema, failed
from weighbridge.readers.hub import place

FILES = 1_024
"""Files of one shard; a stretch of a table is a shard of its own."""
LARGEST_CONFIG = 64 << 20
"""Bytes of a config in an archive or a table, beyond which it is refused."""
IDS = ("id", "modelId", "model_id", "path", "name", "_id")
"""Columns of a table that say what a row is called."""


class Shard(NamedTuple):
    """Items that are weighed together, and the name of the part that they make."""

    name: str
    items: tuple[Item, ...]
    seconds: float


class Done(NamedTuple):
    """What a shard came to: its part, and rows by status."""

    name: str
    counts: dict[str, int]


def shards(found: Iterable[Item], seconds: float) -> Iterator[Shard]:
    """Cut items into shards, each named by what is in it and by the state of its files."""
    number = 0
    waiting: list[Item] = []
    for item in found:
        if item.kind in ("lines", "rows", "archive"):
            yield shard_of(number, (item,), seconds)
            number += 1
            continue
        waiting.append(item)
        if len(waiting) == FILES:
            yield shard_of(number, tuple(waiting), seconds)
            number += 1
            waiting = []
    if waiting:
        yield shard_of(number, tuple(waiting), seconds)


def shard_of(number: int, found: tuple[Item, ...], seconds: float) -> Shard:
    """Name a shard: the same items in the same state have the same name in every run."""
    digest = blake2b(json.dumps([VERSION, __version__, [described(item) for item in found]]).encode(), digest_size=8)
    return Shard(f"part-{number:06d}-{digest.hexdigest()}.parquet", found, seconds)


def halves(shard: Shard) -> tuple[Shard, ...]:
    """Cut a shard in two, to find which of its models ends the process that reads it; nothing is a shard of one model.

    >>> [half.items[0].end for half in halves(Shard("part-0.parquet", (Item("rows", "x.parquet", 0, 10),), 1))]
    [5, 10]
    """
    stem = shard.name.removesuffix(".parquet")
    found = shard.items
    if len(found) == 1:
        found = _split(found[0])
    if len(found) < 2:
        return ()
    middle = len(found) // 2
    return Shard(f"{stem}.0.parquet", found[:middle], shard.seconds), Shard(f"{stem}.1.parquet", found[middle:], shard.seconds)


def _split(item: Item) -> tuple[Item, ...]:
    """Cut a stretch of a table in two."""
    if item.kind == "rows" and item.end - item.line > 1:
        middle = (item.line + item.end) // 2
        return item._replace(end=middle), item._replace(line=middle)
    if item.kind == "lines":
        with open(item.path, "rb") as file:
            file.seek(item.start)
            lines = file.read(item.end - item.start).splitlines(keepends=True)
        if len(lines) > 1:
            half = lines[: len(lines) // 2]
            edge = item.start + sum(map(len, half))
            return item._replace(end=edge), item._replace(start=edge, line=item.line + len(half))
    return (item,)


def weigh_shard(shard: Shard, folder: str) -> Done:
    """Weigh a shard and write its part into *folder*; pure but for that, so that it runs anywhere."""
    return write_part(shard.name, list(_rows(shard)), folder)


def write_part(name: str, rows: list[Row], folder: str) -> Done:
    """Write rows to a part: under another name first, so that it is whole once it is there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(rows, schema=arrow_schema())
    target = os.path.join(folder, name)
    unfinished = f"{target}.{os.getpid()}.unfinished"
    try:
        pq.write_table(table, unfinished, compression="zstd")
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    return Done(name, dict(Counter(row["status"] for row in rows)))


def part_of_the_dead(shard: Shard, folder: str) -> Done:
    """Write the part of a shard whose one item ends every process that reads it."""
    return write_part(shard.name, [failed(_called(shard.items[0]), RuntimeError("the process that read it died"))], folder)


def _called(item: Item) -> str:
    """Return what the row of an item is called: a line or a row of a table by its number."""
    if item.kind == "lines":
        return f"{item.path}:{item.line}"
    return f"{item.path}:{item.start}:{item.line}" if item.kind == "rows" else item.path


def _rows(shard: Shard) -> Iterator[Row]:
    configs: list[tuple[str, dict[str, Any]]] = []
    for item in shard.items:
        if item.kind == "config":
            with _guarded(item.path, shard.seconds) as outcome:
                configs.append((item.path, _config_at(item.path)))
            yield from outcome
        else:
            yield from _weighed(item, shard.seconds)
    yield from _of_configs(configs, shard.seconds)


def _of_configs(configs: list[tuple[str, dict[str, Any]]], seconds: float) -> list[Row]:
    """Weigh configs together; if one of them holds up the others, each alone."""
    try:
        with _alarm(seconds + len(configs) / 100):
            return rows_of_configs(configs)
    except _TooSlowError:
        return [row for path, raw in configs for row in _config_alone(path, raw, seconds)]


def _config_alone(path: str, raw: dict[str, Any], seconds: float) -> list[Row]:
    found: list[Row] = []
    with _guarded(path, seconds) as outcome:
        found.append(row_of_config(raw, path))
    return found or outcome


def _weighed(item: Item, seconds: float) -> Iterator[Row]:
    if item.kind in ("lines", "rows", "archive"):
        configs: list[tuple[str, dict[str, Any]]] = []
        reader = {"lines": _lines, "rows": _table_rows, "archive": _members}[item.kind]
        with _guarded(item.path, 60 * seconds) as outcome:
            for entry in reader(item):
                if isinstance(entry, dict):
                    yield entry
                else:
                    configs.append(entry)
        yield from outcome
        yield from _of_configs(configs, seconds)
        return
    found: list[Row] = []
    with _guarded(item.path, seconds) as outcome:
        found.append(_one(item))
    yield from found
    yield from outcome


def _one(item: Item) -> Row:
    if item.kind == "unreadable":
        raise ReadError("cannot be read", path=item.path)
    if item.kind == "source":
        return _from_afar(item.path)
    path = Path(item.path)
    if item.kind == "directory":
        return row_of_directory(path, path / "config.json", item.path)
    return row_of_checkpoint(path, item.path)


def _from_afar(source: str) -> Row:
    """Weigh what an address or an id names: a folder with a config, a config, or a checkpoint."""
    path: Any = place(source)
    if not path.is_dir():
        return (
            rows_of_configs([(source, _parsed(path.read_bytes(), source))])[0]
            if path.suffix == ".json"
            else row_of_checkpoint(path, source)
        )
    config = path / "config.json"
    if not config.is_file():
        return row_of_checkpoint(path, source)
    return row_of_directory(path, config, source)


@contextmanager
def _guarded(path: str, seconds: float) -> Iterator[list[Row]]:
    """Turn whatever goes wrong inside into a row, and end what takes too long."""
    outcome: list[Row] = []
    try:
        with _alarm(seconds):
            yield outcome
    except _TooSlowError:
        outcome.append(failed(path, RuntimeError(f"took over {seconds:g} seconds")))
    except (WeighbridgeError, OSError) as error:
        outcome.append(failed(path, error))
    except MemoryError:
        outcome.append(failed(path, RuntimeError("took more memory than there is")))
    except Exception as error:  # a fault of ours must not lose the other rows
        outcome.append(failed(path, RuntimeError(f"internal fault: {type(error).__name__}: {error}")))


class _TooSlowError(Exception):
    """An item took longer than it may."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End what is inside after *seconds*, where the platform and the thread allow it."""

    def ring(*_: object) -> None:
        raise _TooSlowError

    try:
        before = signal.signal(signal.SIGALRM, ring)
    except (AttributeError, ValueError):  # no such signal here, or not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _config_at(path: str) -> dict[str, Any]:
    """Read a config of bounded size from an ordinary file."""
    state = os.stat(path)
    if not os.path.isfile(path):
        raise ReadError("no ordinary file", path=path)
    if state.st_size > LARGEST_CONFIG:
        raise ReadError(Text("{st_size:,} bytes are too many for a config", st_size=state.st_size), path=path)
    with open(path, "rb") as file:
        return _parsed(file.read(LARGEST_CONFIG), path)


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    return parse_config(data, name)


def _lines(item: Item) -> Iterator[Row | tuple[str, dict[str, Any]]]:
    """Yield the configs of a stretch of lines; a line is a config, or an object with one under ``config``."""
    with open(item.path, "rb") as file:
        file.seek(item.start)
        lines = file.read(item.end - item.start).split(b"\n")
    for number, line in enumerate(lines, item.line):
        if not line.strip():
            continue
        where = f"{item.path}:{number}"
        try:
            yield _entry(_parsed(line, where), where)
        except WeighbridgeError as error:
            yield failed(where, error)


def _entry(record: dict[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Return a record's config and what to call it."""
    inner = record.get("config")
    name = next((record[key] for key in IDS if isinstance(record.get(key), str) and record[key]), None) if inner is not None else None
    if isinstance(inner, str):
        inner = _parsed(inner.encode(), where)
    if isinstance(inner, dict):
        return (f"{where} {name}" if name else where), inner
    return where, record


def _table_rows(item: Item) -> Iterator[Row | tuple[str, dict[str, Any]]]:
    """Yield the configs of a row group: its column ``config``, as JSON text or as a struct."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(item.path)
    names = file.schema_arrow.names
    if "config" not in names:
        raise ReadError(f"no column config; it has {', '.join(names)}"[:300], path=item.path)
    named = next((name for name in IDS if name in names), None)
    table = file.read_row_group(item.start, columns=["config", *([named] if named else [])])
    for number, record in enumerate(table.slice(item.line, item.end - item.line).to_pylist(), item.line):
        where = f"{item.path}:{item.start}:{number}" + (f" {record[named]}" if named else "")
        config = record["config"]
        try:
            if config is None:
                raise ReadError("the config is null", path=where)
            yield where, _parsed(config.encode(), where) if isinstance(config, str) else _without_nulls(config)
        except WeighbridgeError as error:
            yield failed(where, error)


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is null: in a struct, a key that one config lacks is null there."""
    return {key: _without_nulls(value) if isinstance(value, dict) else value for key, value in record.items() if value is not None}


def _members(item: Item) -> Iterator[Row | tuple[str, dict[str, Any]]]:
    """Yield the configs in an archive; weights inside are not read."""
    for name, size, read in _opened(item.path):
        if not name.endswith("config.json") or os.path.basename(name) in OTHER_CONFIGS:
            continue
        where = f"{item.path}!{name}"
        try:
            if size > LARGEST_CONFIG:
                raise ReadError(Text("{size:,} bytes are too many for a config", size=size), path=where)
            yield where, _parsed(read(), where)
        except (WeighbridgeError, OSError) as error:
            yield failed(where, error)


def _unzipped(archive: ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return file.read(LARGEST_CONFIG)


def _opened(path: str) -> Iterator[tuple[str, int, Any]]:
    """Yield the members of a ZIP or TAR archive: name, size, and how to read one, bounded whatever the header says."""
    if path.lower().endswith(".zip"):
        from zipfile import BadZipFile

        try:
            with ZipFile(path) as archive:
                for info in archive.infolist():
                    yield info.filename, info.file_size, partial(_unzipped, archive, info.filename)
        except (BadZipFile, NotImplementedError, RuntimeError) as error:
            raise ReadError(Text("no ZIP archive that can be read: {error}", error=error), path=path) from None
        return
    from tarfile import TarError
    from tarfile import open as open_tar

    try:
        with open_tar(path) as tape:
            for entry in tape:
                file = tape.extractfile(entry) if entry.isfile() else None
                if file is not None:
                    yield entry.name, entry.size, partial(file.read, LARGEST_CONFIG)
    except (TarError, EOFError) as error:
        raise ReadError(Text("no TAR archive that can be read: {error}", error=error), path=path) from None
