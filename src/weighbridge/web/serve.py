"""``weigh serve``: the page and its API, on this machine alone unless told otherwise."""

from __future__ import annotations

import os

from weighbridge.commands.options import LANG, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    import socket

    from weighbridge.web.middleware import Limits

EXAMPLE = """example:
  weigh serve
  weigh serve --port 9000 --no-browser
"""


OPTIONS = (
    Option("host", mark("address to listen on (default: this machine only)"), "HOST", default="127.0.0.1"),
    Option("port", mark("port (default 8080; 0 takes a free one)"), "PORT", default="8080"),
    Option("no_browser", mark("do not open the browser"), kind="switch"),
    Option("rate", mark("requests per minute for each client, 0 for no limit (default: no limit for this machine only, else 300)"), "N"),
    Option("seconds", mark("most seconds an answer may take (default 10)"), "S", "number", 10.0),
    Option("workers", mark("processes that answer requests (default: as many as cores, two to four)"), "N", "whole"),
    Option("trust", mark("a name that this server goes by, such as weigh.example.org, or * for any; may be repeated"), "NAME", many=True),
    Option("fetch", mark("look up ids such as org/name on their hub (default: nothing is fetched)"), kind="switch"),
    LANG,
)
RATE = 300
"""Requests a minute of one client, where others than this machine can ask."""


def run(arguments: Arguments) -> int:
    """Serve until interrupted; requests under way are finished first."""
    try:
        import uvicorn

        from weighbridge.web.app import create
        from weighbridge.web.connections import MOST, connection_class
        from weighbridge.web.pool import Pool
        from weighbridge.web.reception import server_with_door
    except ImportError as error:
        raise UsageError(Text("weigh serve needs the extra web: pip install 'weighbridge[web]' ({error})", error=error)) from None
    limits = _limits(arguments)
    listener = _listener(arguments.host, _port(arguments.port))
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    address = f"http://{host}:{listener.getsockname()[1]}/"

    def announce() -> None:
        print(f"Weighbridge on {address} (Ctrl+C stops it)", flush=True)
        if not arguments.no_browser:
            import webbrowser
            from threading import Thread

            Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # a browser in the terminal returns when it is left

    most = _most_connections(MOST)
    pool = Pool(limits, arguments.workers or min(max(os.cpu_count() or 1, 2), 4))
    config = uvicorn.Config(
        create(limits, pool),
        http=connection_class(most),
        ws="none",
        log_config=None,  # uvicorn's own asks standard output whether it is a terminal, and there may be none
        log_level="error",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    server_with_door(config, most, limits.hosts, announce=announce, interrupt=pool.stop_waiting).run(sockets=[listener])
    return 0


def _limits(arguments: Arguments) -> Limits:
    from weighbridge.web.hosts import is_loopback
    from weighbridge.web.middleware import Limits

    rate = arguments.rate or ("0" if is_loopback(arguments.host) else str(RATE))
    if not (rate.isascii() and rate.isdecimal() and len(rate) <= 9):
        raise UsageError(Text("{option}: expected a whole number from 0 up, found {value!r}", option="--rate", value=rate[:20]))
    if not 0 < arguments.seconds <= 3600:
        raise UsageError(Text("{option}: expected seconds from 0 to 3600, found {value!r}", option="--seconds", value=arguments.seconds))
    return Limits(seconds=arguments.seconds, per_minute=int(rate), fetches=arguments.fetch, hosts=(arguments.host, *arguments.trust))


def _listener(host: str, port: int) -> socket.socket:
    """Listen. asyncio sends small answers at once only on sockets that say that they are TCP; else each waits 40 ms for an acknowledgement."""
    import socket

    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(4096)  # who comes as soon as the address is told waits, and is not turned away; so do thousands who come at once
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or error
        raise UsageError(Text("cannot listen on {host} port {port}: {getattr}", host=host, port=port, getattr=why)) from None
    return listener


def _most_connections(wanted: int) -> int:
    """Return how many connections there may be: as many as are wanted, if the system lets this process have so many files open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < 2 * wanted:
        soft = 2 * wanted if hard == resource.RLIM_INFINITY else min(2 * wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - 64, 16))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise UsageError(Text("{option}: expected a port from 0 to 65535, found {value!r}", option="--port", value=text[:20]))
    return int(text)
