"""Where a verdict on a table turns: each threshold, and the case that it exists for."""

from __future__ import annotations

from weighbridge.auditing.text.exact import Exact

# table_subjects
MOST_MEMBERS = 24
"""Members of a family that are held against a size."""
FAMILY_ABOVE = 30
"""Lines above a table within which a family's name is the table's."""

# table_counts
OTHER_CONVENTION_ROWS = 6
OTHER_CONVENTION_PART = 4
"""Rows of a column whose counts are not their models', and that one in so many must be, before it counts by a convention of its own: TransformerLens's ``n_params``."""

# model_tables
SURE_ROWS = 3
"""Rows named by sizes alone whose counts are those of a family's members, before the one that is not is wrong."""
NAME_AND_SIZE = 2
"""Cells of a row that holds a name and one size."""
SURE_COUNTS = 2
"""Models of a table whose counts are theirs, before the count of another is wrong however far off it is."""

# breakdowns
LEAST_SUMS = 2
"""Rows of a breakdown that must follow from rows above them, before the one number that breaks it is wrong."""

# column_sums
LEAST_ROWS = 2
"""Rows that a sum has at least."""

# open_sums
OPEN_PARTS = 3
"""Parts that a breakdown has at least, before the one of its numbers that nothing confirms is wrong where the sum does not close."""
OPEN_RATIO = 3
"""And how many times what closes the sum may be what is said: more would be a part that is not listed."""

# row_relations
RELATED_ROWS = 2
"""Rows in which one column must follow from others before it is said to."""
RELATED_DIGITS = 3
"""Digits that a figure of such a row must show: ``3B`` is the sum of ``1B`` and ``2B`` by chance."""

# work_columns
WORK_AGREED = 2
"""Figures of a column of arithmetic that must be right, and twice as many as are not, before one that is not is wrong."""
WORK_COLUMN_TOLERANCE = Exact(3, 100)
"""How far a published figure of a pass may be from a tool's count of it: tools differ in norms, biases and activations."""

# cache_columns
CACHE_ROWS = 2
"""Caches of a column that must be their model's before the one that is not is wrong."""
CACHE_SLACK = Exact(1, 20)
"""How far a cache may be beyond its rounding: lengths in thousands are of 1,000 or of 1,024 tokens, and units likewise."""

# agreed_columns
AGREED_COLUMN, AGREED_VALUES = 4, 3
"""Rows of known models, and different numbers in them, by which a column whose head says nothing is told by what it holds: ``Dec. no.`` above 12, 24, 36 and 48."""
