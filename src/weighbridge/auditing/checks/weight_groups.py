"""Bytes of weights that a text gives in several dtypes, or of several models: the one that is not a count times its bytes is wrong where the others are.

``A 7B model takes 28 GB in fp32, 14 GB in fp16 and 7 GB in int8``; a table of models by dtypes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import AGREED_WEIGHTS, NOMINAL_FAR, PACKED_FAR, WEIGHTS_FAR, WHOLE_WEIGHTS_FAR
from weighbridge.auditing.checks.amounts import write_bytes
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.weight_tables import table_figures
from weighbridge.auditing.checks.weights_said import WeightFigure, is_far, is_right, rights, said_figures
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.rounding import whole
from weighbridge.core.messages import mark


def check(scene: Scene) -> Iterator[Claim]:
    """Check the figures of each table, and of running text whose figures stand together."""
    laid = frozenset(line for table in scene.tables for line in table.lines)
    for table in scene.tables:
        yield from _judge(scene, list(table_figures(scene, table)), tabled=True)
    for group in _groups(list(said_figures(scene, laid))):
        yield from _judge(scene, group, tabled=False)


def _groups(found: Sequence[WeightFigure]) -> Iterator[list[WeightFigure]]:
    """Group the figures of running text that stand together."""
    group: list[WeightFigure] = []
    for one in found:
        if group and one.token.line - group[-1].token.line > _APART:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


_APART = 4
"""Lines between two figures that still stand together."""


def _judge(scene: Scene, group: Sequence[WeightFigure], *, tabled: bool) -> Iterator[Claim]:
    held = [(one, is_right(one)) for one in group]
    right = [one for one, fair in held if fair]
    odd = len(group) - len(right)
    said = {(one.counts, one.size) for one in right}
    beside = {one.token.line for one in right}
    alike = Counter((one.size, one.more) for one in right if tabled)
    computed = tabled and _is_computed(right)
    packed = _packed_sizes(held)
    for one, fair in held:
        if fair:
            yield _claim(scene, one, "rounded")
            continue
        others = len(said) - ((one.counts, one.size) in said)
        sure = others >= AGREED_WEIGHTS or (others and odd == 1 and one.token.line in beside)
        if one.size in packed or not sure or odd * (_SHARE if tabled else 1) > len(right) or (not tabled and _is_in_another_dtype(one)):
            continue
        miscomputed = computed and any(size == one.size for size, _ in alike) and _is_no_product(one)
        if is_far(one, _most(one, alike[one.size, one.more])) or miscomputed:
            yield _claim(scene, one, "wrong")


def _packed_sizes(held: Sequence[tuple[WeightFigure, bool]]) -> set[Fraction]:
    """Return the dtypes of a byte or less of which all figures are above what the values take: they hold scales and what stays wider."""
    sizes: dict[Fraction, list[bool]] = {}
    for one, fair in held:
        if one.size <= 1:
            sizes.setdefault(one.size, []).append(not fair and one.said[0] > max(rights(one)))
    return {size for size, above in sizes.items() if len(above) > 1 and all(above)}


_SHARE = 3
"""Figures of a table that must be right for each that is not."""


def _is_computed(right: Sequence[WeightFigure]) -> bool:
    """Tell whether the figures of a table that are right are what a model is called by times its bytes, to the last digit."""
    return len(right) >= _COMPUTED and all(abs(other.said[0] - rights(other)[0]) <= other.step for other in right)


def _is_no_product(one: WeightFigure) -> bool:
    """Tell whether a figure is no such product."""
    return all(abs(one.said[0] - number) > 2 * one.step for number in rights(one))


_COMPUTED = 4
"""Figures by which a table is somebody's reckoning, and holds no measured sizes."""


def _most(one: WeightFigure, alike: int) -> Fraction:
    """Return how many times too large a figure must be: less in a table where some others in its dtype hold nothing beside the values."""
    if alike >= AGREED_WEIGHTS:
        return WHOLE_WEIGHTS_FAR
    if one.size == 1:
        return WEIGHTS_FAR
    return PACKED_FAR if one.size < 1 else NOMINAL_FAR if one.digits < _EXACT else WHOLE_WEIGHTS_FAR


_EXACT = 3
"""Digits from which on a figure is no loose rounding."""


def _is_in_another_dtype(one: WeightFigure) -> bool:
    """Tell whether a figure is right in another dtype: which one is said of it may have been misread."""
    return any(is_right(one._replace(size=size, more=Exact(1))) for size in _DTYPES)


_DTYPES = (Exact(1, 2), Exact(1), Exact(2), Exact(4))


def _claim(scene: Scene, one: WeightFigure, verdict: str) -> Claim:
    right = min(rights(one), key=lambda number: abs(number - one.said[0]))
    facts: dict[str, object] = {"value": whole(one.said[0]), "expected": whole(right), "difference": whole(one.said[0] - right)}
    reason = because(mark("rounded"))
    if verdict == "wrong":
        direction = should_be(is_higher=one.said[0] > right)
        reason = because(
            direction, right=write_bytes(one.token, right, 1000), number=write_bytes(one.token, abs(one.said[0] - right), 1000)
        )
        count = next(count for count in one.counts if count * one.size * one.more == right)
        if one.more == 1:
            reason += because(mark("{count} parameters of {size} bytes"), count=whole(count), size=one.size)
    return claim(scene.lines, one.token, one.token, "arithmetic", verdict, **facts, reason=reason)
