"""Products that a text writes for a component and does not work out: ``Position Embeddings: 512 × 768``; each factor is the model's, or mistyped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.modules import is_mistyped, shapes_by_module
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.expressions import parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.text.values import value
from weighbridge.auditing.thresholds import AGREED_PARTS
from weighbridge.core.messages import mark

_LEAST = 10
"""A smaller factor is how many of something there are, which authors count as they like."""
_LONGEST = 160


def check(scene: Scene, held: Mapping[str, ReferenceCounts], offered: Sequence[Offer], *, firm: bool) -> Iterator[Claim]:
    """Check the factors of products that are said to be a component's, in a text whose model is settled and whose other products are right.

    Args:
        firm: Whether the model is sure enough to call a number wrong.
    """
    yield from _called_layers(scene)
    written = [one for one in offered if one.computed and one.figure is None and one.first.line == one.last.line and len(one.tokens) > 1]
    right: dict[str, set[Fraction]] = {}
    placed: list[tuple[Offer, str]] = []
    odd: list[tuple[Offer, str]] = []
    for one in written:
        context = scene.context(one.first.line, one.first.start)
        if context is not None:
            placed.append((one, context))
    known = Counter(context for context, _ in {(context, one.number) for one, context in placed})
    for one, context in placed:
        if known[context] <= AGREED_PARTS or context not in held:
            continue  # too few to settle that the model is meant
        if one.number in held[context].numbers:
            right.setdefault(context, set()).add(one.number)
        elif firm or context:
            odd.append((one, context))
    for one, context in odd:
        if len(right.get(context, ())) >= AGREED_PARTS and not is_of_their_own(scene, one.first.line):
            yield from _check_factors(scene, held[context], one)


def _check_factors(scene: Scene, own: ReferenceCounts, one: Offer) -> Iterator[Claim]:
    """Say which factor is a size of the model mistyped, if with that size the product is the component's count."""
    sizes = {size for size in words_of(own.model).values() if size >= _LEAST}
    wanted = _intended_counts(own, one)
    text = scene.lines[one.first.line].text
    others = [t for t in one.tokens if t.value is not None and t.value >= _LEAST]
    foreign = [t for t in others if t.value not in sizes]
    if len(foreign) != 1 or (len(others) == 1 and not one.firm) or one.last.end - one.first.start > _LONGEST:
        return
    token = foreign[0]
    for size in sorted(sizes):
        if not _is_mistaken(str(token.value), str(size)):
            continue
        corrected = text[one.first.start : token.start] + str(size) + text[token.end : one.last.end]
        if _number(corrected) in wanted:
            reason = because(mark("should be {right}"), right=size)
            said = int(token.value or 0)
            facts: dict[str, object] = {"value": said, "expected": size, "difference": said - size, "reason": reason}
            yield claim(scene.lines, token, token, "component", "wrong", **facts)
            return


def _intended_counts(own: ReferenceCounts, one: Offer) -> frozenset[Fraction]:
    """Return the counts that a product may be meant for: its component's, or of a longer one any component's."""
    named = frozenset(found.number for found in own.components.get(one.subject or "", ()))
    return named if one.firm or len(one.tokens) <= 2 else named | own.numbers


def _is_mistaken(written: str, right: str) -> bool:
    return written != right and (is_slip(written, right) or sorted(written) == sorted(right))


def _number(text: str) -> Fraction | None:
    """Return what a product amounts to."""
    read = tokens(text, 0)
    parsed = parse(read, 0, len(read)) if read else None
    return value(parsed.term, likeliest_value, {}) if parsed is not None and parsed.end == len(read) else None


def _called_layers(scene: Scene) -> Iterator[Claim]:
    """Hold layers written as calls against the shapes of the model: ``FFN 为 Linear(1024,4096) 以及 Linear(4096,1024)``."""
    if scene.main is None or not (scene.given or scene.main.named):
        return
    found = []
    for index, line in enumerate(scene.lines):
        for match in _CALL.finditer(line.text) if "Linear(" in line.text else ():
            model = scene.model_at(index, match.start())
            shapes = frozenset().union(*shapes_by_module(model).values()) if model is not None else frozenset()
            found.append((index, match, shapes, tuple(sorted((int(match["inner"]), int(match["outer"]))))))
    right = sum(sizes in shapes for _, _, shapes, sizes in found)
    for index, match, shapes, sizes in found if right >= AGREED_PARTS else ():
        near = {shape for shape in shapes if len(shape) == len(sizes) and is_mistyped(sizes, shape)}
        if sizes in shapes or (len(near) == 1 and not is_of_their_own(scene, index)):
            shape = sizes if sizes in shapes else next(iter(near))
            yield from _sides(scene, index, match, shape)


_CALL = pattern(r"(?<![A-Za-z0-9_.])(?<!: )Linear\((?:in_features=)?(?P<inner>\d{1,6}), ?(?:out_features=)?(?P<outer>\d{1,6})(?=[,)])")


def _sides(scene: Scene, index: int, match: re.Match[str], shape: Sequence[int]) -> Iterator[Claim]:
    """Claim both sizes of a call: exact, or the one that is not of the shape."""
    left, said = list(shape), [(int(match[key]), Token("num", "", index, *match.span(key))) for key in ("inner", "outer")]
    for number, token in said:
        if number in left:
            left.remove(number)
            yield claim(scene.lines, token, token, "component", "exact", value=number, expected=number, difference=0)
    for number, token in said:
        if number not in shape and left:
            facts: dict[str, object] = {"value": number, "expected": left[0], "difference": number - left[0]}
            yield claim(scene.lines, token, token, "component", "wrong", **facts, reason=because(mark("should be {right}"), right=left[0]))
