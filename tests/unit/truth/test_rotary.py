"""Which attention has rotary positions: the table against the reference's own forward functions, where torch is installed."""

import re

import pytest

from weighbridge import model
from weighbridge.explain.rotary import rotary_places
from weighbridge.explain.section import sections

ROTATED = re.compile(
    r"Positions enter by rotating (queries and keys|\d+ of the \d+ dimensions of each query and key) \(rotary embeddings\), which takes no parameters\."
)


@pytest.mark.parametrize("model_type", ["llama", "qwen2_vl", "gptj", "modernbert", "bert", "whisper", "bloom", "smollm3"])
def test_the_table_says_what_the_live_class_does(model_type: str) -> None:
    pytest.importorskip("transformers")
    from truth.rotary import places_of

    assert set(places_of(model_type)) == set(rotary_places(model_type))


def says_rotary(source: object) -> bool:
    return any(ROTATED.fullmatch(said) for section in sections(model(source).explain().root) for said in section.says)


@pytest.mark.parametrize(
    ("source", "rotates"),
    [
        ("llama-3-8b", True),
        ("deepseek-v3", True),
        ("mixtral-8x7b", True),
        ("gpt2", False),
        ("bert-base-uncased", False),
        ("bloom-560m", False),
    ],
)
def test_it_is_said_of_the_models_that_rotate(source: str, rotates: bool) -> None:
    assert says_rotary(source) is rotates


def test_a_composite_model_says_it_by_the_type_of_its_parts() -> None:
    """A language model whose layers do not all rotate (SmolLM3) is not said to rotate because its parent's usual one does."""
    assert says_rotary({"model_type": "llava", "text_config": {"model_type": "llama"}})
    assert not says_rotary({"model_type": "llava", "text_config": {"model_type": "smollm3"}})
