"""Bytes that are claimed: of weights by dtype, of training states, of a key-value cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from weighbridge.auditing.checks.context import Scene, claim
from weighbridge.auditing.checks.settle import own_count
from weighbridge.auditing.checks.totals import subject_of
from weighbridge.auditing.claims import Claim, Reason, said
from weighbridge.auditing.text.rounding import as_written, printed, whole
from weighbridge.auditing.text.size_words import BYTES, UNITS
from weighbridge.auditing.text.tokens import Token
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_DTYPES = (
    (Fraction(2), re.compile(r"\b(?:fp16|bf16|float16|bfloat16|half|16[- ]?bit|f16)|半精度|16 ?位", re.IGNORECASE)),
    (Fraction(4), re.compile(r"\b(?:fp32|float32|full precision|32[- ]?bit|f32|single precision)|单精度|全精度|32 ?位", re.IGNORECASE)),
    (Fraction(1), re.compile(r"\b(?:int8|fp8|8[- ]?bit|q8)|8 ?位", re.IGNORECASE)),
    (Fraction(1, 2), re.compile(r"\b(?:int4|fp4|nf4|4[- ]?bit|q4)|4 ?位", re.IGNORECASE)),
)  # fmt: skip
"""Bytes for each parameter, by the words of a dtype."""
_WEIGHTS = re.compile(r"weights?|parameters?|model|load|store|checkpoint|权重|参数|模型|加载|显存|占用", re.IGNORECASE)
_CACHE = re.compile(
    r"k[/ -]?v[- ]?cache|kv 缓存|键值缓存|kv缓存|key.value cache|cache memory|for the cache|of cache|memory per token", re.IGNORECASE
)
PER_TOKEN = re.compile(
    r"per[- ]token|each (?:additional )?token|every token|one token|a token|single token|每个? ?token|一个 ?token|单个 ?token|/ ?token",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"train|optimi[sz]er|gradient|activation|adam|total of|at least|minimum|recommend|require|need(?:s|ed)? (?:at|about)|gpu|训练|优化器|梯度|激活|至少|推荐|以上|vram|lora|batch",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?([KMBT]|billion|亿|万|[×*x] ?10\^\(?9\)?|e9)(?!\w)", re.IGNORECASE)
TOLERANCE = Fraction(1, 20)
"""How far a memory figure may be from the count times its bytes: ``14 GB`` of a 7B model that has 6.74 billion is fair."""
FAR = Fraction(3, 2)
"""How far it must be off, either way, before it is wrong: overheads and padded files make smaller differences."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check every figure in bytes that is said of a model's weights in a dtype, or of its cache for one token."""
    for statement in scene.statements:
        for index, token in enumerate(statement):
            if token.kind == "num" and token.unit in BYTES and _is_amount_of_memory(token) and not _in_equation(scene, statement, index):
                judged = _judged(scene, token)
                if judged is not None:
                    yield judged


def _is_amount_of_memory(token: Token) -> bool:
    """Tell a memory figure from the bytes of one number: ``each parameter takes 2 bytes``."""
    return token.value is not None and token.value > 0 and (token.unit not in ("byte", "bytes", "字节") or token.value >= 10_000)


def _in_equation(scene: Scene, statement: Sequence[Token], index: int) -> bool:
    return any(chain.sides[0].start <= index < chain.end and len(chain.sides) > 1 for chain in scene.chains_of(statement))


