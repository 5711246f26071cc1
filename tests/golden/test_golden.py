"""Rendered reports at a fixed width, kept as files and read as diffs; ``pytest --refresh-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import weighbridge
from weighbridge.accounts.inputs import Inputs
from weighbridge.documents import count as counting
from weighbridge.documents import flops as arithmetic
from weighbridge.documents import tensors as listing
from weighbridge.documents.renderers import FORMATS, render

FOLDER = Path(__file__).parent
REPORTS = {
    "count": lambda: counting.report(weighbridge.model("bert-base-uncased", "BertForPreTraining")),
    "tensors": lambda: listing.report(weighbridge.model("bert-tiny", "BertForMaskedLM")),
    "flops": lambda: arithmetic.report(weighbridge.model("bert-base-uncased", "BertForMaskedLM"), Inputs()),
}
CASES = [("count", form) for form in FORMATS] + [(name, "text") for name in REPORTS if name != "count"]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_a_report_is_drawn_as_it_was(name: str, form: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.{form}"
    drawn = render(REPORTS[name](), form, width=100)
    if request.config.getoption("--refresh-golden"):
        path.write_text(drawn, "utf-8")
    assert drawn == path.read_text("utf-8")
