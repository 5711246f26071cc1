"""Many configs at once: any account over columns of sizes, each row exact.

>>> from weighbridge.columns import count
>>> count("bert", {"num_hidden_layers": [12, 24]}).tolist()
[109482240, 194536704]
"""

from __future__ import annotations

from weighbridge.columns.column import LIMIT, Column, column, values_of
from weighbridge.columns.costs import cache_per_token, forward_flops, memory
from weighbridge.columns.evaluate import ACCOUNTS, count, measure
from weighbridge.columns.frames import measure_table

__all__ = [
    "ACCOUNTS",
    "LIMIT",
    "Column",
    "cache_per_token",
    "column",
    "count",
    "forward_flops",
    "measure",
    "measure_table",
    "memory",
    "values_of",
]
