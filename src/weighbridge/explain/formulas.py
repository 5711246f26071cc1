"""Closed formulas of a model's counts, with the symbols they are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.flops import flops
from weighbridge.accounts.ledger import Entry, entries, ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.core.formula import Expression, Symbol, evaluate, letters
from weighbridge.core.messages import mark
from weighbridge.core.notation import LATEX, TEXT, UNICODE, as_json, mathml, write
from weighbridge.core.sizes import Size, as_int
from weighbridge.explain.closed_form import ClosedFormula, closed_formulas
from weighbridge.explain.derive import factored_formula
from weighbridge.explain.symbolic import symbolic

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


LONG = 160
"""Letters of a closed formula that can be read as it is; a longer one is looked at once more."""


class ModuleFormula(NamedTuple):
    """The closed formula of one module: all its copies, and one of them."""

    path: str
    closed: ClosedFormula
    value: int


class Formula(NamedTuple):
    """A closed formula: the total, one for each module, and the symbols with their values.

    >>> from weighbridge import model
    >>> model("bert-base-uncased").formula().value
    109482240
    """

    closed: ClosedFormula
    modules: tuple[ModuleFormula, ...]
    symbols: tuple[Symbol, ...]
    values: dict[str, int]
    factored: Expression | None = None

    @property
    def expression(self) -> Expression:
        """The formula as it is written: its modules' own factors kept where collecting them makes it longer."""
        return self.closed.expression() if self.factored is None else self.factored

    @property
    def value(self) -> int:
        """The formula with its numbers put in."""
        return as_int(evaluate(self.closed.expression(), self.values))

    @property
    def text(self) -> str:
        """Plain text, such as ``V*H + 3*H``."""
        return write(self.expression, TEXT)

    @property
    def unicode(self) -> str:
        """Text with superscripts and multiplication signs."""
        return write(self.expression, UNICODE)

    @property
    def latex(self) -> str:
        """LaTeX, without delimiters."""
        return write(self.expression, LATEX)

    @property
    def mathml(self) -> str:
        """A ``<math>`` element."""
        return mathml(self.expression)

    @property
    def json(self) -> object:
        """Nested lists: ``[operator, operand, ...]``."""
        return as_json(self.expression)

    def sympy(self) -> Any:
        """Return a SymPy expression; SymPy must be installed."""
        from sympy import Symbol as SympySymbol
        from sympy import sympify

        names = {symbol.letter: SympySymbol(symbol.letter, integer=True, positive=True) for symbol in self.symbols}
        return sympify(self.text.replace("^", "**"), locals=names)

    def __str__(self) -> str:
        return self.text


def parameter_formula(model: ModelValue) -> Formula:
    """Return the closed formula of the unique parameters of *model*."""
    tree, table, values = symbolic(model)
    found = _formula(ledger(tree, PARAMETERS), table, values)
    return found if len(found.text) <= LONG else found._replace(factored=factored_formula(model))


def flops_formula(model: ModelValue, lengths: tuple[str, ...] = ("seq",)) -> Formula:
    """Return the closed formula of the forward matrix arithmetic, in batch B and tokens n."""
    tree, table, values = symbolic(model)
    # A family's own letters come first: T5's B counts buckets, so its batch is b.
    seq = Symbol("n", word="seq", key="seq", meaning=mark("tokens per example"), order=-1)
    batch = Symbol("b" if "B" in table else "B", word="batch", key="batch", meaning=mark("examples"), order=-2)
    decoder = Symbol("m", word="decoder", key="decoder_seq", meaning=mark("decoder tokens per example"), order=-1)
    known: dict[str, Size] = {"seq": seq, "decoder": decoder}
    table = {**table, "n": seq, "m": decoder, batch.letter: batch}
    return _formula(flops(tree, known, batch).ledger, table, {**values, "n": 128, "m": 128, batch.letter: 1})


def _formula(book: Entry, table: dict[str, Symbol], values: dict[str, int]) -> Formula:
    total, *inner = closed_formulas(book)
    # A letter that cancels out, as in H / N * N, still stands in the formula as it is written.
    used = letters(total.expression()) | total.polynomial().letters()
    modules = tuple(
        ModuleFormula(path, formula, as_int(evaluate(entry.each, values)))
        for (path, entry), formula in zip(entries(book), (total, *inner), strict=True)
        if path
    )
    kept = tuple(symbol for letter, symbol in table.items() if letter in used)
    return Formula(total, modules, kept, {symbol.letter: values[symbol.letter] for symbol in kept})
