"""Files of several tensor- and pipeline-parallel ranks: joined where it is known how, refused where it is not."""

from __future__ import annotations

import json
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


def join_ranks(
    *ranks: Listing, stages: int = 1, experts: int = 1, patterns: dict[str, Any] | None = None, **arguments: Any
) -> dict[str, tuple[int, ...]]:
    """Join ranks, those of a stage together, those of its experts among these."""
    tensor = len(ranks) // stages // experts
    places = {(number % tensor, number // tensor // experts, number // tensor % experts): listing for number, listing in enumerate(ranks)}
    return {one.name: one.shape for one in join_listings(places, Facts(arguments, patterns)).tensors}


def test_a_model_of_megatron_counts_as_on_one_rank() -> None:
    listing = read_listing(FORMATS / "megatron-plain-2-2")
    assert listing.notes[0] == "joined from 2 tensor-parallel ranks and 2 pipeline stages"
    embeddings, layer = 64 * 16 + 32 * 16, 4 * 16 + 16 * 32 + 32 + 16 * 16 + 16 + 24 * 16 + 24 + 24 * 16 + 16
    assert tally_of(as_model(listing, "")).unique == embeddings + 4 * layer + 2 * 16
    copy = next(tensor for tensor in listing.tensors if tensor.name == "output_layer.weight")
    assert copy.tied_to == "embedding.word_embeddings.weight"


@pytest.mark.parametrize("name", ["megatron-experts-1-1-2-1", "megatron-experts-1-2-2-1", "megatron-plain-1-2-1-2"])
def test_ranks_of_experts_and_virtual_stages_hold_what_one_rank_does(name: str) -> None:
    said = json.loads((FORMATS / "expected.json").read_text("utf-8"))["megatron"]["files"][name]
    listing = read_listing(FORMATS / name)
    found = {tensor.name: list(tensor.shape) for tensor in listing.tensors if not tensor.note or tensor.tied_to}
    copied = {tensor.name for tensor in listing.tensors if tensor.tied_to}
    assert {kept: shape for kept, shape in found.items() if kept not in copied} == {
        kept: shape for kept, (shape, _) in said.items() if kept not in copied
    }
    assert copied <= {"output_layer.weight"}


def test_the_patterns_of_deepspeed_say_how_a_tensor_is_cut() -> None:
    each = rank(**{"0__input_layernorm__weight": (8,), "0__self_attention__dense__weight": (8, 2), "0__mlp__w": (3, 8)})
    found = join_ranks(each, each, patterns=PATTERNS)
    assert found == {"0.input_layernorm.weight": (8,), "0.self_attention.dense.weight": (8, 4), "0.mlp.w": (6, 8)}


def test_stages_count_on() -> None:
    each = rank(decoder__layers__0__w=(2,), decoder__layers__1__w=(2,))
    assert list(join_ranks(each, each, each, stages=3, num_layers=6)) == [f"decoder.layers.{number}.w" for number in range(6)]
    assert list(join_ranks(each, rank(decoder__layers__2__w=(2,)), stages=2)) == [f"decoder.layers.{number}.w" for number in range(3)]


def test_experts_and_virtual_stages_count_on() -> None:
    each = rank(layers__0__mlp__router__weight=(4, 2), layers__0__mlp__experts__local_experts__0__w=(2,))
    found = join_ranks(each, each, each, each, experts=2, stages=2, expert_model_parallel_size=2, num_experts=2, num_layers=2)
    assert list(found) == [
        f"layers.{layer}.mlp.{name}"
        for layer in (0, 1)
        for name in ("router.weight", "experts.local_experts.0.w", "experts.local_experts.1.w")
    ]
    first, last = (
        rank(model0__embedding__w=(9,), model0__layers__0__w=(1,), model1__layers__0__w=(3,)),
        rank(model0__layers__0__w=(2,), model1__layers__0__w=(4,), model1__output__w=(9,)),
    )
    found = join_ranks(first, last, stages=2, virtual_pipeline_model_parallel_size=2, num_layers=4)
    assert found == {"embedding.w": (9,), **{f"layers.{number}.w": (number + 1,) for number in range(4)}, "output.w": (9,)}


def test_experts_of_one_module_and_of_one_matrix_count_on() -> None:
    """As TransformerEngine's grouped layers write them, and Megatron's own: held to what one rank would hold."""
    numbered = rank(**{f"mlp__experts__linear_fc{layer}__weight{number}": (6, 4) for layer in (1, 2) for number in (0, 1)})
    found = join_ranks(numbered, numbered, experts=2, expert_model_parallel_size=2, num_experts=4)
    assert found == {f"mlp.experts.linear_fc{layer}.weight{number}": (6, 4) for layer in (1, 2) for number in range(4)}
    fused = rank(mlp__router__weight=(6, 4), mlp__experts__weight1=(4, 24), mlp__experts__weight2=(12, 4))
    found = join_ranks(*[fused] * 3, experts=3, expert_model_parallel_size=3, num_experts=6)
    assert found == {"mlp.router.weight": (6, 4), "mlp.experts.weight1": (4, 72), "mlp.experts.weight2": (36, 4)}
    found = join_ranks(*[fused] * 4, experts=2, expert_model_parallel_size=2, num_experts=4, tensor_model_parallel_size=2)
    assert found == {"mlp.router.weight": (6, 4), "mlp.experts.weight1": (4, 96), "mlp.experts.weight2": (48, 4)}


UNEVEN = rank(linear_fc1__weight=(4, 8))
EXPERT = rank(mlp__experts__local_experts__0__w=(4,))


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
        ([UNEVEN] * 2, {"expert_model_parallel_size": 4}, "there are the files of 1, where the training's expert_model_parallel_size is 4"),
        ([EXPERT] * 2, {"experts": 2}, "files of expert-parallel ranks of a training that does not say how many there are: join"),
        ([EXPERT, UNEVEN], {"experts": 2, "expert_model_parallel_size": 2}, "the expert-parallel ranks differ in more than their experts: join"),
        ([EXPERT] * 2, {"experts": 2, "expert_model_parallel_size": 2, "num_experts": 8}, "the ranks hold 2 experts, where the training's num_experts is 8"),
        ([rank(mlp__experts__weight3=(4, 8))] * 2, {"experts": 2, "expert_model_parallel_size": 2}, "it is not known how the experts in mlp.experts.weight3 count on"),
        ([rank(mlp__experts__local_experts__1__w=(4,))] * 2, {"experts": 2, "expert_model_parallel_size": 2}, "the experts of a rank are not numbered from 0: "),
        ([rank(model0__layers__0__norm__weight=(4,))] * 2, {"stages": 2, "virtual_pipeline_model_parallel_size": 2}, "a part of a stage is missing: join"),
        ([UNEVEN] * 2, {"virtual_pipeline_model_parallel_size": 5000}, "a training whose virtual_pipeline_model_parallel_size is 5000: join"),
        ([UNEVEN] * 2, {"expert_tensor_parallel_size": 1, "num_experts": 8}, "a training whose expert_tensor_parallel_size is 1: join them with"),
        ([UNEVEN] * 2, {"virtual_pipeline_model_parallel_size": 2}, "linear_fc1.weight is in none of the 2 parts of its stage: join"),
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
        check_ranks([(0, number, 0) for number in range(1025)])
    with pytest.raises(ReadError, match=r"the file of tensor-parallel rank 0 in pipeline stage 0 with expert-parallel rank 1 is missing"):
        check_ranks([(0, 0, 0), (99, 999, 999)])


def test_patterns_of_strangers_take_no_long_time() -> None:
    name = "1" * 8000 + "x"
    begun = time.process_time()
    with pytest.raises(ReadError):
        join_ranks(*[rank(**{name: (2,)})] * 2, patterns={"tp_replicated_parameter_patterns": [r"\d+\d+\d+$"]})
    join_ranks(*[rank(**{name: (2,)})] * 2, patterns={"tp_replicated_parameter_patterns": [r"\d+1$"] * 100})
    assert time.process_time() - begun < 5
