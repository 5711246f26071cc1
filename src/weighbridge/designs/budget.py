"""Budgets as people write them: ``80M``, ``124M±0.5%``, ``16MB``, ``64KiB/token``."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

COUNTS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12, "万": 10**4, "亿": 10**8}
BYTES = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_WRITTEN = re.compile(
    r"(?P<digits>\d{1,3}(?:[,_]\d{3})+|\d{1,40})(?:\.(?P<decimals>\d{1,20}))?(?:e\+?(?P<exponent>\d{1,2}))?\s*(?P<unit>[A-Za-z万亿]{0,3})"
)
_TOLERANCE = re.compile(r"(?:±|\+/?-)\s*(?P<number>\d{1,3}(?:\.\d{1,9})?)\s*%")


class Budget(NamedTuple):
    """A number that is aimed at, and how far from it is near enough; all three are whole numbers.

    >>> parse_budget("124M±0.5%")
    Budget(target=124000000, low=123380000, high=124620000)
    """

    target: int
    low: int
    high: int

    def holds(self, value: int) -> bool:
        """Say whether *value* is within the budget."""
        return self.low <= value <= self.high


def parse_budget(text: str | int, what: str = "params", units: dict[str, int] = COUNTS) -> Budget:
    """Read a budget: a number with a unit, and perhaps a tolerance.

    Args:
        text: Such as ``80M``, ``1.3B``, ``109,482,240``, ``8e9``, ``124M±0.5%`` (``+-0.5%`` is the same). M is 10^6.
        what: The option's name, for messages.
        units: What a unit stands for; :data:`BYTES` for sizes in memory.

    Raises:
        UsageError: It is no such number, is not positive, or is no whole number.

    >>> parse_budget("80M").target, parse_budget("16MiB", units=BYTES).target
    (80000000, 16777216)
    """
    plain = str(text).strip()
    tolerance = _TOLERANCE.search(plain)
    bare = plain[: tolerance.start()].strip() if tolerance else plain
    written = _WRITTEN.fullmatch(bare)
    unit = _unit(written["unit"], units) if written else None
    if not written or unit is None or (tolerance and tolerance.end() != len(plain)):
        known = ", ".join(name for name in units if name)
        raise UsageError(
            Text(
                "{what}: expected a number such as 124M or 124M±0.5% (units: {known}), found {plain!r:.60}",
                what=what,
                known=known,
                plain=plain,
            )
        )
    decimals = written["decimals"] or ""
    digits = re.sub("[,_]", "", written["digits"])
    value = Fraction(int(digits + decimals), 10 ** len(decimals)) * 10 ** int(written["exponent"] or 0) * unit
    if value.denominator != 1 or value < 1:
        raise UsageError(Text("{what}: expected a whole number from 1 up, found {plain!r:.60}", what=what, plain=plain))
    target = int(value)
    slack = Fraction(tolerance["number"]) / 100 * target if tolerance else Fraction(0)
    return Budget(target, -((slack - target) // 1), int((target + slack) // 1))


def _unit(written: str, units: dict[str, int]) -> int | None:
    """Return what a unit stands for, in any case unless two units differ in nothing else."""
    if written in units:
        return units[written]
    return {name.lower(): value for name, value in units.items()}.get(written.lower())
