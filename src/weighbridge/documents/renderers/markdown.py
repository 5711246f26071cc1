"""GitHub's Markdown: tables with aligned columns; formulas stay Unicode, so that they read the same everywhere."""

from __future__ import annotations

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
    head = [f"# {document.heading}"] if document.heading else []
    return "\n\n".join([*head, *map(_block, document.printed)]) + "\n"


def _block(block: Printed) -> str:
    match block:
        case Heading():
            return "#" * min(block.level + 1, 6) + f" {block.text}" + (f" ({block.figure})" if block.figure else "")
        case Paragraph():
            return block.text
        case Item():
            code = ", ".join(f"`{name}`" for name in shorten_names(block.code))
            return " ".join(piece for piece in (f"**{block.text}**" if block.text else "", code) if piece)
        case Equation():
            return (f"*{block.label.strip()}* " if block.label else "") + " = ".join(write(step, UNICODE) for step in block.steps)
        case _:
            return table_markdown(block)


def table_markdown(table: Table) -> str:
    """Write one table as Markdown."""
    kept = table.shown()
    rules = ["---:" if table.columns[i].kind in ("integer", "share") else "---" for i in kept]
    lines = [[table.columns[i].title for i in kept], rules]
    for row in table.rows:
        indent = "&nbsp;&nbsp;" * row.depth
        lines.append([(indent if i == 0 else "") + write_cell(row.cells[i]).replace("|", r"\|").replace("\n", " ") for i in kept])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{table.title}**\n\n{text}" if table.title else text
