"""Laws of derivations: every line's steps are equal, parts add up to sections, sections to the total."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import bert_configs
from weighbridge import model
from weighbridge.blueprints.encoders.bert import CLASSES
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import evaluate
from weighbridge.explain.section import Line, Section


def assert_adds_up(part: Line | Section, values: dict[str, int]) -> None:
    if isinstance(part, Line):
        assert {evaluate(step, values) for step in chain(part.formula, values)} == {part.value}
        return
    assert sum(inner.value for inner in part.parts) == part.each == evaluate(part.formula, values)
    assert part.each * part.copies == part.value
    for inner in part.parts:
        assert_adds_up(inner, values)


@settings(max_examples=60, deadline=None)
@given(bert_configs(), st.sampled_from(sorted(CLASSES)))
def test_parts_add_up_to_the_count(config: dict[str, Any], class_name: str) -> None:
    """For every config: lines add up to sections, sections to the model's unique parameters."""
    found = model(config, class_name)
    derivation = found.explain()
    assert derivation.total == found.count().unique
    assert_adds_up(derivation.root, derivation.values)
