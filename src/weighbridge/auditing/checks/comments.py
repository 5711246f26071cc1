"""Numbers in the comments of code that say what its line computes: ``wte = vocab * d  # 38,597,376``."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark

_CODE = pattern(
    r"\s*(?:(?P<name>[A-Za-z_]\w{0,60})\s*=(?!=)\s*|print\((?=[^'\"]*\)\s*#))?(?P<code>[\w\s+\-*/^().]{1,200}?)\s*(?:#(?P<comment>.*))?$"
)
_SAID = pattern(r"\s*(?:=|->|=>|→)?\s*(?P<number>\d{1,3}(?:[,_]\d{3})+|\d{4,15})(?:\s*(?:params?|parameters|参数))?\s*$")
_LARGEST, _LONGEST, _POWER = 10**18, 300, 6


def check(scene: Scene, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check every comment that is one whole number, behind code whose names the lines above set to whole numbers.

    Where the number is right by what is judged already, it is the code that is wrong.

    Args:
        claims: What is judged so far.
    """
    right = {(one.line, one.end) for one in claims if one.verdict in ("exact", "convention")}
    known: dict[str, int] = {}
    for index, line in enumerate(scene.lines):
        text = line.text
        found = _CODE.match(text) if len(text) <= _LONGEST and ("#" in text or "=" in text) else None
        if found is None:
            continue
        code = found["code"].strip().replace("^", "**")
        code = code[:-1] if text.lstrip().startswith("print(") and code.endswith(")") else code
        value = _value(code, known)
        if found["name"] and value is not None:
            known[found["name"]] = value
        elif found["name"]:
            known.pop(found["name"], None)
        said = _SAID.match(found["comment"] or "")
        if said is not None and value is not None and not code.isdigit():
            start = found.start("comment") + said.start("number")
            token = Token("num", said["number"], index, start, start + len(said["number"]))
            number = int(re.sub("[,_]", "", said["number"]))
            computed = Token("num", found["code"], index, found.start("code"), found.start("code") + len(found["code"].rstrip(" )")))
            if number == value:
                yield from (_claim(scene, token, token, number, value), _claim(scene, computed, computed, number, value))
            elif (line.number, line.at[token.end - 1] + 1) in right:
                yield _claim(scene, computed, computed, value, number)
            else:
                yield _claim(scene, computed, token, number, value)


def _claim(scene: Scene, first: Token, last: Token, number: int, right: int) -> Claim:
    reason = () if number == right else because(mark("should be {right}"), right=right)
    facts = {"value": number, "expected": right, "difference": whole(Fraction(number - right)), "reason": reason}
    return claim(scene.lines, first, last, "arithmetic", "exact" if number == right else "wrong", **facts)


def _value(code: str, known: Mapping[str, int]) -> int | None:
    """Return what an expression of whole numbers and known names computes, within bounds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own of what it reads: ``12and``
            return _evaluate(ast.parse(code, mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr, known: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and abs(node.value) <= _LARGEST else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _evaluate(node.left, known), _evaluate(node.right, known)
    return None if left is None or right is None else _apply(node.op, left, right)


def _apply(operation: ast.operator, left: int, right: int) -> int | None:
    result = None
    if isinstance(operation, ast.Add):
        result = left + right
    elif isinstance(operation, ast.Sub):
        result = left - right
    elif isinstance(operation, ast.Mult):
        result = left * right
    elif isinstance(operation, ast.FloorDiv) and right:
        result = left // right
    elif isinstance(operation, ast.Pow) and 0 <= right <= _POWER:
        result = left**right
    return result if result is not None and abs(result) <= _LARGEST else None
