"""What each level asks of a model: the question, the part of the derivation that answers it, hints, and wrong answers that one may come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.parameters import tally
from weighbridge.conventions.rules import Convention, conventions
from weighbridge.core.errors import UsageError, WeighbridgeError
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Expression, as_expression
from weighbridge.core.messages import Say, Text, mark
from weighbridge.core.notation import UNICODE, with_sign, write
from weighbridge.core.tree import Attend, Part
from weighbridge.explain.derive import Derivation, derive
from weighbridge.explain.section import Line, Section, lines, sections, with_shares
from weighbridge.explain.semantic_tree import join_path
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


SIDE_BY_SIDE = frozenset(("projector", "embedding", "table", "norm", "linear"))
"""Kinds of sections whose copies nobody would call layers."""

CHOICES = 4
"""How many conventions are offered."""


class Draft(NamedTuple):
    """What a level makes of a model: the question, the part of the derivation that answers it, and all that goes with it."""

    question: str
    root: Section
    answer: int
    hints: tuple[str, ...]
    working: tuple[str, ...] = ()
    traps: tuple[tuple[int, str], ...] = ()
    choices: tuple[str, ...] = ()
    model: ModelValue | None = None


def _name_of(model: ModelValue) -> str:
    return f"{model.class_name} ({model.source})" if model.class_name else model.source


def _no_exercise(level: str, model: ModelValue, what: str) -> UsageError:
    why = Text("{model} has {what}: there is no exercise of level {level}", model=model.source, what=what, level=level)
    return UsageError(why)


def _table(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask for one embedding table."""
    tables = [pair for pair in _lines(found.root) if pair[0].kind == "embedding" and pair[0].value]
    if not tables:
        raise _no_exercise("table", model, Text("no embedding table"))
    return _line(*draw.choice(tables), found, say)


