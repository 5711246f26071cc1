"""Load on the API's count with one worker, by wrk: requests a second, delays, and memory over many requests.

    python -m benchmarks.load [SECONDS, by default 10] [REQUESTS for the memory, by default 200000]

Needs ``wrk`` (Debian's package). The server is started for the run, on this machine alone, and stopped after it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = ("bert-base-uncased", "gpt2", "Qwen/Qwen3-0.6B", "bert-base-uncased&set.num_hidden_layers=24", "deepseek_v3")


@contextmanager
def serve() -> Iterator[tuple[str, int]]:
    """Start the server, and give its address and process; it is stopped at the end."""
    command = [sys.executable, "-m", "weighbridge.cli", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+/", server.stdout.readline())
        assert found
        try:
            yield found[0], server.pid
        finally:
            server.terminate()


def main() -> int:
    """Load the server, and tell the figures."""
    seconds, wanted = (int(word) for word in (sys.argv[1:] + ["10", "200000"][len(sys.argv) - 1 :])[:2])
    with serve() as (base, process):
        answers = [f"{base}api/v1/count?source={source}" for source in SOURCES]
        for address in answers:
            with urllib.request.urlopen(address) as answer:
                assert answer.status == 200
        for address in answers[:2]:
            print(wrk(address, seconds, 8)[1].strip())
        told, first = 0, resident(process)
        while told < wanted:
            told += wrk(answers[0], seconds, 8)[0]
            print(f"after {told:,} requests: {resident(process):,} KiB resident (first {first:,})", flush=True)
    return 0


def wrk(address: str, seconds: int, connections: int) -> tuple[int, str]:
    """Load one address, and return how many requests were answered and what wrk says."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", address]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in text, text
    found = re.search(r"(\d+) requests in", text)
    assert found, text
    return int(found[1]), text


def resident(process: int) -> int:
    """Return the memory of a process in KiB (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
