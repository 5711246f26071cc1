"""Files of several tensor- and pipeline-parallel ranks: joined where it is known how, refused where it is not."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.readers import as_model, read_listing
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.parallel_ranks import Facts, check_ranks, join_listings

FORMATS = Path(__file__).parents[2] / "corpus" / "formats"
PATTERNS = {
    "tp_replicated_parameter_patterns": [r"\d+.input_layernorm.weight"],
    "parameter_with_row_parallelism_patterns": [r"\d+.self_attention.dense.weight"],
}


def rank(**shapes: tuple[int, ...]) -> Listing:
    return Listing("torch", tuple(StoredTensor(name.replace("__", "."), "F32", shape, 0) for name, shape in shapes.items()))


def join_ranks(*ranks: Listing, stages: int = 1, patterns: dict[str, Any] | None = None, **arguments: Any) -> dict[str, tuple[int, ...]]:
    """Join ranks, those of a stage together."""
    tensor = len(ranks) // stages
    places = {(number % tensor, number // tensor): listing for number, listing in enumerate(ranks)}
    return {one.name: one.shape for one in join_listings(places, Facts(arguments, patterns)).tensors}


def test_a_model_of_megatron_counts_as_on_one_rank() -> None:
    listing = read_listing(FORMATS / "megatron-plain-2-2")
    assert listing.notes[0] == "joined from 2 tensor-parallel ranks and 2 pipeline stages"
    embeddings, layer = 64 * 16 + 32 * 16, 4 * 16 + 16 * 32 + 32 + 16 * 16 + 16 + 24 * 16 + 24 + 24 * 16 + 16
    assert tally_of(as_model(listing, "")).unique == embeddings + 4 * layer + 2 * 16
    copy = next(tensor for tensor in listing.tensors if tensor.name == "output_layer.weight")
    assert copy.tied_to == "embedding.word_embeddings.weight"


def test_the_patterns_of_deepspeed_say_how_a_tensor_is_cut() -> None:
    each = rank(**{"0__input_layernorm__weight": (8,), "0__self_attention__dense__weight": (8, 2), "0__mlp__w": (3, 8)})
    found = join_ranks(each, each, patterns=PATTERNS)
    assert found == {"0.input_layernorm.weight": (8,), "0.self_attention.dense.weight": (8, 4), "0.mlp.w": (6, 8)}


def test_stages_count_on() -> None:
    each = rank(decoder__layers__0__w=(2,), decoder__layers__1__w=(2,))
    assert list(join_ranks(each, each, each, stages=3, num_layers=6)) == [f"decoder.layers.{number}.w" for number in range(6)]
    assert list(join_ranks(each, rank(decoder__layers__2__w=(2,)), stages=2)) == [f"decoder.layers.{number}.w" for number in range(3)]


UNEVEN = rank(linear_fc1__weight=(4, 8))


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        ([rank(x__gate__weight=(4, 8))] * 2, {}, "it is not known whether x.gate.weight is cut up among the 2 tensor-parallel ranks or on each of them: "),
        ([rank(mixer__norm__weight=(4,))] * 2, {}, "it is not known whether mixer.norm.weight is cut up"),
        ([UNEVEN, rank(linear_fc1__weight=(4, 9))], {}, "the pieces of linear_fc1.weight on the tensor-parallel ranks do not fit each other: "),
        ([UNEVEN, rank(linear_fc2__weight=(4, 8))], {}, "linear_fc1.weight is not on all tensor-parallel ranks: "),
        ([rank(norm__weight=(4,)), rank(norm__weight=(5,))], {}, "the pieces of norm.weight on"),
        ([rank(linear_proj__weight=(4,))] * 2, {}, "the pieces of linear_proj.weight on"),
        ([UNEVEN] * 2, {"stages": 2}, "linear_fc1.weight is in two pipeline stages: "),
        ([UNEVEN] * 2, {"tensor_model_parallel_size": 4}, "there are the files of 2, where the training's tensor_model_parallel_size is 4"),
        ([UNEVEN] * 2, {"expert_model_parallel_size": 4}, "a training whose expert_model_parallel_size is 4: join them with"),
        ([UNEVEN] * 2, {"expert_tensor_parallel_size": 1, "num_experts": 8}, "a training whose expert_tensor_parallel_size is 1: join them with"),
        ([UNEVEN] * 2, {"virtual_pipeline_model_parallel_size": 2}, "a training whose virtual_pipeline_model_parallel_size is 2: join"),
        ([rank(layers__0__norm__weight=(4,))] * 2, {"num_layers": 2}, "the stages hold 1 layers, where the training's num_layers is 2"),
        ([rank(word_embeddings__weight=(4, 2))] * 2, {"padded_vocab_size": 9}, "word_embeddings.weight has 8 rows, where the training's padded_vocab_size is 9"),
        ([UNEVEN] * 2, {"patterns": {"tp_replicated_parameter_patterns": ["(a+)+"]}}, "tp_replicated_parameter_patterns has the pattern '(a+)+', which is not"),
        ([UNEVEN] * 2, {"patterns": {"tp_replicated_parameter_patterns": ["a"] * 101}}, "tp_replicated_parameter_patterns has 101 patterns, the most accepted is"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(ranks: list[Listing], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError) as caught:
        join_ranks(*ranks, **options)
    assert str(caught.value).startswith(message)


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "megatron-plain-2-2", tmp_path / "m")
    shutil.rmtree(tmp_path / "m" / "iter_0000005" / "mp_rank_01_001")
    with pytest.raises(ReadError, match=r"the file of tensor-parallel rank 1 in pipeline stage 1 is missing$"):
        read_listing(tmp_path / "m")
    with pytest.raises(ReadError, match=r"1,025 ranks, the most accepted is 1,024"):
        check_ranks([(0, number) for number in range(1025)])


def test_patterns_of_strangers_take_no_long_time() -> None:
    name = "1" * 8000 + "x"
    begun = time.process_time()
    with pytest.raises(ReadError):
        join_ranks(*[rank(**{name: (2,)})] * 2, patterns={"tp_replicated_parameter_patterns": [r"\d+\d+\d+$"]})
    join_ranks(*[rank(**{name: (2,)})] * 2, patterns={"tp_replicated_parameter_patterns": [r"\d+1$"] * 100})
    assert time.process_time() - begun < 5
