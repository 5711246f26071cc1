"""A sentence of a derivation, with what it is said of: the tensors below its section, and configs that are changed to see what it depends on."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from weighbridge import Model, WeighbridgeError, model
from weighbridge.core.formula import Symbol
from weighbridge.core.tree import Attend, Part, Tensor, positions
from weighbridge.explain.derive import Derivation
from weighbridge.explain.section import Line, Section, lines, sections
from weighbridge.explain.symbolic import symbolic

SEEN: dict[tuple[int, str], tuple[Model, dict[str, list[tuple[str, Part, Tensor]]]]] = {}
"""The tensors of a place by their names, which many checks ask for; forgotten with the model."""


class SentenceCase(NamedTuple):
    """A sentence, and all that a check may look at."""

    model: Model
    derivation: Derivation
    place: Section | Line
    values: dict[str, Any]

    def own(self) -> Iterator[tuple[str, Part, Tensor]]:
        """Yield the tensors of the place: path and part, repeats folded."""
        paths = self.place.paths if isinstance(self.place, Line) else [path for line in lines(self.place) for path in line.paths]
        for path in dict.fromkeys(paths):
            found = tuple(self.at(path))
            assert found, path
            yield from found

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Yield the parts of the tree with their paths; of layers of several kinds only those of the kind that the place stands in."""
        number = self.place.number
        outer = [s for s in sections(self.derivation.root) if s.where and (number == s.number or number.startswith(s.number + "."))]
        starts = {section.path: re.match(r"\d+", section.where)[0] for section in outer}  # type: ignore[index]
        return walk_parts(self.model.tree, starts=starts)

    def at(self, path: str) -> Iterator[tuple[str, Part, Tensor]]:
        """Yield the tensors of a module, or the one tensor of this name; the path of the module comes with them."""
        key = id(self.model), self.place.number
        if key not in SEEN:
            tensors: dict[str, list[tuple[str, Part, Tensor]]] = {}
            for found, part in self.parts():
                for node in part.children:
                    if isinstance(node, Tensor):
                        for name in dict.fromkeys((found, f"{found}.{node.name}" if found else node.name)):
                            tensors.setdefault(name, []).append((found, part, node))
            SEEN[key] = self.model, tensors
        yield from SEEN[key][1].get(path, ())

    def parameters(self) -> list[Tensor]:
        return [tensor for _, _, tensor in self.own() if tensor.role != "buffer"]

    def kinds(self) -> set[str]:
        return {part.kind for _, part, _ in self.own()}

    def attends(self) -> list[Attend]:
        """Return the attention that stands in a part around one of the place's tensors, or beside it."""
        tops = {path for path, _, _ in self.own()}
        found = [
            node
            for path, part in self.parts()
            for node in part.children
            if isinstance(node, Attend) and any(top == path or top.startswith(path + ".") or path.startswith(top + ".") for top in tops)
        ]
        assert found
        return found

    def weights(self, title: str) -> list[Tensor]:
        """Return the matrices of the lines that are called so."""
        assert isinstance(self.place, Section)
        inside = [line for line in lines(self.place) if line.title == title or (" " not in title and title in line.title.split(", "))]
        return [t for line in inside for path in dict.fromkeys(line.paths) for _, _, t in self.at(path) if t.role == "weight"]

    def changed(self, **values: int) -> Model | None:
        """Return the model with other values at key paths, or None where there is no such model."""
        assert self.model.description is not None
        raw = dict(self.model.description.raw)
        for path, value in values.items():
            *outer, key = path.split(".")
            inside = raw
            for name in outer:
                if not inside.get(name):
                    return None
                inside[name] = dict(inside[name])
                inside = inside[name]
            inside[key] = value
        try:
            return model(raw, self.model.class_name)
        except WeighbridgeError:
            return None

    def elements(self, other: Model | None = None) -> int:
        """Count the parameters of the place, in another model too that differs in sizes alone."""
        return numel((self._replace(model=other) if other else self).parameters())


