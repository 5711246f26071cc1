"""The program: its exit codes, one line and code 2 on bad input, a reader that goes away. ``commands/line.py`` does what is asked."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 what was checked does not hold, 2 bad input.

    >>> main(["no-such-model"])
    2
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        return _run(words)
    except KeyboardInterrupt:
        return _interrupt(words)


def _run(words: list[str]) -> int:
    from weighbridge.commands import line
    from weighbridge.core.errors import ReadError, WeighbridgeError

    try:
        return line.run(words)
    except WeighbridgeError as error:
        if "--traceback" in words:
            raise
        from weighbridge.commands import output

        output.complain(error, words)
        return 2
    except BrokenPipeError:
        # The reader went away (weigh ... | head): no fault, but Python would complain when it flushes.
        sys.stdout = None
        return 0
    except OSError as error:  # a name of 300 letters, a folder that may not be entered: what the system will not even look at
        if "--traceback" in words:
            raise
        from weighbridge.commands import output

        output.complain(ReadError(f"{error.filename or 'a file'!s:.200}: {error.strerror or error}"), words)
        return 2


def _interrupt(words: list[str]) -> int:
    """Report an interrupt; what is written to files is written whole or not at all."""
    try:
        from weighbridge.commands import output

        output.say_interrupted(words)
    except (KeyboardInterrupt, OSError):  # whoever stops it twice knows
        return 130
    return 130


def entry() -> None:
    """Run as a program: what is left of the process is not taken apart piece by piece, which costs a tenth of a count."""
    import _signal  # type: ignore[import-not-found]  # the module signal takes 2 ms to import, for its enums

    waits = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if waits:  # until the program stands, Ctrl+C ends it as it ends any other: there is nothing to be put in order, and nobody to catch it
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    import gc
    import os

    gc.set_threshold(5_000_000)  # all that is made is kept: looking through it takes a tenth of a count, or more
    import weighbridge.commands.line
    import weighbridge.commands.output  # noqa: F401

    if waits:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    code = main()
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:  # a full disk: nobody can be told, and the code says it
        pass
    os._exit(code)


if __name__ == "__main__":
    entry()
