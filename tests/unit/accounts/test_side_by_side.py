"""Models side by side: each measure is what the model alone says, each difference that to the first."""

from __future__ import annotations

import pytest

from weighbridge import compare, model
from weighbridge.core.errors import UsageError

NAMES = ("bert-base-uncased", "gpt2", "t5-small", "mixtral-8x7b")


def test_every_measure_is_that_of_the_model_alone() -> None:
    found = compare(NAMES, 2, 64)
    measures = {measure.key: measure for measure in found.measures}
    assert {"unique", "active", "forward_matmul", "hidden", "layers"} <= set(measures)
    for index, name in enumerate(NAMES):
        alone = model(name)
        tally = alone.count()
        for key, measure in measures.items():
            if measure.group == "parameters":
                assert measure.values[index] == getattr(tally, key), (name, key)
            elif measure.group == "sizes":
                assert alone.description is not None
                word = key.partition(" (")[0]  # one word of two meanings has two rows
                stated = {field.word: field.meaning for field in alone.description.family.fields}.get(word)
                own = vars(alone.description.sizes).get(word) if stated in (measure.title, "", None) else None
                assert measure.values[index] == own, (name, key)
        assert measures["forward_matmul"].values[index] == alone.flops(batch=2, seq=64).forward_matmul
    for measure in found.measures:
        first = measure.values[0]
        for value, difference in zip(measure.values, measure.differences, strict=True):
            if isinstance(value, int) and isinstance(first, int):
                assert difference == value - first


def test_one_model_is_the_same_as_itself() -> None:
    assert all(set(measure.differences) <= {0, None} for measure in compare(["gpt2", "gpt2"]).measures)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("bert-base-uncased", "bert-large-uncased"), set()),
        (("bert-base-uncased", "mixtral-8x7b"), {"active"}),
        (("bert-base-uncased", "whisper-base"), {"trainable"}),
        (("mixtral-8x7b", "whisper-base"), {"active", "trainable"}),
    ],
)
def test_what_is_active_or_trained_is_shown_where_it_is_not_all(names: tuple[str, str], shown: set[str]) -> None:
    """Experts rest, and Whisper's fixed positions are not trained; of plain models both are the unique parameters once more."""
    assert {measure.key for measure in compare(names).measures} & {"active", "trainable"} == shown


@pytest.mark.parametrize("name", ["resnet-50", "bert-base-uncased"])
def test_memory_at_rest_is_weights_and_buffers(name: str) -> None:
    """ResNet-50's batch norms keep 53,120 numbers of four bytes and 53 counters of eight."""
    tally, memory = model(name).count(), model(name).memory()
    buffers = 53_120 * 4 + 53 * 8 if name == "resnet-50" else 0
    assert isinstance(tally.unique, int)
    assert (memory.weights, memory.buffers, memory.total) == (4 * tally.unique, buffers, 4 * tally.unique + buffers)


def test_tokens_that_nobody_names_are_as_many_as_all_have_positions_for() -> None:
    towers, bert = model("clip-vit-base-patch32"), model("bert-base-uncased")
    found = compare([towers, bert])
    values = {measure.key: measure.values for measure in found.measures}
    assert found.seq == 77
    assert values["forward_matmul"] == (towers.flops().forward_matmul, bert.flops(seq=77).forward_matmul)
    assert compare([towers, bert], seq=128).untold == ("seq: CLIPModel has learned positions for 77 tokens; 128 are too many",)
    with pytest.raises(UsageError, match="positions for 77 tokens; 128 are too many"):
        towers.flops(seq=128)
