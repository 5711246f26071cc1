"""Where answers go: to standard output in the form that was asked for, to a file, and complaints to standard error."""

from __future__ import annotations

import io
import os
import sys

from weighbridge.core._json import encode
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import SourceError, UsageError, WeighbridgeError
from weighbridge.core.escape import escape_invisible
from weighbridge.core.files import read_bounded
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import TextIO

    from weighbridge.commands.options import Answer, Arguments
    from weighbridge.documents.document import Document

PLAIN = {
    "·": "-", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...", "→": "->", "≈": "~", "²": "^2", "³": "^3", "₂": "2", "“": '"', "”": '"', "‘": "'",
    "’": "'", "≤": "<=", "≥": ">=", "γ": "gamma", "β": "beta", "▏": "#", "▎": "#", "▍": "#", "▌": "#", "▋": "#", "▊": "#", "▉": "#", "█": "#",
    "，": ", ", "。": ".", "：": ": ", "（": "(", "）": ")", "；": "; ", "、": ", ", "\u00a0": " ",
}  # fmt: skip
"""What is written where an encoding (ascii, gbk, cp437 ...) has no such character; anything else becomes a question mark."""

WIDEST = 1000
"""Columns beyond which no line is drawn, whatever COLUMNS says."""

LONGEST = 1500
"""Letters of a complaint."""


_OPENED: list[TextIO] = []
"""Streams of our own, which must not be closed behind the back of whoever reads them."""


