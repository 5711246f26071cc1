"""What must stand in a text for a regular expression to match there: to look for that first takes a tenth of the time.

Nearly every check asks nearly every line for words that are not there. Which words those are is read off the expression itself, so that no check has
to say it, and none can say it wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from weighbridge.core._namedtuple import TYPE_CHECKING

try:  # the tree of an expression: what reads it as ``re`` does can be no one else
    from re import _constants, _parser  # type: ignore[attr-defined]
except ImportError:  # a Python that calls them otherwise: expressions are asked as they are
    _constants = _parser = None

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    _Tree: TypeAlias = Iterable[tuple[Any, Any]]

MOST_LITERALS = 64
"""Beyond so many, the expression itself is as quick."""
_COMMON = frozenset(" ,.:;-()|'_0123456789abcdefghijklmnopqrstuvwxyz")
"""Single signs that stand in nearly every line: to ask for them first is time lost."""
_ODD = ("ſ", "ı", "İ")
"""Letters that an expression takes for those of ASCII where it ignores case, and that are others in lower case."""


def needed_literals(expression: str, flags: int) -> tuple[str, ...]:
    """Return strings of which one stands in every text in which an expression matches; none if that cannot be told, or is of no use.

    Args:
        expression: As for ``re.compile``.
        flags: With ``re.IGNORECASE``, the strings are in lower case, and so must be the text.

    >>> needed_literals(r"(?:more|less) than \\d+|约", 0)
    (' than ', '约')
    >>> needed_literals(r"\\d+ x|[a-z]+", 0)
    ()
    """
    if _parser is None:
        return ()
    tree = _parser.parse(expression, flags)
    found = _of_sequence(tree, ignores=bool(tree.state.flags & re.IGNORECASE)) or ()
    kept = [one for one in found if not any(other != one and other in one for other in found)]
    return tuple(kept) if 0 < len(kept) <= MOST_LITERALS and not any(one in _COMMON for one in kept) else ()


def _of_sequence(tree: _Tree, *, ignores: bool) -> tuple[str, ...] | None:
    """Return the strings of the piece of a sequence that tells most: the longest, and the fewest; all its pieces must match."""
    choices: list[tuple[str, ...]] = []
    run = ""
    for kind, facts in tree:
        if kind is _constants.LITERAL and _is_plain(chr(facts), ignores):
            run += chr(facts).lower() if ignores else chr(facts)
            continue
        choices += [(run,)] if run else []
        run = ""
        found = _of_piece(kind, facts, ignores=ignores)
        choices += [found] if found else []
    choices += [(run,)] if run else []
    return max(choices, key=_worth, default=None)


def _of_piece(kind: Any, facts: Any, *, ignores: bool) -> tuple[str, ...] | None:
    match kind, facts:
        case _constants.SUBPATTERN, (_, added, _, tree):
            return _of_sequence(tree, ignores=ignores) if ignores or not added & re.IGNORECASE else None
        case _constants.BRANCH, (_, branches):
            found = [_of_sequence(branch, ignores=ignores) for branch in branches]
            return tuple(dict.fromkeys(one for some in found for one in some or ())) if all(found) else None
        case ((_constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT), (least, _, tree)) if least:
            return _of_sequence(tree, ignores=ignores)
        case _constants.ATOMIC_GROUP, tree:
            return _of_sequence(tree, ignores=ignores)
        case _constants.ASSERT, (direction, tree) if direction > 0:
            return _of_sequence(tree, ignores=ignores)
        case _constants.IN, [*signs] if len(signs) <= _MOST_SIGNS and all(
            one is _constants.LITERAL and _is_plain(chr(sign), ignores) for one, sign in signs
        ):
            return tuple(chr(sign).lower() if ignores else chr(sign) for _, sign in signs)
    return None


_MOST_SIGNS = 6


def _is_plain(sign: str, ignores: bool) -> bool:
    """Tell whether a sign matches itself alone, or, where case is ignored, what is the same in lower case."""
    return not ignores or sign.isascii() or sign.lower() == sign.upper()


def _worth(found: tuple[str, ...]) -> float:
    return min(map(len, found)) - 0.1 * len(found) - any(one in _COMMON for one in found)


def asks_first(compiled: re.Pattern[str]) -> dict[str, Callable[..., object]]:
    """Return the methods of a pattern that look for its literals first; none if it needs none.

    >>> methods = asks_first(re.compile("more than", re.IGNORECASE))
    >>> methods["search"]("12 layers"), methods["search"]("More than 12")[0], methods["split"]("12")
    (None, 'More than', ['12'])
    """
    literals = needed_literals(compiled.pattern, compiled.flags)
    if not literals:
        return {}
    search, finditer, findall, sub, split = compiled.search, compiled.finditer, compiled.findall, compiled.sub, compiled.split
    may_match = _in_any_case(literals) if compiled.flags & re.IGNORECASE else _as_written(literals)
    return {
        "search": lambda text, *bounds: search(text, *bounds) if may_match(text) else None,
        "finditer": lambda text, *bounds: finditer(text, *bounds) if may_match(text) else iter(()),
        "findall": lambda text, *bounds: findall(text, *bounds) if may_match(text) else [],
        "sub": lambda new, text, **most: sub(new, text, **most) if may_match(text) else text,
        "split": lambda text, **most: split(text, **most) if may_match(text) else [text],
    }


def _as_written(literals: tuple[str, ...]) -> Callable[[str], bool]:
    if len(literals) == 1:
        (only,) = literals
        return lambda text: only in text
    return lambda text: any(map(text.__contains__, literals))


def _in_any_case(literals: tuple[str, ...]) -> Callable[[str], bool]:
    def may_match(text: str) -> bool:
        if not text.isascii() and any(map(text.__contains__, _ODD)):
            return True
        return any(map(text.lower().__contains__, literals))

    return may_match
