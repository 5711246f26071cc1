"""Many devices: recorded shards, published estimates, and what does not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from truth.stages import ours
from truth.zero import ours as deepspeed_ours
from weighbridge import model
from weighbridge.accounts.adapters.base import base as base_at
from weighbridge.accounts.adapters.base import facts_of
from weighbridge.accounts.memory.tape import Row
from weighbridge.accounts.parallel.deepspeed import estimate, largest_module
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.megatron import estimate as of_megatron
from weighbridge.accounts.parallel.shards import chunk, cuts, flat_piece
from weighbridge.accounts.parallel.stages import layer_names, share_layers, stage_of
from weighbridge.accounts.parallel.traffic import bubble, message
from weighbridge.accounts.parallel.working import _on_one_device, micro_batches_in_flight, widths_of
from weighbridge.core.errors import UsageError

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared" / "measured.jsonl"
LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "vocab_size": 50,
}
MOE = {"model_type": "mixtral", "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
       "vocab_size": 50, "num_local_experts": 8}  # fmt: skip
RECORDED = json.loads((ROOT / "tests/truth/parallel/cases.json").read_text("utf-8"))
CASES = RECORDED["cases"]

assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['class_name']}-tp{case['tp']}-dp{case['dp']}")
def test_shards_to_the_byte(case: dict[str, Any]) -> None:
    config = {**case["config"], "model_type": case["model_type"]}
    found = model(config, case["class_name"]).parallel(tp=case["tp"], dp=case["dp"], fsdp=case["dp"] > 1, dtype="float32")
    ours = sorted(device.state.parameters for device in found.devices for _ in range(device.alike))
    assert ours == case["bytes"]


@pytest.mark.parametrize("what", ["stages", "experts", "zero1"])
def test_stages_experts_and_whole_tensors_to_the_byte(what: str) -> None:
    """Parameters, gradients and AdamW's states on each of four processes, as torch cuts a pipeline, experts, and hands tensors out."""
    cases = [case for case in json.loads((ROOT / "tests/truth/parallel/stages.json").read_text("utf-8"))["cases"] if case["what"] == what]
    assert len(cases) >= 8
    for case in cases:
        assert ours(case) == case["bytes"], case


ZERO = json.loads((ROOT / "tests/truth/parallel/zero.json").read_text("utf-8"))["cases"]

assert {case["zero"] for case in ZERO} == {1, 2, 3}


@pytest.mark.parametrize("case", ZERO, ids=lambda case: f"{case['class_name']}-{case['zero']}")
def test_what_zero_cuts_flat_is_what_deepspeed_holds(case: dict[str, Any]) -> None:
    """Bytes of parameters, and of master weights and moments, on each of four processes, of DeepSpeed 0.19.8."""
    assert deepspeed_ours(case) == case["bytes"]


@pytest.mark.parametrize(("dp", "ep"), [(8, 1), (8, 2), (12, 4), (16, 8), (24, 2), (40, 8)])
def test_all_pieces_are_the_whole_wherever_devices_are_said_to_be_alike(dp: int, ep: int) -> None:
    """FSDP cuts every tensor into pieces of which none is held twice, experts among those that hold the same ones."""
    weighed = model(MOE)
    devices = weighed.parallel(dp=dp, ep=ep, fsdp=True, dtype="float32").devices
    assert sum(device.alike for device in devices) == dp
    assert sum(device.alike * device.state.parameters for device in devices) == 4 * weighed.count().unique


@pytest.mark.parametrize(
    ("config", "how"),
    [(LLAMA, {"dp": 10**9 - 8, "zero": 1}), (LLAMA, {"dp": 10**9 - 8, "fsdp": True}), (MOE, {"dp": 10**9 - 8, "ep": 8, "fsdp": True})],
)
def test_a_thousand_million_devices_are_not_looked_at_one_by_one(config: dict[str, Any], how: dict[str, Any]) -> None:
    found = model(config).parallel(**how)
    assert sum(device.alike for device in found.devices) == how["dp"]
    assert len(found.devices) < 200