def walk_parts(
    part: Part, path: str = "", starts: Mapping[str, str] | None = None, *, all_parts: bool = False
) -> Iterator[tuple[str, Part]]:
    yield path, part
    for child in part.children:
        if isinstance(child, Part):
            here = f"{path}.{child.name}" if path and child.name else path or child.name
            if isinstance(child.repeat, int) and child.repeat == 0 and not all_parts:
                continue
            if starts and here in starts and child.repeat and str(next(iter(positions(child)))) != starts[here]:
                continue
            yield from walk_parts(child, here, starts, all_parts=all_parts)


def numel(found: list[Tensor]) -> int:
    total = 0
    for tensor in found:
        elements = 1
        for size in tensor.shape:
            elements *= int(str(size))
        total += elements
    return total


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def pairs(ours: Part, theirs: Part) -> Iterator[tuple[Part, Part]]:
    """Walk a tree of ints beside that of its symbols; not into a stack that is written out because another owns it."""
    if len(ours.children) == len(theirs.children):
        yield ours, theirs
        for a, b in zip(ours.children, theirs.children, strict=True):
            if isinstance(a, Part) and isinstance(b, Part):
                yield from pairs(a, b)


def head_keys(said: SentenceCase) -> tuple[str, ...]:
    """Return the keys of the numbers of heads of a section: query heads first."""
    mine = {(attend.heads, attend.kv_heads) for attend in said.attends()}
    tree, _, _ = symbolic(said.model)
    keys: list[str] = []
    for ours, theirs in pairs(said.model.tree, tree):
        for a, b in zip(ours.children, theirs.children, strict=True):
            if isinstance(a, Attend) and isinstance(b, Attend) and (a.heads, a.kv_heads) in mine:
                keys += [size.key for size in (b.heads, b.kv_heads) if isinstance(size, Symbol)]
    return tuple(dict.fromkeys(keys))


def with_other_heads(said: SentenceCase) -> Iterator[Model]:
    """Yield the model with twice, half and three times the heads, where there is one."""
    keys, attend = head_keys(said), said.attends()[0]
    heads, width = int(str(attend.heads)), int(str(attend.heads)) * int(str(attend.head_dim))
    for number in (heads * 2, heads // 2, heads * 3, heads // 3):
        if number > 0 and width % number == 0 and keys and (other := said.changed(**dict.fromkeys(keys, number))) is not None:
            yield other


def heads_do_not_count(said: SentenceCase) -> None:
    for other in with_other_heads(said):
        assert said.elements(other) == said.elements()


def heads_count(said: SentenceCase) -> None:
    for other in list(with_other_heads(said))[:1]:
        assert said.elements(other) > said.elements()


def shared_heads(said: SentenceCase) -> None:
    heads, shared = whole(said.values["heads"]), whole(said.values.get("shared", "1"))
    assert {(attend.heads, attend.kv_heads) for attend in said.attends()} == {(heads, shared)}
    assert "each" not in said.values or heads == shared * whole(said.values["each"])
    query, key = said.weights("query"), said.weights("key")
    if query and key and len(query) == len(key):
        assert numel(query) in (numel(key) * heads // shared, 2 * numel(key) * heads // shared)  # twice with a gate beside the queries
    else:
        dims = {size for tensor in said.parameters() for size in tensor.shape}
        fused = {(heads + 2 * shared) * int(str(a.head_dim)) for a in said.attends()} | {
            2 * shared * int(str(a.head_dim)) for a in said.attends()
        }
        assert dims & (fused | {shared * int(str(a.head_dim)) for a in said.attends()})


def number(text: str, values: dict[str, int]) -> int:
    """Work out what stands in a sentence, ``A × (P + U)``."""
    formula = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + "".join(str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(d)) for d in m[0]), text)
    while "⌊" in formula:  # the innermost first
        formula = re.sub(r"⌊([^⌊⌋]*)⌋", lambda m: f"(({m[1].replace(' / ', ')//(')}))", formula)
    formula = formula.replace(" / ", "//").replace("×", "*").replace("−", "-").replace(",", "")
    return int(eval(formula, {"__builtins__": {}}, dict(values)))
