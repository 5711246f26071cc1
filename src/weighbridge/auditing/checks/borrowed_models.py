"""Models that a Chinese sentence names only for what another has taken from them: ``RoBERTa-large 沿用了 BERT-large 的结构，仍是 24 层``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.base_models import STRUCTURE
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.presets.aliases import FAMILY, MODEL


def leave_out_borrowed(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the models of a line, but for those of which only the structure is spoken of: the sentence is about the one before them.

    >>> line = "GPT-2 medium 沿用了 GPT-2 small 的结构"
    >>> [m.end for m in leave_out_borrowed(line, [Mention(0, "gpt2-medium", 12, ("gpt2-medium",), MODEL), Mention(17, "gpt2", 28, ("gpt2",), MODEL)])]
    [12]
    """
    last = None
    for mention in mentions:
        if last is not None and mention.kind in (MODEL, FAMILY) and _is_borrowed(text, last, mention):
            continue
        last = mention
        yield mention


def _is_borrowed(text: str, owner: Mention, mention: Mention) -> bool:
    """Tell whether the words around a name say that the model before it has its structure, and nothing else stands between."""
    if owner.kind not in (MODEL, FAMILY) or sentence_of(text, owner.column)[0] != sentence_of(text, mention.column)[0]:
        return False
    if _WITH.fullmatch(text, owner.end, mention.column) is not None:
        return _ALIKE.match(text, mention.end) is not None
    return _TAKES.fullmatch(text, owner.end, mention.column) is not None and STRUCTURE.match(text, mention.end) is not None


_WITH = pattern(r"[*_`]{0,3}\s?的?(?:模型|网络|整体|基本)*(?:结构|架构|配置|规模)?(?:上|也|则)*\s?(?:与|和|同|跟)\s?[*_`]*")
_ALIKE = pattern(
    r"[*_`]{0,3}\s?的?(?:模型|网络|整体|基本)*(?:结构|架构|配置|规模)?(?:完全|基本|大体|大致|保持)*(?:一致|一样|相同)(?!的(?:模型|结构)|[^\w]{0,2}(?:两者|二者|它们)?(?:都|均|皆))"
)
_TAKES = pattern(
    r"[*_`]{0,3}\s?(?:模型)?(?:也|则|仍|依然|完全|直接|基本|大体|整体上?)*\s?(?:沿用|继承|采用|使用|借鉴|参考|复用|延续|沿袭|遵循|保留|照搬|套用)了?(?:与|和)?\s?[*_`]*"
)
