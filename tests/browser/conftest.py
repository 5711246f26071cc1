"""A real Chromium against a real server on this machine; any request elsewhere, any error in the console fails the test."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SCREENS = os.environ.get("WEIGHBRIDGE_SCREENS")
"""A folder for pictures of every page, for people to look at; no test reads them, and they take a fifth of the time."""

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu", "--renderer-process-limit=1"]
"""One process draws all tabs of a session: to start one takes longer than most tests."""


def chromium() -> str | None:
    """Return the Chromium of this machine, or the one that WEIGHBRIDGE_CHROMIUM names."""
    return os.environ.get("WEIGHBRIDGE_CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


def missing() -> str | None:
    """Tell what these tests lack here."""
    for module, package in (("starlette", "the extra web"), ("uvicorn", "the extra web"), ("playwright", "the extra browser")):
        if find_spec(module) is None:
            return f"{package} is not installed"
    return None if chromium() else "no Chromium here: scripts/browser installs Debian's, WEIGHBRIDGE_CHROMIUM names another"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = missing()
    for item in items if reason else ():
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason or ""))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Serve the pages on a free port of this machine."""
    import socket

    import uvicorn

    from weighbridge.web.app import create

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(create(), log_level="warning", server_header=False))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    thread.join(10)
    listener.close()


class Session(NamedTuple):
    """A running Chromium, where its tabs are opened that ask for nothing special, and the first of them, which keeps the process that draws."""

    browser: Browser
    context: BrowserContext
    first: Page


@pytest.fixture(scope="session")
def session(server: str) -> Iterator[Callable[[], Session]]:
    """Return what gives the running session; one that has died with its test, or been ended from outside, is not the next test's fault."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running: list[Session] = []

        def current() -> Session:
            if not running or not running[-1].browser.is_connected():
                browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
                context = browser.new_context()
                running.append(Session(browser, context, context.new_page()))
                running[-1].first.goto(f"{server}/health")
            return running[-1]

        yield current
        for one in running:
            one.browser.close()


class Seen(NamedTuple):
    """What a page did while it was open: requests that left this machine, complaints, and the bytes it posted."""

    outside: list[str]
    complaints: list[str]
    posted: list[int]


Opened = Callable[..., Any]


@pytest.fixture
def opened(server: str, session: Callable[[], Session]) -> Opened:
    """Return a context manager that opens an address in a tab of its own and checks its manners when it closes."""

    @contextmanager
    def open_page(
        address: str, *, width: int = 1280, theme: str = "light", colours: str = "none", expected: tuple[str, ...] = (), **options: Any
    ) -> Iterator[tuple[Page, Seen]]:
        running = session()
        context = running.browser.new_context(**options) if options else running.context
        page, seen = context.new_page(), Seen([], [], [])
        page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})
        page.emulate_media(color_scheme=theme, forced_colors=colours)
        watch(page, seen)
        page.goto(address if "://" in address else server + address)
        try:
            yield page, seen
        finally:
            page.close()
            if options:
                context.close()
            running.first.evaluate("localStorage.clear()")  # the next tab remembers nothing of this one
        assert not seen.outside, f"requests left this machine: {seen.outside}"
        unexpected = [text for text in seen.complaints if not any(words in text for words in expected)]
        assert not unexpected, f"the console says: {unexpected}"

    return open_page


def watch(page: Page, seen: Seen) -> None:
    """Write down what a page asks for and complains of."""

    def requested(request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "file://", "data:", "blob:")):
            seen.outside.append(request.url)
        if request.method == "POST":
            seen.posted.append(len(request.post_data_buffer or b""))

    page.on("request", requested)
    page.on("console", lambda message: seen.complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
