"""A transformer in letters that no name settles: ``4h² + 4h``, ``8h² + 5h``, ``12h² + 13h`` and ``l(12h² + 13h)`` must be of one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.sections import sections
from weighbridge.auditing.thresholds import AGREED_PARTS
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_QUADRATIC = (
    r"(?P<a>\d{1,3})?\s?[*×·]?\s?(?P<n>[lLN])?\s?[*×·]?\s?(?P<x>d_model|[hHdD])\s?\^\s?2(?!\d)"
    r"(?:\s?\+\s?(?P<b>\d{1,3})?\s?[*×·]?\s?(?P=x)(?![\w^]))?"
)
_PLAIN = pattern(rf"(?<![\w.\\^]){_QUADRATIC}(?![\w(^])")
_STACKED = pattern(rf"(?<![\w.\\^])(?P<stack>[lLNn])\s?[*×·]?\s?\(\s?{_QUADRATIC}\s?\)")
"""A formula of one width, alone or so many times."""
_REMARK = pattern(r"[\s$]*\([^()]*[\u4e00-\u9fff]")
"""A remark in words right behind a formula, which does not go on."""
_BOLD = pattern(r"^\*\*(?![\d(A-Za-z])|(?<![\d)A-Za-z])\*\*$")
"""What ends, or begins, words in bold beside a formula, and is no sign of it."""
_AS_LAYER = {"encoder": "layer"}
_GOES_ON = frozenset("+-*/^×·(")
_OPENS = frozenset("+-*/^×·(")
_OTHERWISE = pattern(
    r"flop|浮点|计算量|运算|乘法|显存|内存|字节|bytes?\b|激活|缓存|cache|梯度|优化器|专家|expert|moe|gated?\b|门控|swiglu|lora|gqa|mqa|前向|反向|forward|backward",
    re.IGNORECASE,
)
"""Words of a clause by which a formula is no count of the usual transformer's parameters."""
_CLAUSE = pattern(r"[,，。;；:：|]")
_PARAMETERS = pattern(r"参数|近似|param|approx|≈", re.IGNORECASE)

_USUAL = {"attention": (4, 4), "ffn": (8, 5), "layer": (12, 13)}
"""What the parts of a layer hold, in squares of its width and in widths: with biases and two norms, the feed-forward network four times as wide."""
_WHOLE = (((4, 0), (4, 4)), ((8, 0), (8, 5)), ((12, 0), (12, 4), (12, 5), (12, 9)))
_NORMS = (0, 2, 4)
_SINGLE = frozenset(((1, 0), (1, 1), (2, 0), (2, 2), (3, 0), (3, 3), (4, 1), (16, 0), (16, 16), (16, 4)))
_KNOWN = _SINGLE | {(a, b + norms) for part in _WHOLE for (a, b), norms in product(part, _NORMS)}
"""What a part or a layer holds with biases or without, with two norms, one or none, and what its matrices hold: none of these is a slip."""


class _Said(NamedTuple):
    """A formula: its place, its coefficients, whether it is of all layers, and the words before it and of its clause."""

    line: int
    start: int
    end: int
    a: int
    b: int | None
    stacked: bool
    letter: str
    before: str
    clause: str
    part: str | None
    section: str | None


def check(scene: Scene) -> Iterator[Claim]:
    """Check formulas of a layer's parts, of a layer and of all layers against one another.

    One with two terms is wrong if a single number in it is not the part's that it is said to be, while two other parts are as usual; one of all
    layers is wrong if it is not so many times what the text says of one.
    """
    said = list(_formulas(scene))
    parts = {part for one in said for part, right in _USUAL.items() if (one.a, one.b) == right}
    layers = {(one.a, one.b) for one in said if not one.stacked and (one.a, one.b or 0) in _KNOWN and _is_layer(one)}
    for one in said:
        if one.stacked:
            yield from _of_all(scene, one, layers)
        elif _OTHERWISE.search(one.clause):
            continue
        elif (
            one.part in _USUAL and one.b in (None, _USUAL[one.part][1]) and one.a == _USUAL[one.part][0] and _PARAMETERS.search(one.before)
        ):
            yield _claim(scene, one, (one.a, one.b), None)
        elif one.b is not None and (one.a, one.b) not in _KNOWN:
            part = _part(one)
            plain = part is not None and part == one.part and _PARAMETERS.search(one.before) is not None
            if part is not None and len(parts - {part}) >= AGREED_PARTS - plain:
                yield _claim(scene, one, _USUAL[part], part)


