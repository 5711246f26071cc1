"""Results that stand apart from their expression: on the next line, in the output of a cell, behind ``so there are``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.expressions import parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, whole, write_like
from weighbridge.auditing.text.values import names, numbers, value

_RESULT = pattern(
    r"^[\W\d]*+(?:(?:因此|所以|故|即|共|得|so|thus|hence|that is|gives?|=>|→)\W*+)?(?:总?参数(?:总?量|个数|总数)?|结果|总数|总量|合计|totals?|(?:the )?(?:total )?(?:number of )?param(?:eter)?s?|result|out(?:put)?)?\W*+(?:为|是|有|共|约|is|are|count|:|：|=|≈)*\W*+$",
    re.IGNORECASE,
)
_TIMES = pattern(
    r"(?:一?共|总共|×|x|\*|times|有)\s*(\d{1,3})\s*(?:个|层|组|份|次|layers?|heads?|times|blocks?)?|(\d{1,3})\s*(?:个|层|组|份)",
    re.IGNORECASE,
)
_DATE = pattern(r"(?<![\d.-])(?:19|20)\d\d-[01]?\d(?!\d)(?:-[0-3]?\d)?(?! ?[=+*/×])")
"""A date, which is no subtraction."""
_NEXT = 3
"""Lines after an expression within which its result may stand."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check lone numbers against the expression on the line before them.

    Only a number that is the expression's value, or that value with a slip of the pen in it, is judged: what
    stands below an expression need not be its result.
    """
    last: tuple[int, list[Fraction]] | None = None
    for statement in scene.statements:
        line = statement[0].line
        lone = _lone_number(scene, statement)
        if lone is not None and last is not None and 0 < line - last[0] <= _NEXT:
            judged = _hold(scene, lone, last[1])
            if judged is not None:
                yield judged
                last = None
                continue
        found = _expression(scene, statement)
        if found:
            last = (statement[-1].line, found)


def _lone_number(scene: Scene, statement: Sequence[Token]) -> Token | None:
    figures = [token for _, token in scene.figures_of(statement) if token.unit != "%"]
    if (
        len(figures) != 1
        or figures[0].value is None
        or figures[0].value < 1000
        or figures[0].unit
        or any(token.kind == "rel" for token in statement[2:])
    ):
        return None
    text = scene.lines[figures[0].line].text
    labels = text[figures[0].end :].lstrip()[:1] in (":", "：")  # ``2026: the year in which``
    return figures[0] if _RESULT.match(text[: figures[0].start]) and not labels else None


def _expression(scene: Scene, statement: Sequence[Token]) -> list[Fraction]:
    """Return what the last expression of a line without an equals sign may come to, with the times its words say."""
    if len(scene.figures_of(statement)) < 2 or any(token.kind == "rel" for token in statement):
        return []  # an expression has two numbers
    text = scene.lines[statement[0].line].text
    index, found = 0, None
    while index < len(statement):
        parsed = parse(statement, index, len(statement)) if statement[index].kind in ("num", "name", "(") else None
        if parsed is not None and not isinstance(parsed.term, Token) and not parsed.dangling:
            found, index = parsed, parsed.end
        else:
            index += 1
    if found is None or len(numbers(found.term)) < 2 or _DATE.search(text):
        return []
    sizes = scene.sizes_at(statement[0].line, statement[0].start)
    amount = value(found.term, likeliest_value, sizes)
    if amount is None or amount < 1000 or (names(found.term) and not sizes):
        return []
    rest = text[statement[found.end - 1].end :]
    times = [int(match[1] or match[2]) for match in _TIMES.finditer(rest)]
    return [amount, *(amount * number for number in times if number > 1)]


def _hold(scene: Scene, token: Token, values: Sequence[Fraction]) -> Claim | None:
    number = likeliest_value(token)
    assert number is not None
    for true in values:
        agreed = fit(token, true)
        if agreed is not None and agreed.verdict in ("exact", "rounded"):
            return _claim(scene, token, agreed.verdict, true, agreed.reason)
    for true in values[::-1]:
        if true.denominator == 1 and is_slip(str(int(number)), str(int(true))):
            direction = should_be(is_higher=number > true)
            return _claim(
                scene, token, "wrong", true, because(direction, right=write_like(token, true), number=write_like(token, abs(number - true)))
            )
    return None


def is_slip(written: str, right: str) -> bool:
    """Tell whether a number is another with one digit changed, added or lost, or two neighbours exchanged.

    >>> is_slip("28331552", "28311552"), is_slip("123", "132"), is_slip("1000", "2001")
    (True, True, False)
    """
    if len(written) == len(right):
        wrong = [i for i, (a, b) in enumerate(zip(written, right, strict=True)) if a != b]
        swapped = (
            len(wrong) == 2 and wrong[1] == wrong[0] + 1 and written[wrong[0]] == right[wrong[1]] and written[wrong[1]] == right[wrong[0]]
        )
        return len(wrong) == 1 or swapped
    short, long = sorted((written, right), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _claim(scene: Scene, token: Token, verdict: str, true: Fraction, reason: object) -> Claim:
    number = likeliest_value(token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(true), "difference": whole(number - true), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
