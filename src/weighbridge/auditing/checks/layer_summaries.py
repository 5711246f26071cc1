"""Lists of layers as torchinfo, torchsummary and Keras print them: the counts of the layers add up to the total below them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Line, Reason, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

_HEAD = pattern(r"\bLayer \(type\b.*?(?P<column>\bParam #)")
_TOTAL = pattern(r"\s*Total params: (\d[\d,]*)(?![\d,.])")
_COUNT = pattern(r"(?<![\w.,])\(?(?P<count>\d{1,3}(?:,\d{3})+|\d{1,15})\)?(?![\w.,])(?P<again> \(recursive\))?")
_BARS = pattern("[│┃|]")
_KIND = pattern(r"(?P<name>[A-Za-z_]\w*)[^:]*: (?P<depth>\d+)-\d+|(?P<layer>[A-Za-z_]\w*)-\d+\s|\((?P<type>[A-Za-z]\w*)\)")
_MOST_LINES = 20_000
"""Lines below a head within which its total may stand."""
_BEYOND = 3
"""Lines between the last layer and the total: a rule, and an empty line."""


class _Layer(NamedTuple):
    """A row that holds parameters of its own: where its count stands, and of what kind it is, by its class and its depth."""

    token: Token
    number: int
    kind: str


class _Summary(NamedTuple):
    """The rows of a list and the total below them."""

    first: int
    last: int
    layers: tuple[_Layer, ...]
    total: Token


def check(scene: Scene, held: Mapping[str, ReferenceCounts]) -> Iterator[Claim]:
    """Check every list of layers that ends in its total; where they do not add up, the row that is a slip of its like is wrong."""
    for summary in summaries_of(tuple(scene.lines)):
        total, own = int(summary.total.value or 0), sum(layer.number for layer in summary.layers)
        adds = because(mark("the layers add up to {right}"), right=own)
        if own == total:
            for token in (*(layer.token for layer in summary.layers), summary.total):
                yield _claim(scene, token, "exact", token.value or Fraction(0), adds)
            yield from _trainable_claims(scene, summary)
            yield from _bytes_claims(scene, summary)
            continue
        if _trainable_sum(scene, summary) == own:
            yield _claim(scene, summary.total, "wrong", Fraction(own), because(mark("should be {right}"), right=own) + adds)
            continue
        context = scene.context(summary.first, 0)
        known = held.get(context) if context is not None else None
        wrong = [layer for layer in summary.layers if _is_off(layer, total - own, summary.layers, known)]
        if not wrong and _trainable_sum(scene, summary) == total:  # the total is said twice
            wrong = [layer for layer in summary.layers if is_slip(str(layer.number), str(layer.number + total - own))]
        if len(wrong) == 1:
            right = wrong[0].number + total - own
            yield _claim(scene, wrong[0].token, "wrong", Fraction(right), because(mark("should be {right}"), right=right) + adds)


def _trainable_claims(scene: Scene, summary: _Summary) -> Iterator[Claim]:
    """Hold what is trainable and what is not against a total that is the sum of its layers: the two make it up."""
    parts, total = _trainable(scene, summary), int(summary.total.value or 0)
    said = [int(part.value or 0) for part in parts]
    if len(parts) != _BOTH:
        return
    if sum(said) == total:
        yield from (_claim(scene, part, "exact", part.value or Fraction(0), ()) for part in parts if part.value)
    elif 0 < total - said[1] != said[0]:
        right = total - said[1]
        yield _claim(scene, parts[0], "wrong", Fraction(right), because(mark("should be {right}"), right=right))


def _bytes_claims(scene: Scene, summary: _Summary) -> Iterator[Claim]:
    """Hold the bytes in parentheses behind a total, as Keras prints them, against four for each of its parameters."""
    text = scene.texts[summary.total.line]
    found = _IN_BYTES.match(text, summary.total.end)
    token = next((one for one in tokens(found["bytes"], summary.total.line) if one.kind == "num"), None) if found is not None else None
    if found is None or token is None or token.value is None:
        return
    said, token = token.value, token._replace(start=found.start("bytes"), end=found.end("bytes"))
    right = Fraction(4 * int(summary.total.value or 0), _BINARY[token.unit])
    shown = f"{float(right):.{token.places}f}"
    facts: dict[str, object] = {"value": said, "expected": Fraction(shown), "difference": said - Fraction(shown)}
    if Fraction(shown) == said:
        yield claim(scene.lines, token, token, "arithmetic", "rounded", **facts, reason=because(mark("rounded")))
    elif is_slip(re.sub(r"\D", "", found["bytes"]), re.sub(r"\D", "", shown)):
        reason = because(mark("should be {right}"), right=Sentence(f"{shown} {found['unit']}"))
        yield claim(scene.lines, token, token, "arithmetic", "wrong", **facts, reason=reason)


_IN_BYTES = pattern(r"\s*\((?P<bytes>\d+\.\d+ (?P<unit>[KMG]B))\)")
_BINARY = {"kb": 2**10, "mb": 2**20, "gb": 2**30}


def _trainable_sum(scene: Scene, summary: _Summary) -> int:
    parts = _trainable(scene, summary)
    return sum(int(part.value or 0) for part in parts) if len(parts) == _BOTH else 0


def _trainable(scene: Scene, summary: _Summary) -> list[Token]:
    """Return the counts of what is trainable and what is not, from the lines below the total."""
    found: list[Token] = []
    for index in range(summary.last + 1, min(len(scene.texts), summary.last + 1 + _BOTH)):
        match = _TRAINABLE.match(scene.texts[index])
        if match is not None and bool(match["frozen"]) == bool(found):
            value = Fraction(int(match["count"].replace(",", "")))
            found.append(Token("num", match["count"], index, *match.span("count"), value))
    return found


_TRAINABLE = pattern(r"\s*(?P<frozen>Non-)?[Tt]rainable params: (?P<count>\d{1,3}(?:,\d{3})+|\d{1,15})(?![\d,.])")
_BOTH = 2


def rows_of(scene: Scene) -> frozenset[int]:
    """Return the lines of such lists, whose other numbers are indices and shapes."""
    return frozenset(line for found in summaries_of(tuple(scene.lines)) for line in range(found.first, found.last + 1))


def _is_off(layer: _Layer, missing: int, layers: Sequence[_Layer], known: ReferenceCounts | None) -> bool:
    """Tell whether a row would be as another of its kind is, or as the model's own, if it held what is missing of the total."""
    right = layer.number + missing
    alike = [other.number for other in layers if other is not layer and other.kind == layer.kind]
    if right in alike:
        return layer.number not in alike
    if known is None or right <= 0:
        return False
    mine = known.numbers | known.tensors
    return right in mine and layer.number not in mine


