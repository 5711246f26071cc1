"""Formulas in letters: where a statement has them, and which of them are said to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import pairwise

from weighbridge.auditing.checks.formula_equality import degree, substitute, value_at
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.expressions import Term, parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.polynomial_terms import polynomial
from weighbridge.auditing.text.size_words import SYMBOLS
from weighbridge.auditing.text.values import names
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.polynomials import Atom, Polynomial

_SAME = pattern(
    r"^[\s,，、。;(]*(?:这?可以?)?(?:简化为|化简为|简写为|写成|合并为|整理为|即为|即|也就是|等于|等价于|"
    r"(?:,? ?(?:which|this|that|it))? ?(?:can be )?(?:simplif(?:ies|ied) to|reduces to|is equal to|equals|which is|i\.e\.|that is|or simply|"
    r"is the same as|amounts to|is just|comes to))[\s:,，]*$",
    re.IGNORECASE,
)


class Formula(NamedTuple):
    """A formula in letters, where it stands, and what it expands to."""

    term: Term
    start: int
    end: int
    expanded: Polynomial


def formulas(
    statement: Sequence[Token], meant: Mapping[str, str], known: MutableMapping[tuple[str, ...], Polynomial | None] | None = None
) -> Iterator[Formula]:
    """Yield the formulas of a statement that have letters and operations in them.

    Args:
        statement: Its tokens.
        meant: What single letters mean in the text.
        known: The formulas of this text so far, by their signs, expanded: texts write the same ones again and again.

    >>> from weighbridge.auditing.text.size_words import LETTERS
    >>> from weighbridge.auditing.text.tokens import tokens
    >>> [str(f.expanded) for f in formulas(tokens("2 * (4H * H + H),即8H^2 + 2H", 0), LETTERS)]
    ['8*H^2 + 2*H', '8*H^2 + 2*H']
    """
    index = 0 if any(token.kind == "name" for token in statement) else len(statement)
    while index < len(statement):
        token = statement[index]
        free = index == 0 or statement[index - 1].kind != "op" or (statement[index - 1].text in "*-" and _opens_item(statement, index - 1))
        if token.kind in ("num", "name", "(") and free:
            parsed = parse(statement, index, len(statement))
            if parsed is not None:
                whole = not parsed.dangling and not isinstance(parsed.term, Token) and not _is_cut(statement, index, parsed.end)
                letters = names(parsed.term) if whole else set()
                if letters and all(n in SYMBOLS or n in meant for n in letters):
                    signs = tuple([f"{token.kind}{token.text}{token.spaced}" for token in statement[index : parsed.end]])
                    if known is None or signs not in known:
                        expanded = polynomial(parsed.term, meant)
                        if known is not None:
                            known[signs] = expanded
                    else:
                        expanded = known[signs]
                    if expanded is not None:
                        yield Formula(parsed.term, index, parsed.end, expanded)
                if not isinstance(parsed.term, Token) or token.kind != "(":
                    index = max(parsed.end, index + 1)
                    continue
        index += 1


def _is_cut(statement: Sequence[Token], start: int, end: int) -> bool:
    """Tell whether parentheses that could not be read stand right before or behind a formula: it is only part of one."""
    before = statement[start - 1] if start else None
    after = statement[end] if end < len(statement) else None
    opened = before is not None and before.kind == ")" and before.end == statement[start].start
    closed = after is not None and after.kind == "(" and after.start == statement[end - 1].end
    return opened or (closed and any(token.kind == "op" for token in statement[end + 1 : end + 3]))


def _opens_item(statement: Sequence[Token], at: int) -> bool:
    """Tell whether a star or dash only introduces an item."""
    return at == 0 or (statement[at - 1].kind in ("word", "sep", ")") and statement[at].spaced)


def pair_up(scene: Scene, statement: Sequence[Token], found: Sequence[Formula], chains: Sequence[Chain]) -> list[tuple[Formula, Formula]]:
    """Pair up formulas that are said to be the same."""
    pairs: list[tuple[Formula, Formula]] = []
    for left, right in pairwise(found):
        a, b = statement[left.end - 1], statement[right.start]
        if a.line != b.line or _is_defined(statement, left):
            continue
        between = scene.lines[a.line].text[a.end : b.start]
        equals = between.strip() in ("=", "==", "≈") and any(c.start <= left.start and right.end <= c.end for c in chains)
        if equals or (len(between) < 60 and _SAME.match(between)):
            first = pairs[-1][0] if pairs and pairs[-1][1] is left and pairs[-1][0].expanded == left.expanded else left
            pairs.append((first, right))
    return pairs


def is_leading(scene: Scene, statement: Sequence[Token], left: Formula, right: Formula, defined: Mapping[Atom, Polynomial]) -> bool:
    """Tell whether a formula that is said to be near another is its terms of highest degree."""
    if not any(token.text == "≈" for token in statement[left.end - 1 : right.start]) and "≈" not in {t.text for t in statement}:
        return False
    full, kept = substitute(left.expanded, defined), substitute(right.expanded, defined)
    return (
        bool(kept.terms)
        and all(full.terms.get(monomial) == value for monomial, value in kept.terms.items())
        and (max(map(degree, kept.terms)) == max(map(degree, full.terms)))
    )


def _is_defined(statement: Sequence[Token], formula: Formula) -> bool:
    """Tell whether a formula only says what a letter is: ``I = 4H``."""
    at = formula.start
    return at >= 2 and statement[at - 1].kind == "rel" and statement[at - 2].kind == "name" and (at < 3 or statement[at - 3].kind != "op")


def is_comparable(scene: Scene, statement: Sequence[Token], left: Formula, right: Formula) -> bool:
    """Tell whether two formulas must be equal as they stand: the same letters, or letters without known values."""
    a, b = left.expanded.symbols(), right.expanded.symbols()
    if a == b or (a and a < b):  # a letter that the right side lacks may have been given a value
        token = statement[left.start]
        sizes = scene.sizes_at(token.line, token.start)
        values = [value_at(f.expanded, sizes) for f in (left, right)]
        return None in values or values[0] != values[1]
    return False
