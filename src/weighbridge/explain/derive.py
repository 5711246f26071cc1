"""Why a model has as many parameters as it has: sections, lines, formulas, substitutions, numbers.

A derivation is data, made from the tree alone, so that it works for every blueprint; what it looks
like on a terminal, on a page or in a paper is the renderers' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from weighbridge.accounts.closed import Closed, closed_formula
from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.ledger import Line as Amount
from weighbridge.core.errors import UsageError
from weighbridge.core.formula import Expression, Symbol, as_expression, evaluate, letters
from weighbridge.core.messages import Say, Text, translator
from weighbridge.core.polynomials import polynomial
from weighbridge.core.tree import Part, positions
from weighbridge.explain.semantic_tree import STRUCTURAL, TRANSPARENT, Leaf, Pair, find, joined, owned, pair, scaled
from weighbridge.explain.sensitivity import Insight, insight
from weighbridge.explain.wording import line_wording, role_name, section_wording

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Line(NamedTuple):
    """One module that owns tensors, or several alike.

    Attributes:
        number: Such as ``2.1.3``.
        title: What it is.
        sentence: What that kind of module does, in one sentence.
        kind: The kind of the part.
        paths: The modules it stands for, repeats folded.
        formula: What one copy of all of them amounts to, as it is written.
        value: The formula's value; 0 if all of it is another module's storage.
        tied: The tensors whose storage it shares; they are counted where they stand first.
    """

    number: str
    title: str
    sentence: str
    kind: str
    paths: tuple[str, ...]
    formula: Expression
    value: int
    tied: tuple[str, ...] = ()


class Section(NamedTuple):
    """A part of the model with its subtotal.

    Attributes:
        number, title, sentence: As in :class:`Line`.
        path: The part's dotted path, or the empty string where modules of one purpose are gathered.
        kind: The part's kind or purpose.
        parts: Lines and sections inside, in order.
        closed: The closed formula of one copy.
        times: How many copies there are, as a formula; the number 1 where there is one.
        copies: The value of *times*.
        each, value: Parameters of one copy, and of all.
        share: Tenths of a percent of the whole; those of one level add up to their parent's.
        where: The indices of the copies, such as ``3–60``, where layers of several kinds stand in one stack.
    """

    number: str
    title: str
    sentence: str
    path: str
    kind: str
    parts: tuple[Line | Section, ...]
    closed: Closed
    times: Expression
    copies: int
    each: int
    value: int
    share: int = 0
    where: str = ""

    @property
    def formula(self) -> Expression:
        """The closed formula of one copy as an expression."""
        return self.closed.expression()


class Derivation(NamedTuple):
    """The whole derivation.

    Attributes:
        title: The model, its class and source.
        language: The language its words are in.
        root: A section whose parts are the numbered sections and whose value is the total.
        symbols: The letters used, with config key and meaning (translated).
        values: What each letter stands for.
        insight: Collected forms, the leading term, what a change costs; None for a checkpoint.
    """

    title: str
    language: str
    root: Section
    symbols: tuple[tuple[Symbol, str], ...]
    values: dict[str, int]
    insight: Insight | None

    @property
    def total(self) -> int:
        """The parameters derived."""
        return self.root.value


def derive(model: ModelValue, lang: str = "en", *, module: str = "", depth: int | None = None) -> Derivation:
    """Derive the unique parameters of *model*, or of one of its modules.

    Args:
        model: Any model; one from a checkpoint is derived with numbers only.
        lang: The language of titles and sentences.
        module: A dotted path such as ``encoder.layer.attention``.
        depth: How many levels of sections to keep; all by default.

    Raises:
        UsageError: No such module, or no such language.

    >>> from weighbridge import model
    >>> found = derive(model("bert-base-chinese"), "zh")
    >>> [(section.title, section.value) for section in found.root.parts]
    [('嵌入层', 16622592), ('编码器', 85054464), ('池化层', 590592)]
    """
    say = translator(lang)
    top, table, values = pair(model)
    place = _place(top, module)
    root = _Author(say, values).section(place)
    root = _numbered(with_shares(root, 1000), "")
    used = set(_letters(root))
    root = root if depth is None else _pruned(root, depth)
    symbols = tuple((symbol, say(symbol.meaning)) for letter, symbol in table.items() if letter in used)
    title = " · ".join(text for text in (model.class_name, model.source, module) if text)
    told = insight(root.closed, table, values) if values and not module else None
    return Derivation(title, lang, root, symbols, {symbol.letter: values[symbol.letter] for symbol, _ in symbols}, told)


def lines(section: Section) -> Iterator[Line]:
    """Yield every line under a section."""
    for part in section.parts:
        if isinstance(part, Line):
            yield part
        else:
            yield from lines(part)


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
    around: tuple[Pair, ...] = ()
    found = find(top, path)
    if found is None:
        known = [joined("", child.part.name) for child in top.children() if child.part.name]
        raise UsageError(Text("the model has no module {path!r}; at the top it has {known}", path=path, known=", ".join(known)))
    if path:
        pieces = path.split(".")
        outer = (find(top, ".".join(pieces[:cut])) for cut in range(len(pieces)))
        around = tuple(pair for pair in outer if pair is not None)
    return _Module(path, found, around)


def _children(module: _Module) -> Iterator[_Unit]:
    """Yield what stands directly in a module; parts that only wrap others are looked through."""
    inside = (*module.around, module.pair)
    if module.pair.tensors():
        yield Leaf(module.path, module.pair, module.around)
    for child in module.pair.children():
        path = joined(module.path, child.part.name)
        if child.repeated or (child.part.repeat is not None and child.part.kind == "layer"):
            yield _Module(path, child, inside)
        elif child.part.kind in TRANSPARENT or child.part.repeat is not None:
            yield from _children(_Module(path, child, inside))
        elif any(isinstance(node, Part) for node in child.part.children):
            yield _Module(path, child, inside)
        elif child.tensors():
            yield Leaf(path, child, inside)


def _flat(module: _Module) -> Iterator[_Unit]:
    """Yield the modules that own tensors, looking through all parts that are not repeated."""
    for unit in _children(module):
        if isinstance(unit, _Module) and not unit.pair.repeated:
            yield from _flat(unit)
        else:
            yield unit


def _units(module: _Module) -> list[_Unit]:
    """Divide a module: a stack or a model by its parts, a layer by what its modules are for."""
    flat = list(_flat(module))
    if not module.pair.repeated and any(isinstance(unit, _Module) for unit in flat):
        return [unit for unit in _children(module) if isinstance(unit, Leaf) or list(_flat(unit))]
    top = not module.around or module.pair.part.kind in TRANSPARENT
    return list(_children(module)) if top and not module.pair.repeated else flat


def _purpose(unit: _Unit) -> str:
    return unit.topic if isinstance(unit, Leaf) else Leaf(unit.path, unit.pair, unit.around).topic


class _Author(NamedTuple):
    """What every paragraph needs: the language, and the numbers for the letters."""

    say: Say
    values: dict[str, int]

    def section(self, module: _Module, title: str = "") -> Section:
        units = _units(module)
        single = module.pair.part.repeat is not None
        if len(units) == 1 and not single and isinstance(units[0], _Module) and not module.pair.repeated and module.around:
            kind = module.pair.part.kind
            known = section_wording("", kind).title if section_wording("", kind).sentence else ""
            return self.section(units[0], title or self.say(known))
        part, symbolic = module.pair
        purpose = _purpose(module)
        wording = section_wording(purpose if purpose != "other" else "", part.kind, part.name)
        told = self.say(wording.sentence) if wording.sentence else ""
        label = title or self.say(wording.title if not wording.title.isdigit() else section_wording("other").title)
        times = as_expression(symbolic.repeat) if module.pair.repeated and symbolic.repeat is not None else as_expression(1)
        return self.gathered(label, told, self.parts(units), path=module.path, kind=part.kind, times=times)

    def gathered(
        self, title: str, sentence: str, parts: Sequence[Line | Section], *, path: str = "", kind: str = "", times: Expression | None = None
    ) -> Section:
        times = as_expression(1) if times is None else times
        copies = self.value(times)
        each = sum(part.value for part in parts)
        book = closed_formula(_entry(parts, times, each))
        return Section("", title, sentence, path, kind, tuple(parts), book, times, copies, each, copies * each)

    def parts(self, units: Sequence[_Unit]) -> list[Line | Section]:
        modules = [unit for unit in units if isinstance(unit, _Module)]
        purposes = list(dict.fromkeys(_purpose(unit) for unit in units if isinstance(unit, Leaf)))
        if not modules and (len(purposes) == 1 or not STRUCTURAL & set(purposes)):
            return list(self.lines([unit for unit in units if isinstance(unit, Leaf)]))
        done: set[str] = set()
        parts: list[Line | Section] = []
        last: list[Line | Section] = []  # norms stand between the other parts of a layer; they are gathered behind them
        for unit in units:
            if isinstance(unit, _Module):
                mixed = sum(other.path == unit.path for other in modules) > 1
                parts.append(self.section(unit)._replace(where=_where(unit.pair.part) if mixed else ""))
            elif (purpose := _purpose(unit)) not in done:
                done.add(purpose)
                section = self.purpose(purpose, [u for u in units if isinstance(u, Leaf) and _purpose(u) == purpose])
                (last if purpose == "norm" and STRUCTURAL & set(purposes) else parts).append(section)
        return [*parts, *last]

    def purpose(self, purpose: str, found: Sequence[Leaf]) -> Section:
        inside = list(self.lines(found))
        wording = section_wording("table" if purpose == "embedding" and len(found) == 1 else purpose)
        alike = len({line.title for line in inside}) == 1
        title = inside[0].title if alike and purpose in ("other", "norm") else self.say(wording.title)
        return self.gathered(title, self.say(wording.sentence) if wording.sentence else "", inside, kind=purpose)

    def lines(self, found: Sequence[Leaf]) -> Iterator[Line]:
        """Yield a line for each group of modules that are alike."""
        groups: dict[object, list[Leaf]] = {}
        for leaf in found:
            groups.setdefault(_likeness(leaf), []).append(leaf)
        for group in groups.values():
            yield self.line(group)

    def line(self, group: Sequence[Leaf]) -> Line:
        first = group[0]
        tensors = first.pair.tensors()
        formula = scaled(len(group), owned(tensors))
        wording = line_wording(first.pair.part.kind, tuple(ours.role for ours, _ in tensors))
        names = list(dict.fromkeys(role_name(_purpose(leaf), leaf.path) for leaf in group))
        title = self.say(", ").join(self.say(name) for name in names) if all(names) else self.say(wording.title)
        tied = tuple(ours.tied_to for ours, _ in tensors if ours.tied_to is not None)
        paths = tuple(path for leaf in group for path in _paths(leaf))
        return Line("", title, self.say(wording.sentence), first.pair.part.kind, paths, formula, self.value(formula), tied)

    def value(self, formula: Expression) -> int:
        found = evaluate(formula, self.values)
        assert isinstance(found, int)
        return found


def _where(part: Part) -> str:
    """Write the indices of a repeated part's copies, ``3–60`` or ``3, 7, 11, …, 47``."""
    places = list(positions(part))
    if len(places) < 3:
        return ", ".join(map(str, places))
    if places[-1] - places[0] == len(places) - 1:
        return f"{places[0]}–{places[-1]}"
    return ", ".join(map(str, places if len(places) < 6 else [*places[:3], "…", places[-1]]))


