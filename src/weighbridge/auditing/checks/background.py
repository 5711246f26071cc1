"""Models that a text brings up only as the background of another."""

from __future__ import annotations

import re

from weighbridge.auditing.patterns import pattern


def is_background(text: str, column: int) -> bool:
    """Tell whether a model named at a place is only brought in beside the one at hand: ``larger than BERT``."""
    end = len(text[:column].rstrip("*_`'\"").rstrip())
    return _BACKGROUND.search(text, max(0, end - _LONGEST_WORDS), column) is not None


def is_left_behind(text: str, column: int, end: int, place: int) -> bool:
    """Tell whether a sentence that only brings in a model goes on behind a comma, and may well be back at the model before it.

    >>> is_left_behind("it has 6 layers instead of 12 in BERT-base, with 66M parameters", 33, 42, 49)
    True
    """
    return "," in text[end:place] and is_background(text, column)


def names_tokenizer(text: str, end: int) -> bool:
    """Tell whether a model is named only for its tokenizer, which any other may use: ``the GPT-2 tokenizer``.

    >>> names_tokenizer("uses the `gpt2` tokenizer", 15), names_tokenizer("GPT-2 has", 5)
    (True, False)
    """
    return _TOKENIZER.match(text, end) is not None


_TOKENIZER = pattern(
    r"[*_`'\"’s)\] -]{1,6}(?:\w+ )?(?:tokeni[sz]er|vocabulary|vocab|bpe)\b|[*_`'\"]{0,3}\s?的?(?:分词器|词表)", re.IGNORECASE
)
_BACKGROUND = pattern(
    r"\b(?:(?:instead of|rather than|compared (?:to|with)|against|versus|vs\.?|than|not|down from|up from) (?:the |about |roughly |only )?[~≈]?\d[\d.,]*\s?(?:[KMB%]|million|billion)?(?: [\w-]+){0,2} (?:in|of|for|by|from)|than|like|unlike|vs\.?|versus|similar to|based on|version of|matche?s|match(?:ing)?|compared (?:to|with)|instead of|such as|competitors?,?(?: like)?|in contrast to|(?:by|in|for) (?:comparison|contrast),?|features of|from"
    r"|same (?:[\w-]+ ){1,3}(?:as|of|in)|as (?:in|with|for)|(?:inherited|borrowed|taken|known|familiar|copied) from|(?:successor|predecessor|alternative|answer|sibling|relative|rival|cousin|heir) (?:to|of)"
    r"|outperform\w*|surpass\w*|exceed\w*|rival\w*|beat(?:s|ing)?|trail\w*|approach(?:es|ing)|(?:better|worse|weaker|stronger|well|favou?rably|parity|par|competes?|competitive|comparable|close|ahead|behind) (?:than|as|against|with|to|of)"
    r"|(?:including|against|over|beyond|alongside|unique to|level of [\w -]{0,24}(?:such as|like)))(?: that of)?(?: both)?(?: the| an?)?(?: (?:much |far )?(?:larger|smaller|bigger|older|earlier|newer|previous|original))?\s*[*_`'\"]*$"
    r"|(?:比起?|超过了?|超越了?|远超|优于|胜过|击败|媲美|不如|接近|对标|高于|低于|大于|小于|不同于|不像|相比于?|相较于?|较之?|区别于|打败|战胜|追平|赶上|赶超|领先于?|逼近|强于|好于|碾压)了?\s?[*_`\"']*$",
    re.IGNORECASE,
)
_LONGEST_WORDS = 64
"""Characters of the words in front of a name that bring it in, at most: what stands further ahead is not gone through for each name."""
