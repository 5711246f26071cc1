"""Run the shards of a census on local processes or a cluster; a worker that dies is replaced.

A worker that dies takes its pool with it: the pool is made anew and the shards that were under way are done again, alone. One
that kills its worker even then is cut in halves until the item is found, which gets a row that says so.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from weighbridge import __version__
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.messages import Text
from weighbridge.inventory.items import REMOTE, items
from weighbridge.inventory.schema import VERSION
from weighbridge.inventory.shards import Shard, ShardResult, halves, part_of_the_dead, shards, weigh_shard

MANIFEST = "_manifest.json"
SECONDS = 60.0
"""How long one file may take."""

CONNECT_SECONDS = 15.0
"""How long a scheduler is waited for."""

TRIES = 5
"""Deaths of workers that one file must cause before it is held guilty of them."""


class Summary(NamedTuple):
    """What a census came to.

    Attributes:
        out: The folder of its parts.
        counts: Rows by status.
        parts: How many parts there are.
        skipped: How many of them an earlier run had done.
        removed: Parts of an earlier run that are of no item any more, and were taken away.
        seconds: How long it took.
    """

    out: str
    counts: dict[str, int]
    parts: int
    skipped: int
    removed: int
    seconds: float

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(self.counts.values())


def census(
    sources: Iterable[str],
    out: str | Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    seconds: float = SECONDS,
    progress: Callable[[int, float, int | None], None] | None = None,
) -> Summary:
    """Weigh every model that *sources* name, one row each, into Parquet.

    Args:
        sources: As for :func:`weighbridge.inventory.items.items`.
        out: A folder for the parts; it is made, and an earlier census in it is gone on with.
        jobs: Processes; by default one a core.
        cluster: The address of a Dask scheduler, whose workers then do the shards; *out* must be theirs too.
        fresh: Do everything anew.
        seconds: How long one file may take.
        progress: Called with the rows done, the seconds gone, and how many rows there will be about, once that is known.

    Returns:
        What was done; ``pyarrow.parquet.read_table(out)`` reads the rows.

    Raises:
        SourceError: A source that is not there.
        UsageError: A folder that holds something else; a package that is missing.
    """
    folder = _folder(Path(out))
    named = list(sources)
    begun = time.monotonic()
    _write_manifest(folder, {"sources": named, "finished": False})
    counts: Counter[str] = Counter()
    names: list[str] = []
    skipped = 0
    total = _Total(named) if progress is not None else None
    try:
        with closing(_shard_results(shards(items(named), seconds), folder, jobs, cluster, fresh)) as work:
            for done, earlier in work:
                counts.update(done.counts)
                names.append(done.name)
                skipped += earlier
                if progress is not None and total is not None:
                    progress(sum(counts.values()), time.monotonic() - begun, total.rows)
    except OSError as error:  # what cannot be read is a row; this is a part that cannot be written
        raise UsageError(
            Text(
                "{out}: cannot be written: {strerror}; the same command goes on where it stopped",
                out=folder,
                strerror=error.strerror or error,
            )
        ) from None
    removed = _remove_others(folder, set(names))
    _write_manifest(
        folder, {"sources": named, "finished": True, "rows": sum(counts.values()), "counts": dict(counts), "parts": sorted(names)}
    )
    return Summary(str(folder), dict(counts), len(names), skipped, removed, time.monotonic() - begun)


class _Total:
    """How many rows there will be, counted beside the work; what is far away is not listed twice for it.

    Attributes:
        rows: None until all sources have been walked.
    """

    def __init__(self, sources: list[str]) -> None:
        self.rows: int | None = None
        if not any(REMOTE.match(source) or source.startswith("@") for source in sources):
            Thread(target=self._count, args=(sources,), daemon=True).start()

    def _count(self, sources: list[str]) -> None:
        with suppress(SourceError, OSError):
            self.rows = sum(item.rows for item in items(sources))


def _shard_results(
    work: Iterator[Shard], folder: Path, jobs: int | None, cluster: str | None, fresh: bool
) -> Generator[tuple[ShardResult, bool]]:
    """Yield the result of every shard, and whether an earlier run had made it; at most two shards a worker are in flight."""
    workers = _Workers(jobs, cluster)
    under_way: dict[Future[ShardResult], Shard] = {}
    again: list[Shard] = []
    complete = False
    seen: set[str] = set()
    try:
        for shard in work:
            if shard.name in seen:
                continue  # named twice, as a folder and as a file in it may be
            seen.add(shard.name)
            counts = None if fresh else _counts_of(folder / shard.name)
            if counts is not None and not (shard.items[0].kind == "source" and "error" in counts):
                yield ShardResult(shard.name, counts), True
                continue  # what failed far away may have been the network
            under_way[workers.submit(shard, folder)] = shard
            while len(under_way) >= 2 * workers.jobs:
                yield from _wait(under_way, again, workers)
                yield from _one_after_the_other(again, workers, folder)
        while under_way:
            yield from _wait(under_way, again, workers)
            yield from _one_after_the_other(again, workers, folder)
        complete = True
    finally:
        workers.end(complete=complete)


def _wait(under_way: dict[Future[ShardResult], Shard], again: list[Shard], workers: _Workers) -> Iterator[tuple[ShardResult, bool]]:
    """Wait for some shards; those whose worker died are to be done again."""
    ready, _ = wait(under_way, return_when=FIRST_COMPLETED)
    died = False
    for future in ready:
        shard = under_way.pop(future)
        try:
            yield future.result(), False
        except workers.deaths:
            again.append(shard)
            died = True
    if died and workers.breaks:
        again += under_way.values()  # a broken pool has lost everything that was under way
        under_way.clear()
        workers.renew()


def _one_after_the_other(again: list[Shard], workers: _Workers, folder: Path) -> Iterator[tuple[ShardResult, bool]]:
    """Run shards one by one; a shard that kills its worker is halved until the item that does it is found."""
    while again:
        shard = again.pop()
        try:
            yield workers.submit(shard, folder).result(), False
        except workers.deaths:
            if workers.breaks:
                workers.renew()
            smaller = halves(shard)
            if smaller:
                again += reversed(smaller)
            elif workers.may_try_again(shard):
                again.append(shard)  # what killed it may have come from outside
            else:
                yield part_of_the_dead(shard, str(folder)), False


class _Workers:
    """Where shards are done: a pool of processes here, or the workers of a cluster."""

    def __init__(self, jobs: int | None, cluster: str | None) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self.breaks = cluster is None
        self._tried: Counter[str] = Counter()
        self._executor: Executor
        if cluster is None:
            self._executor = _pool(self.jobs)
            self.deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
        else:
            client, self.deaths = _client(cluster)
            self.jobs = max(1, sum(client.nthreads().values()))
            self._client = client
            self._executor = client.get_executor(retries=1, pure=False)

    def submit(self, shard: Shard, folder: Path) -> Future[ShardResult]:
        """Submit a shard; a broken pool is replaced first."""
        try:
            return self._executor.submit(weigh_shard, shard, str(folder.absolute()))
        except BrokenExecutor:
            self.renew()
            return self._executor.submit(weigh_shard, shard, str(folder.absolute()))

    def renew(self) -> None:
        """Replace the pool."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = _pool(self.jobs)

    def may_try_again(self, shard: Shard) -> bool:
        """Say whether a shard that cannot be cut may be tried once more."""
        self._tried[shard.name] += 1
        return self._tried[shard.name] < TRIES

    def end(self, *, complete: bool) -> None:
        """Stop: unfinished shards are given up, what is written stays."""
        if self.breaks:
            for process in [] if complete else list((getattr(self._executor, "_processes", None) or {}).values()):
                process.terminate()  # it would wait for more after the program has gone, with its streams open
            self._executor.shutdown(wait=True, cancel_futures=True)
            return
        with suppress(Exception):
            self._executor.shutdown(wait=complete)  # Dask's takes no cancel_futures; what waits ends with its client
            self._client.close()


