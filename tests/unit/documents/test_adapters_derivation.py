"""Derivations of adapters: every line's arithmetic is worked out again, and the lines add up to the figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.adapters.source import adapter_config, adapters_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.formula import evaluate
from weighbridge.core.messages import translator
from weighbridge.documents import adapters
from weighbridge.documents.adapters_derivation import derivation, letters_in
from weighbridge.documents.document import Equation, Heading
from weighbridge.explain.traced_ints import with_letters

CASES = json.loads((Path(__file__).parents[2] / "truth/adapters/cases.json").read_text("utf-8"))["cases"]
ONE_OF_EACH = {case["adapter"]["peft_type"]: case for case in CASES}

assert len(ONE_OF_EACH) > 40


@pytest.mark.parametrize("case", [*ONE_OF_EACH.values(), *CASES[::17]], ids=lambda case: case["adapter"]["peft_type"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_line_holds_and_the_lines_add_up(case: dict[str, Any], lang: str) -> None:
    weighed = model({**case["config"], "model_type": case["model_type"]}, case["class_name"])
    found = adapters_of(weighed, case["adapter"])
    blocks = list(derivation(weighed, case["adapter"], found, adapters_of, translator(lang)))
    letters = letters_in(case["adapter"], with_letters(weighed, Inputs()))[1].values
    last: dict[str, int] = {}
    section = ""
    for block in blocks:
        if isinstance(block, Heading):
            section = block.number
        if isinstance(block, Equation):
            values = {int(evaluate(step, letters)) for step in block.steps}  # type: ignore[arg-type]
            assert len(values) == 1, block.steps
            last[section] = values.pop()
    assert last.get("1", 0) == found.trainable
    assert last["2"] == found.total
    assert last.get("3", 0) == found.saved_bytes


def test_letters_stand_for_the_numbers_of_config_and_adapter() -> None:
    weighed, config = model("bert-base-uncased"), adapter_config("lora:r=8,target_modules=query")
    found = adapters_of(weighed, config)
    steps = [
        str(block.steps[0]) for block in derivation(weighed, config, found, adapters_of, translator("en")) if isinstance(block, Equation)
    ]
    assert steps[:2] == ["r*H", "H*r"]


def test_a_file_has_no_letters_and_says_so(tmp_path: Path) -> None:
    weighed = model("bert-tiny").replace(description=None)
    with pytest.raises(WeighbridgeError, match="needs a config"):
        list(derivation(weighed, {"peft_type": "BITFIT"}, adapters_of(weighed, "bitfit"), adapters_of, translator("en")))


def test_the_document_has_it_where_asked() -> None:
    weighed, config = model("bert-tiny"), adapter_config("lora:r=2,target_modules=query")
    found = adapters_of(weighed, config)
    with_it = adapters.document(weighed, found, "en", lambda say: derivation(weighed, config, found, adapters_of, say))
    assert any(isinstance(block, Equation) for block in with_it.blocks)
    assert not any(isinstance(block, Equation) for block in adapters.document(weighed, found).blocks)
