"""Files on disk: names that are safe on every system, opening that never blocks, reading that ends.

A name such as ``config.json`` may be a pipe nobody writes to, a device that never ends, a link to itself, or three gigabytes. Whatever is not
an ordinary file is refused as the system would refuse it, with an :class:`OSError`, so that every reader says so in its own words.
"""

from __future__ import annotations

import os
import stat

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

LARGEST_CONFIG = 1 << 24
"""Bytes of a config or a text; a hundred times those of any that is published."""

PATIENCE = 20.0
"""Seconds without a byte after which a pipe that was named is given up."""

KINDS = {
    stat.S_IFIFO: mark("a named pipe, not a file"),
    stat.S_IFCHR: mark("a device, not a file"),
    stat.S_IFBLK: mark("a device, not a file"),
    stat.S_IFSOCK: mark("a socket, not a file"),
}

PIECE = 1 << 16
"""Bytes that are read at a time."""
RESERVED = frozenset("con prn aux nul conin$ conout$".split()) | {f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789¹²³"}
"""Names that are devices on Windows, whatever their ending (Microsoft, "Naming Files, Paths, and Namespaces")."""


def is_file_name(name: str) -> bool:
    """Tell whether a name found in a file can name another file in the same folder, on any system.

    A folder, a drive, a server, a stream or a device of Windows is none on Linux either: what one of them reads, the others read too.

    >>> is_file_name("model-00001-of-00002.safetensors"), is_file_name("..\\\\x"), is_file_name("NUL.bin"), is_file_name("a:b")
    (True, False, False, False)
    """
    plain = name.rstrip(". ")
    if not plain or plain != name or len(name) > 255 or not name.isprintable():
        return False
    return not any(letter in '/\\:*?"<>|' for letter in name) and name.partition(".")[0].rstrip().casefold() not in RESERVED


def is_path_below(name: str) -> bool:
    """Tell whether a path found in a file, with slashes, stays below that file's folder, on any system.

    >>> is_path_below("d/a-1"), is_path_below("../a"), is_path_below("/etc/passwd"), is_path_below("d/CON")
    (True, False, False, False)
    """
    return all(is_file_name(piece) for piece in name.split("/"))


def open_file(path: Path | str) -> BinaryIO:
    """Open an ordinary file for reading; what answers like a path, but lies elsewhere, opens itself.

    Raises:
        OSError: It is no ordinary file, or cannot be opened.
    """
    if not isinstance(path, str) and not hasattr(path, "as_posix"):
        return path.open("rb")
    return open(_open_ordinary(str(path)), "rb")


def _open_ordinary(path: str) -> int:
    """Return the descriptor of an ordinary file."""
    number = _open_descriptor(path)
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return number
    os.close(number)
    if stat.S_ISDIR(mode):
        import errno

        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(0, Text(KINDS.get(stat.S_IFMT(mode), "not a file")), str(path))


def read_whole(path: Path | str, most: int = LARGEST_CONFIG) -> bytes:
    """Read a file whole, if it has no more than *most* bytes.

    Raises:
        OSError: It is no ordinary file, is larger, or cannot be read.
    """
    if not isinstance(path, str) and not hasattr(path, "as_posix"):
        with open_file(path) as file:
            return read_bounded(file, most, str(path))
    number, pieces, left = _open_ordinary(str(path)), [], most
    try:  # without a buffer between: for a small file it takes longer than the reading
        while piece := os.read(number, min(left + 1, PIECE)):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise _size_error(most, str(path))
    finally:
        os.close(number)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_pipe(path: str, most: int = LARGEST_CONFIG) -> bytes:
    """Read what was named as a source although it is no ordinary file, such as ``<(...)``, as long as something comes.

    Raises:
        OSError: More than *most* bytes come, or nothing for :data:`PATIENCE` seconds.
    """
    from select import select

    number = _open_descriptor(path)
    pieces, size = [], 0
    try:
        while True:
            try:
                piece = os.read(number, PIECE)
            except BlockingIOError:  # somebody writes to it, but nothing has come yet
                if select([number], [], [], PATIENCE)[0]:
                    continue
                raise OSError(0, Text("nothing can be read from it"), path) from None
            size += len(piece)
            pieces.append(piece)
            if not piece:
                return b"".join(pieces)
            if size > most:
                raise _size_error(most, path)
    finally:
        os.close(number)


def read_bounded(file: BinaryIO, most: int = LARGEST_CONFIG, name: str = "") -> bytes:
    """Read a stream to its end, if that comes within *most* bytes.

    Raises:
        OSError: It does not.
    """
    data = file.read(min(PIECE, most + 1))
    if len(data) == PIECE:  # room for all that may come is made only where much comes
        data += file.read(most + 1 - PIECE)
    if len(data) > most:
        raise _size_error(most, name)
    return data


def _open_descriptor(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:  # a zero byte, or half of a surrogate pair
        raise OSError(0, Text("no file can be called that"), path) from None


def _size_error(most: int, path: str) -> OSError:
    return OSError(0, Text("more than {most:,} bytes", most=most), path)
