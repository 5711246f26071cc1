"""What a census is to weigh: folders, lists, globs, archives, tables, object stores and ids, turned into items one after the other.

Nothing is read but directories and the ends of lines; the order is the same every time, so that work can be resumed.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import Any, BinaryIO, NamedTuple

from weighbridge.core.errors import SourceError
from weighbridge.core.files import LARGEST_CONFIG, open_file
from weighbridge.core.messages import Text
from weighbridge.readers.objects import is_object, keys_below

LINES = 8_192
"""Configs of a table that make one item."""
LARGEST_STRETCH = 1 << 26
"""Bytes of lines beyond which they make one item, however few they are."""
OTHER_CONFIGS = (
    "generation_config.json",
    "tokenizer_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "adapter_config.json",
    "feature_extraction_config.json",
    "video_preprocessor_config.json",
    "quantize_config.json",
    "quant_config.json",
    "hf_quant_config.json",
)
"""How files end that are called configs and are none of a model."""
WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".keras", ".msgpack", ".onnx", ".npz")
"""Endings under which weights are looked for in folders; a file that is named is read whatever it is called."""
NEVER = frozenset(("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "scaler.pt", "rng_state.pth"))
"""Files that a trainer leaves beside weights."""
SHARD = re.compile(r".+-\d{5}-of-\d{5}\.\w+")
PIECE = 1 << 20
"""Bytes that are read at a time of a line that is passed over."""
REMOTE = re.compile(r"(?:https?|s3|gs|az|hub|modelscope)://|modelscope:")


class Item(NamedTuple):
    """One piece of work.

    Attributes:
        kind: ``config``, ``checkpoint``, ``directory`` (a config with weights), ``source`` (an address or an id),
            ``lines`` (a stretch of a JSONL file), ``rows`` (of a row group of a
            Parquet file), ``archive``, or ``unreadable``.
        path: The file, directory, address or id.
        start, end: Of a stretch of lines, its bytes; of rows, the number of the group and the row before which it ends.
        line: Of the first line or row.
        version: Of something far away, what tells one state of it from another.
        rows: How many models it holds, as far as that is known before it is read.
    """

    kind: str
    path: str
    start: int = 0
    end: int = 0
    line: int = 0
    version: str = ""
    rows: int = 1


def items(sources: Iterable[str]) -> Iterator[Item]:
    """Yield everything that *sources* name.

    Args:
        sources: Each a folder, a file, a glob, a table (``.jsonl``, ``.parquet``), an archive (``.zip``, ``.tar``, ``.tar.gz``),
            ``@list.txt`` with a source a line, an address (``s3://bucket/folder/`` is walked), or a Hub id.

    Raises:
        SourceError: A source that is not there.

    >>> list(items(["no/such/*.json"]))
    Traceback (most recent call last):
    weighbridge.core.errors.SourceError: no/such/*.json: matches no file
    """
    for source in sources:
        if source.startswith("@"):
            yield from items(_sources_in_list(source[1:]))
        elif REMOTE.match(source):
            yield from _remote(source)
        elif os.path.isdir(source):
            yield from _walk(source)
        elif os.path.lexists(source):
            yield from _file(source)
        elif glob.has_magic(source):
            found = sorted(glob.iglob(source, recursive=True))
            if not found:
                raise SourceError(Text("{source}: matches no file", source=source), source=source)
            yield from items(found)
        elif re.fullmatch(r"[\w.-]+/[\w.-]+(?:@[\w./-]+)?", source):
            yield Item("source", source)
        else:
            raise SourceError(Text("{source}: no such file or directory", source=source), source=source)


def _sources_in_list(path: str) -> Iterator[str]:
    """Yield the sources of a list, one a line; empty lines and those that begin with # are passed over."""
    try:
        with open_file(path) as binary, TextIOWrapper(binary, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    yield line.strip()
    except OSError as error:
        raise SourceError(Text("{path}: the list cannot be read: {strerror}", path=path, strerror=error.strerror), source=path) from None


def _file(path: str) -> Iterator[Item]:
    """Yield what a file is to a census, by the end of its name: stretches of lines, groups of rows, an archive, a config or a checkpoint."""
    low = path.lower()
    if low.endswith((".jsonl", ".ndjson")):
        yield from _stretches(path)
    elif low.endswith(".parquet"):
        yield from _row_groups(path)
    elif low.endswith((".zip", ".tar", ".tar.gz", ".tgz")):
        yield Item("archive", path)
    elif low.endswith(".json") and not low.endswith((".index.json", ".weights.json")):
        yield Item("config", path)
    else:
        yield Item("checkpoint", path)


def _walk(folder: str) -> Iterator[Item]:
    """Yield what is in a folder and below it, in the order of names; links to folders are not followed."""
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(here) as entries:
                found = sorted(((entry.name, _is_folder(entry)) for entry in entries), key=lambda entry: entry[0])
        except OSError:
            yield Item("unreadable", here)
            continue
        yield from _in_folder(here, [name for name, is_folder in found if not is_folder])
        pending += [os.path.join(here, name) for name, is_folder in reversed(found) if is_folder]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _in_folder(folder: str, names: list[str]) -> Iterator[Item]:
    """Yield the models of one folder: it is one model if it holds a config.json, else every file is one."""
    weights = {name for name in names if name.lower().endswith(WEIGHTS) and name not in NEVER}
    together = {name for name in weights if not name.lower().endswith(".gguf")}
    indexed = any(name.endswith((".index.json", ".weights.json")) for name in names)
    if "config.json" in names:
        yield Item("directory", folder) if together or indexed else Item("config", os.path.join(folder, "config.json"))
        together = set()
    elif indexed or any(SHARD.fullmatch(name) for name in together):
        yield Item("checkpoint", folder)
        together = set()
    for name in names:
        is_config = name.endswith("config.json") and not name.endswith(OTHER_CONFIGS) and name != "config.json"
        if is_config:
            yield Item("config", os.path.join(folder, name))
        elif name in together or (name in weights and name.lower().endswith(".gguf")):
            yield Item("checkpoint", os.path.join(folder, name))


def _stretches(path: str) -> Iterator[Item]:
    """Cut a file of lines into stretches of whole lines."""
    start, line, count, position = 0, 1, 0, 0
    try:
        with open_file(path) as file:
            while text := file.readline(LARGEST_CONFIG + 1):
                if len(text) > LARGEST_CONFIG:
                    if count:
                        yield Item("lines", path, start, position, line, rows=count)
                    yield Item("unreadable", f"{path}:{line + count}")
                    start = position = position + len(text) + _skip_line(file, text)
                    line, count = line + count + 1, 0
                    continue
                position += len(text)
                count += 1
                if count == LINES or position - start > LARGEST_STRETCH:
                    yield Item("lines", path, start, position, line, rows=count)
                    start, line, count = position, line + count, 0
    except OSError:
        yield Item("unreadable", path)
        return
    if count:
        yield Item("lines", path, start, position, line, rows=count)


def _skip_line(file: BinaryIO, text: bytes) -> int:
    """Pass over what is left of a line that no config is as long as; returns its bytes."""
    passed = 0
    while text and not text.endswith(b"\n"):
        text = file.read(PIECE)
        end = text.find(b"\n") + 1
        if end:
            file.seek(end - len(text), os.SEEK_CUR)
            text = text[:end]
        passed += len(text)
    return passed


def _row_groups(path: str) -> Iterator[Item]:
    try:
        import pyarrow.parquet as pq

        open_file(path).close()  # no pipe, no device: pyarrow would wait for it
        metadata = pq.ParquetFile(path).metadata
        groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    except OSError as error:
        raise SourceError(Text("{path}: cannot be read: {strerror}", path=path, strerror=error.strerror or error), source=path) from None
    except Exception as error:  # pyarrow raises its own, OSError and ValueError
        raise SourceError(Text("{path}: no Parquet file: {error:.200}", path=path, error=str(error)), source=path) from None
    for number, rows in enumerate(groups):
        yield Item("rows", path, number, rows, rows=rows)


def _remote(source: str) -> Iterator[Item]:
    """Yield the models below an address of an object store; any other address is one model."""
    if not (is_object(source) and source.endswith("/")):
        yield Item("source", source.removeprefix("hub://"))
        return
    folders: dict[str, dict[str, str]] = {}
    for key, version in keys_below(source):
        folder, _, name = key.rpartition("/")
        folders.setdefault(folder, {})[name] = version
    for folder in sorted(folders):
        versions = folders[folder]
        for item in _in_folder(folder, sorted(versions)):
            own = versions.get(item.path.removeprefix(f"{folder}/"))
            if own is None:  # the folder as one model
                yield Item("source", f"{folder}/", version=" ".join(versions.values()))
            else:
                yield Item("source", item.path, version=own)


def identity(item: Item) -> list[Any]:
    """Return what identifies an item and the state of its file, for the name of the part it is written to."""
    if item.kind == "source":
        return [*item]
    try:
        state = os.stat(item.path)
        if not stat.S_ISDIR(state.st_mode):
            return [*item, state.st_size, state.st_mtime_ns]
        with os.scandir(item.path) as entries:
            states = [entry.stat() for entry in entries]
        return [*item, sum(state.st_size for state in states), max((state.st_mtime_ns for state in states), default=0), len(states)]
    except OSError:
        return [*item]
