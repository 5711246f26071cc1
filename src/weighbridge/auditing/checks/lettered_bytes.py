"""Formulas in letters that a text gives a value: ``当 b=1 时,激活占用 (34bsh+5bs^2a)*l ≈ 30.6GB``, at the sizes that stand above."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, cached_property

from weighbridge.auditing.byte_thresholds import EXACT_PRODUCT_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.letter_formulas import evaluate
from weighbridge.auditing.text.memory import once_for_each_shape, once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, whole
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_FORMULA = pattern(
    r"(?P<formula>(?<![A-Za-z0-9)])[(0-9a-zV][0-9a-zV()+\-*/^×· ]{3,60}?)\s*(?:bytes?\b|字节)?\s*[=≈]\s*约?\s*"
    r"(?P<figure>\d[\d,]*(?:\.\d+)?(?![\d.,]*\d|\s?[\^*×·/+\\]|\s?-\s?\d)\s{0,2}(?:[KMGT]i?B\b|bytes?\b|字节)?)"
)
_LETTER = pattern(r"[a-zV]")
_NAMED = pattern(
    r"(?P<label>[A-Za-z\u4e00-\u9fff][A-Za-z \u4e00-\u9fff]{0,24}?)\s?[,(]?\s{0,3}(?:为|是|用|记为|记作|表示为)?\s{0,3}(?P<letter>[bshlandV])(?![A-Za-z0-9=^*])"
)
"""A label and the letter that stands for it: ``层数, l``, ``隐藏维度为 h``."""
_REACH = 40
_LEAST_LETTERS = 2
_LEAST = 1000
"""A smaller number may be that of any formula."""
_FAR = 10
"""How many times off a figure may be and still be meant for this formula: a slip of one digit is no more."""


class _Said(NamedTuple):
    line: int
    token: Token
    right: Fraction


def check(scene: Scene) -> Iterator[Claim]:
    """Check the figure that is equal to a formula whose letters all have values in the lines above; one agreeing, or a slip of the keys, settles them."""
    letters = _Letters(scene)
    found = [said for index in scene.counted_lines for said in _of_line(scene, index, letters)]
    agreed = sum(_agrees(said) for said in found)
    for said in found:
        if _agrees(said):
            yield _claim(scene, said, "rounded" if said.token.unit else "exact")
        elif _is_near(said) and (agreed or _is_mistyped(said)):
            yield _claim(scene, said, "wrong")
        yield from _times_the_weights(scene, said)


def _of_line(scene: Scene, index: int, known: _Letters) -> Iterator[_Said]:
    text = scene.lines[index].text
    if len(text) > 2_000 or ("=" not in text and "≈" not in text) or not _has_formula(text):
        return
    for match in _FORMULA.finditer(text):
        letters = set(_LETTER.findall(match["formula"]))
        if len(letters) < _LEAST_LETTERS or re.search(r"[a-zV]{4}(?![a-zV]*[+)*^\s=])", match["formula"]):
            continue
        values = known.values_of(letters, index, match.start())
        right = evaluate(match["formula"], values) if values is not None else None
        if not right:
            continue
        token = next(iter(tokens(match["figure"], index)), None)
        if token is not None and token.kind == "num" and token.value and (token.unit or right >= _LEAST):
            place = match.start("figure")
            yield _Said(index, token._replace(start=place, end=place + token.end), right)


@once_for_each_shape
def _has_formula(text: str) -> bool:
    """Tell whether a figure of a line is equal to a formula in letters enough."""
    return any(len(set(_LETTER.findall(match["formula"]))) >= _LEAST_LETTERS for match in _FORMULA.finditer(text))


def _times_the_weights(scene: Scene, said: _Said) -> Iterator[Claim]:
    """Check how many times the bytes of the weights, said above, a formula's bytes are."""
    match = _TIMES.match(scene.lines[said.line].text, said.token.end)
    if match is None:
        return
    weights = next((one for line in range(said.line, max(-1, said.line - _REACH), -1) if (one := _weights(scene.lines[line].text))), None)
    if not weights:
        return
    times, step = Fraction(match["times"]), Fraction(1, 10 ** len(match["times"].partition(".")[2]))
    right = said.right / weights
    near = abs(times - right) <= step
    if not near and (times * EXACT_PRODUCT_FAR > right and times < right * EXACT_PRODUCT_FAR):
        return
    token = Token("num", match["times"], said.line, *match.span("times"), times, "", len(match["times"].partition(".")[2]))
    reason = because(mark("rounded")) if near else because(mark("should be {right}"), right=f"{float(right):.2f}")
    facts: dict[str, object] = {"value": times, "expected": right, "difference": times - right, "reason": reason}
    yield claim(scene.lines, token, token, "arithmetic", "rounded" if near else "wrong", **facts)


def _weights(text: str) -> Fraction | None:
    """Return the bytes that a line says a model's weights take: ``模型参数量为 175B,占用的显存为 350GB``."""
    found = _WEIGHTS.findall(text)
    return Fraction(found[-1][0]) * _BYTES[found[-1][1].upper()] if found else None


