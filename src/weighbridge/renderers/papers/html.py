"""A text with formulas as a whole HTML page; formulas are MathML, which browsers set themselves."""

from __future__ import annotations

from html import escape

from weighbridge.notation import MATHML, write
from weighbridge.paper import Block, Equation, Heading, Item, Paper, Paragraph
from weighbridge.renderers import written
from weighbridge.renderers.papers.text import colon, shortened
from weighbridge.report import Table

STYLE = """body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 system-ui,"Noto Sans SC","Noto Sans CJK SC",sans-serif}
h2,h3,h4,h5,h6{display:flex;justify-content:space-between;gap:1em;margin:1.2em 0 .3em}
.figure{font-weight:normal;font-variant-numeric:tabular-nums}
.equation{margin:.3em 0 .6em 1.5em;padding:.15em 0;overflow-x:auto;overflow-y:hidden}
.label{margin-right:.6em;font-weight:600}
td,th{padding:.1em 1em .1em 0;text-align:left}.integer{text-align:right;font-variant-numeric:tabular-nums}
code{font-size:.85em}p{margin:.3em 0}"""


def render(paper: Paper) -> str:
    """Write *paper* as an HTML page."""
    head = f'<!DOCTYPE html>\n<html lang="{paper.language}">\n<head><meta charset="utf-8"><title>{escape(paper.title)}</title>'
    return f"{head}\n<style>{STYLE}</style></head>\n<body>\n<h1>{escape(paper.title)}{colon(paper)}{escape(paper.figure)}</h1>\n{body(paper)}\n</body>\n</html>\n"


def body(paper: Paper) -> str:
    """Write the blocks alone, to be put into another page.

    >>> body(Paper("", "", "en", (Paragraph(1, "a < b"),)))
    '<p>a &lt; b</p>'
    """
    return "\n".join(map(_block, paper.blocks))


def chain_html(equation: Equation) -> str:
    """Write a chain of equals signs as one ``<math>`` element."""
    steps = "<mo>=</mo>".join(f"<mrow>{write(step, MATHML)}</mrow>" for step in equation.steps)
    return f"<math><mrow>{steps}</mrow></math>"


def _block(block: Block) -> str:
    match block:
        case Heading():
            level = min(block.level + 1, 6)
            figure = f'<span class="figure">{escape(block.figure)}</span>' if block.figure else ""
            return f"<h{level}><span>{escape(f'{block.number} {block.title}'.strip())}</span>{figure}</h{level}>"
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Item():
            code = ", ".join(f"<code>{escape(name)}</code>" for name in shortened(block.code))
            text = " ".join(piece for piece in (block.number, block.title) if piece)
            return f"<p><b>{escape(text)}</b> {code}</p>"
        case Equation():
            label = f'<span class="label">{escape(block.label)}</span>' if block.label else ""
            return f'<div class="equation">{label}{chain_html(block)}</div>'
        case _:
            return _table(block)


def _table(table: Table) -> str:
    head = "".join(f'<th class="{column.kind}">{escape(column.title)}</th>' for column in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(f'<td class="{column.kind}">{escape(written(cell))}</td>' for column, cell in zip(table.columns, row.cells, strict=True))
        + "</tr>"
        for row in table.rows
    )
    return f"<table><tr>{head}</tr>{rows}</table>"
