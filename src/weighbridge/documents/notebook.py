"""What a notebook shows of a model: a fragment of HTML with the total, the treemap, the table that folds, the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.accounts.ledger import ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.documents.count import document
from weighbridge.documents.document import Document, Picture
from weighbridge.documents.renderers.folding import STYLE
from weighbridge.documents.renderers.html import body
from weighbridge.documents.renderers.markup import escape

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def notebook(model: ModelValue) -> str:
    """Return a fragment of HTML: the total, the treemap, the table that folds, the notes."""
    shown = document(model)
    drawn = Document(shown.title, shown.figure, (Picture(ledger(model.tree, PARAMETERS)), *shown.blocks))
    head = f"<p><strong>{escape(shown.title)}</strong> {escape(shown.figure)}</p>"
    return f'<div class="weighbridge"><style>{STYLE}</style>{head}{body(drawn)}</div>'
