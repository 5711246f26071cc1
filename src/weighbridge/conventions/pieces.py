"""What a convention leaves out or adds, with its number."""

from __future__ import annotations

from weighbridge.core._namedtuple import NamedTuple


class Piece(NamedTuple):
    """Something left out or added, and how many parameters it is."""

    what: str
    amount: int
