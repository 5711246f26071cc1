"""How a sentence ties a count to the model that it names: by ``it``, as an example, behind the count, or only as what another is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.thresholds import LISTED
from weighbridge.presets.aliases import MODEL


def pronoun_subject(text: str, start: int, earlier: Sequence[Mention]) -> Mention | None:
    """Return the model that opens the sentence before one that begins with ``it``: ``DistilBERT is a smaller BERT. It has``."""
    if _PRONOUN.match(text, start) is None and _WITH_IT.match(text, start) is None:
        return None
    first, _ = sentence_of(text, max(0, len(text[:start].rstrip(" .。!！")) - 1))
    opening = next((m for m in earlier if m.column >= first), None)
    opens = opening is not None and opening.kind == MODEL and _OPENS.fullmatch(text, first, opening.column) is not None
    return opening if opens and opening is not None and _IS.match(text, opening.end) else None


_PRONOUN = pattern(r"[\W_]*(?:it|this model|它|该模型)(?![a-z])", re.IGNORECASE)
_WITH_IT = pattern(
    r"\W*(?:with|having|at) (?:its |only |just |about |around |roughly |approximately |over )?[~≈*]*\d[\d.,]*\s?(?:[MB]|million|billion)\s(?:parameters|params),? (?:it|the model|this model)\b",
    re.IGNORECASE,
)
"""The same, with the count before it: ``With 355 million parameters, it learns``."""
_OPENS = pattern(r"[\W_]*(?:the )?[\W_]*", re.IGNORECASE)
_IS = pattern(
    r"[*_`]{0,3}(?:\s?[(（][^()（）]{0,40}[)）])?,?\s?(?:is|was|uses|has|keeps|shrinks|drops|replaces|comes|是|基于|采用|使用)(?![a-z])",
    re.IGNORECASE,
)
"""A sentence about the model that its first words name."""


def is_example(text: str, token: Token, mention: Mention) -> bool:
    """Tell whether a model is named in parentheses behind a count as one that has so many: ``70 亿个参数（例如 Llama-2-7b）``."""
    return mention.kind == MODEL and _FOR_EXAMPLE.fullmatch(text, token.end, mention.column) is not None


def opens_sentence(text: str, token: Token, mention: Mention) -> bool:
    """Tell whether a count opens the sentence of its model: ``With 355M parameters, RoBERTa-large is ...``."""
    return (
        _WITH.search(text, max(0, token.start - LISTED), token.start) is not None
        and _SAID_AHEAD.fullmatch(text, token.end, mention.column) is not None
    )


def is_base(text: str, model: Mention, other: Mention) -> bool:
    """Tell whether a sentence names a model only as what another is made of: ``BGE-M3 is built on XLM-RoBERTa large``."""
    return model.kind == MODEL and _MADE_OF.search(text, model.end, other.column) is not None


_MADE_OF = pattern(
    r"\b(?:(?:built|based|trained|continued) (?:on|upon|from|with)|on top of|(?:derived|distilled|initiali[sz]ed|adapted|pruned|fine-?tuned|starts?) from|"
    r"(?:same|identical) \w* ?(?:as|to)|keeps|like|shares)\b[^.;。；]{0,24}$|(?:基于|源自|来自|改自|由|以)[^。；]{0,12}$",
    re.IGNORECASE,
)
_WITH = pattern(
    r"(?:^|[.;。；])\W*(?:with|at|having|thanks to|despite|given|featuring|boasting) (?:its |only |about |around |roughly |just )?[*_`~]*$",
    re.IGNORECASE,
)
_SAID_AHEAD = pattern(r"[*_` ]*(?:parameters|params),\s+(?:the )?[*_`]*", re.IGNORECASE)
"""Around a count that opens the sentence of its model."""
_FOR_EXAMPLE = pattern(
    r"\s?(?:个参数|参数|param(?:eter)?s)(?:的?(?:模型|大模型))?\s?[(（]\s?(?:例如|比如|譬如|如|e\.g\.,?|such as|like)[:：]?\s?",
    re.IGNORECASE,
)
