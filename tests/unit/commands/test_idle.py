"""Options that change nothing are named, by every command that says what a model costs."""

from __future__ import annotations

import json

import pytest

from weighbridge.cli import main

IDLE = [
    ("cache gpt2 --decoder-seq 3", ["--decoder-seq"]),
    ("cache bert-tiny --batch 4 --seq 64", ["--batch", "--seq"]),
    ("flops vit-base-patch16-224 --seq 99", ["--seq"]),
    ("flops t5-small --decoder-seq 3 --convention 6n", ["--decoder-seq"]),
    ("memory mamba-130m --training --attention eager", ["--attention"]),
    ("memory vit-base-patch16-224 --training --seq 99 --images 2 --batch 2", ["--seq", "--images"]),
    ("memory llama-3.2-1b --training --seq 16 --checkpointing selective", ["--checkpointing"]),
    ("fits bert-tiny --gib 24 --seq 99", ["--seq"]),
    ("adapters bert-tiny lora:r=2 --no-autocast", ["--no-autocast"]),
    ("parallel gpt2 --micro-batches 2 --chunks 1 --tp 2", ["--micro-batches"]),
]


@pytest.mark.parametrize(("line", "idle"), IDLE, ids=[line for line, _ in IDLE])
def test_options_that_change_nothing_are_named(line: str, idle: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["idle"] == idle
    assert main(line.split()) == 0
    assert f"Without effect here: {', '.join(idle)}." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "line",
    [
        "cache t5-small --decoder-seq 3",
        "flops bert-tiny --seq 99 --batch 2",
        "memory gpt2 --training --seq 64 --attention eager",
        "fits gpt2 --gib 24 --seq 99 --overhead 2",
        "parallel gpt2 --pp 2 --micro-batches 2",
        "adapters gpt2 lora:r=2 --dtype bfloat16 --batch 2",
        "fits gpt2 --gib 24 --dtype float16",
        "memory gpt2 --training --checkpointing full",
    ],
)
def test_options_that_count_are_not(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line.split(), "--json"]) == 0
    assert "idle" not in json.loads(capsys.readouterr().out)


def test_a_length_of_a_decoder_changes_nothing_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for more in ([], ["--decoder-seq", "3"]):
        assert main(["cache", "gpt2", *more, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == {key: value for key, value in answers[1].items() if key != "idle"}


def test_fits_needs_no_length_of_a_model_of_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fits", "wav2vec2-base", "--gib", "24", "--for", "training"]) == 0
    assert "The activations of this model are not described, and are left out." in capsys.readouterr().out
