"""Rows that hold a computation and its result in two cells: ``| 前馈网络 | 768×3072+3072 | 2,362,368 |``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.arithmetic import claims_of
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import LEAST_SUMS
from weighbridge.auditing.text.equations import Chain, chains
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Table
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_RIGHT = frozenset(("exact", "rounded", "convention", "note"))
_WIDEST = 8
"""Columns of a table that are tried against each other."""
_SMALLEST = 100
"""A smaller result is the product of what stands beside it by chance: patches of 16 × 16 in 12 layers."""


class _Product(NamedTuple):
    """A row's computation and its result: what is judged of the result, and the tokens of both."""

    claim: Claim
    formula: Sequence[Token]
    number: Token


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Hold the results of a column against the computations of another; one is wrong where another row of the two is right.

    A product may be only a shape, whose count has biases too: what is no slip of one digit must then be a sum that states them, or no count
    of such a shape. Where the result is right by what is judged already, it is the computation that is wrong.

    Args:
        claims: What is judged so far.
    """
    for table in scene.tables:
        for column, result in _pairs(table):
            rows = [[_computation(cell) if place == column else cell for place, cell in enumerate(row.cells)] for row in table.rows]
            found = [product for cells in rows if (product := _judge(scene, cells, column, result)) is not None]
            right = [product for product in found if product.claim.verdict in _RIGHT or _has_bias(product)]
            wrong = [product for product in found if product.claim.verdict == "wrong" and not _has_bias(product)]
            if right and len(wrong) <= 1:
                for product in right if any(product.claim.verdict in _RIGHT for product in right) else ():
                    yield from (_as_right(product), _of_formula(scene, product, "exact"))
                yield from _alarms(scene, wrong, right, claims)


def _alarms(scene: Scene, wrong: Sequence[_Product], right: Sequence[_Product], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the alarm of the one row that its computation does not give, on whichever of the two is not right by other means."""
    right = [product for product in right if product.claim.verdict in _RIGHT]
    for product in wrong:
        if (meant := _meant_with_bias(product)) is not None:
            product = product._replace(claim=_as_meant(product.claim, meant))
        stated = any(token.text == "+" for token in product.formula) or not _is_of_shape(product)
        if not (_is_mistyped(product.claim) or (stated and len(right) >= LEAST_SUMS)):
            continue
        one = product.claim
        confirmed = any(c.line == one.line and c.verdict in _SURE and c.start <= one.start and one.end <= c.end for c in claims)
        yield _of_formula(scene, product, "wrong") if confirmed else _of_row(scene, product)


_SURE = ("exact", "convention")


def _counts_with_bias(product: _Product) -> set[int]:
    """Return what a product may count as a shape with a bias: of its last size, or of its first, where the bias of a map of images is."""
    sizes = [int(token.value) for token in product.formula if token.kind == "num" and token.value and token.value.denominator == 1]
    made = product.claim.expected
    plain = all(token.kind == "num" or token.text in ("*", "×") for token in product.formula)
    return {int(made) + sizes[0], int(made) + sizes[-1]} if plain and sizes and isinstance(made, int | Fraction) else set()


def _has_bias(product: _Product) -> bool:
    """Tell whether a count is that of a shape and its bias: ``768 x 1000 | 769,000``."""
    return product.claim.verdict == "wrong" and product.claim.value in _counts_with_bias(product)


def _as_right(product: _Product) -> Claim:
    """Return the claim of a result that is right, with its bias where it has one."""
    if product.claim.verdict != "wrong":
        return product.claim
    return product.claim._replace(verdict="exact", expected=product.claim.value, difference=0, reason=because(mark("with its bias")))


def _meant_with_bias(product: _Product) -> int | None:
    """Return the count with a bias that a result is but for a slip."""
    said = product.claim.value
    near = (count for count in _counts_with_bias(product) if isinstance(said, int | Fraction) and is_slip(str(int(said)), str(count)))
    return next(near, None) if not _is_mistyped(product.claim) else None


def _as_meant(one: Claim, meant: int) -> Claim:
    said = one.value
    assert isinstance(said, int | Fraction)
    return one._replace(expected=meant, difference=said - meant, reason=because(mark("should be {right}"), right=meant))


def _of_row(scene: Scene, product: _Product) -> Claim:
    """Return the claim of a result with the computation before it in its mark: either may be the one that is wrong."""
    first = product.formula[0]
    if first.line != product.number.line or first.start > product.number.start:
        return product.claim
    line = scene.lines[first.line]
    return product.claim._replace(start=line.at[first.start], text=line.text[first.start : product.number.end])


