"""Where a verdict turns: each threshold, and the case that it exists for; those of bytes are in ``byte_thresholds``, those of tables in ``table_thresholds``. ``tests/unit/auditing/test_thresholds.py`` holds both sides."""

from __future__ import annotations

from weighbridge.auditing.text.exact import Exact

# arithmetic
EXACT_DIGITS = 4
"""Digits that a rounded number shows at most; with more it is exact, and ``≈`` beside it compares two numbers."""
NEAR_BY_SIGN = Exact(1, 20)
"""How far two numbers may be apart that ``≈`` says to be near: ``7,087,872 ≈ 12 × 768²``."""


# work
WORK_TOLERANCE = Exact(1, 4)
"""How far FLOPs for a token may be from a multiple of the parameters: attention scores, embeddings and heads are counted or not."""
WORK_FAR = 20
"""How many times FLOPs must be off all such multiples before it is wrong: a prefix too high or too low is a thousand."""

WORK_SAID_FAR = Exact(3, 2)
"""And how many times where the text says what it multiplies: ``2N = 27 GFLOPs`` of a model of 6.7B."""
TRAINING_FAR = 4
"""How many times the FLOPs of a training run must be off six for each parameter and token, where no rule is said, before they are wrong:
attention, recomputation and rounded counts make less."""

# comparisons
RATIO_TOLERANCE = Exact(3, 50)
"""How far ``3 times larger`` may be from the ratio of the two counts: authors divide published figures."""
RATIO_FAR = Exact(4, 3)
"""How many times it must be off every ratio before it is wrong."""

# settle
PLAIN_COST = 1
"""A rounded figure is held only against conventions of this cost: a wider net would catch any number."""
PUBLISHED_FAR = Exact(1, 10)
"""How far from the model's count a published figure may be and still be one of it: ``110M`` of bert-base-chinese
(102,267,648) is within, ``110M`` of the multilingual model (177,853,440), copied from its sister, is not."""
ROUGH_FAR = Exact(6, 25)
"""How far from the model's count another class's, or a figure that is cut off, may be where one digit is all that is shown: ``1B`` of T5-3B's encoder
(1.24) is not the model's, ``2B`` of its 2.85 is no cut."""
CUT_FAR = Exact(1, 10)
"""And a figure that ends in one zero: ``110M`` of GPT's 117 is cut, ``30B`` of DeepSeek-V3's 37.6 active is not."""
MOST_LABELS = 1000
"""Labels that a classification head may have: ImageNet's."""
HEDGED = Exact(1, 20)
"""How far a figure that is said to be approximate may be off and still be fair: ``about 100M`` of 104M."""
ROUNDED_DIGITS = 3
"""Digits from which on a figure that is not said to be approximate has to be the count's: ``6.94B`` of Llama 2 7B (6.74) is not, ``6.9B`` is left."""

# totals
SAME_COUNT = Exact(3)
"""How many times too large or small a claim may be and still be one about this count: ``47B`` active of 37B is, a
``7B`` beside a model of 671B is about another model."""

LARGE_MODEL = 100 * 10**9
"""Parameters from which on authors' own totals differ from the class's: ``1.04T`` of Kimi K2's 1,026 billion."""
LARGE_NEAR = Exact(1, 50)
"""And how far they may."""
SLIP_FAR = Exact(1, 10)
"""How far a count with one digit changed must be from the model's own before it is wrong although it is said to be near, or of what works on a token."""
ACTIVE_NEAR = Exact(1, 50)
"""How far outside all ways to count what works on a token a figure must be to be wrong: ``37.45B`` of DeepSeek-V3 (37.55) leaves its routers out."""
WITHOUT_TABLES_NEAR = Exact(1, 20)
"""How far a count without embeddings may be: authors leave out one table or two, and the final norm."""
SHIFTED_DIGITS = 2
"""Digits that a figure must share with a count before it is that count in another unit: ``110 billion`` of 110 million, and no ``7M`` of 7B."""

# count_subjects
NAME_REACH = 3
"""Lines below a name that stands alone within which a count is surely of that model."""
LEFTOVER = 2
"""Letters between a name and its count that are no words of counting, and still no doubt: a plural's s, a unit."""
LISTED = 80
"""The same letters where the name begins the line, as in a list of checkpoints with remarks."""
FAMILY_REACH = 8
"""Lines below a family's name within which a count may be of one of its members."""

# closed_families
FAMILY_FAR = Exact(2, 25)
"""How far a count must be from that of every member of a complete family before it is wrong of the family: ``GPT-3 has 155B`` (174.6 is the nearest);
``GPT-2 has 1.5B`` (1.56) and ``117M`` (124) are the authors' figures."""

# family_lists
LISTED_FAR = Exact(1, 40)
"""And one of three digits in a list whose others are all members': ``185B`` beside ``125M`` of GPT-3 (174.6)."""

# main_model
AGREED_SIZES = 4
"""Sizes that settle which member of a named family a text is about, though one size more may be a slip."""

# section_shares
APPORTIONED = Exact(3, 2)
"""Units of the last place that a share may be off: those of a breakdown are often rounded so that they add up, level by level."""

