"""Numbers that a text says to be the count of something: what stands in front of them, in their cell or behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.worded_components import component_beside
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components, subject
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.expressions import ParsedTerm, parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.auditing.text.sections import sections
from weighbridge.auditing.text.values import names, numbers, value
from weighbridge.core._namedtuple import NamedTuple

_BREAKS = frozenset("。；;!?！？|")
_COUNTED = frozenset("k m b bn mn million billion thousand 万 亿 千万 百万 十亿 kb mb 千".split())


class Offer(NamedTuple):
    """A number that is said to be the count of something.

    Attributes:
        first, last: Its tokens, from the beginning of its equation.
        figure: The number's token.
        number: What it says, in its likeliest unit.
        subject: The component, or None.
        firm: Whether the words in front of it say plainly that it is that component's count.
        computed: Whether it is the result of an equation.
        tokens: All numbers it was computed from.
        whole: Whether the words in front of it call it a total.
    """

    first: Token
    last: Token
    figure: Token | None
    number: Fraction
    subject: str | None
    firm: bool
    computed: bool
    tokens: Sequence[Token]
    whole: bool = False


def offers(scene: Scene) -> Iterator[Offer]:
    """Yield every number that is said to be a count, with what it is said to count."""
    about = sections(scene.lines)
    by_statement: dict[int, list[Chain]] = {}
    for chain in scene.chains:
        by_statement.setdefault(id(chain.tokens), []).append(chain)
    sized = {(s.token.line, s.token.start) for s in scene.stated}
    for statement in scene.statements:
        counted = scene.figures_of(statement)
        taken: set[int] = set()
        for chain in by_statement.get(id(statement), []):
            taken |= set(range(chain.start, chain.end))
            found = _of_chain(scene, statement, chain, about)
            stated = found is not None and found.figure is not None and (found.figure.line, found.figure.start) in sized
            if found is not None and not stated:  # ``V = 50257`` states a size, and counts nothing
                yield found
        if counted:
            yield from _lone_numbers(scene, statement, taken, sized, about)


def _of_chain(scene: Scene, statement: Sequence[Token], chain: Chain, about: Sequence[str | None]) -> Offer | None:
    side = chain.sides[-1]
    first = statement[chain.sides[0].start]
    sizes = scene.sizes_at(first.line, first.start)
    values = [value(s.term, likeliest_value, sizes) for s in chain.sides]
    plain = [i for i, s in enumerate(chain.sides) if isinstance(s.term, Token) and s.term.kind == "num" and not s.term.unit]
    chosen = plain[-1] if plain else len(values) - 1
    number = values[chosen]
    if number is None or number < 500:
        return None
    before = _words_before(scene, statement, chain.start)
    name, firm = component_beside(scene, before, statement, chain.end, about[first.line])
    used = [t for s in chain.sides for t in numbers(s.term)]
    total = "total" in {m.subject for m in find_components(before)} and subject(before)[0] in (None, "total")
    figure = side.term if isinstance(side.term, Token) else None
    if names(side.term) and len(chain.sides) == 1:
        return None
    return Offer(
        first, statement[chain.sides[chosen].end - 1], figure, number, name, firm, len(chain.sides) > 1 or figure is None, used, total
    )


def _lone_numbers(
    scene: Scene, statement: Sequence[Token], taken: set[int], sized: set[tuple[int, int]], about: Sequence[str | None]
) -> Iterator[Offer]:
    kinds = [token[0] for token in statement]
    if "shape" in kinds:
        return
    for index, kind in enumerate(kinds):
        if kind not in ("num", "(") or index in taken:
            continue
        token = statement[index]
        if scene.is_in_name(token):
            continue  # ``8x7B`` in a name is no product
        parsed = parse(statement, index, len(statement))
        if parsed is not None and not isinstance(parsed.term, Token):
            taken |= set(range(index, parsed.end))
            found = None if parsed.dangling else _formula(scene, statement, index, parsed, about)
            if found is not None:
                yield found
            continue
        if token.kind != "num" or index in taken or (token.line, token.start) in sized or not _is_count(token):
            continue
        beside = [statement[i] for i in (index - 1, index + 1) if 0 <= i < len(statement)]
        if any(t.kind == "op" and not (t.text == "*" or t.spaced) for t in beside):
            continue
        number = likeliest_value(token)
        assert number is not None
        before = _words_before(scene, statement, index)
        name, firm = component_beside(scene, before, statement, index + 1, None)
        if name is not None:
            yield Offer(token, token, token, number, name, firm, False, ())


def _formula(scene: Scene, statement: Sequence[Token], index: int, parsed: ParsedTerm, about: Sequence[str | None]) -> Offer | None:
    """Take a formula in numbers that says no result, such as ``token embedding: 30522*768``."""
    number = value(parsed.term, likeliest_value, {})
    before = statement[index - 1] if index else None
    if number is None or number < 500 or names(parsed.term) or (before is not None and before.kind == "op" and before.text != "-"):
        return None
    following = statement[parsed.end] if parsed.end < len(statement) else None
    if following is not None and following.kind == "name" and following.start == statement[parsed.end - 1].end:
        return None  # ``32 个头×4096隐藏维度`` are two sizes
    first = statement[index]
    if _REMARKED.search(scene.lines[first.line].text, first.start, statement[parsed.end - 1].end):
        return None  # ``44M (backbone) + 98M (embedding)`` are two counts
    name, firm = component_beside(scene, _words_before(scene, statement, index), statement, parsed.end, about[first.line])
    product = all(t.value is not None and t.value.denominator == 1 for t in numbers(parsed.term)) and "/" not in {
        t.text for t in statement[index : parsed.end]
    }
    return Offer(first, statement[parsed.end - 1], None, number, name, firm and product, True, numbers(parsed.term))


_REMARKED = pattern(r"\d ?[KMB]?\s?\([A-Za-z][^()\d]*\)\s?\+")
"""A term of a sum with words of its own behind it."""


def _is_count(token: Token) -> bool:
    if token.value is None or token.unit == "%":
        return False
    if token.unit:
        return token.unit in _COUNTED and token.unit not in ("kb", "mb") and token.value > 0
    return token.value >= 1000 and not token.places and not (1900 <= token.value <= 2100 and "," not in token.text)


def _words_before(scene: Scene, statement: Sequence[Token], index: int) -> str:
    """Return the words in front of a place: back to the end of a sentence or cell, within the line."""
    token = statement[min(index, len(statement) - 1)]
    start, line, farthest = index, token.line, token.start - _LABEL
    while start > 0:
        _, text, at, begin, *_ = statement[start - 1]
        if at != line or text in _BREAKS or begin < farthest:
            break
        start -= 1
    if start >= index and start > 0 and statement[start - 1].text == "|" and start - 1 > 0:
        return _cell_label(scene, statement, start - 1)
    begin = statement[start].start if start < len(statement) else 0
    label = scene.lines[token.line].text[begin : token.start]
    if not label.strip(" |:-*") and start > 0 and statement[start - 1].text == "|":
        return _cell_label(scene, statement, start - 1)
    return label


_LABEL = 160
"""Characters in front of a number that may be its label."""


def _cell_label(scene: Scene, statement: Sequence[Token], index: int) -> str:
    """Return the first cell of a table's row."""
    line = scene.lines[statement[index].line].text
    cells = [cell for cell in line[: statement[index].start].split("|") if cell.strip()]
    return f"{_TIED.sub(' ', cells[0])}:" if cells else ""


_TIED = re.compile(r"\(\W*(?:weight[- ]?)?(?:tied|shared) (?:with|to|by)[^()]*\)", re.IGNORECASE)
"""A remark by which a table is one of another place too, and no less or more."""
