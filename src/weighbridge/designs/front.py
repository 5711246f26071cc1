"""The Pareto front: what no other one beats in every cost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def pareto_front(costs: Sequence[tuple[int, int, int]]) -> set[int]:
    """Return the places of those that no other one beats: nowhere higher, and somewhere lower.

    In the order of the first cost, the least third cost is kept for each second one so far, as a staircase: hundreds of thousands take
    about a second.

    >>> sorted(pareto_front([(1, 9, 5), (2, 8, 5), (2, 9, 5), (3, 8, 4)]))
    [0, 1, 3]
    """
    front: set[int] = set()
    seconds: list[int] = []
    thirds: list[int] = []
    alike: dict[tuple[int, int, int], bool] = {}
    for index in sorted(range(len(costs)), key=lambda index: costs[index]):
        cost = costs[index]
        if cost in alike:
            front |= {index} if alike[cost] else set()
            continue
        _, second, third = cost
        place = bisect_right(seconds, second)
        alike[cost] = place == 0 or thirds[place - 1] > third
        if not alike[cost]:
            continue
        front.add(index)
        if place and seconds[place - 1] == second:
            place -= 1
            thirds[place] = third
        else:
            seconds.insert(place, second)
            thirds.insert(place, third)
        end = place + 1
        while end < len(thirds) and thirds[end] >= third:
            end += 1
        del seconds[place + 1 : end], thirds[place + 1 : end]
    return front
