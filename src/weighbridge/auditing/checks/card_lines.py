"""Lines of a model card whose label says the unit: ``Params (M): 49.6``, ``GMACs: 8.8``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fractions import Fraction

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_subjects import only_model
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.work_columns import hold_figure
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.presets.aliases import MODEL

_COUNT = pattern(
    r"[\W_]*(?:#\s?)?(?:params|parameters|number of parameters)\s?[(（]\s?(?P<unit>[MB])\s?[)）][*_]*\s?[:：=]\s?[*_]*(?P<number>\d+(?:\.\d+)?)\s*",
    re.IGNORECASE,
)
_WORK = pattern(
    r"[\W_]*(?:(?P<unit>[GM])(?:MACs?|FLOPs?)|(?:MACs?|FLOPs?)\s?[(（]\s?(?P<other>[GM])\s?[)）])[*_]*\s?[:：=]\s?[*_]*(?P<number>\d+(?:\.\d+)?)\s*",
    re.IGNORECASE,
)
"""A line that says nothing else."""


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the counts and the arithmetic that the lines of a card say of the one model that it names."""
    name = only_model(scene)
    subject = of_mention(scene, Mention(0, name, 0, (name,), MODEL), firm=True) if name is not None else None
    if subject is None or subject.models[0].description is None:
        return
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if index in tabled or len(text) > _LONGEST or is_of_their_own(scene, index):
            continue
        count, work = _COUNT.fullmatch(text), _WORK.fullmatch(text)
        if count is not None:
            token = _token(index, count, count["unit"].lower())
            found = settle(token, subject.models, whole=True)
            if found is not None:
                yield total_claim(scene, token, found.verdict, found.expected, found.reason)
            else:
                yield from report_wrong_count(scene, token, subject, "total", sure=True)
        elif work is not None:
            yield from hold_figure(scene, _token(index, work, ""), work["unit"] or work["other"], subject)


_LONGEST = 100


def _token(line: int, found: re.Match[str], unit: str) -> Token:
    number = found["number"]
    return Token("num", f"{number}{unit.upper()}", line, *found.span("number"), Fraction(number), unit, len(number.partition(".")[2]))
