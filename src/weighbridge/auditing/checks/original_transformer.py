"""What a text says of the Transformer of 2017: its sizes and counts are those of its paper's Table 3, or a slip of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.paper_counts import check_totals
from weighbridge.auditing.checks.paper_lines import is_about_paper, is_of_paper, subjects_of_line
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.paper_sizes import PaperSize, paper_sizes
from weighbridge.auditing.text.transformer_paper import (
    ABLATIONS,
    BASE,
    BIG,
    label_before,
    names_another,
    names_paper,
    paper_sentence,
    speaks_of_paper,
    speaks_otherwise,
)
from weighbridge.auditing.thresholds import PAPER_AGREED, PAPER_SIZES, PAPER_SIZES_OF_BLOCK, PAPER_SLIPS
from weighbridge.core._namedtuple import NamedTuple

_COUNTED = ("layers", "heads")
"""Small numbers, which are said of much else than the paper's model."""


class _Said(NamedTuple):
    """A size that the text may give the paper's model.

    Attributes:
        line, size: Where, and which.
        start: Where its sentence begins.
        named: Whether the sentence names that model before it.
        plain: Whether its words say that it is the paper's.
        label: Which of the two models they say: ``base``, ``big`` or neither.
        coded: Whether a line of code sets it.
    """

    line: int
    size: PaperSize
    start: int
    named: bool
    plain: bool
    label: str
    coded: bool


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold the sizes and counts that a text gives the paper's model against Table 3.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    if scene.given or not is_about_paper(scene):
        return
    skipped = {*tabled, *(line for table in scene.tables for line in table.lines)}
    lines = [line for line in scene.counted_lines if line not in skipped and is_of_paper(scene, line)]
    said = [one for line in lines for one in _sizes(scene, line)]
    agreed = {word for one in said if one.size.value in _right(one) for word in _meant(one)}
    unmixed = not scene.mentions and not any(map(speaks_otherwise, scene.texts))
    others = Counter((one.line, one.start) for one in said if _dissents(scene, one))
    few = others.total() <= PAPER_SLIPS and others.total() * PAPER_AGREED <= len(said)
    for one in said:
        alone = few and others[one.line, one.start] <= 1
        yield from _size(scene, one, said, agreed, unmixed=unmixed, alone=alone)
    for line in lines if len(agreed) >= PAPER_SIZES else ():
        firm = few and not any(place == line for place, _ in others)
        yield from (claim for claim in check_totals(scene, line) if firm or claim.verdict != "wrong")


def _sizes(scene: Scene, line: int) -> Iterator[_Said]:
    """Yield the sizes of a line that may be the paper's."""
    text, setters = scene.texts[line], subjects_of_line(scene, line)
    coded = _CODE.match(text) is not None
    for size in paper_sizes(text):
        start, stop = paper_sentence(text, size.start)
        own = [paper for place, paper in setters if place <= size.start]
        if (own and not own[-1]) or (not own and start == 0 and not is_of_paper(scene, line)) or speaks_otherwise(text[start:stop]):
            continue
        plain = speaks_of_paper(text[start:stop]) or (coded and _is_headed(scene, line))
        yield _Said(
            line,
            size,
            start,
            any(start <= place < size.start for place, paper in setters if paper),
            plain,
            label_before(text, start, size.start),
            coded,
        )


_CODE = pattern(r"\s*[\"']?[A-Za-z_][\w.]*[\"']?\s*(?:=\s*[A-Za-z_]\w*\s*)?[=:]\s*\d+\s*,?\s*(?:#|//|$)")


def _is_headed(scene: Scene, line: int) -> bool:
    """Tell whether a block of assignments stands under words that call it the paper's model."""
    above = line
    while above >= 0 and _CODE.match(scene.texts[above]):
        above -= 1
    return (
        above >= 0
        and speaks_of_paper(scene.texts[above])
        and bool(names_paper(scene.texts[above]))
        and not speaks_otherwise(scene.texts[above])
    )


