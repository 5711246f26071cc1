"""The sizes that a text gives a model of its own, which no preset is: in words, in settings and in letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.settings import read_settings

SIZES = frozenset(("layers", "hidden", "mlp", "heads", "kv_heads", "head_dim", "vocab", "positions", "inner"))
_MOST = {"layers": 1000, "heads": 1000, "kv_heads": 1000, "head_dim": 4096, "hidden": 200_000, "inner": 200_000, "mlp": 1_000_000}
_MOST_OF_ANY = 10**7
"""What is larger behind such a word is a count of it: ``per layer: 995,904``."""
_MORE = {
    "layers": pattern(r"(?<![\d.,-])(?P<number>\d{1,3})-(?:layer|block)s?(?:ed)?\b|(?<![\d.,第前后每])(?P<more>\d{1,3})\s?(?:个\s?)?(?:block|块)(?![a-z])", re.IGNORECASE),
    "heads": pattern(r"(?<![\d.,-])(?P<number>\d{1,3})-heads?(?:ed)?\b|\bnhead\s?=\s?(?P<last>\d{1,3})(?!\d)|(?<![\d.,第前后每])(?P<more>\d{1,3})\s?头(?:注意力|自注意力)", re.IGNORECASE),
    "hidden": pattern(r"(?<![\d.,])(?P<number>\d{2,5}) (?:feature )?channels\b|\b(?:width|dim|embed_dim)(?: of| is|\s?[=:])? ?(?P<more>\d{2,5})(?![\d.,]*\d)", re.IGNORECASE),
    "mlp": pattern(r"\bdim_feedforward\s?=\s?(?P<number>\d{2,6})(?!\d)|\b(?:dim_ff|ffn_dim|ff_size)\s?=\s?(?P<more>\d{2,6})(?!\d)"),
    "vocab": pattern(r"\bvocabulary (?:of|size of|has|with) (?P<number>\d{1,3}(?:,\d{3})+|\d{2,7})(?![\d.,]*\d)|词表(?:大小)?(?:有|为|是|共|[:：])?\s?(?P<more>\d{2,7})(?![\d.,]*\d|\s?[万KkMm])", re.IGNORECASE),
}  # fmt: skip
"""Further ways to say a size of a model of one's own."""
_HEADS = pattern(r"(?<![A-Za-z0-9_])h\s?=\s?(?P<number>\d{1,3})(?![\d.,]*\d|\s?[×x*+/^])")
"""The paper's letter for the number of heads, beside its others."""
_WIDTH = pattern(r"(?<![A-Za-z0-9_])d\s?=\s?(?P<number>\d{2,5})(?![\d.,]*\d|\s?[×x*+/^])")
_BESIDE = pattern(r"\d heads|\d layers|(?<![A-Za-z])L\s?=\s?\d|层|个头")
"""A width by its letter, and what must stand on its line."""
_OF_INNER = pattern(r"(?:\bmlp|\bffn|\bfeed[- ]?forward|前馈|\bintermediate|中间)[^,，;；。]{0,24}$", re.IGNORECASE)
"""Words by which a hidden size is that of the feed-forward network: ``the MLP has a hidden size of 512``."""


@once_for_each_text
def plain_sizes_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return the sizes that a line says in words or sets, each number once.

    >>> plain_sizes_of("12 layers, d_model = 512 and a vocabulary of 32,000 tokens")
    (('layers', 12), ('hidden', 512), ('vocab', 32000))
    """
    return tuple((word, value) for word, value, *_ in placed_sizes(text) if word != "inner")


@once_for_each_text
def placed_sizes(text: str) -> tuple[tuple[str, int, int, int], ...]:
    """Return them with where their numbers stand; ``inner`` is a ``hidden_dim``, which is the width of the model or of its feed-forward network.

    >>> [(word, value) for word, value, *_ in placed_sizes("a 4-layer, 4-head model; the MLP has a hidden size of 512")]
    [('layers', 4), ('heads', 4), ('mlp', 512)]
    """
    found: dict[int, tuple[str, int, int, int]] = {}
    for word, value, start, end in _read(text):
        if (
            word in SIZES
            and 0 < value <= _MOST.get(word, _MOST_OF_ANY)
            and not (word in _RESULTS and _COMPUTED.search(text, max(0, start - _BEFORE), start))
        ):
            if _COUNTED.match(text, end):
                continue
            inner = word == "hidden" and _OF_INNER.search(text, max(0, start - _BEFORE), start) is not None
            found.setdefault(start, ("mlp" if inner else word, value, start, end))
    return tuple(found[start] for start in sorted(found))


_COUNTED = pattern(r"\s?(?:个\s?)?(?:可?训?练?参数|params?\b|parameters|weights\b|权重)", re.IGNORECASE)
"""Behind a number that counts what such a thing holds: ``its MLP has 524,288 parameters``."""
_BEFORE = 60
_RESULTS = frozenset(("hidden", "heads", "layers"))
_COMPUTED = pattern(r"\d\s?=\s?$")
"""Before the result of an equation, which is no size that the text sets: ``384/6 = 64 wide``."""


def _read(text: str) -> Iterator[tuple[str, int, int, int]]:
    for setting in read_settings(text):
        digits = text[setting.start : setting.end].replace(",", "").replace("_", "")
        if digits.isdigit():
            yield "inner" if setting.key.lower() == "hidden_dim" else setting.kind, int(digits), setting.start, setting.end
    for size in find_described_sizes(text):
        yield size.word, size.value, size.start, size.end
    for letter in _WIDTH.finditer(text) if _BESIDE.search(text) else ():
        yield "hidden", int(letter["number"]), *letter.span("number")
    for letter in _HEADS.finditer(text) if "d_model" in text or "d_k" in text else ():
        yield "heads", int(letter["number"]), *letter.span("number")
    for word, words in _MORE.items():
        for one in words.finditer(text):
            yield word, int(one[one.lastgroup or 0].replace(",", "")), *one.span(one.lastgroup or 0)
