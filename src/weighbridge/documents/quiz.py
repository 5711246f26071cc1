"""An exercise and its marking as documents and as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from weighbridge.auditing.claims import format_number
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents import explain
from weighbridge.documents.audit import TONES, remark
from weighbridge.documents.document import Block, Column, Document, Heading, Paragraph, Row, Table, notes
from weighbridge.exercises.marking import Marking
from weighbridge.exercises.questions import Exercise

VERDICTS = {
    "right": mark("Right."),
    "slip": mark("Nearly: the method is right, a step is not."),
    "rounded": mark("Nearly: rounded."),
    "wrong": mark("Not yet."),
}


def as_json(exercise: Exercise, marking: Marking | None = None, hints: int = 0, *, solution: bool = False) -> dict[str, Any]:
    """Return an exercise as plain data; its answer only once there is a marking or the solution is asked for.

    >>> from weighbridge import exercise
    >>> sorted(as_json(exercise("bert-base-uncased", "layer")))[:4]
    ['choices', 'class', 'hints', 'level']
    """
    found: dict[str, Any] = {
        "level": exercise.level,
        "seed": exercise.seed,
        "source": exercise.model.source,
        "class": exercise.model.class_name,
        "question": exercise.question,
        "choices": list(exercise.choices),
        "symbols": [{"letter": letter, "key": key, "meaning": meaning, "value": value} for letter, key, meaning, value in exercise.symbols],
        "hints": list(exercise.hints[:hints]),
        "more_hints": max(len(exercise.hints) - hints, 0),
    }
    if marking is not None:
        found["marking"] = _marking_json(marking, translator(exercise.lang))
    if solution:
        found["solution"] = {
            "answer": exercise.answer,
            "working": list(exercise.working),
            "derivation": explain.as_json(exercise.solution),
        }
    return found


def _marking_json(marking: Marking, say: Say) -> dict[str, Any]:
    return {
        "verdict": marking.verdict,
        "correct": marking.correct,
        "given": _json_number(marking.given),
        "answer": marking.answer,
        "errors": len(marking.errors),
        "remarks": list(marking.remarks),
        "steps": [
            {
                "line": step.line,
                "text": step.text,
                "verdict": step.verdict,
                "value": _json_number(step.value),
                "expected": _json_number(step.expected),
                "reason": remark(step, say),
            }
            for step in marking.steps
        ],
    }


def _json_number(number: object) -> object:
    return float(number) if isinstance(number, Fraction) else number


def document(
    exercise: Exercise, marking: Marking | None = None, hints: int = 0, *, solution: bool = False, invite: bool = False
) -> Document:
    """Lay an exercise out: the question, the sizes it uses, hints; the marking and the solution if asked for.

    Args:
        invite: Say by which command it is answered, as long as it is not.
    """
    say = translator(exercise.lang)
    blocks: list[Block] = [Paragraph(1, exercise.question), *_given_facts(exercise, say)]
    blocks += [Paragraph(1, say("Hint {number}: {hint}").format(number=at, hint=hint)) for at, hint in enumerate(exercise.hints[:hints], 1)]
    if marking is not None:
        blocks += [Heading(1, "", say("Marking")), *marking_blocks(marking, say)]
    if solution:
        blocks += solution_blocks(exercise, say)
    if invite and not solution and (marking is None or not marking.correct):
        command = f"weigh quiz {exercise.model.source} --level {exercise.level} --seed {exercise.seed}"
        text = say("To answer: {command} --answer N. For a hint: --hints {hints}; for the solution: --solution.")
        blocks += notes([text.format(command=command, hints=hints + 1)])
    return Document(exercise.title, say(VERDICTS[marking.verdict]) if marking else "", tuple(blocks), exercise.lang)


def _given_facts(exercise: Exercise, say: Say) -> list[Block]:
    """Return the choices, or the sizes that the question takes."""
    if exercise.choices:
        rows = tuple(Row((at, choice)) for at, choice in enumerate(exercise.choices, 1))
        return [Table((Column(say("answer"), "integer"), Column(say("convention"))), rows)]
    columns = (Column(say("symbol"), "letter"), Column(say("config key")), Column(say("meaning")), Column(say("value"), "integer"))
    return [Table(columns, tuple(Row(symbol) for symbol in exercise.symbols))] if exercise.symbols else []


def marking_blocks(marking: Marking, say: Say) -> list[Block]:
    """Lay a marking out: each step with what the audit says of it, and the remarks."""
    rows = tuple(
        Row((step.line, step.text, remark(step, say)), strong=step.verdict == "wrong", tone=TONES.get(step.verdict, ""))
        for step in marking.steps
    )
    columns = (Column(say("line"), "integer"), Column(say("step")), Column(say("verdict")))
    table: list[Block] = [Table(columns, rows)] if rows else []
    given = [] if marking.given is None else [say("Your answer: {given}.").format(given=format_number(marking.given))]
    return [*table, *(Paragraph(1, text) for text in (*given, *marking.remarks))]


def solution_blocks(exercise: Exercise, say: Say) -> list[Block]:
    """Lay the solution out: the derivation of the part in question, and the steps from there."""
    answer = exercise.choices[exercise.answer - 1] if exercise.choices else f"{exercise.answer:,}"
    working = [Paragraph(1, text) for text in exercise.working]
    derivation = [] if exercise.choices else list(explain.document(exercise.solution).blocks)
    return [Heading(1, "", say("Solution: {answer}").format(answer=answer)), *derivation, *working]
