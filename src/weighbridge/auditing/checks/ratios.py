"""Shares with both their numbers beside them: ``14,175,744 / 109,482,240 (12.9%)``, ``38.6M of 124M ≈ 31%``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.rounding import likeliest_value, scales, value_bounds
from weighbridge.auditing.text.size_words import BYTES
from weighbridge.auditing.thresholds import SHARE_STEPS
from weighbridge.core.messages import mark

_OF = frozenset(("/", "of", "out", "中的", "占"))
_BETWEEN = frozenset(("(", "=", "≈", "or", "about", "is", ",", "~", "约", "即", "仅", "only", ":"))
_COUNTED_WORDS = frozenset(("parameters", "params", "weights", "参数"))
"""What is counted, which may stand between a whole and its share: ``65.5M of 1.1B parameters (6%)``."""
_REACH = 6
"""Tokens between a share and the nearer of its numbers, at most."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check each share against the two numbers of which it is said."""
    for statement, index, token in scene.sorted_figures.shares:
        if _PROGRESS.match(scene.lines[token.line].text, token.end):
            continue
        pair = _pair(statement, index) or _pair_of_sentence(scene, statement, index)
        judged = _claim(scene, token, *pair) if pair is not None else None
        if judged is not None:
            yield judged


_PROGRESS = pattern(r"\s?\|[\s█▉▊▋▌▍▎▏#=>-]*\|")
"""Behind a share, the bar that shows how far a run has come: ``Epoch 1/3: 100%|██████|``."""


def _pair(statement: Sequence[Token], index: int) -> tuple[Token, Token] | None:
    """Return the part and the whole that stand before a share, or in the parentheses behind it."""
    whole = index - 1
    while (
        whole > 1
        and index - whole < _REACH
        and statement[whole].kind != "num"
        and statement[whole].text.lower() in _BETWEEN | _COUNTED_WORDS
    ):
        whole -= 1
    found = _both_tokens(statement, whole - 2, whole) if whole >= 2 else None
    if found is None and whole >= 3 and statement[whole - 1].text in ("of", "the"):
        found = _both_tokens(statement, whole - 3, whole)
    if found is None and index + 4 < len(statement) and statement[index + 1].kind == "(":
        found = _both_tokens(statement, index + 2, index + 4)
    return found or _count_and_whole(statement, index)


def _count_and_whole(statement: Sequence[Token], index: int) -> tuple[Token, Token] | None:
    """Return the count before a share and the whole behind its ``of``: ``256.9M parameters, i.e. 46% of the 559M``."""
    part, whole = index - 1, index + 2
    while part > 0 and index - part <= _REACH and statement[part].text.lower() in _LEADS:
        part -= 1
    if part < 0 or whole >= len(statement) or statement[index + 1].text.lower() != "of":
        return None
    while (
        whole < len(statement) - 1
        and whole - index <= _REACH
        and statement[whole].kind in ("word", "sep", "name")
        and statement[whole].text not in _ENDS
    ):
        whole += 1
    a, b = statement[part], statement[whole]
    counts = all(
        t.kind == "num" and t.value and (t.unit in _COUNTED or (not t.unit and t.value >= _LARGE)) and t.line == statement[index].line
        for t in (a, b)
    )
    before = statement[part - 1] if part else None
    return (a, b) if counts and (before is None or before.kind not in ("op", "rel", "num")) else None


