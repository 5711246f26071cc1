"""Regular expressions that are compiled when they are first used: an audit has some six hundred, and a short text needs few of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from weighbridge.auditing.needed_literals import asks_first
from weighbridge.auditing.text.memory import ZEROS, set_for_each_text
from weighbridge.auditing.text.phrases import lower_case
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    _Methods: TypeAlias = dict[str, Callable[..., object]]


class _Pattern:
    """A regular expression that is not compiled yet; once it is, its methods stand in the instance.

    One that is asked often looks first for what must stand in a text for it to match.
    """

    def __init__(self, text: str | Callable[[], str], flags: int) -> None:
        self._text = text
        self._flags = flags
        self._asked = 0

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._text if isinstance(self._text, str) else self._text(), self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        self._count({method: getattr(compiled, method) for method in _GATED}, lambda: asks_first(compiled))
        return vars(self)[name] if name in vars(self) else getattr(compiled, name)  # doctest asks for what no expression has

    def _count(self, plain: _Methods, often: Callable[[], _Methods]) -> None:
        """Set methods that count how often the pattern is asked: to find what it needs takes as long as to ask a hundred lines."""

        def counting(ask: Callable[..., object]) -> Callable[..., object]:
            def ask_once_more(*facts: object, **named: object) -> object:
                self._asked += 1
                if self._asked == _OFTEN:
                    vars(self).update({**plain, **often()})
                return ask(*facts, **named)

            return ask_once_more

        vars(self).update({method: counting(ask) for method, ask in plain.items()})


_OFTEN = 200
_GATED = ("search", "finditer", "findall", "sub", "split")


class _Lower(_Pattern):
    """A regular expression that is searched for in the lower case of a text."""

    def __getattr__(self, name: str) -> object:
        if name not in ("search", "finditer"):  # doctest asks every name of a module what it wraps
            raise AttributeError(name)
        text = self._text if isinstance(self._text, str) else self._text()
        compiled = re.compile("|".join(_begin_alike(_split(_LETTER.sub(lambda m: m[0] if m[0][0] == "\\" else m[0].lower(), text)))))
        by_shape = not _ASKS_DIGITS.search(_AT_LEAST.sub("", text))
        self._count(_in_lower_case({one: getattr(compiled, one) for one in ("search", "finditer")}), lambda: _often(compiled, by_shape))
        return vars(self)[name]


def _often(compiled: re.Pattern[str], by_shape: bool) -> _Methods:
    """Return the methods of a pattern that is asked often: they look first for what it needs, or remember in which shapes of lines it stands nowhere."""
    found = asks_first(compiled)
    if found or not by_shape or len(compiled.pattern) < _LONG:
        return _in_lower_case({one: found[one] for one in ("search", "finditer")}) if found else {}
    nowhere = set_for_each_text()

    def search(text: str, *bounds: int) -> re.Match[str] | None:
        lower = lower_case(text)
        key = (lower.translate(ZEROS), bounds)
        found = compiled.search(lower, *bounds) if key not in nowhere else None
        if found is None and len(nowhere) < _MOST_KEPT:
            nowhere.add(key)
        return found

    return {"search": search}


_LONG = 400
"""Characters of an expression from which on it takes longer to look for than whether it was looked for before."""


def _in_lower_case(methods: _Methods) -> _Methods:
    search, finditer = methods["search"], methods["finditer"]
    return {
        "search": lambda text, *bounds: search(lower_case(text), *bounds),
        "finditer": lambda text, *bounds: finditer(lower_case(text), *bounds),
    }


_MOST_KEPT = 1 << 16
"""Lines of a text of which it is remembered that a pattern stands nowhere in them."""
_ASKS_DIGITS = re.compile(r"\d")
_AT_LEAST = re.compile(r"\{\d*,?\d*\}")
"""What in an expression asks which digit stands somewhere, and what only says how often something does."""
_LETTER = re.compile(r"\\.|[^\\]", re.DOTALL)
_FIRST = re.compile(r"[a-z\u4e00-\u9fff](?![?*+{])")


def _split(text: str) -> list[str]:
    """Return the alternatives of an expression."""
    found, depth, start, place = [], 0, 0, 0
    while place < len(text):
        if text[place] == "[":
            place = text.index("]", place + 2)
        depth += (text[place] == "(") - (text[place] == ")")
        if text[place] == "|" and not depth:
            found.append(text[start:place])
            start = place + 1
        place += 1 + (text[place] == "\\")
    return [*found, text[start:]]


def _begin_alike(alternatives: list[str]) -> list[str]:
    """Write alternatives that begin with one letter as one, those of a word's beginning too: which of them is found is not asked.

    All that can, begin with their letter, behind which it is asked whether the word begins there: such letters are looked for at once.
    """
    groups: dict[str, list[str]] = {}
    words: list[str] = []
    rest = []
    for one in alternatives:
        inner = one[len(_WORDS) : -len(_END)] if one.startswith(_WORDS) and one.endswith(_END) else None
        if inner is not None and _closes_at_end(inner):
            words += [f"{word}\\b" for word in _split(inner)]
        elif one.startswith("\\b"):
            words.append(one[2:])
        elif _FIRST.match(one):
            groups.setdefault(one[0], []).append(one[1:])
        else:
            rest.append(one)
    begun: dict[str, list[str]] = {}
    for word in words:
        if _FIRST.match(word):
            begun.setdefault(word[0], []).append(word[1:])
        else:
            rest.append(f"\\b{word}")
    written = [f"{first}(?<!\\w{first})(?:{'|'.join(ends)})" for first, ends in begun.items()]
    written += [f"{first}(?:{'|'.join(ends)})" for first, ends in groups.items()]
    if rest and len(written) > 1:
        written = [f"(?=[{''.join(dict.fromkeys((*begun, *groups)))}])(?:{'|'.join(written)})"]
    return [*written, *rest]


def _closes_at_end(inner: str) -> bool:
    """Tell whether what stands between the first parenthesis and the last is one group."""
    depth = 0
    for sign in _LETTER.findall(inner):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return True


_WORDS, _END = "\\b(?:", ")\\b"
_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "pattern", "flags", "groups", "groupindex")


def pattern(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled, and written if a function writes it, when it is first used, by any thread.

    >>> pattern("[0-9]+").findall("12 layers, 768 hidden")
    ['12', '768']
    """
    return _Pattern(text, flags)  # type: ignore[return-value]