# restated
SMALLEST_RESTATED = 1000
"""A smaller number is equal to another by chance."""
RESTATED_DIGITS = 3
"""Digits that a rounding must show before it can be said to be one of a certain number: ``38.6M``, and no ``40M``."""

# nearby
SUM_DIGITS = 2
"""Digits that a figure must show before a sum of others explains it."""
CERTAIN_DIGITS = 5
"""Digits that a total shows before any few of the numbers above it may explain it: fewer agree by chance."""
SAME_NUMBER = Exact(1, 50)
"""How far a figure in parentheses may be from the whole number before it and still be meant for it: ``7,087,872 (7.19M)``;
``671,026,404,352 (37B)`` says something else."""
BLOCK_LINES = 12
"""Lines that stand together; a number is explained by those of its own block only."""
SHARE_REACH = 6
"""Lines between a share and its two counts."""

# components
AGREED_PARTS = 2
"""Right counts beside a component's before that may be wrong: the model and how it is counted are beyond doubt then."""
BESIDE_PARTS = 5
"""Lines about a count within which they stand."""
SLIP_APART = (10, 10, 10, 50, 100, 1000, 10_000)
"""By the digits that a figure shows, the share of a count that it must be off before it is a slip: a tenth at two digits, a fiftieth at three."""
LARGE_NUMBER = 100_000
"""A number in a formula from which on it is a count, and no size."""

# modules
LEAST_MODULES = 3
"""Modules that must be a preset's before the printed model is taken for it, where the text names none."""
SMALLEST_WIDTH = 64
"""A width below is one of outputs: ``Linear(768, 3)`` has three labels."""

SURE_MODULES = 6
"""And how many must be, all but one, before that one is wrong in a model that no name settles: a model of one's own differs in more."""
LEAST_SHARING = 4
"""Modules of a printed model that take or give vectors of one width, before the only one that does not is wrong."""

# configuration
AGREED_SETTINGS = 2
"""Settings beside one that must be the model's, with its name above them, before that one is wrong: others make a model of their own."""
BESIDE_LINES = 12
"""Lines within which another size must be the model's before one that is not is called wrong."""

# fields
AGREED_FIELDS = 2
"""Sizes of a list that must be the model's before another of them is wrong: one may be by chance."""
FIELD_REACH = 12
"""Lines above a size within which a name says what it is of, and lines that a list of sizes may leave between two."""
SETTING_GAP = 6
"""Lines without a setting that end a list of settings."""
LISTED_REACH = 60
"""Lines above a size within which the last name, where no other stands between, says what a list of settings is of."""
LEAD_LETTERS = 12
"""Letters beside a name that stands alone above a list of its settings: ``Llama 3 8B architecture``."""
FIELD_GAP = 60
"""Characters between a name and a size that one sentence says of it."""

# plain_fields
TOKENIZER_SHORT = 20
"""The part of a table's rows, one of so many, by which a tokenizer may have fewer words: 50,257 of phi-2's 51,200."""

ADDED_TOKENS = 2
"""Tokens that people add to a vocabulary: ``32,001`` of Llama's 32,000 holds one for padding."""

# ratios
SHARE_STEPS = 1
"""Units of the last place that a share may be off: some are cut and not rounded."""

# tensors
MOST_COPIES = 256
"""Tensors of one shape that a line may count together: as many as a layer has experts."""

# pictures
THOUSANDS_FAR = 10
"""A vocabulary in thousands is wrong where it is off by more than one part of so many: ``30k`` of 32,000 is not."""

# agreed_settings
LEAST_SET_COUNT = 100_000
"""A number without a unit that a setting called the parameters has is a count from here on: below, ``params: 4`` counts the parameters of something else."""

# tally
SMALLEST_CLAIM = 1000
"""A number below is a size or a factor, and a claim only where it stands behind a size's name."""

# agreed_sentences
AGREED_BLOCK = 3
"""Kinds of sizes of a section that must be the model's before one that is not is wrong, where its own sentence has no two of them."""

# weight_groups
AGREED_WEIGHTS = 2
"""Figures of other models or dtypes that must be a count times its bytes before the one that is not is wrong, and so many for each that is not."""
WEIGHTS_NEAR = Exact(3, 100)
"""How near such a figure must be."""
WHOLE_WEIGHTS_FAR = Exact(27, 25)
"""How many times too small any figure of the weights must be, or too large one of three digits: in powers of two it is less by that."""

# original_transformer
PAPER_SIZES = 2
"""Sizes of the paper's model, of other kinds, that a text or a sentence has right at least before one more is wrong: ``d_model=512, h=8, d_ff=3048``."""
PAPER_SIZES_OF_BLOCK = 3
"""And a block of code, whose author may well set one of them anew."""
PAPER_SLIPS, PAPER_AGREED = 2, 3
"""Sizes of a text that are not the paper's, at most, and how many times as many it must give in all: with more it has another model, ``20 层编码器、6 层解码器``."""

# own_parts
OWN_SLIPS, OWN_AGREED = 2, 3
"""Counts of a described model that no reading of its sizes gives, at most, unless so many times as many are right: with more the text has sizes that were not read."""
