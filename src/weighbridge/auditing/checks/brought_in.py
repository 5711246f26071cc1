"""Names that a sentence only brings in beside the model at hand: to measure it by them, or to compare."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.background import is_background, names_tokenizer
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_text

_LIKENED = pattern(
    r"[\w.]*(?:-\d[\d.]*)?[- ](?:style|class|like|level|scale|grade|era|type|sized|inspired|compatible|derived|tokeni[sz]er|merges)\b",
    re.IGNORECASE,
)
"""Behind a name, what makes it a measure of others: ``Llama-style attention``, ``the reported GPT-4-class compute``."""


def is_brought_in(text: str, mention: Mention) -> bool:
    """Tell whether a model is named only to measure the one at hand by it: ``GPT-4-class``, ``the GPT-2 tokenizer``, ``larger than BERT``."""
    return _LIKENED.match(text, mention.end) is not None or names_tokenizer(text, mention.end) or is_background(text, mention.column)


def is_compared(text: str, start: int, column: int) -> bool:
    """Tell whether a sentence brings in a model behind its numbers only to compare them: ``82M parameters (compared to 125M for RoBERTa-base)``."""
    return _is_compared(text[max(start, column - _LONGEST_SENTENCE) : column])


@once_for_each_text
def _is_compared(words: str) -> bool:
    return _COMPARED.search(words) is not None


_LONGEST_SENTENCE = 600
"""Characters before a name that are looked at for what compares it."""


_COMPARED = pattern(
    r"\d[^.;|]*?(?:[(,]\s?|\b)(?:compared (?:to|with)|versus|vs\.?|as opposed to|against|where|while)\s[^()]*$", re.IGNORECASE
)
