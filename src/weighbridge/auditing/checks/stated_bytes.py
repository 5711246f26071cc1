"""Bytes whose every condition a Chinese passage says: layers, heads, widths and bytes of a cache; a count and the bytes of each parameter; a step that goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import EXACT_PRODUCT_FAR, MEMORY_TOLERANCE, NOMINAL_FAR, PRODUCT_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.field_words import read_fields
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_FIGURE = r"(?P<figure>(?<![A-Za-z0-9_.])\d+(?:\.\d+)?\s?[KMGT]i?B)(?![A-Za-z0-9_])(?!\s?/\s?s)"
_PER_TOKEN = pattern(
    rf"(?:每一?个?|单个?|一个)\s?(?:token|词元|令牌)(?:(?!token|词元|令牌)[^。;；|]){{0,72}}?(?:[=≈约为是要用即需占]|\s)\s?{_FIGURE}",
    re.IGNORECASE,
)
"""What one token's keys and values take."""
_OF_TOKENS = pattern(
    rf"(?<![\d.A-Za-z])(?<!\d,)(?P<many>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>[Kk万]|百万)?\s?个?\s?(?:token|词元|令牌)s?(?:的上下文|的序列|长度)?\s?(?:时|则|就|总共|一共|共|需要?|要|占用?|大约|约为?|为|[=≈~约,，]|\s){{1,5}}{_FIGURE}",
    re.IGNORECASE,
)
"""What many take."""
_MANY = {"": 1, "k": 1000, "万": 10_000, "百万": 1_000_000}
_EACH = pattern(r"(?<![\d.])(?P<each>\d{1,2}(?:\.\d)?)\s?(?:个)?(?:字节|bytes?)(?:\s?/\s?(?:元素|个|param\w*|参数))?", re.IGNORECASE)
_CACHE = pattern(r"kv|key.{0,12}value|键值|缓存", re.IGNORECASE)
_OTHERWISE = pattern(
    r"mla|潜在|压缩|量化|窗口|滑动|线性注意力|共享|跨层|每一?层(?!都)|单层|per layer|节省|减少|降低|而不是|若|如果|假如", re.IGNORECASE
)
_IN_LAYER = pattern(r"每一?层|/\s?层|单层|一层|per layer", re.IGNORECASE)
_MORE = pattern(r"\d\s?层|batch|批|并发|请求|用户|会话|路|条|量化|int ?[48]|fp8|压缩|窗口|训练", re.IGNORECASE)
"""Beside a number of tokens, what makes its bytes others: several sequences, layers, another dtype."""
_BESIDE = 24
_GOES_ON = pattern(
    rf"\s*[×*x]\s?(?:[A-Za-z_]+\s?=\s?)?(?P<times>\d{{1,4}})\s?(?:层|个|条|份|layers?|次)?\s?[=≈]\s?约?{_FIGURE}", re.IGNORECASE
)
_RESULT_ABOVE = pattern(rf"[=≈]\s?约?{_FIGURE}\s*(?:[(（][^()（）]*[)）])?\s*$", re.IGNORECASE)
_COUNT = r"(?P<count>\d+(?:\.\d+)?)\s?(?P<scale>B(?![A-Za-z])|亿)"
_TRAINED = pattern(
    rf"(?<![\w.-]){_COUNT}\s?(?:个?参数)?的?(?:大?模型|参数)[^。;；]{{0,60}}?每一?个?参数(?:大?约|都|要|需要?|占用?|用|为|是|共|\s){{0,4}}(?P<each>\d{{1,2}}(?:\.\d)?)\s?个?(?:字节|bytes?)[^。;；\d]{{0,24}}{_FIGURE}",
    re.IGNORECASE,
)
"""A model that its count names, the bytes of each parameter, and what that comes to."""
_ROW = pattern(
    rf"(?:Φ|Ψ|参数量|模型参数|(?<![A-Za-z])[NP])\s?[×*x]\s?(?P<each>\d{{1,2}}(?:\.\d)?)(?!\d)[^|]{{0,24}}\|[^|]{{0,12}}?{_COUNT}\s?(?:个?参数)?的?模型\s?(?:⇒|→|=>|->|=|[:：]|需要?|约)\s?约?{_FIGURE}",
    re.IGNORECASE,
)
"""A row of a table: so many bytes for each parameter, and what that is for one model."""
_SCALES = {"b": 10**9, "亿": 10**8}
_REACH = 6
_LONGEST = 2_000


def check(scene: Scene) -> Iterator[Claim]:
    """Check the bytes that follow from what the same passage says."""
    each: tuple[int, Fraction] | None = None
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST or "B" not in text:
            continue
        for found in (*_TRAINED.finditer(text), *_ROW.finditer(text)):
            yield from _hold(
                scene, index, found, Fraction(found["count"]) * _SCALES[found["scale"].lower()] * Fraction(found["each"]), NOMINAL_FAR
            )
        yield from _step(scene, index)
        found_each = _PER_TOKEN.search(text)
        if found_each is not None:
            right = _of_geometry(scene, index, found_each)
            if right is not None:
                yield from _hold(scene, index, found_each, right, PRODUCT_FAR, slips=True)
            said = _bytes(found_each["figure"])
            settled = right is not None or _is_product(scene, index)
            each = (index, said if right is None else right) if settled and not _IN_LAYER.search(text) else None
        if each is None or index - each[0] > _REACH or _is_apart(scene, each[0], index):
            continue
        for found in _OF_TOKENS.finditer(text):
            if _MORE.search(text, max(0, found.start() - _BESIDE), found.end()):
                continue
            many = Fraction(found["many"].replace(",", "")) * _MANY[(found["scale"] or "").lower()]
            if many > 1:
                yield from _hold(scene, index, found, many * each[1], PRODUCT_FAR)


