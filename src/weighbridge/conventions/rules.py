"""Every number that a counting convention gives for a model: class, what is left out, which ties, which part.

A convention is a class of the reference library, perhaps only a part of it, less a few things that people
leave out. All of them up to a small size are worked out once for a model and looked up after that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from weighbridge.conventions.atoms import parts_of
from weighbridge.conventions.omissions import SCOPES
from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.views import View, coarse_part, views
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import Say, mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

MOST_COST = 5
"""A convention that is more far-fetched explains any number, and so none."""
KEPT = 5
"""How many conventions that give the same number are kept."""


class Convention(NamedTuple):
    """One way of counting and the number it gives; the cheaper, the simpler."""

    cost: int
    order: int
    omitted: tuple[int, ...]
    view: View
    value: int

    @property
    def class_name(self) -> str:
        """The class it counts."""
        return self.view.class_name

    @property
    def left_out(self) -> tuple[Piece, ...]:
        """What it leaves out of the class's unique parameters, each parameter once."""
        pieces = [*self.view.outside, *self.view.less]
        done = 0
        for index in self.omitted:
            bit = 1 << index
            lost = sum(cell.amount for cell in self.view.cells if cell.covered & bit and not cell.covered & done and not cell.tied)
            done |= bit
            pieces += [Piece(self.view.omissions[index].what, lost)] if lost else []
        return tuple(pieces)

    @property
    def added(self) -> tuple[Piece, ...]:
        """What it counts beyond the class's unique parameters."""
        done = sum(1 << index for index in self.omitted)
        twice = sum(cell.amount for cell in self.view.cells if cell.tied and not cell.covered & done)
        return (*self.view.gained, *self.view.added, *((Piece(mark("tied tensors, counted under every name"), twice),) if twice else ()))

    @property
    def keys(self) -> tuple[str, ...]:
        """The anchors of what it leaves out in docs/counting-rules.md."""
        return tuple(self.view.omissions[index].key for index in self.omitted)

    def labels(self) -> Counter[str]:
        """What it counts, by the coarse parts of a model."""
        done = sum(1 << index for index in self.omitted)
        found: Counter[str] = Counter()
        for cell in self.view.cells:
            if not cell.covered & done:
                found[cell.label] += cell.amount
        for piece in self.view.added:
            found[piece.what] += piece.amount
        for piece in self.view.less:
            found[piece.what] -= piece.amount
        return found

    def text(self, say: Say) -> str:
        """Write the convention as one phrase."""
        scope, name = self.view.scope, self.class_name
        if self.view.state:
            name = say("{name} as {state}").format(name=name, state=say(self.view.state))
        whole = say("{scope} of {name}").format(scope=say(SCOPES.get(scope, scope)), name=name) if scope else name
        left = [say(self.view.omissions[index].what) for index in self.omitted]
        if left:
            whole = say("{whole} without {left}").format(whole=whole, left=join_words(left, say))
        less = () if scope == "active" else self.view.less
        more = (*less, *self.added[len(self.view.gained) :])
        if more:
            whole = say("{whole}, with {added}").format(whole=whole, added=join_words([say(piece.what) for piece in more], say))
        return space_scripts(whole)


class Conventions(NamedTuple):
    """All conventions of one model: by the number they give, and the numbers in order."""

    by_value: Mapping[int, tuple[Convention, ...]]
    values: tuple[int, ...]
    reference: Counter[str]


def convention(model: ModelValue, number: int) -> Convention | None:
    """Return the simplest convention that gives exactly *number* for *model*, or None; quick once a model is known.

    >>> from weighbridge import model
    >>> found = convention(model("bert-base-uncased"), 108808704)
    >>> found.text(mark), [tuple(piece) for piece in found.left_out]
    ('BertModel without linear biases and pooler', [('linear biases', 83712), ('pooler', 589824)])
    """
    found = conventions(model).by_value.get(number)
    return found[0] if found else None


@lru_cache(maxsize=16)
def conventions(model: ModelValue, most_cost: int = MOST_COST) -> Conventions:
    """Work out every convention of *model* up to a cost, simplest first for each number."""
    found: dict[int, list[Convention]] = {}
    for order, view in enumerate(views(model, most_cost)):
        for made in _enumerate(view, order, most_cost) if view.cost <= most_cost else ():
            found.setdefault(made.value, []).append(made)
    kept = {value: tuple(sorted(made, key=lambda c: (c[0], c[1], len(c[2]), c[2]))[:KEPT]) for value, made in found.items() if value > 0}
    plain: Counter[str] = Counter()
    for atom in parts_of(model).atoms:
        plain[coarse_part(atom)] += atom.total
    return Conventions(kept, tuple(sorted(kept)), plain)


def space_scripts(text: str) -> str:
    """Put a space between a Chinese character and a Latin word that a template has put beside it.

    >>> space_scripts("BertModel，不计lm_head"), space_scripts("without lm_head")
    ('BertModel，不计 lm_head', 'without lm_head')
    """
    return re.sub("(?<=[\u4e00-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z0-9_])(?=[\u4e00-\u9fff])", " ", text)


def join_words(words: Sequence[str], say: Say) -> str:
    """Join words as a list is written.

    >>> join_words(["biases", "norms", "pooler"], mark)
    'biases, norms and pooler'
    """
    if len(words) < 2:
        return "".join(words)
    return say("{first} and {last}").format(first=say(", ").join(words[:-1]), last=words[-1])


def _enumerate(view: View, order: int, most_cost: int) -> Iterator[Convention]:
    """Yield the view with nothing left out, with one thing, with two, and so on; of combinations that leave out the same the first."""
    covers = _cells_covered(view)
    usable = [index for index, cells in enumerate(covers) if cells]
    barred = {index for index in usable if view.omissions[index].key in view.barred}
    amounts = [cell.amount for cell in view.cells]
    start = sum(amounts) + sum(piece.amount for piece in view.added) - sum(piece.amount for piece in view.less)
    costs = [omission.cost for omission in view.omissions]
    # By combination: the cells that are gone, what is left, what it costs.
    sums: dict[tuple[int, ...], tuple[int, int, int]] = {(): (0, start, view.cost)}
    lost: dict[int, int] = {}
    seen: set[int] = set()
    for size in range(min(view.depth, most_cost) + 1):
        longer: dict[tuple[int, ...], tuple[int, int, int]] = {}
        for omitted in combinations(usable, size):
            if omitted:
                last = omitted[-1]
                gone, left, cost = sums[omitted[:-1]]
                more = covers[last] & ~gone
                if more not in lost:
                    lost[more] = _sum_of(amounts, more)
                left -= lost[more]
                gone |= more
                cost += costs[last]
            else:
                gone, left, cost = sums[omitted]
            longer[omitted] = gone, left, cost
            if gone in seen or not barred.isdisjoint(omitted):
                continue
            seen.add(gone)
            if cost <= most_cost:
                yield Convention(cost, order, omitted, view, left)
        sums = longer


def _cells_covered(view: View) -> list[int]:
    """Return, for each omission, the cells that it covers: a bit for each."""
    covers, every = [0] * len(view.omissions), (1 << len(view.omissions)) - 1
    for n, cell in enumerate(view.cells):
        left = cell.covered & every
        while left:
            lowest = left & -left
            covers[lowest.bit_length() - 1] |= 1 << n
            left ^= lowest
    return covers


def _sum_of(amounts: Sequence[int], cells: int) -> int:
    """Add the amounts of the cells whose bits are set."""
    total = 0
    while cells:
        lowest = cells & -cells
        total += amounts[lowest.bit_length() - 1]
        cells ^= lowest
    return total
