"""Files with a line for each model type, of which a count needs one: the text is searched, since to read all of it takes longer than a count."""

from __future__ import annotations

_TEXTS: dict[str, str] = {}


def find_line(path: str, begin: str) -> str:
    """Return what a line of a file says behind its beginning, or nothing where there is no such line."""
    text = _TEXTS.get(path)
    if text is None:
        with open(path, encoding="utf-8") as file:
            text = _TEXTS[path] = "\n" + file.read()
    at = text.find("\n" + begin)
    if at < 0:
        return ""
    start = at + 1 + len(begin)
    return text[start : text.index("\n", start)]


def forget(path: str) -> None:
    """Read a file anew when it is next asked for, which was written since."""
    _TEXTS.pop(path, None)
