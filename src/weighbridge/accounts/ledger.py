"""A ledger: what each part amounts to, by module, in whatever an account measures.

Parameters and FLOPs differ in what a tensor or an operation costs and in how often a part counts;
the walk, the subtotals and the closed formula are the same, and stand here once.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.length import Stream
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Operation, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Rule(NamedTuple):
    """What an account measures.

    Attributes:
        measure: What one tensor or operation amounts to, given its part and the stream it sees.
        multiplicity: How often a part counts: copies stored, or times executed.
        active_only: Whether only the chosen experts count.
        included: Whether a part counts at all.
    """

    measure: Callable[[Part, Tensor | Operation, Stream], Size]
    multiplicity: Callable[[Part], Size]
    active_only: bool = False
    included: Callable[[Part], bool] = lambda part: True


class Line(NamedTuple):
    """One tensor or operation and what a single copy of it amounts to."""

    node: Tensor | Operation
    amount: Size


class Entry(NamedTuple):
    """One part in a ledger.

    Attributes:
        part: The part itself.
        times: How often it counts (copies stored, or times executed); 1 for a single module.
        lines: Its own tensors and operations with their amounts.
        children: Its parts.
        each: The amount of one copy.
        amount: The amount of all copies: ``times * each``, or the chosen experts' share of it.
    """

    part: Part
    times: Size
    lines: tuple[Line, ...]
    children: tuple[Entry, ...]
    each: Size
    amount: Size

    @property
    def name(self) -> str:
        """The part's own name."""
        return self.part.name


def ledger(part: Part, rule: Rule, stream: Stream = "seq") -> Entry:
    """Measure every tensor and operation under *part* by *rule*."""
    if not rule.included(part):
        return Entry(part, 0, (), (), 0, 0)
    stream = stream if part.stream is None else part.stream
    measure, lines, inner = rule.measure, [], []
    each: Size = 0
    for node in part.children:
        if type(node) is Part:
            inner.append(node)
            continue
        amount = measure(part, node, stream)  # type: ignore[arg-type]
        lines.append(Line(node, amount))  # type: ignore[arg-type]
        each = each + amount
    children = []
    for module in inner:
        child = ledger(module, rule, stream)
        children.append(child)
        each = each + child.amount
    count = rule.multiplicity(part)
    amount = count * each
    if rule.active_only and part.experts is not None and part.active is not None:
        amount = exact(amount * part.active, part.experts) if type(part.experts) is not int or part.experts else 0
    return Entry(part, count, tuple(lines), tuple(children), each, amount)


def entries(entry: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield every entry with its dotted path, parents first."""
    yield path, entry
    for child in entry.children:
        yield from entries(child, f"{path}.{child.name}" if path and child.name else path or child.name)
