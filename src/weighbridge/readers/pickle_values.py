"""What is made of a pickle's contents: names of classes, objects that nobody builds, texts too long to keep; and where its bytes come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias

from weighbridge.core.errors import ReadError


class Global(NamedTuple):
    """A name that the pickle would import."""

    module: str
    name: str


class Stub:
    """Whatever the pickle would have made by a call: the call, its state, and what was put into it."""

    __slots__ = ("args", "items", "maker", "state")

    def __init__(self, maker: object, args: object) -> None:
        self.maker = maker
        self.args = args
        self.state: object = None
        self.items: dict[Any, Any] = {}


class AttributedDict(dict[Any, Any]):
    """An ordered dict, which unlike a plain one may have attributes; they are its state."""

    __slots__ = ("state",)

    def __init__(self, *items: Any) -> None:
        super().__init__(*items)
        self.state: object = None


class LongText(str):
    """What stands for a text too long to be a name: its length, for people, and its letters, as a number."""

    letters: int

    def __new__(cls, letters: int) -> LongText:
        found = super().__new__(cls, f"(a text of {letters:,} letters)")
        found.letters = letters
        return found


class Raw(NamedTuple):
    """What stands for bytes too long to be kept: where they begin, and how many they are."""

    begin: int
    length: int


class Opaque:
    """A key of a dict that is not hashed, since that could take for ever: it stands for itself."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


Makers: TypeAlias = Mapping[Global, Callable[..., object]]


Persistent: TypeAlias = Callable[[object], object]


class Source(Protocol):
    """What a pickle is read from: bytes, or a file that is read page by page."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: slice) -> bytes: ...
    def find(self, sought: bytes, start: int, end: int, /) -> int:
        """Return where *sought* stands between two places, or -1."""


class PagedFile:
    """A file as a source: what is passed over is not read, and what is read comes in pages.

    Args:
        file: The file.
        most: Bytes that may be read of it.
    """

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._left = file, most
        self._size = file.seek(0, 2)
        self._chunk: int = getattr(file, "chunk", 1 << 16)
        self._begin, self._page = 0, b""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice) -> bytes:
        start, end = place.start, min(place.stop, self._size)
        if not self._begin <= start <= end <= self._begin + len(self._page):
            self._fill(start, end - start)
        return self._page[start - self._begin : end - self._begin]

    def find(self, sought: bytes, start: int, end: int) -> int:
        """Return where *sought* stands between two places, or -1."""
        at = self[start:end].find(sought)
        return -1 if at < 0 else start + at

    def _fill(self, start: int, length: int) -> None:
        wanted = max(length, self._chunk)
        self._left -= wanted
        if self._left < 0:
            raise ReadError("a pickle that has more to be read than its arrays")
        self._file.seek(start)
        self._begin, self._page = start, self._file.read(wanted)
        if len(self._page) < length:
            raise ReadError("the pickle is cut off", offset=start)
