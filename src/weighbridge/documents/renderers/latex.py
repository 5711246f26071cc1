"""A whole LaTeX document; Chinese is set by ctex, so compile it with XeLaTeX or LuaLaTeX."""

from __future__ import annotations

import re

from weighbridge.core.formula import Symbol
from weighbridge.core.notation import LATEX, UNICODE, write
from weighbridge.documents.document import Cell, Document, Equation, Heading, Item, Paragraph, Printed, Row, Table
from weighbridge.documents.renderers import shorten_names, write_cell

HEAD = r"""\documentclass[11pt]{%s}
\usepackage{amsmath}
\usepackage{array,longtable}
\usepackage[margin=20mm]{geometry}
\setlength{\LTleft}{0pt}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\emergencystretch}{3em}
\begin{document}
"""
LONGEST = 90
"""Letters of a step, written plainly, that a line of displayed mathematics can hold."""
RUNNING = LATEX._replace(group="({})")
"""For steps that are broken into lines: TeX breaks at the signs of a sum, but not between ``\\left`` and ``\\right``."""
WIDEST = 28
"""Letters of a cell that a line of a table can hold."""

LETTERS, GAP = 88, 3
"""Letters of a line of a table, and those that the space between two columns takes."""

LEVELS = ("section*", "subsection*", "subsubsection*", "paragraph*")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "×": r"$\times$",
    "ᵀ": r"$^{T}$",
    "γ": r"$\gamma$",
    "β": r"$\beta$",
    "·": r"$\cdot$",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "⌊": r"$\lfloor$",
    "⌋": r"$\rfloor$",
    "≈": r"$\approx$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    **{letter: f"$^{digit}$" for digit, letter in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}

_ESCAPES = str.maketrans(SPECIAL)


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* as a LaTeX document."""
    head = HEAD % ("ctexart" if document.lang == "zh" else "article")
    title = rf"{{\Large\bfseries\raggedright {_make_breakable(document.heading)}\par}}"
    return "\n".join([head + title, *map(_block, document.printable), r"\end{document}"]) + "\n"


def escape(text: str) -> str:
    """Write text so that LaTeX prints it as it is.

    >>> escape("token_type 50%")
    'token\\\\_type 50\\\\%'
    """
    return text if text.isalnum() and text.isascii() else text.translate(_ESCAPES)


def _block(block: Printed) -> str:
    match block:
        case Heading():
            level = LEVELS[min(block.level, len(LEVELS)) - 1]
            figure = rf"\hfill {escape(block.figure)}" if block.figure else ""
            return rf"\{level}{{\raggedright {escape(block.text)}{figure}}}"
        case Paragraph():
            return _make_breakable(block.text) + r"\par"
        case Item():
            code = ", ".join(rf"\texttt{{{_make_breakable(name)}}}" for name in shorten_names(block.code))
            return rf"{{\raggedright \textbf{{{escape(block.text)}}} {code}\par}}"
        case Equation():
            if any(len(block.label) * (at == 0) + len(write(step, UNICODE)) > LONGEST for at, step in enumerate(block.steps)):
                return _running_mathematics(block)
            first, *rest = (write(step, LATEX) for step in block.steps)
            label = rf"\text{{{escape(block.label)}}}" if block.label else ""
            body = first + "".join(r" \\" + f"\n  &= {step}" for step in rest)
            return "{\\small\\begin{align*}\n  " + label + "& " + body + "\n\\end{align*}}"
        case _:
            return _table(block)


def _running_mathematics(block: Equation) -> str:
    """Set a chain of long steps as running mathematics, which TeX breaks into lines: one paragraph for each step."""
    steps = [write(step, RUNNING) for step in block.steps]
    label = rf"\text{{{escape(block.label)}}} " if block.label else ""
    lines = [f"${label}{steps[0]}$", *(f"${{}}= {step}$" for step in steps[1:])]
    return "{\\small\\raggedright\\hangindent=2em " + "\\par\\hangindent=2em\n".join(lines) + "\\par}"


def _table(table: Table) -> str:
    kept = table.visible_columns()
    head = [[escape(table.columns[i].title) for i in kept]] if table.headed else []
    rows = [[r"\quad " * row.depth * (i == 0) + _cell(table.columns[i].kind, row.cells[i]) for i in kept] for row in table.rows]
    body = " \\\\\n".join(_row(row) for row in [*head, *rows])
    title = rf"\textbf{{{escape(table.title)}}}\par" + "\n" if table.title else ""
    columns = "".join(_column(table, i) for i in kept)
    return f"{title}{{\\small\\begin{{longtable}}{{{columns}}}\n{body}\n\\end{{longtable}}}}"


def _row(cells: list[str]) -> str:
    """Write a row; one that begins with a bracket or a star would be taken for what the end of the row before it says of itself."""
    row = " & ".join(cells)
    return "{}" * row.startswith(("[", "*")) + row


def _cell(kind: str, cell: Cell) -> str:
    return f"${write(Symbol(str(cell)), LATEX)}$" if kind == "letter" else _make_breakable(write_cell(cell))


def _make_breakable(text: str) -> str:
    """Write a text whose long names may be broken at their seams, those of a class before its capitals.

    >>> _make_breakable("a.b"), _make_breakable("WhisperForConditionalGeneration")
    ('a.\\\\allowbreak{}b', 'Whisper\\\\allowbreak{}For\\\\allowbreak{}Conditional\\\\allowbreak{}Generation')
    """
    names = _SEAM.sub(r"\1\\allowbreak{}", escape(text))
    return _LONG_NAME.sub(lambda name: _CAPITAL.sub(r"\\allowbreak{}", name[0]), names) if len(text) >= WIDEST else names


_SEAM = re.compile(r"(?<=[^\W\d])(\\_|\.|\()(?=[^\W\d])")
_LONG_NAME = re.compile(rf"[A-Za-z\d]{{{WIDEST},}}")
_CAPITAL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


def _column(table: Table, index: int) -> str:
    """Return how a column is set: numbers flush right, long texts broken into lines."""
    if table.columns[index].kind in ("integer", "share"):
        return "r"
    if _longest_cell(table, index) <= WIDEST:
        return "l"
    return rf">{{\raggedright\arraybackslash}}p{{0.{_share_of_line(table):02}\linewidth}}"


def _longest_cell(table: Table, index: int) -> int:
    return max(len(write_cell(row.cells[index])) for row in (*table.rows, Row(tuple(column.title for column in table.columns))))


def _share_of_line(table: Table) -> int:
    """Return the hundredths of a line that each column of long texts has, beside the others and the gaps between."""
    sizes = [_longest_cell(table, index) for index in table.visible_columns()]
    long = [size for size in sizes if size > WIDEST]
    left = LETTERS - sum(size + GAP for size in sizes if size <= WIDEST) - GAP * len(long)
    return min(max(left // len(long), 15), 30)
