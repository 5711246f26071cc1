"""Follow every link of the built site: a link must lead to a file and to a place in it, and every page must be reached from its language's first one."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that a link may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag refers to, and what it is called."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.add(value)
            elif value and name == "id":
                self.places.add(value)


def faults(site: Path, languages: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the links of a site, one sentence each; nothing is fetched, so addresses elsewhere are left alone."""
    pages = {path: Page(Path(path).read_text("utf-8")) for path in _pages(site, languages)}
    leads = {path: {target for target, _ in _targets(path, page)} for path, page in pages.items()}
    wrong = [
        f"{os.path.relpath(path, site)}: nothing stands at {os.path.relpath(target, site)}{'#' * bool(place)}{place}"
        for path, page in pages.items()
        for target, place in sorted(_targets(path, page))
        if not os.path.exists(target) or (target in pages and place not in pages[target].places)
    ]
    for language in languages:
        own = {path for path in pages if path.startswith(f"{site / language}{os.sep}")}
        reached, ahead = set(), [str(site / language / "index.html")]
        while ahead:
            path = ahead.pop()
            if path not in reached:
                reached.add(path)
                ahead += leads[path] & own
        wrong += [f"{os.path.relpath(path, site)}: no page leads here" for path in sorted(own - reached)]
    return wrong


def _pages(site: Path, languages: tuple[str, ...]) -> list[str]:
    return [str(path) for path in [site / "index.html", *(path for name in languages for path in sorted((site / name).rglob("*.html")))]]


def _targets(path: str, page: Page) -> set[tuple[str, str]]:
    """Return the files that a page leads to, each with the place in it."""
    parts = [urlsplit(link) for link in page.links]
    here = os.path.dirname(path)
    return {
        (os.path.normpath(os.path.join(here, unquote(part.path))) if part.path else path, unquote(part.fragment))
        for part in parts
        if not part.scheme and not part.netloc
    }
