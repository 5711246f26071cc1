"""Files over HTTP: read by ranges, so that of a checkpoint of any size only the header travels.

A :class:`RangedFile` file answers ``read`` and ``seek``, and a :class:`RemotePath` answers what the readers ask of a path, so every reader
works on them unchanged. A server that ignores ranges is noticed by its answer and cut off before it sends the file.

Source: RFC 9110, sections 14 (range requests) and 15.3.7 (206), 15.5.17 (416).
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, InvalidURL
from typing import Any, BinaryIO, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request

from weighbridge.core.errors import ReadError, SourceError
from weighbridge.core.messages import Text
from weighbridge.readers.connections import Connections, opener

AHEAD = 32 * 1024
"""Bytes fetched at least: a small header comes with the first request."""

WHOLE = 128 * 1024
"""A file up to this size may come whole from a server that ignores ranges."""

LARGEST_TEXT = 64_000_000
"""JSON is read whole, so it may come whole."""

MOST_FETCHED = 256_000_000
MOST_AT_ONCE = 16_000_000
"""Bytes of one request; a longer header comes in several, so that it is in memory once and not three times."""

LOWEST_RATE = 20_000
"""Bytes a second that a server must send in the end."""

TRIES = 5
AGAIN = frozenset((408, 429, 500, 502, 503, 504))
"""Answers after which it is worth trying again."""

FILE = re.compile(r".*\.(json|safetensors|bin|pt|pth|ckpt|gguf|ggml|onnx|h5|keras|msgpack|npz|index|zip|yaml|txt|md)", re.I)
"""Names of files that servers hold beside models, so that an id is told from a path."""


class TransientError(ReadError):
    """A server that does not answer, or says that it cannot now: the same request may succeed later."""


class Access(NamedTuple):
    """How to reach a server.

    Attributes:
        token: Sent as a bearer token, to the host that was named and to no other.
        timeout: Seconds without an answer.
        wait: Sleeps for some seconds; tests put in something quicker.
        where: Which variable holds the token, for the message when it is refused.
        whole: Bytes up to which a file may come whole from a server that ignores ranges.
        get: Fetches in place of HTTP: the bytes of an address from one place to before another, and the file's size.
        seconds: The longest that bytes may take in all, however often they are asked for; a second more for each :data:`LOWEST_RATE` of them.
        connections: Those to its hosts that are kept alive; without them each request makes its own.
    """

    token: str | None = None
    timeout: float = 20.0
    wait: Callable[[float], None] = time.sleep
    where: str = "HF_TOKEN"
    whole: int = WHOLE
    get: Callable[[str, int, int], tuple[bytes, int]] | None = None
    seconds: float = 60.0
    connections: Connections | None = None


class Version:
    """Which version of a file is read: the first answer's ETag, or its date; an answer of another is refused."""

    def __init__(self) -> None:
        self.tag = ""
        self.answers = 0

    @property
    def is_unknown(self) -> bool:
        """Whether parts of the file came in several answers, none of which names a version."""
        return self.answers > 1 and not self.tag

    def header(self) -> dict[str, str]:
        """Return what asks for no other version; a weak tag may not be asked for, only compared."""
        return {"If-Range": self.tag} if self.tag and not self.tag.startswith("W/") else {}

    def check(self, answer: Any, url: str) -> None:
        """Hold an answer against the first.

        Raises:
            ReadError: It is of another version.
        """
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        if (self.tag and tag and tag != self.tag) or (self.tag and answer.status == 200):
            raise ReadError("the file changed while it was read", path=url)
        if answer.status == 206:
            self.tag = self.tag or tag
            self.answers += 1


class Piece(NamedTuple):
    """What one request brought: bytes, the size of the whole file, and whether the connection dropped before the end."""

    data: bytes
    total: int
    dropped: bool


