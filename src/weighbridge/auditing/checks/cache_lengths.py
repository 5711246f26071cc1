"""Bytes of so many tokens where the text says the bytes of one: ``131,072 bytes per token, so an 8K context needs 1 GB``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import EXACT_PRODUCT_FAR, MEMORY_TOLERANCE, PRODUCT_FAR
from weighbridge.auditing.checks.amounts import PER_TOKEN, write_bytes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, value_bounds, whole
from weighbridge.auditing.text.size_words import BYTES, UNITS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_LENGTH = pattern(
    r"(?<![A-Za-z0-9_.,])(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})(?P<thousands> ?[kK]\b)?[- ]?(?:tokens?\b|个 ?token|(?:token )?(?:context|sequence|ctx)\b|上下文|长度)|"
    r"(?:\bat|序列长度|上下文(?:长度)?|长度|context(?: length)?(?: of)?|sequence(?: length)?(?: of)?|seq_len|length)[ 为是=:：]{0,3}(?P<after>\d{1,3}(?:,\d{3})+|\d{1,7})(?P<behind> ?[kK]\b)?(?![\d.]|\s?[KMGT]i?B|[-–]bit)",
    re.IGNORECASE,
)
_BATCH = pattern(r"batch(?:[ _-]?size)?(?: of)?[ 为是=:：]{0,3}(\d{1,4})\b|批(?:量|次)?(?:大小)?[ 为是=:：]{0,3}(\d{1,4})", re.IGNORECASE)
_ELSE = pattern(
    r"\b(?:weights?|param\w*|total|plus|gpus?|users?|requests|sequences|conversations|concurrent|layers?|int8|fp8|8-bit|4-bit|quanti\w*|window|sliding|per second|instead|without|mha|if|would|"
    r"activations?|each|every|saves?|sav(?:es|ing)|reduc\w*|fewer|less|more than|at least|up to|over|not|remaining|left)\b|%|权重|参数|总共|用户|请求|并发|层|量化|窗口|节省|减少|如果|若|至少|超过|以上|剩",
    re.IGNORECASE,
)
_SENTENCE = pattern(r"[。!?！？|]|(?<!i\.e)(?<!e\.g)\.(?!\d)(?=\s|$)")
_CLAUSE = pattern(r"[;；]|,(?!\d)|，")


class _Rate(NamedTuple):
    """The bytes of one token, and where they stand."""

    token: Token
    number: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Check every figure in bytes that a sentence gives so many tokens, behind the bytes of one; only a plain product is judged."""
    for statement in scene.numbered:
        figures = [t for i, t in scene.figures_of(statement) if t.unit in BYTES and t.value and not _is_factor(statement, i)]
        if len(figures) > 1 and PER_TOKEN.search(scene.lines[figures[0].line].text):
            yield from _of_line(scene, figures)


def _is_factor(statement: Sequence[Token], index: int) -> bool:
    return any(other.kind == "op" and other.text in "*/" for other in statement[max(0, index - 1) : index + 2])


def _of_line(scene: Scene, figures: Sequence[Token]) -> Iterator[Claim]:
    rate: _Rate | None = None
    rates: list[_Rate] = []
    for before, token, after in zip((None, *figures), figures, (*figures[1:], None), strict=False):
        text = scene.lines[token.line].text
        start = max((m.end() for m in _SENTENCE.finditer(text, 0, token.start)), default=0)
        clause = max((m.end() for m in _CLAUSE.finditer(text, start, token.start)), default=start)
        since = before.end if before is not None and before.line == token.line else 0
        stop = after.start if after is not None and after.line == token.line else len(text)
        behind = _CLAUSE.split(_SENTENCE.split(text[token.end : stop])[0])[0]
        if _is_per_token(text, token, max(clause, since)):
            rate = _Rate(token, likeliest_value(token) or Fraction(0))
            rates.append(rate)
        elif (
            rate is not None
            and rate.token.line == token.line
            and (rate.token.end >= start or _goes_on(scene, rate.token, token, _SENTENCE.split(text[start:])[0]))
        ):
            plain = not re.search(r"[×*=/]\W{0,3}$", text[: token.start]) and not re.match(r"\W{0,2}[×*=/]", text[token.end :])
            if plain:  # and no side of an equation, which is judged as one
                found = list(_hold(scene, token, rate, text[max(since, clause) : token.start] + " " + behind))
                others = (one for other in rates[:-1] for one in _hold(scene, token, other, text[max(since, clause) : token.start]))
                if not any(one.verdict == "rounded" for one in others):  # ``128 KB per token in fp16 and 64 KB in fp8: 4 GB or 2 GB``
                    yield from found


def _goes_on(scene: Scene, rate: Token, token: Token, sentence: str) -> bool:
    """Tell whether a later sentence still speaks of the cache that a token's bytes were said of, and of no other model."""
    text = scene.lines[token.line].text
    named = any(rate.end <= mention.column < token.end for mention in scene.mentions.get(token.line, ()))
    return not named and all(_CACHE.search(words) for words in (sentence, text[max(0, rate.start - _NEAR) : rate.end + _NEAR]))


_CACHE = pattern(r"\bcach(?:e|ing)\b|\bkv\b|缓存", re.IGNORECASE)
_NEAR = 60


def _is_per_token(text: str, token: Token, clause: int) -> bool:
    """Tell whether a figure is said to be one token's, right behind it or in its clause before it."""
    return (
        re.match(r"\W{0,2}(?:per|for each|for every|each|a|/|每个?|一个)\W?token", text[token.end :], re.IGNORECASE) is not None
        or PER_TOKEN.search(text[clause : token.end]) is not None
    )


def _hold(scene: Scene, token: Token, rate: _Rate, words: str) -> Iterator[Claim]:
    lengths = list(_LENGTH.finditer(words))
    batches = [int(match[1] or match[2]) for match in _BATCH.finditer(words)]
    if len(lengths) != 1 or len(batches) > 1 or token.value is None or not rate.number:
        return
    match = lengths[0]
    number = int((match["number"] or match["after"]).replace(",", "")) * (batches[0] if batches else 1)
    scales = (1000, 1024) if match["thousands"] or match["behind"] else (1,)
    rates = [(rate.token.value or Fraction(0)) * scale for scale in UNITS[rate.token.unit]]
    products = [number * scale * each for scale in scales[::-1] for each in rates]
    said = [token.value * scale for scale in UNITS[token.unit]]
    near = any(abs(one - right) <= MEMORY_TOLERANCE * right or _rounds_to(token, right) for one in said for right in products)
    apart = PRODUCT_FAR if significant_digits(token) <= 2 else EXACT_PRODUCT_FAR
    far = all(one > right * apart or one * apart < right for one in said for right in products)
    right = products[0]
    mine = likeliest_value(token) or Fraction(0)
    facts = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    product = because(mark("{count} tokens of {size} bytes"), count=number * scales[-1], size=rates[0])
    if near:
        yield claim(scene.lines, token, token, "total", "rounded", **facts, reason=product)
    elif far and not _ELSE.search(words):
        direction = should_be(is_higher=mine > right)
        reason = because(direction, right=write_bytes(token, right, 1024), number=write_bytes(token, abs(mine - right), 1024)) + product
        yield claim(scene.lines, token, token, "total", "wrong", **facts, reason=reason)


def _rounds_to(token: Token, number: Fraction) -> bool:
    return any(low <= number <= high for low, high in (value_bounds(token, Fraction(scale)) for scale in UNITS[token.unit]))
