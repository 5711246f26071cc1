"""A product with its result in parentheses: ``4096 × 4096 (16M parameters)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.rounding import likeliest_value, whole, write_like
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark

_FACTOR = r"(?:\d{1,3}(?:,\d{3})+|\d{1,7})"
_PRODUCT = pattern(
    rf"(?<![\w.,×*+/^-])(?<![×*+/^-]\s)(?P<factors>{_FACTOR}(?:\s?[×x*]\s?{_FACTOR})+)(?![\w.,]*\d|\s?[×x*+/^-]\s?[\d(a-z])(?:\s(?:matrix|matrices|weights?))?\s{{0,3}}[(（]\s?[=≈~]?\s?"
    r"(?P<result>\d[\d,]*(?:\.\d+)?\s?(?:[KMB](?![A-Za-z])|thousand|million|billion)?)\s(?:total |trainable )?(?:param(?:eter)?s?|weights|values|elements|entries)\s?[)）]",
    re.IGNORECASE,
)
_LISTED = pattern(
    rf"[\[(]\s?(?P<factors>{_FACTOR}(?:\s?[×x*,]\s?{_FACTOR})+)\s?[\])]\s{{1,12}}(?:(?:torch\.)?[a-z]{{1,8}}\d{{1,2}}\w{{0,6}}\s{{1,12}})?"
    r"(?P<result>\d[\d,]*(?:\.\d+)?\s?(?:[KMB](?![A-Za-z]))?)\sparam(?:eter)?s?\b",
    re.IGNORECASE,
)
"""The same in a list of tensors: ``q_proj.weight  [4096 x 4096]  bf16  16.8M params``."""
_SIDE = pattern(r"\d[\d,]*")
_FAR = Fraction(1, 100)


def check(scene: Scene) -> Iterator[Claim]:
    """Check the result of each such product: it may be rounded or cut off to the digits that it shows."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        pair = _PRODUCT.finditer(text) if "(" in text or "（" in text else ()
        printed = list(_LISTED.finditer(text)) if "param" in text else []  # by a program, which rounds and guesses nothing
        for found in (*pair, *printed):
            token = next((one for one in tokens(found["result"], index) if one.kind == "num"), None)
            number = likeliest_value(token) if token is not None else None
            if token is None or number is None:
                continue
            token = token._replace(start=found.start("result"), end=found.end("result"))
            right = Fraction(prod(int(side[0].replace(",", "")) for side in _SIDE.finditer(found["factors"])))
            unit = (likeliest_value(token._replace(value=Fraction(1))) or Fraction(1)) / 10**token.places
            facts: dict[str, object] = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
            binary = token.value is not None and token.unit[:1] in _POWERS and abs(token.value * _POWERS[token.unit[:1]] - right) <= unit
            if number == right:
                yield claim(scene.lines, token, token, "arithmetic", "exact", **facts)
            elif (token.unit or token.places) and (abs(number - right) < unit or binary):
                yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
            elif abs(number - right) > max(0 if found in printed else _FAR * right, unit if token.unit else 0):
                direction = should_be(is_higher=number > right)
                about = write_like(token, right) if token.unit else whole(right)
                away = write_like(token, abs(number - right)) if token.unit else whole(abs(number - right))
                yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=because(direction, right=about, number=away))


_POWERS = {"k": 2**10, "m": 2**20, "b": 2**30}
