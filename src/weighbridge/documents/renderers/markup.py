"""Text inside HTML and SVG."""

from __future__ import annotations

import html

from weighbridge.core.escape import escape_invisible


def escape(text: str) -> str:
    """Write text so that a page shows it as it is, and what cannot be seen is written out.

    >>> escape("<b>\\u202e")
    '&lt;b&gt;\\\\u202e'
    """
    return html.escape(escape_invisible(text))
