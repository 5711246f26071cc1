"""``weigh quiz``: scripts, standard input, a terminal, exit codes, the API."""

from __future__ import annotations

import io
import json

import pytest

import weighbridge
from weighbridge.cli import main
from weighbridge.commands import quiz
from weighbridge.commands.options import Arguments

SLIP = "4*(768*768+768) = 2,362,468\n2,362,468 + 4,722,432 + 3,072 = 7,087,972\n"
LAYER = ["quiz", "bert-base-uncased", "--level", "layer"]


def run_quiz(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_json_asks_and_does_not_tell(capsys: pytest.CaptureFixture[str]) -> None:
    code, asked = run_quiz(["quiz", "--level", "layer", "--seed", "3"], capsys)
    assert code == 0
    assert set(asked) == {"level", "seed", "source", "class", "question", "choices", "symbols", "hints", "more_hints"}
    expected = weighbridge.exercise(None, "layer", 3)
    assert asked["question"] == expected.question
    assert f"{expected.answer}" not in json.dumps(asked)


@pytest.mark.parametrize(("answer", "code"), [("7087872", 0), ("7,087,872", 0), ("7087873", 1), ("7.09M", 1), ("none", 1)])
def test_the_exit_code_tells_whether_it_is_right(answer: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    given, found = run_quiz([*LAYER, "--answer", answer], capsys)
    assert given == code
    assert found["marking"]["correct"] is (code == 0)  # type: ignore[index]


def test_steps_come_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SLIP.encode())))
    code, found = run_quiz([*LAYER, "--answer", "-"], capsys)
    marking = found["marking"]
    assert code == 1
    assert (marking["verdict"], marking["errors"]) == ("slip", 1)  # type: ignore[index]
    assert [step["verdict"] for step in marking["steps"]] == ["wrong", "carried"]  # type: ignore[index]


def test_hints_and_the_solution_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run_quiz([*LAYER, "--hints", "2", "--solution"], capsys)
    assert len(found["hints"]) == 2  # type: ignore[arg-type]
    assert found["solution"]["answer"] == 7_087_872  # type: ignore[index]
    assert main([*LAYER, "--solution"]) == 0
    assert "2,362,368 + 4,722,432 + 3,072 = 7,087,872" in capsys.readouterr().out


def test_what_cannot_be_asked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quiz", "bert-base-uncased", "--level", "heads"]) == 2
    assert main(["quiz", "--seed", "0"]) == 2
    assert main(["quiz", "--level", "hard"]) == 2
    assert capsys.readouterr().err.count("weigh: ") == 3


@pytest.mark.parametrize("form", ["--markdown", "--html", "--csv"])
def test_every_form_has_the_question(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAYER, "--answer", "7087872", form]) == 0
    assert "768" in capsys.readouterr().out


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sit at a terminal and type these lines."""
    lines: list[str] = []

    def read(prompt: str) -> str:
        if not lines:
            raise EOFError
        return lines.pop(0)

    monkeypatch.setattr(quiz, "_is_at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", read)
    return lines


def test_a_lesson_at_a_terminal(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["hint", "1", "768 * 768 = 589,824", "589,824 * 4 = 2,359,296", "", "7087872", "solution", "quit"]
    assert main([*LAYER, "--seed", "4"]) == 1, "the last exercise was given up"
    out = capsys.readouterr().out
    assert "Hint 1: One layer is made of" in out
    assert "7,087,871 too low" in out
    assert "2,359,296" in out
    assert "Right." in out
    assert "Exercise 5 (one layer)" in out
    assert "Solution: 7,087,872" in out


def test_the_end_of_input_ends_the_lesson(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["7087872"]
    assert main([*LAYER, "--lang", "zh"]) == 0
    assert "正确。" in capsys.readouterr().out


def test_the_api_asks_and_marks() -> None:
    from weighbridge.commands.table import COMMANDS
    from weighbridge.web.api import answer

    call = COMMANDS["quiz"]
    assert answer(call, {"level": "layer", "seed": "3"})["question"] == weighbridge.exercise(None, "layer", 3).question
    given = {"source": "bert-base-uncased", "level": "layer", "answer": SLIP}
    assert answer(call, given)["marking"]["verdict"] == "slip"
    config = '{"model_type": "bert", "num_hidden_layers": 3}'
    assert answer(call, {"config": config, "level": "model", "answer": "-"})["marking"]["verdict"] == "wrong"
    with pytest.raises(weighbridge.UsageError, match="level: expected one of"):
        answer(call, {"level": "hard"})


def test_a_command_line_is_read_by_its_options() -> None:
    assert isinstance(
        quiz.answer(
            Arguments(
                {
                    "source": "bert-tiny",
                    "level": "table",
                    "seed": None,
                    "answer": None,
                    "hints": 0,
                    "solution": False,
                    "lang": "en",
                    "class_name": None,
                    "overrides": [],
                }
            )
        ).json(),
        dict,
    )