@pytest.mark.parametrize(
    ("config", "how", "text"),
    [
        (LLAMA, {"pp": 999_999_999}, "pp: 999999999 stages, and the model has 5 layers"),
        (MOE, {"dp": 999_999_999, "ep": 999_999_999}, "ep: 999999999 does not divide the model's 8 experts"),
        ({"model_type": "switch_transformers"}, {"dp": 9, "ep": 9}, "ep: 9 does not divide the model's 8 experts"),
    ],
)
def test_more_stages_than_layers_and_more_ways_than_experts_are_refused_at_once(
    config: dict[str, Any], how: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError) as caught:
        model(config).parallel(**how)
    assert str(caught.value) == text


def test_chunks_are_torch_s() -> None:
    assert [chunk(7, 3, rank) for rank in range(3)] == [3, 3, 1]
    assert [chunk(4, 3, rank) for rank in range(3)] == [2, 2, 0]
    assert sum(chunk(100, 7, rank) for rank in range(7)) == 100


def test_one_device_holds_the_whole_model() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    state = base.parallel().largest
    unique = base.count().unique
    assert (state.elements, state.parameters, state.gradients, state.optimizer) == (unique, 2 * unique, 2 * unique, 12 * unique)


@pytest.mark.parametrize(("zero", "parameters", "gradients", "optimizer"), [(0, 1, 1, 1), (1, 1, 1, 4), (2, 1, 4, 4), (3, 4, 4, 4)])
def test_zero_cuts_by_its_stage(zero: int, parameters: int, gradients: int, optimizer: int) -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    whole, found = base.parallel().largest, base.parallel(dp=4, zero=zero).largest
    for part, ways in (("parameters", parameters), ("gradients", gradients), ("optimizer", optimizer)):
        assert 0 <= getattr(found, part) * ways - getattr(whole, part) < 16 * 4 * 60


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


def test_experts_are_spread() -> None:
    base = model(MOE, "MixtralForCausalLM")
    whole, found = base.parallel(dp=4).largest, base.parallel(dp=4, ep=4).largest
    assert whole.expert == 4 * found.expert
    assert whole.replicated == found.replicated


def test_only_experts_are_spread() -> None:
    """Jamba's convolutions have three axes like its experts, and every device keeps them whole."""
    config = {"model_type": "jamba", "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 4, "num_attention_heads": 4,
              "num_key_value_heads": 2, "vocab_size": 50, "num_experts": 4, "mamba_dt_rank": 3}  # fmt: skip
    base = model(config, "JambaForCausalLM")
    assert any(len(row.shape) == 3 and ".conv1d." in row.name for row in base.tensors())
    whole, found = base.parallel(dp=4).largest, base.parallel(dp=4, ep=4).largest
    assert whole.elements - found.elements == whole.expert - found.expert == whole.expert * 3 // 4


def test_interleaved_layers_and_bubbles() -> None:
    assert share_layers(7, 3) == [3, 2, 2]
    assert bubble(Layout(pp=4, micro_batches=8)).share == (9, 33)
    assert bubble(Layout(pp=4, micro_batches=8, schedule="interleaved", chunks=2)).share == (9, 57)
    assert bubble(Layout(pp=4, micro_batches=8, schedule="zero-bubble")).share == (3, 27)
    assert len(layer_names(model({"model_type": "t5"}, "T5ForConditionalGeneration").tree)) == 12


