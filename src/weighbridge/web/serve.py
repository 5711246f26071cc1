"""``weigh serve``: the page and its API, on this machine alone unless told otherwise."""

from __future__ import annotations

from weighbridge.commands.options import LANG, Asked, Option
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh serve
  weigh serve --port 9000 --no-browser
"""


OPTIONS = (
    Option("host", mark("address to listen on (default: this machine alone)"), "HOST", default="127.0.0.1"),
    Option("port", mark("port (default 8080; 0 takes a free one)"), "PORT", default="8080"),
    Option("no_browser", mark("do not open the browser"), kind="switch"),
    Option("rate", mark("requests a minute for each client (default: no limit)"), "N", "whole", 0),
    Option("seconds", mark("the longest an answer may take (default 10)"), "S", "number", 10.0),
    Option("fetch", mark("look ids such as org/name up on their hub (default: nothing is fetched)"), kind="switch"),
    LANG,
)


def run(asked: Asked) -> int:
    """Serve until interrupted; requests under way are finished first."""
    try:
        import uvicorn

        from weighbridge.web.app import create
        from weighbridge.web.middleware import Limits
    except ImportError as error:
        raise UsageError(Text("weigh serve needs the extra web: pip install 'weighbridge[web]' ({error})", error=error)) from None
    import socket

    port = _port(asked.port)
    # asyncio sends small answers at once only on sockets that say that they are TCP; else each waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET6 if ":" in asked.host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((asked.host, port))
        listener.listen(512)  # who comes as soon as the address is told waits, and is not turned away
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            Text(
                "cannot listen on {host} port {port}: {getattr}",
                host=asked.host,
                port=port,
                getattr=getattr(error, "strerror", None) or error,
            )
        ) from None
    host = f"[{asked.host}]" if ":" in asked.host else asked.host
    address = f"http://{host}:{listener.getsockname()[1]}/"
    print(f"Weighbridge on {address} (Ctrl+C stops it)", flush=True)
    if not asked.no_browser:
        import webbrowser

        webbrowser.open(address)
    config = uvicorn.Config(
        create(Limits(seconds=asked.seconds, per_minute=asked.rate, fetches=asked.fetch)),
        log_level="warning",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
    return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise UsageError(Text("{option}: expected a port from 0 to 65535, found {value!r}", option="--port", value=text[:20]))
    return int(text)