def _judged(scene: Scene, token: Token) -> Claim | None:
    text = scene.lines[token.line].text
    first = max(0, token.start - SENTENCE)
    start = max((m.end() for m in re.finditer(r"[。;；!?|]|\.(?!\d)", text[first : token.start])), default=0) + first
    sentence = text[start : token.end + 40]
    around = _around(scene, token.line)
    subject = subject_of(scene, token, start, len(text))
    named = [m for m in scene.mentions.get(token.line, ()) if start <= m.column]
    sure = subject is not None and (subject.firm or (len(named) == 1 and named[0].kind == MODEL))
    models = subject.models if subject is not None else ()
    table = next((table for table in scene.tables if token.line in table.lines), None)
    if table is not None and not named:
        models, sure = (), False  # a row without a known name is about something else than the text
    of_cache, of_weights = ([m.start() for m in pattern.finditer(text[start : token.end + 16])] for pattern in (_CACHE, _STORED))
    if (of_cache and max(of_cache) > max(of_weights, default=-1)) or (_CACHE.search(around) and not _WEIGHTS.search(sentence)):
        near = text[max(start, token.start - NEAR) : token.end + NEAR // 2]
        whole = "" if PER_TOKEN.search(near) else text[first : token.end + 40]
        return _cache(scene, token, models, sentence, whole, firm=sure)
    if _DEVICE.match(text, token.end):
        return None  # ``a 24 GB GPU`` holds so much, and the model need not
    sizes = [size for size, pattern in _DTYPES if pattern.search(sentence)]
    told = sizes or [size for size, pattern in _DTYPES if pattern.search(around)]
    if (len(told) > 1 or not _WEIGHTS.search(f"{around} {sentence}")) and not _trained(sentence) and table is None:
        return None
    row = text[: token.start] if table is not None else text[first : token.start]
    counts = [Fraction(count) for model in models if (count := own_count(model)) is not None] + [_amount(m) for m in _SIZE.finditer(row)]
    usual = told or ([Fraction(2), Fraction(4)] if _OF_WEIGHTS.search(sentence) else [])
    usual = usual or _trained(sentence) or ([Fraction(4), Fraction(2), Fraction(1), Fraction(1, 2)] if table is not None else [])
    return _held(
        scene,
        token,
        [count * size for size in usual for count in counts],
        firm=sure and len(sizes) == 1 and not _ELSE.search(sentence) and not _others(scene, token.line, text),
        reason=said(mark("{count} parameters of {size} bytes"), count=counts[0], size=usual[0]) if counts and usual else (),
    )


_STATES = (
    (re.compile(r"gradients?|梯度", re.IGNORECASE), (2, 4)),
    (re.compile(r"optimi[sz]er|adam|优化器|动量|momentum", re.IGNORECASE), (12, 8, 4, 2)),
    (re.compile(r"total|training|训练|合计|共", re.IGNORECASE), (16, 18, 20, 12, 8)),
)
"""Bytes for each parameter that training keeps: gradients and Adam's states in mixed and in full precision, and all of them."""


def _trained(sentence: str) -> list[Fraction]:
    """Return the bytes for each parameter of the state that the words nearest to a figure name."""
    last = [(match.start(), sizes) for pattern, sizes in _STATES for match in pattern.finditer(sentence)]
    return [Fraction(size) for size in max(last)[1]] if last else []


_DEVICE = re.compile(r"\W{0,3}(?:gpu|显卡|[ah]\d{2,3}\b|cards?\b|rtx)", re.IGNORECASE)
SENTENCE = 300
"""Characters before a figure that may say what it is of."""
ABOVE = 4
"""Lines above a table or a line within which a label or a heading may say the dtype of what stands there."""
_STORED = re.compile(r"weights?\b|权重", re.IGNORECASE)
_OF_WEIGHTS = re.compile(r"weights?\b|权重|model (?:size|itself|takes|needs)", re.IGNORECASE)


NEAR = 48
"""Characters before a figure, and twice as many as behind it, within which ``per token`` is said of it."""


def _others(scene: Scene, line: int, text: str) -> bool:
    """Tell whether sizes stand in a line that are no part of a model's name: the figure may be of any of them."""
    named = scene.mentions.get(line, ())
    return any(not any(m.column <= match.start() < m.end for m in named) for match in _SIZE.finditer(text))


def _around(scene: Scene, line: int) -> str:
    """Return the words that are said of a whole table or list: its head, and the label above it."""
    table = next((table for table in scene.tables if line in table.lines), None)
    first = min(table.lines) if table is not None else line
    head = " ".join(cell.text for row in table.head for cell in row.cells) if table is not None else ""
    above = (scene.lines[index] for index in range(first - 1, max(-1, first - 1 - ABOVE), -1))
    label = next((one.text for one in above if one.heading or one.text.rstrip("* ").endswith(":")), "")
    return f"{head} {label}"


def _amount(match: re.Match[str]) -> Fraction:
    scale = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12, "billion": 10**9, "亿": 10**8, "万": 10**4}.get(match[2].lower(), 10**9)
    return Fraction(match[1]) * scale


