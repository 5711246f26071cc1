"""The one document: a title, a figure and blocks. Data, never text; the renderers write it out.

Cells are strings, ints and shares; how an int is grouped and a share drawn is a renderer's business.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from weighbridge.accounts.ledger import Entry
    from weighbridge.core.formula import Expression


class Share(NamedTuple):
    """A part of a whole in tenths of a percent, rounded to the nearest.

    >>> str(Share(163))
    '16.3%'
    """

    per_mille: int

    def __str__(self) -> str:
        return f"{self.per_mille // 10}.{self.per_mille % 10}%"


Cell: TypeAlias = "str | int | Share | None"


class Column(NamedTuple):
    """One column: its title and its kind.

    ``text``, ``letter`` (a symbol), ``tie`` (a name behind an equals sign, which CSV leaves out), ``integer`` and ``share`` are shown everywhere; a ``bar`` (a share, drawn) on a terminal
    and in HTML; a ``path``, which indentation shows elsewhere, in CSV and Excel.
    """

    title: str
    kind: str = "text"


class Row(NamedTuple):
    """One row.

    Attributes:
        cells: One for each column.
        depth: How far the first cell is indented.
        strong: Whether it is set off.
        tone: ``good``, ``bad``, ``mild`` or ``quiet`` where colour helps; the empty string elsewhere.
        role: What the module of a row is for (see :mod:`weighbridge.documents.roles`); the empty string elsewhere.
        places: The dotted paths of the modules that a row stands for, as pictures have them.
        parts: Of a row of several roles, how many elements it has of each.
    """

    cells: tuple[Cell, ...]
    depth: int = 0
    strong: bool = False
    tone: str = ""
    role: str = ""
    places: tuple[str, ...] = ()
    parts: tuple[tuple[str, int], ...] = ()


class Table(NamedTuple):
    """Columns and rows, with an optional title; *headed* tells whether the columns' titles are printed."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    headed: bool = True

    def visible_columns(self, *kinds: str) -> list[int]:
        """Return the indices of the columns that a renderer shows: all but bars and paths, unless it asks for them."""
        return [i for i, column in enumerate(self.columns) if column.kind not in ("bar", "path") or column.kind in kinds]


class Heading(NamedTuple):
    """A numbered heading; *figure* is what the section amounts to."""

    level: int
    number: str
    title: str
    figure: str = ""

    @property
    def text(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}".strip()


class Paragraph(NamedTuple):
    """A sentence or several; of level 0, a note to the whole document."""

    level: int
    text: str


class Item(NamedTuple):
    """A numbered entry: what it is, and the names in code that it stands for."""

    level: int
    number: str
    title: str
    code: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}".strip()


class Equation(NamedTuple):
    """A chain of equals signs, with an optional label in front."""

    level: int
    steps: tuple[Expression, ...]
    label: str = ""


class Picture(NamedTuple):
    """A ledger to be drawn as a treemap and a sunburst, where pictures can be drawn."""

    root: Entry


class Bars(NamedTuple):
    """Bars of stacked amounts, where pictures can be drawn: a label and its amounts for each, and what the amounts are."""

    rows: tuple[tuple[str, tuple[int, ...]], ...]
    legend: tuple[str, ...]


class Plot(NamedTuple):
    """Points, or curves, over two measures, where pictures can be drawn.

    Attributes:
        series: A label and its points for each.
        titles: What lies on the axis across, and on the one that goes up.
        joined: Whether the points of a series are a curve.
    """

    series: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
    titles: tuple[str, str]
    joined: bool = False


Printed: TypeAlias = Heading | Paragraph | Item | Equation | Table
Drawn: TypeAlias = Picture | Bars | Plot
Block: TypeAlias = Printed | Drawn


class Document(NamedTuple):
    """A whole answer.

    Attributes:
        title: What it is about.
        figure: The number that was asked for.
        blocks: Sections, tables, formulas, pictures, notes.
        lang: The language it is written in.
    """

    title: str
    figure: str = ""
    blocks: tuple[Block, ...] = ()
    lang: str = "en"

    @property
    def printable(self) -> tuple[Printed, ...]:
        """The blocks without the pictures, for forms that hold none."""
        return tuple(block for block in self.blocks if not isinstance(block, (Picture, Bars, Plot)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables alone."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    @property
    def heading(self) -> str:
        """Title and figure in one line.

        >>> Document("BertModel", "109,482,240 parameters").heading
        'BertModel: 109,482,240 parameters'
        """
        return (f"{self.title}：{self.figure}" if self.lang == "zh" else f"{self.title}: {self.figure}") if self.figure else self.title


def notes(texts: Sequence[str]) -> tuple[Paragraph, ...]:
    """Return notes to a whole document.

    >>> notes(["Ties are counted once."])
    (Paragraph(level=0, text='Ties are counted once.'),)
    """
    return tuple(Paragraph(0, as_sentence(text)) for text in texts)


def as_sentence(text: str) -> str:
    """Return a note as a sentence of its own: it begins with a capital, unless with a name, and ends with a full stop.

    >>> as_sentence("a class of the package timm"), as_sentence("n_inner: 3072 is used as given"), as_sentence("Compare: weigh counts gpt2")
    ('A class of the package timm.', 'n_inner: 3072 is used as given.', 'Compare: weigh counts gpt2')
    >>> as_sentence("由 2 个进程合并而成")
    '由 2 个进程合并而成。'
    """
    if text and "\u4e00" <= text[-1] <= "\u9fff":
        return text + "。"
    if not text[:1].islower() or any("\u4e00" <= letter <= "\u9fff" for letter in text):
        return text
    first = text.split(" ", 1)[0]
    begun = text[0].upper() + text[1:] if first.isalpha() and first.isascii() and not text.startswith(f"{first} =") else text
    return begun if text[-1] in ".:?!。：？！" or ": weigh " in text else begun + "."  # what ends in a command is copied


def shares(amounts: Sequence[int], whole: int) -> list[Share]:
    """Return the share of each of *amounts* in *whole*, rounded to the nearest tenth of a percent.

    Equal amounts have equal shares, and each can be checked by itself; so the shares of all parts may add up to 99.9% or 100.1%.

    >>> [str(share) for share in shares([16622592, 85054464, 590592], 102267648)]
    ['16.3%', '83.2%', '0.6%']
    """
    return [Share((2000 * amount + whole) // (2 * whole) if whole else 0) for amount in amounts]
