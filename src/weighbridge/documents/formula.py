"""A closed formula as a document, as JSON, and bare in one notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.accounts.accepted_inputs import usual_inputs
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.ledger import entries, ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import mark, translator
from weighbridge.core.notation import LATEX, TEXT, UNICODE, write
from weighbridge.documents.document import Column, Document, Row, Table
from weighbridge.documents.symbols import symbol_table
from weighbridge.documents.tree_rows import name_of
from weighbridge.explain.formulas import Formula, flops_formula, parameter_formula
from weighbridge.explain.sensitivity import Insight, insight

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

HEADLINES = (mark("closed formula of its parameters"), mark("closed formula of its forward FLOPs"))


def formula(model: ModelValue, *, of_flops: bool = False) -> Formula:
    """Return the closed formula of the parameters, or of the matrix arithmetic of a forward pass."""
    return flops_formula(model) if of_flops else parameter_formula(model)


def document(model: ModelValue, *, of_flops: bool = False, lang: str = "en") -> Document:
    """Lay a closed formula out: the total, its symbols, and each module's own.

    >>> from weighbridge import model
    >>> document(model("bert-base-uncased")).tables[0].rows[0].cells[1]
    'V × H + S × H + T × H + H² + 3 × H + L × (4 × H² + 2 × H × I + 9 × H + I)'
    """
    say = translator(lang)
    found = formula(model, of_flops=of_flops)
    whole = [Row((say("closed"), found.unicode))]
    insight = _insight(found)
    if insight and insight.relations:
        relations = say(", ").join(f"{symbol.letter} = {write(multiple, UNICODE)}" for symbol, multiple in insight.relations)
        whole.append(Row((say("collected, as {relations}").format(relations=relations), write(insight.collected, UNICODE))))
    symbols = ((symbol.letter, symbol.key, say(symbol.meaning), found.values[symbol.letter]) for symbol in found.symbols)
    shown = _copies(model, [part.path for part in found.modules], of_flops=of_flops)
    modules = [
        Row((name, write(part.closed.expression(), UNICODE), part.value), part.path.count("."))
        for name, part in zip(shown, found.modules, strict=True)
        if part.value
    ]
    tables = (
        Table((Column(say("form")), Column(say("formula"))), tuple(whole)),
        symbol_table(symbols, say),
        Table((Column(say("module")), Column(say("formula of one copy")), Column(say("value"), "integer")), tuple(modules)),
    )
    head = say("{name}: {what}").format(name=f"{model.class_name} · {model.source}", what=say(HEADLINES[of_flops]))
    return Document(head, f"{found.value:,}", tables, lang)


def _copies(model: ModelValue, paths: list[str], *, of_flops: bool) -> list[str]:
    """Return the paths of modules with the copies that a formula is for one of: ``model.layers × 58 (3-60)``."""
    book = flops_of(model, usual_inputs(model)).ledger if of_flops else ledger(model.tree, PARAMETERS)
    found = [(path, entry) for path, entry in entries(book) if path]
    if [path for path, _ in found] != paths:
        return paths
    shown, around = [], [("", "")]  # the modules around one, and what they are called: T5's first block is ``block.0`` in its parts too
    for path, entry in found:
        while around[-1][0] and not path.startswith(around[-1][0] + "."):
            around.pop()
        above, called = around[-1]
        name = called + path[len(above) :]
        copies = name.removesuffix(entry.name) + name_of(entry) if entry.part.repeat is not None else name
        shown.append(copies)
        around.append((path, copies if entry.part.repeat == 1 else name))
    return shown


def as_json(model: ModelValue, *, of_flops: bool = False, lang: str = "en") -> dict[str, Any]:
    """Return a closed formula as plain data."""
    say = translator(lang)
    found = formula(model, of_flops=of_flops)
    insight = _insight(found)
    return {
        "source": model.source,
        "class": model.class_name,
        "of": "forward_matmul" if of_flops else "unique",
        "value": found.value,
        "text": found.text,
        "latex": found.latex,
        "mathml": found.mathml,
        "tree": found.json,
        "collected": write(insight.collected, TEXT) if insight else None,
        "relations": [f"{symbol.letter} = {write(multiple, TEXT)}" for symbol, multiple in insight.relations] if insight else [],
        "symbols": [{"letter": s.letter, "key": s.key, "meaning": say(s.meaning), "value": found.values[s.letter]} for s in found.symbols],
        "modules": [
            {
                "path": part.path,
                "text": write(part.closed.expression(), TEXT),
                "latex": write(part.closed.expression(), LATEX),
                "value": part.value,
            }
            for part in found.modules
        ],
    }


def formula_text(model: ModelValue, notation: str, *, of_flops: bool = False) -> str:
    """Write the closed formula alone.

    Args:
        notation: ``latex``, ``mathml`` or ``sympy``.

    Raises:
        UsageError: SymPy is asked for and not installed.

    >>> from weighbridge import model
    >>> formula_text(model("bert-base-uncased"), "latex")[:32]
    'V \\\\times H + S \\\\times H + T \\\\tim'
    """
    found = formula(model, of_flops=of_flops)
    if notation != "sympy":
        return found.latex if notation == "latex" else found.mathml
    try:
        return str(found.sympy())
    except ImportError:
        raise UsageError("--format sympy needs SymPy: pip install 'weighbridge[formula]'") from None


def _insight(found: Formula) -> Insight | None:
    return insight(found.closed, {symbol.letter: symbol for symbol in found.symbols}, found.values)
