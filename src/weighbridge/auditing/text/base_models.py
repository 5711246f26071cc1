"""Chinese words by which a sentence names a model only for what another has of it: its weights, its structure, its rank."""

from __future__ import annotations

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.clause_words import Piece

_DERIVED = pattern(
    r"(?:基于|源自|来自|改进自|改编自|微调自|参考了?|初始化自?|骨干[为是]|(?:超过|超越|远超|优于|胜过|击败|打败|战胜|媲美|不如|接近|对标|追平|赶上|赶超|领先|逼近|碾压)了?)\s?$"
)
"""Right before a name, what says that another model was made from that one, or is measured by it."""
_TAKES = pattern(r"(?:沿用|继承|采用|使用|借鉴|参考|复用|延续|沿袭|遵循|保留|照搬|套用|与|和|跟|同)了?\s?[*_`]*$")
STRUCTURE = pattern(
    r"[*_`]{0,3}\s?(?:相同|一样|一致)?的?(?:模型|网络|整体|基本|基础|核心|编码器|解码器|主体)*(?:结构|架构|设计|框架|主干|骨干|范式)(?![^，,。；;]{0,4}\d)"
)
"""Around the name of a model whose structure another one has: ``沿用了 BERT-large 的结构``."""


def is_taken_from(text: str, start: int, name: Piece) -> bool:
    """Tell whether a clause names a model only for what something unnamed has of it: ``基于 BERT``, ``采用 BERT-large 的结构``."""
    if _DERIVED.search(text, start, name.start):
        return True
    return _TAKES.search(text, start, name.start) is not None and STRUCTURE.match(text, name.end) is not None
