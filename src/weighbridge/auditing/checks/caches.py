"""Key-value caches that are claimed, for one token or for many: held against ``weigh cache``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.auditing.byte_thresholds import CACHE_FAR, MOST_READINGS
from weighbridge.auditing.checks.amounts import PER_TOKEN, Amount, Figure, hold
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.rounding import significant_digits, whole
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

OF_CACHE = pattern(
    r"k[/ -]?v[- ]?cache|kv 缓存|键值缓存|kv缓存|key.value cache|cache memory|kv ?@|kv ?(?:/|per) ?token|for the cache|of cache|\bkeys and values\b|\bcach(?:es|ing)\b|\bthe cache of\b|memory per token|缓存[^。，]{0,12}k ?(?:和|/|、|与) ?v(?![a-z])",
    re.IGNORECASE,
)
SEVERAL = 3
"""Readings of the lengths of a line, from which on there are two lengths in it: one in thousands has two."""
SHORT = 16
"""Tokens of a cache that no window limits."""
_EVERY = pattern(r"\bMHA\b|multi[- ]head attention", re.IGNORECASE)
_GROUPED = pattern(r"\b[GM]QA\b|grouped|分组|k[/-]?v heads|key[- ]value heads|kv 头", re.IGNORECASE)
_SUPPOSED = pattern(
    r"\bMHA\b|multi[- ]head attention|\bif\b|would|without|instead|compar|versus|\bvs\b|naive|若|如果|假设|没有|不用|相比|原本|代替",
    re.IGNORECASE,
)
"""Words by which a cache is one that the model need not have."""
_LENGTHS = pattern(
    r"(?<![\d.])(\d[\d,]*)\s?(k\b)?(?:[- ]?(?:tokens?|token context|context|ctx|sequence|上下文|长度)|\s?个 ?token)|(?:长度|context|length|seq(?:_len)?|tokens?)[\W为是]{0,4}(\d[\d,]*)(k\b)?(?!\d|\.\d|\s?[KMGT]i?B|\s?[×x*·+/])|"
    r"(?:(?:\bat |\bfor |@ ?)(?=\d[\d,]*k)|(?<![A-Za-z0-9_.])(?=\d[\d,]*k\s?[时下]))(\d[\d,]*)(k)(?![A-Za-z])",
    re.IGNORECASE,
)
_BATCH = pattern(
    r"(?:batch(?:[ _]?size)?|批大小|批次|批量)(?:大小)?[\W为是取]{0,6}(?:of )?(\d{1,4})(?![\w.]*B\b)|(\d{1,4})\s?(?:concurrent |parallel )?(?:requests|sequences|users|条)",
    re.IGNORECASE,
)


def judge(place: Figure, models: Sequence[ModelValue], told: Sequence[Fraction] = (), *, firm: bool) -> Claim | None:
    """Check a cache for one token, or for as many as the words about it say; it is wrong only if no length of its line explains it."""
    found = _judge(place, models, told, firm=firm)
    lengths = _tokens(place.scene.lines[place.token.line].text) if found is not None and found.verdict == "wrong" else []
    if found is None or len(lengths) < SEVERAL or len(lengths) > MOST_READINGS:
        return found
    sizes = [int(told[0])] if len(told) == 1 and told[0] >= 1 else [2, 4, 1]
    other = hold(place, list(_amounts(models, lengths, sizes, every=False)), firm=False)
    return found if other is None or _length_beside(place) else None


def _judge(place: Figure, models: Sequence[ModelValue], told: Sequence[Fraction], *, firm: bool) -> Claim | None:
    """Check a cache of the tokens that the words nearest to a figure say; in 16, 32 or 8 bits, or as is told."""
    sizes = [int(told[0])] if len(told) == 1 and told[0] >= 1 else [2, 4, 1]
    each = PER_TOKEN.search(place.near) is not None
    times = _length_beside(place) or _tokens(place.text)
    lengths = [Exact(1)] if each else times
    spans = [*lengths, *times] if each else lengths  # ``per token`` may be said of another figure beside it
    own = list(_amounts(models, spans, sizes, every=_EVERY.search(_clause(place)) is not None))
    every = [] if _GROUPED.search(place.text) and not _SUPPOSED.search(place.text) else list(_amounts(models, spans, sizes, every=True))
    if len(own) + len(every) > MOST_READINGS:
        return None
    if _ONE_LAYER.search(place.sentence):
        return hold(place, [*own, *_of_one_layer(models, own)], firm=False)
    if told and spans and _HEDGED.search(place.text) is None:
        place = place._replace(far=CACHE_FAR[min(significant_digits(place.token), len(CACHE_FAR)) - 1])
    firm = firm and not (_BATCHED.search(place.text) and not _BATCH.search(place.text))
    found = hold(place, own, firm=False) or hold(place, every, firm=False)
    if found is None or (firm and spans and found.expected not in {amount.number for amount in own} and not _SUPPOSED.search(place.text)):
        return (
            hold(place, [*own, *every], firm=firm and (each or bool(_tokens(place.sentence))))
            if found is None
            else _every_head(place, found, own)
        )
    return found


_HEDGED = pattern(
    r"\b(?:up to|at (?:least|most)|over|under|below|above|beyond|nearly|almost|less than|more than|exceed\w*|around|overhead|reserv\w*|alloc\w*|to)\b[^\d]{0,8}(?=\d)|超过|至少|至多|最多|不到|近(?=\d)|以上|以下|多(?=[KMG])",
    re.IGNORECASE,
)
"""Words that make a figure a bound, or that of an engine which sets more aside."""
_ONE_LAYER = pattern(r"(?:per|each|every|one|single|a) layer\b|每一?层|单层|一层", re.IGNORECASE)


def _of_one_layer(models: Sequence[ModelValue], whole: Sequence[Amount]) -> Iterator[Amount]:
    for model in models[:1]:
        sizes = model.description.sizes if model.description is not None else None
        layers = getattr(sizes, "layers", None)
        if isinstance(layers, int) and layers:
            yield from (amount._replace(number=Exact(amount.number) / layers) for amount in whole)


_SEVERAL = r"(?:two|three|four|eight|ten|sixteen|several|many)"
_BATCHED = pattern(rf"\b{_SEVERAL} (?:requests|sequences|users|prompts)|\bbatch(?: size)? (?:of )?{_SEVERAL}\b|两条|多条", re.IGNORECASE)
"""More than one sequence, where no figure need say how many: ``4 GB for a batch of two``."""


def _clause(place: Figure) -> str:
    """Return the words between commas about a figure: ``320 KB, with MHA it would be 2.5 MB`` says MHA of the second alone."""
    line, token = place.scene.lines[place.token.line].text, place.token
    return _COMMA.split(line[: token.start])[-1] + _COMMA.split(line[token.end :])[0]


_COMMA = pattern(r"[,，;；。|]|\.(?!\d)|\bwhile\b|\bwhereas\b|\bagainst\b|而")


def _length_beside(place: Figure) -> list[Fraction]:
    """Return the length that a figure of a list is of, where each has its own: ``4K tokens 0.5 GB 32K tokens 4 GB``."""
    line = place.scene.lines[place.token.line].text
    lengths, figures = list(_LENGTHS.finditer(line)), [match.start() for match in _BYTES.finditer(line)]
    paired = len(lengths) > 1 and len(lengths) == len(figures) and place.token.start in figures
    return _numbers_of(lengths[figures.index(place.token.start)]) if paired else []


_BYTES = pattern(r"(?<![A-Za-z0-9_.])\d[\d,.]*\s?[KMGT]i?B(?![A-Za-z0-9_])", re.IGNORECASE)


def _every_head(place: Figure, found: Claim, own: Sequence[Amount]) -> Claim:
    """Say that a cache is counted as if every head had its own keys, which the model's have not."""
    right = own[0]
    reason = because(mark("counted as if every head had its own keys and values")) + right.reason
    number = found.value if isinstance(found.value, (int, Fraction)) else right.number
    return found._replace(
        verdict="wrong", expected=whole(Exact(right.number)), difference=whole(Exact(number - right.number)), reason=reason
    )


