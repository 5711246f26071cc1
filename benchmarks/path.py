"""One source followed through the code: which rooms a command passes (``python -m benchmarks.path bert-base-uncased --json``).

A *visit* begins where a room is called from another one and lasts until that call returns; what it calls in other rooms on the
way is part of it. A *stay* is a run of calls that begin in one room, so that a room which calls others one after the other is
stayed in between them: this is what a reader sees who follows the calls with a finger. The foundations in ``core`` serve
every room and are left out, and so are the value that is handed on (its attributes are read everywhere) and what is loaded: only
calls of functions count. (Those of blueprints are called like the classes that they describe.)
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from contextlib import redirect_stdout
from itertools import groupby
from types import FrameType
from typing import Any, NamedTuple

FOUNDATIONS = ("core", "value", "")
LOADING = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


class Call(NamedTuple):
    """One call of a function: its room, the room it was called from, how deep in rooms it stands, its name."""

    room: str
    caller: str
    depth: int
    name: str


def calls(words: list[str]) -> list[Call]:
    """Run a command and return every call, in order."""
    from weighbridge.cli import main

    found: list[Call] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_name
        room = _room(frame)
        called = name not in LOADING and name[0].isalpha() and not name[0].isupper()
        described = room == "blueprints" and (name == "<lambda>" or name[0].isupper())
        if event == "call" and room not in FOUNDATIONS and (called or described):
            around = _rooms_around(frame)
            if described and around[-1] == "config":  # a rule of a field, which binding evaluates; other calls build a class
                return
            found.append(Call(room, around[-1] if around else "", len(around), name))

    with redirect_stdout(io.StringIO()):
        main(words)  # what is loaded once is loaded here
        sys.setprofile(note)
        try:
            main(words)
        finally:
            sys.setprofile(None)
    return found


def _room(frame: FrameType) -> str:
    module = str(frame.f_globals.get("__name__", ""))
    return module.split(".")[1] if module.startswith("weighbridge.") else ""


def _rooms_around(frame: FrameType) -> list[str]:
    """Return the rooms that the calls around one stand in, outermost first, runs of one room as one."""
    rooms: list[str] = []
    caller = frame.f_back
    while caller is not None:
        room = _room(caller)
        if room not in FOUNDATIONS:
            rooms.append(room)
        caller = caller.f_back
    return [room for room, _ in groupby(reversed(rooms))]


def main() -> None:
    """Print the path as a tree of visits, then how many visits and stays it has."""
    found = calls(sys.argv[1:] or ["bert-base-uncased", "--json"])
    visits = Counter(call.room for call in found if call.room != call.caller)
    for (room, caller, depth), run in groupby(found, lambda call: call[:3]):
        names = " ".join(dict.fromkeys(call.name for call in run))
        print(f"{'  ' * depth + room if room != caller else '  ' * depth:24} {names[:100]}")
    stays = [room for room, _ in groupby(call.room for call in found)]
    print(f"{sum(visits.values())} visits to {len(visits)} rooms; {len(stays)} stays")
    again = ", ".join(f"{room} {number}" for room, number in visits.items() if number > 1)
    print(f"more than once: {again or 'none'}")


if __name__ == "__main__":
    main()
