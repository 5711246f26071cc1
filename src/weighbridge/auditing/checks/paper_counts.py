"""The totals that a text gives the two models of the Transformer's paper: those of its Table 3, or what its sizes give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.paper_lines import subjects_of_line
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, significant_digits
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.text.transformer_paper import (
    BASE,
    BIG,
    PUBLISHED,
    label_before,
    paper_sentence,
    speaks_of_paper,
    speaks_otherwise,
)
from weighbridge.core.messages import mark


def check_totals(scene: Scene, line: int) -> Iterator[Claim]:
    """Check the totals of the two models that a line gives."""
    text, setters = scene.texts[line], subjects_of_line(scene, line)
    for token in tokens(text, line):
        if token.kind != "num" or not token.unit or not is_count(token):
            continue
        start, stop = paper_sentence(text, token.start)
        own = [paper for place, paper in setters if place <= token.start]
        label = label_before(text, start, token.start)
        if (own and not own[-1]) or speaks_otherwise(text[start:stop]) or not (label or speaks_of_paper(text[start : token.start])):
            continue
        clause = start + max(map(text[start : token.start].rfind, _COMMAS)) + 1
        counted = _PARAMETERS.search(text) is not None or _REPORTS.search(text, start, token.start) is not None
        if not counted or _OF_A_PART.search(text, clause, token.start):
            continue
        yield from _total(scene, token, label)


_PARAMETERS = pattern(r"参数|param", re.IGNORECASE)
_REPORTS = pattern(
    r"论文\w{0,4}(?:写|给|说|报告|公布)\w{0,3}\W*(?:约为?)?\W*$|paper\W+(?:reports|gives|states|says|lists)\W+(?:about )?$", re.IGNORECASE
)
_COMMAS = ",，、;；:："
_OF_A_PART = pattern(
    r"编码器|解码器|嵌入|注意力|前馈|每|一层|encoder|decoder|embedding|attention|feed|ffn|\bper |\beach\b|layer(?!s? in)|[×x*+=]",
    re.IGNORECASE,
)


def _total(scene: Scene, token: Token, label: str) -> Iterator[Claim]:
    """Hold a total against the published ones, and those that the paper's sizes give with its vocabularies."""
    number = likeliest_value(token)
    assert number is not None
    sizes = [label] if label else list(PUBLISHED)
    nearest = min((PUBLISHED[size] for size in sizes), key=lambda count: abs(count - number))
    if any(fit(token, PUBLISHED[size]) is not None for size in sizes):
        yield total_claim(scene, token, "rounded", Fraction(nearest), because(mark("the figure of the paper's Table 3")))
    elif not any(is_computed(number, size) for size in sizes) and not _is_near(token, nearest) and nearest / 3 < number < nearest * 3:
        yield total_claim(scene, token, "wrong", Fraction(nearest), because(mark("the paper's Table 3 gives {right}"), right=nearest))


def _is_near(token: Token, count: int) -> bool:
    """Tell whether a figure of two digits is what people make of the published one: ``64M``, which tables and biases counted otherwise may give."""
    number = likeliest_value(token)
    return significant_digits(token) < _EXACT and number is not None and abs(number - count) * _NEAR <= count


_EXACT, _NEAR = 3, 33


def is_computed(number: Fraction, size: str) -> bool:
    """Tell whether a number is near what the sizes give with one, two or three tables of the paper's vocabularies, or none."""
    row = BASE if size == "base" else BIG
    hidden, mlp = row["hidden"], row["mlp"]
    layers = row["layers"] * (12 * hidden**2 + 4 * hidden * mlp)  # one attention in the encoder's layers, two in the decoder's
    counts = [layers + times * vocab * hidden for times in (0, 1, 2, 3) for vocab in (32_000, 37_000)]
    return any(abs(number - count) * 250 <= count for count in counts)
