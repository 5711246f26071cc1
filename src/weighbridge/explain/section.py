"""What a derivation is made of: sections with their subtotals, and the lines in them; their numbers and their shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weighbridge.core.formula import Expression
from weighbridge.explain.closed_form import ClosedFormula


class Line(NamedTuple):
    """One module that owns tensors, or several alike.

    Attributes:
        number: Such as ``2.1.3``.
        title: What it is.
        sentence: What is true of it, in words.
        kind: The kind of the part.
        paths: The modules it stands for, repeats folded.
        formula: What one copy of all of them amounts to, as it is written.
        value: The formula's value; 0 if all of it is another module's storage.
        tied: The tensors whose storage it shares; they are counted where they stand first.
        says: The sentences of *sentence* one by one, in English.
        shape: What the letters of the formula are, such as ``from H inputs to I outputs``, in English.
    """

    number: str
    title: str
    sentence: str
    kind: str
    paths: tuple[str, ...]
    formula: Expression
    value: int
    tied: tuple[str, ...]
    says: tuple[str, ...]
    shape: str


class Section(NamedTuple):
    """A part of the model with its subtotal.

    Attributes:
        number, title, sentence: As in :class:`Line`.
        path: The part's dotted path, or the empty string where modules of one purpose are gathered.
        kind: The part's kind or purpose.
        parts: Lines and sections inside, in order.
        closed: The closed formula of one copy.
        formula: The same as an expression.
        times: How many copies there are, as a formula; the number 1 where there is one.
        copies: The value of *times*.
        each, value: Parameters of one copy, and of all.
        share: Tenths of a percent of the whole, to the nearest.
        where: The indices of the copies, such as ``3–60``, where layers of several kinds stand in one stack.
        says: The sentences of *sentence* one by one, in English.
    """

    number: str
    title: str
    sentence: str
    path: str
    kind: str
    parts: tuple[Line | Section, ...]
    closed: ClosedFormula
    formula: Expression
    times: Expression
    copies: int
    each: int
    value: int
    share: int = 0
    where: str = ""
    says: tuple[str, ...] = ()


def lines(section: Section) -> Iterator[Line]:
    """Yield every line under a section."""
    for part in section.parts:
        if isinstance(part, Line):
            yield part
        else:
            yield from lines(part)


def sections(section: Section) -> Iterator[Section]:
    """Yield every section under a section, outer ones first."""
    for part in section.parts:
        if isinstance(part, Section):
            yield part
            yield from sections(part)


def with_shares(section: Section, whole: int, copies: int = 1) -> Section:
    """Give a section, of which there are so many *copies*, and all inside it their shares of *whole*, each to the nearest tenth of a percent."""
    inner = copies * section.copies
    parts = tuple(with_shares(part, whole, inner) if isinstance(part, Section) else part for part in section.parts)
    share = (2000 * copies * section.value + whole) // (2 * whole) if whole else 0
    return section._replace(parts=parts, share=share)


def with_numbers(section: Section, number: str) -> Section:
    """Number a section, and all inside it: the third part of section 2 is 2.3."""
    parts: list[Line | Section] = []
    for index, part in enumerate(section.parts, 1):
        own = f"{number}.{index}" if number else str(index)
        parts.append(with_numbers(part, own) if isinstance(part, Section) else part._replace(number=own))
    return section._replace(number=number, parts=tuple(parts))


def prune(section: Section, depth: int) -> Section:
    """Return a section with no more than *depth* levels of sections inside."""
    if depth <= 0:
        return section._replace(parts=())
    return section._replace(parts=tuple(prune(p, depth - 1) if isinstance(p, Section) else p for p in section.parts))
