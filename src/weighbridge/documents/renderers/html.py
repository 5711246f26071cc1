"""A whole HTML page without scripts; formulas are MathML, which browsers set themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weighbridge.accounts.ledger import Entry
from weighbridge.core.formula import Expression, Product, Sum, Symbol
from weighbridge.core.messages import translator
from weighbridge.core.notation import MATHML, mathml, write
from weighbridge.documents.document import Bars, Block, Cell, Document, Equation, Heading, Item, Paragraph, Picture, Plot, Table
from weighbridge.documents.renderers import folding, shorten_names, write_cell
from weighbridge.documents.renderers.bars import bars
from weighbridge.documents.renderers.markup import escape
from weighbridge.documents.renderers.plot import plot
from weighbridge.documents.renderers.treemap import sunburst, tiles_and_roles, treemap
from weighbridge.documents.roles import ROLES, amounts, style

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
STYLE = """:root{color-scheme:light dark}
body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 system-ui,"Noto Sans SC","Noto Sans CJK SC",sans-serif}
h2,h3,h4,h5,h6{display:flex;justify-content:space-between;gap:1em;margin:1.2em 0 .3em}
h2{font-size:1.25em;border-bottom:1px solid #8886}h3{font-size:1.1em}h4,h5,h6{font-size:1em}
.figure{font-weight:normal;font-variant-numeric:tabular-nums}
.equation{margin:.3em 0 .6em 1.5em;padding:.15em 0;line-height:1.7}.term{display:inline-block;max-width:100%}
.label{margin-right:.6em;font-weight:600}
.table{overflow-x:auto}table{border-collapse:collapse}caption{text-align:left;font-weight:600;padding:.6em 0 .2em}
td,th{min-width:4.5em;padding:.1em 1em .1em 0;text-align:left;vertical-align:top}th{font-weight:normal;opacity:.7;border-bottom:1px solid #8886}
.integer,.share{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-size:.85em}p{margin:.3em 0}
.pictures{display:flex;flex-wrap:wrap;gap:1.5em;align-items:center;margin:1em 0}.pictures svg{height:auto;max-width:100%}
.treemap{flex:3 1 26em;min-width:0}.sunburst{flex:1 1 14em;min-width:0}.bars{width:100%}.centre{fill:currentColor}
@media(max-width:40em){td,th{min-width:0;padding-right:.6em}h2,h3,h4,h5,h6{flex-wrap:wrap;gap:0 1em}}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6eaee}}
@media print{body{margin:0;max-width:none}.equation{break-inside:avoid}}
"""


PICTURE_STYLE = (
    style(":is(svg,.legend,.fold) ")
    + ".legend{display:flex;flex-wrap:wrap;gap:.2em 1.2em;font-size:.85em}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}"
    ".treemap,.sunburst{fill:#10151a}@media(prefers-color-scheme:dark){.treemap,.sunburst{fill:#f2f5f8}}@media print{.legend i,.fold i{print-color-adjust:exact}}"
)
"""What the pictures and their legend look like: a colour for each role, the same everywhere."""


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* as an HTML page."""
    title = escape(document.title)
    head = f'<!DOCTYPE html>\n<html lang="{document.lang}">\n<head><meta charset="utf-8"><title>{title}</title>'
    held = _roles_without_picture(document)
    style = f"{VIEWPORT}<style>{STYLE}{folding.STYLE}{PICTURE_STYLE * bool(held)}</style></head>"
    named = f"\n{_legend_of(held, document.lang)}" if held else ""
    return f"{head}\n{style}\n<body>\n<h1>{escape(document.heading)}</h1>{named}\n{body(document)}\n</body>\n</html>\n"


def _roles_without_picture(document: Document) -> list[str]:
    """Return the roles that bars of tables have, where no picture brings their colours and legend."""
    if any(isinstance(block, Picture) for block in document.blocks):
        return []
    rows = [row for table in document.tables for row in table.rows if row.role]
    held = {role for row in rows for role in (dict(row.parts) or (row.role,))}
    return [role for role in ROLES if role in held]


def body(document: Document) -> str:
    """Write the blocks alone, to be put into another page.

    >>> body(Document("", blocks=(Paragraph(1, "a < b"),)))
    '<p>a &lt; b</p>'
    """
    return "\n".join(_block(block, document.lang) for block in document.blocks)


def legend(root: Entry, lang: str = "en", held: Iterable[str] | None = None) -> str:
    """Write which colour stands for which role, of the roles that a ledger has; *held* names them where they are known.

    >>> from weighbridge.accounts.ledger import ledger
    >>> from weighbridge.accounts.parameters import PARAMETERS
    >>> from weighbridge.core.tree import Part
    >>> legend(ledger(Part(""), PARAMETERS))
    '<p class="legend"></p>'
    """
    return _legend_of(amounts(root) if held is None else held, lang)


