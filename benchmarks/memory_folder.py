"""A folder that is held in memory: what the readers ask of a path, at the cost of a dictionary, for inputs by the million."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple, cast

BETWEEN = b"\n--\n"
"""Stands between two files of an input; the first line of each is its name."""


class _Size(NamedTuple):
    st_size: int


class Held:
    """A path to a file or a folder that an input describes.

    Attributes:
        files: All files of the input, by their full names.
        full: Its own full name; that of the folder is empty.
    """

    __slots__ = ("files", "full")

    def __init__(self, files: dict[str, bytes] | Held, full: str = "") -> None:
        self.files: dict[str, bytes] = files.files if isinstance(files, Held) else files
        self.full = files.full if isinstance(files, Held) else full

    @property
    def name(self) -> str:
        """The last piece of its name."""
        return self.full.rpartition("/")[2]

    @property
    def path(self) -> Held:
        """Itself: what ``os.scandir`` gives has its path beside it."""
        return self

    @property
    def parent(self) -> Held:
        """The folder it lies in."""
        return Held(self.files, self.full.rpartition("/")[0])

    def __truediv__(self, name: str) -> Held:
        return Held(self.files, f"{self.full}/{name}" if self.full else name)

    def __str__(self) -> str:
        return self.full

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.full == other.full

    def __hash__(self) -> int:
        return hash(self.full)

    def __lt__(self, other: Held) -> bool:
        return self.full < other.full

    def is_file(self) -> bool:
        """Whether a file has this name."""
        return self.full in self.files

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether files lie in it."""
        return not self.full or any(name.startswith(f"{self.full}/") for name in self.files)

    def iterdir(self) -> Iterator[Held]:
        """Yield what lies in it, as a disk would: each once."""
        before = f"{self.full}/" if self.full else ""
        names = dict.fromkeys(name[len(before) :].partition("/")[0] for name in self.files if name.startswith(before))
        yield from (self / name for name in names)

    def rglob(self, pattern: str) -> Iterator[Held]:
        """Yield the files of this name below it."""
        yield from (Held(self.files, name) for name in self.files if name.rpartition("/")[2] == pattern)

    def relative_to(self, folder: Held) -> Held:
        """Return its name from *folder* on."""
        return Held(self.files, self.full[len(folder.full) :].lstrip("/"))

    def as_posix(self) -> str:
        """Return its full name."""
        return self.full

    def read_bytes(self) -> bytes:
        """Return the file's bytes."""
        if not self.is_file():
            raise FileNotFoundError(2, "No such file or directory")
        return self.files[self.full]

    def stat(self) -> _Size:
        """Return the size."""
        return _Size(len(self.read_bytes()))

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the file."""
        return cast(BinaryIO, BytesIO(self.read_bytes()))


@contextmanager
def scandir(folder: Any) -> Iterator[Iterator[Held]]:
    """Look into a folder as ``os.scandir`` does."""
    yield folder.iterdir()


def folder_of(data: bytes) -> Held:
    """Return the folder that the bytes of an input describe.

    >>> sorted(path.name for path in folder_of(b"a.json\\n{}\\n--\\nin/b\\n").iterdir())
    ['a.json', 'in']
    """
    files: dict[str, bytes] = {}
    for piece in data.split(BETWEEN):
        name, _, content = piece.partition(b"\n")
        text = name.decode("utf-8", "replace").strip("/")
        if text and "\0" not in text and "//" not in text:
            files.setdefault(text, content)
    return Held(files)


def bytes_of(files: dict[str, bytes]) -> bytes:
    """Return the bytes that describe a folder.

    >>> folder_of(bytes_of({"a": b"1", "b/c": b""})).files
    {'a': b'1', 'b/c': b''}
    """
    return BETWEEN.join(name.encode() + b"\n" + content for name, content in files.items())
