"""Lengths: how many tokens a part sees, as an expression over named lengths.

A blueprint cannot know how long an input is, so it says what it makes of it: a convolution of kernel k, stride s and
padding p over ``seq`` frames puts out ``(length("seq") + 2 * p - k) // s + 1``. A :data:`Stream` is such an expression,
the bare name of a length, or a size where the number of tokens is fixed (197 image patches). :func:`evaluate` puts
numbers in place of the names; symbols and columns do as well.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import Size, product

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

Stream: TypeAlias = "str | Size | Length"
"""The tokens that a part sees for each example: a named length (``seq``, ``encoder``, ``decoder``, ``one``; ``images`` and
``audios`` count what an example holds, ``rows`` and ``columns`` the patches of an image of any size, ``question`` the tokens
that see all others), a size, or an expression over them."""


ARITHMETIC = ("+", "-", "*", "//")
"""Operations that are written between their two operands."""


class Length:
    """An expression over named lengths and sizes. Operators build larger ones; it is never compared with a number.

    >>> (length("seq") + 2 * 1 - 3) // 2 + 1
    (seq + 2 - 3) // 2 + 1
    """

    __slots__ = ("note", "operands", "operation")

    def __init__(self, operation: str, operands: tuple[Stream, ...] = (), note: str = "") -> None:
        self.operation = operation
        self.operands = operands
        self.note = note

    def __add__(self, other: Stream) -> Length:
        return Length("+", (self, other))

    def __radd__(self, other: Stream) -> Length:
        return Length("+", (other, self))

    def __sub__(self, other: Stream) -> Length:
        return Length("-", (self, other))

    def __rsub__(self, other: Stream) -> Length:
        return Length("-", (other, self))

    def __mul__(self, other: Stream) -> Length:
        return Length("*", (self, other))

    def __rmul__(self, other: Stream) -> Length:
        return Length("*", (other, self))

    def __floordiv__(self, other: Stream) -> Length:
        return Length("//", (self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Length):
            return NotImplemented
        return (self.operation, self.operands, self.note) == (other.operation, other.operands, other.note)

    def __hash__(self) -> int:
        return hash((self.operation, self.operands, self.note))

    def __repr__(self) -> str:
        if self.operation == "name":
            return str(self.operands[0])
        if self.operation == "unknown":
            return f"unknown({self.note!r})"
        if self.operation not in ARITHMETIC:
            return f"{self.operation}({', '.join(map(str, self.operands))})"
        left, right = self.operands
        if self.operation == "+" and isinstance(right, int) and right < 0:
            return repr(Length("-", (left, 0 - right)))
        bare = ("name", "+", "-", "*", "//") if self.operation in "+-" else ("name", "*")
        shown = f"({left})" if isinstance(left, Length) and left.operation in ARITHMETIC and left.operation not in bare else str(left)
        behind = f"({right})" if isinstance(right, Length) and right.operation in ARITHMETIC else str(right)
        return f"{shown} {self.operation} {behind}"


def length(stream: Stream) -> Length:
    """Take a named length, or any stream, as an expression that can be calculated with.

    >>> length("seq") * 3
    seq * 3
    """
    return stream if isinstance(stream, Length) else Length("name", (stream,))


def at_most(of: Stream, limit: Size) -> Length:
    """Limit the tokens of a stream; in a formula it stands for inputs that stay below the limit.

    >>> evaluate(at_most("seq", 8), {"seq": 16})
    8
    """
    return Length("at_most", (of, limit))


def at_least(of: Stream, limit: Size) -> Length:
    """Pad the tokens of a stream where there are fewer.

    >>> evaluate(at_least("seq", 8), {"seq": 3})
    8
    """
    return Length("at_least", (of, limit))


def valid_up_to(of: Stream, limit: Size, what: str) -> Length:
    """Describe a stream only up to a limit; *what* says of what it is the limit. More tokens are refused.

    >>> evaluate(valid_up_to("seq", 8, "tokens attended in full"), {"seq": 16})
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: 16 tokens: this is described up to 8, the tokens attended in full
    """
    return Length("valid_up_to", (of, limit), what)


def merge(of: Stream, by: Size) -> Length:
    """Merge every *by* tokens into one; a remainder is refused.

    >>> evaluate(merge("rows", 2), {"rows": 16})
    8
    """
    return Length("merge", (of, by))


def per_batch(of: Stream) -> Length:
    """Mark tokens that are there once for a batch, and not for each example, such as the relative positions of DeBERTa.

    >>> grows_with_batch(per_batch(512)), grows_with_batch("seq")
    (False, True)
    """
    return Length("per_batch", (of,))


def unknown(why: str) -> Length:
    """Return a length that the config does not determine; arithmetic that needs it raises ``UsageError`` with the reason.

    >>> evaluate(unknown("the audio decides"), {})
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: this arithmetic cannot be worked out from a config: the audio decides
    """
    return Length("unknown", (), why)


def sum_of(*streams: Stream) -> Length:
    """Add up streams, such as image patches in front of text.

    >>> evaluate(sum_of("seq", 197), {"seq": 16})
    213
    """
    return Length("sum_of", streams)


def product_of(*streams: Stream) -> Length:
    """Multiply streams, such as the rows and columns of an image's patches.

    >>> evaluate(product_of("rows", "columns"), {"rows": 4, "columns": 6})
    24
    """
    return Length("product_of", streams)


def sum_of_squares(of: Stream, side: Size) -> Length:
    """Add up the squares of the pieces into which a stream is cut: *side* each, and what is left.

    >>> evaluate(sum_of_squares("seq", 8), {"seq": 19})
    137
    """
    whole = length(of) // side
    rest = length(of) - whole * side
    return whole * (side * side) + rest * rest


def is_unknown(stream: Stream | None) -> bool:
    """Say whether a stream is a length that no config determines.

    >>> is_unknown(unknown("the audio decides")), is_unknown("seq")
    (True, False)
    """
    return isinstance(stream, Length) and stream.operation == "unknown"


def grows_with_batch(stream: Stream) -> bool:
    """Say whether each example of a batch has these tokens of its own."""
    return not (isinstance(stream, Length) and stream.operation == "per_batch")


def names(stream: Stream | None) -> set[str]:
    """Return the names of the lengths in a stream.

    >>> names(length("seq") // 2 + "images") == {"seq", "images"}
    True
    """
    if isinstance(stream, str):
        return {stream}
    return set().union(*map(names, stream.operands)) if isinstance(stream, Length) else set()


def with_names(stream: Stream, streams: Mapping[str, Stream]) -> Stream:
    """Put other streams in place of named lengths, however deep they stand.

    >>> with_names(length("seq") + 1, {"seq": "decoder"})
    decoder + 1
    """
    if isinstance(stream, str):
        return streams.get(stream, stream)
    if not isinstance(stream, Length):
        return stream
    return Length(stream.operation, tuple(with_names(operand, streams) for operand in stream.operands), stream.note)


def evaluate(stream: Stream, lengths: Mapping[str, Size]) -> Size:
    """Return the tokens of *stream* for one example.

    Args:
        stream: A name, a size or an expression.
        lengths: The value of each name: ints, symbols or columns.

    Raises:
        UsageError: A name has no value, no config determines the length, or a remainder or limit forbids it.

    >>> evaluate((length("seq") - 3) // 2 + 1, {"seq": 16})
    7
    """
    if isinstance(stream, str):
        if stream not in lengths:
            raise UsageError(
                Text(
                    "the model sees a stream {stream!r} whose length is not given{how_to_give}",
                    stream=stream,
                    how_to_give=HOW_TO_GIVE.get(stream, ""),
                )
            )
        return lengths[stream]
    if not isinstance(stream, Length):
        return stream
    if stream.operation == "unknown":
        raise UsageError(Text("this arithmetic cannot be worked out from a config: {note}", note=stream.note))
    return _apply(stream, [evaluate(operand, lengths) for operand in stream.operands])


HOW_TO_GIVE = dict.fromkeys(
    ("rows", "columns"), mark(": it reads images of any size, so say into how many patches each is cut, such as patches 16x24")
) | {"question": mark(": the tokens of a question see the whole text, so say how many they are, such as question 12")}
"""How to give a length, where that is not plain."""


def _apply(stream: Length, values: list[Size]) -> Size:
    """Apply an operation to the values of its operands."""
    match stream.operation, values:
        case "+", [left, right]:
            return left + right
        case "-", [left, right]:
            return left - right
        case "*", [left, right]:
            return left * right
        case "//", [left, right]:
            if type(right) is int and not right:
                raise UsageError("a length here is divided by a size that is 0")
            return left // right
        case "sum_of", [*terms]:
            result: Size = 0
            for term in terms:
                result = result + term
            return result
        case "product_of", [*factors]:
            return product(factors)
        case _, [of, limit]:
            return _apply_limit(stream, of, limit)
        case _:
            return values[0]


def _apply_limit(stream: Length, of: Size, limit: Size) -> Size:
    """Apply what compares a length with a limit; a formula, in which nothing is compared, is that of inputs which keep to it."""
    match stream.operation:
        case "at_most":
            return min(of, limit) if isinstance(of, int) and isinstance(limit, int) else of
        case "at_least":
            return max(of, limit) if isinstance(of, int) and isinstance(limit, int) else of
        case "valid_up_to":
            if isinstance(of, int) and isinstance(limit, int) and of > limit:
                raise UsageError(Text("{of:,} tokens: this is described up to {limit:,}, the {note}", of=of, limit=limit, note=stream.note))
            return of
        case _:
            if isinstance(of, int) and isinstance(limit, int) and of % limit:
                what = next(iter(stream.operands))
                raise UsageError(
                    Text(
                        "{of:,} {what} cannot be merged by {limit} without remainder",
                        of=of,
                        what=what if isinstance(what, str) else "tokens",
                        limit=limit,
                    )
                )
            return of // limit
