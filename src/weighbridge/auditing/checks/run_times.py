"""How long a training run takes and how well it uses its devices: ``4.2e22 / (64 × 156e12) ≈ 4.2e6 s``, ``49 days on 64 A100s at 50 %``, ``3,640 petaFLOP/s-days``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import RUN_FAR, RUN_NEAR
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.powered_products import NUMBER, evaluate, half_unit, read_powered
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_TIMED = any_word(r"\bse?c?s?\b|second|hour|day|week|flop|秒|时|天|周")
"""A sign that a line speaks of time or of work a second, asked for before its numbers."""
_SECONDS = {
    "second": 1,
    "seconds": 1,
    "sec": 1,
    "s": 1,
    "秒": 1,
    "hours": 3600,
    "小时": 3600,
    "day": 86_400,
    "days": 86_400,
    "天": 86_400,
    "week": 604_800,
    "weeks": 604_800,
    "周": 604_800,
}
_EQUATION = pattern(
    rf"(?<![\w.)])(?P<side>(?:\(\s?)?{NUMBER}(?:\s?\))?(?:\s?[×*·/÷]\s?(?:\(\s?)?{NUMBER}(?:\s?\))?){{1,6}})\s?[=≈]\s?[~≈约]?\s?(?P<said>{NUMBER})\s?"
    r"(?P<unit>seconds?|sec|s\b|秒|hours|小时|days?|天|weeks?|周|FLOPs?\s?/\s?s|FLOPS\b|petaFLOP/s-days?|PFLOPS?[ -]?(?:days?|天))",
    re.IGNORECASE,
)
"""An equation of plain numbers, and behind it what they are of, all in one unit on its left."""
_WORK = pattern(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?(?:e\+?\d\d|\s?[×x*·]\s?10\s?\^\s?[{(]?\d\d[})]?))(?!\d)", re.IGNORECASE)
_GPUS = pattern(
    r"(?<![\w.,])(?P<number>\d[\d,]*)\s?(?:张|块|台|片|个|×|x)?\s?(?:NVIDIA\s)?(?:(?:[AHBV]\d{3}|GB\d{3})s?(?![\w-])|GPUs?\b|卡|显卡)(?!\s?[-·]?\s?(?:hours?|小时|时))",
    re.IGNORECASE,
)
_PEAK = pattern(r"(?<![\w.,])(?P<number>\d{2,4}(?:\.\d+)?)\s?(?P<unit>T|P)FLOP(?:S|s|/s)?(?![\w/-])", re.IGNORECASE)
_USED = pattern(
    r"(?<![\w.])(?P<before>\d{1,2}(?:\.\d+)?)\s?%\s?(?:MFU|(?:model )?(?:FLOPs? )?utili[sz]ation|efficiency|of (?:the )?peak|的?利用率)|(?:MFU|utili[sz]ation|利用率|efficiency)\s?(?:of|为|是|约|取|按|=|:|：|is)?\s?(?P<after>\d{1,2}(?:\.\d+)?)\s?%",
    re.IGNORECASE,
)
_REACHED = pattern(r"achiev|sustain|effective|actual|throughput|realistic|实际|有效|吞吐|实测", re.IGNORECASE)
_LASTS = pattern(
    rf"(?P<number>{NUMBER})\s?(?P<scale>万)?\s?(?P<unit>GPU[- ]?hours|(?:GPU|卡)\s?[·-]?\s?(?:小时|时)|days?\b|天|weeks?\b|周)",
    re.IGNORECASE,
)
_LEAD = pattern(
    r"(?:about|around|roughly|takes?|need(?:s|ed)?|is|or|≈|=|~|约|大约|大概|需要?|要|为|即|that is|approximately)\W{0,3}$", re.IGNORECASE
)
_IN_DAYS = pattern(rf"(?P<number>{NUMBER})\s?(?:petaFLOP(?:/s|S|s)?[ -]?days?|PF(?:LOPS?|LOP/s)?[ -]?(?:days?|天))", re.IGNORECASE)
_OTHERWISE = pattern(
    r"restart|fail|downtime|in practice|in reality|reported|measured|actually took|tokens? (?:per|/) (?:second|s)|overlap|fine-?tun|LoRA|price|\$|美元|故障|重启|实测|微调|epoch|轮|per day|每天|inference|推理|[-–—~至到]\s?\d+\s?(?:days|天|周)",
    re.IGNORECASE,
)
"""Words of a passage by which a run takes more, or something else is timed."""
_LEAST_WORK = 10**18
_DAY = 86_400
_PETA_DAY = 10**15 * _DAY
_ABOVE, _LONGEST = 6, 1_500


class _Run(NamedTuple):
    """What a passage says of one training run; a thing that is said twice, otherwise, is not settled."""

    works: frozenset[Fraction]
    gpus: frozenset[Fraction]
    peaks: frozenset[Fraction]
    used: frozenset[Fraction]
    reached: bool

    def seconds(self) -> list[Fraction]:
        """Return how long it may take: on all its devices."""
        rates = [peak * used for peak in self.peaks for used in self.used or {Fraction(1)}]
        return [work / (rate * gpus) for work in self.works for rate in rates for gpus in self.gpus if rate and gpus]

    @property
    def settled(self) -> bool:
        alone = len(self.works) == len(self.gpus) == len(self.peaks) == 1
        return alone and (len(self.used) == 1 or (not self.used and self.reached))


def check(scene: Scene) -> Iterator[Claim]:
    """Check times, device hours and petaFLOP/s-days against what their passage says."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if len(text) > _LONGEST or not _TIMED.search(text):
            continue
        for found in _EQUATION.finditer(text):
            yield from _hold_equation(scene, index, found)
        lasts, in_days = list(_LASTS.finditer(text)), list(_IN_DAYS.finditer(text))
        if not lasts and not in_days:
            continue
        passage = _passage(scene, index)
        run = _read_run(passage)
        if run.works and not _OTHERWISE.search(passage):
            for found in lasts:
                yield from _hold_time(scene, index, found, run)
            for found in in_days:
                rights = [work / _PETA_DAY for work in run.works]
                yield from _judge(
                    scene, index, (found.start("number"), found.end()), found["number"], (rights, Fraction(1)), settled=len(rights) == 1
                )


