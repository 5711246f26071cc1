"""A text with formulas: headings, paragraphs, equations, tables. Data; ``renderers.papers`` writes it out."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from weighbridge.formula import Expression
from weighbridge.report import Table


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


Block: TypeAlias = Heading | Paragraph | Item | Equation | Table


class Paper(NamedTuple):
    """A whole text."""

    title: str
    figure: str
    language: str
    blocks: tuple[Block, ...]
