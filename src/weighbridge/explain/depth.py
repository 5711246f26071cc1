"""How deep a derivation is shown: what is deeper is folded into one formula."""

from __future__ import annotations

from weighbridge.explain.derive import Derivation
from weighbridge.explain.section import Section, prune


def fold_below(derivation: Derivation, depth: int) -> Derivation:
    """Return a derivation with no more than *depth* levels of sections; what is deeper is one formula.

    >>> from weighbridge import model
    >>> fold_below(model("bert-base-chinese").explain(), 1).root.parts[1].parts
    ()
    """
    return derivation._replace(root=prune(derivation.root, depth))


def depth_of(derivation: Derivation) -> int:
    """Return how deep a derivation must be shown for nothing in it to be folded."""
    return _depth(derivation.root)


def readable_depth(derivation: Derivation, lines: int) -> int:
    """Return how many levels of sections, three at least, can be shown in about so many lines.

    >>> from weighbridge import model
    >>> readable_depth(model("albert-base-v2").explain(), 120), readable_depth(model("resnet-50").explain(), 120)
    (5, 4)
    >>> readable_depth(model("albert-base-v2").explain(), 54), readable_depth(model("albert-base-v2").explain(), 53)
    (4, 3)
    """
    depth = 3
    while depth < _depth(derivation.root) and _length(prune(derivation.root, depth + 1)) <= lines:
        depth += 1
    return depth


def _depth(section: Section) -> int:
    return 1 + max((_depth(part) for part in section.parts if isinstance(part, Section)), default=0)


def _length(section: Section) -> int:
    """Estimate the lines that a section takes."""
    return 3 + sum(_length(part) if isinstance(part, Section) else 4 for part in section.parts)
