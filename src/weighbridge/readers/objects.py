"""Object stores: ``s3://``, ``gs://`` and ``az://``, read by ranges as any other address is.

obstore does the talking; it comes with ``pip install weighbridge[stores]``. Credentials and endpoints are taken from the environment
variables that each service's own tools use, and for S3 from its profiles too. Where none are set the store is asked without a signature, since most published models are
open; if it refuses, the machine's own identity (its instance role) is tried.

Source: apache/arrow-rs-object-store, src/aws/builder.rs, src/gcp/builder.rs, src/azure/builder.rs (the variables); Google Cloud Storage
client libraries (``STORAGE_EMULATOR_HOST``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from weighbridge.core.errors import ReadError, SourceError
from weighbridge.core.messages import Text
from weighbridge.readers.connections import redirected_host
from weighbridge.readers.profiles import Profile, profile
from weighbridge.readers.remote import FILE, TRIES, Access, RemotePath, TransientError, refusal

Answer = TypeVar("Answer")
ADDRESS = re.compile(r"(?P<scheme>s3|gs|az)://(?P<bucket>[\w.-]+)(/(?P<key>.*))?", re.S)
MOST_NAMES = 100_000
"""Files of a folder beyond which it is no model's."""


class Service(NamedTuple):
    """A kind of object store.

    Attributes:
        store: The class in ``obstore.store``.
        credentials: The variables of which one is set where requests are to be signed.
        endpoints: The variables of which the first that is set names another server.
        endpoint: What obstore calls that.
        set: What to set, for the message when credentials are wanted.
    """

    store: str
    credentials: tuple[str, ...]
    endpoints: tuple[str, ...]
    endpoint: str
    set: str


SERVICES = {
    "s3": Service(
        "S3Store",
        (
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ),
        ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
        "endpoint",
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE,",
    ),
    "gs": Service(
        "GCSStore",
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_BEARER_TOKEN",
        ),
        ("STORAGE_EMULATOR_HOST",),
        "base_url",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ),
    "az": Service(
        "AzureStore",
        (
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCESS_KEY",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_TOKEN",
            "AZURE_CLIENT_ID",
            "AZURE_STORAGE_CLIENT_ID",
        ),
        ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
        "endpoint",
        "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN",
    ),
}


def is_object(source: str) -> bool:
    """Tell whether *source* is an address in an object store.

    >>> is_object("s3://bucket/model.safetensors"), is_object("https://bucket/x")
    (True, False)
    """
    return source.startswith(tuple(f"{scheme}://" for scheme in SERVICES))


def place(source: str) -> RemotePath:
    """Return the file or the folder at an address; a folder is listed.

    Raises:
        SourceError: No such address, no obstore, or the store does not list the folder.
    """
    match = ADDRESS.fullmatch(source)
    if match is None:
        raise SourceError(
            Text("{source}: expected {partition}://BUCKET/PATH, a file or a folder", source=source, partition=source.partition(":")[0]),
            source=source,
        )
    service, key = SERVICES[match["scheme"]], match["key"] or ""
    root = f"{match['scheme']}://{match['bucket']}/"
    signed = any(os.environ.get(name) for name in service.credentials)
    own = profile(source) if match["scheme"] == "s3" else Profile("", {}, "", "")
    signer = "the credentials in the environment" if signed else f"the profile {own.name}" if own.keys else ""
    bucket = Bucket(root, service, _stores(source, service, match["bucket"], own if not signed else own._replace(keys={})), signer)
    bucket = bucket._replace(probed=_probe(service, match["bucket"], own))
    access = Access(where=service.set, get=bucket.get)
    folder, slash, name = key.rpartition("/")
    file = RemotePath(root + quote(folder + slash), name, access, shown=source)
    if FILE.fullmatch(name):
        return file
    names = bucket.names(key.strip("/"))
    if not names and name:
        return file
    inside = quote(key.strip("/") + "/") if key.strip("/") else ""
    return RemotePath(root + inside, "", access, names=names, shown=source)


