"""A figure of memory or arithmetic work, and all that its passage says of it."""

from __future__ import annotations

from fractions import Fraction

from weighbridge.core._namedtuple import NamedTuple

ROLES = frozenset("weights gradients optimizer master moments moment states cache train activations total zero".split())
"""What a figure in bytes may be of."""


class Subject(NamedTuple):
    """The model that a figure is of: what it is called by, or the place of its name among the names of a line."""

    parameters: Fraction | None
    line: int = -1
    name: int = -1


class Quantity(NamedTuple):
    """A figure, and what its passage says of it.

    Attributes:
        line, start, end: Where it stands.
        kind: ``figure``, ``range`` or ``work``.
        words: The kinds of the words of its clause.
        clause: The text of that.
        subject: The model.
        dtypes: The words for dtypes in its clause.
        known_dtypes: Those of the passage.
        rate: The bytes of each parameter that are said, or None.
        lengths, batches: Tokens and sequences, of its clause or else of its sentence.
        data: Tokens of a training run.
        gpus: How many devices there are.
        zero: The stage of ZeRO, or 0.
        sizes: Layers, heads and widths that are said.
        cached: Whether the passage is about key-value caches.
        trained: Whether it is about training.
        whole: Whether its clause, and its sentence up to it, were read to the last word.
        computed: Whether it is the result of an equation.
        aside: Whether its sentence says that activations come on top of it.
        of_tokens: Whether its sentence speaks of tokens, sequences or requests.
        rules: How many FLOPs for each parameter the passage has said: ``2N``.
    """

    line: int
    start: int
    end: int
    kind: str
    words: frozenset[str]
    clause: str
    subject: Subject | None
    dtypes: tuple[str, ...]
    known_dtypes: tuple[str, ...]
    rate: Fraction | None
    lengths: tuple[Fraction, ...]
    batches: tuple[Fraction, ...]
    data: tuple[Fraction, ...]
    gpus: tuple[Fraction, ...]
    zero: int
    sizes: tuple[tuple[str, int], ...]
    cached: bool
    trained: bool
    whole: bool
    computed: bool
    aside: bool
    rules: tuple[int, ...]
    of_tokens: bool