_TIMES = pattern(
    r"(?:\s*[≈=约]\s*[\d.,]+\s?[KMGT]i?B)?[)）]?\s*[,，]?\s*(?:大约|约|大概)?(?:是|为)?模型(?:参数|权重)(?:占用?的?)?显存(?:占用)?的\s*(?P<times>\d+(?:\.\d+)?)\s*倍"
)
_WEIGHTS = pattern(r"(?:参数|权重)[^。;=]{0,24}显存[^。;]{0,24}?(?<![\d.×x*])(\d+(?:\.\d+)?)\s?([MGT])i?B")
_BYTES = {"M": 10**6, "G": 10**9, "T": 10**12}


class _Letters:
    """What the letters of a text stand for: the value that each is given last above a place, or that of the size it is said to be."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def values_of(self, letters: Iterable[str], index: int, column: int) -> dict[str, int] | None:
        """Return the values of letters at a place, or None if any of them has none, as nearly everywhere."""
        found: dict[str, int] = {}
        for letter in letters:
            value = self.value_of(letter, index, column)
            if value is None:
                return None
            found[letter] = value
        return found

    def value_of(self, letter: str, index: int, column: int) -> int | None:
        """Return the value of a letter at a place."""
        found = _letter_values(self._scene.lines[index].text[:column]).get(letter)
        if found is not None:
            return found
        given = self._value_lines.get(letter, ())
        place = bisect_left(given, (index, 0)) - 1
        if place >= 0 and given[place][0] > index - _REACH:
            return given[place][1]
        sizes = self._scene.sizes_at(index, column)
        if letter in sizes:
            return sizes[letter]
        meant = [word for word, first in self._size_lines.get(letter, {}).items() if first < index] if sizes else []
        return sizes.get(meant[0]) if len(meant) == 1 else None

    @cached_property
    def _value_lines(self) -> dict[str, list[tuple[int, int]]]:
        """The lines that give each letter a value, with the value that each gives it last."""
        found: dict[str, list[tuple[int, int]]] = {}
        for index in self._scene.counted_lines:
            for letter, value in _letter_values(self._scene.lines[index].text).items():
                found.setdefault(letter, []).append((index, value))
        return found

    @cached_property
    def _size_lines(self) -> dict[str, dict[str, int]]:
        """The sizes that each letter is said to be, each with the first line that says it."""
        found: dict[str, dict[str, int]] = {}
        for index, line in enumerate(self._scene.lines):
            for match in _NAMED.finditer(line.text):
                word = _word(match["label"])
                if word:
                    found.setdefault(match["letter"], {}).setdefault(word, index)
        return found


_GIVEN = pattern(r"(?<![A-Za-z0-9_*×)^(+])([a-zV])\s{0,3}(?:=|为|是|取|设为)\s{0,3}(\d[\d,]*)(?![\d.]*\s?[*/^×A-Za-z])")


@once_for_each_text
def _letter_values(text: str) -> dict[str, int]:
    """Return the value that a line gives each letter last; the lines below a formula ask again and again."""
    return {letter: int(value.replace(",", "")) for letter, value in _GIVEN.findall(text)}


def _word(label: str) -> str | None:
    """Return the size that a label ends with."""
    label = label.strip().lower()
    first = max(0, len(label) - _longest_label())
    return next((LABELS[label[start:]] for start in range(first, len(label)) if label[start:] in LABELS), None)


@cache
def _longest_label() -> int:
    return max(map(len, LABELS))


def _scales(token: Token) -> tuple[int, ...]:
    return UNITS.get(token.unit, (1,))


def _agrees(said: _Said) -> bool:
    value = said.token.value or Fraction(0)
    steps = [Fraction(scale, 10**said.token.places) for scale in _scales(said.token)]
    if max(steps) == 1:
        return value == said.right
    return any(abs(value * scale - said.right) < step for scale, step in zip(_scales(said.token), steps, strict=True))


def _is_near(said: _Said) -> bool:
    """Tell whether a figure is not the formula's value in any unit, and not so far off that another formula is meant."""
    numbers = [(said.token.value or Fraction(0)) * scale for scale in _scales(said.token)]
    if _scales(said.token)[0] == 1:
        return numbers[0] * _FAR > said.right > numbers[0] / _FAR
    apart = all(one > said.right * EXACT_PRODUCT_FAR or one * EXACT_PRODUCT_FAR < said.right for one in numbers)
    return apart and any(one * _FAR > said.right > one / _FAR for one in numbers)


def _is_mistyped(said: _Said) -> bool:
    if not said.token.unit or _scales(said.token)[0] == 1:
        return is_slip(str(int(said.token.value or 0)), str(int(said.right)))
    return is_slip(*(re.sub(r"[^\d]", "", one) for one in (said.token.text, str(write_bytes(said.token, said.right, 1000)))))


def _claim(scene: Scene, said: _Said, verdict: str) -> Claim:
    number = likeliest_value(said.token) or Fraction(0)
    facts: dict[str, object] = {"value": whole(number), "expected": whole(said.right), "difference": whole(number - said.right)}
    reason = because(mark("rounded")) if verdict == "rounded" else ()
    if verdict == "wrong":
        direction = should_be(is_higher=number > said.right)
        plain = _scales(said.token)[0] == 1
        right = whole(said.right) if plain else write_bytes(said.token, said.right, 1000)
        away = whole(abs(number - said.right)) if plain else write_bytes(said.token, abs(number - said.right), 1000)
        reason = because(direction, right=right, number=away)
    return claim(scene.lines, said.token, said.token, "arithmetic", verdict, **facts, reason=reason)
