"""Check formulas in letters: against each other where they are said to be the same, and against the model's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product

from weighbridge.auditing.checks.component_counts import ComponentCount
from weighbridge.auditing.checks.formula_equality import USUAL, agrees, definitions, degree, in_terms_of, substitute, value_at
from weighbridge.auditing.checks.formula_pairs import Formula, formulas, is_comparable, is_leading, pair_up
from weighbridge.auditing.checks.norm_formulas import mean_and_variance
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.reference_counts import ReferenceCounts, reference_counts_of
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Reason, Sentence, because
from weighbridge.auditing.text.component_words import find_components, speaks_of_parameters, subject
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.polynomial_terms import write_difference
from weighbridge.auditing.text.sections import sections
from weighbridge.core.messages import mark
from weighbridge.core.polynomials import Polynomial


def check(scene: Scene, held: Mapping[str, ReferenceCounts]) -> Iterator[Claim]:
    """Check every formula in letters of a text."""
    about = sections(scene.lines)
    chained: dict[int, list[Chain]] = {}
    for chain in scene.chains:
        chained.setdefault(id(chain.tokens), []).append(chain)
    projected = False
    defined = definitions(scene)
    known: dict[tuple[str, ...], Polynomial | None] = {}
    for statement in scene.statements:
        yield from mean_and_variance(scene, statement, about)
        found = list(formulas(statement, scene.meant, known))
        equal = pair_up(scene, statement, found, chained.get(id(statement), []))
        broken: set[int] = set()
        for left, right in equal:
            if left.expanded == right.expanded or substitute(left.expanded, defined) == substitute(right.expanded, defined):
                yield _equality_claim(scene, statement, left, right, "exact", ())
            elif substitute(left.expanded, USUAL) == substitute(right.expanded, USUAL):
                yield _equality_claim(
                    scene, statement, left, right, "convention", because(mark("where the heads are H / A wide and the MLP 4H"))
                )
            elif is_leading(scene, statement, left, right, defined):
                yield _equality_claim(scene, statement, left, right, "rounded", because(mark("its leading terms")))
            elif is_comparable(scene, statement, left, right):
                broken.add(right.start)
                reason = because(mark("it is {right}"), right=str(left.expanded))
                yield _equality_claim(scene, statement, left, right, "wrong", reason)
        firsts = {id(left) for left, _ in equal} | {id(f) for f in found} - {id(right) for _, right in equal}
        for formula in found:
            if id(formula) not in firsts or formula.start in broken or id(formula) in {id(right) for _, right in equal}:
                continue
            last = next((right for left, right in equal if left is formula and right.start not in broken), formula)
            judged = _component(scene, statement, formula, last, about, held)
            if judged is not None:
                yield judged
                if judged.reason and judged.reason[0].sentence == _WITHOUT_OUT and not projected:
                    projected = True
                    yield _omission_claim(scene, statement, formula, held[""])


_WITHOUT_OUT = "without the output projection"


def _equality_claim(scene: Scene, statement: Sequence[Token], left: Formula, right: Formula, verdict: str, reason: Reason) -> Claim:
    first, last = statement[left.start], statement[right.end - 1]
    facts = {"value": str(right.expanded), "expected": str(left.expanded), "reason": reason}
    if verdict == "wrong":
        facts["difference"] = write_difference(right.expanded, left.expanded)
    return claim(scene.lines, first, last, "symbolic", verdict, **facts)


def _component(
    scene: Scene,
    statement: Sequence[Token],
    formula: Formula,
    last: Formula,
    about: Sequence[str | None],
    held: Mapping[str, ReferenceCounts],
) -> Claim | None:
    token = statement[formula.start]
    context = scene.context(token.line, token.start)
    own = held.get(context) if context is not None else None
    if own is None and scene.main is None:
        return _of_any(scene, statement, formula, last, about)
    if own is None:
        return None
    line = scene.lines[token.line].text
    before = re.split(r"[。;；|]", line[: token.start])[-1]
    name, firm = _named_component(before, about[token.line])
    sizes = scene.sizes_at(token.line, token.start)
    if name is None or not own.components.get(name):
        return _other_part(scene, statement, formula, last, own) if about[token.line] or find_components(before) else None
    holding = _find_convention(own, name, formula.expanded, sizes)
    if holding is not None:
        verdict = "exact" if holding.exact else "convention"
        return _check(scene, statement, formula, last, verdict, holding, holding.convention)
    amount = value_at(formula.expanded, sizes)
    if amount is not None and any(h.number == amount for h in own.components[name]):
        same = next(h for h in own.components[name] if h.number == amount)
        return _check(scene, statement, formula, last, "exact" if same.exact else "convention", same, same.convention)
    other = _other_part(scene, statement, formula, last, own)
    if other is not None:
        return other
    following = statement[formula.end] if formula.end < len(statement) else None
    if following is not None and following.kind in ("num", "name") and following.line == statement[formula.end - 1].line:
        return None  # ``4 × hidden_size 2`` lost its raising: it was not read whole
    if not firm or not own.simple or not any(atom.letter == "H" for atom in formula.expanded.symbols()):
        return None
    if _is_inside(formula.expanded, own, sizes) or _is_inside(substitute(formula.expanded, USUAL), own, sizes):
        return None
    right = own.components[name][0]
    widths = {atom.letter for atom in right.formula.symbols()} - {atom.letter for atom in formula.expanded.symbols()}
    if "I" in widths and sizes.get("mlp") != 4 * sizes.get("hidden", 0):
        return None  # ``d × 4d`` is of another feed-forward network than one that is not 4 H wide
    shown = in_terms_of(right.formula, formula.expanded, sizes)
    reason = because(mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(name, name)), right=str(shown))
    return _check(
        scene, statement, formula, last, "wrong", ComponentCount(right.number, lambda: shown, right.convention, right.exact), reason
    )


def _other_part(scene: Scene, statement: Sequence[Token], formula: Formula, last: Formula, own: ReferenceCounts) -> Claim | None:
    """Confirm a formula that is exactly some component's, though its words name another: ``the matrices and biases: 4h² + 4h``."""
    if formula.term is not last.term and last.expanded != formula.expanded:
        return None
    token = statement[formula.start]
    sizes = scene.sizes_at(token.line, token.start)
    quadratic = any(degree(monomial) > 1 for monomial in formula.expanded.terms)
    for name in _PARTS if quadratic else ():
        holding = _find_convention(own, name, formula.expanded, sizes) if own.components.get(name) else None
        if holding is not None:
            reason = because(mark("{what} holds {right}"), what=Sentence(COMPONENT_TITLES.get(name, name)), right=str(holding.formula))
            return _check(scene, statement, formula, last, "exact" if holding.exact else "convention", holding, reason + holding.convention)
    return None