def keys_below(source: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses of all objects below a folder, however deep, in the order of the store, each with what tells its version.

    Raises:
        SourceError: No such address, or the store does not list it.
    """
    match = ADDRESS.fullmatch(source)
    if match is None:
        raise SourceError(
            Text("{source}: expected {partition}://BUCKET/PATH/", source=source, partition=source.partition(":")[0]), source=source
        )
    service = SERVICES[match["scheme"]]
    own = profile(source) if match["scheme"] == "s3" else Profile("", {}, "", "")
    root = f"{match['scheme']}://{match['bucket']}/"
    bucket = Bucket(root, service, _stores(source, service, match["bucket"], own), probed=_probe(service, match["bucket"], own))
    prefix = (match["key"] or "").strip("/")
    try:
        pages = bucket._ask_stores(lambda store: iter(store.list(prefix or None)), source)
        for page in pages:
            for entry in page:
                yield root + entry["path"], f"{entry['size']} {entry.get('e_tag') or entry['last_modified']}"
    except ReadError as error:
        raise SourceError(Text("{source}: cannot be listed: {error}", source=source, error=error), source=source) from None


class Bucket(NamedTuple):
    """A bucket or container.

    Attributes:
        root: Its address.
        service: Its kind.
        stores: How to reach it, one way after the other if the first is refused.
        signer: Whose signature requests bear, in words; the empty string if they bear none.
        probed: The bucket's address at a server of one's own, which is asked without a signature first; empty if there is no need.
    """

    root: str
    service: Service
    stores: tuple[Any, ...]
    signer: str = ""
    probed: str = ""

    def get(self, url: str, begin: int, end: int) -> tuple[bytes, int]:
        """Fetch the bytes of an object from *begin* to before *end*, and its size."""
        key = unquote(url.removeprefix(self.root))

        def part(store: Any) -> tuple[bytes, int]:
            try:
                found = store.get(key, options={"range": (begin, end)})
                return bytes(found.bytes()), found.meta["size"]
            except Exception as error:
                size = _size_beyond(store, key, error)
                if size is None or size > begin:
                    raise
                return b"", size

        return self._ask_stores(part, url)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the files in a folder, and not those in folders below."""
        address = f"{self.root}{folder}"
        try:
            objects = self._ask_stores(lambda store: store.list_with_delimiter(folder or None)["objects"], address)
        except ReadError as error:
            reason = error.message if error.path == address else error
            raise SourceError(
                Text("{address}: the folder cannot be listed: {reason}; name a file", address=address, reason=reason), source=address
            ) from None
        if len(objects) > MOST_NAMES:
            raise SourceError(Text("{address}: a folder of {count:,} files; name one", address=address, count=len(objects)), source=address)
        return tuple(entry["path"].removeprefix(f"{folder}/") for entry in objects if entry["path"] != folder)

    def _ask_stores(self, act: Callable[[Any], Answer], url: str) -> Answer:
        """Return what the first way to the store that is not refused gives; a refusal is told of the first."""
        self._refuse_redirect(url)
        refused: Exception | None = None
        for store in self.stores:
            try:
                return act(store)
            except Exception as error:  # obstore raises its own, FileNotFoundError and ValueError
                refused = refused or error
                if _status(error) not in (401, 403):
                    break
        assert refused is not None
        raise self._refusal(url, refused)

    def _refuse_redirect(self, url: str) -> None:
        """Refuse what the server would lead to another host: obstore follows, and takes the token of a session along.

        It is asked without a signature, and then with one in the address, since it may lead on signed requests alone.

        Raises:
            ReadError: It would.
        """
        if not self.probed:
            return
        below = url.removeprefix(self.root)
        for address in (self.probed + below, *(_signed_address(store, unquote(below)) for store in self.stores[:1])):
            host = redirected_host(address, 20.0) if address else ""
            if host:
                raise ReadError(Text("the store redirects to {host}, to which the session's token is not sent", host=host), path=url)

    def _refusal(self, url: str, error: Exception) -> ReadError:
        code = _status(error)
        if code in (401, 403):
            unset = Text("set {variables} to what may read it", variables=self.service.set)
            what = Text("{signer} may not read it", signer=self.signer) if self.signer else unset
            return ReadError(Text("private or missing (HTTP {code}): {what}", code=code, what=what), path=url)
        if code is not None:
            return refusal(url, code, Access())
        first = (str(error).splitlines() or ["no answer"])[0]
        return TransientError(Text("cannot be reached: {rpartition:.300}", rpartition=first.rpartition(" - ")[2]), path=url)


def _signed_address(store: Any, key: str) -> str:
    """Return an object's address that bears a signature for a minute; empty if it cannot be signed, which the request itself tells."""
    from datetime import timedelta

    try:
        return str(import_module("obstore").sign(store, "GET", key, timedelta(minutes=1)))
    except Exception:  # obstore raises its own, and ValueError
        return ""


def _status(error: Exception) -> int | None:
    """Return the status of the server's answer that an error of obstore speaks of."""
    stated = re.search(r"status code: (\d{3})", str(error)[:4000])
    if stated:
        return int(stated[1])
    return 404 if isinstance(error, FileNotFoundError) else None


def _size_beyond(store: Any, key: str, error: Exception) -> int | None:
    """Return the object's size if the error is that it ends before the range begins, as an empty one always does."""
    if _status(error) != 416:
        return None
    try:
        size = store.head(key)["size"]
    except Exception:  # the first error is the one to tell
        return None
    return size if isinstance(size, int) else None


TOKENS = (
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables with which requests bear the token of a session."""


def _probe(service: Service, bucket: str, own: Profile) -> str:
    """Return a bucket's address where requests bear the token of a session and go to another server than Amazon's."""
    endpoint = _endpoint(service, own)
    if service.store != "S3Store" or not endpoint or not ("session_token" in own.keys or any(os.environ.get(name) for name in TOKENS)):
        return ""
    return f"{endpoint.rstrip('/')}/{bucket}/"


def _endpoint(service: Service, own: Profile) -> str:
    """Return the server that the environment or a profile names; empty for the service's own."""
    endpoint = next((value for name in service.endpoints if (value := os.environ.get(name))), own.endpoint)
    return f"http://{endpoint}" if endpoint and "://" not in endpoint else endpoint


def import_client() -> Any:
    """Import obstore's stores.

    Raises:
        ImportError: It is not installed.
    """
    return import_module("obstore.store")


def _stores(source: str, service: Service, bucket: str, own: Profile) -> tuple[Any, ...]:
    """Return the ways to reach a bucket: signed, or open first and then by the machine's own identity."""
    try:
        kind = getattr(import_client(), service.store)
    except ImportError:
        raise SourceError(
            Text("{source}: object stores need obstore: pip install weighbridge[stores]", source=source), source=source
        ) from None
    endpoint = _endpoint(service, own)
    options: dict[str, Any] = {
        "client_options": {
            "allow_http": endpoint.startswith("http://"),
            "timeout": "20s",
            "connect_timeout": "3s",
            "user_agent": "weighbridge",
        },
        "retry_config": {"max_retries": TRIES - 1, "retry_timeout": timedelta(seconds=60)},
    }
    if endpoint:
        options[service.endpoint] = endpoint
    options |= own.keys
    if own.region and not os.environ.get("AWS_REGION") and not os.environ.get("AWS_DEFAULT_REGION"):
        options["region"] = own.region
    signed = bool(own.keys) or any(os.environ.get(name) for name in service.credentials)
    ways: list[dict[str, Any]] = [{}] if signed else [{"skip_signature": True}]
    if not signed and not endpoint and os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() != "true":
        ways.append({"retry_config": {"max_retries": 1, "retry_timeout": timedelta(seconds=10)}})
    try:
        return tuple(kind(bucket, **{**options, **way}) for way in ways)
    except Exception as error:  # obstore's, for a variable that cannot be meant
        raise SourceError(
            Text("{source}: {splitlines:.300}", source=source, splitlines=str(error).splitlines()[0]), source=source
        ) from None
