"""Sentences that bring up a model of their own without a name: ``a network with 14 layers``, ``would have``, ``the original Transformer``."""

from __future__ import annotations

import re

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.openings import sentence_of

_INDEFINITE = pattern(
    r"(?:^|[.:;,(>]|\b(?:of|for|than|to|like|in|by|from|into|train(?:s|ing|ed)?|built|build(?:s|ing)?|pre-?train(?:ing|ed)?|consider|suppose|imagine|take|given|have|had|made|makes?|get)\b)"
    r"[\s\"'*_`]*(?:an?|any|another)\s(?:[\w.-]+\s){0,3}?(?:models?|networks?|transformers?|versions?|variants?|architectures?|llms?|configs?|configurations?)\b(?! (?:dim|size|width|depth|param|state))",
    re.IGNORECASE,
)
"""An indefinite model at the beginning of a clause, or behind a word that makes it no predicate: ``Phi-2 is a model with 32 layers`` speaks of Phi-2."""
_SUPPOSED = pattern(
    r"\b(?:would|suppose|imagine|hypothetical(?:ly)?|exercise|what if|if (?:we|you|one|i|they|the|it|this|each|every) (?:had|have|were|was|doubled?|halved?|use[ds]?|set|took?|takes?|increased?|reduced?|changed?|scaled?|made?|wanted|were to|go(?:es)?|went))\b",
    re.IGNORECASE,
)
_ORIGINAL = pattern(
    r"\W*(?:(?:in|for|unlike|like|as in|while|whereas)\W+)?(?:the )?(?:original|vanilla|first|classic) (?:encoder-decoder )?transformer(?:-base|-big)?(?: (?:model|architecture|paper|base|big))*\b(?! (?:language|encoder|decoder)\b)"
    r"|\W*(?:(?:in|for)\W+)?[\"'“]?attention is all you need|\W*vaswani",
    re.IGNORECASE,
)
"""The beginning of a sentence about the Transformer of 2017."""


def brings_another_model(text: str, first: int, names: tuple[int, ...] = ()) -> bool:
    """Tell whether a sentence speaks, before a number, of a model that it does not name: one that is supposed, any one, the first Transformer.

    Args:
        first: Where the number begins.
        names: Where the models that the line names begin.

    >>> brings_another_model("For instance, a network with 14 layers has", 29), brings_another_model("Phi-2 is a model with 32 layers", 22)
    (True, False)
    >>> brings_another_model("A model half as deep would have 18 layers", 32), brings_another_model("The original Transformer used 6 layers", 30)
    (True, True)
    """
    start, _ = sentence_of(text, first)
    named = [place for place in names if start <= place < first]
    if not named and _ORIGINAL.match(text, start):
        return True
    if _SUPPOSED.search(text, start, first) is not None:
        return True
    return any(not _is_of_the_named(text, start, found, named) for found in _INDEFINITE.finditer(text, start, first))


def _is_of_the_named(text: str, start: int, found: re.Match[str], named: list[int]) -> bool:
    """Tell whether an indefinite model is the one whose name stands beside it: ``Phi-2, a model with``, ``a model like BERT-base``."""
    if any(place >= found.end() for place in named):
        return True
    mark = found[0][:1]
    return mark in ",:(" and any(place < found.start() for place in named)
