"""What every reader returns: a listing of the tensors in a file, without their values.

A format is a module of this package with two functions:

``sniff(head) -> bool``
    Whether a file that begins with *head* (its first 4,096 bytes, or all of it) is of this format.
    It never raises, and it answers yes only to what no other format begins with.
``read(file) -> Listing``
    List the tensors of *file*, an open binary file that can seek. It reads headers only, raises
    :class:`~weighbridge.core.errors.ReadError` (with a byte offset where there is one, without a path: that is
    added by the caller) on any damage and nothing else, and does not trust a length before it has compared
    it with the size of the file.

One line in ``FORMATS`` of ``readers/formats.py`` adds the module. What the reader of a format does not know it leaves
to others, which serve all formats: a role that is None is found from name and shape (``readers/roles.py``), and the shapes of
packed (quantized) weights are restored by ``readers/packing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, Protocol

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.text import make_printable

LONGEST = 1 << 63
"""Sizes and offsets from here up are no sizes: every format at hand stores them in 64 bits."""

MOST_TENSORS = 100_000
"""A header that names more is refused: no model comes near, and a hostile header must not fill the memory."""

LONGEST_PATH = 1 << 13
"""Letters of a name that is put together from those of nested things, in formats that let them nest."""

DEEPEST = 64
"""Dimensions that a tensor can have at most (NumPy's and PyTorch's own limit)."""

PACKED = "packed by "
"""How the note of a tensor begins whose elements are packed weights; the scheme follows."""

PART = "one part of several: "
"""How a reader's note begins that holds only until all parts have been put together."""


class StoredTensor(NamedTuple):
    """One tensor in a file.

    Attributes:
        name: Its full name, as the file has it.
        dtype: Its element type, spelled as the safetensors format spells it (``F32``, ``BF16``, ``I64``), or the
            format's own name where that has none (``Q4_K``).
        shape: Its logical shape: for packed weights, that of the matrix that was packed.
        size_bytes: The bytes it occupies in the file; 0 if it shares another tensor's.
        role: One of ``tree.ROLES``, or None to have it told from name and shape. What is neither parameter nor
            state of the model (scales and indices of packed weights, optimizer state) is a ``buffer``.
        tied_to: The full name of the first tensor whose storage this is, or None if it has its own.
        elements: Elements stored in the file, where they are not the product of the shape (packed weights, ties).
        note: Why *role* or *shape* is not what the file says, in a few words: ``scale of packed weights``.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    role: str | None = None
    tied_to: str | None = None
    elements: int | None = None
    note: str = ""

    @property
    def stored(self) -> int:
        """Elements of its own in the file: none if it shares another tensor's storage."""
        if self.elements is not None:
            return self.elements
        return 0 if self.tied_to is not None else prod(self.shape)


class Listing(NamedTuple):
    """The tensors of a file, or of several that belong together.

    Attributes:
        format: The format's short name, such as ``safetensors``.
        tensors: In the order of the file; names are unique.
        metadata: What the file says of itself: strings, numbers, lists of them.
        notes: What a reader of the count should know (twins, sharing, layers that were left out).
        ordered: Whether the order of the tensors is the model's own (a pickle keeps it, safetensors sorts).
    """

    format: str
    tensors: tuple[StoredTensor, ...]
    metadata: Mapping[str, object] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    ordered: bool = True

    @property
    def stored(self) -> int:
        """Elements in the file, buffers and packed words included."""
        return sum(tensor.stored for tensor in self.tensors)

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors together, without header and padding."""
        return sum(tensor.size_bytes for tensor in self.tensors)


class Reader(Protocol):
    """A module that reads one format."""

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file that begins with *head* is of this format."""

    def read(self, file: BinaryIO) -> Listing:
        """List the tensors of a file."""


def refuse_immense(listing: Listing) -> Listing:
    """Refuse a listing in which a tensor has more elements than 64 bits can count: a format without values can state any shape.

    >>> refuse_immense(Listing("zarr", (StoredTensor("w", "F32", (1 << 40, 1 << 40), 0),)))
    Traceback (most recent call last):
        ...
    weighbridge.core.errors.ReadError: w has the shape [1099511627776, 1099511627776], which no memory holds
    """
    for tensor in listing.tensors:
        if prod(tensor.shape) >= LONGEST:
            raise ReadError(
                Text(
                    "{name} has the shape {shape!r:.200}, which no memory holds", name=make_printable(tensor.name), shape=list(tensor.shape)
                )
            )
    return listing


def unique_names(names: list[str]) -> list[str]:
    """Make names unique: later duplicates (a key with a dot, a numeric key) get a number.

    >>> unique_names(["a.b", "c", "a.b"])
    ['a.b', 'c', 'a.b (2)']
    """
    taken, found = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        number = seen[name] = seen.get(name, 0) + 1
        while number > 1 and f"{name} ({number})" in taken:
            number += 1
        seen[name] = number
        found.append(name if number == 1 else f"{name} ({number})")
        taken.add(found[-1])
    return found
