"""When two formulas in letters are the same: expanded, with letters that a text defines, with those that a model gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.polynomial_terms import polynomial, symbol
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.values import names
from weighbridge.core.polynomials import Atom, Polynomial


def definitions(scene: Scene) -> dict[Atom, Polynomial]:
    """Return what a text defines a letter to be in other letters, such as ``d_ff = 8/3 × H``; only what it says once."""
    found: dict[Atom, set[Polynomial]] = {}
    for chain in scene.chains:
        left, right = chain.sides[0].term, chain.sides[-1].term
        if len(chain.sides) == 2 and isinstance(left, Token) and left.kind == "name" and names(right) and left.text not in names(right):
            letter, meaning = polynomial(left, scene.meant), polynomial(right, scene.meant)
            if letter is not None and meaning is not None:
                (atom,) = letter.symbols()
                found.setdefault(atom, set()).add(meaning)
    return {atom: meanings.pop() for atom, meanings in found.items() if len(meanings) == 1}


def substitute(formula: Polynomial, defined: Mapping[Atom, Polynomial]) -> Polynomial:
    """Write a formula without the letters that a text defines by others."""
    if not any(atom in defined for atom in formula.symbols()):
        return formula
    result = Polynomial({})
    for monomial, coefficient in formula.terms.items():
        kept = Polynomial({(): coefficient})
        for atom, power in monomial:
            factor = defined[atom] if atom in defined and power > 0 else Polynomial({((atom, 1 if power > 0 else power),): 1})
            for _ in range(power if power > 0 else 1):
                kept = kept * factor
        result = result + kept
    return result


def degree(monomial: Sequence[tuple[Atom, int]]) -> int:
    """Return the sum of the powers of a term."""
    return sum(power for _, power in monomial)


def value_at(formula: Polynomial, sizes: Mapping[str, int]) -> Fraction | None:
    """Return what a formula amounts to at some sizes, or None where a letter has none."""
    total: Fraction | int = 0
    for monomial, coefficient in formula.terms.items():
        term: Fraction | int = coefficient
        for atom, power in monomial:
            size = sizes.get(LETTERS.get(atom.letter, atom.letter))
            if not size:
                return None
            term *= size**power if power >= 0 else Fraction(size) ** power  # whole numbers where they are whole
        total += term
    return Fraction(total)


USUAL: dict[Atom, Polynomial] = {
    symbol("I"): Polynomial({((symbol("H"), 1),): 4}),
    symbol("D"): Polynomial({((symbol("A"), -1), (symbol("H"), 1)): 1}),
}

"""What some letters usually are in others."""

GIVEN: set[Atom] = {symbol(letter) for letter in "IVSTLA"}

"""Letters that may be replaced by their values, or by 4H, on one side of a comparison."""


def agrees(written: Polynomial, own: Polynomial, sizes: Mapping[str, int]) -> bool:
    """Compare two formulas; a letter that only one of them has is replaced by its value, and I by 4H where that holds."""
    if written == own:
        return True
    theirs, ours = written.symbols(), own.symbols()
    if theirs == ours or not theirs <= ours | GIVEN or not ours <= theirs | GIVEN:
        return False
    return in_terms_of(own, written, sizes) == in_terms_of(written, own, sizes)


def in_terms_of(formula: Polynomial, other: Polynomial, sizes: Mapping[str, int]) -> Polynomial:
    """Write a formula in the letters of another: the rest replaced by their values, and I by 4H where that holds."""
    letters = {atom.letter for atom in other.symbols()}
    if all(atom.letter in letters for atom in formula.symbols()):
        return formula
    wide = sizes.get("mlp") == 4 * sizes.get("hidden", -1)
    result = Polynomial({})
    for monomial, coefficient in formula.terms.items():
        kept = Polynomial({(): coefficient})
        for atom, power in monomial:
            replaced: Polynomial | None = None
            if atom.letter == "I" and "I" not in letters and wide and power > 0:
                replaced = Polynomial({((symbol("H"), 1),): 4})
            elif atom.letter not in letters and atom.letter in "TSLVA" and power > 0:
                size = sizes.get(LETTERS.get(atom.letter, ""))
                replaced = Polynomial({(): size}) if size is not None else None
            if replaced is None:
                kept = kept * Polynomial({((symbol(atom.letter), power),): 1})
            else:
                for _ in range(power):
                    kept = kept * replaced
        result = result + kept
    return result
