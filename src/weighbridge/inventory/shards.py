"""A shard of a census: some items, counted by one pure function and written atomically to one Parquet file."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from weighbridge import __version__
from weighbridge.config.read import parse_config
from weighbridge.core.collector import CollectorPaused
from weighbridge.core.errors import ReadError, WeighbridgeError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.inventory.alarm import TooSlowError, alarm, answering_alarms, set_alarm
from weighbridge.inventory.batch import NamedConfig, rows_of_configs
from weighbridge.inventory.entries import ENTRIES, Entry
from weighbridge.inventory.items import Item, identity
from weighbridge.inventory.rows import row_of_checkpoint, row_of_config, row_of_directory, with_claim
from weighbridge.inventory.schema import VERSION, Row, arrow_schema, failure_row
from weighbridge.inventory.years import year_at
from weighbridge.readers.formats import import_readers
from weighbridge.readers.hub import place
from weighbridge.readers.objects import import_client, is_object
from weighbridge.readers.remote import TransientError

FILES = {"config": 16_384, "source": 64}
"""Items of one shard, by kind: configs are quickest together, and what is far away is slow. A stretch of a table is a shard of its own."""
OTHERS = 1_024
"""Items of one shard of any other kind."""
ALONE = tuple(ENTRIES)
"""Kinds of items that are a shard each."""
AT_ONCE = 16
"""Items far away that one process reads at a time."""


class Shard(NamedTuple):
    """Items that are weighed together, and the name of the part that they make."""

    name: str
    items: tuple[Item, ...]
    seconds: float


class ShardResult(NamedTuple):
    """What a shard came to: its part, and rows by status."""

    name: str
    counts: dict[str, int]


def shards(found: Iterable[Item], seconds: float) -> Iterator[Shard]:
    """Cut items into shards, each named by what is in it and by the state of its files.

    Besides being full, a shard ends at certain paths: so a file that comes or goes changes its own shard, and not all that follow.
    """
    waiting: dict[str, list[Item]] = {}
    for item in found:
        together = waiting.setdefault(item.kind, [])
        together.append(item)
        most = 1 if item.kind in ALONE else FILES.get(item.kind, OTHERS)
        if len(together) == most or (4 * len(together) >= 3 * most and 2 * crc32(os.fsencode(item.path)) % most < 2):
            yield shard_of(tuple(together), seconds)
            together.clear()
    yield from (shard_of(tuple(together), seconds) for together in waiting.values() if together)


def shard_of(found: tuple[Item, ...], seconds: float) -> Shard:
    """Name a shard: the same items in the same state have the same name in every run."""
    digest = blake2b(json.dumps([VERSION, __version__, [identity(item) for item in found]]).encode(), digest_size=8)
    return Shard(f"part-{digest.hexdigest()}.parquet", found, seconds)


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
        return item._replace(end=middle, rows=middle - item.line), item._replace(line=middle, rows=item.end - middle)
    if item.kind == "lines":
        with open(item.path, "rb") as file:
            file.seek(item.start)
            lines = file.read(item.end - item.start).splitlines(keepends=True)
        if len(lines) > 1:
            half = lines[: len(lines) // 2]
            edge = item.start + sum(map(len, half))
            first = item._replace(end=edge, rows=len(half))
            return first, item._replace(start=edge, line=item.line + len(half), rows=len(lines) - len(half))
    return (item,)


def weigh_shard(shard: Shard, folder: str) -> ShardResult:
    """Weigh a shard and write its part into *folder*; pure but for that, so that it runs anywhere."""
    with CollectorPaused():
        with answering_alarms():
            rows = list(_rows(shard))
        return write_part(shard.name, rows, folder)


def write_part(name: str, rows: list[Row], folder: str) -> ShardResult:
    """Write rows to a part atomically: to a temporary name, then renamed."""
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
    return ShardResult(name, dict(Counter(row["status"] for row in rows)))


def part_of_the_dead(shard: Shard, folder: str) -> ShardResult:
    """Write the part of a shard whose one item ends every process that reads it."""
    return write_part(shard.name, [failure_row(_row_path(shard.items[0]), RuntimeError("the process that read it died"))], folder)


def _row_path(item: Item) -> str:
    """Return what the row of an item is called: a line or a row of a table by its number."""
    if item.kind == "lines":
        return f"{item.path}:{item.line}"
    return f"{item.path}:{item.start}:{item.line}" if item.kind == "rows" else item.path


def _rows(shard: Shard) -> Iterator[Row]:
    """Yield the rows of a shard; configs in files of their own are read first, and weighed together."""
    if shard.items[0].kind == "source":
        yield from _from_afar_together(shard.items, shard.seconds)
        return
    configs: list[NamedConfig] = []
    for item in shard.items:
        if item.kind != "config":
            yield from _weigh(item, shard.seconds)
            continue
        try:  # as _guarded does; spelt out, since two context managers take as long as reading the file
            set_alarm(shard.seconds)
            configs.append((item.path, _config_at(item.path)))
        except Exception as error:
            set_alarm(0)
            yield _failure(item.path, error, shard.seconds)
    set_alarm(0)
    yield from (_with_file_year(row, row["path"]) for row in _of_configs(configs, shard.seconds))


def _from_afar_together(found: tuple[Item, ...], seconds: float) -> Iterator[Row]:
    """Count remote items several at a time, since most of the time is spent waiting for a server.

    What a busy moment of the server, the network or this process may have cost is asked for once more at the end, alone, until *seconds* have gone.
    A thread cannot be stopped; what takes too long gets its row, and its thread is left to the time limits of the client.
    """
    _import_ahead(found)
    answers = list(_answers(found, AT_ONCE, seconds))
    ends = time.monotonic() + seconds
    for at, answer in enumerate(answers):
        if isinstance(answer, Exception) and _may_pass(answer) and time.monotonic() < ends:
            answers[at] = next(_answers(found[at : at + 1], 1, seconds))
    for item, answer in zip(found, answers, strict=True):
        yield _failure(item.path, answer, seconds) if isinstance(answer, Exception) else answer


def _import_ahead(found: tuple[Item, ...]) -> None:
    """Import what threads would import all at once, when one may be given a module that another has not finished."""
    import_readers()
    if any(is_object(item.path) for item in found):
        with suppress(ImportError):  # told of each item
            import_client()


def _answers(found: tuple[Item, ...], at_once: int, seconds: float) -> Iterator[Row | Exception]:
    """Yield the row of each item, in order, or what went wrong, while threads ask for the next ones."""
    pool = ThreadPoolExecutor(at_once)
    waiting = [pool.submit(_from_afar, item.path) for item in found]
    try:
        for future in waiting:
            try:
                yield _result(future, seconds)
            except Exception as error:
                yield error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _may_pass(error: Exception) -> bool:
    """Say whether an error may be one of the moment: of the server, the network or this process, and not of what was read.

    >>> _may_pass(ReadError("the header is damaged")), _may_pass(TransientError("no answer")), _may_pass(OSError(5, "no answer"))
    (False, True, True)
    """
    causes = (error, error.__context__)  # a folder that cannot be listed tells of the server's answer
    return any(isinstance(cause, TransientError) for cause in causes) or not isinstance(error, WeighbridgeError)


def _result(future: Future[Row], seconds: float) -> Row:
    """Return what a thread comes to, unless it takes more than *seconds* from when it began."""
    while not (future.running() or future.done()):
        wait([future], 0.05)
    wait([future], seconds)
    if not future.done():
        raise ReadError(Text("took more than {seconds:g} seconds", seconds=seconds))
    return future.result()


def _of_configs(configs: list[NamedConfig], seconds: float) -> list[Row]:
    """Weigh configs together; if one of them holds up the others, each alone."""
    try:
        with alarm(seconds + len(configs) / 100):
            return rows_of_configs(configs)
    except TooSlowError:
        return [row for path, raw in configs for row in _config_alone(path, raw, seconds)]


def _config_alone(path: str, raw: dict[str, Any], seconds: float) -> list[Row]:
    found: list[Row] = []
    with _guard(path, seconds) as outcome:
        found.append(row_of_config(raw, path))
    return found or outcome


def _weigh(item: Item, seconds: float) -> Iterator[Row]:
    """Yield the rows of one item: of a file that holds many configs one for each, of a directory or a checkpoint its own."""
    if item.kind in ALONE:
        entries: list[Entry] = []
        with _guard(item.path, 60 * seconds) as outcome:
            for entry in ENTRIES[item.kind](item):
                if isinstance(entry, dict):
                    yield entry
                else:
                    entries.append(entry)
        yield from outcome
        found_rows = _of_configs([(entry.path, entry.config) for entry in entries], seconds)
        for entry, row in zip(entries, found_rows, strict=True):
            dated = row if entry.year is None else row | {"year": entry.year, "year_from": entry.year_from}
            yield dated if entry.claimed is None else with_claim(dated, entry.config, entry.claimed)
        return
    found: list[Row] = []
    with _guard(item.path, seconds) as outcome:
        found.append(_row_of(item))
    timed = os.path.join(item.path, "config.json") if item.kind == "directory" else item.path
    yield from (_with_file_year(row, timed) for row in found)
    yield from outcome


def _with_file_year(row: Row, path: str) -> Row:
    """Add the year of the file's time, unless the row has one that is stated."""
    if row.get("year") is None:
        with suppress(OSError):
            row |= {"year": year_at(os.stat(path).st_mtime), "year_from": "file"}
    return row


