"""How many parameters a tree has: unique, stored, trainable, active, of embeddings, and by role.

:func:`tally` walks a tree once and counts all of these; :func:`count` is its *unique* alone. What is called ``..._of`` takes a model (a tree and where it
came from) in place of a tree. A *ledger* is the same count kept module by module: each part with its amount, for tables and formulas.
"""

from __future__ import annotations

from weighbridge.accounts.ledger import Entry, Rule, ledger
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.last import keep_last
from weighbridge.core.length import Stream
from weighbridge.core.sizes import Size, exact, product
from weighbridge.core.tree import Operation, Part, Tensor
from weighbridge.value import ModelValue


class Tally(NamedTuple):
    """The counts of one tree, in elements. Every one is exact.

    Attributes:
        unique: Each tied tensor once: what ``sum(p.numel() for p in model.parameters())`` gives.
        stored: Elements that a file of the model holds: unique parameters and saved buffers; of a
            checkpoint, the elements that are in the file.
        trainable: Unique parameters that are not frozen.
        active: Unique parameters that work on one token: of the experts, only those chosen.
        embedding: Of the unique parameters, tables that are looked up.
        non_embedding: The other unique parameters.
        buffers: State that is saved but not learned; never part of *unique*.
        duplicated: Every name counted as if it had storage of its own.
        weight, bias, gain, shift: Of the unique parameters, those of that role.
    """

    unique: Size
    stored: Size
    trainable: Size
    active: Size
    embedding: Size
    non_embedding: Size
    buffers: Size
    duplicated: Size
    weight: Size
    bias: Size
    gain: Size
    shift: Size


@keep_last  # asked of one tree again and again while a command answers
def tally(tree: Part) -> Tally:
    """Count a tree in every convention at once, each tied tensor at its owner.

    Args:
        tree: Any part. Its sizes may be ints, symbols or columns.

    Returns:
        Counts of the same kind as the sizes: ints are exact at any magnitude.

    >>> tally(Part("", (Tensor("weight", (3, 4)), Tensor("bias", (3,), "bias")))).unique
    15
    """
    roles: dict[str, Size] = {"weight": 0, "bias": 0, "gain": 0, "shift": 0, "embedding": 0, "buffer": 0}
    others: dict[str, Size] = {"tied": 0, "frozen": 0, "idle": 0}  # idle: of experts that are not chosen for a token
    _add(tree, 1, roles, others)
    unique = roles["weight"] + roles["bias"] + roles["gain"] + roles["shift"] + roles["embedding"]
    buffers, embedding = roles["buffer"], roles["embedding"]
    return Tally(
        unique,
        unique + buffers,
        unique - others["frozen"],
        unique - others["idle"],
        embedding,
        unique - embedding,
        buffers,
        unique + others["tied"],
        roles["weight"],
        roles["bias"],
        roles["gain"],
        roles["shift"],
    )


def tally_of(model: ModelValue) -> Tally:
    """Count a model in every convention; of a checkpoint, *stored* is what its file holds.

    >>> from weighbridge import model
    >>> tally_of(model("bert-base-chinese")).unique
    102267648
    """
    counts = tally(model.tree)
    return counts if model.stored is None else counts._replace(stored=model.stored)


def tally_and_ledger(model: ModelValue) -> tuple[Tally, Entry]:
    """Count a model in every convention, and its parameters module by module: the amount of the ledger's root is the total.

    >>> from weighbridge import model
    >>> counts, book = tally_and_ledger(model("bert-base-chinese"))
    >>> counts.unique == book.amount
    True
    """
    return tally_of(model), ledger(model.tree, PARAMETERS)


def unique_of(model: ModelValue) -> int:
    """Count the unique parameters of a model, whose sizes are whole numbers.

    >>> from weighbridge import model
    >>> unique_of(model("bert-base-chinese"))
    102267648
    """
    if model.listed is None:
        unique = tally(model.tree).unique
    else:
        shapes: dict[tuple[Size, ...], int] = {}  # of a hundred thousand tensors few differ
        for row in model.listed:
            if row.tied_to is None and row.role != "buffer":
                shapes[row.shape] = shapes.get(row.shape, 0) + 1
        unique = sum(many * product(shape) for shape, many in shapes.items())
    assert isinstance(unique, int)
    return unique


def count(tree: Part) -> Size:
    """Count the unique parameters of a tree: elements, each tied tensor once, buffers not at all.

    >>> count(Part("", (Tensor("weight", (3, 4)), Tensor("mask", (9,), "buffer"))))
    12
    """
    return tally(tree).unique


def _add(part: Part, copies: Size, roles: dict[str, Size], others: dict[str, Size]) -> None:
    """Add what *part* holds, *copies* times over.

    Fields are read by index, which takes half the time of reading them by name: this loop sees every tensor.
    """
    repeat = part[3]  # part.repeat
    if repeat is not None:
        copies = copies * repeat
    if part[6] is not None:  # part.experts
        _add_experts(part, copies, roles, others)
        return
    for child in part[1]:  # part.children
        if type(child) is Tensor:
            size: Size = copies
            for length in child[1]:  # child.shape
                size = size * length
            if child[3] is not None:  # child.tied_to
                others["tied"] = others["tied"] + size
                continue
            roles[child[2]] = roles[child[2]] + size  # child.role
            if child[5] and child[2] != "buffer":  # child.frozen
                others["frozen"] = others["frozen"] + size
        elif type(child) is Part:
            _add(child, copies, roles, others)


def _add_experts(part: Part, copies: Size, roles: dict[str, Size], others: dict[str, Size]) -> None:
    """Add a part that holds experts: the share of those that are not chosen is idle.

    Fused tensors have their experts in the shape, unfused ones in the repeat; either way the
    elements divide exactly by the number of experts.
    """
    inside: dict[str, Size] = dict.fromkeys(roles, 0)
    idle = others["idle"]
    others["idle"] = 0
    _add(part._replace(repeat=None, experts=None, active=None), copies, inside, others)
    experts, active = part.experts, part.active
    assert experts is not None and active is not None, f"{part.name}: experts and active go together"
    if type(experts) is int and not experts:  # a class builds without any, and without elements
        others["idle"] = idle
        return
    if type(experts) is int and type(active) is int:
        active = min(active, experts)  # the class builds with more, though its router cannot choose so many
    else:  # a column knows its smallest and largest value; a symbol has none
        most, fewest = getattr(active, "high", active), getattr(experts, "low", experts)
        if type(most) is int and type(fewest) is int and most > fewest:
            raise TypeError("in some of these rows a token may choose more experts than there are; count them one by one")
    # Experts may hold experts: of a chosen one only what is idle inside it counts as idle, of the others everything does.
    idle = idle + exact(others["idle"] * active, experts)
    for role, size in inside.items():
        roles[role] = roles[role] + size
        if role != "buffer":
            idle = idle + exact(size * (experts - active), experts)
    others["idle"] = idle


def elements(part: Part, node: Tensor | Operation, stream: Stream) -> Size:
    """Return the unique parameters of a tensor: its elements; 0 if it is tied or a buffer, or if *node* is an operation."""
    if not isinstance(node, Tensor) or node.tied_to is not None or node.role == "buffer":
        return 0
    return product(node.shape)


def copies(part: Part) -> Size:
    """Return how often a part is stored."""
    return 1 if part.repeat is None else part.repeat


PARAMETERS = Rule(elements, copies)
"""The rule by which a ledger (``ledger.py``) counts module by module, for tables and formulas; its total is the *unique* of :func:`tally`."""
