"""A census of everything public, on paper and in a simulation: python -m benchmarks.scale

The costs per item are measured (``benchmarks.census``); the store is not: its answers take a drawn time, it throttles beyond a rate,
and some requests fail. Events are played one after the other, with the retries and the limits that the census has, some thousand items
a process. Prices and the rate are those that Amazon states for S3 (requests in us-east-1; 5,500 reads a second of one prefix).
"""

from __future__ import annotations

import random
from heapq import heappop, heappush
from typing import NamedTuple

CONFIG_SECONDS, HEADER_SECONDS = 50e-6, 300e-6
"""Processor seconds of a config and of a header of forty tensors, as measured."""
AT_ONCE, TRIES = 16, 5
"""Requests that a process has under way, and tries of each: as in the census."""


class Store(NamedTuple):
    """A store that is slow, throttles and fails.

    Attributes:
        latency: Median seconds to answer; one in a hundred takes ten times as long.
        rate: Requests a second beyond which it answers 503.
        failing: Share of requests that fail whatever the rate.
        stalling: Share of requests that are never answered, and end after *patience*.
        patience: Seconds until a request without an answer is given up.
    """

    latency: float = 0.08
    rate: float = 5_500.0
    failing: float = 0.001
    stalling: float = 0.0001
    patience: float = 20.0


class Played(NamedTuple):
    """What came of it: seconds, requests, rows that are errors, and how busy a processor was."""

    seconds: float
    requests: int
    errors: int
    busy: float


def play(items: int, workers: int, store: Store, seed: int = 1) -> Played:
    """Play a census of headers, each one request, by *workers* processes.

    >>> play(1_000, 1, Store(failing=0, stalling=0)).errors
    0
    """
    rng = random.Random(seed)
    events: list[tuple[float, int, int]] = []  # when a request is sent, by which slot, and its how manieth try it is
    free = [0.0] * workers  # when each process has its processor again
    sent: list[float] = []
    left, requests, errors, end = items, 0, 0, 0.0
    for slot in range(min(workers * AT_ONCE, items)):
        heappush(events, (0.0, slot, 0))
        left -= 1
    recent = 0
    while events:
        now, slot, tried = heappop(events)
        requests += 1
        sent.append(now)
        while sent[recent] <= now - 1:
            recent += 1
        answered = now + store.latency * rng.lognormvariate(0, 0.5) * (10 if rng.random() < 0.01 else 1)
        stalled = rng.random() < store.stalling
        if stalled or len(sent) - recent > store.rate or rng.random() < store.failing:
            answered = now + store.patience if stalled else answered
            if tried + 1 < TRIES:
                heappush(events, (answered + 0.25 * 2**tried * (0.5 + rng.random()), slot, tried + 1))
                continue
            errors += 1
        else:
            worker = slot % workers
            free[worker] = max(free[worker], answered) + HEADER_SECONDS
            answered = free[worker]
        end = max(end, answered)
        if left:
            left -= 1
            heappush(events, (answered, slot, 0))
    return Played(end, requests, errors, items * HEADER_SECONDS / (end * workers))


def paper() -> list[str]:
    """Return the table of what 3 million models and 10^8 files take, from the costs per item."""
    rows = ["| | 3,000,000 models | 100,000,000 files |", "|---|---:|---:|"]
    sizes = (3_000_000, 100_000_000)
    rows.append("| processor hours, configs | " + " | ".join(f"{n * CONFIG_SECONDS / 3600:,.2f}" for n in sizes) + " |")
    rows.append("| processor hours, headers | " + " | ".join(f"{n * HEADER_SECONDS / 3600:,.1f}" for n in sizes) + " |")
    rows.append("| listing: pages of 1,000 | " + " | ".join(f"{n // 1000:,}" for n in sizes) + " |")
    rows.append("| requests (one a header, 0.1 % again) | " + " | ".join(f"{n * 1001 // 1000 + n // 1000:,}" for n in sizes) + " |")
    rows.append("| bytes over the network, 32 KiB a header | " + " | ".join(f"{n * 32768 / 1e9:,.0f} GB" for n in sizes) + " |")
    rows.append(
        "| price of requests (0.40 $ a million, lists 5 $) | " + " | ".join(f"{n * 0.4e-6 + n / 1000 * 5e-6:,.2f} $" for n in sizes) + " |"
    )
    rows.append("| hours at 5,500 requests a second | " + " | ".join(f"{n / 5500 / 3600:,.2f}" for n in sizes) + " |")
    rows.append("| hours at 100 requests a second | " + " | ".join(f"{n / 100 / 3600:,.1f}" for n in sizes) + " |")
    rows.append("| Parquet, 60 bytes a row | " + " | ".join(f"{n * 60 / 1e9:,.1f} GB" for n in sizes) + " |")
    return rows


def main() -> None:
    """Print both tables."""
    print("\n".join(paper()), "\n")
    print("| store | workers | requests a row | rows that are errors | rows a second | processor busy |\n|---|---:|---:|---:|---:|---:|")
    stores = {
        "as stores are": Store(),
        "slow (0.5 s)": Store(latency=0.5),
        "fails 5 %": Store(failing=0.05),
        "stalls 1 %": Store(stalling=0.01),
        "throttles at 500 a second": Store(rate=500),
    }
    for name, store in stores.items():
        for workers in (1, 16, 64):
            items = 3_000 * workers
            found = play(items, workers, store)
            print(
                f"| {name} | {workers} | {found.requests / items:.3f} | {100 * found.errors / items:.3f} % | "
                f"{items / found.seconds:,.0f} | {100 * found.busy:.1f} % |"
            )


if __name__ == "__main__":
    main()
