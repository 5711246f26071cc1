"""Laws of derivations: every line's steps are equal, parts add up to sections, sections to the total."""

from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge import Model, model
from weighbridge.blueprints.encoders.bert import CLASSES
from weighbridge.core.formula import evaluate
from weighbridge.explain.evaluation_steps import chain
from weighbridge.explain.section import Line, Section

DECODERS: list[dict[str, bool]] = [{}, {"is_decoder": True}, {"is_decoder": True, "add_cross_attention": True}]


@st.composite
def berts(draw: st.DrawFn) -> Model:
    heads = draw(st.integers(1, 4))
    config = {
        "model_type": "bert", "vocab_size": draw(st.integers(1, 60)), "hidden_size": heads * draw(st.integers(1, 9)),
        "num_attention_heads": heads, "num_hidden_layers": draw(st.integers(1, 5)), "intermediate_size": draw(st.integers(1, 99)),
        "max_position_embeddings": draw(st.integers(1, 50)), "type_vocab_size": draw(st.integers(1, 3)),
        "tie_word_embeddings": draw(st.booleans()), **draw(st.sampled_from(DECODERS)),
    }  # fmt: skip
    return model(config, draw(st.sampled_from(sorted(CLASSES))))


def assert_adds_up(part: Line | Section, values: dict[str, int]) -> None:
    if isinstance(part, Line):
        assert {evaluate(step, values) for step in chain(part.formula, values)} == {part.value}
        return
    assert sum(inner.value for inner in part.parts) == part.each == evaluate(part.formula, values)
    assert part.each * part.copies == part.value
    for inner in part.parts:
        assert_adds_up(inner, values)


@settings(max_examples=60, deadline=None)
@given(berts())
def test_parts_add_up_to_the_count(found: Model) -> None:
    """For every config: lines add up to sections, sections to the model's unique parameters."""
    derivation = found.explain()
    assert derivation.total == found.count().unique
    assert_adds_up(derivation.root, derivation.values)
