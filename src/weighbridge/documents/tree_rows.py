"""Rows of a ledger: single children joined, alike neighbours grouped, repeats folded.

The rows of one level add up to the row above them; inside a repeated part amounts are of one copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from weighbridge.accounts.ledger import Entry, Line
from weighbridge.core.messages import Say, mark
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor, positions
from weighbridge.documents.document import Column, Row, Share, Table, shares
from weighbridge.documents.renderers.treemap import join_path, unique_names
from weighbridge.documents.roles import role_of, roles_within

_Named: TypeAlias = tuple[str, Entry]


class View(NamedTuple):
    """How a ledger is shown.

    Attributes:
        shown: The lines of a part that are worth a row of their own (or a place in its shape).
        total: Whether amounts inside a repeated part are of all its copies, in place of one.
        each: What stands in place of a share where amounts are of one copy.
        tied: What is said of a shape whose storage is another's.
        buffer: What is said of a shape that is no parameter.
    """

    shown: Callable[[Entry], list[Line]]
    total: bool = False
    each: str = "1 of {number}"
    tied: str = "tied"
    buffer: str = "buffer"


class Spot(NamedTuple):
    """The position of the walk.

    Attributes:
        names: The names of the rows above.
        path: The path of the module.
        around: The parts around it.
        copies: How many copies they make.
        whole: What shares are parts of; 0 until the walk begins.
    """

    names: tuple[str, ...] = ()
    path: str = ""
    around: tuple[Part, ...] = ()
    copies: int = 1
    whole: int = 0


_TOP = Spot()


def rows(entry: Entry, view: View, spot: Spot = _TOP, *, with_shares: bool = True) -> Iterator[Row]:
    """Yield the rows under *entry*.

    Args:
        view: How they are shown.
        spot: Where *entry* stands.
        with_shares: Whether rows have a share; they have none inside a repeated part, unless all copies are shown.
    """
    spot = spot if spot.whole else spot._replace(whole=as_int(entry.each) * spot.copies)
    lines = view.shown(entry)
    groups = list(_groups(entry, view.shown))
    found = [as_int(line.amount) for line in lines] + [sum(as_int(child.amount) for _, child in group) for group in groups]
    split = shares([amount * spot.copies for amount in found], spot.whole) if with_shares else [None] * len(found)
    role = role_of(entry.part, spot.around) if lines else ""
    for line, amount, part in zip(lines, found, split, strict=False):
        text = shapes([line.node], view.tied, view.buffer) if isinstance(line.node, Tensor) else ""
        yield _row((line.node.name, text, role), amount, view, part, spot, (join_path(spot.path, line.node.name),))
    inner = spot._replace(around=(*spot.around, entry.part))
    for group, part, amount in zip(groups, split[len(lines) :], found[len(lines) :], strict=True):
        yield from _group(group, amount, view, part, inner)


def _row(module: tuple[str, str, str], amount: int, view: View, share: Share | None, spot: Spot, places: tuple[str, ...]) -> Row:
    """Return the row of a module, of which name, shape and role are given, that stands at *places*."""
    name, shape, role = module
    remark = share if share is not None else view.each.format(number=spot.copies) if "{" in view.each else view.each
    total = amount * spot.copies if view.total else amount
    path = ".".join((*spot.names, name)) if spot.names else name
    return Row((name, shape, total, remark, share, path), len(spot.names), not spot.names, "", role, places)


def _group(group: tuple[_Named, ...], amount: int, view: View, share: Share | None, spot: Spot) -> Iterator[Row]:
    names, entry = [], group[0][1]
    path, around = spot.path, spot.around
    for own, member in group:
        name, entry, path, around = _join_single(member, join_path(spot.path, own), spot.around)
        names.append(name)
    shape = ""
    if not entry.children:
        shape = (f"{len(group)} × " if len(group) > 1 else "") + shapes(_tensors(view.shown(entry)), view.tied, view.buffer)
    if entry.times != 1:
        shape = f"{entry.times} × {entry.each:,}"
    name = ", ".join(names)
    places = (path,) if len(group) == 1 else tuple(join_path(spot.path, own) for own, _ in group)
    role, parts = roles_within(entry, around)
    yield _row((name, shape, role), amount, view, share, spot, places)._replace(parts=parts)
    if (entry.children and any(holds(child, view.shown) for child in entry.children)) or (entry.times != 1 and view.shown(entry)):
        shared = share is not None and (entry.times == 1 or view.total)
        inside = Spot((*spot.names, name), path, around, spot.copies * as_int(entry.times), spot.whole)
        yield from rows(entry, view, inside, with_shares=shared)


def _join_single(entry: Entry, path: str, around: tuple[Part, ...]) -> tuple[str, Entry, str, tuple[Part, ...]]:
    """Follow single children down, so that ``pooler`` holding only ``dense`` is one row; return where that leads."""
    name = name_of(entry)
    while entry.times == 1 and len(entry.children) == 1 and not entry.lines:
        around = (*around, entry.part)
        (own, entry), *_ = unique_names(entry)
        path = join_path(path, own)
        name = f"{name}.{name_of(entry)}" if name else name_of(entry)
    return name, entry, path, around


def name_of(entry: Entry) -> str:
    """Return a part's name with its copies, as in ``print(model)`` where there is one: ``layer × 12``, ``layers × 58 (3-60)``, ``block.0``, ``1-3``."""
    part = entry.part
    if part.repeat is None:
        return part.name if entry.times == 1 else f"{part.name} × {entry.times}"
    span = _span(positions(part)) if part.repeat else ""
    if not part.name or (entry.times == 1 and part.repeat == 1):
        return f"{part.name}.{span}".strip(".") or f"× {entry.times}"
    return f"{part.name} × {entry.times}" + (f" ({span})" if part.indices is not None and part.repeat else "")


