"""Bytes in a table of counts: the dtype that heads their column, and figures that are only about what their count makes."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import scales, value_bounds
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.tokens import tokens


def is_loose(one: Claim) -> bool:
    """Tell whether a figure in bytes is only about what its count makes, and not that to the digits it shows: ``13.7 GB`` of 13.48.

    What only the rows around it confirm is such a figure too.
    """
    found = [token for token in tokens(one.text, 0) if token.kind == "num" and token.unit in BYTES]
    if len(found) != 1 or not isinstance(one.expected, int | Fraction):
        return False
    if one.kind == "arithmetic":
        return True
    ranges = (value_bounds(found[0], scale) for scale in scales(found[0]))
    return not any(low <= one.expected <= high for low, high in ranges)


def is_nearly(text: str, token: Token, right: Fraction) -> bool:
    """Tell whether a figure that its line says to be approximate is less than one of its last digit off.

    >>> is_nearly("~61.0 GB", tokens("~61.0 GB", 0)[1], Fraction(61_064_245_248))
    True
    """
    about = _ABOUT.search(text, max(0, token.start - 4), token.start) is not None
    return about and any(abs((token.value or 0) * scale - right) * 10**token.places < scale for scale in scales(token))


_ABOUT = pattern(r"[~≈约]\s?$")


def bits_of_head(head: str) -> int | None:
    """Return the bits of the one dtype that heads a column of weights; what files or whole machines need has more in it."""
    sizes = dtype_sizes(head)
    return int(sizes[0] * 8) if len(sizes) == 1 and not _MORE.search(head) else None


_MORE = pattern(
    r"file|disk|download|gguf|ggml|gptq|awq|train|optim|infer|serv|need|requir|recommend|min|最低|推荐|至少|训练|推理|文件|微调",
    re.IGNORECASE,
)