def any_word(text: str | Callable[[], str]) -> re.Pattern[str]:
    """Return a pattern for whether, and where, any of many words stands in a text, in capitals or not: ``search`` and ``finditer``, without groups.

    It answers what ``pattern(text, re.IGNORECASE)`` does, several times as quickly: the capitals of a text are put into lower case
    once instead of at every word, and words that begin with one letter are tried together.

    >>> bool(any_word("more than|约").search("BERT has More than 12 layers"))
    True
    """
    return _Lower(text, 0)  # type: ignore[return-value]


def by_script(phrases: Iterable[str], write: Callable[[list[str]], str], flags: int = 0) -> Callable[[str], re.Pattern[str]]:
    """Return what gives a text its pattern for many phrases: one of them all where it has Chinese characters, else one of those that have none.

    Most phrases are Chinese, and a pattern of thousands takes longer to compile than a short text to audit.

    Args:
        phrases: What the pattern looks for.
        write: Writes the pattern of some phrases.
        flags: As of ``re.compile``.

    >>> find = by_script(["layers", "层数"], "|".join)
    >>> find("12 layers").pattern, find("层数 12").pattern
    ('layers', 'layers|层数')
    """
    known = list(phrases)
    everything = pattern(lambda: write(known), flags)
    without = pattern(lambda: write([phrase for phrase in known if not _has_chinese(phrase)]), flags)
    return lambda text: everything if _has_chinese(text) else without


def _has_chinese(text: str) -> bool:
    return not text.isascii() and max(text) >= _FIRST_CHINESE


_FIRST_CHINESE = "\u3000"
"""Chinese signs and characters, and little else, stand from here on."""