def _module(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask for the modules of one line: a linear map, the norms, a convolution, several alike together."""
    modules = [pair for pair in _lines(found.root) if pair[0].kind != "embedding" and pair[0].value]
    if not modules:
        raise _no_exercise("module", model, Text("no module of its own"))
    return _line(*draw.choice(modules), found, say)


def _lines(section: Section, layered: bool = False) -> Iterator[tuple[Line, bool]]:
    """Yield every line, and whether it is in a repeated layer."""
    for part in section.parts:
        if isinstance(part, Line):
            yield part, layered
        else:
            yield from _lines(part, layered or _is_repeated(part))


def _line(line: Line, layered: bool, found: Derivation, say: Say) -> Draft:
    inside = mark("How many parameters are in {title} ({names}) of one layer?")
    alone = mark("How many parameters are in {title} ({names})?")
    question = say(inside if layered else alone).format(title=line.title, names=say(", ").join(line.paths))
    hints = (line.sentence, *_formulas((line,), found.values, say))
    return Draft(question, _with_root(found, line.title, (line,), line.value), line.value, tuple(hint for hint in hints if hint))


def _layer(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask for one of the repeated layers."""
    layers = [section for section in sections(found.root) if section.path and section.each and _is_repeated(section)]
    if not layers:
        raise _no_exercise("layer", model, Text("no repeated layers"))
    section = draw.choice([section for section in layers if section.kind not in SIDE_BY_SIDE] or layers)
    where = section.path if not section.where else say("{path}, layers {places}").format(path=section.path, places=section.where)
    question = say("How many parameters does one layer ({where}) have, biases and norms included?").format(where=where)
    inside = say(", ").join(part.title for part in section.parts)
    hints = (say("One layer is made of: {parts}.").format(parts=inside), *_formulas(tuple(lines(section)), found.values, say))
    traps = [(section.copies * section.each, say("that is all {copies} layers; one was asked for").format(copies=f"{section.copies:,}"))]
    return Draft(question, _one_copy(section), section.each, hints, traps=tuple(traps) if section.copies > 1 else ())


def _is_repeated(section: Section) -> bool:
    return section.copies != 1 or bool(section.where)


def _model(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask for the whole."""
    question = say("How many unique parameters does {name} have? Tied tensors count once.").format(name=_name_of(model))
    copies = [
        f"{section.title} × {section.copies:,}" if section.copies != 1 else section.title
        for section in found.root.parts
        if isinstance(section, Section)
    ]
    hints = [say("The model is made of: {parts}.").format(parts=say(", ").join(copies))]
    hints += [say("In letters: {formula}").format(formula=write(found.root.formula, UNICODE))] if found.values else []
    hints += [
        say("{title}: {value}").format(title=section.title, value=f"{section.value:,}")
        for section in found.root.parts
        if isinstance(section, Section) and section.value
    ]
    traps = [
        (
            found.total - (section.copies - 1) * section.each,
            say("that counts one layer of {path} in place of {copies}").format(path=section.path, copies=f"{section.copies:,}"),
        )
        for section in sections(found.root)
        if section.path and section.copies > 1
    ]
    return Draft(question, found.root, found.total, tuple(hints), traps=tuple(traps))


def _heads(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask for an attention whose query heads share key and value heads: as it is, what that saves, or with other heads."""
    grouped = [(section, attend) for section in sections(found.root) if (attend := _grouped_attention(section, model.tree)) is not None]
    if not grouped:
        raise _no_exercise("heads", model, Text("no attention whose query heads share key and value heads"))
    section, attend = draw.choice(grouped)
    heads, shared = int(str(attend.heads)), int(str(attend.kv_heads))
    counts = [n for n in range(1, heads + 1) if heads % n == 0 and n != shared]
    others = {n: changed for n in counts if (changed := _with_heads(model, section.number, n)) is not None}
    facts = {"path": _place_of(section), "heads": heads, "shared": shared, "width": attend.head_dim}
    lead = say("In {path}, {heads} query heads of width {width} share {shared} key and value heads.").format(**facts)
    hints = (
        say("Keys and values have {shared} × {width} outputs each; queries have {heads} × {width}.").format(**facts),
        *_formulas(tuple(lines(section)), found.values, say),
    )
    full = others[heads][1].each if heads in others else 0
    traps = [(full, say("that gives every query head a key and a value head of its own"))] if full else []
    kind = draw.choice(("as it is", "saving", "other") if full and len(others) > 1 else ("as it is",))
    if kind == "saving":
        question = say("How many parameters does that save in one layer, against a key and a value head for every query head?")
        saved = full - section.each
        return Draft(f"{lead} {question}", _one_copy(section), saved, hints, (f"{full:,} − {section.each:,} = {saved:,}",))
    if kind == "other":
        other = draw.choice([n for n in others if n != heads])
        traps.append((section.each, say("that is with {shared} key and value heads, as it stands").format(shared=shared)))
        question = say(
            "How many parameters would the maps of query, key, value and output of one layer have with {other} key and value heads?"
        ).format(other=other)
        value, root = others[other]
        return Draft(f"{lead} {question}", _one_copy(root), root.each, hints, traps=tuple(traps), model=value)
    question = say("How many parameters do the query, key, value and output maps of one layer have together?")
    return Draft(f"{lead} {question}", _one_copy(section), section.each, hints, traps=tuple(traps))


def _place_of(section: Section) -> str:
    first = next(lines(section)).paths[0]
    return first.rpartition(".")[0] or first


def _grouped_attention(section: Section, tree: Part) -> Attend | None:
    """Return the attention that a section of linear maps feeds, if its heads are grouped."""
    if section.kind != "attention" or not section.value:
        return None
    paths = [path for line in lines(section) for path in line.paths]
    for path, attend in _attends(tree):
        grouped = isinstance(attend.heads, int) and isinstance(attend.kv_heads, int) and attend.kv_heads != attend.heads
        if grouped and path and all(one.startswith(f"{path}.") for one in paths):
            return attend
    return None


def _attends(part: Part, path: str = "") -> Iterator[tuple[str, Attend]]:
    for node in part.children:
        if isinstance(node, Attend):
            yield path, node
        elif isinstance(node, Part):
            yield from _attends(node, join_path(path, node.name))


def _with_heads(model: ModelValue, number: str, shared: int) -> tuple[ModelValue, Section] | None:
    """Return a model with another number of key and value heads, and the same section of it; None if there is no such model."""
    if model.description is None:
        return None
    key = next((field.key for field in model.description.family.fields if field.word == "kv_heads" and field.key), None)
    if key is None:
        return None
    try:
        other = load(model, None, {key: shared})
    except WeighbridgeError:
        return None
    section = next((section for section in sections(derive(other).root) if section.number == number), None)
    return None if section is None else (other, section)


def _active_parameters_exercise(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask how many parameters work on one token: of the whole model, or of the experts of one layer."""
    mixtures = list(_mixtures(model.tree))
    if not mixtures:
        raise _no_exercise("active", model, Text("no experts of which only some work on a token"))
    counts = tally(model.tree)
    assert isinstance(counts.unique, int) and isinstance(counts.active, int)
    path, _, part = draw.choice(mixtures)
    one, facts = _expert(part), {"path": path, "experts": part.experts, "active": part.active}
    hints = (
        say("A token passes through {active} of the {experts} experts of {path}; all else works on every token.").format(**facts),
        say("One expert of {path} has {one} parameters.").format(path=path, one=f"{one:,}"),
    )
    steps = [f"{layers:,} × ({p.experts} − {p.active}) × {_expert(p):,}" for _, layers, p in mixtures]
    working = f"{counts.unique:,} − {' − '.join(steps)} = {counts.active:,}"
    if draw.random() < 0.5:
        question = say("How many of the parameters of {name} are active for one token?").format(name=_name_of(model))
        traps = ((counts.unique, say("that counts every expert, including those that the token does not pass through")),)
        return Draft(question, found.root, counts.active, (*hints, working.partition(" = ")[0]), (working,), traps)
    inside = tally(part._replace(repeat=None) if part.repeat != part.experts else part)
    assert isinstance(inside.active, int) and isinstance(inside.unique, int)
    question = say(
        "The experts of one layer are in {path}: {experts}, of which {active} are active on a token. How many of their parameters are active?"
    ).format(**facts)
    inner = (
        (inside.unique, say("that counts every expert, including those that the token does not pass through")),
        (one, say("that is one expert")),
    )
    root = next((_one_copy(section) for section in sections(found.root) if section.kind == "experts"), found.root)
    return Draft(question, root, inside.active, hints, (f"{part.active} × {one:,} = {inside.active:,}",), inner)


def _expert(part: Part) -> int:
    whole = tally(
        part._replace(repeat=None, experts=None, active=None) if part.repeat == part.experts else part._replace(repeat=None)
    ).unique
    assert isinstance(whole, int) and isinstance(part.experts, int)
    return whole if part.repeat == part.experts else whole // part.experts


def _mixtures(part: Part, path: str = "", copies: int = 1) -> Iterator[tuple[str, int, Part]]:
    """Yield each part that holds experts, with its path and how many layers have it."""
    for node in part.children:
        if isinstance(node, Part):
            here = join_path(path, node.name)
            if node.experts is not None and node.active != node.experts:
                yield here, copies, node
            else:
                yield from _mixtures(node, here, copies * (node.repeat if isinstance(node.repeat, int) else 1))


def _convention(model: ModelValue, found: Derivation, draw: Random, say: Say) -> Draft:
    """Ask which convention gives a number."""
    table = conventions(model)
    made = {value: min(table.by_value[value], key=lambda one: (one.cost, one.order)) for value in table.values}
    plain = sorted((one for one in made.values() if one.cost <= 2), key=lambda one: (one.cost, one.order, one.value))
    own = found.total
    likely = [one for one in plain if one.value not in (0, own) and one.class_name == model.class_name and _is_plain(one)]
    if len(likely) < CHOICES:
        raise _no_exercise("convention", model, Text("too few ways of counting"))
    right = draw.choice(likely)
    near = sorted((one for one in likely if one.value != right.value), key=lambda one: abs(one.value - right.value))
    offered = [right, *draw.sample(near[: max(8, CHOICES)], CHOICES - 1)]
    draw.shuffle(offered)
    name = _name_of(model)
    question = say("{name} has {own} unique parameters. Which way of counting gives {number}?").format(
        name=name, own=f"{own:,}", number=f"{right.value:,}"
    )
    difference = say("The difference from the count of {name} is {difference}.").format(name=name, difference=with_sign(right.value - own))
    item = say("{title}: {value}")
    pieces = [item.format(title=say(piece.what), value=f"{piece.amount:,}") for one in offered for piece in (*one.left_out, *one.added)]
    hints = (difference, say("; ").join(dict.fromkeys(pieces)))
    steps = [
        f"{right.view.class_count:,}",
        *(f"− {p.amount:,} ({say(p.what)})" for p in right.left_out),
        *(f"+ {p.amount:,} ({say(p.what)})" for p in right.added),
    ]
    working = (say("{text}: {value}").format(text=right.text(say), value=f"{' '.join(steps)} = {right.value:,}"),)
    return Draft(
        question,
        found.root,
        offered.index(right) + 1,
        tuple(hint for hint in hints if hint),
        working,
        choices=tuple(one.text(say) for one in offered),
    )


def _is_plain(made: Convention) -> bool:
    """Tell whether a way of counting leaves something out, and does nothing else."""
    return bool(made.left_out) and not made.added and not made.view.less


QUESTIONS: dict[str, Callable[[ModelValue, Derivation, Random, Say], Draft]] = {
    "table": _table,
    "module": _module,
    "layer": _layer,
    "model": _model,
    "heads": _heads,
    "active": _active_parameters_exercise,
    "convention": _convention,
}


def _one_copy(section: Section) -> Section:
    """Return one copy of a section as the root of a derivation."""
    return with_shares(section._replace(number="", copies=1, times=as_expression(1), value=section.each, where=""), section.each)


def _with_root(found: Derivation, title: str, parts: Sequence[Line | Section], value: int) -> Section:
    return found.root._replace(title=title, sentence="", parts=tuple(parts), each=value, value=value)


def _formulas(found: Sequence[Line], values: dict[str, int], say: Say) -> tuple[str, ...]:
    """Return two hints: every formula in letters, and with numbers put in."""
    shown = [line for line in found if line.value]
    if not shown or not values:
        return ()
    item = say("{title}: {value}")
    in_letters = [item.format(title=line.title, value=write(line.formula, UNICODE)) for line in shown]
    in_numbers = [item.format(title=line.title, value=write(_second_link(line.formula, values), UNICODE)) for line in shown]
    return say("; ").join(in_letters), say("; ").join(in_numbers)


def _second_link(formula: Expression, values: dict[str, int]) -> Expression:
    """Return a formula with its numbers put in, the second link of its chain, or the formula where it has none."""
    links = chain(formula, values)
    return links[1] if len(links) > 2 else links[0]
