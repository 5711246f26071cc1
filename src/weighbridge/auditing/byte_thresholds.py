"""Where a verdict on bytes turns: each threshold, and the case that it exists for."""

from __future__ import annotations

from weighbridge.auditing.text.exact import Exact

# amounts
MEMORY_TOLERANCE = Exact(1, 20)
"""How far a memory figure may be from the count times its bytes: ``14 GB`` of a 7B model that has 6.74 billion is fair."""
WHOLE_DIGITS = 5
"""Digits that a number of bytes shows at least before one digit of it is a slip: ``327,880 bytes`` of 327,680."""
PRODUCT_FAR = Exact(6, 5)
"""How far a figure must be from the product that stands beside it before it is wrong: ``48 GB (7B × 4 bytes)``."""
EXACT_PRODUCT_FAR = Exact(11, 10)
"""And how far one of three digits must be."""
ROUNDED_FAR = Exact(4, 3)
"""How many times too large a figure of one digit may be and still be a rounding: ``1 MB`` of 819,200 is, of 524,288 it is twice that."""
PROPORTIONAL_ROWS = 3
"""Rows of a column that grow as what they are of before one more that does not is wrong: caches of 4K, 32K, 128K and 200K tokens."""
COLUMN_FAR = Exact(11, 10)
AGREED_ROWS = 2
"""And how many times in a column of which at least that many, and most, figures are right: what it holds, in which dtype, is plain then."""
MEMORY_FAR = Exact(3, 2)
"""How far a memory figure must be off, either way, before it is wrong: overheads and padded files make smaller differences."""
CACHE_FAR = (Exact(3, 2), Exact(5, 4), Exact(53, 50))
"""And by the digits that a figure shows, how far one of a cache in a dtype that is said: nothing is added to it, ``554 KB`` for a token is no ``516``."""
NEEDED_FAR = Exact(5, 2)
"""And how many times too high one in a byte or half of one, where it is not said to be the weights' alone: what runs so packed needs room for
scales, unpacked tables and the work itself, ``INT4 约 6GB`` of ChatGLM-6B (3.1)."""
WEIGHTS_FAR = Exact(5, 4)
"""And how far one that is said to be the weights' alone, in a dtype of a byte or more: ``11 GB`` of 7B in 16 bits."""
GRID_CELLS = 4
"""Cells of a table of models called by their counts that are exactly so many bytes for each parameter, and three of four, before another is wrong."""
READ_FAR = Exact(101, 100)
"""How far a figure must be from all that it may be, beyond what its digits and its unit leave open, where every word about it was read: a cache of
known sizes, or one of a passage whose other figures are exactly their models' names times the bytes of each parameter."""
AGAIN_NEAR, AGAIN_FAR = Exact(201, 200), Exact(51, 50)
"""How near a figure must be to the one before it that it says again in another unit, beyond what their digits leave open, and how far to be wrong."""
TOTAL_FAR = Exact(21, 20)
"""And how far a sum must be from the figures before it, each of which is rounded."""
NAMED_FAR = Exact(26, 25)
"""And how far where the model is named: weights of Llama-2-13B in 16 bits are 26.03 GB, and no ``28 GB``."""
NOMINAL_FAR = Exact(23, 20)
"""And how far one of a model that is only called by its count: a ``7B`` has 6.2 to 7.7 billion."""
PACKED_FAR = Exact(3, 2)
"""And how far one in half a byte: quantized files hold scales beside the values, ``4.4 GB`` of a 7B in 4 bits."""
COUNTED_BYTES_FAR = Exact(27, 25)
"""And how far one of three digits from the count beside it, in thousands or in powers of two: ``124.92 MB`` of 31.23 million in fp32."""

# bytes_of_counts
FILES_NEAR, FILES_FAR = Exact(1, 100), Exact(1, 50)
"""How near bytes are that agree with the count beside them, and how far those must be off that do not where the others agree: a file has a header
beside its tensors, so that ``350 MB`` of 86.6M in fp32 (346.4) is left alone."""
FILE_DIGITS = 3
"""Digits that such a figure shows at least: ``1 GB`` is any of many counts."""

# cache_columns
CACHE_ROWS = 2
"""Caches of a column that must be their model's before the one that is not is wrong."""
CACHE_SLACK = Exact(1, 20)
"""How far a cache may be beyond its rounding: lengths in thousands are of 1,000 or of 1,024 tokens, and units likewise."""

# weight_groups
AGREED_WEIGHTS = 2
"""Figures of other models or dtypes that must be a count times its bytes before the one that is not is wrong, and so many for each that is not."""
WEIGHTS_NEAR = Exact(3, 100)
"""How near such a figure must be."""
WHOLE_WEIGHTS_FAR = Exact(27, 25)
"""How many times too small any figure of the weights must be, or too large one of three digits: in powers of two it is less by that."""

# run_times
RUN_NEAR, RUN_FAR = Exact(101, 100), Exact(51, 50)
"""How near a time, or work over time, must be to what its passage says, beyond its digits, and how far to be wrong."""

# adapter_passages
TRAINED_FAR = Exact(51, 50)
"""How far what an adapter trains must be from what rank, modules and model say before it is wrong: ``4.2M`` of 4,194,304 is cut or rounded."""

# caches
MOST_READINGS = 200
"""Readings of one figure that are tried; a sentence with more lengths in it says none."""

# memory_budgets
BUDGET_PRECISION = Exact(1, 50)
"""How much of a figure half a unit of its last digit may be for it to bear others out: ``18 GB`` does only where it is exactly that."""
BUDGET_DIGITS = 2
"""Digits that a figure shows at least, or others that bear it out, before one digit of it is a slip: a figure of one digit is always one off."""
PACKED_MORE = Exact(6, 5)
"""How many times too large one in half a byte must be: files in 4 bits hold scales beside the values."""