def test_what_is_sent() -> None:
    found = model(LLAMA, "LlamaForCausalLM").parallel(tp=2, pp=5, dp=3, micro_batches=4, batch=2, seq=16)
    block = 2 * 16 * 24 * 2
    sent = {entry.what: entry.sent for entry in found.messages}
    assert (
        sent["activations of attention and MLP, forward and backward"] == 4 * 4 * block
    )  # one layer a stage, 4 micro-batches, 2 * (2 - 1)/2
    assert sent["activations forward, gradients backward"] == 2 * 4 * block
    assert sent["gradients"] == 2 * 2 * found.largest.parameters // 3


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"tp": 3}, "tp: 3 does not divide the model's 4 attention heads"),
        ({"tp": 0}, "tp: expected a whole number from 1 up, found 0"),
        ({"pp": 6}, "pp: 6 stages, and the model has 5 layers"),
        ({"dp": 4, "ep": 3}, "ep: experts are spread over the data-parallel devices, and 3 does not divide dp = 4"),
        ({"dp": 4, "ep": 2}, "ep: this model has no experts"),
        ({"zero": 4}, "zero: expected one of 0, 1, 2, 3, found 4"),
        ({"zero": 1, "fsdp": True}, "zero: FSDP shards everything already; leave one of --zero and --fsdp out"),
        ({"sequence_parallel": True}, "sequence_parallel: needs tensor parallelism, tp of 2 or more"),
        ({"schedule": "gpipe"}, "schedule: expected one of 1f1b, interleaved, zero-bubble, found 'gpipe'"),
        ({"schedule": "zero-bubble"}, "schedule: zero-bubble needs pipeline parallelism, pp of 2 or more"),
        ({"pp": 2, "schedule": "interleaved"}, "chunks: the interleaved schedule has 2 or more on each stage, any other has 1"),
        ({"optimizer": "shampoo"}, "optimizer: expected one of adamw, adam, momentum, lion, sgd, found 'shampoo'"),
        ({"batch": 0}, "batch: expected a whole number from 1 up, found 0"),
    ],
)
def test_what_does_not_go_together_is_said(given: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(LLAMA, "LlamaForCausalLM").parallel(**given)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("zero", "offload", "zero_init", "devices", "nodes", "device", "host"),
    [
        (2, "none", True, 8, 1, 2 + 18 / 8, 4 * 8 * 1.5),
        (2, "none", True, 8, 2, 2 + 18 / 16, 4 * 8 * 1.5),
        (2, "optimizer", True, 2, 1, 2, 16 * 1.5),
        (2, "optimizer", True, 8, 1, 2, 32 * 1.5),
        (2, "optimizer", True, 8, 2, 2, 64 * 1.5),
        (3, "none", True, 6, 3, 4 / 100 + 1, 4 * 6 * 1.5 / 100),
        (3, "none", False, 6, 3, 4 / 100 + 1, 4 * 6 * 1.5),
        (3, "optimizer", True, 4, 2, 4 / 100 + 1 / 4, 16 / 2 * 1.5),
        (3, "optimizer", False, 4, 2, 4 / 100 + 1 / 4, 4 * 4 * 1.5),
        (3, "both", True, 4, 2, 4 / 100, 18 / 2 * 1.5),
        (3, "both", False, 2, 2, 4 / 100, 18 / 2 * 1.5),
    ],
)
def test_deepspeed_s_estimates(zero: int, offload: str, zero_init: bool, devices: int, nodes: int, device: float, host: float) -> None:
    """Bytes a parameter by ``estimate_zero2_model_states_mem_needs`` and ``estimate_zero3_...`` of 0.19.8, a largest layer of a hundredth of all."""
    found = estimate(10**9, 10**7, zero, devices, nodes, offload=offload, zero_init=zero_init)
    assert (found.device, found.host) == (round(device * 10**9), round(host * 10**9))


def test_states_of_experts_are_cut_among_the_devices_that_hold_them_alike() -> None:
    """Of eight devices four share the experts, so each expert's states are cut in two and all others in eight."""
    base = model(MOE, "MixtralForCausalLM")
    whole, found = base.parallel(dp=8, ep=4).largest, base.parallel(dp=8, ep=4, zero=1).largest
    each = whole.optimizer // whole.elements
    assert found.optimizer == each * (flat_piece(whole.elements - whole.expert, 8) + flat_piece(whole.expert, 2))


def test_only_a_pipeline_is_told_how_its_layers_are_shared_out() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    assert not any("stage" in note for note in base.parallel(tp=2).notes)
    assert any("stage" in note for note in base.parallel(pp=2).notes)


PUBLISHED = [
    ("ZeRO-2, 1 node x 8 GPUs, offload_optimizer=none", 2, "none", True),
    ("ZeRO-2, 1 node x 8 GPUs, offload_optimizer=cpu", 2, "optimizer", True),
    ("offload_param=cpu offload_optimizer=cpu zero_init=1", 3, "both", True),
    ("offload_param=none offload_optimizer=cpu zero_init=1", 3, "optimizer", True),
    ("offload_param=none offload_optimizer=none zero_init=1", 3, "none", True),
    ("ZeRO-3, 4 GPUs, no offload", 3, "none", True),
    ("ZeRO-3, 4 GPUs, both offloaded", 3, "both", True),
]


def published_rows() -> list[dict[str, Any]]:
    """Return the published rows on many devices."""
    if not SHARED.exists():
        return []
    return [row for row in map(json.loads, SHARED.read_text("utf-8").splitlines()) if row["group"] == "parallel"]


