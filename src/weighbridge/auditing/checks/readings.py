"""Other ways to read the sides of an equation: units on one side, lost raisings, an item's number, a label in front."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Reason, because, format_number, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.expressions import Binary, Negative, Term
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, scales, write_like
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.text.values import names, numbers, value
from weighbridge.auditing.thresholds import NEAR_BY_SIGN
from weighbridge.core.messages import mark


def is_label(chain: Chain, lead: Token) -> bool:
    """Tell whether a number before the first sign only says which case is computed: ``length 2048 = 2048 × 512 KB``."""
    if len(chain.sides) < 2 or not chain.start or isinstance(chain.sides[1].term, Token):
        return False
    before = chain.tokens[chain.start - 1]
    factors = numbers(chain.sides[1].term)
    worded = before.kind in ("word", "name") and before.line == lead.line
    return worded and any(token.value == lead.value and token.unit == lead.unit for token in factors)


def is_percentage(term: Term) -> bool:
    """Tell whether a side is a lone share."""
    return isinstance(term, Token) and term.unit == "%"


def is_list(chain: Chain) -> bool:
    """Tell whether signs of nearness stand before each amount of a list: ``≈ 35 GB ≈ 55 GB ≈ 180 GB`` in a row of a table."""
    terms = [side.term for side in chain.sides]
    figures = [(term.unit, term.value) for term in terms if isinstance(term, Token) and term.unit and term.value]
    signs = {chain.tokens[side.end].text for side in chain.sides[:-1]}
    apart = (unit == other and abs(amount - after) * 10 > amount for (unit, amount), (other, after) in pairwise(figures))
    return len(figures) == len(terms) and signs == {"≈"} and any(apart)


def is_of_alternatives(chain: Chain) -> bool:
    """Tell whether a stroke stands between two ways to write an amount, and divides nothing: ``1g / 1G = 1 billion / 1 gibibyte``."""
    first = chain.sides[0].term
    if not all(isinstance(side.term, Binary) and side.term.operation == "/" for side in chain.sides) or not isinstance(first, Binary):
        return False
    return all(isinstance(term, Token) and term.unit for term in (first.left, first.right))


def is_sum_of_measures(scene: Scene, chain: Chain, said: Token, true: Fraction) -> bool:
    """Tell whether whole numbers are amounts in the unit of their column's head, each rounded by itself: ``439 = 225 + 136 + 77`` below ``[MiB]``."""
    terms = max((numbers(side.term) for side in chain.sides if is_sum(side.term)), key=len, default=[])
    if said.value is None or said.unit or any(token.unit or token.places for token in terms):
        return False
    above = scene.lines[max(0, said.line - _HEAD) : said.line + 1]
    return abs(said.value - true) * 2 <= len(terms) and any(_MEASURE.search(line.text) for line in above)


_HEAD = 12
"""Lines of a printed table above a row, at most."""
_MEASURE = pattern(r"[\[(](?:[KMG]i?B|ms|s|sec|%)[\])]")


def is_asked(chain: Chain) -> bool:
    """Tell whether a question mark stands behind an equation: what is asked is not claimed."""
    return chain.end < len(chain.tokens) and chain.tokens[chain.end].text in ("?", "？")


def is_of_a_change(chain: Chain) -> bool:
    """Tell whether arrows stand around an equation, each side of which says a change: ``7B × 2 → 14B × 2 = 14 GB → 28 GB``."""
    around = (chain.start - 1, chain.end)
    return all(0 <= place < len(chain.tokens) and chain.tokens[place].text in _ARROWS for place in around)


_ARROWS = ("→", "->", "⇒", "=>", "⟶")
FACTORS = tuple(Fraction(base**power) for base in (1000, 1024) for power in (1, 2, 3, 4))


_TIME = pattern(
    r" ?(?:ms|µs|us|ns|s|secs?|seconds?|min(?:ute)?s?|hours?|hrs?|days?|毫秒|微秒|秒|分钟|小时|天)(?![A-Za-z0-9_/])", re.IGNORECASE
)
_PLACES_OF_TOKENS = pattern(r"\d\s?[KkMm]?\s?(?:个)?\s?(?:序列|层|上下文|tokens?\b|layers?\b|seq\w*|context)", re.IGNORECASE)
_IN_BYTES = pattern(r"bytes?\b|字节|\d ?[KMGT]i?B\b|\d ?B\b", re.IGNORECASE)
_FAR = 16
"""How many times a result is off that lacks a factor."""


def is_time(text: str, end: int) -> bool:
    """Tell whether a result is a time, whose factors are speeds in units of their own: ``35 GB / 3350 GB/s = 10.4 ms``."""
    return _TIME.match(text, end) is not None


def lacks_a_factor(text: str, said: Token, true: Fraction) -> bool:
    """Tell whether bytes stand behind a product of tokens and layers that leaves out what each takes: ``128K tokens × 60 layers ≈ 4.2 GB``."""
    if said.unit not in BYTES or said.value is None or true <= 0 or _IN_BYTES.search(text) or not _PLACES_OF_TOKENS.search(text):
        return False
    return all(said.value * scale > true * _FAR for scale in scales(said))


