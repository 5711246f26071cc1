"""What each number of a text may be, told in one walk: a count, a share, bytes, arithmetic work. A check asks for its kind alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import BYTES, COUNTING, WORK
from weighbridge.core._namedtuple import NamedTuple


class Figure(NamedTuple):
    """A number, with the statement it stands in and its place there."""

    statement: Sequence[Token]
    place: int
    token: Token


class Figures(NamedTuple):
    """The numbers of a text by what they may be, each kind in the order of the text.

    Attributes:
        counts: Numbers that may count parameters: with a unit of counting, or large.
        plain_counts: Those of them that are no part of a formula or of a range.
        shares: Numbers with a percent sign.
        in_bytes: Numbers with a unit of bytes.
        of_work: Numbers with a unit of arithmetic work.
    """

    counts: Sequence[Figure]
    plain_counts: Sequence[Figure]
    shares: Sequence[Figure]
    in_bytes: Sequence[Figure]
    of_work: Sequence[Figure]

    def counts_by_statement(self) -> Iterator[tuple[Sequence[Token], list[Token]]]:
        """Yield each statement that has plain counts, with them."""
        for _, found in groupby(self.plain_counts, key=lambda one: id(one.statement)):
            first, *rest = found
            yield first.statement, [first.token, *(one.token for one in rest)]


def sort_figures(statements: Iterable[Sequence[Token]], figures: Mapping[int, Sequence[tuple[int, Token]]]) -> Figures:
    """Sort the numbers of a text by what they may be.

    Args:
        statements: Those that hold a number.
        figures: By the identity of each, its numbers, with their places.
    """
    counts: list[Figure] = []
    plain: list[Figure] = []
    by_unit: dict[str, list[Figure]] = {"%": [], "bytes": [], "work": []}
    for statement in statements:
        for index, token in figures[id(statement)]:
            if is_count(token):
                counts.append(figure := Figure(statement, index, token))
                if not is_operand(statement, index):
                    plain.append(figure)
            elif token.unit in _KINDS:
                by_unit[_KINDS[token.unit]].append(Figure(statement, index, token))
    return Figures(counts, plain, *by_unit.values())


_KINDS = {"%": "%", **dict.fromkeys(BYTES, "bytes"), **dict.fromkeys(WORK, "work")}


def is_count(token: Token) -> bool:
    """Tell whether a number may be a count of parameters: with a unit of counting, or large."""
    value = token.value
    if value is None:
        return False
    if token.unit:
        return value > 0 and token.unit in COUNTING and (token.unit != "k" or value > 9)
    return not token.places and value.numerator >= 100_000 * value.denominator  # a fraction compares itself four times as slowly


def is_operand(statement: Sequence[Token], index: int) -> bool:
    """Tell whether a number is part of a formula or of a range, and says no count by itself."""
    before = statement[index - 1] if index else None
    after = statement[index + 1] if index + 1 < len(statement) else None
    plain = before is None or (before.kind != "op" and before.text not in ("-", "~", "–"))
    if plain and (after is None or after.kind not in ("op", "sep")):
        return False  # as nearly all numbers of a sentence
    beside = [statement[i] for i in (index - 1, index + 1) if 0 <= i < len(statement) and statement[i].line == statement[index].line]
    if index > 1 and statement[index - 1].text == "/" and statement[index - 2].kind == "word" and statement[index - 2] not in beside:
        beside = beside[1:]  # ``671B 总参数/37B 激活参数`` are two counts
    if (
        index > 1
        and statement[index - 1].text in ("-", "~", "–")
        and statement[index - 2].kind == "num"
        and statement[index - 1].end == statement[index].start
    ):
        return True  # ``75-150亿`` is a range
    return any(t.kind == "op" and t.text in "*/+^" for t in beside) or any(t.kind == "sep" and t.text in ("-", "~") for t in beside[1:])