def _cache(scene: Scene, token: Token, models: Sequence[ModelValue], sentence: str, whole: str, *, firm: bool) -> Claim | None:
    """Check a cache for one token, or for as many as *whole* says: keys and values of every layer, in 16, 32 or 8 bits."""
    times = [Fraction(1)] if not whole else _tokens(whole)
    amounts = []
    for model in models:
        own, every = (*_cached(model), 0, 0)[:2]
        chosen = (every,) if _EVERY.search(sentence) else (own,) if _GROUPED.search(sentence) else (own, every)
        amounts += [Fraction(elements * size) * often for often in times for size in (2, 4, 1) for elements in chosen if elements]
    amounts = amounts if len(amounts) <= MOST else []
    reason = said(mark("keys and values of every layer: {bytes} bytes in 16 bits"), bytes=amounts[0] if amounts else 0)
    return _held(scene, token, amounts, firm=firm, reason=reason)


MOST = 200
"""Readings of one figure that are tried; a sentence with more lengths in it says none."""
_EVERY = re.compile(r"\bMHA\b|multi[- ]head attention", re.IGNORECASE)
_GROUPED = re.compile(r"\b[GM]QA\b|grouped|分组", re.IGNORECASE)
_LENGTHS = re.compile(
    r"(?<![\d.])(\d[\d,]*)\s?(k\b)?(?:[- ]?(?:tokens?|token context|context|ctx|sequence|上下文|长度)|\s?个 ?token)|(?:长度|context|length|seq(?:_len)?|tokens?)\W{0,4}(\d[\d,]*)(k\b)?",
    re.IGNORECASE,
)
_BATCH = re.compile(
    r"(?:batch(?: size)?|批大小|批次)\W{0,6}(?:of )?(\d{1,4})\b|(\d{1,4})\s?(?:concurrent |parallel )?(?:requests|sequences|users|条)",
    re.IGNORECASE,
)


def _tokens(text: str) -> list[Fraction]:
    """Return how many tokens a cache may be of, by the lengths and the batches that a text says."""
    lengths = []
    for match in _LENGTHS.finditer(text):
        number = Fraction((match[1] or match[3]).replace(",", "") or 0)
        lengths += [number * 1000, number * 1024] if match[2] or match[4] else [number]
    batches = [Fraction(match[1] or match[2]) for match in _BATCH.finditer(text)]
    return [length * batch for length in lengths if length for batch in (Fraction(1), *batches) if batch][:12]


def _cached(model: ModelValue) -> tuple[int, ...]:
    """Return the elements that a token leaves in the cache of a plain attention model: as it is, and if every head had its own keys."""
    sizes = model.description.sizes if model.description is not None else None
    layers, heads, hidden = (getattr(sizes, word, None) for word in ("layers", "heads", "hidden"))
    keys, width = getattr(sizes, "kv_heads", None) or heads, getattr(sizes, "head_dim", None)
    if getattr(sizes, "kv_lora", None) or not all(isinstance(n, int) and n for n in (layers, heads, hidden, keys)):
        return ()
    width = width if isinstance(width, int) and width else hidden // heads  # type: ignore[operator]
    return 2 * layers * keys * width, 2 * layers * heads * width  # type: ignore[operator]


def _held(scene: Scene, token: Token, amounts: Sequence[Fraction], *, firm: bool, reason: Reason) -> Claim | None:
    mine = printed(token)
    if not amounts or mine is None or token.value is None:
        return None
    said_bytes = [token.value * scale for scale in UNITS[token.unit]]
    for amount in amounts:
        if any(abs(number - amount) <= TOLERANCE * amount for number in said_bytes):
            return _claim(scene, token, "rounded", amount, reason)
    if firm and all(number > amount * FAR or number * FAR < amount for amount in amounts for number in said_bytes):
        right = amounts[0]
        direction = mark("should be {right} ({number} too high)") if mine > right else mark("should be {right} ({number} too low)")
        return _claim(
            scene,
            token,
            "wrong",
            right,
            said(direction, right=as_written(token, right), number=as_written(token, abs(mine - right))) + reason,
        )
    return None


def _claim(scene: Scene, token: Token, verdict: str, true: Fraction, reason: Reason) -> Claim:
    number = printed(token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(true), "difference": whole(number - true), "reason": reason}
    return claim(scene.lines, token, token, "total", verdict, **facts)
