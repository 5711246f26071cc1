"""The server behind its acceptor: starts that process, sends it heartbeats, and serves the sockets that it passes on.

Where sockets cannot be handed from one process to another (Windows), and where the door cannot be started, the server accepts connections itself.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from weighbridge.web import connections
from weighbridge.web.door import BEAT

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    import uvicorn

TAKEN_AT_ONCE = 50
"""Connections that are taken from the door before the server looks what else there is."""

AGAIN = 1.0
"""Seconds after which a door that fell shut is opened again."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from weighbridge.web.door import main; main(*sys.argv[1:])"


class Reception:
    """The server's side of the acceptor."""

    def __init__(self, server: uvicorn.Server, listener: socket.socket, most: int, hosts: tuple[str, ...]) -> None:
        self.server, self.listener, self.most, self.hosts = server, listener, most, hosts
        self.loop = asyncio.get_running_loop()
        self.making: set[asyncio.Task[None]] = set()
        self.beating: asyncio.TimerHandle | None = None
        self.closed = False
        self.open()

    def open(self) -> None:
        """Start the acceptor process."""
        import json

        self.channel, other = socket.socketpair()
        files = self.listener.fileno(), other.fileno()
        told = json.dumps(sys.path), *map(str, (*files, self.most, connections.HEAD_SECONDS)), *self.hosts
        self.process = subprocess.Popen([sys.executable, "-c", START, *told], pass_fds=files, stdin=subprocess.DEVNULL)
        other.close()
        self.channel.setblocking(False)
        self.loop.add_reader(self.channel.fileno(), self._take)
        self._beat()

    def close(self) -> None:
        """Stop accepting connections."""
        self.closed = True
        self._shut()

    def _shut(self) -> None:
        if self.beating is not None:
            self.beating.cancel()
        self.loop.remove_reader(self.channel.fileno())
        self.channel.close()  # with which the door closes by itself
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
            return
        self.process.kill()

    def _beat(self) -> None:
        with suppress(OSError):  # it is gone, which the reader of the channel notices
            self.channel.send(b".")
        self.beating = self.loop.call_later(BEAT, self._beat)

    def _take(self) -> None:
        for _ in range(TAKEN_AT_ONCE):
            try:
                said, files, _, _ = socket.recv_fds(self.channel, 1, 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                said, files = b"", []
            if not said:
                self._shut()
                if not self.closed:
                    self.loop.call_later(AGAIN, lambda: None if self.closed else self.open())
                return
            for number in files:
                task = self.loop.create_task(self._make(socket.socket(fileno=number)))
                self.making.add(task)
                task.add_done_callback(self.making.discard)

    async def _make(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        server = self.server
        protocol = server.config.http_protocol_class
        try:
            await self.loop.connect_accepted_socket(
                lambda: protocol(server.config, server.server_state, server.lifespan.state, self.loop),  # type: ignore[call-arg]
                accepted,
            )
        except OSError:  # whoever it was is gone already
            accepted.close()


def server_with_door(
    config: uvicorn.Config, most: int, hosts: tuple[str, ...], *, announce: Callable[[], None], interrupt: Callable[[], None]
) -> uvicorn.Server:
    """Return a server that gets its connections from an acceptor process, where the system can pass sockets.

    It calls *announce* once it answers, and *interrupt* when a signal ends it.
    """
    import uvicorn

    class Server(uvicorn.Server):
        reception: Reception | None = None
        failure: Exception | None = None

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Open the door once the application has started."""
            if not sockets or not hasattr(socket, "send_fds"):
                await super().startup(sockets)
            else:
                await super().startup([])
                if not self.should_exit:
                    self.reception = Reception(self, sockets[0], most, hosts)
            if not self.should_exit:
                try:
                    announce()
                except Exception as error:  # standard output is full, say: it is told once all that runs has been ended
                    self.failure = error
                    asyncio.get_running_loop().call_soon(setattr, self, "should_exit", True)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """End, also while the application is still starting."""
            super().handle_exit(sig, frame)
            interrupt()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Close the door first."""
            if self.reception is not None:
                self.reception.close()
            await super().shutdown(sockets)

        def run(self, sockets: list[socket.socket] | None = None) -> None:
            """Serve until it is stopped; what kept it from announcing itself is raised then."""
            super().run(sockets)
            if self.failure is not None:
                raise self.failure

    return Server(config)