def fetch(url: str, begin: int, end: int, access: Access, version: Version | None = None) -> tuple[bytes, int]:
    """Fetch the bytes from *begin* to before *end*; returns them (fewer at the file's end) and the file's size.

    Raises:
        ReadError: The server refuses, ignores ranges, or stays away after several tries.
    """
    if access.get is not None:
        return access.get(url, begin, end)
    data, version = b"", version or Version()
    ends = time.monotonic() + access.seconds + (end - begin) / LOWEST_RATE
    for attempt in range(TRIES):
        if time.monotonic() >= ends:
            raise TransientError(Text("no whole answer within {seconds:.0f} seconds", seconds=access.seconds), path=url)
        try:
            piece = _request_span(url, (begin + len(data), end), access, version, ends)
        except HTTPError as error:
            error.close()
            if error.code not in AGAIN or attempt == TRIES - 1:
                raise refusal(url, error.code, access, attempt + 1) from None
            access.wait(_pause(attempt, error.headers.get("Retry-After")))
            continue
        except InvalidURL:
            raise ReadError("it redirects to an invalid address, or its answer is not HTTP", path=url) from None
        except (URLError, HTTPException, OSError) as error:
            if attempt == TRIES - 1 and time.monotonic() < ends:
                raise TransientError(Text("cannot be reached: {reason}", reason=_reason(error)), path=url) from None
            access.wait(_pause(attempt, None))
            continue
        except (ValueError, RecursionError) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError("it redirects to an invalid address, or its answer is not HTTP", path=url) from None
        data += piece.data
        if not piece.dropped:
            return data, piece.total
        access.wait(_pause(attempt, None))
    if time.monotonic() >= ends:
        raise TransientError(Text("no whole answer within {seconds:.0f} seconds", seconds=access.seconds), path=url)
    raise TransientError(Text("the connection dropped {tries} times", tries=TRIES), path=url)


def _reason(error: Exception) -> object:
    """Return why a server cannot be reached, without the number of the error."""
    reason = getattr(error, "reason", error)
    return getattr(reason, "strerror", None) or reason


def _request_span(url: str, span: tuple[int, int], access: Access, version: Version, ends: float) -> Piece:
    """Ask for the bytes of a span, once; a server that ignores ranges may send a whole file that is small."""
    begin, end = span
    headers = {"Range": f"bytes={begin}-{end - 1}", "User-Agent": "weighbridge", "Accept-Encoding": "identity", **version.header()}
    if access.token:
        headers["Authorization"] = f"Bearer {access.token}"
    try:
        answer = opener(access.connections or Connections(), ends, access.timeout).open(Request(url, headers=headers))
    except HTTPError as error:
        stated = re.fullmatch(r"bytes \*/([0-9]{1,18})", error.headers.get("Content-Range") or "")
        if error.code == 416 and stated:
            error.close()
            return Piece(b"", int(stated[1]), False)
        raise
    with answer:
        version.check(answer, url)
        if answer.status == 206:
            stated = re.fullmatch(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})", answer.headers.get("Content-Range") or "")
            if stated is None or int(stated[1]) != begin or int(stated[2]) >= end:
                raise ReadError("the server sends a range other than the one it was asked for", path=url)
            return _piece(answer, int(stated[2]) + 1 - begin, int(stated[3]))
        length = answer.headers.get("Content-Length")
        known = int(length) if length is not None and re.fullmatch(r"[0-9]{1,18}", length) else None
        if known is not None and known > access.whole:
            raise ReadError("the server ignores ranges and would send the whole file; download it and name the file", path=url)
        whole = _piece(answer, access.whole + 1 if known is None else known, known or 0, open_end=known is None)
        if len(whole.data) > access.whole:
            raise ReadError("the server ignores ranges and would send the whole file; download it and name the file", path=url)
        if whole.dropped:
            return Piece(b"", whole.total, True)
        return Piece(whole.data[begin:end], len(whole.data), False)


def _piece(answer: Any, length: int, total: int, *, open_end: bool = False) -> Piece:
    """Read an answer's bytes, keeping what came if the connection drops; one with an *open_end* may have fewer, if it is ended as it should be."""
    data, broken = bytearray(), False
    try:
        while len(data) < length:
            more = answer.read1(min(length - len(data), 1 << 20))
            if not more:
                break
            data += more
    except (HTTPException, OSError) as error:
        data += getattr(error, "partial", b"")
        broken = True
    return Piece(bytes(data[:length]), total, broken or (len(data) < length and not open_end))


def _pause(attempt: int, stated: str | None) -> float:
    """Return how long to wait: what the server says, up to ten seconds, else a little longer each time."""
    return min(float(stated), 10.0) if stated is not None and re.fullmatch(r"[0-9]{1,9}", stated) else float(0.25 * 2**attempt)


def refusal(url: str, code: int, access: Access, tries: int = TRIES) -> ReadError:
    """Return the error for a server's refusal, with what to do about it, and how often it was asked if it may have been of the moment."""
    if code in (401, 403):
        known = f"the token in {access.where} does not open it" if access.token else f"set {access.where} to a token that may read it"
        return ReadError(Text("private, gated or missing (HTTP {code}): {known}", code=code, known=known), path=url)
    if code == 404:
        return ReadError("not there (HTTP 404)", path=url)
    if code == 429:
        return TransientError(
            Text("too many requests (HTTP 429), also at the last of {tries} tries; try again later", tries=tries), path=url
        )
    if code in AGAIN:
        return TransientError(Text("the server answers HTTP {code}, also at the last of {tries} tries", code=code, tries=tries), path=url)
    return ReadError(Text("the server answers HTTP {code}", code=code), path=url)