def _pool(jobs: int) -> ProcessPoolExecutor:
    from multiprocessing import get_context

    context = get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload(["weighbridge.inventory.shards", "pyarrow.parquet", "numpy"])
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_take_environment, initargs=(dict(os.environ),))


def _take_environment(now: dict[str, str]) -> None:
    """Set a worker's environment: the server that forks it keeps that of its own start, when a store's address or key may have been another."""
    os.environ.clear()
    os.environ.update(now)


def _client(address: str) -> tuple[Any, tuple[type[BaseException], ...]]:
    try:
        from distributed import CancelledError, Client, KilledWorker
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'weighbridge[cluster]'") from None
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False), (KilledWorker, CancelledError)
    except (OSError, ValueError, TimeoutError) as error:
        raise SourceError(
            Text("{address}: no Dask scheduler answers: {error:.200}", address=address, error=str(error)), source=address
        ) from None


def _folder(out: Path) -> Path:
    """Make the folder, or take one that holds a census and nothing else."""
    try:
        import pyarrow.parquet  # noqa: F401  # asked for here, before hours of work
    except ImportError:
        raise UsageError("census needs pyarrow: pip install 'weighbridge[bulk]'") from None
    if out.is_file():
        raise UsageError(
            Text("{out}: is a file; a census is a folder of Parquet parts, which any reader of Parquet takes as one table", out=out)
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        strangers = [path.name for path in out.iterdir() if not _is_ours(path.name)]
    except OSError as error:
        raise UsageError(Text("{out}: cannot be written: {strerror}", out=out, strerror=error.strerror)) from None
    if strangers:
        raise UsageError(
            Text("{out}: holds {strangers!r} beside parts of a census; name a folder of its own", out=out, strangers=strangers[0])
        )
    return out


def _is_ours(name: str) -> bool:
    return name == MANIFEST or name.startswith(("part-", ".", "_"))


def _counts_of(part: Path) -> dict[str, int] | None:
    """Return the rows of a part by status; None if it is not there."""
    import pyarrow.parquet as pq

    if not part.is_file():
        return None
    return dict(Counter(pq.read_table(part, columns=["status"]).column("status").to_pylist()))


def _remove_others(folder: Path, names: set[str]) -> int:
    """Take away parts of items that are not there any more, and what a killed process left unfinished."""
    removed = 0
    for path in folder.glob("part-*"):
        if path.name not in names:
            path.unlink(missing_ok=True)
            removed += path.name.endswith(".parquet")
    return removed


def _write_manifest(folder: Path, record: dict[str, Any]) -> None:
    unfinished = folder / f".{MANIFEST}.{os.getpid()}"
    text = json.dumps({"schema": VERSION, "weighbridge": __version__, **record}, ensure_ascii=False, indent=2)
    try:
        unfinished.write_text(text, "utf-8")
        unfinished.replace(folder / MANIFEST)
    except OSError as error:
        raise UsageError(Text("{folder}: cannot be written: {strerror}", folder=folder, strerror=error.strerror)) from None
