"""One source followed through the code: which rooms a count passes, in order (``python -m benchmarks.path bert-base-uncased``).

A stay is a run of calls that begin in one room; a return is a stay in a room that was left before. The foundations in
``core`` serve every room and are left out, and so is what is loaded: only calls of functions count.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from itertools import groupby
from types import FrameType
from typing import Any

FOUNDATIONS = ("core", "errors", "sizes", "tree", "parts", "records", "polynomials", "notation", "formula", "messages")
LOADING = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


def visited(words: list[str]) -> list[tuple[str, str]]:
    """Run a command and return the room and the function of every call, in order."""
    from weighbridge.cli import main

    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        name = frame.f_code.co_name
        if event != "call" or not module.startswith("weighbridge.") or name in LOADING or not name[0].isalpha() or name[0].isupper():
            return
        room = module.split(".")[1]
        if room not in FOUNDATIONS:
            calls.append((room, name))

    with redirect_stdout(io.StringIO()):
        main(words)  # what is loaded once is loaded here
        sys.setprofile(note)
        try:
            main(words)
        finally:
            sys.setprofile(None)
    return calls


def main() -> None:
    """Print the path, the stays and the returns."""
    stays = [
        (room, [name for _, name in run]) for room, run in groupby(visited(sys.argv[1:] or ["bert-base-uncased", "--json"]), lambda c: c[0])
    ]
    for room, names in stays:
        print(f"{room:12} {' '.join(dict.fromkeys(names))[:110]}")
    rooms = {room for room, _ in stays}
    print(f"{len(stays)} stays in {len(rooms)} rooms, {len(stays) - len(rooms)} returns")


if __name__ == "__main__":
    main()
