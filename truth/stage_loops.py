"""Stages of a network, in a skeleton: lists in a config, one entry a stage, and one description of all stages in a loop.

A stage of each config is one member of the fit: its sizes are fitted to what the lists say at that stage (``c.depths[stage]``), at the
one before it, and to sizes that double or halve from stage to stage.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import lcm
from typing import Any

from truth.propose import Fitter, Module, Vector, restrict
from weighbridge.config.fields import Field

Lists = Mapping[str, tuple[int, ...]]
"""The lists of a config class by their keys, with their defaults."""

SMALL = 8
"""Entries up to which a list holds counts (of layers, of heads), not widths."""
COUNTS = ("stage", "block", "level")
"""What the key of the number of stages has in its name."""
WIDTHS = ("hidden", "width", "embed", "channel", "filter", "dim", "size")
"""What the words of sizes have in them that may double from stage to stage."""


def lists_of(config_class: Any) -> dict[str, tuple[int, ...]]:
    """Return the keys of a config class whose default is a list of whole numbers from 1 up."""
    found = {}
    for key, one in config_class.__dataclass_fields__.items():
        default = one.default_factory() if callable(one.default_factory) else one.default
        if isinstance(default, (list, tuple)) and default and all(type(entry) is int and entry > 0 for entry in default):
            found[key] = tuple(default)
    return found


def draw_lists(rng: random.Random, lists: Lists, table: Sequence[Field], raw: Mapping[str, Any]) -> dict[str, list[int]]:
    """Draw every list anew: as many entries as the config has stages, counts near their defaults, widths that all counts of heads divide.

    >>> drawn = draw_lists(random.Random(1), {"depths": (2, 2, 6), "num_heads": (1, 2, 5), "widths": (32, 64, 160)}, (), {})
    >>> [len(entries) for entries in drawn.values()], all(width % 10 == 0 for width in drawn["widths"])
    ([3, 3, 3], True)
    """
    heads = lcm(*(entry for key, entries in lists.items() if "head" in key for entry in entries))
    stages = {one.default: raw.get(one.key, one.default) for one in table if any(piece in one.key for piece in COUNTS)}
    drawn = {}
    for key, default in lists.items():
        many = stages.get(len(default), len(default))
        if "head" in key:
            drawn[key] = [rng.choice(default) for _ in range(many)]
        elif max(default) > SMALL:
            drawn[key] = [heads * rng.randint(1, 4) * (1 if heads > SMALL else SMALL) for _ in range(many)]
        else:
            choices = sorted({*default, min(default) + 1})
            drawn[key] = [rng.choice(choices) for _ in range(many)]
    return drawn


class StageFitter(Fitter):
    """Finds the expression of a size in the stages of all configs; the first and the last stage may have their own.

    Attributes:
        stages: The stage of each member.
        lasts: The number of the last stage of each member's config.
    """

    def __init__(
        self,
        values: Mapping[str, Vector],
        switches: Mapping[str, tuple[bool, ...]],
        stages: Vector,
        lasts: Vector,
        facts: dict[str, str] | None = None,
    ) -> None:
        self.stages, self.lasts = stages, lasts
        super().__init__(values, switches, facts)
        self.behind: dict[int, tuple[int, ...]] = {}  # the positions behind the stages up to each member's

    def plain(self, vector: Vector, held: Sequence[int]) -> str:
        """Return the expression of a size, seen in the members *held*."""
        found = super().plain(vector, held)
        if "TODO" not in found:
            return found
        by_member = dict(zip(held, vector, strict=True))
        for word, apart in (
            ("stage", [not stage for stage in self.stages]),
            ("stage < last", [stage == last for stage, last in zip(self.stages, self.lasts, strict=True)]),
        ):
            sides = [[member for member in held if apart[member] is side] for side in (False, True)]
            if all(sides):
                rest, alone = (super(StageFitter, self).plain(tuple(by_member[member] for member in side), side) for side in sides)
                if "TODO" not in rest + alone:
                    return f"({rest} if {word} else {alone})"
        return found

    def map_text(self, positions: Mapping[int, int]) -> str | None:
        """Return the source of these positions, by member, where they are those behind its stage or the one before."""
        for back, text in ((-1, "area(maps(c)[stage])"), (-2, "area(maps(c)[stage - 1])")):
            members = [self.behind.get(member, ()) for member in positions]
            if members and all(
                len(sides) >= -back and sides[back] == positions[member] for member, sides in zip(positions, members, strict=True)
            ):
                return text
        return None

    def _all(self) -> Iterator[tuple[Vector, str]]:
        """Yield what is fitted to: sizes, their multiples and what two of them make; of more there are too many by chance."""
        plain = list(self.values.items())
        yield from ((vector, word) for word, vector in plain)
        for word, vector in plain:
            for k in (2, 3, 4, 8):
                yield tuple(k * v for v in vector), f"{k} * {word}"
                yield tuple(v // k for v in vector), f"{word} // {k}"
            yield tuple(v - 1 for v in vector), f"{word} - 1"
        for place, (a, left) in enumerate(plain):
            for b, right in plain[place:]:
                yield tuple(x * y for x, y in zip(left, right, strict=True)), f"{a} * {b}"
                yield tuple(x + y for x, y in zip(left, right, strict=True)), f"{a} + {b}"


def stage_word(node: Module, fitter: Fitter) -> str | None:
    """Return the list that has an entry for each member of a module, if its members are stages: numbered, and of unlike widths."""
    children = list(node.children.values())
    if len(children) < 2 or node.tensors or not all(child.name.isdigit() for child in children):
        return None
    for word, lists in fitter.lists.items():
        if all(sum(number in child.held for child in children) == len(lists[number]) for number in node.held):
            return word
    return None


def write_loop(node: Module, word: str, fitter: Fitter, write: Callable[[Module, Fitter], str]) -> str:
    """Return the source of all stages of a module as one loop; *write* writes what is in one of them."""
    origins, members = _list_stages(node)
    inside = write(restrict(dict(enumerate(members))), stage_fitter(fitter, origins, word))
    heads = next((name for name in fitter.lists if "head" in name), None)
    width = next((name for name in fitter.lists if any(piece in name for piece in WIDTHS)), None)
    if heads and width:
        inside = inside.replace("heads=c.heads, head_dim=c.head_dim", f"heads={heads}[stage], head_dim={width}[stage] // {heads}[stage]")
    loop = f"*(part(str(stage), {inside}) for stage in layer_range(len({word})))"
    return f'part("{node.name}", {loop}, kind="encoder")'.replace("stage < last", f"stage + 1 < len({word})")


def stage_fitter(fitter: Fitter, origins: Sequence[tuple[int, int]], word: str) -> StageFitter:
    """Return the fitter of the stages that come from these configs and places."""
    stages = tuple(stage for _, stage in origins)
    values = {}
    for name, lists in fitter.lists.items():
        many = [len(lists[number]) for number, _ in origins]
        if all(stage < length for (_, stage), length in zip(origins, many, strict=True)):
            values[f"{name}[stage]"] = tuple(lists[number][stage] for number, stage in origins)
            values[f"{name}[-1 - stage]"] = tuple(lists[number][-1 - stage] for number, stage in origins)
            values[f"{name}[stage - 1]"] = tuple(lists[number][stage - 1] if stage else -1 for number, stage in origins)
    for name, vector in fitter.values.items():
        values[name] = tuple(vector[number] for number, _ in origins)
        if any(piece in name for piece in WIDTHS) and "[" not in name:
            values[f"{name} * 2**stage"] = tuple(vector[number] * 2**stage for number, stage in origins)
            values[f"{name} // 2**stage"] = tuple(vector[number] // 2**stage for number, stage in origins)
    lasts = tuple(len(fitter.lists[word][number]) - 1 for number, _ in origins)
    switches = {name: tuple(flags[number] for number, _ in origins) for name, flags in fitter.switches.items()}
    for name in fitter.lists:
        if f"{name}[stage]" in values:
            switches[f"{name}[stage] > 1"] = tuple(entry > 1 for entry in values[f"{name}[stage]"])
    switches["stage"] = tuple(bool(stage) for stage in stages)
    switches["stage < last"] = tuple(stage < last for stage, last in zip(stages, lasts, strict=True))
    found = StageFitter(values, switches, stages, lasts, fitter.facts)
    found.behind = {
        member: tuple(fitter.maps[number][: stage + 1]) for member, (number, stage) in enumerate(origins) if number in fitter.maps
    }
    return found


def find_maps(root: Module, fitter: Fitter, sides: Mapping[int, int], image: str) -> str:
    """Return the source of a function that lists the map behind each stage, or nothing; the fitter learns the positions.

    It is found where each stage has one convolution that makes the map smaller, and the positions that were seen are those it makes.

    Args:
        sides: The side of the image that each config was seen with.
        image: The source of that map.
    """
    for node in _modules(root):
        word = stage_word(node, fitter)
        if not word:
            continue
        origins, stages = _list_stages(node)
        inner = stage_fitter(fitter, origins, word)
        for path in dict.fromkeys(path for stage in stages for path, conv in _paths(stage) if conv.moves):
            moves = {
                member: next(iter(conv.moves.values())) for member, stage in enumerate(stages) if (conv := dict(_paths(stage)).get(path))
            }
            seen = {member: conv.seen for member, stage in enumerate(stages) if (conv := dict(_paths(stage)).get(path))}
            texts = [inner.plain(tuple(step), [*moves]) for step in zip(*moves.values(), strict=True)]
            maps = _walk_maps(origins, moves, seen, sides)
            if not maps or "TODO" in "".join(texts) or all(stride == 1 for _, stride, _ in moves.values()):
                continue
            fitter.maps = maps
            absent = "" if len(moves) == len(origins) else f" if {inner.condition(set(moves), set(range(len(origins))))} else at"
            step = f"conv_output(at, {', '.join(texts)}){absent}".replace("stage < last", f"stage + 1 < len({word})")
            return (
                "def maps(c: Config) -> list[Grid]:\n"
                '    """List the map behind each stage."""\n'
                f"    at: Grid = {image}\n    found = []\n"
                f"    for stage in layer_range(len({word})):\n        at = {step}\n        found.append(at)\n    return found\n\n\n"
            )
    return ""


def _walk_maps(
    origins: Sequence[tuple[int, int]],
    moves: Mapping[int, tuple[int, int, int]],
    seen: Mapping[int, Mapping[int, tuple[int, int]]],
    sides: Mapping[int, int],
) -> dict[int, list[int]]:
    """Return the positions behind each stage by config, or nothing if other ones were seen."""
    at, maps = dict(sides), dict[int, list[int]]()
    for member, (number, _) in enumerate(origins):
        if member in moves:
            kernel, stride, padding = moves[member]
            at[number] = (at[number] + 2 * padding - kernel) // stride + 1
            if any(pair != (at[number] ** 2,) * 2 for pair in seen[member].values()):
                return {}
        maps.setdefault(number, []).append(at[number] ** 2)
    return maps


def _paths(node: Module, path: str = "") -> Iterator[tuple[str, Module]]:
    yield path, node
    for name, child in node.children.items():
        yield from _paths(child, f"{path}.{name}")


def _modules(node: Module) -> Iterator[Module]:
    yield from (module for _, module in _paths(node))


def _list_stages(node: Module) -> tuple[list[tuple[int, int]], list[Module]]:
    """Return the stages of a module in all its configs: where each comes from, and itself as a member."""
    origins: list[tuple[int, int]] = []
    members = []
    for number in sorted(node.held):
        for stage, child in enumerate(child for child in node.children.values() if number in child.held):
            members.append(_renumber(child, number, len(origins)))
            origins.append((number, stage))
    return origins, members


def _renumber(node: Module, number: int, member: int) -> Module:
    """Return a module as it is in one config, under the number of a member."""
    return Module(
        node.name,
        node.kind,
        {member},
        {name: {member: shapes[number]} for name, shapes in node.tensors.items() if number in shapes},
        set(node.buffers),
        {name: {member: owners[number]} for name, owners in node.ties.items() if number in owners},
        {member} if number in node.causal else set(),
        {member: node.seen[number]} if number in node.seen else {},
        {member: node.moves[number]} if number in node.moves else {},
        children={name: _renumber(child, number, member) for name, child in node.children.items() if number in child.held},
    )
