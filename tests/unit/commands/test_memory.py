"""``weigh memory``: what was asked and changes nothing is named."""

from __future__ import annotations

import json

import pytest

from weighbridge.cli import main


def test_options_of_training_are_named_where_nothing_is_trained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "bert-tiny", "--batch", "4", "--attention", "eager", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["idle"] == ["--batch", "--attention"]
    assert main(["memory", "bert-tiny", "--batch", "4"]) == 0
    assert "Without --training nothing here depends on --batch." in capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--dtype", "bfloat16"], ["--training", "--batch", "4", "--no-dropout"]])
def test_nothing_is_named_where_all_of_it_counts(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "bert-tiny", *more, "--json"]) == 0
    assert "idle" not in json.loads(capsys.readouterr().out)


def test_why_activations_are_not_known_is_said_in_the_language_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "swin-tiny-patch4-window7-224", "--training", "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "前向计算为反向计算保留的内容" in said
    assert "is not described" not in said
