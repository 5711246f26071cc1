"""The one place where a document is made safe to show, before any renderer sees it: hidden characters are written out."""

from __future__ import annotations

from weighbridge.core.escape import escape_invisible, is_visible
from weighbridge.documents.document import Bars, Block, Document, Equation, Heading, Item, Paragraph, Picture, Plot, Row, Table


def clean(document: Document) -> Document:
    """Return *document* with all of its texts visible.

    >>> clean(Document("a\\x1b]0;b\\x07")).title
    'a\\\\u001b]0;b\\\\u0007'
    """
    blocks = tuple(_block(block) for block in document.blocks)
    return Document(escape_invisible(document.title), escape_invisible(document.figure), blocks, document.lang)


def _block(block: Block) -> Block:
    match block:
        case Heading():
            return block._replace(
                number=escape_invisible(block.number), title=escape_invisible(block.title), figure=escape_invisible(block.figure)
            )
        case Paragraph():
            return block._replace(text=escape_invisible(block.text, keep="\n"))
        case Item():
            return block._replace(
                number=escape_invisible(block.number), title=escape_invisible(block.title), code=tuple(map(escape_invisible, block.code))
            )
        case Equation():
            return block._replace(label=escape_invisible(block.label))
        case Table():
            columns = tuple(column._replace(title=escape_invisible(column.title)) for column in block.columns)
            return block._replace(columns=columns, rows=tuple(map(_row, block.rows)), title=escape_invisible(block.title))
        case Bars():
            rows = tuple((escape_invisible(label), amounts) for label, amounts in block.rows)
            return Bars(rows, tuple(map(escape_invisible, block.legend)))
        case Plot():
            series = tuple((escape_invisible(label), points) for label, points in block.series)
            return block._replace(series=series, titles=(escape_invisible(block.titles[0]), escape_invisible(block.titles[1])))
        case Picture():
            return block  # its names are made visible where they are drawn, since links need them as they are


def _row(row: Row) -> Row:
    for cell in row.cells:
        if type(cell) is str and not is_visible(cell):
            break
    else:
        return row
    return row._replace(cells=tuple(escape_invisible(cell) if isinstance(cell, str) else cell for cell in row.cells))