@lru_cache(maxsize=2)
def summaries_of(lines: tuple[Line, ...]) -> tuple[_Summary, ...]:
    """Return the lists of layers of a text, each from its head to its total."""
    found, index = [], 0
    while index < len(lines):
        head = _HEAD.search(lines[index].text) if "Param #" in lines[index].text else None
        summary = _read(lines, index, head) if head is not None else None
        if summary is not None:
            found.append(summary)
        index = summary.last + 1 if summary is not None else index + 1
    return tuple(found)


def _read(lines: Sequence[Line], index: int, head: re.Match[str]) -> _Summary | None:
    layers: list[_Layer] = []
    boxed = bool(_BARS.search(head.string))
    place = len(_BARS.findall(head.string, 0, head.start("column")))
    last = index
    for at in range(index + 1, min(len(lines), index + _MOST_LINES)):
        text = lines[at].text
        total = _TOTAL.match(text)
        if total is not None:
            value = Fraction(int(total[1].replace(",", "")))
            token = Token("num", total[1], at, total.start(1), total.end(1), value)
            return _Summary(index, at, tuple(layers), token) if layers else None
        start, end = _cell(text, place) if boxed else _span(text, head)
        count = _COUNT.search(text, start, end)
        if count is not None or re.search(r"[^\W\d]", text):
            last = at
        elif at - last > _BEYOND:
            return None  # a summary without its total
        if count is not None and count["again"] is None:
            number = int(count["count"].replace(",", ""))
            token = Token("num", count["count"], at, count.start("count"), count.end("count"), Fraction(number))
            layers.append(_Layer(token, number, _kind(text)))
    return None


def _cell(text: str, place: int) -> tuple[int, int]:
    """Return where a cell between bars begins and ends."""
    bars = [match.start() for match in _BARS.finditer(text)]
    return (bars[place - 1] + 1, bars[place]) if place < len(bars) else (len(text), len(text))


def _span(text: str, head: re.Match[str]) -> tuple[int, int]:
    """Return the columns in which a count of a list without bars stands: its figures touch those of the head, on the left or on the right."""
    touching = (
        match
        for match in re.finditer(r"\S+(?: \(recursive\))?", text)
        if match.start() < head.end("column") and match.end() > head.start("column")
    )
    found = next(touching, None)
    return found.span() if found is not None else (len(text), len(text))


def _kind(text: str) -> str:
    """Return a row's class, with its depth where that is printed."""
    match = _KIND.search(text)
    return f"{match['name'] or match['layer'] or match['type']} {match['depth'] or ''}" if match is not None else ""


def _claim(scene: Scene, token: Token, verdict: str, right: Fraction, reason: Reason) -> Claim:
    value = int(token.value or 0)
    facts = {"value": value, "expected": int(right), "difference": value - int(right), "reason": reason}
    return claim(scene.lines, token, token, "arithmetic", verdict, **facts)
