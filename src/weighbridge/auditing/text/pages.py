"""The lines that an HTML page shows."""

from __future__ import annotations

from html.parser import HTMLParser

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.spans import SpannedRows, Spans, make_spans
from weighbridge.auditing.text.tables import Cell
from weighbridge.core._namedtuple import NamedTuple


class PageLine(NamedTuple):
    """A line as a reader sees it: its number in the file, its text, and its level if it is a heading."""

    number: int
    text: str
    heading: int = 0


def html(text: str) -> list[PageLine]:
    """Return the lines that a page shows, numbered as in the file; scripts and styles show nothing.

    >>> html("<h2>Embedding</h2><p>768<sup>2</sup> = 589,824</p>")
    [PageLine(number=1, text='Embedding', heading=2), PageLine(number=1, text='768^{2} = 589,824', heading=0)]
    """
    page = _Page()
    page.feed(text)
    page.close()
    page.end_line()
    return page.written


_BLOCKS = frozenset(
    """address article aside blockquote body br button dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header
    hr html li main nav ol option p pre section select summary table tbody tfoot thead title tr ul""".split()
)


_SILENT = frozenset(("script", "style", "template", "noscript", "annotation", "annotation-xml", "svg"))


_BLANKS = pattern(r"[ \t\r\n\f]+")


_INLINE = frozenset(("span", "small", "b", "strong", "em", "i", "code", "label", "a"))


class _Page(HTMLParser):
    """Collects what a page shows, line by line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[PageLine] = []
        self.pieces: list[str] = []
        self.number = 1
        self.silent = 0
        self.level = 0
        self.preformatted = 0
        self.math: list[tuple[str, int]] = []
        self.crossed = False
        self.drawn = 0
        self.rows = SpannedRows()
        self.cells: list[tuple[int, Spans]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.crossed = tag in _INLINE
        if tag == "span" and (self.drawn or ("class", "katex-html") in attrs):
            self.drawn += 1
        if tag in _SILENT:
            self.silent += 1
        elif tag in _BLOCKS:
            self.end_line()
            self.rows = SpannedRows() if tag == "table" else self.rows
            self.level = int(tag[1]) if len(tag) == 2 and tag[1].isdigit() else self.level
            self.preformatted += tag == "pre"
        elif tag in ("td", "th"):
            self.number = self.number if self.pieces else self.getpos()[0]
            said = dict(attrs)
            self.cells.append((len(self.pieces), make_spans(said.get("colspan") or "", said.get("rowspan") or "", heads=tag == "th")))
            self.pieces.append(" | ")
        elif tag == "sup":
            self.pieces.append("^{")
        elif tag in ("msup", "mfrac"):
            self.math.append((tag, len(self.pieces)))

    def handle_endtag(self, tag: str) -> None:
        self.crossed = tag in _INLINE
        if tag == "span" and self.drawn:
            self.drawn -= 1
        if tag in _SILENT:
            self.silent = max(0, self.silent - 1)
        elif tag in _BLOCKS:
            self.end_line()
            self.level = 0
            self.preformatted -= tag == "pre"
        elif tag == "sup":
            self.pieces.append("}")
        elif tag in ("msup", "mfrac") and self.math:
            self._write_math(tag)

    def handle_data(self, data: str) -> None:
        if self.silent or self.drawn:
            return
        if self.preformatted > 0 and "\n" in data:
            for piece in data.split("\n")[:-1]:
                self._add(piece)
                self.end_line()
                self.number += 1
            data = data.rpartition("\n")[2]
        self._add(data)

    def _add(self, data: str) -> None:
        if not self.pieces and not data.strip():
            return
        if not self.pieces:
            self.number = self.getpos()[0]
        elif self.crossed and data[:1].isdigit() and self.pieces[-1][-1:].isalnum():
            self.pieces.append(" ")
        self.crossed = False
        self.pieces.append(data if self.preformatted > 0 else _BLANKS.sub(" ", data).strip(" ") if data.strip() else " ")
        if not self.preformatted > 0 and data.strip():
            before, after = data[0] in " \t\r\n\f", data[-1] in " \t\r\n\f"
            self.pieces[-1] = f"{' ' * before}{self.pieces[-1]}{' ' * after}"

    def _write_math(self, tag: str) -> None:
        """Write a MathML power or fraction the way TeX does; its two parts are its last two children."""
        _, start = self.math.pop()
        inner = [piece for piece in self.pieces[start:] if piece.strip()]
        if len(inner) == 2:
            self.pieces[start:] = [f"{inner[0]}^{{{inner[1]}}}" if tag == "msup" else f"(({inner[0]})/({inner[1]}))"]
        elif inner and tag == "msup":
            self.pieces[start:] = ["".join(inner[:-1]), f"^{{{inner[-1]}}}"]

    def end_line(self) -> None:
        """End the line."""
        line = (self._row() if self.cells else "".join(self.pieces)).strip()
        if line:
            self.written.append(PageLine(self.number, line, self.level))
        self.pieces = []

    def _row(self) -> str:
        """Write a row with what reaches into it from above; what stands before its cells stays there."""
        starts = [start for start, _ in self.cells]
        texts = ["".join(self.pieces[start + 1 : stop]).strip() for start, stop in zip(starts, [*starts[1:], None], strict=True)]
        laid = self.rows.lay_out([(Cell(text, 0, 0), spans) for text, (_, spans) in zip(texts, self.cells, strict=True)])
        lead = "".join(self.pieces[: starts[0]])
        self.cells = []
        return lead + "".join(f" | {cell.text}" for cell in laid)
