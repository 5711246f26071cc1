"""The plan of a perceptron that folds an image's patch into ever fewer, wider places, as Inkling's image encoder has it.

Source: transformers 5.23.0, models/inkling/modeling_inkling.py, ``plan_out_scales``. The plan picks one scale for each layer by
distances of logarithms, in float32 there; so here they are rounded to float32 too, since ties are common.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul

Scale = tuple[int, int, int]
"""How many frames and how many pixels along a side were folded into a place, and its channels."""


def patch_scales(frames: int, patch: int, layers: int, channels: int) -> list[Scale]:
    """Return the scale before the first layer, and after each: the whole patch is one place in the end.

    >>> patch_scales(2, 4, 3, 3)
    [(1, 1, 3), (1, 2, 64), (1, 4, 64), (2, 4, 6144)]
    """
    from math import log

    scales = _all_scales(frames, patch, channels)
    least = [_as_float32(log(frame * frame_side * frame_side)) for frame, frame_side, _ in scales]
    wanted = _linspace(_as_float32(log(patch * patch * frames * channels)), layers + 1)
    costs = [[_as_float32(abs(value - own)) for own in least] for value in wanted]
    picked = [row.index(min(row)) for row in costs] if layers >= len(scales) else _assign(costs)
    picked[0], picked[-1] = 0, len(scales) - 1
    return [scales[index] for index in picked]


def _all_scales(frames: int, patch: int, channels: int) -> list[Scale]:
    """Return all scales there are: sides grow by the prime factors of the patch, the largest first, then the frames do."""
    sides, times = ([*accumulate(_prime_factors(value)[::-1], mul)] for value in (patch, frames))
    spatial = [(1, side, (side * side * channels + 63) // 64 * 64) for side in sides]
    temporal = [(time, sides[-1], sides[-1] ** 2 * channels * time * 64) for time in times]  # 64 times as wide as the plan describes
    return [(1, 1, channels), *spatial, *temporal]


def _prime_factors(value: int) -> list[int]:
    factors, divisor = [], 2
    while divisor * divisor <= value:
        if value % divisor:
            divisor += 1
        else:
            factors.append(divisor)
            value //= divisor
    return [*factors, value] if value > 1 else factors


def _as_float32(value: float) -> float:
    """Round to float32."""
    from struct import pack, unpack

    return float(unpack("f", pack("f", value))[0])


def _linspace(end: float, count: int) -> list[float]:
    """Return as many values from 0 to *end* as torch makes them: the second half is counted from the end."""
    step = _as_float32(end / (count - 1))
    half = count // 2
    return [_as_float32(step * index) if index < half else _as_float32(end - step * (count - 1 - index)) for index in range(count)]


def _assign(costs: list[list[float]]) -> list[int]:
    """Return a column of its own for each row so that the costs are least in all, by the shortest augmenting path, as SciPy does.

    Source: Crouse, "On implementing 2D rectangular assignment algorithms", IEEE TAES 52 (2016). Ties are broken as there.
    """
    rows, columns = len(costs), len(costs[0])
    u, v = [0.0] * rows, [0.0] * columns
    row_of, column_of = [-1] * columns, [-1] * rows
    for current in range(rows):
        path, shortest = [-1] * columns, [float("inf")] * columns
        seen_rows, seen_columns = [False] * rows, [False] * columns
        remaining, least, row, sink = list(range(columns))[::-1], 0.0, current, -1
        while sink < 0:
            seen_rows[row] = True
            index, lowest = -1, float("inf")
            for place, column in enumerate(remaining):
                reduced = least + costs[row][column] - u[row] - v[column]
                if reduced < shortest[column]:
                    path[column], shortest[column] = row, reduced
                if shortest[column] < lowest or (shortest[column] == lowest and row_of[column] < 0):
                    lowest, index = shortest[column], place
            least, column = lowest, remaining[index]
            if row_of[column] < 0:
                sink = column
            else:
                row = row_of[column]
            seen_columns[column] = True
            remaining[index] = remaining[-1]
            remaining.pop()
        u[current] += least
        for other in range(rows):
            if seen_rows[other] and other != current:
                u[other] += least - shortest[column_of[other]]
        for column in range(columns):
            if seen_columns[column]:
                v[column] -= least - shortest[column]
        column, row = sink, -1
        while row != current:
            row = path[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
    return column_of