def _span(at: range | tuple[int, ...]) -> str:
    if len(at) > 2 and (isinstance(at, range) or len({b - a for a, b in pairwise(at)}) == 1):
        return f"{at[0]}-{at[-1]}" if at[1] - at[0] == 1 else f"{at[0]}, {at[1]}, ... {at[-1]}"
    return ", ".join(map(str, at)) if len(at) <= 6 else f"{at[0]}, {at[1]}, ... {at[-1]}"


def _groups(around: Entry, shown: Callable[[Entry], list[Line]]) -> Iterator[tuple[_Named, ...]]:
    """Group neighbouring single modules with the same lines, each with its name; parts without any stay away."""
    run: list[_Named] = []
    before: list[Line] = []
    for name, entry in unique_names(around):
        lines = shown(entry)
        if not lines and not any(holds(child, shown) for child in entry.children):
            continue
        if run and _is_alike(run[0][1], entry) and before == lines:
            run.append((name, entry))
            continue
        if run:
            yield tuple(run)
        run, before = [(name, entry)], lines
    if run:
        yield tuple(run)


def _is_alike(a: Entry, b: Entry) -> bool:
    """Tell whether two modules are alike but for what they show."""
    return not a.children and not b.children and a.part.repeat is None and b.part.repeat is None and a.part.kind == b.part.kind


def holds(entry: Entry, shown: Callable[[Entry], list[Line]]) -> bool:
    """Tell whether anything under *entry* is shown."""
    return bool(shown(entry)) or any(holds(child, shown) for child in entry.children)


def _tensors(lines: list[Line]) -> list[Tensor]:
    return [line.node for line in lines if isinstance(line.node, Tensor)]


def all_tensors(entry: Entry) -> list[Line]:
    """Show every tensor: for counts, where a tied tensor is a row of zero."""
    return [line for line in entry.lines if type(line[0]) is Tensor]


def all_that_costs(entry: Entry) -> list[Line]:
    """Show what is not zero: for arithmetic, where a look-up has no row."""
    return [line for line in entry.lines if line.amount]


def shapes(tensors: list[Tensor], tied: str = "tied", buffer: str = "buffer") -> str:
    """Write the shapes of one module's tensors: ``[768, 768] + 768``, ``2 × 768``; say what is not counted.

    >>> shapes([Tensor("weight", (2, 3)), Tensor("bias", (2,), "bias")])
    '[2, 3] + 2'
    """
    pieces: list[tuple[str, int]] = []
    for tensor in tensors:
        text = str(tensor.shape[0]) if len(tensor.shape) == 1 else f"[{', '.join(map(str, tensor.shape))}]"
        text += f" {tied}" if tensor.tied_to is not None else f" {buffer}" if tensor.role == "buffer" else ""
        if pieces and pieces[-1][0] == text:
            pieces[-1] = (text, pieces[-1][1] + 1)
        else:
            pieces.append((text, 1))
    return " + ".join(text if times == 1 else f"{times} × {text}" for text, times in pieces)


TREE = (
    Column(mark("module")),
    Column(mark("shape")),
    Column(mark("amount"), "integer"),
    Column(mark("share %"), "share"),
    Column("", "bar"),
    Column("path", "path"),
)
"""The columns of these rows."""


def tree_table(
    entry: Entry,
    shown: Callable[[Entry], list[Line]],
    depth: int | None = None,
    say: Say = mark,
    *,
    total: bool = False,
    spot: Spot = _TOP,
    most: int | None = None,
) -> Table:
    """Return the rows under *entry*, no deeper than *depth* levels and *most* in number, as a table."""
    view = View(shown, total, say("1 of {number}"), say("tied"), say("buffer"))
    kept = tuple(islice((row for row in rows(entry, view, spot) if depth is None or row.depth < depth), most))
    return Table(tuple(column._replace(title=say(column.title) if column.title else "") for column in TREE), kept, headed=False)
