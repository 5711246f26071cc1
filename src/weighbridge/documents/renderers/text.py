"""Plain text of fixed width: aligned, without colour."""

from __future__ import annotations

from weighbridge.documents.document import Document
from weighbridge.documents.renderers.layout import lines


def render(document: Document, *, width: int = 0) -> str:
    """Return *document* as plain text.

    Args:
        document: What is shown.
        width: Columns of a line; 0 leaves rows, sentences and equations on one line each, for programs that read lines.

    >>> from weighbridge.documents.document import Column, Row, Table
    >>> table = Table((Column("module"), Column("count", "integer")), (Row(("pooler", 590592)),))
    >>> print(render(Document("BertModel", blocks=(table,))), end="")
    BertModel
    <BLANKLINE>
    module    count
    pooler  590,592
    """
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines(document, width))
