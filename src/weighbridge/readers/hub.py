"""Remote sources: URLs, and models on the Hugging Face Hub or on ModelScope by their id.

The usual environment variables are honoured: ``HF_ENDPOINT``, ``HF_TOKEN``, ``HF_HOME``, ``HF_HUB_CACHE``, ``HF_HUB_OFFLINE``;
``MODELSCOPE_ENDPOINT``, ``MODELSCOPE_API_TOKEN``. What the Hub's cache already holds is read there.

Source: huggingface_hub, constants.py and hf_api.py (``/api/models/{id}/revision/{revision}``, ``/{id}/resolve/{revision}/{path}``),
file_download.py (the layout of the cache); modelscope, hub/api.py (``/api/v1/models/{id}/repo/files`` and ``/repo``).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

from weighbridge.config.read import find_config
from weighbridge.core.errors import ReadError, SourceError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.readers import objects
from weighbridge.readers.connections import Connections
from weighbridge.readers.remote import FILE, Access, RemotePath, fetch

HUB_ID = re.compile(r"(?P<service>hf:|modelscope:)?(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>[\w./-]+))?")
LONGEST_WORD = 10_000
"""Bytes of a file that holds one word, a token or a commit."""

LARGEST_LIST = 32_000_000
MOST_FILES = 100_000
"""Files of a repository beyond which it is no model's."""


class Repository(NamedTuple):
    """A model on a hub.

    Attributes:
        service: ``hf`` or ``modelscope``.
        name: Its id, ``organization/name``.
        revision: A branch, a tag or a commit.
    """

    service: str
    name: str
    revision: str


def place(source: Path | str) -> Path:
    """Return *source* as a path: one on disk, or an object that behaves like a path for a URL or a hub's id.

    Raises:
        SourceError: The hub cannot be asked, or does not have it.

    >>> place("config.json")
    PosixPath('config.json')
    """
    if not isinstance(source, str):
        return source
    if re.match(r"https?://", source):
        return cast(Path, _address(source))
    if objects.is_object(source):
        return cast(Path, objects.place(source))
    path = Path(source)
    found = repository(source)
    if found is None or path.exists():
        return path
    return at_hub(found, source)


def at_hub(found: Repository, source: str) -> Path:
    """Return where a hub's model is, whatever stands on this disk under its name: in the Hub's cache, or at the hub.

    Raises:
        SourceError: The hub cannot be asked, or does not have it.
    """
    return _folder_in_cache(found) or cast(Path, _list_files(found, source))


def repository(source: str) -> Repository | None:
    """Read a hub's id, or None if it cannot be one.

    >>> repository("org/name@v1.0")
    Repository(service='hf', name='org/name', revision='v1.0')
    """
    match = HUB_ID.fullmatch(source)
    if match is None or (FILE.fullmatch(match["id"]) and not match["service"]):
        return None
    service = (match["service"] or "hf:").removesuffix(":")
    return Repository(service, match["id"], match["revision"] or ("main" if service == "hf" else "master"))


def _address(url: str) -> RemotePath:
    """Return the file at an ``https://`` address; the Hub's token goes with it only to the Hub itself."""
    try:
        pieces = urlsplit(url)
    except ValueError:
        raise SourceError(Text("{url}: not a possible address", url=url), source=url) from None
    folder, _, name = pieces.path.rpartition("/")
    if not name:
        raise SourceError(Text("{url}: the address of a file is needed, such as .../model.safetensors", url=url), source=url)
    query = f"?{pieces.query}" if pieces.query else ""
    from urllib.parse import unquote

    own = _endpoint("hf") + "/"
    access = _access("hf") if url.startswith(own) else Access(connections=Connections())
    return RemotePath(f"{pieces.scheme}://{pieces.netloc}{folder}/", unquote(name), access, shown=url, query=query)


