"""What a derivation is made of: sections with their subtotals, and the lines in them."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.accounts.closed import ClosedFormula
from weighbridge.core.formula import Expression


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
    times: Expression
    copies: int
    each: int
    value: int
    share: int = 0
    where: str = ""
    says: tuple[str, ...] = ()

    @property
    def formula(self) -> Expression:
        """The closed formula of one copy as an expression."""
        return self.closed.expression()