def _is_layer(one: _Said) -> bool:
    return (one.a, one.b) == _USUAL["layer"] or (one.part == "layer" and one.a >= _USUAL["layer"][0])


def _part(one: _Said) -> str | None:
    """Return the part whose formula this is but for one number: the one that it is called, or the only one."""
    alike = [part for part, (a, b) in _USUAL.items() if (one.a == a) != (one.b == b)]
    if one.part in _USUAL:
        return one.part if one.part in alike else None
    return alike[0] if len(alike) == 1 else one.section if one.section in alike else None


def _of_all(scene: Scene, one: _Said, layers: set[tuple[int, int | None]]) -> Iterator[Claim]:
    """Hold a formula of all layers against what the text says of one."""
    kept = {layer for layer in layers if (layer[0], layer[1] if one.b is not None else None) == (one.a, one.b)}
    if kept:
        yield _claim(scene, one, (one.a, one.b), None)
        return
    sizes = {layer for layer in layers if (one.b is None) or layer[1] is not None}
    plain = _PARAMETERS.search(one.before) is not None or one.b is not None
    if len(sizes) != 1 or not plain or _OTHERWISE.search(one.clause) or (one.a, one.b or 0) in _KNOWN:
        return
    a, b = next(iter(sizes))
    if one.b is None or (one.a == a) != (one.b == b):
        yield _claim(scene, one, (a, b if one.b is not None else None), "layer")


def _claim(scene: Scene, one: _Said, right: tuple[int, int | None], part: str | None) -> Claim:
    place = Token("name", "", one.line, one.start, one.end)
    value, expected = _write(one, (one.a, one.b)), _write(one, right)
    if value == expected:
        return claim(scene.lines, place, place, "symbolic", "exact", value=value, expected=expected)
    reason = because(
        mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(part or "", part or "")), right=_write(one, right, alone=True)
    )
    return claim(scene.lines, place, place, "symbolic", "wrong", value=value, expected=expected, reason=reason)


def _write(one: _Said, numbers: tuple[int, int | None], *, alone: bool = False) -> str:
    a, b = numbers
    text = f"{a}*{one.letter}^2" + (f" + {b}*{one.letter}" if b is not None else "")
    return f"L*({text})" if one.stacked and not alone else text


def _formulas(scene: Scene) -> Iterator[_Said]:
    """Yield the formulas of one width that stand whole: no sign goes on from them, but behind those of all layers."""
    about: Sequence[str | None] | None = None
    for index, line in enumerate(scene.lines):
        text = line.text
        if "^" not in text:
            continue
        about = about if about is not None else sections(scene.lines)
        taken: list[tuple[int, int]] = []
        for stacked, form in ((True, _STACKED), (False, _PLAIN)):
            for found in form.finditer(text):
                start, end = found.span()
                ahead, behind = _BOLD.sub("", text[:start].rstrip(" $"))[-1:], _BOLD.sub("", text[end:].lstrip(" $"))[:1]
                cut = ahead in _OPENS - {"+"} if stacked else ahead in _OPENS or behind in _GOES_ON
                cut = cut and not (not stacked and ahead not in _OPENS and _REMARK.match(text, end))
                if cut or (stacked and found["n"]) or any(first <= start < last for first, last in taken):
                    continue
                taken.append((start, end))
                yield _read(text, index, found, about[index], stacked=stacked)


def _read(text: str, line: int, found: re.Match[str], section: str | None, *, stacked: bool) -> _Said:
    start, end = found.span()
    before, after = _CLAUSE.split(text[:start])[-1], _CLAUSE.split(text[end:])[0]
    words = find_components(before)
    part = _AS_LAYER.get(words[-1].subject, words[-1].subject) if words else None
    a, b = int(found["a"] or 1), int(found["b"] or 1) if "+" in found.group() else None
    return _Said(line, start, end, a, b, stacked or found["n"] is not None, found["x"], before, before + after, part, section)