def _right(one: _Said) -> Collection[int]:
    """Return the numbers that a size may be."""
    if one.size.word == "dimension":
        return {row[word] for row in (BASE, BIG) for word in ("hidden", "mlp", "head_dim")}
    rows = {"base": (BASE,), "big": (BIG,)}.get(one.label, (BASE, BIG))
    both = (12,) if one.size.word == "layers" else ()
    return {*(row[one.size.word] for row in rows if one.size.word in row), *both}


def _dissents(scene: Scene, one: _Said) -> bool:
    """Tell whether a size is not the paper's; twelve layers are, of both sides together, and of one are not."""
    sided = one.size.word == "layers" and one.size.value != BASE["layers"] and _SIDE.match(scene.texts[one.line], one.size.end) is not None
    return bool(_right(one)) and (one.size.value not in _right(one) or sided)


_SIDE = pattern(r"\s?(?:个\s?)?(?:层\s?)?的?\s?(?:编码|解码|encoder|decoder)", re.IGNORECASE)


def _meant(one: _Said) -> Collection[str]:
    """Return which sizes of the model a right number is: a width may be that of the model or of its feed-forward network."""
    if one.size.word != "dimension":
        return {one.size.word} & SIZE_TITLES.keys()
    return {word for word in ("hidden", "mlp", "head_dim") if one.size.value in (BASE[word], BIG[word])}


def _size(scene: Scene, one: _Said, said: Sequence[_Said], agreed: Collection[str], *, unmixed: bool, alone: bool) -> Iterator[Claim]:
    right, word = _right(one), "hidden" if one.size.word == "dimension" else one.size.word
    if word not in SIZE_TITLES or not right:
        return
    token = Token("num", "", one.line, one.size.start, one.size.end)
    if one.size.value in right:
        if len(agreed) >= PAPER_SIZES:
            yield field_claim(scene, token, word, one.size.value, one.size.value, "exact")
    elif alone and not names_another(_sentence(scene, one)) and _is_wrong(one, said, agreed, unmixed=unmixed):
        nearest = min(right, key=lambda value: (not is_slip(str(one.size.value), str(value)), abs(value - one.size.value)))
        yield field_claim(scene, token, word, one.size.value, nearest, "wrong")


def _sentence(scene: Scene, one: _Said) -> str:
    """Return the sentence of a size without the name of the paper and of its authors."""
    text = scene.texts[one.line]
    for start, end in names_paper(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return text[slice(*paper_sentence(text, one.size.start))]


def _is_wrong(one: _Said, said: Sequence[_Said], agreed: Collection[str], *, unmixed: bool) -> bool:
    """Tell whether a size is wrong of the paper's model beyond doubt: others around it are that model's, and it is said of the paper, or is a slip of its number."""
    beside = {
        other.size.word
        for other in said
        if other is not one and (other.line, other.start) == (one.line, one.start) and other.size.value in _right(other)
    }
    others = set(agreed) - {one.size.word}
    least = PAPER_SIZES - one.named
    again = [
        other
        for other in said
        if (other.line, other.start, other.label, other.size.word) == (one.line, one.start, one.label, one.size.word)
    ]
    if one.size.word != "layers" and any(other.size.value in _right(other) for other in again):
        return False  # ``h=8 ... 单头与 32 头都差一些``: its own stands beside it
    if one.size.value in ABLATIONS.get(one.size.word, ()) and len(beside - {one.size.word}) < PAPER_SIZES:
        return False
    if one.coded:
        return one.plain and len(others) >= PAPER_SIZES_OF_BLOCK
    if one.size.word in _COUNTED:
        settled = one.plain or len(beside - {one.size.word}) >= PAPER_SIZES or (unmixed and len(others) >= PAPER_SIZES_OF_BLOCK)
        return len(others) >= least and settled
    mistyped = any(is_slip(str(one.size.value), str(value)) for value in _right(one))
    return mistyped and len(others) >= least