def _is_apart(scene: Scene, first: int, last: int) -> bool:
    """Tell whether a heading stands between two lines, behind which other conditions hold."""
    return any(scene.lines[line].heading for line in range(first + 1, last + 1))


def _is_product(scene: Scene, index: int) -> bool:
    """Tell whether a line works the bytes of a token out itself, which other checks hold."""
    return re.search(r"\d\s?\S{0,8}\s?[×*x]\s?\d[^=≈]*[=≈]", scene.lines[index].text) is not None


def _of_geometry(scene: Scene, index: int, found: re.Match[str]) -> Fraction | None:
    """Return the bytes of one token's keys and values by the sizes that the passage says, each of which it must say once."""
    first = index
    while first > 0 and index - first < _REACH and scene.lines[first - 1].text.strip() and not scene.lines[first].heading:
        first -= 1
    passage = " ".join(scene.lines[line].text for line in range(first, index)) + " " + scene.lines[index].text[: found.start("figure")]
    if not _CACHE.search(passage + found[0]) or _OTHERWISE.search(passage):
        return None
    sizes = _sizes(passage)
    each = {Fraction(one["each"]) for one in _EACH.finditer(passage)} or set(dtype_sizes(passage))
    if len(each) != 1 or any(len(values) > 1 for values in sizes.values()) or "layers" not in sizes:
        return None
    heads = sizes.get("kv_heads") or sizes.get("heads")
    wide = sizes.get("head_dim")
    if not heads or not wide:
        return None
    return Fraction(2 * min(sizes["layers"]) * min(heads) * min(wide)) * each.pop()


def _sizes(passage: str) -> Mapping[str, set[int]]:
    sizes: dict[str, set[int]] = {}
    said = [(one.word, one.value) for one in find_described_sizes(passage)] + [(one.word, one.value) for one in read_fields(passage)]
    for word, value in said:
        if word in ("layers", "heads", "kv_heads", "head_dim"):
            sizes.setdefault(word, set()).add(value)
    for match in _HEAD_WIDTH.finditer(passage):
        sizes.setdefault("head_dim", set()).add(int(match[1] or match[2]))
    return sizes


_HEAD_WIDTH = pattern(r"(?:每个?头|头维度?|head_dim|d_head)\s?(?:为|是|有|=|:)?\s?(\d{2,3})(?!\d)|每个?头\s?(\d{2,3})\s?维", re.IGNORECASE)


def _step(scene: Scene, index: int) -> Iterator[Claim]:
    """Check a line that goes on with the result of the one above: ``× 12 层 = 2.88 GB``."""
    found = _GOES_ON.match(scene.lines[index].text)
    above = next((scene.lines[line].text for line in range(index - 1, max(-1, index - 3), -1) if scene.lines[line].text.strip()), "")
    result = _RESULT_ABOVE.search(above)
    if found is not None and result is not None:
        yield from _hold(scene, index, found, _bytes(result["figure"]) * int(found["times"]), EXACT_PRODUCT_FAR)


def _bytes(figure: str) -> Fraction:
    token = next(iter(tokens(figure, 0)))
    return likeliest_value(token) or Fraction(0)


def _hold(scene: Scene, index: int, found: re.Match[str], right: Fraction, far: Fraction, *, slips: bool = False) -> Iterator[Claim]:
    token = next(iter(tokens(found["figure"], index)), None)
    if token is None or token.kind != "num" or not token.value or not right or token.unit not in UNITS:
        return
    token = Token(token.kind, token.text, index, *found.span("figure"), token.value, token.unit, token.places)
    mine = likeliest_value(token) or Fraction(0)
    said = [token.value * scale for scale in UNITS[token.unit]]  # type: ignore[operator]
    step = Fraction(1, 2 * 10**token.places)
    near = any(abs(one - right) <= max(MEMORY_TOLERANCE * right, step * scale) for one, scale in zip(said, UNITS[token.unit], strict=True))
    facts = {"value": whole(mine), "expected": whole(right), "difference": whole(mine - right)}
    if near:
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif all(one > right * far or one * far < right for one in said) and (
        not slips or _is_mistyped(token, right) or significant_digits(token) > 1
    ):
        direction = should_be(is_higher=mine > right)
        base = 1024 if right % 1024 == 0 else 1000
        reason = because(direction, right=write_bytes(token, right, base), number=write_bytes(token, abs(mine - right), base))
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)


def _is_mistyped(token: Token, right: Fraction) -> bool:
    """Tell whether a figure is the right one but for a slip of the keys, in one unit or the other."""
    written = (re.sub(r"\D", "", str(write_bytes(token, right, base))) for base in (1000, 1024))
    return any(is_slip(re.sub(r"\D", "", token.text), one) for one in written)
