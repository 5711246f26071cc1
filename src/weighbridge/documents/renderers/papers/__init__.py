"""The table of renderers of texts with formulas."""

from __future__ import annotations

from importlib import import_module

from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Paper

FORMATS = ("text", "markdown", "latex", "html")


def render(paper: Paper, form: str = "text") -> str:
    """Write *paper* in one of :data:`FORMATS`; LaTeX and HTML are whole documents.

    >>> render(Paper("BertModel", "109,482,240 parameters", "en", ()))
    'BertModel: 109,482,240 parameters\\n'
    """
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}; known: {', '.join(FORMATS)}")
    text: str = import_module(f"weighbridge.documents.renderers.papers.{form}").render(paper)
    return text
