"""A server under siege: silent connections, unfinished uploads, heavy and small requests at once, and how long ``/health`` takes meanwhile.

python -m benchmarks.siege
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from urllib.parse import urlsplit

from benchmarks.load import resident, served

HEAVY = (
    "/model?source=bert-tiny&set.hidden_size=999999999999989&set.num_attention_heads=999999999999989",
    "/api/v1/tensors?source=llama&set.num_hidden_layers=9000",
)
SMALL = ("/api/v1/count?source=bert-tiny", "/api/v1/count?source=gpt2", "/api/v1/count?source=/etc/passwd", "/api/v1/count?source=%00")
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


async def besiege(port: int) -> tuple[Counter[str], list[float], Counter[str]]:
    """Return how all were answered, and the seconds and answers of ``/health`` meanwhile."""
    waited: list[float] = []
    told: Counter[str] = Counter()
    over = asyncio.Event()

    async def watch() -> None:
        while not over.is_set():
            begun = time.monotonic()
            told[await ask(port, get("/health"))] += 1
            waited.append(time.monotonic() - begun)
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    jobs = [ask(port, b"GET / HTTP/1.1\r\nhost: x", 8) for _ in range(300)] + [ask(port, UPLOAD, 6) for _ in range(10)]
    jobs += [ask(port, get(HEAVY[number % 2])) for number in range(160)]
    jobs += [ask(port, get(SMALL[number % 4])) for number in range(600)]
    answers = Counter(await asyncio.gather(*jobs))
    over.set()
    await watching
    return answers, sorted(waited), told


def main() -> int:
    """Lay siege to a server of one's own, and print the figures."""
    with served() as (base, process):
        time.sleep(3)
        answers, waited, told = asyncio.run(besiege(urlsplit(base).port or 0))
        print(f"answers: {dict(answers)}; memory of the process that listens: {resident(process):,} KiB")
    print(f"/health: {dict(told)}, {waited[len(waited) // 2] * 1000:.0f} ms (median), {waited[-1] * 1000:.0f} ms at most")
    return 0


if __name__ == "__main__":
    sys.exit(main())
