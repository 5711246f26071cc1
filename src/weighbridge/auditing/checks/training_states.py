"""Bytes that training keeps for each parameter: gradients, the optimizer's states, and all of them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.amounts import Figure, figure_ends
from weighbridge.auditing.checks.dtypes import bytes_each, dtype_sizes
from weighbridge.auditing.text.exact import Exact

_GRADIENTS, _OPTIMIZER, _ALL = (2, 4), (12, 8, 4, 2), (16, 18, 20, 12, 8)
_STATES = (
    (patterns.pattern(r"gradients?|梯度", re.IGNORECASE), _GRADIENTS),
    (patterns.pattern(r"optimi[sz]er|adam|优化器|动量|momentum", re.IGNORECASE), _OPTIMIZER),
    (patterns.pattern(r"total|training|训练|合计|共", re.IGNORECASE), _ALL),
)
"""Bytes for each parameter that training keeps: gradients and Adam's states in mixed and in full precision, and all of them."""
_STORED = patterns.pattern(r"weights?\b|权重", re.IGNORECASE)
_COMMAS = patterns.pattern(r"[,，;；]")
_WITHOUT = patterns.pattern(
    r"(?:before|without|excluding|not counting|not including|plus|ignoring|aside from)(?: the| any)? activations?|(?:不含|不包括|不计|不算|未计)激活值?(?:显存)?",
    re.IGNORECASE,
)
_ELSE = patterns.pattern(
    r"\bl[o]ra\b|adapter|\bzero\b|fsdp|shard|split|\bper\b(?! param)|\beach\b(?! (?:param|weight))|8[- ]?bits?|4[- ]?bits?|int8|adafactor|\bsgd\b|lion\b|muon|"
    r"offload|batch|sequence|activation|layer|embedding|trainable|frozen|at least|more than|less than|over|up to|fits?|gpus?\b|peak|sav(?:e|ing)|reduc|instead|\bif\b|only|extra|copy|master|"
    r"冻结|激活|每(?!个?参数)|单卡|张|分片|层|峰值|至少|超过|不到|以上|节省|减少|如果|若|可训练|适配|主权重|副本",
    re.IGNORECASE,
)
"""Words by which training keeps more or less than that, or another figure is meant."""
_ENUMERATED = patterns.pattern(r"gradients?|梯度", re.IGNORECASE), patterns.pattern(r"optimi[sz]er|adam|优化器", re.IGNORECASE)


def state_bytes(place: Figure) -> list[Fraction]:
    """Return the bytes for each parameter of the state that the words nearest to a figure name: behind it, else before.

    Those that the sentence itself says are the only ones: ``16 bytes per parameter``.
    """
    before, _, behind = place.near.rpartition(place.token.text)
    said, together = bytes_each(place.sentence), _is_of_all(place)
    if together:
        return said or [Exact(size) for size in _ALL]
    clause = _COMMAS.split(before)[-1] + _COMMAS.split(behind)[0]
    if _STORED.search(behind) or (dtype_sizes(clause) and not any(pattern.search(clause) for pattern, _ in _STATES)):
        return []  # ``FP16 存储需要约 350GB, 训练用 Adam``: a dtype of its own, and the states come behind
    for words in (behind, before, place.sentence[: -len(behind) or None]):
        last = [(match.start(), sizes) for pattern, sizes in _STATES for match in pattern.finditer(words)]
        if last:
            sizes = max(last)[1]
            return said if len(said) == 1 and said[0] > _LARGEST else _in_dtype(place.sentence, sizes) or [Exact(size) for size in sizes]
    return []


def _in_dtype(sentence: str, sizes: Sequence[int]) -> list[Fraction]:
    """Return the bytes of gradients, or of two moments, whose dtype stands beside their name."""
    found = (_BESIDE_GRADIENTS if sizes is _GRADIENTS else _BESIDE_MOMENTS).search(sentence) if sizes is not _ALL else None
    told = dtype_sizes(found[0]) if found is not None else []
    return [told[0] * (1 if sizes is _GRADIENTS else 2)] if len(told) == 1 else []


_DTYPE = r"(?:fp|float|bf|bfloat)(?:16|32)"
_BESIDE_GRADIENTS = patterns.pattern(
    rf"{_DTYPE} ?(?:的|精度)?(?:gradients?|梯度)|gradients? (?:are |stored |kept )?in {_DTYPE}", re.IGNORECASE
)
_BESIDE_MOMENTS = patterns.pattern(
    rf"two {_DTYPE} (?:moments?|states?|values?|numbers?|buffers?)|two (?:moments?|states?|values?)[\w ]{{0,20}} in {_DTYPE}|{_DTYPE} ?的?(?:一阶[和、与及]?二阶|两个)动量",
    re.IGNORECASE,
)


def _is_of_all(place: Figure) -> bool:
    """Tell whether the one figure of its line is of weights, gradients and optimizer states together, each called by its name."""
    words = place.sentence.replace("参数", "权重")
    alone = len(figure_ends(place.scene.lines[place.token.line].text)) == 1
    return alone and all(pattern.search(words) for pattern in (_STORED, *_ENUMERATED))


_LARGEST = 4
"""Bytes of a parameter; more is of all that training keeps for it."""


def is_of_training(place: Figure, said: Sequence[Fraction]) -> bool:
    """Tell whether a sentence says plainly of which states a figure is: one kind of them, all by name, or so many bytes for each."""
    words = _WITHOUT.sub("", place.sentence)
    if _ELSE.search(words) or len(said) > 1:
        return False
    kinds = [pattern.search(words) is not None for pattern, _ in _STATES[:2]]
    return bool(said) or _is_of_all(place) or (any(kinds) and not all(kinds) and _STORED.search(words) is None)
