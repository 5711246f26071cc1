"""Matrices whose sizes and whose weights are both said: ``a 768 × 768 matrix with 589,824 weights``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.rounding import fit, likeliest_value, whole
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_PRODUCT = pattern(r"[\d,] ?[×xX*] ?\d")
"""What every such matrix has: two sizes multiplied."""
_SAID = pattern(
    r"(?<![\d.,×*x] )(?<![A-Za-z0-9_.,×*^])(?P<rows>\d[\d,]*) ?[×x*] ?(?P<columns>\d[\d,]*)(?! ?[×x*+^/=\d.])[)\]]?[ -]?(?:weight |projection |embedding |linear |dense |parameter |learned )*"
    r"(?:matrix|layer|projection|table|map)\W{0,3}(?:(?:that|which|and|so|it|thus|alone|each|has|having|holds?|with|contains?|is|of|about|exactly|roughly|i\.e\.) ?)*[~≈(]?"
    r"(?P<number>\d[\d,]*(?:\.\d+)? ?(?:[KMB]\b|million|billion)?) (?:trainable )?(?:weights|parameters|params)\b|"
    r"(?<![A-Za-z0-9_.,×*^])(?P<rows_zh>\d+) ?[×x*] ?(?P<columns_zh>\d+) ?的?(?:权重|参数|投影|嵌入)?矩阵\W{0,2}(?:共|有|含|包含|即|约|一共|总共)*\W{0,2}"
    r"(?P<number_zh>\d[\d,]*(?:\.\d+)? ?(?:[KMB]|万|亿)?) ?个?参数",
    re.IGNORECASE,
)
_SEVERAL = pattern(
    r"(?:\d|\w+s|each|stack|pair|set) (?:\w+ )?of (?:(?:an?|the|such|size|shape) )*$|\d ?[个层]\W*$|\bfrom (?:an? |the )?$", re.IGNORECASE
)
"""Words by which more than one matrix is counted: ``12 layers of a 768 × 3072 matrix``."""
_LONGEST = 10_000


@once_for_each_shape
def _may_say(text: str) -> bool:
    return _PRODUCT.search(text) is not None and _SAID.search(text) is not None


def check(scene: Scene) -> Iterator[Claim]:
    """Check the weights that a matrix of stated sizes is said to have: their product, with biases or without."""
    for index in scene.counted_lines:
        line = scene.lines[index]
        for found in _SAID.finditer(line.text) if len(line.text) <= _LONGEST and _may_say(line.text) else ():
            which = "" if found["number"] else "_zh"
            rows, columns = (int(found[name + which].replace(",", "")) for name in ("rows", "columns"))
            start, stop = found.span("number" + which)
            token = next(iter(tokens(line.text[start:stop], index)), None)
            if token is None or token.kind != "num" or not rows or not columns or _SEVERAL.search(line.text[: found.start()]):
                continue
            token = token._replace(start=start, end=stop)
            number, right = likeliest_value(token) or Fraction(0), rows * columns
            facts = {"value": whole(number), "expected": right, "difference": whole(number - right)}
            agreed = next((fitting for each in (right, right + rows, right + columns) if (fitting := fit(token, each)) is not None), None)
            if agreed is not None:
                yield claim(scene.lines, token, token, "arithmetic", agreed.verdict, **facts, reason=agreed.reason)
            else:
                reason = because(mark("{rows} × {columns} are {right}"), rows=rows, columns=columns, right=right)
                yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)
