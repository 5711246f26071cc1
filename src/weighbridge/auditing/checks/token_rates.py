"""The bytes that a cache takes for each token: by the sizes that a line says, by the model that it names, or as a figure says itself."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing.checks.cache_figures import ELSEWHERE, CacheFigure
from weighbridge.auditing.checks.caches import elements_per_token
from weighbridge.auditing.checks.dtypes import dtype_sizes
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.patterns import pattern
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL

_SIZES = {
    "layers": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?(?:transformer |decoder |hidden )?layers?\b|(?<![A-Za-z])(?:L|n_?layers?|num_(?:hidden_)?layers)\s?=\s?(\d{1,3})(?!\d)|(?<!\d)(\d{1,3})\s?层(?!数)", re.IGNORECASE),
    "keys": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?个?\s?(?:KV|key[-/ ]value)[- ]?(?:heads?\b|头)|(?:n_?kv(?:_heads)?|num_key_value_heads|kv_heads)\s?=\s?(\d{1,3})(?!\d)", re.IGNORECASE),
    "heads": pattern(r"(?<![A-Za-z0-9_.])(?<!\d,)(\d{1,3})[- ]?(?:attention )?heads?\b|(?<!\d)(\d{1,3})\s?个(?:注意力)?头", re.IGNORECASE),
    "width": pattern(
        r"(?:head[ _]?dim(?:ension)?|d_?head|(?<![A-Za-z_])d(?:_k)?)\s?(?:of|=|为|是|:)?\s?(\d{2,3})(?!\d)|(?<![\d,.])(\d{2,3})[- ]dim(?:ension(?:al|s)?)?\b(?: heads?)?|(?:heads? )?of (?:size |dimension )(\d{2,3})(?!\d)|heads (?:of|with) (\d{2,3})(?!\d)|每个?头\s?(\d{2,3})\s?维",
        re.IGNORECASE,
    ),
}  # fmt: skip
_BYTES = pattern(r"(?<![\d.])([124])\s?(?:bytes?|字节)(?! per token)", re.IGNORECASE)
_ON_ITS_OWN = pattern(r"\b(?:if|would|total|param\w*|over|weights?|a)\b", re.IGNORECASE)
"""Words of those that leave a figure open which leave open no sizes."""
REACH = 8
"""Lines around a figure within which what it is of may be said."""


class TokenRate(NamedTuple):
    """Between which numbers the bytes of one token lie, and the line that says so."""

    line: int
    low: Fraction
    high: Fraction
    column: int = 0


def rate_by_sizes(scene: Scene, index: int) -> Fraction | None:
    """Return the bytes of a token by the sizes that a line says: layers, heads of keys and values, their width, bytes of each number."""
    text = scene.lines[index].text
    found = {word: {next(filter(None, m.groups())) for m in words.finditer(text)} for word, words in _SIZES.items()}
    heads = found["keys"] or found["heads"]
    if len(found["layers"]) != 1 or len(heads) != 1 or len(found["width"]) != 1 or ELSEWHERE.search(_ON_ITS_OWN.sub(" ", text)):
        return None
    around = " ".join(scene.texts[max(0, index - REACH) : index + 1])
    sizes = {*dtype_sizes(text), *(Fraction(m[1]) for m in _BYTES.finditer(text))} or set(dtype_sizes(around)) or {Fraction(2)}
    if len(sizes) != 1:
        return None
    return 2 * Fraction(min(found["layers"])) * int(min(heads)) * int(min(found["width"])) * sizes.pop()


def rate_by_model(scene: Scene, index: int) -> Fraction | None:
    """Return the bytes of a token of the one model that a line names, in the one dtype that its passage says, or in 16 bits."""
    named = scene.mentions.get(index, ())
    if len(named) != 1 or named[0].kind != MODEL or is_of_their_own(scene, index):
        return None
    model = preset_model(named[0].names[0])
    sizes = dtype_sizes(scene.lines[index].text) or dtype_sizes(" ".join(scene.texts[max(0, index - REACH) : index + 1])) or [Fraction(2)]
    each = elements_per_token(model) if model is not None else 0
    return each * sizes[0] if each and len(sizes) == 1 and sizes[0] >= 1 else None


def rate_of_figure(figure: CacheFigure) -> TokenRate:
    """Return between which numbers the bytes of a token lie, in thousands or in powers of two."""
    half = figure.unit_shown / 2 if figure.unit[0] not in "b字" else Fraction(0)
    exact = figure.value.denominator == 1 and figure.value % _POWER == 0
    low, high = (figure.value, figure.value) if exact else (figure.value - half, figure.value + half)
    return TokenRate(figure.line, low * min(figure.scales), high * max(figure.scales))


_POWER = 32
"""Kilobytes of a token that are a multiple of so many are exact: ``512 KB``."""
