"""Bytes of weights beside the count that they are of: a column of file sizes, ``891.73 MB (fp32) or 445.86 MB (fp16)`` of ``222.93M``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.byte_thresholds import FILE_DIGITS, FILES_FAR, FILES_NEAR
from weighbridge.auditing.checks.column_kinds import column_heads, kind_of
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.table_thresholds import SURE_ROWS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import significant_digits, whole
from weighbridge.auditing.text.size_words import BYTES, COUNTING, UNITS
from weighbridge.auditing.text.tables import Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import BESIDE_LINES
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_FILE = patterns.pattern(r"file size|(?:checkpoint|weights?|download) size|size \((?:MB|GB)\)|文件大小|权重大小", re.IGNORECASE)
_WIDTHS = (4, 2, 1)
"""Bytes of a number in the dtypes that files are written in."""
_NAMES = {
    4: ("fp32", "float32", "full precision", "单精度"),
    2: ("fp16", "bf16", "float16", "bfloat16", "half precision", "半精度"),
    1: ("int8", "fp8", "8-bit", "8 bit"),
}
_CALLED = tuple(word for words in _NAMES.values() for word in words)
_DTYPES = tuple((width, patterns.pattern("|".join(words), re.IGNORECASE)) for width, words in _NAMES.items())
"""Dtypes as they are called, by their bytes."""
_REACH = 48
"""Characters behind a figure within which its dtype is said."""


class _Bytes(NamedTuple):
    """A figure in bytes with its count and the bytes of a number: what it should be."""

    token: Token
    right: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Hold figures in bytes against the counts that they are of, where other such figures agree with theirs."""
    for table in scene.tables:
        for width in _WIDTHS:
            yield from _judge(scene, _of_columns(scene, table, width), least=SURE_ROWS)
    for index in scene.counted_lines:
        for found in _of_sentence(scene, index):
            yield from _judge(scene, found, least=1)


def _of_columns(scene: Scene, table: Table, width: int) -> list[_Bytes]:
    """Return the file sizes of a table whose other column counts parameters."""
    heads = column_heads(table)
    counts = [place for place, head in enumerate(heads) if kind_of(head) == "total" and not _FILE.search(head)]
    files = [place for place, head in enumerate(heads) if _FILE.search(head)]
    found = []
    for row in table.rows if len(counts) == 1 == len(files) else ():
        if len(row.cells) > max(*counts, *files):
            count, size = (_figures(row.cells[place].text, row.line) for place in (counts[0], files[0]))
            if len(count) == 1 == len(size) and count[0].unit in COUNTING and size[0].unit in BYTES:
                cell = row.cells[files[0]]
                token = size[0]._replace(line=cell.line, start=cell.start + size[0].start, end=cell.start + size[0].end)
                found.append(_Bytes(token, _amount(count[0]) * width))
    return found


def _of_sentence(scene: Scene, index: int) -> Iterator[list[_Bytes]]:
    """Return the figures of a line in two dtypes, for each exact count near them."""
    text = scene.lines[index].text
    lower = text.lower()
    if not any(word in lower for word in _CALLED):
        return
    said = [(token, width) for token in _figures(text, index) if token.unit in BYTES and (width := _width(text, token))]
    if len({width for _, width in said}) < 2:
        return  # one dtype settles nothing
    near = range(max(0, index - BESIDE_LINES), min(len(scene.lines), index + BESIDE_LINES))
    counts = {
        _amount(t)
        for line in near
        for t in _figures(scene.lines[line].text, line)
        if t.unit in COUNTING and significant_digits(t) > FILE_DIGITS
    }
    for count in counts:
        yield [_Bytes(token, count * width) for token, width in said]


def _figures(text: str, line: int) -> list[Token]:
    found = [t for t in tokens(text, line) if t.kind == "num" and t.value and t.unit]
    return [t for t in found if significant_digits(t) >= FILE_DIGITS]


def _width(text: str, token: Token) -> int | None:
    """Return the bytes of the dtype that is said first behind a figure, and before the next."""
    behind = re.split(r"\d[\d.]* ?[KMG]i?B\b", text[token.end : token.end + _REACH])[0]
    found = sorted((match.start(), width) for width, pattern in _DTYPES if (match := pattern.search(behind)) is not None)
    return found[0][1] if found else None


def _amount(token: Token) -> Fraction:
    return (token.value or Fraction(0)) * UNITS[token.unit][0]


def _judge(scene: Scene, found: Sequence[_Bytes], *, least: int) -> Iterator[Claim]:
    """Confirm the figures that are those of their counts; one is wrong where all others, and enough of them, are."""
    for power in (0, 1):
        agreed = [one for one in found if _distance(one, power) <= FILES_NEAR]
        if len(agreed) < least or len(agreed) + 1 < len(found):
            continue
        for one in found:
            if one in agreed or _distance(one, power) > FILES_FAR:
                yield _claim(scene, one, power, "rounded" if one in agreed else "wrong")
        return


def _claim(scene: Scene, one: _Bytes, power: int, verdict: str) -> Claim:
    said, written = _value(one, power), one.token.text
    places = len(re.sub(r"\D", "", written.partition(".")[2]))
    about = re.sub(r"\d[\d,.]*", f"{float(one.right / _scale(one, power)):.{places}f}", written, count=1)
    reason = () if verdict == "rounded" else because(mark("should be {right}"), right=about)
    facts: dict[str, object] = {"value": whole(said), "expected": whole(one.right), "difference": whole(said - one.right), "reason": reason}
    return claim(scene.lines, one.token, one.token, "total", verdict, **facts)


def _distance(one: _Bytes, power: int) -> Fraction:
    """Return how far a figure is off, its unit a power of ten or of two."""
    return abs(_value(one, power) - one.right) / one.right if one.right else Fraction(1)


def _value(one: _Bytes, power: int) -> Fraction:
    return (one.token.value or Fraction(0)) * _scale(one, power)


def _scale(one: _Bytes, power: int) -> int:
    scales = sorted(UNITS[one.token.unit])
    return scales[min(power, len(scales) - 1)]
