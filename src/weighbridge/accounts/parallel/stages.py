"""Which layers stand on which pipeline stage, and what stands before and after them."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.tree import Part, copy_name, positions

if TYPE_CHECKING:
    from collections.abc import Iterable


def layer_names(tree: Part) -> list[str]:
    """List the layers of a model in the order in which they run: the copies of its outermost repeated parts.

    Repeated parts of few parameters (a list of heads, of levels) are layers too where nothing larger repeats.

    >>> from weighbridge.core.parts import linear
    >>> layer_names(Part("", (Part("layers", (linear("a", 2, 2),), "layer", repeat=2),)))
    ['layers.0', 'layers.1']
    """
    found: list[tuple[int, str]] = []
    _collect(tree, "", found)
    return [name for _, name in found]


def _collect(part: Part, prefix: str, found: list[tuple[int, str]]) -> None:
    children = [child for child in part.children if isinstance(child, Part)]
    done: set[str] = set()
    for child in children:
        if child.repeat is None:
            _collect(child, f"{prefix}{child.name}." if child.name else prefix, found)
        elif child.name not in done and _is_layer(child):
            done.add(child.name)
            same = [other for other in children if other.name == child.name and other.repeat is not None]
            found.extend((index, prefix + copy_name(child.name, index)) for index in sorted(i for other in same for i in positions(other)))


def _is_layer(part: Part) -> bool:
    """Tell whether a repeated part is a layer: it holds other parts."""
    return any(isinstance(child, Part) for child in part.children)


def share_layers(layers: int, stages: int) -> list[int]:
    """Return how many layers each stage gets; where they cannot be even, earlier stages get one more.

    >>> share_layers(10, 4)
    [3, 3, 2, 2]
    """
    if layers < stages:
        raise UsageError(Text("pp: {stages} stages, and the model has {layers} layers", stages=stages, layers=layers))
    return [layers // stages + (stage < layers % stages) for stage in range(stages)]


def stage_of(names: Iterable[str], layers: list[str], stages: int, chunks: int = 1) -> dict[str, int]:
    """Return the stage of each tensor: that of its layer; what comes before the first layer stands first, all else last.

    With *chunks*, stage *s* holds pieces ``s, s + stages, s + 2 * stages, ...`` of the model.
    """
    pieces = share_layers(len(layers), stages * chunks)
    of_layer: dict[str, int] = {}
    position = 0
    for piece, count in enumerate(pieces):
        for name in layers[position : position + count]:
            of_layer[name] = piece % stages
        position += count
    first = True
    result = {}
    for name in names:
        layer = _layer_of(name, of_layer)
        if layer is not None:
            first = False
        result[name] = of_layer[layer] if layer is not None else 0 if first else stages - 1
    return result


def _layer_of(name: str, known: dict[str, int]) -> str | None:
    end = name.find(".")
    while end >= 0:
        if name[:end] in known:
            return name[:end]
        end = name.find(".", end + 1)
    return None
