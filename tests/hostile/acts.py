"""What in an answer is more than text: what a terminal, a browser, a spreadsheet or a reader of Markdown would obey."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from unicodedata import category

from weighbridge.core.escape import HIDDEN, UNSEEN


class Page(HTMLParser):
    """What a browser would run or fetch in a page: tags that are not ours, and handlers of events."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one tag."""
        own = dict(attrs).get("src") == "/static/app.js"
        if (tag in ("script", "img", "iframe", "object") and not own) or any(name.startswith("on") for name, _ in attrs):
            self.found.append(tag)


def acts(text: str, form: str) -> str | None:
    """Tell what in an answer is more than text, if anything is.

    >>> acts("a\\x1b[2J", "text"), acts("=1+1", "csv"), acts("bert", "text")
    ("a hidden character, '\\\\x1b'", "a formula, '=1+1'", None)
    """
    lines = text.replace("\n", "")
    if form == "terminal":
        lines = re.sub(r"\x1b\[[0-9;]*m", "", lines)
    if not lines.isprintable():
        hidden = next((letter for letter in lines if category(letter) in HIDDEN), None)
        if hidden is not None:
            return f"a hidden character, {hidden!a}"
    if not UNSEEN.isdisjoint(lines):
        return "a letter that no font draws"
    if form == "csv":
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                if cell.lstrip()[:1] in tuple("=+-@＝＋－＠") and not re.fullmatch(r"[+-]+[\d.,]+", cell.strip()):
                    return f"a formula, {cell!r}"
    if form in ("html", "svg", "markdown"):
        page = Page()
        page.feed(text)
        if page.found:
            return f"markup, {page.found}"
    if form == "markdown" and re.search(r"(?<!\\)\]\((?:http|java)", text):
        return "a link"
    if form == "json" and text:
        json.loads(text)
    return None
