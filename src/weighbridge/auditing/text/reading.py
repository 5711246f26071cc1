"""From the bytes of a file to the lines of a text: Markdown, HTML, plain text, a notebook; UTF-8, UTF-16, GBK."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from weighbridge.auditing import patterns
from weighbridge.auditing.claims import Line
from weighbridge.auditing.text.detex import strip_tex
from weighbridge.auditing.text.pages import PageLine, html
from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text

LARGEST = 64 * 2**20
"""Bytes; an article is smaller."""


def read_lines(data: bytes, name: str = "") -> tuple[Line, ...]:
    """Read a text in whatever form it has, and undo its typesetting.

    Args:
        data: The bytes of the file.
        name: Its name; an ending such as ``.html`` or ``.ipynb`` says what it is.

    Raises:
        ReadError: It is no text, or a notebook that is no JSON.

    >>> [line.text for line in read_lines("４×７６８＝３,０７２".encode("gbk"))]
    ['4×768=3,072']
    """
    if len(data) > LARGEST:
        raise ReadError(
            Text("{count:,} bytes are too many for an article; at most {largest:,} are read", count=len(data), largest=LARGEST), path=name
        )
    text = decode(data, name)
    between, ending = "\n", name.lower().rpartition(".")[2]
    head = text.lstrip()[:200].lower()
    if ending == "ipynb" or (head.startswith("{") and '"cells"' in text and '"nbformat"' in text):
        written = notebook(text, name)
    elif ending in ("html", "htm", "xhtml") or head.startswith(("<!doctype html", "<html")):
        written = html(text)
    else:
        written, between = (
            [PageLine(number, piece, _level(line)) for number, line in enumerate(_split(text), 1) for piece in _rows(line)],
            "",
        )
    return tuple(piece for line in _lines(written, between) for piece in _pieces(line))


def _lines(written: Sequence[PageLine], between: str) -> Iterator[Line]:
    """Undo the typesetting of lines; those that stand in one line of the file have that as written, and their places in it."""
    for number, group in groupby(written, lambda line: line.number):
        shown = list(group)
        raw, start = between.join(line.text for line in shown) if len(shown) > 1 else shown[0].text, 0
        for line in shown:
            text, at = strip_tex(line.text)
            yield Line(number, raw, text, tuple(start + column for column in at) if start else at, line.heading)
            start += len(line.text) + len(between)


LONGEST = 4_000
"""Characters of a line that are read together; what reads a line looks back and forth in it, so that its time would
grow with the square. A longer line is read in pieces that end where a sentence does, or else between two words."""
_ENDS = patterns.pattern(r"[.。;；!！?？|] ?(?=\D)|[。；]")
_WORDS = patterns.pattern(r"(?<=[A-Za-z\u4e00-\u9fff]) (?=[A-Za-z\u4e00-\u9fff\d])|(?<=[a-zA-Z,] )(?=\d)")


def _pieces(line: Line) -> Iterator[Line]:
    """Cut a long line as read into pieces; each knows where it stands in the line as written.

    Where neither a sentence nor a word ends, the piece is left unread: half an equation must not be judged.
    """
    start = 0
    while len(line.text) - start > LONGEST:
        stop, whole = _piece_end(line.text, start)
        yield line._replace(text=line.text[start:stop] if whole else "", at=line.at[start:stop] if whole else ())
        start = stop
    yield line._replace(text=line.text[start:], at=line.at[start:]) if start else line


def _piece_end(text: str, start: int) -> tuple[int, bool]:
    """Return where the piece that starts at *start* ends, and whether it ends there by itself."""
    for pattern in (_ENDS, _WORDS):
        ends = [match.end() for match in pattern.finditer(text, start + LONGEST // 4, start + LONGEST)]
        if ends:
            return ends[-1], True
    return start + LONGEST, False


def decode(data: bytes, name: str = "") -> str:
    """Decode UTF-8, UTF-16 with its mark, or GBK (as GB 18030), whichever these bytes are.

    >>> decode("参数".encode("utf-16")), decode("参数".encode("gbk"))
    ('参数', '参数')
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ("utf-16",)
    elif b"\0" in data:
        raise ReadError("this is not text", path=name, offset=data.index(b"\0"))
    else:
        encodings = ("utf-8-sig", "gb18030")  # type: ignore[assignment]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ReadError("this is not text in UTF-8, UTF-16 or GBK", path=name)


def notebook(text: str, name: str = "") -> list[PageLine]:
    """Return the lines of a notebook's cells and printed outputs, numbered as in the file.

    >>> notebook('{"cells": [{"cell_type": "markdown", "source": ["# a\\\\n", "b"]}]}')
    [PageLine(number=1, text='# a', heading=1), PageLine(number=1, text='b', heading=0)]
    """
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReadError("this is not a notebook: expected JSON with cells", path=name) from None
    found: list[PageLine] = []
    place, number = 0, 1
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict):
            continue
        prose = cell.get("cell_type") == "markdown"
        for line in _sources(cell):
            spelled = json.dumps(line, ensure_ascii=False)[1:-1]
            at = text.find(spelled, place) if spelled else place
            at = at if at >= 0 else text.find(json.dumps(line)[1:-1], place)
            if at > place:
                number, place = number + text.count("\n", place, at), at
            found.append(PageLine(number, line, _level(line) if prose else 0))
    return found


def _sources(cell: dict[str, object]) -> list[str]:
    """Return the source lines of a cell, and those it printed."""
    sources = [cell.get("source")]
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            inner = output.get("data")
            sources += [output.get("text"), inner.get("text/plain") if isinstance(inner, dict) else None]
    lines: list[str] = []
    for source in sources:
        if isinstance(source, list):
            source = "".join(piece for piece in source if isinstance(piece, str))
        if isinstance(source, str):
            lines += source.split("\n")
    return lines


def _rows(line: str) -> list[str]:
    """Split a line of Markdown that holds several rows of an HTML table."""
    if line.count("<tr") < 2:
        return [line]
    starts = [match.start() for match in re.finditer(r"<tr\b", line)]
    if not starts:
        return [line]  # ``<trigger-name>``
    return [line[: starts[0]], *(line[a:b] for a, b in zip(starts, [*starts[1:], len(line)], strict=True))]


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _level(line: str) -> int:
    hashes = len(line) - len(line.lstrip("#"))
    return hashes if 0 < hashes < 7 and line[hashes : hashes + 1] == " " else 0
