"""A text that ``weigh explain`` wrote: found by its title, written once more, and compared line by line.

What the other checks understand they judge by themselves. Here every number of such a text is held against the
derivation itself, down to the numbers of its sections, and its own lines are no claims to quarrel with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.claims import Claim, Line, said
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import languages, mark, translator
from weighbridge.explain.derive import derive

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_TITLE = re.compile(r"([A-Z]\w{2,60}) +· +(\S[^:]{0,200}?)(?: +· +([\w.]+))?(?::| {2}) *[\d,]+ +(\w+)")
_SIZE = re.compile(r"[\s|]*([A-Za-z][\w']{0,3})[\s|]+([a-z][\w.]*_?\w*)[\s|].*?([\d,]+)[\s|;]*$")
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_FORMS = ("text", "markdown", "html", "latex")
_ENDINGS = {"text": "txt", "markdown": "md", "html": "html", "latex": "tex"}
_DEPTHS = (None, 1, 2, 3)
_FAR = 4_000
"""Lines after a title that a derivation may have."""


class Title(NamedTuple):
    """What the first line of a derivation says, and where it stands."""

    place: int
    class_name: str
    source: str
    module: str
    language: str


class Rendition(NamedTuple):
    """A derivation found in a text: its model, and by index of line what the line should be."""

    model: ModelValue
    expected: Mapping[int, str]


def recognised(lines: Sequence[Line], model: ModelValue | None = None) -> Rendition | None:
    """Find a derivation in a text, if at least nine tenths of one stand there word for word.

    Args:
        lines: The text.
        model: The model it is said to be about; else its title and its table of symbols tell.

    >>> recognised([Line(1, "", "2 + 2 = 4", ())]) is None
    True
    """
    title = titled(lines)
    if title is None:
        return None
    given = [index for index in range(title.place, min(len(lines), title.place + _FAR)) if lines[index].text.strip()]
    texts = [_blank(lines[index].text) for index in given]
    for candidate in (model,) if model is not None else _candidates(title, lines):
        assert candidate is not None
        for written in _written(candidate, title):
            pairs = _aligned(texts, written)
            if pairs is not None:
                return Rendition(candidate, {given[at]: right for at, right in pairs.items()})
    return None


def titled(lines: Sequence[Line]) -> Title | None:
    """Return the title of a derivation: a class, a source, and how many parameters.

    >>> titled([Line(1, "", "# BertModel · bert-base-chinese: 102,267,648 parameters", ())])
    Title(place=0, class_name='BertModel', source='bert-base-chinese', module='', language='en')
    """
    endings = {translator(language)("{total} parameters").split()[-1]: language for language in languages()}
    for index, line in enumerate(lines):
        found = _TITLE.search(line.text) if "·" in line.text else None
        if found is not None and found[4] in endings:
            return Title(index, found[1], found[2], found[3] or "", endings[found[4]])
    return None


def check(lines: Sequence[Line], rendition: Rendition, claims: Sequence[Claim]) -> list[Claim]:
    """Return *claims* with those on true lines put right, and a slip for each number that is not the derivation's.

    Args:
        lines: The text.
        rendition: What was recognised in it.
        claims: What the other checks found.
    """
    odd = {index for index, right in rendition.expected.items() if _blank(lines[index].text) != right}
    # Several lines of a page may stand in one line of its file.
    true = {lines[index].number for index in rendition.expected} - {lines[index].number for index in odd}
    kept = [claim for claim in claims if claim.verdict not in ("wrong", "carried") or claim.line not in true]
    told = {claim.line for claim in kept if claim.verdict in ("wrong", "carried")}
    for index in sorted(odd):
        if lines[index].number not in told:
            kept += _slips(lines[index], rendition.expected[index])
    judged = {claim.line for claim in kept}
    return kept + [_right(lines[index]) for index in rendition.expected if lines[index].number not in judged and _tells(lines[index])]


def _tells(line: Line) -> bool:
    """Tell whether a line states a size or a count, and is no mere title with the number of a section."""
    return bool(_SIZE.match(line.text) or re.search(r"\d,\d{3}", line.text))


def _right(line: Line) -> Claim:
    last = list(_DIGITS.finditer(line.text))[-1]
    value = Fraction(last.group().replace(",", ""))
    start, end = line.at[last.start()], line.at[last.end() - 1] + 1
    kind = "configuration" if _SIZE.match(line.text) else "component"
    return Claim(line.number, start, end, last.group(), kind, "exact", value, value, Fraction(0))


def _slips(line: Line, right: str) -> Iterator[Claim]:
    """Say of each number of a line that it should be another."""
    for found, wanted in zip(_DIGITS.finditer(line.text), _DIGITS.findall(right), strict=True):
        if found.group() == wanted:
            continue
        value, expected = (Fraction(text.replace(",", "")) for text in (found.group(), wanted))
        start, end = line.at[found.start()], line.at[found.end() - 1] + 1
        kind = "share" if line.text[found.end() :].lstrip()[:1] == "%" else "configuration" if _SIZE.match(line.text) else "component"
        reason = said(mark("the derivation has {right} here"), right=wanted)
        yield Claim(line.number, start, end, found.group(), kind, "wrong", value, expected, value - expected, reason)


def _candidates(title: Title, lines: Sequence[Line]) -> Iterator[ModelValue]:
    """Yield the models that a title can mean: the preset of that name, one like it, or its class with the sizes of the table."""
    from weighbridge.auditing.checks.names import known
    from weighbridge.load import load

    like = [name for name in known() if _bones(name) == _bones(title.source)]
    for name in sorted(like, key=lambda name: name != title.source):
        for class_name in (title.class_name, None):
            try:
                yield load(name, class_name)
                break
            except WeighbridgeError:
                continue
    sizes = {key: value for _, key, value in _sizes(lines[title.place + 1 :])}
    for model_type in _types(title.class_name):
        try:
            yield load({"model_type": model_type}, title.class_name, sizes).replace(source=title.source)
        except WeighbridgeError:
            continue


def letters(lines: Sequence[Line]) -> dict[str, int] | None:
    """Return what the letters of a derivation stand for, by its table of symbols; None if the text is none.

    >>> letters([Line(1, "", "2 + 2 = 4", ())]) is None
    True
    """
    title = titled(lines)
    return None if title is None else {letter: value for letter, _, value in _sizes(lines[title.place + 1 :])}


def _sizes(lines: Sequence[Line]) -> Iterator[tuple[str, str, int]]:
    """Yield the letters of a table of symbols, each with its config key and its value."""
    started = False
    for line in lines[:80]:
        found = _SIZE.match(line.text)
        if found is not None:
            yield found[1], found[2], int(found[3].replace(",", ""))
        elif started and line.text.strip():
            return
        started = started or found is not None


def _types(class_name: str) -> Iterator[str]:
    """Yield the model types that have a class of this name."""
    from weighbridge.blueprints import MODULES, family

    yield from (model_type for model_type in MODULES if class_name in family(model_type).classes)


def _written(model: ModelValue, title: Title) -> Iterator[list[str]]:
    """Write a derivation in each form and to several depths, and read it as any other text is read."""
    # The renderers stand above the proofs; here, and only here, a proof reads what they write.
    from weighbridge.auditing.text.reading import read_lines
    from weighbridge.documents.explain import document
    from weighbridge.documents.renderers import render

    for depth in _DEPTHS:
        try:
            laid = document(derive(model, title.language, module=title.module, depth=depth))
        except WeighbridgeError:
            return
        for form in _FORMS:
            lines = read_lines(render(laid, form).encode(), f"derivation.{_ENDINGS[form]}")
            start = next((index for index, line in enumerate(lines) if _TITLE.search(line.text)), 0)
            yield [_blank(line.text) for line in lines[start:] if line.text.strip()]


def _aligned(texts: Sequence[str], written: Sequence[str]) -> dict[int, str] | None:
    """Put lines beside those they stand for; None unless nearly all are there, and nearly all alike."""
    bones = [_bones(text) for text in written]
    if len(set(bones) & {_bones(text) for text in texts}) < 0.9 * len(set(bones)):
        return None
    matcher = SequenceMatcher(None, [_bones(text) for text in texts], bones, autojunk=False)
    pairs = {block.a + at: written[block.b + at] for block in matcher.get_matching_blocks() for at in range(block.size)}
    alike = sum(texts[at] == right for at, right in pairs.items())
    return pairs if alike >= 0.9 * len(written) else None


def _bones(text: str) -> str:
    """Return a text with every number taken out."""
    return _DIGITS.sub("#", text)


def _blank(text: str) -> str:
    return " ".join(text.split())
