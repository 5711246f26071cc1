"""A text with formulas: headings, paragraphs, equations, tables, pictures. Data; ``renderers.papers`` writes it out."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from weighbridge.accounts.ledger import Entry
from weighbridge.core.formula import Expression
from weighbridge.documents.report import Table


class Heading(NamedTuple):
    """A numbered heading; *figure* is what the section amounts to."""

    level: int
    number: str
    title: str
    figure: str = ""


class Paragraph(NamedTuple):
    """A sentence or several."""

    level: int
    text: str


class Item(NamedTuple):
    """A numbered entry: what it is, and the names in code that it stands for."""

    level: int
    number: str
    title: str
    code: tuple[str, ...] = ()


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


Words: TypeAlias = Heading | Paragraph | Item | Equation | Table
Block: TypeAlias = Words | Picture | Bars


class Paper(NamedTuple):
    """A whole text."""

    title: str
    figure: str
    language: str
    blocks: tuple[Block, ...]

    @property
    def worded(self) -> tuple[Words, ...]:
        """The blocks without the pictures, for forms that hold none."""
        return tuple(block for block in self.blocks if not isinstance(block, (Picture, Bars)))