_PARTS = ("attention", "ffn", "layer", "encoder", "qkv", "out", "up", "down", "word", "position", "pooler")

"""Components whose formulas are long enough to be recognized by themselves."""

GENERIC = ("bert-base-uncased", "gpt2", "llama-2-7b")

"""The transformers that people write generic formulas of: with biases, before and after the norm, gated and without biases."""


@cache
def _generic_counts() -> tuple[tuple[ReferenceCounts, Mapping[str, int]], ...]:
    models = [model for name in GENERIC if (model := preset_model(name)) is not None]
    return tuple((reference_counts_of(model), words_of(model)) for model in models)


def _of_any(scene: Scene, statement: Sequence[Token], formula: Formula, last: Formula, about: Sequence[str | None]) -> Claim | None:
    """Confirm a formula of a transformer that is not named, if it is the component's of any of the usual ones."""
    token = statement[formula.start]
    before = re.split(r"[。;；|]", scene.lines[token.line].text[: token.start])[-1]
    name, _ = _named_component(before, about[token.line])
    if name is None and not about[token.line]:
        return None
    quadratic = any(degree(monomial) > 1 for monomial in formula.expanded.terms)
    parts = ([name] if name is not None else []) + (list(_PARTS) if quadratic and (name or about[token.line]) else [])
    found = _generic_holding(tuple(parts), formula.expanded) if parts else None
    if found is None:
        return None
    own, holding = found
    reason = because(mark("as in {name}"), name=own.class_name) + holding.convention
    return _check(scene, statement, formula, last, "exact" if holding.exact else "convention", holding, reason)


@lru_cache(maxsize=4096)
def _generic_holding(parts: tuple[str, ...], formula: Polynomial) -> tuple[ReferenceCounts, ComponentCount] | None:
    """Return the first of the usual transformers of which some part is what a formula says, with what that part holds."""
    for part, (own, sizes) in product(parts, _generic_counts()):
        holding = _find_convention(own, part, formula, sizes) if own.components.get(part) else None
        if holding is not None:
            return own, holding
    return None


def _find_convention(own: ReferenceCounts, name: str, formula: Polynomial, sizes: Mapping[str, int]) -> ComponentCount | None:
    """Return the convention in which a component is what a formula says; remembered, as texts repeat their formulas."""
    key = (name, formula)
    if key not in own.recognized:
        amount = value_at(formula, sizes)
        near = (h for h in own.components[name] if amount is None or amount == h.number)
        own.recognized[key] = next((h for h in near if agrees(formula, h.formula, sizes)), None)
    return own.recognized[key]


def _is_inside(formula: Polynomial, own: ReferenceCounts, sizes: Mapping[str, int]) -> bool:
    """Tell whether a formula is another component's, or a single tensor's, in letters or at these sizes."""
    amount = value_at(formula, sizes)
    return any(agrees(formula, cell.formula, sizes) for cell in own.cells) or any(
        h.number == amount if amount is not None else agrees(formula, h.formula, sizes)
        for name, found in own.components.items()
        for h in found
        if name not in ("norm",)
    )


def _named_component(before: str, section: str | None) -> tuple[str | None, bool]:
    clause = re.split(r"[,，](?!\d{3})", before)
    for label in (clause[-1], before):
        if find_components(label):
            name, clear = subject(label)
            if name == "total" and section not in (None, "total"):
                return section, False
            last = find_components(label)[-1]
            near = label[last.end :].strip()
            said_of = speaks_of_parameters(near) or near.strip("() *层") in (":", "=", "")
            return name, clear and said_of and name != "total" and name != "norm"
    return section, False


def _check(
    scene: Scene, statement: Sequence[Token], formula: Formula, last: Formula, verdict: str, holding: ComponentCount, reason: Reason
) -> Claim:
    facts: dict[str, object] = {"value": str(last.expanded), "expected": str(holding.formula), "reason": reason}
    if verdict == "wrong":
        facts["difference"] = write_difference(last.expanded, holding.formula)
    return claim(scene.lines, statement[formula.start], statement[last.end - 1], "symbolic", verdict, **facts)


def _omission_claim(scene: Scene, statement: Sequence[Token], formula: Formula, own: ReferenceCounts) -> Claim:
    out = own.components["out"][0].formula
    reason = because(mark("the output projection is left out: {right} with its bias"), right=str(out))
    first, last = statement[formula.start], statement[formula.end - 1]
    return claim(
        scene.lines, first, last, "component", "note", value=str(formula.expanded), expected=str(formula.expanded + out), reason=reason
    )