def _pair_of_sentence(scene: Scene, statement: Sequence[Token], index: int) -> tuple[Token, Token] | None:
    """Return the only two counts of a sentence that says at its end what share the one is: ``总参数 671B，激活 37B（约总参数的 5.5%）``."""
    token, text = statement[index], scene.lines[statement[index].line].text
    start, _ = sentence_of(text, token.start)
    counts = [t for t in statement[:index] if t.kind == "num" and t.line == token.line and t.start >= start and _is_count(t)]
    sizes = sorted((likeliest_value(t) or Fraction(0) for t in counts), reverse=True)
    if _OF_THE_WHOLE.search(text, start, token.start) is None or len(counts) != _TWO or sizes[0] == sizes[1]:
        return None
    whole, part = sorted(counts, key=lambda t: likeliest_value(t) or 0, reverse=True)
    if _ADAPTED.search(text, start, token.start):
        return None  # ``每层 524,288，32 层 16,777,216，占总参数 0.25%``: of the model, which is not among them
    return None if _CHANGES.search(text, min(whole.start, part.start), token.start) else (part, whole)


def _is_count(token: Token) -> bool:
    return bool(token.value) and (token.unit in _COUNTED or (not token.unit and (token.value or 0) >= _LARGE))


_TWO = 2
_OF_THE_WHOLE = pattern(
    r"(?:占|约|相当于|仅)[^,，。;；%\d]{0,4}(?:总|全部|原|整个|模型)[^,，。;；%\d]{0,10}(?:参数|矩阵|规模|权重)[^,，。;；%\d]{0,4}的?[^,，。;；%\d]{0,4}$"
)
"""Right before a share, what it is of."""
_CHANGES = pattern(
    r"减少|节省|降低|提升|提高|下降|压缩|剪|量化|准确|嵌入|词表|除以|另外|其余|其他|每层|层的|注意力|前馈|FFN|MLP", re.IGNORECASE
)
"""Words by which a share is that of something else than the smaller of the two counts."""
_ADAPTED = pattern(r"每一?个?\s?层|lora|(?<![A-Za-z])r\s?=|低秩|适配", re.IGNORECASE)
"""Words of a sentence by which its counts are all of parts of a model."""
_LEADS = frozenset(
    (
        "parameters",
        "params",
        "weights",
        "参数",
        "i.e",
        "i.e.",
        "e",
        "i",
        ".",
        ",",
        "(",
        "that",
        "is",
        "are",
        "about",
        "or",
        "which",
        "≈",
        "~",
        "roughly",
        "makes",
        "up",
    )
)
"""What may stand between a count and its share."""
_ENDS = frozenset((",", ".", ";", "(", ")", "。", "，"))
_COUNTED = frozenset(("k", "m", "b", "million", "billion", "万", "亿"))
_LARGE = 100_000


def _both_tokens(statement: Sequence[Token], part: int, whole: int) -> tuple[Token, Token] | None:
    a, b = statement[part], statement[whole]
    between = statement[part + 1 : whole]
    plain = all(t.kind == "num" and t.value and t.unit != "%" for t in (a, b)) and a.line == b.line == statement[part + 1].line
    before = statement[part - 1] if part else None
    alone = before is None or before.line != a.line or before.kind not in ("op", "num")
    same = (a.unit in BYTES) == (b.unit in BYTES)
    return (a, b) if plain and alone and same and any(t.text.lower() in _OF for t in between) else None


def _claim(scene: Scene, token: Token, part: Token, whole: Token) -> Claim | None:
    assert token.value is not None
    assert part.value is not None
    assert whole.value is not None
    low, high = value_bounds(part, scales(part)[0])
    least, most = value_bounds(whole, scales(whole)[0])
    right = 100 * part.value * scales(part)[0] / (whole.value * scales(whole)[0])
    step = Fraction(SHARE_STEPS, 10**token.places)
    if least <= 0 or right > 100:
        return None
    close = 100 * low / most - step <= token.value <= 100 * high / least + step
    right = Fraction(round(right * 10 ** (token.places + 1)), 10 ** (token.places + 1))
    reason = because(mark("rounded")) if close else because(mark("should be {right}%"), right=f"{float(right):.{token.places + 1}f}")
    facts = {"value": token.value, "expected": right, "difference": token.value - right, "reason": reason}
    return claim(scene.lines, token, token, "share", "rounded" if close else "wrong", **facts)