def prepare() -> None:
    """See to it that every character can be written, whatever the encoding of the terminal, and that all of an answer is or an error says so."""
    unbuffered = sys.stdout and getattr(sys.stdout, "buffer", None)
    if isinstance(unbuffered, io.RawIOBase):  # PYTHONUNBUFFERED: what a full disk takes no more of would be passed over in silence
        assert sys.stdout is not None
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(unbuffered), sys.stdout.encoding, sys.stdout.errors)
        _OPENED.append(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        if stream is None or (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") in ("utf8", "utf8sig"):
            continue
        import codecs

        codecs.register_error("weighbridge", _replace_letters)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="weighbridge")


def writable_language(lang: str, values: Mapping[str, object]) -> str:
    """Return *lang*, or English where nothing but question marks would come out of it: Chinese on a terminal of ASCII.

    >>> writable_language("zh", {"output": "bert.md"})
    'zh'
    """
    return lang if values.get("output") else _encodable_language(lang, sys.stdout)


def _encodable_language(lang: str, stream: TextIO | None) -> str:
    if lang == "en":
        return lang
    try:
        "参数".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "en"
    return lang


def _replace_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def answer(module: ModuleType, arguments: Arguments) -> int:
    """Run a command and show what it answers; return the exit code."""
    if arguments.__dict__.get("output") is not None:
        _check_file(arguments)
    if hasattr(module, "run"):
        code: int = module.run(arguments)
        return code
    found: Answer = module.answer(arguments)
    deliver(found, arguments)
    return 0 if found.holds else 1


def deliver(found: Answer, arguments: Arguments) -> None:
    """Show one answer, or write it to the file that ``-o`` names."""
    form, path = arguments.__dict__.get("form"), arguments.__dict__.get("output")
    if path and found.document is not None:
        from weighbridge.documents.renderers import write

        emit(f"{escape_invisible(path)}: {write(found.document(), path):,} bytes\n")
    elif found.text is not None:
        emit(escape_invisible(found.text, keep="\n"))
    elif form == "json" or found.document is None:
        emit_json(found.json())
    else:
        show(found.document(), form)


def _check_file(arguments: Arguments) -> None:
    """Refuse a file's ending before any work is done."""
    from weighbridge.documents.renderers import form_of

    form = arguments.__dict__.get("form")
    if form is not None and form_of(arguments.output) != form:
        raise UsageError(Text("{path} and the form {form} contradict each other", path=arguments.output, form=form))
    form_of(arguments.output)


def standard_input() -> bytes:
    """Return what stands on standard input.

    Raises:
        UsageError: It is closed.
    """
    if sys.stdin is None:
        raise UsageError(Text("standard input is closed"))
    try:
        return read_bounded(sys.stdin.buffer)
    except OSError as error:
        raise UsageError(Text("standard input cannot be read: {why}", why=error.strerror)) from None


def emit(text: str) -> None:
    """Print a text."""
    if sys.stdout is not None:
        _write_or_refuse(lambda stream: stream.write(text))


def emit_json(found: object) -> None:
    """Print an answer as JSON: one line if it goes to a program, indented on a terminal."""
    if not on_terminal() and _is_utf8():
        pieces, keep = encode(found), ""
    else:
        import json

        pieces, keep = (json.dumps(found, ensure_ascii=not _is_utf8(), indent=2 if on_terminal() else None),), "\n"
    for piece in pieces:
        emit(escape_invisible(piece, keep))
    emit("\n")


def show(document: Document, form: str | None = None) -> None:
    """Print a document: in the form that was asked for, drawn on a terminal, else as plain text."""
    from weighbridge.documents.renderers import render

    columns = width()
    if form is None and on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        emit(render(document, "terminal", width=columns))
    else:
        emit(render(document, form or "text", width=columns if on_terminal() or os.environ.get("COLUMNS") else 0))


def on_terminal() -> bool:
    """Tell whether a person reads what is printed."""
    return sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """Return how many columns a line has: what COLUMNS says, else the terminal, else 100."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and columns.strip("0"):
        return min(max(int(columns.lstrip("0")[:5]), 20), WIDEST)
    if on_terminal():
        try:
            return min(max(os.get_terminal_size(sys.stdout.fileno()).columns, 20), WIDEST)
        except (OSError, ValueError):
            pass
    return 100


def flush() -> None:
    """Write out what is still held back.

    Raises:
        UsageError: It cannot be written: a full disk, a closed terminal.
    """
    if sys.stdout is not None:
        _write_or_refuse(lambda stream: stream.flush())


def _write_or_refuse(write: Callable[[TextIO], object]) -> None:
    assert sys.stdout is not None
    try:
        write(sys.stdout)
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None
        raise UsageError(Text("standard output cannot be written: {why}", why=error.strerror)) from None


def complain(error: WeighbridgeError, words: list[str]) -> None:
    """Say in one line what was wrong."""
    if sys.stderr is None:
        return
    from weighbridge.core.messages import error_text

    lang = language_of(words, sys.stderr)
    text = error_text(error, lang)
    if isinstance(error, SourceError) and not error.suggestions:
        text = _or_command(error.source, words, text, lang)
    try:
        print(f"weigh: {_shorten(escape_invisible(text))}", file=sys.stderr)
    except OSError:  # a full disk: nobody can be told, and the exit code says it
        return


def say_interrupted(words: list[str]) -> None:
    """Report in one line that the work was interrupted."""
    if sys.stderr is not None:
        from weighbridge.core.messages import translator

        say = translator(language_of(words, sys.stderr))
        print(f"weigh: {say('interrupted')}", file=sys.stderr)


def _shorten(text: str) -> str:
    """Leave out the middle of a text that names a megabyte."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 3 :]}"


def language_of(words: list[str], stream: TextIO | None = None) -> str:
    """Return the language of what is said before the options are read: that of ``--lang``, else of the environment, if *stream* can write it.

    >>> language_of(["count", "--lang=zh"])
    'zh'
    """
    from weighbridge.core.messages import language

    given = [word[7:] for word in words if word.startswith("--lang=")]
    given += [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--lang"]
    try:
        return _encodable_language(language(given[-1] if given else None), stream or sys.stdout)
    except UsageError:
        return _encodable_language(language(), stream or sys.stdout)


def _or_command(word: str, words: list[str], text: str, lang: str) -> str:
    """Say instead which command may have been meant, where a line has none."""
    from difflib import get_close_matches

    from weighbridge.commands.table import COMMANDS
    from weighbridge.core.messages import translator

    near = [] if COMMANDS.keys() & set(words) else get_close_matches(word, ("help", *COMMANDS), n=1, cutoff=0.75)
    return translator(lang)("{name}: no such command; did you mean {near}?").format(name=word, near=near[0]) if near else text


def _is_utf8() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