def _legend_of(held: Iterable[str], lang: str) -> str:
    say = translator(lang)
    items = (f'<span><i class="role-{role}"></i>{escape(say(ROLES[role][0]))}</span>' for role in held)
    return f'<p class="legend">{" ".join(items)}</p>'


def chain_html(equation: Equation) -> str:
    """Write a chain of equals signs as pieces of MathML between which a line may be broken."""
    pieces = [piece for index, step in enumerate(equation.steps) for piece in math_pieces(step, EQUALS if index else "")]
    return " ".join(f'<span class="term">{piece}</span>' for piece in pieces)


EQUALS, PLUS, MINUS = (f'<mo form="infix">{sign}</mo>' for sign in "=+−")
_NEGATIVE = "<mo>−</mo>"
SHORT = 16
"""Letters of an addend, written plainly, that no line need be broken in."""


def math_pieces(formula: Expression, lead: str = "") -> list[str]:
    """Write a formula as pieces of MathML between which a line may be broken: its addends, and those inside a long factor.

    >>> len(math_pieces(Symbol("V") * Symbol("H") + Symbol("H")))
    2
    >>> math_pieces(Symbol("V") - 3 * Symbol("H"))[1].startswith('<math><mo form="infix">−</mo><mrow><mn>3</mn>')
    True
    >>> sum(piece.count("<mi>V</mi>") for piece in math_pieces(Product((Symbol("VOCABULARY") + Symbol("V") + Symbol("HH"),))))
    1
    >>> from weighbridge.core.notation import Number
    >>> inner = Sum((Symbol("H"), Symbol("A"), Symbol("I")))
    >>> "".join(math_pieces(Product((Sum((Symbol("L"), Number(1))), inner)))).startswith("<math><mrow><mrow><mo>(</mo>")
    True
    """
    pieces: list[str] = []
    for index, addend in enumerate(formula.terms if isinstance(formula, Sum) else (formula,)):
        text = write(Sum((addend,)), MATHML)  # in a sum a negative number is a sign, not brackets
        sign = lead if not index else MINUS if text.startswith(_NEGATIVE) else PLUS
        text = text.removeprefix(_NEGATIVE) if index else text
        inner = addend.factors[-1] if isinstance(addend, Product) else None
        if not isinstance(addend, Product) or not isinstance(inner, Sum) or len(write(addend)) < SHORT or sign == MINUS:
            pieces.append(f"<math>{sign}<mrow>{text}</mrow></math>")
            continue
        front = addend.factors[:-1]
        shown = _factor(front[0] if len(front) == 1 else Product(front)) + "<mo>×</mo>" if front else ""
        inside = math_pieces(inner)
        inside[0] = f"<math>{sign}<mrow>{shown}</mrow><mo>(</mo></math>{inside[0]}"
        inside[-1] += "<math><mo>)</mo></math>"
        pieces += inside
    return pieces


def _factor(factor: Expression) -> str:
    text = write(factor, MATHML)
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>" if isinstance(factor, Sum) else text


def _block(block: Block, lang: str) -> str:
    match block:
        case Heading():
            level = min(block.level + 1, 6)
            figure = f'<span class="figure">{escape(block.figure)}</span>' if block.figure else ""
            return f"<h{level}><span>{escape(block.text)}</span>{figure}</h{level}>"
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Item():
            code = ", ".join(f"<code>{escape(name)}</code>" for name in shorten_names(block.code))
            return f"<p><b>{escape(block.text)}</b> {code}</p>"
        case Equation():
            label = f'<span class="label">{escape(block.label)}</span>' if block.label else ""
            return f'<div class="equation">{label}{chain_html(block)}</div>'
        case Picture():
            root, held = tiles_and_roles(block.root)
            pictures = f'<div class="pictures">{treemap(root, width=680, height=360)}{sunburst(root, size=300)}</div>'
            return f"<style>{PICTURE_STYLE}</style>{pictures}{legend(block.root, lang, held)}"
        case Bars():
            return f'<div class="pictures">{bars(block)}</div>'
        case Plot():
            return f'<div class="pictures">{plot(block)}</div>'
        case _:
            return folding.fold_table(block) if block.visible_columns("path") != block.visible_columns() else _table(block)


def _table(table: Table) -> str:
    kept = table.visible_columns()
    head = "".join(f'<th class="{table.columns[i].kind}">{escape(table.columns[i].title)}</th>' for i in kept)
    rows = "".join("<tr>" + "".join(_cell(table.columns[i].kind, row.cells[i]) for i in kept) + "</tr>" for row in table.rows)
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f'<div class="table" tabindex="0"><table>{caption}<tr>{head}</tr>{rows}</table></div>'


def _cell(kind: str, cell: Cell) -> str:
    if kind == "letter":
        return f'<td class="letter">{mathml(Symbol(str(cell)))}</td>'
    text = escape(write_cell(cell))
    if kind == "text":  # long names break where their words meet
        text = re.sub(r"(?<=[^\W\d_][._])(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])", "<wbr>", text)
    return f'<td class="{kind}">{text}</td>'