class RangedFile(io.RawIOBase):
    """A file over HTTP; each read is a request, so it is wrapped in a buffer that reads :data:`AHEAD`."""

    def __init__(self, url: str, access: Access) -> None:
        self.url, self.access = url, access
        self.position = 0
        self.fetched = 0
        self._version = Version()
        self._first, self.size = fetch(url, 0, AHEAD, access, self._version)
        self.fetched += len(self._first)

    @property
    def is_unchecked(self) -> bool:
        """Whether a file that was replaced between two ranges, by one of the same size, would not have been noticed."""
        return self._version.is_unknown

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move; nothing is fetched."""
        self.position = max(0, offset + (0 if whence == 0 else self.position if whence == 1 else self.size))
        return self.position

    def tell(self) -> int:
        """Return the position."""
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Fetch what is asked for, as far as the file goes."""
        end = min(self.position + min(len(buffer), MOST_AT_ONCE), self.size)
        if end <= self.position:
            return 0
        if end <= len(self._first):
            data = self._first[self.position : end]
        else:
            self.fetched += end - self.position
            if self.fetched > MOST_FETCHED:
                raise ReadError(
                    Text("more than {most_fetched:,} bytes would travel for a header", most_fetched=MOST_FETCHED), path=self.url
                )
            data, size = fetch(self.url, self.position, end, self.access, self._version)
            if size != self.size or len(data) != end - self.position:
                raise ReadError("the file changed while it was read", path=self.url)
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


class _Status(NamedTuple):
    st_size: int


class RemotePath:
    """A file or a folder over HTTP, which answers what the readers ask of a ``pathlib.Path``.

    Attributes:
        base: The address of the folder, ending with a slash.
        name: The file in it; the empty string is the folder itself.
        names: The files in the folder, or None if the server does not list them.
        shown: What the user typed.
        query: What follows a file's address (a signature).
    """

    def __init__(
        self,
        base: str,
        name: str,
        access: Access,
        *,
        names: tuple[str, ...] | dict[str, None] | None = None,
        shown: str = "",
        query: str = "",
    ) -> None:
        self.base, self.name, self.access, self.query = base, name, access, query
        self.names = dict.fromkeys(names) if isinstance(names, tuple) else names  # looked into once for each file, so not from end to end
        self.shown = shown

    @property
    def url(self) -> str:
        """The address of the file.

        Raises:
            ReadError: Its name holds half of a surrogate pair.
        """
        try:
            return self.base + quote(self.name) + self.query
        except UnicodeEncodeError:
            raise ReadError("no file can be called that", path=str(self)) from None

    @property
    def suffix(self) -> str:
        """The ending of the name, with its dot."""
        dot = self.name.rfind(".")
        return self.name[dot:] if dot > 0 else ""

    @property
    def parent(self) -> RemotePath:
        """The folder."""
        return RemotePath(self.base, "", self.access, names=self.names)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self.base, name, self.access, names=self.names)

    def __str__(self) -> str:
        return self.shown or self.base + self.name

    def __fspath__(self) -> str:
        raise SourceError(Text("{self_}: this needs a file on disk; download it", self_=self), source=str(self))

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return not self.name

    def is_file(self) -> bool:
        """Whether it is a file; where the folder is not listed, it is believed to be and reading will tell."""
        return bool(self.name) and (self.names is None or self.name in self.names)

    def exists(self) -> bool:
        """Whether it is there, as far as one knows without asking."""
        return self.is_dir() or self.is_file()

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield the files of the folder."""
        if self.names is None:
            raise ReadError("the server does not list its files; name one", path=str(self))
        yield from (self / name for name in self.names if "/" not in name)

    def stat(self) -> _Status:
        """Return the size."""
        if not self.is_file():
            raise FileNotFoundError(2, "not in the repository", str(self))
        return _Status(fetch(self.url, 0, 1, self.access)[1])

    def read_bytes(self) -> bytes:
        """Return a small file whole."""
        with self.open() as file:
            return file.read(LARGEST_TEXT)

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open it for reading by ranges."""
        if self.names is not None and self.name not in self.names:
            raise FileNotFoundError(2, "not in the repository", str(self))
        access = self.access._replace(whole=LARGEST_TEXT) if self.suffix == ".json" else self.access
        return io.BufferedReader(RangedFile(self.url, access), AHEAD)
