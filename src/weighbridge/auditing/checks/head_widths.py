"""How wide a head is said to be, where a text says how wide its model is and how many heads it has: ``512 / 8 = 64`` needs no model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.own_models import rows_by_line, sizes_on_line
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.own_sizes import placed_sizes

_WIDTH = pattern(
    r"(?:每个?(?:注意力)?头|各头|单头)(?:的?(?:维度|维数|大小|宽度))?(?:就?只[有剩]|分[到得]|负责|处理|就?[是为]|有|得到|变[为成]|[:：=])\s?(?P<first>\d{1,4})(?![\d.,]*\d|\s?[×x*/+^万亿]|\s?个?参数)"
    r"|\b(?:each|every|per|a) (?:attention )?head (?:gets|has|is|works in|works with|operates on|sees|receives|attends in|then has|therefore has|has size|has width|has dimension|is of size)(?: only| just| then| size| dimension| width| a (?:size|width|dimension) of)? (?P<second>\d{1,4})(?![\d.,]*\d|\s?[×x*/+^]|[KMB]\b| param)"
    r"|\bheads (?:are|is|have|of) (?:only |just |each )?(?P<third>\d{1,4})(?= (?:wide|dimensions)|[- ]dim)|\bhead (?:size|dim(?:ension)?|width) (?:is|of|=|becomes) (?P<fourth>\d{1,4})(?![\d.,]*\d|\s?[×x*/+^])"
    r"|\b(?:head_dim|d_k|d_head|head_size)\s?=\s?[A-Za-z_.]+\s?//?\s?[A-Za-z_.]+\s*(?:#|//)\s*(?:=\s?)?(?P<fifth>\d{1,4})(?![\d.,]*\d|\s?[×x*/+^])",
    re.IGNORECASE,
)
_FOLLOWS = pattern(r"所以|因此|于是|即|则|得|//?|÷|\b(?:so|hence|thus|therefore|then|gives?|which is|since)\b", re.IGNORECASE)
"""Words and signs of a sentence in which the width of a head follows from the other two."""
_MOST = 6
_SET = 16
"""A model that sets the width of its heads apart from its own takes a multiple of this."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check what a head is said to be wide where no model is known: it is one of the quotients that the text allows, or one digit from one."""
    if scene.given or (scene.main is not None and scene.main.named):
        return
    rows = rows_by_line(scene)
    said = {(word, value) for line in scene.counted_lines for word, value, *_ in sizes_on_line(scene, line, rows)}
    widths, counts = ({value for found, value in said if found == word} for word in ("hidden", "heads"))
    if not (0 < len(widths) <= _MOST and 0 < len(counts) <= _MOST):
        return
    allowed = {hidden // heads for hidden in widths for heads in counts if hidden % heads == 0}
    for line in scene.counted_lines:
        text = scene.texts[line]
        for start, end in _places(text):
            if any(m.names and m.column < start for m in scene.mentions.get(line, ())):
                continue
            yield from _claims(scene, Token("num", text[start:end], line, start, end), allowed)


def _places(text: str) -> Sequence[tuple[int, int]]:
    """Return where a line says the width of a head."""
    found = (
        {start: end for word, _, start, end in placed_sizes(text) if word == "head_dim"}
        if "head" in text or "头" in text or "d_" in text
        else {}
    )
    for one in _WIDTH.finditer(text):
        start, end = one.span(one.lastgroup or 0)
        found.setdefault(start, end)
    return sorted(found.items())


def _claims(scene: Scene, token: Token, allowed: set[int]) -> Iterator[Claim]:
    value, text = int(token.text.replace(",", "")), scene.texts[token.line]
    start, stop = sentence_of(text, token.start)
    near = [right for right in allowed if len(str(right)) == len(str(value)) and is_slip(str(value), str(right))]
    if value in allowed:
        yield field_claim(scene, token, "head_dim", value, value, "exact")
    elif near and (value % _SET or _FOLLOWS.search(text, start, stop)):
        yield field_claim(scene, token, "head_dim", value, min(near, key=lambda right: abs(right - value)), "wrong")
