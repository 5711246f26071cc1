"""``weigh quiz``: counting exercises, marked step by step."""

from __future__ import annotations

import sys

from weighbridge.commands import output
from weighbridge.commands.options import CLASS, OUTPUT, SET, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.exercises.questions import Exercise

EXAMPLE = """example:
  weigh quiz
  weigh quiz --level heads llama-3-8b --lang zh
  weigh quiz --level layer --seed 3 --json
  weigh quiz bert-base-uncased --level layer --answer 7087872
  weigh quiz bert-base-uncased --level layer --answer - < steps.txt
"""
LEVELS = ("table", "module", "layer", "model", "heads", "active", "convention")
"""As in :mod:`weighbridge.exercises.questions`, which a test holds them to: help does not load it."""
MOST_HINTS = 9
OPTIONS = (
    Option("source", mark("the model that it is about (default: chosen by the seed to suit the level)"), "SOURCE", flag=""),
    CLASS,
    SET,
    Option(
        "level",
        mark("what the exercise asks for: one table, one module, a layer, the whole model, grouped heads, active experts, a convention"),
        "LEVEL",
        default="layer",
        choices=LEVELS,
    ),
    Option("seed", mark("which exercise of that level: the same number gives the same exercise (default 1)"), "N", "whole"),
    Option(
        "answer", mark("mark this answer: a number, or steps with a line for each equation; - reads them from standard input"), "ANSWER"
    ),
    Option("hints", mark("show this many hints"), "N", "whole", 0),
    Option("solution", mark("show the solution"), kind="switch"),
    *OUTPUT,
)


def run(arguments: Arguments) -> int:
    """Ask at a terminal; else print the exercise, or mark the answer: 1 if it is not right."""
    given = vars(arguments)
    plain = not (given.get("answer") or given.get("form") or given.get("output") or given.get("hints") or given.get("solution"))
    if plain and _is_at_terminal():
        return _ask(arguments)
    if given.get("answer") == "-":
        given["answer"] = output.standard_input().decode("utf-8", "replace")
    found = answer(arguments)
    output.deliver(found, arguments)
    return 0 if found.holds else 1


def answer(arguments: Arguments) -> Answer:
    """Make one exercise, and mark the answer if there is one."""
    from weighbridge.documents import quiz
    from weighbridge.exercises.marking import mark_answer

    found = _exercise(arguments, arguments.seed or 1)
    marking = None if arguments.answer is None or arguments.answer == "" else mark_answer(found, arguments.answer)
    hints, solution = min(arguments.hints, MOST_HINTS), arguments.solution
    return Answer(
        lambda: quiz.as_json(found, marking, hints, solution=solution),
        lambda: quiz.document(found, marking, hints, solution=solution, invite=True),
        holds=marking is None or marking.correct,
    )


def _exercise(arguments: Arguments, seed: int) -> Exercise:
    from weighbridge.exercises.questions import choose_preset, exercise_about

    named = arguments.source or ("" if vars(arguments).get("config") else choose_preset(arguments.level, seed))
    return exercise_about(arguments.model(named) if named else arguments.model(), arguments.level, seed, arguments.lang)


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdout is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(arguments: Arguments) -> int:
    """Ask one exercise after another, until an empty end of input or ``quit``; 0 if the last answer was right."""
    from time import time_ns

    from weighbridge.core.messages import translator

    say = translator(arguments.lang)
    seed = arguments.seed or time_ns() // 1000 % 100_000 + 1
    output.emit(say(HELP) + "\n\n")
    code = 1
    while True:
        right = _run_exercise(_exercise(arguments, seed), arguments)
        if right is None:
            return code
        code = 0 if right else 1
        seed = seed % 999_999_999 + 1


def _run_exercise(exercise: Exercise, arguments: Arguments) -> bool | None:
    """Ask one exercise until it is right or given up; None ends the lesson."""
    from weighbridge.core.messages import translator
    from weighbridge.documents import quiz
    from weighbridge.documents.document import Document
    from weighbridge.exercises.marking import mark_answer

    say, hints = translator(arguments.lang), 0
    output.show(quiz.document(exercise))
    while True:
        text = _read_answer()
        word = text.strip().lower() if text is not None else "quit"
        if word in ("quit", "exit", "q"):
            return None
        if word in ("next", "n", ""):
            return False
        if word in ("hint", "?"):
            hints = min(hints + 1, len(exercise.hints))
            shown = exercise.hints[hints - 1] if hints else say("There is no hint.")
            output.emit(say("Hint {number}: {hint}").format(number=hints, hint=shown) + "\n")
            continue
        if word == "solution":
            output.show(Document(exercise.title, "", tuple(quiz.solution_blocks(exercise, say)), exercise.lang))
            return False
        marking = mark_answer(exercise, text or "")
        output.show(Document(say("Marking"), say(quiz.VERDICTS[marking.verdict]), tuple(quiz.marking_blocks(marking, say)), exercise.lang))
        if marking.correct:
            return True


def _read_answer() -> str | None:
    """Read an answer: one line if it is a word or a number, else lines up to an empty one; None at the end of input."""
    lines: list[str] = []
    while True:
        try:
            line = input("> " if not lines else "  ")
        except EOFError:
            return "\n".join(lines) if lines else None
        if not line.strip() or (not lines and "=" not in line):
            return "\n".join([*lines, line]).strip()
        lines.append(line)


HELP = mark(
    "Answer with a number, or with the steps that lead to it: one equation per line, an empty line at the end. You can also type hint, solution, next or quit."
)