@pytest.mark.skipif(not SHARED.exists(), reason="shared/measured.jsonl is not here")
@pytest.mark.parametrize("row", published_rows(), ids=lambda row: f"{row['id']}")
def test_deepspeed_s_published_estimates(row: dict[str, Any]) -> None:
    base = model(row["model"], "T5Model")
    _, zero, offload, zero_init = next(entry for entry in PUBLISHED if entry[0] in row["setting"])
    unique = base.count().unique
    assert isinstance(unique, int)
    found = estimate(unique, largest_module(base.tree), zero, 4 if "4 GPUs" in row["setting"] else 8, offload=offload, zero_init=zero_init)
    value = found.host if row["what"] == "ZeRO host memory" else found.documented
    unit = {"GiB": 2**30, "MiB": 2**20}[row["unit"]]
    assert abs(value / unit - row["value"]) <= (0.006 if row["unit"] == "GiB" else 1)


SHARE = {"all-reduce": 2 * 3 / 4, "all-gather": 3 / 4, "reduce-scatter": 3 / 4, "all-to-all": 3 / 4}


@pytest.mark.parametrize(("operation", "share"), SHARE.items())
def test_a_ring_of_four_sends_three_quarters(operation: str, share: float) -> None:
    """Once around for what is gathered or scattered, twice for a sum that all get (Patarasuk and Yuan 2009)."""
    found = message("x", operation, 4, 5, 1000, "")
    assert (found.sent, found.payload, found.times) == (5 * share * 1000, 1000, 5)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"zero": 0}, {"gradients": 2}),
        ({"zero": 1}, {"gradients": 1, "parameters after the step": 1}),
        ({"zero": 2}, {"gradients": 1, "parameters after the step": 1}),
        ({"zero": 3}, {"gradients": 1, "parameters, forward and backward": 2}),
        ({"fsdp": True}, {"gradients": 1, "parameters, forward and backward": 2}),
    ],
)
def test_what_data_parallel_devices_send(how: dict[str, Any], expected: dict[str, int]) -> None:
    """ZeRO (arXiv 1910.02054), section 7: stages 1 and 2 send as much as plain data parallelism, stage 3 half as much again."""
    base = model(LLAMA, "LlamaForCausalLM")
    unique = base.count().unique
    assert isinstance(unique, int)
    whole = 2 * unique
    sent = {entry.what: entry.sent for entry in base.parallel(dp=4, **how).messages}
    assert sent == {what: times * whole * 3 // 4 for what, times in expected.items()}


def test_what_sequence_parallel_and_expert_parallel_devices_send() -> None:
    """Megatron-3: as much as without, in two halves; GShard: every token to its two experts and back, forward and backward."""
    base = model(LLAMA, "LlamaForCausalLM")
    block = 2 * 16 * 24 * 2
    plain = {entry.operation: entry.sent for entry in base.parallel(tp=2, batch=2, seq=16).messages}
    split = {entry.operation: entry.sent for entry in base.parallel(tp=2, batch=2, seq=16, sequence_parallel=True).messages}
    assert plain == {"all-reduce": 4 * 5 * block}
    assert split == {"all-gather": 2 * 5 * block, "reduce-scatter": 2 * 5 * block}
    experts = {entry.operation: entry.sent for entry in model(MOE, "MixtralForCausalLM").parallel(dp=4, ep=4, batch=2, seq=16).messages}
    assert experts["all-to-all"] == 4 * 2 * (2 * block) * 3 // 4
    sent = {
        ep: {entry.operation for entry in model(MOE, "MixtralForCausalLM").parallel(dp=2, ep=ep, batch=2, seq=16).messages} for ep in (1, 2)
    }
    assert sent[2] - sent[1] == {"all-to-all"}


def test_nothing_is_sent_of_activations_where_no_length_is_said() -> None:
    assert {entry.what for entry in model(LLAMA, "LlamaForCausalLM").parallel(tp=2, dp=2).messages} == {"gradients"}


def test_a_key_value_head_on_several_devices_and_what_stays_whole_is_said() -> None:
    grouped = model({**LLAMA, "num_attention_heads": 4, "num_key_value_heads": 1}, "LlamaForCausalLM").parallel(tp=4)
    assert "4 devices keep the same key-value head, whole" in grouped.notes
    paired = model({**LLAMA, "num_attention_heads": 8, "num_key_value_heads": 2}, "LlamaForCausalLM").parallel(tp=8)
    assert "4 devices keep the same key-value head, whole" in paired.notes
    plain = model(LLAMA, "LlamaForCausalLM").parallel(tp=4)
    assert not any("key-value" in note for note in plain.notes)
    for zero, word in ((0, None), (1, "flat list"), (2, "flat list"), (3, "each tensor flat")):
        said = [note for note in model(LLAMA, "LlamaForCausalLM").parallel(dp=2, zero=zero).notes if "ZeRO" in note]
        assert bool(said) == (word is not None) and (word is None or word in said[0])


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


def test_a_key_value_head_is_kept_whole_by_several_devices() -> None:
    found = model(
        {"model_type": "mistral", **{key: value for key, value in LLAMA.items() if key != "model_type"}, "num_key_value_heads": 2}
    )
    assert found.parallel(tp=4, seq=64).largest.cache == found.cache(seq=64).bytes // 2


def test_megatron_s_estimates_are_those_of_its_paper() -> None:
    """Korthikanti et al. 2022, section 5: attention is 80 of 114 for GPT-3 (175B), 64 of 98 for MT-NLG (530B): 70 % and 65 % less."""
    for hidden, heads, layers, saved in ((12_288, 96, 96, 0.70), (20_480, 128, 105, 0.65)):
        layout = Layout(tp=8, sequence_parallel=True)
        none, selective = (
            of_megatron(layout, parameters=0, layers=layers, hidden=hidden, heads=heads, batch=1, seq=2048, checkpointing=how).activations
            for how in ("none", "selective")
        )
        assert round(1 - selective / none, 2) == saved
    mixed = of_megatron(Layout(), parameters=10**9, layers=1, hidden=64, heads=1, batch=1, seq=1)
    assert mixed.states == 18 * 10**9
    assert of_megatron(Layout(dp=4, zero=1), parameters=10**9, layers=1, hidden=64, heads=1, batch=1, seq=1).states == 9 * 10**9


def test_deepspeed_s_estimate_stands_beside_ours() -> None:
    bert = model("bert-base-uncased")
    unique = bert.count().unique
    assert isinstance(unique, int)
    for zero in (2, 3):
        found = bert.parallel(dp=4, zero=zero).deepspeed
        assert found == estimate(unique, largest_module(bert.tree), zero, 4)
    assert bert.parallel(dp=4, zero=1).deepspeed is None
    assert bert.parallel(dp=4, tp=2, zero=2).deepspeed is None


@pytest.mark.parametrize(
    ("model_type", "class_name"),
    [
        ("mixtral", "MixtralForCausalLM"),
        ("gpt_oss", "GptOssForCausalLM"),
        ("qwen3_moe", "Qwen3MoeForCausalLM"),
        ("llama4_text", "Llama4ForCausalLM"),
    ],
)
def test_experts_are_cut_along_their_inner_width_however_they_are_stored(model_type: str, class_name: str) -> None:
    """Mixtral holds [E, 2 I, H] and [E, H, I], gpt-oss and Llama 4 [E, H, 2 I] and [E, I, H]: tensor parallelism cuts I (Megatron-LM, section 3)."""
    inner = {"intermediate_size": 40, "moe_intermediate_size": 40, "intermediate_size_mlp": 56}
    config = {**MOE, **inner, "model_type": model_type, "head_dim": 6, "num_experts": 8, "mlp_only_layers": [], "decoder_sparse_step": 1}
    weighed = model(config, class_name)
    found = [cut for cut in cuts(base_at(weighed.tree, model_type, facts_of(weighed))) if cut.expert and len(cut.row.shape) == 3]
    assert found
    for cut in found:
        assert cut.dim is not None
        assert cut.row.shape[cut.dim] in (40, 80), cut
        assert cut.way == ("row" if "down" in cut.row.name else "column")


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


@pytest.mark.parametrize(("optimizer", "dtype", "each"), [
    ("adamw", "float32", 8), ("adamw", "bfloat16", 12), ("momentum", "float32", 4), ("sgd", "float32", 0), ("sgd", "float16", 4),
    ("lion", "bfloat16", 8),
])  # fmt: skip
def test_states_and_master_weights(optimizer: str, dtype: str, each: int) -> None:
    """Four bytes for each state, and for a master weight beside 16 bits (ZeRO, arXiv 1910.02054, section 3.1: 12 bytes of Adam)."""
    base = model(LLAMA, "LlamaForCausalLM")
    assert base.parallel(optimizer=optimizer, dtype=dtype).largest.optimizer == each * base.count().unique


NLLB = {"model_type": "nllb-moe", "d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 40, "decoder_ffn_dim": 40, "vocab_size": 50, "num_experts": 4, "encoder_sparse_step": 2, "decoder_sparse_step": 2}  # fmt: skip


@pytest.mark.parametrize(("tp", "ep"), [(1, 1), (1, 2), (2, 1), (4, 1)])
def test_experts_that_are_modules_of_their_own_are_cut_as_any_mlp(tp: int, ep: int) -> None:
    """NLLB's experts: fc1 along its outputs, fc2 along its inputs, fc2's bias whole on each; a device has a share of the experts."""
    weighed = model(NLLB, "NllbMoeModel")
    expected = 0
    for row in weighed.tensors():
        if ".expert_" in row.name:
            assert isinstance(row.count, int)
            expected += row.count if row.name.endswith("fc2.bias") else row.count // tp
    assert expected
    assert weighed.parallel(tp=tp, ep=ep, dp=ep).largest.expert == expected // ep


@pytest.mark.parametrize(
    ("how", "checkpointing", "share"),
    [
        ({}, "none", 34 + 5 * 4 * 32 / 64),
        ({}, "selective", 34),
        ({}, "full", 2),
        ({"tp": 2}, "none", 10 + 24 / 2 + 5 * 4 * 32 / (64 * 2)),
        ({"tp": 2}, "selective", 10 + 24 / 2),
        ({"tp": 2}, "full", 2),
        ({"tp": 2, "sequence_parallel": True}, "none", (34 + 5 * 4 * 32 / 64) / 2),
        ({"tp": 2, "sequence_parallel": True}, "selective", 34 / 2),
    ],
)
def test_megatron_s_table_of_activations(how: dict[str, Any], checkpointing: str, share: float) -> None:
    """Korthikanti et al. 2022, table 2: bytes of a layer over s·b·h, with 4 heads, width 64 and 32 tokens; three layers, two examples."""
    found = of_megatron(Layout(**how), parameters=0, layers=3, hidden=64, heads=4, batch=2, seq=32, checkpointing=checkpointing)
    assert found.activations == 3 * share * 32 * 2 * 64


@pytest.mark.parametrize(
    ("how", "layers"),
    [
        ({"pp": 4, "micro_batches": 4}, 12),  # equation 5: the first stage has as many micro-batches under way as there are stages
        ({"pp": 4, "micro_batches": 8}, 12),
        ({"pp": 4, "micro_batches": 2}, 6),
        ({"pp": 4, "micro_batches": 8, "schedule": "interleaved", "chunks": 3}, 12 * (1 + 3 / 12)),
    ],
)
def test_megatron_s_pipelines_keep_the_layers_of_all_that_is_under_way(how: dict[str, Any], layers: float) -> None:
    one = of_megatron(Layout(), parameters=0, layers=1, hidden=64, heads=4, batch=1, seq=32).activations
    assert of_megatron(Layout(**how), parameters=0, layers=12, hidden=64, heads=4, batch=1, seq=32).activations == layers * one


@pytest.mark.parametrize("how", [
    {"tp": 2}, {"tp": 4, "dp": 2}, {"dp": 3, "fsdp": True}, {"dp": 7, "fsdp": True}, {"tp": 2, "dp": 3, "fsdp": True}, {"pp": 2, "dp": 5, "fsdp": True},
    {"pp": 5, "tp": 2},
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_all_devices_together_hold_every_tensor(how: dict[str, Any], dtype: str) -> None:
    """Summed over all devices: what is cut among tensor-parallel ones once, the rest on each of them; once among FSDP's devices, else on each."""
    weighed = model({**LLAMA, "tie_word_embeddings": False}, "LlamaForCausalLM")
    found = weighed.parallel(**how, dtype=dtype)
    layout, size = found.layout, 4 if dtype == "float32" else 2
    whole = sum(row.count for row in weighed.tensors() if len(row.shape) == 1 and isinstance(row.count, int))  # norms
    unique = weighed.count().unique
    assert isinstance(unique, int)
    replicas = 1 if layout.fsdp else layout.dp
    assert layout.devices == layout.tp * layout.pp * layout.dp == sum(device.alike for device in found.devices)
    assert sum(device.state.parameters * device.alike for device in found.devices) == replicas * (unique + (layout.tp - 1) * whole) * size
    for device in found.devices:
        state = device.state
        assert state.total == state.parameters + state.gradients + state.optimizer == state.training
        assert state.elements == state.sharded + state.replicated + state.expert
        assert state.gradients == state.parameters


def test_activations_are_a_part_of_training_and_the_cache_is_not() -> None:
    state = model(LLAMA, "LlamaForCausalLM").parallel(seq=16).largest
    assert state.activations and state.cache
    assert state.training == state.total + state.activations


@pytest.mark.parametrize(
    ("name", "tp", "words"),
    [
        ("bert-base-uncased", 2, "dense, position_embeddings, token_type_embeddings"),
        ("mixtral-8x7b", 2, "gate"),
        ("gpt2", 2, "wpe"),
        ("whisper-tiny", 2, "conv1, conv2, embed_positions"),
        ("gpt2", 1, None),
        ("llama-3.2-1b", 2, None),
    ],
)
def test_matrices_that_stay_whole_are_named(name: str, tp: int, words: str | None) -> None:
    """Position tables, routers, poolers, convolutions: Megatron-LM cuts none of them."""
    notes = [note for note in model(name).parallel(tp=tp).notes if note.startswith("Held whole")]
    assert notes == ([f"Held whole by every tensor-parallel device, beside norms: {words}."] if words else [])


def test_only_eight_names_are_listed() -> None:
    from weighbridge.accounts.parallel.account import _notes
    from weighbridge.accounts.parallel.shards import Cut
    from weighbridge.core.tree import Part, Row

    rows = [Row(f"layer.{letter}.weight", (2, 2), "weight", None, None, False) for letter in "abcdefghi"]
    for count, ending in ((8, "g, h."), (9, "g, h, ….")):
        first = next(_notes(Part("", ()), [Cut(row, "whole", None) for row in rows[:count]], Layout(tp=2), None, None))
        assert first.endswith(ending)


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


def test_a_stage_sends_a_block_for_each_of_its_pieces_cut_along_the_sequence() -> None:
    block = 2 * 16 * 24 * 2
    config = {**LLAMA, "num_hidden_layers": 8}
    for how, sent in (({}, block), ({"sequence_parallel": True, "tp": 2}, block // 2)):
        found = model(config, "LlamaForCausalLM").parallel(
            pp=2,
            micro_batches=4,
            schedule="interleaved",
            chunks=2,
            batch=2,
            seq=16,
            **how,  # type: ignore[arg-type]
        )
        (message,) = [entry for entry in found.messages if entry.operation == "send"]
        assert (message.times, message.payload, message.sent) == (2 * 4 * 2, sent, 16 * sent)
        assert found.bubble is not None
    assert model(config, "LlamaForCausalLM").parallel().bubble is None


def test_experts_of_fsdp_and_of_several_devices_are_whole_together() -> None:
    """Four devices with two groups of experts: each expert's tensors are cut among the two devices that hold it, all others among four."""
    weighed = model(MOE, "MixtralForCausalLM")
    found = weighed.parallel(dp=4, ep=2, fsdp=True, dtype="float32")
    assert sum(device.alike for device in found.devices) == 4
    unique = weighed.count().unique
    expert = sum(row.count for row in weighed.tensors() if len(row.shape) == 3 and isinstance(row.count, int))
    assert isinstance(unique, int)
    # the two groups hold different halves of the experts, so all four devices hold everything once
    assert sum(device.state.parameters * device.alike for device in found.devices) == 4 * unique
    assert {device.state.expert for device in found.devices} == {expert // 2}


def test_experts_that_cannot_be_spread_evenly_are_refused() -> None:
    with pytest.raises(UsageError, match="ep: 3 does not divide the model's 8 experts"):
        model(MOE, "MixtralForCausalLM").parallel(dp=3, ep=3)
    with pytest.raises(UsageError, match="tp: 4 neither divides nor is a multiple of the model's 3 key-value heads"):
        model({**LLAMA, "num_attention_heads": 12, "num_key_value_heads": 3}, "LlamaForCausalLM").parallel(tp=4)
    with pytest.raises(UsageError, match="micro_batches: interleaved needs a multiple of pp = 2, found 3"):
        model(LLAMA, "LlamaForCausalLM").parallel(pp=2, schedule="interleaved", chunks=2, micro_batches=3)


@pytest.mark.parametrize("tp", [2, 4])
def test_biases_of_fused_experts_are_cut_with_their_outputs(tp: int) -> None:
    """gpt-oss: gate_up_proj [E, H, 2 I] and its bias [E, 2 I] along 2 I, down_proj [E, I, H] along I, its bias [E, H] whole."""
    weighed = model({**MOE, "model_type": "gpt_oss", "head_dim": 8}, "GptOssForCausalLM")
    expected = 0
    for row in weighed.tensors():
        if ".experts." in row.name:
            assert isinstance(row.count, int)
            expected += row.count if row.name.endswith("down_proj_bias") else row.count // tp
    assert weighed.parallel(tp=tp).largest.expert == expected


@pytest.mark.parametrize(
    ("name", "row", "column"),
    [("c_attn", None, 1), ("c_fc", None, 1), ("c_proj", 0, None)],
)
def test_layers_that_are_stored_the_other_way_round_are_cut_so(name: str, row: int | None, column: int | None) -> None:
    """GPT-2's weights are [inputs, outputs]: outputs are their second axis, inputs their first; a row-parallel bias is whole."""
    weighed = model("gpt2")
    for cut in cuts(base_at(weighed.tree, "gpt2", facts_of(weighed))):
        if f".0.attn.{name}." in cut.row.name or f".0.mlp.{name}." in cut.row.name:
            weight = cut.row.name.endswith("weight")
            assert cut.dim == ((row if weight else None) if column is None else (column if weight else 0)), cut


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


@pytest.mark.parametrize(("kv_heads", "tp", "ways"), [(2, 2, 2), (2, 4, 2), (1, 4, 1), (4, 4, 4)])
def test_kept_keys_and_values_are_cut_by_their_own_heads(kv_heads: int, tp: int, ways: int) -> None:
    """What attention keeps has [batch, heads, tokens, width]: query heads go round the devices, key-value heads as far as there are any."""
    weighed = model({**LLAMA, "num_key_value_heads": kv_heads}, "LlamaForCausalLM")
    widths, layout = widths_of(weighed.tree), Layout(tp=tp)
    keys, queries = (
        Row("layers.0.self_attn", "sdpa", (2, kv_heads, 16, 6), 960, 960),
        Row("layers.0.self_attn", "sdpa", (2, 4, 16, 6), 960, 960),
    )
    assert _on_one_device(keys, widths, layout, 2, 16) == 960 // (ways if kv_heads < 4 else tp)
    assert _on_one_device(queries, widths, layout, 2, 16) == 960 // tp


@pytest.mark.parametrize("dp", [2, 3])
def test_a_scalar_is_on_one_device_of_fsdp(dp: int) -> None:
    """CLIP's ``logit_scale`` has no dimension to cut: all devices together still hold every tensor once."""
    clip = model({"model_type": "clip", "text_config": {"num_hidden_layers": 1}, "vision_config": {"num_hidden_layers": 1}})
    assert [row.name for row in clip.tensors() if not row.shape and row.role != "buffer"] == ["logit_scale"]
    found = clip.parallel(dp=dp, fsdp=True, dtype="float32")
    assert sum(device.state.parameters * device.alike for device in found.devices) == 4 * clip.count().unique


@pytest.mark.parametrize("how", [{}, {"tp": 2}, {"tp": 2, "sequence_parallel": True}, {"tp": 4, "sequence_parallel": True, "pp": 2}])
def test_every_example_keeps_as_much_on_every_device(how: dict[str, Any]) -> None:
    """What one example keeps, several keep as often, cut among devices or not; a sequence cut in two keeps half of what has tokens."""
    one, three = (model(LLAMA, "LlamaForCausalLM").parallel(batch=batch, seq=48, **how) for batch in (1, 3))
    for few, many in zip(one.devices, three.devices, strict=True):
        assert few.state.activations and many.state.activations
        assert many.state.activations == pytest.approx(3 * few.state.activations, rel=2e-2)  # cosines and sines are kept once
        assert few.state.cache and many.state.cache == 3 * few.state.cache
