"""Answers are marked: numbers, steps, errors named once with what follows from them, and what a wrong number looks like."""

from __future__ import annotations

import random

import pytest

import weighbridge
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.notation import UNICODE, write
from weighbridge.exercises.marking import LONGEST
from weighbridge.exercises.questions import LEVELS
from weighbridge.explain.section import lines

STEPS = """query, key, value, output: 4 × (768² + 768) = {attention}
feed-forward: 2 × 768 × 3072 + 3072 + 768 = 4,722,432
norms: 2 × 2 × 768 = 3,072
layer: {attention} + 4,722,432 + 3,072 = {total}
"""


@pytest.fixture(scope="module")
def layer() -> weighbridge.Exercise:
    return weighbridge.exercise("bert-base-uncased", "layer")


@pytest.mark.parametrize("level", LEVELS)
def test_the_right_answer_is_right(level: str) -> None:
    for seed in range(1, 4):
        found = weighbridge.exercise(None, level, seed)
        marking = weighbridge.mark(found, found.answer)
        assert marking.correct
        assert marking.verdict == "right"
        assert not weighbridge.mark(found, found.answer + 1).correct


@pytest.mark.parametrize(
    "written",
    [
        "7087872",
        "7,087,872",
        "７，０８７，８７２",
        " 7087872 \n",
        "total: 7,087,872",
        "= 7087872",
        "共 7,087,872 个参数",
        "4 × (768² + 768) + 2×768×3072 + 3072 + 768 + 2×2×768",
        "4*(H^2+H) + 2*H*I + I + H + 4*H",
    ],
)
def test_a_number_may_be_written_in_many_ways(layer: weighbridge.Exercise, written: str) -> None:
    assert weighbridge.mark(layer, written).correct


def test_steps_that_are_right_are_right(layer: weighbridge.Exercise) -> None:
    marking = weighbridge.mark(layer, STEPS.format(attention="2,362,368", total="7,087,872"))
    assert marking.correct
    assert len(marking.steps) >= 4
    assert not marking.remarks


def test_an_error_is_named_once_and_what_follows_from_it_is_not_counted_again(layer: weighbridge.Exercise) -> None:
    marking = weighbridge.mark(layer, STEPS.format(attention="2,362,468", total="7,087,972"))
    assert marking.verdict == "slip"
    assert not marking.correct
    assert [error.line for error in marking.errors] == [1]
    assert [step.verdict for step in marking.steps if step.line == 4] == ["carried"]
    assert marking.remarks == (
        "Line 1 is wrong: it should be 2,362,368.",
        "The method is right: with the error corrected it comes to 7,087,872.",
    )


def test_an_error_that_is_left_behind_is_still_named(layer: weighbridge.Exercise) -> None:
    marking = weighbridge.mark(layer, "4 × (768² + 768) = 2,362,468\n2,362,368 + 4,722,432 + 3,072 = 7,087,872")
    assert marking.verdict == "slip"
    assert marking.remarks == ("Line 1 is wrong: it should be 2,362,368.",)


@pytest.mark.parametrize(
    ("written", "remark"),
    [
        ("7,077,888", "9,984 too low: without biases and Layer normalization"),
        ("7,084,800", "3,072 too low: without Layer normalization"),
        ("7,080,960", "6,912 too low: without biases"),
        ("7,090,944", "3,072 too high: with Layer normalization counted once too often"),
        ("85,054,464", "77,966,592 too high: that is all 12 layers; one was asked for"),
        ("590,592", "6,497,280 too low: that is Linear map (pooler.dense)"),
        ("7,087,870", "2 too low."),
    ],
)
def test_a_wrong_number_is_told_what_it_looks_like(layer: weighbridge.Exercise, written: str, remark: str) -> None:
    marking = weighbridge.mark(layer, written)
    assert marking.verdict == "wrong"
    assert marking.remarks == (remark,)


def test_another_convention_is_named() -> None:
    model = weighbridge.exercise("bert-base-uncased", "model")
    remarks = weighbridge.mark(model, "108,808,704").remarks
    assert remarks == ("673,536 too low: that is another convention: BertModel without linear biases and pooler",)


def test_a_rounded_number_is_near() -> None:
    model = weighbridge.exercise("bert-base-uncased", "model")
    assert weighbridge.mark(model, "110M").verdict == "rounded"
    assert weighbridge.mark(model, "1.1亿").verdict == "rounded"


def test_an_answer_without_a_number(layer: weighbridge.Exercise) -> None:
    marking = weighbridge.mark(layer, "no idea")
    assert (marking.verdict, marking.given, marking.remarks) == ("wrong", None, ("There is no number in the answer.",))
    with pytest.raises(weighbridge.UsageError, match="there is no answer"):
        weighbridge.mark(layer, "  ")
    with pytest.raises(weighbridge.UsageError, match="longer than 20,000 characters"):
        weighbridge.mark(layer, "1" * (LONGEST + 1))


@pytest.mark.parametrize("level", ["table", "module", "layer", "heads"])
def test_our_own_derivation_is_marked_right_and_every_spoiled_step_of_it_is_named(level: str) -> None:
    """The steps of the solution, line by line, are a right answer; with a digit spoiled, that line is the one error."""
    draw = random.Random(11)
    for seed in range(1, 7):
        found = weighbridge.exercise(None, level, seed)
        if found.answer != found.solution.root.each:
            continue
        values = found.solution.values
        steps = [
            " = ".join(write(step, UNICODE) for step in chain(line.formula, values)) for line in lines(found.solution.root) if line.value
        ]
        addends = [line.value for line in lines(found.solution.root) if line.value]
        if len(addends) > 1:
            steps.append(" + ".join(f"{one:,}" for one in addends) + f" = {found.answer:,}")
        marking = weighbridge.mark(found, "\n".join(steps))
        assert marking.correct, (found.title, steps, marking)
        spoiled = draw.randrange(len(addends))
        wrong = f"{addends[spoiled] + 10_000:,}"
        changed = [step[: step.rindex("= ") + 2] + wrong if at == spoiled else step for at, step in enumerate(steps)]
        if len(addends) > 1:
            numbers = [f"{one:,}" if at != spoiled else wrong for at, one in enumerate(addends)]
            changed[-1] = " + ".join(numbers) + f" = {found.answer + 10_000:,}"
        marking = weighbridge.mark(found, "\n".join(changed))
        assert marking.verdict == "slip", (found.title, changed, marking)
        assert {error.line for error in marking.errors} == {spoiled + 1}


def test_chinese() -> None:
    found = weighbridge.exercise("bert-base-chinese", "layer", 1, "zh")
    assert weighbridge.mark(found, "共7,087,872个参数").correct
    assert weighbridge.mark(
        found, "注意力：4×(768²+768)=2362368\n前馈：2×768×3072+3072+768=4722432\n归一化：2×2×768=3072\n2362368+4722432+3072=7087872"
    ).correct
    remark = weighbridge.mark(found, "7,077,888").remarks[0]
    assert "9,984" in remark
    assert "层归一化" in remark
