"""``weigh serve``: the page and its API, on this machine alone unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.core.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  weigh serve
  weigh serve --port 9000 --no-browser
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8080, help="port (default 8080; 0 takes a free one)")
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.add_argument("--rate", type=int, default=0, metavar="N", help="requests a minute for each client (default: no limit)")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="the longest an answer may take (default 10)")
    parser.add_argument("--fetch", action="store_true", help="look ids such as org/name up on their hub (default: nothing is fetched)")


def run(args: Namespace) -> int:
    """Serve until interrupted; requests under way are finished first."""
    try:
        import uvicorn

        from weighbridge.web.app import create
        from weighbridge.web.middleware import Limits
    except ImportError as error:
        raise UsageError(f"weigh serve needs the extra web: pip install 'weighbridge[web]' ({error})") from None
    import socket

    # asyncio sends small answers at once only on sockets that say that they are TCP; else each waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET6 if ":" in args.host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((args.host, args.port))
        listener.listen(512)  # who comes as soon as the address is told waits, and is not turned away
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"cannot listen on {args.host} port {args.port}: {getattr(error, 'strerror', None) or error}") from None
    host = f"[{args.host}]" if ":" in args.host else args.host
    address = f"http://{host}:{listener.getsockname()[1]}/"
    print(f"Weighbridge on {address} (Ctrl+C stops it)", flush=True)
    if not args.no_browser:
        import webbrowser

        webbrowser.open(address)
    config = uvicorn.Config(
        create(Limits(seconds=args.seconds, per_minute=args.rate, fetches=args.fetch)),
        log_level="warning",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
    return 0
