"""Whether an exact count is a published figure: rounded to its digits, or cut off behind them."""

from __future__ import annotations


def digits(printed: str) -> tuple[int, int]:
    """Return a figure such as ``30.7M`` in steps of its last digit, and that step.

    >>> digits("30.7M")
    (307, 100000)
    """
    whole, _, decimals = printed[:-1].partition(".")
    return int(whole + decimals), {"M": 10**6, "B": 10**9}[printed[-1]] // 10 ** len(decimals)


def is_rounded(exact: int, printed: str) -> bool:
    """Say whether a count, rounded half up to the digits of a figure, is what stands there.

    >>> is_rounded(116_829_156_672, "116.83B"), is_rounded(116_829_156_672, "116.82B")
    (True, False)
    """
    figure, step = digits(printed)
    return (exact + step // 2) // step == figure


def is_met(exact: int, printed: str) -> bool:
    """Say whether a count, rounded or cut off at the last digit of a figure, is what stands there.

    >>> is_met(116_829_156_672, "116.82B"), is_met(116_829_156_672, "116.81B")
    (True, False)
    """
    figure, step = digits(printed)
    return exact // step == figure or is_rounded(exact, printed)
