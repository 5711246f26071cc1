"""What a derivation says of a model as a whole: its sum by module, its formula by module, what decides its layers, its active parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.parameters import tally
from weighbridge.config.bind import alias_value, bind, find_sub_config, with_overrides
from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Expression, Number, Product, Sum, Symbol, as_expression, evaluate, letters, times, total, write
from weighbridge.core.messages import Say, mark
from weighbridge.core.notation import UNICODE
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import UndecidedError, exact, product
from weighbridge.core.tree import Part, Tensor, positions
from weighbridge.explain.section import Line, Section, sections
from weighbridge.explain.semantic_tree import Pair, scale

if TYPE_CHECKING:
    from weighbridge.config.fields import Field
    from weighbridge.value import ModelValue

LONGEST = 24
"""Terms of a sum by module that can still be read."""


class Decider(NamedTuple):
    """A config key that decides which layers are of which kind.

    Attributes:
        key: Its path.
        value: Its value, where it is one number.
        places: The paths of the layers that it decides on.
    """

    key: str
    value: int | None
    places: tuple[str, ...] = ()


class Active(NamedTuple):
    """How many parameters work on one token: all but the experts that are not picked.

    Attributes:
        formula: The total, less the idle experts of each kind of layer.
        value: Its value.
    """

    formula: Expression
    value: int


def formula_by_module(section: Section) -> Expression:
    """Write a model's formula as its modules are written, copies in front: ``3 × (...) + (L − 3) × (...)``.

    >>> from weighbridge import model
    >>> str(formula_by_module(model("gpt2").explain(module="h.mlp").root))
    '8*H^2 + 5*H'
    """
    found: dict[object, tuple[int, Expression]] = {}
    for term in _terms_by_module(section):
        many, rest = _split_coefficient(term)
        key = polynomial(rest)
        found[key] = (found[key][0] + many if key in found else many, found[key][1] if key in found else rest)
    return total(scale(many, rest) for many, rest in found.values())


def _split_coefficient(term: Expression) -> tuple[int, Expression]:
    """Divide a term into the number in front and the rest."""
    many = 1
    while isinstance(term, Product) and isinstance(term.factors[0], Number) and len(term.factors) > 1:
        many *= term.factors[0].value
        term = term.factors[1] if len(term.factors) == 2 else Product(term.factors[1:])
    return many, term


def _terms_by_module(section: Section) -> Iterator[Expression]:
    for part in section.parts:
        if not part.value:
            continue
        if isinstance(part, Line):
            yield from part.formula.terms if isinstance(part.formula, Sum) else (part.formula,)
        elif part.copies == 1 and isinstance(part.times, Number):
            yield from _terms_by_module(part)
        else:
            yield times((part.times, formula_by_module(part)))


class ByModule(NamedTuple):
    """The total by module, copies in front: in the words of its sections, in letters, in numbers.

    Attributes:
        words: ``Embeddings + L × (Multi-head self-attention + ...)``.
        formula: Each section's own formula in its place, in brackets where it is a sum.
        numbers: The values in their places.
    """

    words: str
    formula: Expression
    numbers: Expression


def sum_by_module(section: Section, say: Say = str) -> ByModule | None:
    """Write the total by module, copies in front, in a language; None where that is long, or no part has copies.

    >>> from weighbridge import model
    >>> found = sum_by_module(model("gpt2").explain().root)
    >>> print(found.formula)
    (V*H + S*H) + L*((4*H^2 + 4*H) + (8*H^2 + 5*H) + 4*H) + 2*H
    >>> print(found.numbers)
    39383808 + 12*(2362368 + 4722432 + 3072) + 1536
    """
    words = _words(section, say)
    if not any(part.copies != 1 or letters(part.times) for part in sections(section)) or sum(map(_length, words)) > LONGEST:
        return None
    formula = Sum(tuple(_terms(section, _own_formula)))
    numbers = Sum(tuple(_terms(section, lambda part: Number(part.value), in_numbers=True)))
    return ByModule(write(Sum(tuple(words)), UNICODE), formula, numbers)


def _words(section: Section, say: Say) -> list[Expression]:
    """Write the terms by their titles; one layer of a stack by its index too, where that tells every layer from the others."""

    def with_index(part: Line | Section) -> str:
        if isinstance(part, Section) and part.where.isdigit():
            return say(mark("{title} {index}")).format(title=part.title, index=part.where)
        return part.title

    numbered = (
        str(name) for name in _terms(section, lambda part: Symbol(with_index(part)) if with_index(part) != part.title else Number(0))
    )
    layers = [name for name in numbered if name != "0"]
    return list(_terms(section, lambda part: Symbol(with_index(part) if len(set(layers)) == len(layers) else part.title)))


def _own_formula(part: Line | Section) -> Expression:
    """Write a part's formula, collected or as its modules are written, whichever is shorter; a sum keeps its brackets."""
    ways = (part.formula,) if isinstance(part, Line) else (part.closed.polynomial().expression(), formula_by_module(part))
    found = min(ways, key=lambda formula: len(write(formula)))
    return Product((found,)) if isinstance(found, Sum) else found


