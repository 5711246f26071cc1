"""Curves and points, drawn: every value is in the picture, at its place."""

from __future__ import annotations

import re

import pytest

from weighbridge import model
from weighbridge.designs.budget import parse_budget
from weighbridge.designs.search import design, words_of
from weighbridge.designs.sweep import sweep
from weighbridge.documents import design as designs
from weighbridge.documents import sweep as sweeps
from weighbridge.documents.document import Document, Plot
from weighbridge.documents.renderers import png, render
from weighbridge.documents.renderers.plot import plot


def test_points_stand_where_their_values_are() -> None:
    drawn = plot(Plot((("a", ((0, 0), (10, 100))), ("<b>", ((5, 50),))), ("x", "y"), joined=True), width=200, height=180)
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="2.5"', drawn)]
    (left, bottom), (right, top), (middle, half) = places
    assert middle == pytest.approx((left + right) / 2, abs=0.06)
    assert half == pytest.approx((bottom + top) / 2, abs=0.06)
    assert drawn.count("<polyline") == 1, "a curve of one point is no curve"
    assert "<b>" not in drawn
    assert "a: 10; 100" in drawn


def test_a_sweep_is_drawn_with_every_count_of_its_table() -> None:
    bert = model("bert-tiny")
    found = sweep(bert, {"num_hidden_layers": [1, 2, 3], "intermediate_size": [64, 128]})
    drawn = render(sweeps.document(bert, found), "svg")
    assert all(f"{row['num_hidden_layers']}; {row['parameters']:,}" in drawn for row in found.rows)
    assert drawn.count("<polyline") == 2
    with pytest.raises(Exception, match="nothing to draw"):
        render(sweeps.document(bert, sweep(bert, {"num_hidden_layers": [2]})), "svg")


def test_designs_are_points_with_their_front_apart() -> None:
    llama = model({"model_type": "llama", "vocab_size": 4000})
    found = design(llama, parse_budget("30M±1%"), limit=12)
    words = tuple(words_of(llama, entry.config) for entry in found.designs)
    document = designs.document(found, words)
    drawn = render(document, "svg")
    assert all(f"{entry.measured['flops']:,}; {entry.measured['cache']:,}" in drawn for entry in found.designs)
    assert isinstance(document, Document)
    pytest.importorskip("matplotlib")
    assert png.render(document).startswith(b"\x89PNG")
