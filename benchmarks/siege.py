"""A server under siege: silent connections, unfinished uploads, heavy, hostile and light requests at once, two thousand in all.

How long ``/health`` takes meanwhile is asked by a process of its own, ten times a second: the one that besieges is busy itself.

python -m benchmarks.siege
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.hostile import attacks
from benchmarks.load import resident, serve

HEAVY = (
    "/model?source=bert-tiny&set.hidden_size=999999999999989&set.num_attention_heads=999999999999989",
    "/api/v1/tensors?source=llama&set.num_hidden_layers=9000",
)
LIGHT = ("/api/v1/count?source=bert-tiny", "/api/v1/count?source=gpt2", "/api/v1/count?source=/etc/passwd", "/api/v1/count?source=%00")
KINDS = {"silent": 300, "upload": 10, "heavy": 200, "hostile": 890, "light": 600}
UPLOAD = b"POST /dropped?size=30000000 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 30000000\r\n\r\n" + bytes(5_000_000)


def get(address: str) -> bytes:
    """Return a request.

    >>> get("/health")[:12]
    b'GET /health '
    """
    return f"GET {address} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode()


async def ask(port: int, said: bytes, stay: float = 0) -> str:
    """Say something to the server; return the status of its answer, or what became of the connection."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        await writer.drain()
        if stay:
            await asyncio.sleep(stay)
            return "silent"
        answer = await asyncio.wait_for(reader.read(), 60)
        return answer[9:12].decode() or "nothing"
    except OSError as error:
        return type(error).__name__


async def besiege(port: int) -> dict[str, Counter[str]]:
    """Return how each kind of request was answered."""
    hostile = [attack for attack in attacks(4000, 1) if attack.method == "GET"][: KINDS["hostile"]]
    jobs = [("silent", ask(port, b"GET / HTTP/1.1\r\nhost: x", 8)) for _ in range(KINDS["silent"])]
    jobs += [("upload", ask(port, UPLOAD, 6)) for _ in range(KINDS["upload"])]
    jobs += [("heavy", ask(port, get(HEAVY[number % len(HEAVY)]))) for number in range(KINDS["heavy"])]
    jobs += [("hostile", ask(port, get(attack.address))) for attack in hostile]
    jobs += [("light", ask(port, get(LIGHT[number % len(LIGHT)]))) for number in range(KINDS["light"])]
    answers: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for (kind, _), answer in zip(jobs, await asyncio.gather(*(job for _, job in jobs)), strict=True):
        answers[kind][answer] += 1
    return answers


def watch(port: int) -> None:
    """Ask for ``/health`` until standard input ends, and print how often, how it was answered and how long that took."""
    waited, told = [], Counter[str]()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.wait(0.1):
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), 60) as opened:
            opened.sendall(get("/health"))
            told[opened.recv(100)[9:12].decode() or "nothing"] += 1
        waited.append(1000 * (time.monotonic() - begun))
    waited.sort()
    quiet = waited[len(waited) * 99 // 100]
    print(f"/health: {dict(told)}; {waited[len(waited) // 2]:.0f} ms (median), {quiet:.0f} ms (99 of 100), {waited[-1]:.0f} ms at most")


def memory(process: int) -> int:
    """Return the KiB of a server with its processes."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return resident(process) + sum(resident(int(child)) for child in children)


def main() -> int:
    """Lay siege to a server of one's own, and print the figures."""
    if sys.argv[1:2] == ["watch"]:
        watch(int(sys.argv[2]))
        return 0
    with serve() as (base, process):
        port = urlsplit(base).port or 0
        urllib.request.urlopen(f"{base}health").close()  # answered once all processes are up
        before = resident(process), memory(process)
        watching = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.siege", "watch", str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        answers = asyncio.run(besiege(port))
        print(watching.communicate()[0].decode().strip())
        for kind, told in answers.items():
            print(f"{kind}: {dict(sorted(told.items()))}")
        print(
            f"memory of the process that listens: {before[0]:,} KiB before, {resident(process):,} after; of all: {before[1]:,}, {memory(process):,}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
