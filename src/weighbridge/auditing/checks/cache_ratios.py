"""How many times grouped queries shrink a cache: ``8 KV heads instead of 64, which shrinks the KV cache 8 times``, ``KV 缓存缩小为原来的 1/8``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_CACHE = pattern(r"cache|缓存", re.IGNORECASE)
_GROUPED = pattern(r"\bGQA\b|grouped[- ]query|KV heads|key[-/ ]value heads|KV\s?头|分组查询", re.IGNORECASE)
_TIMES = pattern(
    r"(?:shrinks?|reduces?|cuts?|shrinking|reducing)\s(?:the |its )?(?:KV[- ]?)?cache (?:by (?:a factor of )?)?(?P<by>\d{1,3})\s?(?:times|x|×|-fold)?(?![\d%.])|cache is (?P<less>\d{1,3})\s?(?:times|x|×) smaller|"
    r"缓存(?:大小|显存|占用)?(?:就|能|可以?)?(?:缩小|减少|降低|缩减)(?:了|到|为)?(?:原来的?|MHA 的?)?\s?(?:1/(?P<part>\d{1,3})(?!\d)|(?P<fold>\d{1,3})\s?倍)",
    re.IGNORECASE,
)
_ELSE = pattern(
    r"quantiz|int ?[48]|fp8|window|MLA|latent|compress|layers? shared|cross-layer|evict|more than|at least|up to|about half|MQA|量化|窗口|压缩|跨层|超过|至少|最多|以上|\bif\b|would|如果|若",
    re.IGNORECASE,
)
"""Words by which the cache shrinks for another reason, or by some other number."""
_SENTENCE = pattern(r"[。;；!?！？]|\.(?=\s|$)")


def check(scene: Scene) -> Iterator[Claim]:
    """Hold such a number against the heads of the one model that its sentence names."""
    for index, named in scene.mentions.items():
        text = scene.lines[index].text
        if not _CACHE.search(text) or not _GROUPED.search(text):
            continue
        for found in _TIMES.finditer(text):
            start = max((m.end() for m in _SENTENCE.finditer(text, 0, found.start())), default=0)
            stop = next((m.start() for m in _SENTENCE.finditer(text, found.end())), len(text))
            inside = [m for m in named if start <= m.column < stop]
            if len({m.names for m in inside}) == 1 and inside[0].kind == MODEL and inside[0].end <= found.start():
                subject = of_mention(scene, inside[0], firm=True)
                ratio = _ratio(subject.models[0]) if subject is not None else None
                doubtful = (
                    _ELSE.search(text, start, stop) is not None or not _GROUPED.search(text, start, stop) or is_of_their_own(scene, index)
                )
                if ratio is not None:
                    yield from _hold(scene, index, found, ratio, doubtful=doubtful)


def _ratio(model: ModelValue) -> Fraction | None:
    words = words_of(model)
    heads, keys = words.get("heads"), words.get("kv_heads")
    return Fraction(heads, keys) if heads and keys and keys < heads else None


def _hold(scene: Scene, index: int, found: re.Match[str], ratio: Fraction, *, doubtful: bool) -> Iterator[Claim]:
    group = next(group for group in ("by", "less", "part", "fold") if found[group])
    said = int(found[group])
    token = Token("num", found[group], index, found.start(group), found.end(group))
    right = int(ratio) if ratio.denominator == 1 else ratio
    facts: dict[str, object] = {"value": said, "expected": right, "difference": said - right}
    if said == round(ratio):
        yield claim(scene.lines, token, token, "share", "exact" if said == ratio else "rounded", **facts)
    elif not doubtful:
        yield claim(scene.lines, token, token, "share", "wrong", **facts, reason=because(mark("should be {right}"), right=right))
