"""Bytes of weights that running text gives, each with what it is of: how many parameters, and how many bytes each of them takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import WEIGHTS_NEAR, WHOLE_WEIGHTS_FAR
from weighbridge.auditing.checks.dtypes import DTYPES
from weighbridge.auditing.checks.names import UNKNOWN
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact, as_exact
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL


class WeightFigure(NamedTuple):
    """A figure in bytes.

    Attributes:
        token: Where it stands.
        said: The bytes that it may mean: its unit in thousands and in powers of two.
        step: Half a unit of its last digit, in bytes.
        counts: How many parameters it may be of: a model's own, and the number that it is called by.
        size: Bytes of a parameter.
        digits: The digits that it shows.
        more: What the whole is multiplied by: ``+20% overhead`` makes it 1.2.
    """

    token: Token
    said: tuple[Fraction, ...]
    step: Fraction
    counts: tuple[Fraction, ...]
    size: Fraction
    digits: int
    more: Fraction = Exact(1)


_ONE = Exact(1)


def read_figure(
    number: str, unit: str, place: tuple[int, int, int], counts: Sequence[Fraction], size: Fraction, more: Fraction = _ONE
) -> WeightFigure:
    """Make a figure of its number and unit as written.

    Args:
        place: Its line, and where it begins and ends.
    """
    value, letter = Exact(number), unit[0].lower()
    places = len(number.partition(".")[2])
    powers = _POWERS[letter]
    token = Token("num", f"{number} {letter}b", *place, value, f"{letter}b", places)
    digits = len(number.replace(".", "").lstrip("0")) or 1
    said = tuple(value * power for power in powers)
    return WeightFigure(token, said, Exact(powers[0], 2 * 10**places), tuple(counts), size, digits, more)


_POWERS = {letter: (10**power, 2 ** (power // 3 * 10)) for letter, power in (("k", 3), ("m", 6), ("g", 9), ("t", 12))}


def is_right(one: WeightFigure) -> bool:
    """Tell whether a figure is one of its counts times the bytes of a parameter."""
    return any(abs(said - right) <= max(WEIGHTS_NEAR * right, one.step) for said in one.said for right in rights(one))


def is_far(one: WeightFigure, most: Fraction) -> bool:
    """Tell whether a figure is so far off that it is no rounding: less than the weights are in any unit, or more by so many times."""
    return all(
        said - one.step > right * most or (said + one.step) * WHOLE_WEIGHTS_FAR < right for said in one.said for right in rights(one)
    )


def rights(one: WeightFigure) -> list[Fraction]:
    """Return the bytes that a figure should be, one for each count that it may be of."""
    return [count * one.size * one.more for count in one.counts]


_FIGURE = pattern(r"(?<![\w.,$-])(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>(?:[MGT]i?B|[mgt]b|(?:mega|giga|tera)bytes?))(?![\w/])(?!\s?/\s?s)")
_CALLED = pattern(
    r"(?<![\w.,-])(?P<count>\d+(?:\.\d+)?)[ -]?(?P<scale>[BM](?![A-Za-z])|billion|million)(?!\s?(?:tokens?|bytes?|users?)\b)", re.IGNORECASE
)
_SCALES = {"b": 10**9, "billion": 10**9, "m": 10**6, "million": 10**6}
_ELSE = pattern(
    r"gradient|optimi[sz]er|adam|moment|variance|master|activation|\bkv\b|cache|train|tun(?:e|ing|ed)\b|\blora\b|adapter|batch|context|bandwidth|overhead|\btotal|embedding|layer|expert|active|shard|split|parallel|"
    r"\b(?:both|another|additional|extra|more than|less than|over|under|below|above|at least|up to|plus|sav\w+|reduc\w+|free|remaining|leaves?|left|each|fits?|host|disk|per (?!param))\b|梯度|优化器|激活|缓存|训练",
    re.IGNORECASE,
)
"""Words right about a figure by which it is of more than the weights, or of less, or of a machine."""
_DEVICE = pattern(
    r"(?:[AHVBLT]\d{1,3}0?S?|RTX ?\d{4}|GTX ?\d{4}|[2-5]0[6-9]0(?: ?Ti)?|MI\d{3}X?|GPUs?|cards?|macs?|machine|laptop|M[1-4](?: \w+)?)[ (（:]*(?:with |has |offers |of )?$",
    re.IGNORECASE,
)
_ON_DEVICE = pattern(r"[ -]?(?:of )?(?:v?ram )?(?:gpus?|cards?|a100|h100|h200|v100|rtx|machines?|macs?|consumer)\b", re.IGNORECASE)
"""Around the memory of a machine."""
_SENTENCE = pattern(r"[;；。!?！？]|\.(?=\s|$)|\|")
_BEHIND = pattern(
    r"\s?(?:(?:of )?(?:gpu |video )?(?:memory|v?ram|weights?|storage)?\s?)?(?:,?\s?(?:in|at|with|for|using|when in)\s|[(（]\s?(?:in )?)(?:the )?(?:model in )?$",
    re.IGNORECASE,
)
"""Between a figure and the dtype that is said of it behind it."""
_AND_NO_MORE = pattern(
    r"\s?(?:precision|formats?|weights?|floats?|mode|quanti[sz]ation|/ ?\w+|or \w+)?\s?(?:$|[,，.;；:：)）。、]|and\b|or\b|but\b|while\b|vs\b|→)",
    re.IGNORECASE,
)
"""Behind a dtype that is said of the figure before it: ``in fp16 it is 220 MB`` goes on to the next."""
_LONGEST = 2_000


def said_figures(scene: Scene, skipped: frozenset[int]) -> Iterator[WeightFigure]:
    """Yield the figures of running text of which it is said how many parameters they are of, and in which dtype."""
    called: tuple[int, tuple[Fraction, ...]] = (-_ABOVE - 1, ())
    near = {line for index in scene.counted_lines if _has_figure(scene.lines[index].text) for line in range(index - _ABOVE, index + 1)}
    for index in scene.counted_lines if near else ():
        text = scene.lines[index].text
        if index not in near or index in skipped or len(text) > _LONGEST:
            continue
        if scene.lines[index].heading:
            called = (-_ABOVE - 1, ())
        counts = _counts_said(scene, index)
        figures = list(_FIGURE.finditer(text))
        since = called[1] if index - called[0] <= _ABOVE else ()
        yield from _of_line(index, text, counts, figures, since)
        if counts:
            called = (index, counts[-1][1] if len({one for _, one in counts}) == 1 else ())


@once_for_each_shape
def _has_figure(text: str) -> bool:
    return _FIGURE.search(text) is not None


_ABOVE = 4
"""Lines above a figure within which its model may be called by its count."""


def _of_line(
    index: int, text: str, counts: Sequence[tuple[int, tuple[Fraction, ...]]], figures: Sequence[re.Match[str]], since: tuple[Fraction, ...]
) -> Iterator[WeightFigure]:
    last, taken = 0, -1
    for place, figure in enumerate(figures):
        start = max([last, *(m.end() for m in _SENTENCE.finditer(text, last, figure.start()))])
        until = figures[place + 1].start() if place + 1 < len(figures) else len(text)
        until = min(until, next((m.start() for m in _SENTENCE.finditer(text, figure.end())), until))
        last = figure.end()
        behind = next(
            (
                (size, m.end())
                for size, words in DTYPES
                for m in words.finditer(text, figure.end(), min(until, figure.end() + _NEAR))
                if _BEHIND.fullmatch(text, figure.end(), m.start()) and _AND_NO_MORE.match(text, m.end())
            ),
            None,
        )
        before = [(m.start(), size) for size, words in DTYPES for m in words.finditer(text, max(start, taken), figure.start())]
        if behind is not None:
            size, taken = behind
        elif before and len({one for _, one in before}) == 1:
            size = before[0][1]
        else:
            continue
        around = text[start : figure.start()] + " " + re.split(r"[,，;；。()（）]|\band\b|\bor\b|\bwhile\b", text[figure.end() : until])[0]
        if _ELSE.search(_OF_PARAMETER.sub(" ", around)) or _DEVICE.search(text, 0, figure.start()) or _ON_DEVICE.match(text, figure.end()):
            continue
        known = [one for column, one in counts if column < figure.start()] or [since]
        if known[-1]:
            yield read_figure(figure["number"], figure["unit"], (index, *figure.span()), known[-1], size)


_NEAR = 40
_OF_PARAMETER = pattern(r"\b(?:per|each|every) (?:model )?(?:param\w*|weight)|\bgpu memory\b|[(（][^()（）]*[)）]", re.IGNORECASE)


def _counts_said(scene: Scene, index: int) -> list[tuple[int, tuple[Fraction, ...]]]:
    """Return where a line names a model, or calls it by its count, with the parameters that it may have."""
    text, named = scene.lines[index].text, scene.mentions.get(index, ())
    found: list[tuple[int, tuple[Fraction, ...]]] = []
    for mention in named:
        own = [Exact(count) for name in mention.names if (model := preset_model(name)) is not None and (count := own_count(model))]
        known = mention.kind == MODEL and own
        found.append((mention.column, (*own[:1], *called_counts(text[mention.column : mention.end])) if known else ()))
    for match in _CALLED.finditer(text):
        if not any(m.column <= match.start() < m.end + 1 for m in named):
            beside = any(m.kind == UNKNOWN and 0 <= match.start() - m.end <= 1 for m in named)
            found.append((match.start(), () if beside else (_count(match),)))
    return sorted(found)


def called_counts(text: str) -> list[Fraction]:
    """Return the counts that a model is called by.

    >>> called_counts("Llama 2 7B")
    [Fraction(7000000000, 1)]
    """
    return [_count(match) for match in _CALLED.finditer(text)]


def _count(match: re.Match[str]) -> Fraction:
    return as_exact(Exact(match["count"]) * _SCALES[match["scale"].lower()])
