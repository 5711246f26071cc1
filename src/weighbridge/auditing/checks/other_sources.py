"""Numbers that a text gives to another source than the model: a paper, a released file, the original."""

from __future__ import annotations

import re

from weighbridge.auditing import patterns
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.openings import sentence_of


def is_another_sources(text: str, claim: Claim) -> bool:
    """Tell whether a sentence gives two sources two numbers, the right one among them: ``8 heads in the paper (12 in the released code)``."""
    _, end = sentence_of(text, claim.start)
    behind = text[claim.end : min(end, claim.end + _REACH)]
    if claim.kind == "configuration" and _IN_THE_PAPER.match(behind) is not None:
        return True  # ``8 attention heads in the paper``: a release may have others
    return (
        _SOURCE.search(behind) is not None
        and re.search(rf"(?<![\d.,]){claim.expected:,}(?![.,]?\d)|(?<![\d.,]){claim.expected}(?![.,]?\d)", behind) is not None
    )


_REACH = 80
"""Characters behind a number that may give another source's."""
_IN_THE_PAPER = patterns.pattern(
    r"[^\d.,;:，；。]{0,24}\b(?:in|per|by|according to) (?:the|its|their) (?:original )?(?:paper|report)\b", re.IGNORECASE
)
_SOURCE = patterns.pattern(
    r"\b(?:in|by|of|per) (?:the|its|their) (?:\w+ ){0,2}(?:paper|report|article|code|repository|checkpoint|config)\b|论文|原文|技术报告|代码",
    re.IGNORECASE,
)
