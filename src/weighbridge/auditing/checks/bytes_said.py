"""Bytes that the lines above a figure explain: ``130 亿参数, 每个 2 字节 ... 26 GB``, ``FP32 | 4 bytes``. None is called wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.amounts import Amount, hold, words_about
from weighbridge.auditing.checks.count_subjects import subject_of
from weighbridge.auditing.checks.dtypes import DTYPES, dtype_sizes
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.core.messages import mark

_EACH = patterns.pattern(
    r"(?<![\d.])(\d{1,2}(?:\.\d+)?)\s?(?:bytes?|字节)|(?:[×x*]|Φ ?[×x*]) ?(\d{1,2})(?![\d.,])|(?<![\d.])(\d{1,2}) ?(?:[×x*] ?(?:Φ|参数|param|[\d.]+ ?B\b))",
    re.IGNORECASE,
)
"""Bytes for each parameter, as a number of bytes or a factor of the parameters."""
_STATES = (
    (patterns.pattern(r"adam|optimi[sz]er|优化器|moments?|动量", re.IGNORECASE), (8, 12, 4, 6, 2)),
    (patterns.pattern(r"gradients?|\bgrads?\b|梯度", re.IGNORECASE), (4, 2)),
    (patterns.pattern(r"total|training|train|fine-?tun|训练|合计|总|全参|全量", re.IGNORECASE), (16, 18, 20, 12, 8)),
)
_COUNT = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(\d+(?:\.\d+)?)\s?(billion|million|[BM](?![A-Za-z])|亿|e9)|(?<![A-Za-z0-9_.,])(\d{1,3}(?:,\d{3}){2,3})(?![\d,.]*\d)",
    re.IGNORECASE,
)
_SCALES = {"b": 10**9, "billion": 10**9, "e9": 10**9, "m": 10**6, "million": 10**6, "亿": 10**8}
_ABOUT = patterns.pattern(
    r"param|参数|model|模型|weight|权重|memory|显存|内存|vram|gpu|gradient|梯度|adam|optim|优化器|size|大小|checkpoint|占用", re.IGNORECASE
)
_ABOVE = 8
"""Lines above a figure within which the count and the bytes of each parameter may be said."""
_REACH = 240
"""Characters before a figure that may explain it."""
_DTYPE_BYTES = 16
MOST_MODELS = 4
"""Models of a name whose counts are tried."""


def check(scene: Scene) -> Iterator[Claim]:
    """Confirm bytes that a count of the text, or of its model, times bytes for each parameter gives, and the bytes of a dtype."""
    words_above: dict[int, str] = {}
    for _, _, token in scene.sorted_figures.in_bytes:
        if not token.value:
            continue
        text = scene.lines[token.line].text[max(0, token.start - _REACH) : token.end + _REACH // 2]
        if token.unit in ("byte", "bytes", "字节") and token.value <= _DTYPE_BYTES:
            if any(size == token.value and pattern.search(text) for size, pattern in DTYPES):
                yield _dtype(scene, token)
            continue
        if token.line not in words_above:
            words_above = {token.line: " ".join(scene.lines[i].text[:_REACH] for i in range(max(0, token.line - _ABOVE), token.line))}
        above = words_above[token.line]
        if _ABOUT.search(f"{text} {above[-200:]}"):
            place, _ = words_about(scene, token)
            judged = hold(place, list(_amounts(scene, token, text, above)), firm=False)
            if judged is not None:
                yield judged


def _dtype(scene: Scene, token: Token) -> Claim:
    value = int(token.value or 0)
    return claim(
        scene.lines,
        token,
        token,
        "total",
        "exact",
        value=value,
        expected=value,
        difference=0,
        reason=because(mark("the bytes of this dtype")),
    )


def _amounts(scene: Scene, token: Token, text: str, above: str) -> Iterator[Amount]:
    """Yield what a figure may be: counts of the line, or else of the lines above, times what each parameter takes."""
    here = _counts(text)
    counts = here or _of_models(scene, token) or _counts(above)[-2:]
    sizes = _sizes(text) or _sizes(above[-300:])
    for size in dict.fromkeys(sizes):
        for count in dict.fromkeys(counts):
            yield Amount(count * size, mark("{count} parameters of {size} bytes"), {"count": count, "size": size})


def _of_models(scene: Scene, token: Token) -> list[int | Fraction]:
    subject = subject_of(scene, token, max(0, token.start - _REACH), token.end + _REACH)
    counts = [own_count(model) for model in (subject.models if subject is not None else ())[:MOST_MODELS]]
    return [count for count in counts if count]


@lru_cache(maxsize=256)
def _counts(text: str) -> list[int | Fraction]:
    return [
        _as_int(Exact(match[1]) * _SCALES[match[2].lower()]) if match[1] else int(match[3].replace(",", ""))
        for match in _COUNT.finditer(text)
    ][:8]


def _as_int(number: Fraction) -> int | Fraction:
    """Return an int where the number is one: a text of many figures multiplies each count by each size."""
    return number.numerator if number.denominator == 1 else number


@lru_cache(maxsize=256)
def _sizes(text: str) -> Sequence[int | Fraction]:
    """Return the bytes that each parameter may take by the words of a text."""
    found: list[Fraction] = [Exact(match[1] or match[2] or match[3]) for match in _EACH.finditer(text)]
    found += dtype_sizes(text)
    found += [Exact(size) for pattern, sizes in _STATES if pattern.search(text) for size in sizes]
    return [_as_int(size) for size in found if size][:16]
