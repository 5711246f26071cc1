"""``json`` without the cost of importing it, for what stands on the path of a plain count.

Importing ``json`` takes a tenth of the whole time of a count, half of that for ``re``, which only its slow path
needs. Its two C functions are asked directly; whatever they refuse is given to ``json`` itself, which says why.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

BLANKS = " \t\n\r"


def loads(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Do what ``json.loads`` does.

    Args:
        text: The text.
        pairs: ``object_pairs_hook``.

    >>> loads(' {"hidden_size": 768} ')
    {'hidden_size': 768}
    """
    try:
        from _json import make_scanner

        value, end = make_scanner(_Context(pairs))(text, len(text) - len(text.lstrip(BLANKS)))  # type: ignore[arg-type]
        if not text[end:].strip(BLANKS):
            return value
    except (ImportError, StopIteration, SystemError):
        pass  # the scanner raises json's own error, which is not there to be raised while json is not imported: SystemError
    import json

    return json.loads(text, object_pairs_hook=pairs)


def encode(value: object) -> Sequence[str]:
    """Do what ``json.dumps(value, ensure_ascii=False)`` does, but leave a long text in its pieces, which are never all held twice.

    >>> "".join(encode({"class": "BertModel", "notes": ["字"], "tied": None}))
    '{"class": "BertModel", "notes": ["字"], "tied": null}'
    """
    try:
        from _json import encode_basestring, make_encoder

        pieces: tuple[str, ...] = make_encoder(None, _refuse, encode_basestring, None, ": ", ", ", False, False, True)(value, 0)
        return pieces
    except (ImportError, TypeError):
        import json

        return (json.dumps(value, ensure_ascii=False),)


class _Context:
    """What the scanner asks of its ``json.JSONDecoder``."""

    strict = True
    object_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}.__getitem__

    def __init__(self, pairs: Callable[[list[tuple[str, Any]]], Any] | None) -> None:
        self.object_pairs_hook = pairs
        self.memo: dict[str, str] = {}


def _refuse(value: object) -> object:
    raise TypeError(f"a {type(value).__name__} is nothing that JSON has")