def _of_formula(scene: Scene, product: _Product, verdict: str) -> Claim:
    """Return a claim about the computation itself, which gives what the result is not, or is."""
    made, said = product.claim.expected, product.claim.value
    facts: dict[str, object] = {"value": made, "expected": made, "difference": 0}
    if verdict == "wrong" and isinstance(made, int | Fraction) and isinstance(said, int | Fraction):
        reason = because(mark("the result beside it is {right}"), right=said)
        facts = {"value": made, "expected": said, "difference": made - said, "reason": reason}
    return claim(scene.lines, product.formula[0], product.formula[-1], "arithmetic", verdict, **facts)


def _is_of_shape(product: _Product) -> bool:
    """Tell whether a count may be of a shape's tensor and those beside it: with a bias of either size, or some copies of it."""
    sizes = [int(token.value) for token in product.formula if token.kind == "num" and token.value and token.value.denominator == 1]
    count, made = product.claim.value, product.claim.expected
    if not isinstance(count, int | Fraction) or not isinstance(made, int | Fraction) or not made:
        return True
    beside = {0, *sizes, sum(sizes), *(2 * size for size in sizes)}
    return any(made + more > 0 and count % (made + more) == 0 for more in beside)


def _is_mistyped(claim: Claim) -> bool:
    said, expected = claim.value, claim.expected
    return isinstance(said, int | Fraction) and isinstance(expected, int | Fraction) and is_slip(str(int(said)), str(int(expected)))


def _pairs(table: Table) -> Iterator[tuple[int, int]]:
    """Yield the columns of computations, each with one of single numbers."""
    kinds = [{_kind(_computation(row.cells[place]).text) for row in table.rows if place < len(row.cells)} for place in range(_WIDEST)]
    for column, kind in enumerate(kinds):
        if "formula" in kind:
            yield from ((column, other) for other, one in enumerate(kinds) if other != column and "number" in one and "formula" not in one)


def _computation(cell: Cell) -> Cell:
    """Return the part of a cell that is a computation in brackets behind a label: ``Embedding (5120 x 640)``; else all of it."""
    found = _IN_BRACKETS.fullmatch(cell.text)
    if found is None or _kind(found["formula"]) != "formula":
        return cell
    start = cell.start + found.start("formula")
    return cell._replace(text=found["formula"], start=start, end=start + len(found["formula"]))


_IN_BRACKETS = pattern(r"[^()（）]*[A-Za-z\u4e00-\u9fff][^()（）]*[(（](?P<formula>[^()（）]{3,60})[)）][*_` ]*")


@once_for_each_text
def _kind(text: str) -> str:
    """Return what a cell holds: a ``formula`` of numbers, one ``number``, or neither."""
    found = _tokens(text, 0)
    numbers = [token for token in found if token.kind == "num"]
    if len(numbers) == 1 and len(found) == 1:
        return "number"
    plain = all(token.kind in ("num", "op", "(", ")") for token in found)
    return "formula" if plain and len(numbers) > 1 and any(token.kind == "op" and token.text in "*+" for token in found) else ""


def _tokens(text: str, line: int) -> list[Token]:
    return [token for token in tokens(text, line) if token.text not in "`~≈约" and not (token.kind == "op" and token.text == "**")]


def _judge(scene: Scene, cells: tuple[Cell, ...] | list[Cell], column: int, result: int) -> _Product | None:
    """Judge the result of a row, if both its cells are what their columns hold."""
    if max(column, result) >= len(cells) or _kind(cells[column].text) != "formula" or _kind(cells[result].text) != "number":
        return None
    (number,) = _tokens_in_line(cells[result])
    if number.value is None or (number.value < _SMALLEST and not number.unit):
        return None
    formula = _tokens_in_line(cells[column])
    equals = Token("rel", "=", cells[column].line, formula[-1].end, formula[-1].end)
    made: list[Chain] = list(chains([*formula, equals, number]))
    judged = claims_of(scene, made[0]) if len(made) == 1 and len(made[0].sides) > 1 else []
    if len(judged) != 1:
        return None
    text = scene.lines[number.line].text[number.start : number.end]
    line = scene.lines[number.line]
    made_claim = judged[0]._replace(start=line.at[number.start], end=line.at[number.end - 1] + 1, text=text)
    return _Product(made_claim, formula, number)


def _tokens_in_line(cell: Cell) -> list[Token]:
    return [token._replace(start=cell.start + token.start, end=cell.start + token.end) for token in _tokens(cell.text, cell.line)]
