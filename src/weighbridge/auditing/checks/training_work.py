"""Arithmetic work of a training run: six FLOPs for each parameter and token, ``6ND``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.count_subjects import subject_of
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.thresholds import TRAINING_FAR, WORK_SAID_FAR, WORK_TOLERANCE
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_POWER = pattern(r"\d ?(?:[eE]\+?|[×x*·X] ?10 ?\^ ?[{(]?)\d{2}")
"""A power of ten, which every such figure has."""
_FLOPS = pattern(
    r"(?<![A-Za-z0-9_.])(?P<number>\d+(?:\.\d+)?) ?(?:e\+?|[×x*·] ?10 ?\^ ?[{(]?)(?P<power>\d{2})[})]? ?(?:total |training |floating[- ]point )*(?:FLOPs?\b|operations|次浮点)",
    re.IGNORECASE,
)
_TOKENS = pattern(r"(?<![A-Za-z0-9_.])(\d+(?:\.\d+)?) ?(T|B|trillion|billion|万亿|亿) ?个? ?(?:training |text )?tokens?", re.IGNORECASE)
_SCALES = {"t": 10**12, "trillion": 10**12, "万亿": 10**12, "b": 10**9, "billion": 10**9, "亿": 10**8}
_RULE = pattern(r"(?<![A-Za-z0-9_.])6 ?[×x*·]? ?N ?[×x*·]? ?D\b|6 FLOPs (?:per|for each) param", re.IGNORECASE)
_TRAINED = pattern(r"\btrain|\bpre-?train|训练", re.IGNORECASE)
_ELSE = pattern(
    r"epoch|fine-?tun|微调|轮|\bper\b|each|每|distil|inference|推理|forward|if |如果|假设|would|instead|than|utili[sz]|MFU|second|\bper\b|/s\b",
    re.IGNORECASE,
)
"""Words by which the work is another's than that of one pass over so many tokens."""
_SENTENCE = pattern(r"[。;；!?！？|]|\.(?!\d)")


def check(scene: Scene) -> Iterator[Claim]:
    """Check the FLOPs of a training run in sentences that say its one model and its tokens."""
    for index in scene.counted_lines:
        line = scene.lines[index]
        if not _POWER.search(line.text):
            continue
        for found in _FLOPS.finditer(line.text[:_LONGEST]):
            judged = _judge(scene, index, found)
            if judged is not None:
                yield judged


_LONGEST = 10_000


def _judge(scene: Scene, index: int, found: re.Match[str]) -> Claim | None:
    text = scene.lines[index].text
    start = max((m.end() for m in _SENTENCE.finditer(text, 0, found.start())), default=0)
    stop = next((m.start() for m in _SENTENCE.finditer(text, found.end())), len(text))
    sentence = text[start:stop]
    trained = list(_TOKENS.finditer(sentence))
    token = Token("num", found[0], index, *found.span())
    subject = subject_of(scene, token, start, stop)
    named = {m.names for m in scene.mentions.get(index, ()) if m.kind == MODEL and start <= m.column < stop}
    if subject is None and len(named) == 1:
        subject = subject_of(scene, token._replace(start=stop, end=stop), start, stop)
    counts = [own_count(model, what) for model in (subject.models if subject is not None else ()) for what in ("active", "non_embedding")]
    if subject is None or len(trained) != 1 or int(found["power"]) > _MOST_POWER:
        return None
    tokens = Fraction(trained[0][1]) * _SCALES[trained[0][2].lower()]
    number = Fraction(found["number"]) * 10 ** int(found["power"])
    ways = [times * count * tokens for times in (6, 8) for count in counts if count]
    if not ways:
        return None
    reason = because(mark("six FLOPs for each of {count} parameters and {tokens} tokens"), count=counts[0], tokens=whole(tokens))
    facts = {"value": whole(number), "expected": whole(ways[0]), "difference": whole(number - ways[0]), "reason": reason}
    if any(abs(number - way) <= WORK_TOLERANCE * way for way in ways):
        return claim(scene.lines, token, token, "total", "rounded", **facts)
    ruled = _RULE.search(sentence) is not None
    far = WORK_SAID_FAR if ruled else TRAINING_FAR
    plain = (ruled or _TRAINED.search(sentence)) and not _ELSE.search(sentence) and len(named) <= 1
    if plain and (subject.firm or len(named) == 1) and all(number > far * way or number * far < way for way in ways):
        return claim(scene.lines, token, token, "total", "wrong", **facts)
    return None


_MOST_POWER = 40
