"""Numbers as people say them, beside the exact ones: 109.5 M, 22.3 G, 438 MB; in Chinese 1.095 亿."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from collections.abc import Callable

THOUSANDS = ("", "K", "M", "B", "T")
PREFIXES = ("", "k", "M", "G", "T", "P", "E")
MYRIADS = ("", " 万", " 亿", " 万亿")
CERTAINTY = {"exact": mark("exact"), "bound": mark("lower bound"), "estimate": mark("estimate")}
"""How sure the figures of a cost are, as people say it."""

AT_MOST = frozenset(("gradients", "optimizer"))
"""Parts of a cost whose bounds are upper ones: what no input reaches has neither gradients nor states."""


def certainty(name: str, trust: str) -> str:
    """Return how sure a part of a cost is, to be translated.

    >>> certainty("weights", "bound"), certainty("gradients", "bound")
    ('lower bound', 'upper bound')
    """
    return mark("upper bound") if trust == "bound" and name in AT_MOST else CERTAINTY[trust]


def quantity(number: int, lang: str = "en") -> str:
    """Write a count to four significant digits.

    >>> quantity(109482240), quantity(8030261248), quantity(109482240, "zh"), quantity(512)
    ('109.5 M', '8.03 B', '1.095 亿', '512')
    """
    base, names = (10_000, MYRIADS) if lang == "zh" else (1000, tuple(f" {name}" if name else "" for name in THOUSANDS))
    return _scale(number, base, names, 4)


def flops(number: int) -> str:
    """Write an amount of arithmetic.

    >>> flops(22348431360)
    '22.3 GFLOP'
    """
    return _scale(number, 1000, tuple(f" {prefix}FLOP" for prefix in PREFIXES), 3)


def size(number: int) -> str:
    """Write bytes, in powers of ten.

    >>> size(437928960), size(512)
    ('438 MB', '512 B')
    """
    return _scale(number, 1000, tuple(f" {prefix}B" for prefix in PREFIXES), 3)


def memory_size(number: int, say: Callable[[str], str] = str) -> str:
    """Write bytes as disks and networks count them, and as devices and their drivers do: in powers of ten, and of two.

    >>> memory_size(437928960), memory_size(512)
    ('438 MB (418 MiB)', '512 B')
    """
    return say("{title} ({shape})").format(title=size(number), shape=binary_size(number)) if number >= 1000 else size(number)


def binary_size(number: int) -> str:
    """Write bytes in powers of two.

    >>> binary_size(85899345920), binary_size(142852243456)
    ('80 GiB', '133 GiB')
    """
    return _scale(number, 1024, tuple(f" {prefix.upper()}{'i' * bool(prefix)}B" for prefix in PREFIXES), 3)


def gibibytes(number: int) -> str:
    """Write bytes in GiB, the unit of devices, with a tenth.

    >>> gibibytes(142852243456), gibibytes(1)
    ('133.0', '0.0')
    """
    tenths = (20 * number + 2**30) >> 31
    return f"{tenths // 10:,}.{tenths % 10}"


def duration(microseconds: int) -> str:
    """Write a time.

    >>> duration(898639), duration(68), duration(4250000), duration(90000000)
    ('899 ms', '68 µs', '4.25 s', '90 s')
    """
    return _scale(microseconds, 1000, (" µs", " ms", " s"), 3)


def _scale(number: int, base: int, names: tuple[str, ...], digits: int) -> str:
    """Round half up, in integers: a float would lose units of what is large."""
    step = 0
    while step + 1 < len(names) and number >= base ** (step + 1):
        step += 1
    whole = len(str(number // base**step))
    places = max(digits - whole, 0) if step else 0
    scaled = (number * 10**places * 2 + base**step) // (2 * base**step)
    if scaled >= base * 10**places and step + 1 < len(names):  # 999.96 M is 1 B
        return _scale(base ** (step + 1), base, names, digits)
    head, tail = divmod(scaled, 10**places)
    text = f"{head:,}" + (f".{tail:0{places}}".rstrip("0").rstrip(".") if places else "")
    return text + names[step]
