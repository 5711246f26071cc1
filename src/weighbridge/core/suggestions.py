"""Suggestions for a name that is not known."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Text, join_with_or

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, typos: bool = False) -> str:
    """Return ``did you mean X?`` for the nearest known names, or the empty string.

    Args:
        name: What was written.
        known: What could have been meant.
        typos: Only names that a typing error makes: minimax_m2 is another model than minimax_m3.

    >>> did_you_mean("hiden_size", ["hidden_size", "vocab_size"])
    'did you mean hidden_size?'
    >>> did_you_mean("--clas", ["--csv", "--class"])
    'did you mean --class?'
    >>> did_you_mean("minimax_m3", ["minimax_m2"], typos=True), did_you_mean("robert", ["roberta"], typos=True)
    ('', 'did you mean roberta?')
    >>> did_you_mean("AdamW", ["adamw", "sgd"])
    'did you mean adamw?'
    """
    from difflib import get_close_matches

    names = list(known)
    folded = {found.casefold(): found for found in reversed(names)}
    starts = [found for found in names if name.startswith("--") and found.startswith(name)]
    meant = folded.get(name.casefold())
    if meant is not None:
        return Text("did you mean {names}?", names=meant)
    close = starts if 0 < len(starts) <= 3 else [folded[found] for found in get_close_matches(name.casefold(), folded, n=3, cutoff=0.7)]
    if typos:
        close = [found for found in close if is_typo(name, found)]
    return Text("did you mean {names}?", names=join_with_or(close)) if close else ""


def is_typo(name: str, meant: str) -> bool:
    """Say whether one letter too many or too few, two exchanged, or one wrong in a long name makes one of the other.

    >>> is_typo("gtp", "gpt"), is_typo("lama", "llama"), is_typo("bart", "bert"), is_typo("llama2", "llama3")
    (True, True, False, False)
    """
    digits = [[letter for letter in text if letter.isdigit()] for text in (name, meant)]
    if digits[0] != digits[1] or name[:1] != meant[:1]:
        return False
    if len(name) == len(meant):
        wrong = sum(a != b for a, b in zip(name, meant, strict=True))
        return (wrong == 2 and sorted(name) == sorted(meant)) or (wrong == 1 and len(name) >= 8)
    short, long = sorted((name, meant), key=len)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
