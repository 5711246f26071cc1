"""Pipelines: which layers stand on which stage, and what each stage keeps of the micro-batches in flight."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.stages import layer_names, share_layers, stage_of
from weighbridge.accounts.parallel.traffic import bubble
from weighbridge.accounts.parallel.working_memory import micro_batches_in_flight

LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "vocab_size": 50,
}


def test_devices_of_all_stages_hold_the_model_once() -> None:
    base = model({**LLAMA, "tie_word_embeddings": False}, "LlamaForCausalLM")
    found = base.parallel(tp=2, pp=3, dtype="float32")
    assert found.layers == (2, 2, 1)
    assert sum(device.alike for device in found.devices) == 6
    pieces = sum((device.state.sharded + device.state.replicated / 2) * device.alike for device in found.devices)
    assert pieces == base.count().unique


def test_a_tied_table_stands_on_the_first_and_the_last_stage() -> None:
    base = model({**LLAMA, "tie_word_embeddings": True}, "LlamaForCausalLM")
    found = base.parallel(pp=2, dtype="float32")
    assert sum(device.state.elements for device in found.devices) == base.count().unique + 50 * 24


def test_interleaved_layers_and_bubbles() -> None:
    assert share_layers(7, 3) == [3, 2, 2]
    assert bubble(Layout(pp=4, micro_batches=8)).share == (9, 33)
    assert bubble(Layout(pp=4, micro_batches=8, schedule="interleaved", chunks=2)).share == (9, 57)
    assert bubble(Layout(pp=4, micro_batches=8, schedule="zero-bubble")).share == (3, 27)
    assert len(layer_names(model({"model_type": "t5"}, "T5ForConditionalGeneration").tree)) == 12


def test_only_a_pipeline_is_told_how_its_layers_are_shared_out() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    assert not any("stage" in note for note in base.parallel(tp=2).notes)
    assert any("stage" in note for note in base.parallel(pp=2).notes)


WORKED = ["llama-3.2-1b", "gpt2", "bert-tiny", "t5-small", "gemma-2-2b", "mixtral-8x7b"]


@pytest.mark.parametrize("name", WORKED)
def test_stages_hold_the_activations_and_the_cache_of_one_device_together(name: str) -> None:
    found = model(name)
    whole = found.parallel(seq=64, batch=2).largest
    kept = found.memory(training=True, batch=2, seq=64, dtype="bfloat16", device="cuda", attention="sdpa", loss=True, dropout=True)
    assert whole.activations == kept.activations
    assert whole.cache == found.cache(batch=2, seq=64).bytes
    staged = found.parallel(pp=2, seq=64, batch=2)
    assert sum(device.state.activations or 0 for device in staged.devices) == whole.activations
    assert (
        abs(sum(device.state.cache or 0 for device in staged.devices) - (whole.cache or 0)) <= 1
    )  # spread evenly, where layers are of two kinds
    cut = found.parallel(tp=2, seq=64, batch=2).largest
    along = found.parallel(tp=2, seq=64, batch=2, sequence_parallel=True).largest
    assert cut.activations is not None and along.activations is not None
    assert whole.activations > cut.activations > along.activations >= whole.activations // 2


def test_a_stage_keeps_as_many_micro_batches_as_its_schedule_has_under_way() -> None:
    found = model("llama-3.2-1b")
    once = [device.state.activations or 0 for device in found.parallel(pp=4, seq=64).devices]
    often = [device.state.activations or 0 for device in found.parallel(pp=4, seq=64, micro_batches=8).devices]
    assert often == [4 * once[0], 3 * once[1], 2 * once[2], once[3]]
    assert once[1] == once[2] < once[3]  # the logits stand on the last stage


@pytest.mark.parametrize(
    ("layers", "stages", "chunks", "expected"),
    [(7, 3, 1, "0001122"), (5, 5, 1, "01234"), (8, 2, 2, "00110011"), (7, 2, 3, "0010101"), (4, 1, 1, "0000")],
)
def test_every_layer_stands_on_one_stage(layers: int, stages: int, chunks: int, expected: str) -> None:
    """Earlier pieces take what is over; interleaved, the pieces go round the stages (Narayanan et al. 2021, figure 4)."""
    names = [f"model.layers.{index}" for index in range(layers)]
    tensors = ["model.embed_tokens.weight", *(f"{name}.mlp.weight" for name in names), "lm_head.weight"]
    found = stage_of(tensors, names, stages, chunks)
    assert "".join(str(found[f"{name}.mlp.weight"]) for name in names) == expected
    assert (found[tensors[0]], found[tensors[-1]]) == (0, stages - 1)


def test_activations_are_a_part_of_training_and_the_cache_is_not() -> None:
    state = model(LLAMA, "LlamaForCausalLM").parallel(seq=16).largest
    assert state.activations and state.cache
    assert state.training == state.total + state.activations


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (Layout(pp=4, micro_batches=8, schedule="interleaved", chunks=2), [11, 9, 7, 5]),
        (Layout(pp=2, micro_batches=4, schedule="interleaved", chunks=3), [7, 5]),
        (Layout(pp=2, micro_batches=2, schedule="interleaved", chunks=2), [4, 3]),  # no more pieces than there are
    ],
)
def test_pieces_under_way_when_interleaved(layout: Layout, expected: list[int]) -> None:
    """Megatron-LM, core/pipeline_parallel/schedules.py: warm-up of (p - s - 1) * 2 + (v - 1) * p pieces, and the one at work."""
    assert micro_batches_in_flight(layout) == tuple((pieces, layout.chunks) for pieces in expected)


def test_stages_in_the_middle_hold_the_activations_of_their_own_layers() -> None:
    """T5's six layers and six: the second of six stages has two of the encoder, the fifth two of the decoder, and nothing else."""
    sizes = {"model_type": "t5", "d_model": 64, "d_kv": 16, "num_heads": 4, "d_ff": 96, "vocab_size": 100}

    def kept(layers: int, decoder: int) -> int:
        weighed = model({**sizes, "num_layers": layers, "num_decoder_layers": decoder}, "T5ForConditionalGeneration")
        found = weighed.memory(training=True, batch=2, seq=16, dtype="bfloat16", device="cuda", attention="sdpa", loss=True, dropout=True)
        assert found.activations is not None
        return found.activations

    weighed = model({**sizes, "num_layers": 6, "num_decoder_layers": 6}, "T5ForConditionalGeneration")
    stages = [device.state.activations for device in weighed.parallel(pp=6, batch=2, seq=16).devices]
    assert stages[1] == stages[2] == 2 * (kept(7, 6) - kept(6, 6))
    assert stages[4] == 2 * (kept(6, 7) - kept(6, 6))
    assert sum(stage or 0 for stage in stages) == kept(6, 6)


@pytest.mark.parametrize("how", [{}, {"tp": 2}, {"tp": 2, "sequence_parallel": True}, {"tp": 4, "sequence_parallel": True, "pp": 2}])
def test_every_example_keeps_as_much_on_every_device(how: dict[str, Any]) -> None:
    """What one example keeps, several keep as often, cut among devices or not; a sequence cut in two keeps half of what has tokens."""
    one, three = (model(LLAMA, "LlamaForCausalLM").parallel(batch=batch, seq=48, **how) for batch in (1, 3))
    for few, many in zip(one.devices, three.devices, strict=True):
        assert few.state.activations and many.state.activations
        assert many.state.activations == pytest.approx(3 * few.state.activations, rel=2e-2)  # cosines and sines are kept once
        assert few.state.cache and many.state.cache == 3 * few.state.cache
