"""One line of words given to the command line, and what is wrong with what came of it."""

from __future__ import annotations

import io
import json
import signal
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from tests.hostile.acts import acts
from weighbridge.cli import main

SECONDS = 3.0
"""The longest that anything hostile may compute: of the processor's time, whatever else the machine does."""

WAITING = 60.0
"""The longest that it may take on the clock: what waits for something that never comes."""


class Outcome(NamedTuple):
    """What came of one line.

    Attributes:
        code: The exit code; -1 if it was left without one.
        out, err: What was printed.
        seconds: How long it computed.
        raised: What it fell over with, if it did.
    """

    code: int
    out: str
    err: str
    seconds: float
    raised: str = ""


class _LateError(BaseException):
    """No handler of ordinary errors catches it."""


def weigh(words: list[str], seconds: float = SECONDS, given: bytes = b"") -> Outcome:
    """Run the command line here, with *given* on its standard input; what takes longer than *seconds* is stopped.

    >>> weigh(["nope"]).code
    2
    """
    out, err = io.StringIO(), io.StringIO()
    begun, before = time.process_time(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    handlers = {number: signal.signal(number, _stop) for number in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING)
    raised, code = "", -1
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
    except _LateError:
        raised = f"no answer within {seconds:g} seconds of work or {WAITING:g} on the clock: {_innermost()}"
    except BaseException as error:
        raised = f"{error!r:.200}: {_innermost()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.stdin = before
    return Outcome(code, out.getvalue(), err.getvalue(), time.process_time() - begun, raised)


def _stop(*_: object) -> None:
    raise _LateError


def _innermost() -> str:
    """Return where in our code it happened."""
    ours = [frame for frame in traceback.extract_tb(sys.exc_info()[2]) if "weighbridge" in frame.filename]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in ours[:-5:-1])


def fault(found: Outcome, form: str = "text") -> str | None:
    """Tell what is wrong with an outcome, whatever was asked: a traceback, no end, an exit code that says nothing, text that acts.

    >>> fault(Outcome(2, "", "weigh: nope: no such preset or file\\n", 0.1))
    >>> fault(Outcome(2, "", "", 0.1))
    'refused in 0 lines'
    """
    if found.raised or "Traceback" in found.err:
        return found.raised or "a traceback"
    if found.code not in (0, 1, 2):
        return f"exit code {found.code}"
    if found.code == 2:
        said = [line for line in found.err.splitlines() if line.startswith("weigh: ")]
        if found.out:
            return "refused, and yet answered"
        if len(said) != 1:
            return f"refused in {len(said)} lines"
        if len(said[0]) > 2000:
            return f"refused in a line of {len(said[0]):,} letters"
    acting = acts(found.out, form) or acts(found.err, "text")
    if acting:
        return acting
    if found.code == 0 and not found.out:
        return "no answer, and no word of why"
    return None


def parameters_of(found: Outcome, what: str = "unique") -> int | None:
    """Return the number of parameters that ``weigh count --json`` gave; None if it refused."""
    return json.loads(found.out)["parameters"][what] if found.code == 0 and not found.raised else None
