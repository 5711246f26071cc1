"""GitHub's Markdown: tables with aligned columns; formulas stay Unicode, so that they read the same everywhere."""

from __future__ import annotations

import re

from weighbridge.core.notation import UNICODE, write
from weighbridge.documents.document import Document, Equation, Heading, Item, Paragraph, Printed, Table
from weighbridge.documents.renderers import shorten_names, write_cell


def render(document: Document, *, width: int = 0) -> str:
    """Write *document* as Markdown; depth is shown by non-breaking spaces.

    >>> from weighbridge.documents.document import Column, Row
    >>> table = Table((Column("module"), Column("count", "integer")), (Row(("pooler", 590592)),))
    >>> print(render(Document("BertModel", blocks=(table,))), end="")
    # BertModel
    <BLANKLINE>
    | module | count |
    | --- | ---: |
    | pooler | 590,592 |
    """
    head = [f"# {escape(document.heading)}"] if document.heading else []
    return "\n\n".join([*head, *map(_block, document.printable)]) + "\n"


def _block(block: Printed) -> str:
    match block:
        case Heading():
            return "#" * min(block.level + 1, 6) + f" {escape(block.text)}" + (f" ({escape(block.figure)})" if block.figure else "")
        case Paragraph():
            return "\n".join(_line(line) for line in block.text.split("\n"))
        case Item():
            code = ", ".join(map(_code, shorten_names(block.code)))
            return " ".join(piece for piece in (f"**{escape(block.text)}**" if block.text else "", code) if piece)
        case Equation():
            return (f"*{block.label.strip()}* " if block.label else "") + " = ".join(write(step, UNICODE) for step in block.steps)
        case _:
            return table_markdown(block)


def table_markdown(table: Table) -> str:
    """Write one table as Markdown."""
    kept = table.visible_columns()
    rules = ["---:" if table.columns[i].kind in ("integer", "share") else "---" for i in kept]
    lines = [[_cell(table.columns[i].title) for i in kept], rules]
    for row in table.rows:
        indent = "&nbsp;&nbsp;" * row.depth
        lines.append([(indent if i == 0 else "") + _cell(write_cell(row.cells[i])) for i in kept])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{escape(table.title)}**\n\n{text}" if table.title else text


def escape(text: str) -> str:
    """Write text so that it is no HTML, no link and no picture; words of emphasis and code stay, since they do nothing.

    >>> escape("<img src=x> ![a](http://b) 3 < 4 &lt;")
    '&lt;img src=x> ![a\\\\](http://b) 3 < 4 &amp;lt;'
    """
    return _LINK.sub(r"\]", _TAG.sub("&lt;", _ENTITY.sub("&amp;", text)))


def _line(text: str) -> str:
    """Write a line so that it begins no heading, list, quotation, table or block of code."""
    return ("\\" if _START.match(text) else "") + escape(text)


def _cell(text: str) -> str:
    return escape(text).replace("|", r"\|")


def _code(name: str) -> str:
    """Set a name as code, within more backticks than it has in a row; what were a tag or a link outside of code is none for any reader.

    >>> _code("layer.0"), _code("<b>`[l](http://x)")
    ('`layer.0`', '`` \\\\u003cb>`[l\\\\u005d(http://x) ``')
    """
    name = _LINK.sub(r"\\u005d", _TAG.sub(r"\\u003c", name))
    fence = "`" * (max(map(len, re.findall("`+", name)), default=0) + 1)
    space = " " * ("`" in name)
    return f"{fence}{space}{name}{space}{fence}"


_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINK = re.compile(r"\](?=[(\[:])")
_START = re.compile(r"[#>|=~`]|[-+*](?:\s|[-+*])")
