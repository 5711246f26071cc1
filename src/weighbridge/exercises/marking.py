"""Mark an answer: a number, or the steps to it, which the audit reads; an error is named once, and what follows from it is not counted again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from weighbridge.auditing import audit
from weighbridge.auditing.checks.arithmetic import check
from weighbridge.auditing.checks.context import understand
from weighbridge.auditing.checks.equation_verdicts import Slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim, Sentence, format_number
from weighbridge.auditing.text.expressions import Term, parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.reading import read_lines
from weighbridge.auditing.text.rounding import fit, likeliest_value
from weighbridge.auditing.text.values import value
from weighbridge.conventions.atoms import Atom, parts_of
from weighbridge.conventions.reconcile import reconcile
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Say, Text, mark, translator
from weighbridge.exercises.questions import Exercise
from weighbridge.explain.derive import derive
from weighbridge.explain.section import Line, lines, sections

LONGEST = 20_000
"""Characters of an answer."""
MOST_PIECES = 40
"""Pieces of a model among which a difference is looked for, two at a time."""
NUMBERS = (int, Fraction)


class Marking(NamedTuple):
    """What an answer is worth.

    Attributes:
        verdict: ``right``; ``slip`` (the method is right, a step is not); ``rounded`` (near, and not exact); ``wrong``.
        given: The number that the answer ends with; None if it has none.
        answer: The right one.
        steps: Every step that was judged, as the audit judges it; lines count from the first of the answer.
        remarks: What is to be said, in words.
    """

    verdict: str
    given: int | Fraction | None
    answer: int
    steps: tuple[Claim, ...]
    remarks: tuple[str, ...]

    @property
    def correct(self) -> bool:
        """Whether the number is right and no step is wrong."""
        return self.verdict == "right"

    @property
    def errors(self) -> tuple[Claim, ...]:
        """The steps that are wrong in themselves, each once."""
        return tuple(step for step in self.steps if step.verdict == "wrong")


def mark_answer(exercise: Exercise, answer: str | int) -> Marking:
    """Mark an answer: a number, or the steps to it, an equation a line.

    Raises:
        UsageError: There is no answer, or it is too long.

    >>> from weighbridge.exercises.questions import exercise_about
    >>> from weighbridge.load import load
    >>> asked = exercise_about(load("bert-base-uncased"), "layer")
    >>> mark_answer(asked, 7_087_872).verdict, mark_answer(asked, "4 × 768² + 8 × 768² = 7,077,888").remarks[0]
    ('right', '9,984 too low: without biases and Layer normalization')
    """
    text = str(answer).strip()
    if not text:
        raise UsageError(Text("there is no answer: give a number, or the steps to it"))
    if len(text) > LONGEST:
        raise UsageError(Text("the answer is longer than {most:,} characters", most=LONGEST))
    say = translator(exercise.lang)
    head = "" if exercise.choices else _table_of(exercise)
    shift = head.count("\n")
    written = head + text
    scene = understand(read_lines(written.encode(), "answer.md"), exercise.model)
    steps = tuple(_steps(exercise, written, shift)) if "=" in text or "≈" in text else ()
    final, term = _final_number(scene, shift)
    return _mark(exercise, steps, final, term, check(scene).slips, say)


def _steps(exercise: Exercise, written: str, shift: int) -> Iterator[Claim]:
    """Yield what the audit judged of an answer; what stands inside an equation is judged with it, and not once more."""
    claims = [claim for claim in audit(written, name="answer.md", model=exercise.model).claims if claim.line > shift]
    equations = [claim for claim in claims if claim.kind in ("arithmetic", "symbolic")]
    for claim in claims:
        within = any(one.line == claim.line and one.start <= claim.start and claim.end <= one.end for one in equations if one is not claim)
        if claim.verdict != "unsettled" and not (within and claim.kind == "configuration"):
            yield _shift_lines(claim, shift)


def _mark(
    exercise: Exercise,
    steps: tuple[Claim, ...],
    final: Fraction | None,
    term: Term | None,
    slips: Mapping[Fraction, Slip],
    say: Say,
) -> Marking:
    given = int(final) if final is not None and final.denominator == 1 else final
    wrong = [step for step in steps if step.verdict == "wrong"]
    corrected = _correct(final, slips, steps)
    if final is None:
        return Marking("wrong", None, exercise.answer, steps, (say("There is no number in the answer."),))
    if exercise.choices:
        return Marking("right" if final == exercise.answer else "wrong", given, exercise.answer, (), ())
    if final == exercise.answer:
        return Marking("slip" if wrong else "right", given, exercise.answer, steps, tuple(_name_errors(wrong, say)))
    if corrected == exercise.answer:
        text = say("The method is right: with the error corrected it comes to {answer}.").format(answer=f"{exercise.answer:,}")
        return Marking("slip", given, exercise.answer, steps, (*_name_errors(wrong, say), text))
    if isinstance(term, Token) and (agreed := fit(term, Fraction(exercise.answer))) is not None and agreed.verdict == "rounded":
        return Marking("rounded", given, exercise.answer, steps, (say("Rounded: the exact number is asked for."),))
    value = final if corrected is None else corrected
    return Marking("wrong", given, exercise.answer, steps, (*_name_errors(wrong, say), *_differs(exercise, value, say)))


def _correct(final: Fraction | None, slips: Mapping[Fraction, Slip], steps: Sequence[Claim]) -> Fraction | None:
    """Return what the answer comes to with its errors corrected; None if it has none."""
    if final is None:
        return None
    if final in slips:
        return slips[final].mended
    last = next((step for step in reversed(steps) if step.value == final), None)
    if last is not None and last.verdict in ("wrong", "carried") and isinstance(last.expected, NUMBERS):
        return Fraction(last.expected)
    return None


def _name_errors(wrong: Sequence[Claim], say: Say) -> Iterator[str]:
    for step in wrong:
        if isinstance(step.expected, NUMBERS):
            yield say("Line {line} is wrong: it should be {expected}.").format(line=step.line, expected=format_number(step.expected))


def _table_of(exercise: Exercise) -> str:
    """Write the letters of the exercise as a table of symbols, which the audit reads before the answer."""
    if len(exercise.symbols) < 2:
        return ""
    rows = "".join(f"| {letter} | {key} | {value} |\n" for letter, key, _, value in exercise.symbols)
    return f"| | | |\n|---|---|---|\n{rows}\n"


def _shift_lines(claim: Claim, lines: int) -> Claim:
    """Count lines from the first of the answer, also in the reason."""
    return claim._replace(line=claim.line - lines, reason=tuple(_shift_reason(part, lines) for part in claim.reason))


def _shift_reason(part: Sentence, lines: int) -> Sentence:
    return part._replace(
        values=tuple((key, number - lines if key == "line" and isinstance(number, int) else number) for key, number in part.values)
    )


def _final_number(scene: Scene, shift: int) -> tuple[Fraction | None, Term | None]:
    """Return the number that an answer ends with, and how it is written."""
    for statement in reversed(scene.statements):
        if not statement or statement[0].line < shift:
            continue
        chains = list(scene.chains_of(statement))
        terms = [chains[-1].sides[-1].term] if chains else list(_terms(statement))
        for term in reversed(terms):
            sizes = scene.sizes_at(statement[0].line, statement[0].start)
            amount = value(term, likeliest_value, sizes)
            if amount is not None:
                return amount, term
    return None, None


def _terms(statement: Sequence[Token]) -> Iterator[Term]:
    at = 0
    while at < len(statement):
        found = parse(statement, at, len(statement)) if statement[at].kind in ("num", "name", "(") else None
        if found is None:
            at += 1
        else:
            yield found.term
            at = max(found.end, at + 1)


class _Piece(NamedTuple):
    """Parameters that one may forget: what they are called, and which atoms of the model they are."""

    what: str
    atoms: frozenset[int]
    amount: int


def _differs(exercise: Exercise, given: Fraction, say: Say) -> Iterator[str]:
    """Say how far an answer is off, and what that looks like."""
    difference = given - exercise.answer
    away = say(mark("{number} too high") if difference > 0 else mark("{number} too low")).format(number=format_number(abs(difference)))
    for number, what in exercise.traps:
        if given == number:
            yield say("{away}: {what}").format(away=away, what=what)
            return
    if given.denominator == 1 and exercise.level == "model":
        known = reconcile(exercise.model, int(given), exercise.lang).matches
        if known and known[0].how == "exact":
            yield say("{away}: {what}").format(away=away, what=say("that is another convention: {name}").format(name=known[0].convention))
            return
    pieces = _pieces(exercise, say)
    found = _sum_of(pieces, abs(difference))
    if found:
        names = say(" and ").join(piece.what for piece in found)
        template = mark("with {what} counted once too often") if difference > 0 else mark("without {what}")
        yield say("{away}: {what}").format(away=away, what=say(template).format(what=names))
        return
    whole = derive(exercise.model, exercise.lang).root
    others = (*((line.value, line.title, line.paths[0]) for line in lines(whole)), *((s.each, s.title, s.path) for s in sections(whole)))
    title, path = next(((title, path) for amount, title, path in others if amount == given), ("", ""))
    that = say("that is {title}").format(title=f"{title} ({path})" if path else title)
    yield say("{away}: {what}").format(away=away, what=that) if title else say("{away}.").format(away=away)


def _sum_of(pieces: Sequence[_Piece], amount: Fraction) -> tuple[_Piece, ...]:
    """Return the fewest pieces, each apart from the others, that amount to a difference."""
    for many in (1, 2, 3):
        for chosen in combinations(pieces[:MOST_PIECES] if many < 3 else pieces[:16], many):
            apart = len(frozenset().union(*(piece.atoms for piece in chosen))) == sum(len(piece.atoms) for piece in chosen)
            if apart and sum(piece.amount for piece in chosen) == amount:
                return chosen
    return ()


def _pieces(exercise: Exercise, say: Say) -> list[_Piece]:
    """Return what one may forget of the part in question: its biases, its norms, each of its modules and sections."""
    whole = exercise.solution.root
    atoms = parts_of(exercise.model).atoms
    one_layer = exercise.level != "model"
    pieces: list[_Piece] = []

    def piece(what: str, numbers: Sequence[int]) -> None:
        amount = sum(atoms[n].each if one_layer else atoms[n].total for n in numbers)
        if amount and amount != exercise.answer and all(known.amount != amount or known.atoms != frozenset(numbers) for known in pieces):
            pieces.append(_Piece(what, frozenset(numbers), amount))

    inside = [(line.title, _atoms_of(line, atoms)) for line in lines(whole)]
    every = [n for _, found in inside for n in found]
    piece(say("biases"), [n for n in every if atoms[n].role == "bias"])
    for section in sections(whole):
        piece(section.title, [n for line in lines(section) for n in _atoms_of(line, atoms)])
    for title, found in inside:
        piece(title, found)
        piece(say("the biases of {title}").format(title=title), [n for n in found if atoms[n].role == "bias"])
    piece(say("norms"), [n for n in every if atoms[n].role in ("gain", "shift")])
    return pieces


def _atoms_of(line: Line, atoms: Sequence[Atom]) -> list[int]:
    """Return which atoms a line stands for; a path that several kinds of layers share counts once."""
    found: dict[tuple[str, str], int] = {}
    for number, atom in enumerate(atoms):
        if atom.path in line.paths or any(name.rpartition(".")[0] == atom.path for name in line.paths):
            found.setdefault((atom.path, atom.role), number)
    return list(found.values())
