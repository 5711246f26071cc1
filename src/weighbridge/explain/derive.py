"""Why a model has as many parameters as it has: sections, lines, formulas, substitutions, numbers.

A derivation is data, made from the tree alone, so that it works for every blueprint; what it looks
like on a terminal, on a page or in a paper is the renderers' business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.ledger import Line as Amount
from weighbridge.core.errors import UsageError
from weighbridge.core.formula import Expression, Symbol, as_expression, evaluate, letters, write
from weighbridge.core.messages import Say, Text, join_with_or, mark, translator
from weighbridge.core.tree import Part, positions, walk
from weighbridge.explain.alike_modules import by_tensor, likeness, module_paths, role_names
from weighbridge.explain.closed_form import closed_formula
from weighbridge.explain.line_sentences import LEARNED_VECTORS, line_sentences, shape_sentence
from weighbridge.explain.overview import Active, ByModule, Decider, active, deciders, formula_by_module, sum_by_module
from weighbridge.explain.part_titles import LINES, STACKS, line_title, section_title
from weighbridge.explain.recount import recounter
from weighbridge.explain.rotary import rotary_places
from weighbridge.explain.rotary_share import rotated_dimensions
from weighbridge.explain.scope import Scope, holders
from weighbridge.explain.section import Line, Section, prune, sections, with_numbers, with_shares
from weighbridge.explain.semantic_tree import STRUCTURAL, TRANSPARENT, Leaf, Pair, find, join_path, leaf_at, leaves, owned_size, pair, scale
from weighbridge.explain.sensitivity import Insight, insight
from weighbridge.explain.sentences import SENTENCES, section_name, sentences

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Derivation(NamedTuple):
    """The whole derivation.

    Attributes:
        title: The model, its class and source.
        language: The language its words are in.
        root: A section whose parts are the numbered sections and whose value is the total.
        symbols: The letters used, with config key and meaning (translated).
        values: What each letter stands for.
        insight: Collected forms, the leading term, what a change costs; None for a checkpoint.
        by_module: The total in the words of its sections, and in numbers; None where that is long or tells nothing.
        active: How many parameters work on one token; None where all do.
        deciders: The config keys that decide which layers are of which kind, where there are several.
    """

    title: str
    language: str
    root: Section
    symbols: tuple[tuple[Symbol, str], ...]
    values: dict[str, int]
    insight: Insight | None
    by_module: ByModule | None = None
    active: Active | None = None
    deciders: tuple[Decider, ...] = ()

    @property
    def total(self) -> int:
        """The parameters derived."""
        return self.root.value


MOST_MODULES = 20_000
"""Modules that a derivation goes through; a checkpoint with more that differ is read in parts."""


def derive(model: ModelValue, lang: str = "en", *, module: str = "", depth: int | None = None) -> Derivation:
    """Derive the unique parameters of *model*, or of one of its modules.

    Args:
        model: Any model; one from a checkpoint is derived with numbers only.
        lang: The language of titles and sentences.
        module: A dotted path such as ``encoder.layer.attention``.
        depth: How many levels of sections to keep; all by default.

    Raises:
        UsageError: No such module, no such language, or more modules than anybody reads.

    >>> from weighbridge import model
    >>> found = derive(model("bert-base-chinese"), "zh")
    >>> [(section.title, section.value) for section in found.root.parts]
    [('嵌入层', 16622592), ('编码器层', 85054464), ('池化层', 590592)]
    """
    say = translator(lang)
    top, table, values = pair(model)
    place = _place(top, module)
    many = sum(1 for _ in walk(place.pair.part))
    if many > MOST_MODULES:
        raise UsageError(
            Text("{many:,} modules that differ; at most {most:,} are derived: name one with --module", many=many, most=MOST_MODULES)
        )
    root = _Author(say, values, _rotary(model), _rotated_dimensions(model)).section(place)
    root = with_numbers(with_shares(root, root.value), "")
    used = set(_letters(root))
    works = active(model, top, root.value, values) if not module else None
    used |= letters(works.formula) if works else set()
    symbols = tuple((symbol, say(symbol.meaning)) for letter, symbol in table.items() if letter in used)
    title = " · ".join(text for text in (model.class_name, model.source, module) if text)
    several = any(section.where for section in sections(root))
    told = insight(root.closed, table, values, _shorter_form(root), recounter(model, table, several)) if values and not module else None
    kinds = deciders(model) if several else ()
    shown = root if depth is None else prune(root, depth)
    known = {symbol.letter: values[symbol.letter] for symbol, _ in symbols}
    return Derivation(title, lang, shown, symbols, known, told, sum_by_module(root, say), works, kinds)


def factored_formula(model: ModelValue) -> Expression:
    """Return the closed formula of a model's parameters, collected, or as its modules are written, whichever is read sooner.

    >>> from weighbridge import model
    >>> print(factored_formula(model("gpt2")))
    V*H + S*H + 2*H + L*(12*H^2 + 13*H)
    """
    top, _, values = pair(model)
    return _shorter_form(_Author(translator("en"), values).section(_place(top, "")))


def _rotary(model: ModelValue) -> tuple[str, ...]:
    """Return where attention rotates; nowhere in a part whose config names a type that is not known to rotate everywhere."""
    if model.description is None:
        return ()
    places = rotary_places(model.description.family.model_type)
    for key, inner in model.description.raw.items():
        named = inner.get("model_type") if isinstance(inner, dict) else None
        if named and not rotary_places(named):
            part = key.removesuffix("_config")
            places = tuple(place for place in places if not any(word in place for word in _PLACES_OF.get(part, (part,))))
    return places


def _rotated_dimensions(model: ModelValue) -> Callable[[str, int], int | None] | None:
    """Return what tells how many dimensions of a head are rotated, where these are a part; a checkpoint does not tell."""
    if model.description is None:
        return None
    return partial(rotated_dimensions, model.description.raw, model.description.family.model_type)


_PLACES_OF = {"text": ("language_model", "text_model", "layers"), "vision": ("vision", "visual"), "audio": ("audio",)}
"""By the name of a sub-config, what the modules are called that are made from it."""


def _shorter_form(root: Section) -> Expression:
    """Return the formula collected, or as its modules are written, whichever is read sooner."""
    return min(root.formula, formula_by_module(root), key=lambda formula: len(write(formula)))


def _letters(section: Section) -> Iterator[str]:
    """Yield the letters that stand anywhere in a derivation, also those that cancel in the total."""
    yield from letters(section.times)
    for part in section.parts:
        yield from _letters(part) if isinstance(part, Section) else letters(part.formula)


class _Module(NamedTuple):
    """A part that becomes a section, and where it stands."""

    path: str
    pair: Pair
    around: tuple[Pair, ...]


_Unit: TypeAlias = "Leaf | _Module"


def _place(top: Pair, path: str) -> _Module:
    found = find(top, path)
    if not found:
        inside = [place for place, _ in walk(top.part) if place.endswith(f".{path}")]
        if inside:
            raise UsageError(
                Text("the model has no module {path!r} at the top; did you mean {known}?", path=path, known=join_with_or(inside[:3]))
            )
        known = [join_path("", child.part.name) for child in top.children() if child.part.name]
        raise UsageError(Text("the model has no module {path!r}; at the top it has {known}", path=path, known=", ".join(known)))
    if any(place.pair.part != found[0].pair.part for place in found):
        text = Text(
            "{path!r} is not the same in all layers; did you mean {known}?", path=path, known=join_with_or([p.path for p in found[:3]])
        )
        raise UsageError(text)
    return _Module(path, found[0].pair, found[0].around)


def _children(module: _Module) -> Iterator[_Unit]:
    """Yield what stands directly in a module; parts that only wrap others are looked through."""
    inside = (*module.around, module.pair)
    if module.pair.tensors():
        yield leaf_at(module.path, module.pair, module.around)
    for child in module.pair.children():
        path = join_path(module.path, child.part.name)
        if child.repeated or (child.part.repeat is not None and child.part.kind == "layer"):
            yield _Module(path, child, inside)
        elif child.part.kind in TRANSPARENT or child.part.repeat is not None:
            yield from _children(_Module(path, child, inside))
        elif any(isinstance(node, Part) for node in child.part.children):
            yield _Module(path, child, inside)
        elif child.tensors():
            yield leaf_at(path, child, inside)


def _owners(module: _Module) -> Iterator[_Unit]:
    """Yield the modules that own tensors, looking through all parts that are not repeated."""
    for unit in _children(module):
        if isinstance(unit, _Module) and not unit.pair.repeated:
            yield from _owners(unit)
        else:
            yield unit


def _units(module: _Module) -> list[_Unit]:
    """Divide a module: a stack or a model by its parts, a layer by what its modules are for."""
    flat = list(_owners(module))
    if not module.pair.repeated and any(isinstance(unit, _Module) for unit in flat):
        return [unit for unit in _children(module) if isinstance(unit, Leaf) or list(_owners(unit))]
    top = not module.around or module.pair.part.kind in TRANSPARENT
    return list(_children(module)) if top and not module.pair.repeated else flat


def _leaves(module: _Module) -> list[Leaf]:
    return leaves(module.pair, module.path, module.around)


def _purpose(unit: _Unit) -> str:
    return unit.topic if isinstance(unit, Leaf) else leaf_at(unit.path, unit.pair, unit.around).topic


class _Author(NamedTuple):
    """What every paragraph needs: the language, the numbers for the letters, and which attention has rotary positions."""

    say: Say
    values: dict[str, int]
    rotary: tuple[str, ...] = ()
    rotated: Callable[[str, int], int | None] | None = None

    def section(self, module: _Module, title: str = "") -> Section:
        units = _units(module)
        part, symbolic = module.pair
        if len(units) == 1 and part.repeat is None and part.kind != "stage" and isinstance(units[0], _Module) and module.around:
            usual = section_title("", part.kind, part.name) if part.kind in SENTENCES else ""
            of_layers = STACKS.get(part.kind, usual) if units[0].pair.repeated else usual  # BERT's is one encoder of 12 layers
            return self.section(units[0], title or (self.say(of_layers) if of_layers else ""))
        purpose = _purpose(module)
        label = section_title(purpose if purpose != "other" else "", part.kind, part.name)
        label = label if not label.isdigit() else section_title("other")
        times = as_expression(symbolic.repeat) if module.pair.repeated and symbolic.repeat is not None else as_expression(1)
        found = self.subtotal(title, self.parts(units), path=module.path, kind=part.kind, times=times)
        topic = part.kind if part.kind in SENTENCES else purpose
        scope = Scope(
            topic, tuple(_leaves(module)), (module.pair,), found.closed.polynomial(), self.values, part, self.rotary, self.rotated
        )
        return self.with_sentences(found._replace(title=title or self.say(section_name(scope, label))), scope)

    def with_sentences(self, section: Section, scope: Scope) -> Section:
        """Put in what is true of a section."""
        says = sentences(scope)
        return section._replace(says=says, sentence=self.join_sentences(says))

    def join_sentences(self, says: Sequence[str]) -> str:
        """Put sentences together; Chinese ones follow each other without a space."""
        pieces = [self.say(text) for text in says]
        return "".join(piece if not piece or not piece.isascii() or piece is pieces[-1] else piece + " " for piece in pieces)

    def subtotal(
        self, title: str, parts: Sequence[Line | Section], *, path: str = "", kind: str = "", times: Expression | None = None
    ) -> Section:
        times = as_expression(1) if times is None else times
        copies = self.value(times)
        each = sum(part.value for part in parts)
        book = closed_formula(_entry(parts, times, each))
        return Section("", title, "", path, kind, tuple(parts), book, book.expression(), times, copies, each, copies * each)

    def parts(self, units: Sequence[_Unit]) -> list[Line | Section]:
        modules = Counter(unit.path for unit in units if isinstance(unit, _Module))
        stages = [unit.path for unit in units if isinstance(unit, _Module) and unit.pair.part.kind == "stage"]
        purposes = list(dict.fromkeys(_purpose(unit) for unit in units if isinstance(unit, Leaf)))
        if not modules and (len(purposes) == 1 or not STRUCTURAL & set(purposes)):
            return list(self.lines([unit for unit in units if isinstance(unit, Leaf)]))
        done: set[str] = set()
        parts: list[Line | Section] = []
        last: list[Line | Section] = []  # norms stand between the other parts of a layer; they are gathered behind them
        for unit in units:
            if isinstance(unit, _Module):
                title = self.stage_title(stages, unit.path) if len(stages) > 1 else ""
                parts.append(self.section(unit, title)._replace(where=_layer_numbers(unit.pair.part) if modules[unit.path] > 1 else ""))
            elif (purpose := _purpose(unit)) not in done:
                done.add(purpose)
                section = self.purpose(purpose, [u for u in units if isinstance(u, Leaf) and _purpose(u) == purpose])
                (last if purpose == "norm" and STRUCTURAL & set(purposes) else parts).append(section)
        return [*parts, *last]

    def stage_title(self, stages: Sequence[str], path: str) -> str:
        return self.say(mark("Stage {number}")).format(number=stages.index(path) + 1) if path in stages else ""

    def purpose(self, purpose: str, found: Sequence[Leaf]) -> Section:
        inside = list(self.lines(found))
        alike = len({line.title for line in inside}) == 1
        section = self.subtotal("", inside, kind=purpose)
        scope = Scope(
            purpose, tuple(found), holders(found, purpose), section.closed.polynomial(), self.values, None, self.rotary, self.rotated
        )
        mapped = purpose == "other" and any(leaf.pair.part.kind == "linear" for leaf in found)
        usual = section_title("other", "maps") if mapped else section_title(purpose)
        title = inside[0].title if alike and purpose in ("other", "norm") else self.say(section_name(scope, usual))
        return self.with_sentences(section._replace(title=title), scope)

    def lines(self, found: Sequence[Leaf]) -> Iterator[Line]:
        """Yield a line for each group of modules that are alike."""
        groups: dict[object, list[Leaf]] = {}
        for one in (one for leaf in found for one in by_tensor(leaf)):
            groups.setdefault(likeness(one), []).append(one)
        for group in groups.values():
            yield self.line(group)

    def line(self, group: Sequence[Leaf]) -> Line:
        first = group[0]
        tensors = first.pair.tensors()
        formula = scale(len(group), owned_size(tensors))
        kind, says = first.pair.part.kind, line_sentences(first.pair.part.kind, tensors)
        names = list(dict.fromkeys(name for leaf in group for name in role_names(leaf)))
        title = (
            self.say(", ").join(self.say(name) for name in names)
            if all(names)
            else self.say(line_title(kind, tuple(ours.role for ours, _ in tensors)))
        )
        if title == self.say(LINES["vector"]):
            says = tuple(text for text in says if text not in LEARNED_VECTORS)  # the title says it
        tied = tuple(ours.tied_to for ours, _ in tensors if ours.tied_to is not None)
        paths = tuple(dict.fromkeys(path for leaf in group for path in module_paths(leaf)))
        return Line(
            "", title, self.join_sentences(says), kind, paths, formula, self.value(formula), tied, says, shape_sentence(kind, tensors)
        )

    def value(self, formula: Expression) -> int:
        found = evaluate(formula, self.values)
        assert isinstance(found, int)
        return found


def _layer_numbers(part: Part) -> str:
    """Write the indices of a repeated part's copies, ``3–60``, ``3, 7, 11, …, 47`` or ``0–2, 4–6, 8–10, …, 44–46``; nothing where a letter says how many."""
    if not isinstance(part.repeat, int):
        return ""
    places = positions(part)
    if len(places) < 3:
        return ", ".join(map(str, places))
    if places[-1] - places[0] == len(places) - 1:
        return f"{places[0]}–{places[-1]}"
    evenly = len({after - before for before, after in pairwise(places)}) == 1
    named = [str(place) for place in places] if len(places) < 9 or (evenly and places[1] - places[0] > 1) else _runs(places)
    return ", ".join(named if len(named) < 9 and not (evenly and len(named) > 5) else (*named[:3], "…", named[-1]))


def _runs(places: Sequence[int]) -> list[str]:
    """Write indices as runs: ``0–2, 4, 6–9``."""
    found: list[list[int]] = []
    for place in places:
        if found and place == found[-1][-1] + 1:
            found[-1].append(place)
        else:
            found.append([place])
    return [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in found]


def _entry(parts: Sequence[Line | Section], times: Expression, each: int) -> Entry:
    amounts = tuple(Amount(None, part.formula) for part in parts if isinstance(part, Line))  # type: ignore[arg-type]
    inside = tuple(_entry(part.parts, part.times, part.each) for part in parts if isinstance(part, Section))
    return Entry(Part(""), times, amounts, inside, each, each)
