"""The derivation of the arithmetic: every equation holds, and the last is the count."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.formula import evaluate
from weighbridge.documents.document import Equation
from weighbridge.documents.flops_derivation import LENGTHS, document
from weighbridge.documents.renderers import render

CASES = [
    ("bert-base-uncased", "BertForMaskedLM"),
    ("bert-tiny", "BertForQuestionAnswering"),
    ("albert-base-v2", None),
    ("t5-small", None),
    ("mixtral-8x7b", None),
]


@pytest.mark.parametrize(("source", "name"), CASES)
def test_every_equation_holds_and_the_total_is_the_count(source: str, name: str | None) -> None:
    weighed = model(source, name)
    decoder = 7 if source.startswith("t5") else None
    given = Inputs(batch=2, seq=10, decoder_seq=decoder)
    found = document(weighed, given)
    _, _, values = weighed.symbolic()
    letters = {**values, "b" if "B" in values else "B": 2, LENGTHS["seq"]: 10, LENGTHS["decoder"]: 7}
    equations = [block for block in found.blocks if isinstance(block, Equation)]
    assert equations
    for equation in equations:
        assert len({evaluate(step, letters) for step in equation.steps}) == 1
    assert found.figure == f"{weighed.flops(2, 10, decoder).forward_matmul:,} FLOPs"
    assert evaluate(equations[-1].steps[-1], {}) == weighed.flops(2, 10, decoder).forward_matmul


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_is_written_in_every_form_and_language(form: str, language: str) -> None:
    text = render(document(model("bert-base-uncased"), Inputs(), language), form)
    assert "22,348,431,360" in text.replace("{,}", ",")
    assert ("乘法" in text) == (language == "zh")
