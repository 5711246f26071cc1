"""Figures that a sentence itself takes back: what it denies, and what was before it was cut down."""

from __future__ import annotations

import re

from weighbridge.auditing import patterns
from weighbridge.auditing.claims import Claim


def is_denied(text: str, claim: Claim) -> bool:
    """Tell whether the sentence goes on to say that it is not so: ``"GPT-2 has 16 layers" is wrong``."""
    return _DENIED.match(text, claim.end) is not None or _ASKED.match(text, claim.end) is not None


_DENIED = patterns.pattern(
    r"(?:(?!\. )[^;。；!?|]){0,48}?\b(?:is|was|are|were)(?: (?:simply|just|plainly|of course|clearly))? (?:wrong|false|untrue|incorrect|mistaken|not (?:true|right|correct|so)|(?:an? )?(?:myth|mistake|error|typo|slip)|nonsense)\b",
    re.IGNORECASE,
)
_ASKED = patterns.pattern(r"[^,，。;；\d?？]{0,10}[?？]\s?(?:当然|其实|显然)?(?:不|错|并非|没有)")
"""Behind a number, what asks for it and says no: ``8 个头？不，是 12 个``."""


def is_what_was(text: str, claim: Claim) -> bool:
    """Tell whether a number is what something has shrunk or grown from: ``brings ALBERT-base from 110M down to 12M``."""
    return claim.kind == "total" and _FROM.search(text, 0, claim.start) is not None and _DOWN_TO.match(text, claim.end) is not None


_FROM = patterns.pattern(r"(?:\bfrom|从|由)\s?[~≈约]?\s?$", re.IGNORECASE)
_DOWN_TO = patterns.pattern(
    r"\s?(?:param(?:eter)?s?|个?参数)?[,，]?\s?(?:→|->|(?:down |up )?to\b|(?:直接|大幅|骤)?(?:压缩?|降低?|减少?|缩减?|提升|增加?|扩大?|涨|变)[到至为成]?)",
    re.IGNORECASE,
)
"""Around the first of two numbers between which a change goes."""