def _entry(parts: Sequence[Line | Section], times: Expression, each: int) -> Entry:
    amounts = tuple(Amount(None, part.formula) for part in parts if isinstance(part, Line))  # type: ignore[arg-type]
    inside = tuple(_entry(part.parts, part.times, part.each) for part in parts if isinstance(part, Section))
    return Entry(Part(""), times, amounts, inside, each, each)


def _likeness(leaf: Leaf) -> object:
    tensors = tuple(
        (ours.name, ours.role, ours.tied_to, tuple(polynomial(size) for size in theirs.shape)) for ours, theirs in leaf.pair.tensors()
    )
    return leaf.pair.part.kind, tensors


def _paths(leaf: Leaf) -> tuple[str, ...]:
    """Name a module, or, where it holds other modules too, its own tensors."""
    if leaf.path and not leaf.pair.children():
        return (leaf.path,)
    return tuple(joined(leaf.path, ours.name) for ours, _ in leaf.pair.tensors())


def with_shares(section: Section, share: int) -> Section:
    """Divide a section's share among its parts so that theirs add up to it exactly."""
    inside = [part for part in section.parts if isinstance(part, Section)]
    amounts = [part.value for part in inside]
    loose = section.each - sum(amounts)
    tenths = apportioned([*amounts, loose], share)
    shares = iter(tenths)
    parts = tuple(with_shares(part, next(shares)) if isinstance(part, Section) else part for part in section.parts)
    return section._replace(parts=parts, share=share)


def apportioned(amounts: Sequence[int], whole: int) -> list[int]:
    """Divide *whole* in proportion to *amounts* so that the pieces add up, by the largest remainders.

    >>> apportioned([1, 1, 1], 1000)
    [334, 333, 333]
    """
    total = sum(amounts)
    if total == 0:
        return [0] * len(amounts)
    pieces = [amount * whole // total for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda i: (-(amounts[i] * whole % total), i))
    for index in order[: whole - sum(pieces)]:
        pieces[index] += 1
    return pieces


def _numbered(section: Section, number: str) -> Section:
    parts: list[Line | Section] = []
    for index, part in enumerate(section.parts, 1):
        own = f"{number}.{index}" if number else str(index)
        parts.append(_numbered(part, own) if isinstance(part, Section) else part._replace(number=own))
    return section._replace(number=number, parts=tuple(parts))


def _pruned(section: Section, depth: int) -> Section:
    if depth <= 0:
        return section._replace(parts=())
    return section._replace(parts=tuple(_pruned(p, depth - 1) if isinstance(p, Section) else p for p in section.parts))