def _amounts(models: Sequence[ModelValue], lengths: Sequence[Fraction], sizes: Sequence[int], *, every: bool) -> Iterator[Amount]:
    for model in models:
        elements = _per_token(model)[every]
        for length in lengths if elements else ():
            for size in sizes:
                number = elements * size * length
                yield Amount(
                    number, mark("keys and values of every layer: {bytes} bytes, {size} for each element"), {"bytes": number, "size": size}
                )


def _numbers_of(length: re.Match[str]) -> list[Fraction]:
    """Return what a length may be: one in thousands may be in powers of two."""
    number = Exact((length[1] or length[3] or length[5]).replace(",", "") or 0)
    return [number * 1000, number * 1024] if length[2] or length[4] or length[6] else [number]


def _tokens(text: str) -> list[Fraction]:
    """Return how many tokens a cache may be of, by the lengths and the batches that a text says."""
    lengths = [number for match in _LENGTHS.finditer(text) for number in _numbers_of(match)]
    batches = [Exact(match[1] or match[2]) for match in _BATCH.finditer(text)]
    return [length * batch for length in lengths if length for batch in (*batches, Exact(1)) if batch][:12]


def elements_per_token(model: ModelValue) -> int:
    """Return the elements that a token leaves in a model's cache.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> elements_per_token(preset_model("llama-3-8b"))
    65536
    """
    return _per_token(model)[False]


def elements_if_ungrouped(model: ModelValue) -> int:
    """Return the elements that a token would leave if every head had keys and values of its own."""
    return _per_token(model)[True]


@lru_cache(maxsize=256)
def _per_token(model: ModelValue) -> tuple[int, int]:
    """Return the elements that a token leaves in the cache: as it is, and if every head had its own keys."""
    sizes = model.description.sizes if model.description is not None else None
    try:
        own = cache_of(model, Inputs(batch=1, seq=SHORT)).per_token // 2
    except (WeighbridgeError, AssertionError, TypeError):
        return 0, 0
    heads, keys = getattr(sizes, "heads", None), getattr(sizes, "kv_heads", None)
    plain = isinstance(heads, int) and isinstance(keys, int) and keys and not getattr(sizes, "kv_lora", None)
    return own, own // keys * heads if plain else own  # type: ignore[operator]
