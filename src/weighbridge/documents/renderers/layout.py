"""Lines of fixed width: what plain text and the terminal share. Numbers and words are never broken."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Document, Equation, Heading, Item, Paragraph, Printed, Table
from weighbridge.documents.renderers import WIDTH, shorten_names
from weighbridge.documents.renderers.table_layout import Line, Span, table_lines
from weighbridge.documents.renderers.wrapping import JOINT, bind_operators, break_cell, break_formula, measure, wrap, wrap_title


def lines(document: Document, width: int = 0, *, bars: bool = False) -> Iterator[Line]:
    """Yield the lines of a document.

    Args:
        width: Columns of a line; 0 breaks no row, sentence or equation, for programs that read lines.
        bars: Draw the bars of a table.
    """
    fit, width = width > 0, width or WIDTH
    before: object = None
    if document.title or document.figure:
        yield from _flush_both(document.title, document.figure, width, "strong")
        before = document
    headed = False
    for block in document.printable:
        if _is_apart(before, block):
            yield []
        headed = headed or isinstance(block, Heading)
        yield from _block(block, width, indent=2 * headed, bars=bars, fit=fit)
        before = block


def _is_apart(before: object, block: Printed) -> bool:
    """Tell whether an empty line stands between two blocks."""
    if before is None:
        return False
    if isinstance(before, Document) or isinstance(block, Heading):
        return True
    if isinstance(block, Table):
        return not isinstance(before, Heading)
    return isinstance(before, Table) or (isinstance(block, Paragraph) and block.level == 0 and not isinstance(before, Paragraph))


def _flush_both(left: str, right: str, width: int, style: str) -> Iterator[Line]:
    """Set a title flush left and its figure flush right, on two lines where one cannot hold them."""
    gap = width - measure(left) - measure(right)
    if gap >= 2 or not right:
        rows = wrap_title(left, width) if not right else [left]
        yield from ([Span(row, style)] for row in rows[:-1])
        yield [Span(rows[-1], style), *([Span(" " * gap), Span(right, "figure")] if right else [])]
        return
    inset = " " * (len(left) - len(left.lstrip()))
    rows = [inset + row for row in wrap_title(left.lstrip(), width - len(inset))]
    yield from ([Span(row, style)] for row in rows[:-1])
    room = width - measure(rows[-1]) - measure(right)
    if room >= 2:
        yield [Span(rows[-1], style), Span(" " * room), Span(right, "figure")]
    else:
        yield [Span(rows[-1], style)]
        yield [Span(" " * max(width - measure(right), 0)), Span(right, "figure")]


def _block(block: Printed, width: int, *, indent: int, bars: bool, fit: bool) -> Iterator[Line]:
    inset = "  " * getattr(block, "level", 0)
    match block:
        case Heading():
            yield from _flush_both("  " * (block.level - 1) + block.text, block.figure, width, "strong")
        case Paragraph():
            style = "quiet" if block.level == 0 else ""
            yield from ([Span(inset + line, style)] for line in _sentences(block, width - len(inset), fit))
        case Item():
            code = ", ".join(shorten_names(block.code))
            yield from _item(inset, block.text, code, width if fit else 0)
        case Equation():
            steps = [write(step, UNICODE) for step in block.steps]
            yield from _equation(inset, block.label, steps, width if fit else 0)
        case _:
            yield from ([Span(" " * indent), *line] for line in table_lines(block, width - indent if fit else 0, bars=bars))


def _sentences(block: Paragraph, width: int, fit: bool) -> list[str]:
    return wrap(block.text, width) if fit or block.level == 0 else block.text.split("\n")


def _item(inset: str, text: str, code: str, width: int) -> Iterator[Line]:
    whole = "  ".join(piece for piece in (text, code) if piece)
    if not width or measure(inset + whole) <= width:
        yield [Span(inset), *([Span(text, "strong")] if text else []), Span(("  " if text and code else "") + code, "quiet")]
        return
    rows = wrap(bind_operators(text), width - len(inset)) if text else []
    yield from ([Span(inset), Span(row.replace(JOINT, " "), "strong")] for row in rows)
    yield from ([Span(inset + "  " * bool(text)), Span(row, "quiet")] for row in break_cell(code, width - len(inset) - 2))


def _equation(inset: str, label: str, steps: list[str], width: int) -> Iterator[Line]:
    """Set a chain on one line; where it does not fit, one step on each, broken before operators."""
    whole = inset + label + " = ".join(steps)
    if not width or measure(whole) <= width:
        yield [Span(inset), Span(label, "quiet"), Span(" = ".join(steps))]
        return
    if label:
        yield from ([Span(inset), Span(row, "quiet")] for row in wrap(label.rstrip(), width - len(inset)))
    for number, step in enumerate(steps):
        sign = "= " if number or label else ""
        rows = break_formula(step, width - len(inset) - 4)
        for at, row in enumerate(rows):
            text = row.replace(JOINT, " ")
            yield [Span(inset), Span((sign if at == 0 else " " * len(sign) + "  ") + text, "figure" if number == len(steps) - 1 else "")]
