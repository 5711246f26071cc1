"""Many phrases as one pattern that is searched quickly: what begins alike is tried once."""

from __future__ import annotations

import re
from collections.abc import Iterable


def as_trie(phrases: Iterable[str], gap: str = " ", not_behind: str = "") -> str:
    """Return a pattern that matches the longest of some phrases, a branch for each first character.

    Written one after the other, hundreds of phrases are all tried at every place of a text; like this, a place where
    none of them begins is passed over at once.

    Args:
        phrases: What is looked for, letters and signs as they stand.
        gap: What a space in a phrase matches.
        not_behind: What may not stand in front of the first character: a class such as ``[a-z]``.

    >>> as_trie(["kv heads", "kv head", "k"], "[ _]")
    'k(?:v[ _]head(?:s)?)?'
    """
    trie = _Trie()
    for phrase in phrases:
        node = trie
        for character in phrase:
            node = node.setdefault(character, _Trie())
        node[""] = _Trie()
    if not not_behind:
        return _spell(trie, gap)
    return "(?:" + "|".join(f"{re.escape(c)}(?<!{not_behind}.){_spell(rest, gap)}" for c, rest in trie.items()) + ")"


class _Trie(dict[str, "_Trie"]):
    """From a character to what may follow it; the empty string says that a phrase may end here."""


def _spell(trie: _Trie, gap: str) -> str:
    if set(trie) <= {""}:
        return ""
    branches = [(gap if c == " " else re.escape(c)) + _spell(rest, gap) for c, rest in trie.items() if c]
    written = "|".join(branches)
    if "" in trie:
        return f"(?:{written})?"
    return written if len(branches) == 1 else f"(?:{written})"


def lower_case(text: str) -> str:
    """Return a text in lower case with every character where it was: some letters would become two.

    >>> len(lower_case("İ H"))
    3
    """
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