RANGES = "~～∼〜"
"""Signs that stand between the ends of a range as often as before a figure that is about right."""


def is_sum(term: Term) -> bool:
    """Tell whether a term is numbers with plus signs between them."""
    return is_sum(term.left) and is_sum(term.right) if isinstance(term, Binary) and term.operation == "+" else isinstance(term, Token)


def value_in_unit(token: Token, choice: int) -> Fraction | None:
    """Return a figure in one of the meanings of its unit."""
    return None if token.value is None else token.value * scales(token)[choice]


def shows(token: Token, number: Fraction) -> bool:
    """Tell whether a figure, its unit aside, is a number rounded to the digits shown."""
    assert token.value is not None
    return token.value > 0 and abs(token.value - number) * 2 * 10**token.places <= (1 if number.denominator > 1 else 0)


def too_much(value: Fraction, true: Fraction, mended: Fraction, token: Term) -> Reason:
    """Say what a result should be, and by how much it is off."""
    figure = token if isinstance(token, Token) else None
    right, away = (write_like(figure, n) if figure else format_number(n) for n in (true, abs(value - true)))
    reason = because(should_be(is_higher=value > true), right=right, number=away)
    if mended != true:
        reason += because(mark("with the earlier errors corrected it is {number}"), number=mended)
    return reason


def raise_last_digits(term: Term, tokens: set[Token]) -> Term:
    """Read the last digit of each of *tokens* as an exponent."""
    if isinstance(term, Token):
        if term not in tokens:
            return term
        body, power = term.text[:-1], term.text[-1]
        if not (body.replace(",", "").isdecimal() and power.isdecimal()):
            return term  # ``7e5`` has an exponent already
        base = term._replace(text=body, value=Fraction(body.replace(",", "")))
        return Binary("^", base, term._replace(text=power, value=Fraction(power)))
    if isinstance(term, Negative):
        return Negative(raise_last_digits(term.term, tokens))
    return Binary(term.operation, raise_last_digits(term.left, tokens), raise_last_digits(term.right, tokens))


def without_item(tokens: Sequence[Token], start: int) -> Callable[[Token], Fraction | None] | None:
    """Return how to read numbers if the first, such as ``2.768``, begins with an item's number ``2.``."""
    first = tokens[start]
    if first.kind != "num" or not first.places or first.start > 6:
        return None
    _, _, rest = first.text.partition(".")
    if not rest.isdecimal():
        return None  # ``13.0B`` has a unit, which no item's number has
    return lambda token: Fraction(rest) if token is first else likeliest_value(token)


def precision(term: Term) -> tuple[bool, int]:
    """Rank a lone figure by how exactly it is written."""
    assert isinstance(term, Token)
    return (not term.unit and not term.places, len(term.text))


def as_one_fraction(term: Term, sizes: Mapping[str, int]) -> Fraction | None:
    """Return what a product is when all factors behind its stroke are below it: ``224x224/16x16``."""
    behind = []
    while isinstance(term, Binary) and term.operation == "*":
        behind.append(term.right)
        term = term.left
    if not behind or not isinstance(term, Binary) or term.operation != "/":
        return None
    for factor in behind:
        term = Binary("/", term, factor)
    return value(term, likeliest_value, sizes)


def is_at_others(chain: Chain, place: int, sizes: Mapping[str, int]) -> bool:
    """Tell whether numbers are put for a side's letters that are not the model's, nor slips of them: ``H / A = 3072 / 32`` of another model."""
    first, second = chain.sides[place].term, chain.sides[place + 1].term
    meant = {str(sizes[name]) for name in names(first) if name in sizes}
    own = {token.value for token in numbers(first)}
    put = [token.value for token in numbers(second) if token.value is not None and token.value >= LEAST_SIZE and not token.unit]
    strange = (value for value in put if value not in own and not any(str(value) == one or is_slip(str(value), one) for one in meant))
    return bool(meant) and any(strange)


LEAST_SIZE = 4
"""A smaller number put into a formula is a factor, and no size that tells which model it is of."""


def runs_on(chain: Chain, index: int, values: Sequence[Fraction | None], sizes: Mapping[str, int]) -> bool:
    """Tell whether a result is of the last summand, or of all with that, where a label's own value begins the sum: ``Embedding≈24M + 12层×7M≈85M≈109M``."""
    first = chain.sides[0]
    term, said = first.term, values[index]
    labelled = first.start > 1 and chain.tokens[first.start - 1].kind == "rel" and chain.tokens[first.start - 2].kind in ("word", "name")
    if not labelled or not isinstance(term, Binary) or term.operation != "+" or not said:
        return False
    left, right = (value(one, likeliest_value, sizes) for one in (term.left, term.right))
    steps = [right, left + (values[1] or 0) if left is not None and index > 1 else None]
    return any(step is not None and abs(step - said) <= NEAR_BY_SIGN * said for step in steps)
