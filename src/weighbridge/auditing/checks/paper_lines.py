"""Which lines of a text are about the Transformer of 2017, and whose claims of them stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.transformer_paper import describes_paper, names_paper


@once_for_each_scene
def is_about_paper(scene: Scene) -> bool:
    """Tell whether a text names the Transformer of 2017, or describes it as that of a paper."""
    described = not scene.mentions and len(scene.texts) <= _SHORT and describes_paper("\n".join(scene.texts))
    return described or any(map(names_paper, scene.texts))


_SHORT = 2000


def is_of_paper(scene: Scene, line: int) -> bool:
    """Tell whether a line may be about the paper's model: no other is named between it and the last name of that, if any model is named."""
    if not scene.named_lines:
        return True
    last = bisect_right(scene.named_lines, line) - 1
    other = scene.named_lines[last] if last >= 0 else -1
    return other < 0 or any(names_paper(scene.texts[place]) for place in range(line, max(other, line - _REACH) - 1, -1))


_REACH = 12
"""Lines below a name of the paper's model that are still about it, in a text that names others too."""


def subjects_of_line(scene: Scene, line: int) -> Sequence[tuple[int, bool]]:
    """Return where models are named in a line, in order, and whether each is the paper's."""
    named = [(start, True) for start, _ in names_paper(scene.texts[line])]
    return sorted([*named, *((mention.column, False) for mention in scene.mentions.get(line, ()))])


def put_first(scene: Scene, claims: Sequence[Claim], found: Iterable[Claim]) -> list[Claim]:
    """Return claims with those about the paper's model, which stand before what others say of the same sizes and counts, and without what they call wrong behind its name."""
    mine = list(found)
    places: dict[int, list[tuple[int, int]]] = {}
    for one in mine:
        places.setdefault(one.line, []).append((one.start, one.end))
    named = {line.number: index for index, line in enumerate(scene.lines) if names_paper(line.text)}

    def is_left(one: Claim) -> bool:
        if one.kind not in _KINDS:
            return True
        judged = any(start < one.end and one.start < end for start, end in places.get(one.line, ()))
        return not judged and not (one.verdict == "wrong" and one.line in named and _is_behind_name(scene, named[one.line], one.start))

    return [*filter(is_left, claims), *mine]


def _is_behind_name(scene: Scene, line: int, column: int) -> bool:
    """Tell whether the last model that is named before a place of a line, as it was written, is the paper's."""
    places = scene.lines[line].at
    at = bisect_left(places, column) if places else column
    before = [paper for place, paper in subjects_of_line(scene, line) if place <= at]
    return bool(before) and before[-1]


_KINDS = ("configuration", "total", "component")
