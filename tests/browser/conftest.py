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
    from playwright.sync_api import Browser, Page

ARTEFACTS = Path(__file__).parents[2] / "artifacts" / "screens"
NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]


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
    for item in items:
        if Path(__file__).parent in item.path.parents and reason:
            item.add_marker(pytest.mark.skip(reason=reason))


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield found
        found.close()


class Seen(NamedTuple):
    """What a page did while it was open: requests that left this machine, complaints, and the bytes it posted."""

    outside: list[str]
    complaints: list[str]
    posted: list[int]


Opened = Callable[..., Any]


@pytest.fixture
def opened(server: str, browser: Browser) -> Opened:
    """Return a context manager that opens an address in a page of its own and checks its manners when it closes."""

    @contextmanager
    def open_page(
        address: str, *, width: int = 1280, theme: str = "light", expected: tuple[str, ...] = (), **options: Any
    ) -> Iterator[tuple[Page, Seen]]:
        settings: dict[str, Any] = {"viewport": {"width": width, "height": 844 if width < 500 else 900}, "color_scheme": theme, **options}
        context = browser.new_context(**settings)
        page, seen = context.new_page(), Seen([], [], [])
        watch(page, seen)
        page.goto(address if "://" in address else server + address)
        try:
            yield page, seen
        finally:
            context.close()
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