def _terms(section: Section, name: Callable[[Line | Section], Expression], *, in_numbers: bool = False) -> Iterator[Expression]:
    for part in section.parts:
        if not part.value:
            continue
        copied = isinstance(part, Section) and (part.copies != 1 or bool(letters(part.times)))
        if isinstance(part, Section) and part.parts and copied:
            copies = Number(part.copies) if in_numbers else part.times
            inner = tuple(_terms(part, name, in_numbers=in_numbers))
            yield Product((copies, inner[0] if len(inner) == 1 else Sum(inner)))
        elif isinstance(part, Section) and any(inner.copies != 1 or letters(inner.times) for inner in sections(part)):
            yield from _terms(part, name, in_numbers=in_numbers)
        else:
            yield name(part)


def _length(expression: Expression) -> int:
    match expression:
        case Sum():
            return sum(map(_length, expression.terms))
        case Product():
            return sum(map(_length, expression.factors))
        case _:
            return 1


def active(model: ModelValue, top: Pair, whole: int, values: Mapping[str, int]) -> Active | None:
    """Derive the active parameters of a mixture of experts; None where every parameter works on every token.

    >>> from weighbridge import model
    >>> str(model("mixtral-8x7b").explain().active.formula)
    '46702792704 - 3*L*(E - k)*H*I'
    """
    own = tally(model.tree)
    if own.active == own.unique or not values:
        return None
    idle = list(_idle_experts(top, []))
    formula = total((Number(whole), *(times((-1, *term)) for term in idle)))
    value = evaluate(formula, values)
    return Active(formula, value) if value == own.active and isinstance(value, int) else None


def _idle_experts(pair: Pair, copies: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield, for each part that holds experts, the factors of what is idle in all its copies."""
    symbolic = pair.symbolic
    around = [*copies, *([symbolic.repeat] if symbolic.repeat is not None and symbolic.experts is None else [])]
    if symbolic.experts is None:
        for child in pair.children():
            yield from _idle_experts(child, around)
        return
    held = polynomial(total(_elements(symbolic._replace(repeat=None)))) * polynomial(
        as_expression(1 if symbolic.repeat is None else symbolic.repeat)
    )
    one = polynomial(exact(held.expression(), symbolic.experts))
    yield (*around, as_expression(symbolic.experts) - symbolic.active, one.expression())  # type: ignore[operator]


def _elements(part: Part) -> Iterator[Expression]:
    for child in part.children:
        if isinstance(child, Part):
            yield times((1 if child.repeat is None else child.repeat, total(_elements(child))))
        elif isinstance(child, Tensor) and child.role != "buffer" and child.tied_to is None:
            yield as_expression(product(child.shape))


def deciders(model: ModelValue) -> tuple[Decider, ...]:
    """Return the keys that decide which layers are of which kind, found by trying: each is changed, and the layers looked at.

    >>> from weighbridge import model
    >>> deciders(model("deepseek-v3"))
    (Decider(key='first_k_dense_replace', value=3, places=('model.layers',)),)
    """
    if model.description is None:
        return ()
    known, raw, _ = model.description
    build = known.classes[model.class_name]
    usual = _layout(model.tree)
    found = []
    for path, value, changed in _variations(known.fields, raw, ""):
        try:
            layout = _layout(build(bind(known.fields, changed)))
        except (ConfigError, UndecidedError, AssertionError, TypeError, ValueError, LookupError, ArithmeticError):
            continue
        if layout != usual and len(layout) > 1:
            moved = dict.fromkeys(
                place.removeprefix(".") for place, _ in (*usual, *layout) if _copies_at(usual, place) != _copies_at(layout, place)
            )
            found.append(Decider(path, value if isinstance(value, int) else None, tuple(moved)))
    return tuple(found)


def _variations(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """Yield *raw* with one switch of several values changed: a number by one, a list of kinds in its first entry."""
    for field in fields:
        given = raw.get(field.key) if field.key else None
        given = alias_value(field, raw) if field.aliases and given is None else given
        given = field.default if given is None and type(field.default) is int and field.key else given
        if field.kind == "nested" and isinstance(given, dict):
            inner = find_sub_config(field, raw, path)
            for place, value, changed in _variations(inner.fields if inner else (), given, f"{path}{field.key}."):
                yield place, value, {**raw, field.key: changed}
        elif field.kind in ("choice", "sequence") and isinstance(given, (int, list)) and not isinstance(given, bool):
            if isinstance(given, int):
                yield path + field.key, given, with_overrides(raw, {field.key: given + 1}, fields)
            elif given and (others := [value for value in given if value != given[0]]):
                yield path + field.key, given, with_overrides(raw, {field.key: [others[0], *given[1:]]}, fields)


def _layout(part: Part, path: str = "") -> list[tuple[str, range | tuple[int, ...]]]:
    """List where the copies of each repeated part stand."""
    found = []
    for child in part.children:
        if isinstance(child, Part):
            here = f"{path}.{child.name}"
            if isinstance(child.repeat, int) and child.kind == "layer":
                found.append((here, positions(child)))
            found += _layout(child, here)
    return found


def _copies_at(layout: list[tuple[str, range | tuple[int, ...]]], place: str) -> list[range | tuple[int, ...]]:
    return [copies for path, copies in layout if path == place]


def letters_of(expressions: tuple[Expression, ...]) -> set[str]:
    """Return the letters of several formulas.

    >>> sorted(letters_of((Symbol("H") + 1, Symbol("L") * Symbol("H"))))
    ['H', 'L']
    """
    return set().union(*map(letters, expressions))
