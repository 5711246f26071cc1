"""Rendered reports at a fixed width, kept as files and read as diffs; ``pytest --refresh-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import weighbridge
from weighbridge.accounts.inputs import Inputs
from weighbridge.documents import count, flops, tensors
from weighbridge.documents.renderers import render

FOLDER = Path(__file__).parent
DOCUMENTS = {
    "count": lambda: count.document(weighbridge.model("bert-base-uncased", "BertForPreTraining")),
    "tensors": lambda: tensors.document(weighbridge.model("bert-tiny", "BertForMaskedLM")),
    "flops": lambda: flops.document(weighbridge.model("bert-base-uncased", "BertForMaskedLM"), Inputs()),
}
CASES = [("count", form) for form in ("text", "terminal", "markdown", "html", "latex", "csv", "json")] + [
    (name, "text") for name in DOCUMENTS if name != "count"
]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_a_report_is_drawn_as_it_was(name: str, form: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.{form}"
    drawn = render(DOCUMENTS[name](), form, width=100 if form == "terminal" else 0)
    if request.config.getoption("--refresh-golden"):
        path.write_text(drawn, "utf-8")
    assert drawn == path.read_text("utf-8")
