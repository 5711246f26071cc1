"""Many devices: recorded shards, published estimates, and what does not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.adapters.base import base as base_at
from weighbridge.accounts.adapters.base import facts_of
from weighbridge.accounts.parallel.deepspeed import estimate, largest_module
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.megatron import estimate as of_megatron
from weighbridge.accounts.parallel.shards import chunk, cuts
from weighbridge.accounts.parallel.stages import layer_names, share_layers, stage_of
from weighbridge.accounts.parallel.traffic import bubble, message
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
        (2, "none", True, 8, 1, 4 + 2, 4 * 8 * 1.5),
        (2, "none", True, 8, 2, 4 + 1, 4 * 8 * 1.5),
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
    """Bytes a parameter by ``estimate_zero2_model_states_mem_needs`` and ``estimate_zero3_...``, a largest layer of a hundredth of all."""
    found = estimate(10**9, 10**7, zero, devices, nodes, offload=offload, zero_init=zero_init)
    assert (found.device, found.host) == (round(device * 10**9), round(host * 10**9))


def test_states_of_experts_are_cut_among_the_devices_that_hold_them_alike() -> None:
    """Of eight devices four share the experts, so each expert's states are cut in two and all others in eight."""
    base = model(MOE, "MixtralForCausalLM")
    whole, found = base.parallel(dp=8, ep=4).largest, base.parallel(dp=8, ep=4, zero=1).largest
    each = whole.optimizer // whole.elements
    assert found.optimizer == each * (-(-(whole.elements - whole.expert) // 8) + -(-whole.expert // 2))


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


def published() -> list[dict[str, Any]]:
    """Return the published rows on many devices."""
    if not SHARED.exists():
        return []
    return [row for row in map(json.loads, SHARED.read_text("utf-8").splitlines()) if row["group"] == "parallel"]


@pytest.mark.skipif(not SHARED.exists(), reason="shared/measured.jsonl is not here")
@pytest.mark.parametrize("row", published(), ids=lambda row: f"{row['id']}")
def test_deepspeed_s_published_estimates(row: dict[str, Any]) -> None:
    base = model(row["model"], "T5Model")
    _, zero, offload, zero_init = next(entry for entry in PUBLISHED if entry[0] in row["setting"])
    unique = base.count().unique
    assert isinstance(unique, int)
    found = estimate(unique, largest_module(base.tree), zero, 4 if "4 GPUs" in row["setting"] else 8, offload=offload, zero_init=zero_init)
    value = found.host if row["what"] == "ZeRO host memory" else found.device
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