def _passage(scene: Scene, index: int) -> str:
    """Return a line with those above it, up to a heading or an empty line."""
    first = index
    while first > 0 and index - first < _ABOVE and not scene.lines[first].heading and scene.lines[first - 1].text.strip():
        first -= 1
    above = [scene.lines[line].text[:_LONGEST] for line in range(first, index)]
    heading = (
        scene.lines[first - 2].text
        if first > 1 and not scene.lines[first - 1].text.strip() and scene.lines[first - 2].text.rstrip().endswith(("?", "？"))
        else ""
    )
    return "\n".join((heading, *above, scene.lines[index].text))


def _read_run(passage: str) -> _Run:
    works = {
        number for found in _WORK.finditer(passage) if (number := read_powered(found["number"])) is not None and number > _LEAST_WORK * 100
    }
    gpus = {Fraction(found["number"].replace(",", "")) for found in _GPUS.finditer(passage)}
    peaks = {Fraction(found["number"]) * (10**12 if found["unit"] in "tT" else 10**15) for found in _PEAK.finditer(passage)}
    used = {Fraction(found["before"] or found["after"]) / 100 for found in _USED.finditer(passage)}
    return _Run(frozenset(works), frozenset(gpus), frozenset(peaks), frozenset(used), _REACHED.search(passage) is not None)


def _hold_equation(scene: Scene, index: int, found: re.Match[str]) -> Iterator[Claim]:
    right = evaluate(found["side"])
    if right is not None and right > 0:
        loose = _slack(found["side"])
        yield from _judge(scene, index, found.span("said"), found["said"], ([right], Fraction(1)), settled=True, slack=loose)


def _slack(side: str) -> Fraction:
    """Return by what share the rounding of its numbers may move a product."""
    numbers = [m[0] for m in re.finditer(NUMBER, side, re.IGNORECASE)]
    shares = [half_unit(one) / value for one in numbers if (re.search(r"[e^]", one) and (value := read_powered(one)))]
    return min(sum(shares, Fraction(0)), Fraction(1, 5))


def _hold_time(scene: Scene, index: int, found: re.Match[str], run: _Run) -> Iterator[Claim]:
    text, unit = scene.lines[index].text, found["unit"].lower()
    hours = "hour" in unit or "时" in unit
    seconds = run.seconds()
    rights = [one * gpus / 3600 for one in seconds for gpus in run.gpus] if hours else [one / _SECONDS[unit] for one in seconds]
    led = _LEAD.search(text, 0, found.start()) is not None
    scale = Fraction(10**4 if found["scale"] else 1)
    yield from _judge(scene, index, (found.start("number"), found.end()), found["number"], (rights, scale), settled=run.settled and led)


def _judge(
    scene: Scene,
    index: int,
    span: tuple[int, int],
    written: str,
    right: tuple[list[Fraction], Fraction],
    *,
    settled: bool,
    slack: Fraction = Fraction(0),
) -> Iterator[Claim]:
    rights, scale = right
    plain = read_powered(written)
    if plain is None or not rights or any(one <= 0 for one in rights):
        return
    number, half = plain * scale, half_unit(written) * scale
    token = Token("num", scene.lines[index].text[span[0] : span[1]], index, *span)
    near = min(rights, key=lambda one: abs(one - number))
    facts: dict[str, object] = {"value": whole(number), "expected": whole(near), "difference": whole(number - near)}
    if any(number - half <= one * (RUN_NEAR + slack) and one <= (number + half) * (RUN_NEAR + slack) for one in rights):
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif settled and all(number - half > one * (RUN_FAR + slack) or (number + half) * (RUN_FAR + slack) < one for one in rights):
        shown = whole(near) if near >= _SHOWN else f"{float(near):.3g}"
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=because(mark("should be {right}"), right=shown))


_SHOWN = 1000