def _row_of(item: Item) -> Row:
    if item.kind == "unreadable":
        raise ReadError("cannot be read", path=item.path)
    path = Path(item.path)
    if item.kind == "directory":
        return row_of_directory(path, path / "config.json", item.path)
    return row_of_checkpoint(path, item.path)


def _from_afar(source: str) -> Row:
    """Weigh what an address or an id names: a folder with a config, a config, or a checkpoint."""
    path: Any = place(source)
    if not path.is_dir():
        return (
            rows_of_configs([(source, parse_config(path.read_bytes(), source))])[0]
            if path.suffix == ".json"
            else row_of_checkpoint(path, source)
        )
    config = path / "config.json"
    if not config.is_file():
        return row_of_checkpoint(path, source)
    return row_of_directory(path, config, source)


@contextmanager
def _guard(path: str, seconds: float) -> Iterator[list[Row]]:
    """Turn any error inside the block into a row, with a timeout."""
    outcome: list[Row] = []
    try:
        with alarm(seconds):
            yield outcome
    except Exception as error:
        outcome.append(_failure(path, error, seconds))


def _failure(path: str, error: Exception, seconds: float) -> Row:
    """Return the row of what went wrong."""
    if isinstance(error, (WeighbridgeError, OSError)):
        return failure_row(path, error)
    if isinstance(error, TooSlowError):
        return failure_row(path, RuntimeError(f"took more than {seconds:g} seconds"))
    if isinstance(error, MemoryError):
        return failure_row(path, RuntimeError("took more memory than there is"))
    return failure_row(path, RuntimeError(f"internal fault: {type(error).__name__}: {error}"))  # it must not lose the other rows


def _config_at(path: str) -> dict[str, Any]:
    """Read a config of bounded size from an ordinary file."""
    try:
        return parse_config(read_whole(path), path)
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=path) from None
