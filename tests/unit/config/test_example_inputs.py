"""What an example holds beside its text: images and sound in the arithmetic of a pass."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.accounts.flops import flops
from weighbridge.accounts.inputs import inputs
from weighbridge.core.errors import UsageError
from weighbridge.core.length import evaluate, merge, product_of, sum_of_squares
from weighbridge.core.parts import linear
from weighbridge.core.tree import Part
from weighbridge.web.api import CALLS, answer

TOWER = Part("tower", (linear("dense", 4, 4, bias=False),), stream=9, requires="images", executions="images")
SEEING = Part("", (TOWER, Part("text", (linear("dense", 2, 2, bias=False),))))


def test_a_tower_runs_once_for_each_image_and_not_without() -> None:
    assert flops(SEEING, inputs(seq=5).lengths()).forward_matmul == 5 * 8
    assert flops(SEEING, inputs(seq=5, images=1).lengths()).forward_matmul == 5 * 8 + 9 * 32
    assert flops(SEEING, inputs(seq=5, images=3).lengths(), 2).forward_matmul == 2 * (5 * 8 + 3 * 9 * 32)


def test_an_image_of_any_size_is_told_by_its_rows_and_columns() -> None:
    grid = product_of("rows", "columns")
    lengths = inputs(seq=5, images=1, patches=(5, 8)).lengths()
    assert evaluate(grid, lengths) == 40
    assert evaluate(sum_of_squares("rows", 2), lengths) == 4 + 4 + 1
    assert evaluate(sum_of_squares("columns", 4), lengths) == 32
    assert evaluate(merge("columns", 2), lengths) == 4
    with pytest.raises(UsageError, match="5 rows cannot be merged by 2 without remainder"):
        evaluate(merge("rows", 2), lengths)
    with pytest.raises(UsageError, match="reads images of any size, so say into how many patches each is cut, such as patches 16x24"):
        evaluate(grid, inputs(seq=5, images=1).lengths())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"images": 0}, "images: expected a whole number from 1 to 999,999,999, found 0"),
        ({"images": 1}, "images: BertModel takes no images"),
        ({"audios": 1}, "audios: BertModel takes no audio"),
        ({"patches": (0, 3)}, "patches: expected a whole number from 1 to 999,999,999, found 0"),
        ({"patches": (2, 3)}, "patches: BertModel reads no images of any size"),
        ({"decoder_seq": 3}, "decoder_seq: BertModel has no decoder beside an encoder"),
        ({"encoder_seq": 3}, "encoder_seq: BertModel has no cross-attention that looks at the states of an encoder"),
        ({"question": 3}, "question: it sees no more than other tokens in BertModel"),
        ({"seq": 513}, "seq: BertModel has learned positions for 512 tokens; 513 are too many"),
    ],
)
def test_what_cannot_be_seen_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        weighbridge.model("bert-base-uncased").flops(**given)
    assert str(caught.value) == message


def test_as_many_tokens_as_there_are_positions() -> None:
    assert weighbridge.model("bert-base-uncased").flops(seq=512).forward_matmul
    short = weighbridge.model("bert-base-uncased", overrides={"max_position_embeddings": 64})
    assert short.flops() == short.flops(seq=64)  # nobody asked for 128 tokens, for which it has no positions
    with pytest.raises(UsageError, match="seq: BertModel has learned positions for 64 tokens; 65 are too many"):
        short.flops(seq=65)
    bart = weighbridge.model({"model_type": "bart"})
    assert bart.flops(seq=1024, decoder_seq=1024).forward_matmul
    with pytest.raises(UsageError, match="decoder_seq: BartModel has learned positions for 1,024 tokens; 1,025 are too many"):
        bart.flops(seq=16, decoder_seq=1025)
    assert weighbridge.model({"model_type": "llama"}).flops(seq=100_000).forward_matmul


@pytest.mark.parametrize("text", ["16", "x", "16x", "axb", "1x2x3", "-1x2", "1" * 30 + "x1"])
def test_patches_are_rows_and_columns(text: str) -> None:
    with pytest.raises(UsageError, match="patches: expected rows and columns such as 16x24"):
        inputs(patches=text)


def test_the_api_takes_what_the_command_takes() -> None:
    call = next(call for call in CALLS if call.name == "flops")
    raw = {"source": "bert", "seq": "16"}
    assert answer(call, {"source": "bart", "seq": "16", "decoder_seq": 3})["decoder_seq"] == 3
    with pytest.raises(UsageError, match="decoder_seq: BertModel has no decoder beside an encoder"):
        answer(call, {**raw, "decoder_seq": 3})
    with pytest.raises(UsageError, match="images: BertModel takes no images"):
        answer(call, {**raw, "images": 2, "patches": "2x3"})
    with pytest.raises(UsageError, match="audios: expected a whole number"):
        answer(call, {**raw, "audios": "none"})