def _list_files(found: Repository, source: str) -> RemotePath:
    """Ask the hub what files the model has."""
    endpoint, access = _endpoint(found.service), _access(found.service)
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE") or os.environ.get("TRANSFORMERS_OFFLINE") == "1":
        raise SourceError(Text("{source}: neither here nor in the cache, and HF_HUB_OFFLINE is set", source=source), source=source)
    revision = quote(found.revision, safe="")
    if found.service == "hf":
        url, base = f"{endpoint}/api/models/{found.name}/revision/{revision}", f"{endpoint}/{found.name}/resolve/{revision}/"
    else:
        url = f"{endpoint}/api/v1/models/{found.name}/repo/files?Revision={revision}&Recursive=False"
        base = f"{endpoint}/api/v1/models/{found.name}/repo?Revision={revision}&FilePath="
    try:
        names = _names(json.loads(fetch(url, 0, LARGEST_LIST, access._replace(whole=LARGEST_LIST))[0]))
    except ReadError as error:
        reason = error.message if error.path == url else error
        raise SourceError(
            Text("{source}: no such file here, and on {endpoint}: {reason}", source=source, endpoint=endpoint, reason=reason), source=source
        ) from None
    except (ValueError, RecursionError):
        raise SourceError(
            Text("{source}: {endpoint} does not answer as a hub does", source=source, endpoint=endpoint), source=source
        ) from None
    if len(names) > MOST_FILES:
        raise SourceError(
            Text("{source}: a repository of {count:,} files; name one by its address", source=source, count=len(names)), source=source
        )
    return RemotePath(base, "", access, names=names, shown=source)


def _names(answer: Any) -> tuple[str, ...]:
    """Return the files that a hub's answer lists, in either hub's form."""
    if not isinstance(answer, dict):
        raise ValueError("no object")
    data = answer.get("Data")
    entries = answer.get("siblings") if data is None else data.get("Files") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no files")
    names = [entry.get("rfilename") or entry.get("Path") for entry in entries if isinstance(entry, dict)]
    return tuple(name for name in names if isinstance(name, str))


def _endpoint(service: str) -> str:
    if service == "modelscope":
        return os.environ.get("MODELSCOPE_ENDPOINT", "https://www.modelscope.cn").rstrip("/")
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _home() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    return Path(os.path.expanduser(os.environ.get("HF_HOME", default)))  # a user that is not there is left as it stands


def _access(service: str) -> Access:
    """Return how a hub is asked: with the token that its own library would send, from the environment or its file."""
    if service == "modelscope":
        return Access(
            _sendable_token(os.environ.get("MODELSCOPE_API_TOKEN"), "MODELSCOPE_API_TOKEN"),
            where="MODELSCOPE_API_TOKEN",
            connections=Connections(),
        )
    token = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")
    if not token and os.environ.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "") in ("", "0"):
        try:
            token = read_whole(os.path.expanduser(os.environ.get("HF_TOKEN_PATH", _home() / "token")), LONGEST_WORD).decode("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            token = None
    return Access(_sendable_token(token, "HF_TOKEN"), connections=Connections())


def _sendable_token(token: str | None, where: str) -> str | None:
    """Return a token as it can be sent.

    Raises:
        SourceError: It holds what no header may; the token itself is not told.
    """
    token = (token or "").strip()
    if not re.fullmatch(r"[!-~]*", token):
        raise SourceError(Text("{where} holds a character that no token has, such as a line break", where=where))
    return token or None


def _folder_in_cache(found: Repository) -> Path | None:
    """Return the model's folder in the Hub's cache, if its config or weights are there."""
    if found.service != "hf":
        return None
    cache = Path(os.path.expanduser(os.environ.get("HF_HUB_CACHE", os.environ.get("HUGGINGFACE_HUB_CACHE", _home() / "hub"))))
    folder = cache / f"models--{found.name.replace('/', '--')}"
    try:
        commit = read_whole(folder / "refs" / found.revision, LONGEST_WORD).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        commit = found.revision
    snapshot = folder / "snapshots" / commit
    if not re.fullmatch(r"[\w.-]+", commit) or not snapshot.is_dir():
        return None
    return None if find_config(snapshot) is None else snapshot
