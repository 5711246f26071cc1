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
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.shards import chunk, cuts, flat_piece
from weighbridge.accounts.parallel.working_memory import _on_one_device, widths_of
from weighbridge.core.errors import UsageError

ROOT = Path(__file__).parents[3]
LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "vocab_size": 50,
}
MOE = {
    "model_type": "mixtral",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 50,
    "num_local_experts": 8,
}
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


def test_experts_are_spread() -> None:
    base = model(MOE, "MixtralForCausalLM")
    whole, found = base.parallel(dp=4).largest, base.parallel(dp=4, ep=4).largest
    assert whole.expert == 4 * found.expert
    assert whole.replicated == found.replicated


def test_only_experts_are_spread() -> None:
    """Jamba's convolutions have three axes like its experts, and every device keeps them whole."""
    config = {
        "model_type": "jamba",
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 50,
        "num_experts": 4,
        "mamba_dt_rank": 3,
    }
    base = model(config, "JambaForCausalLM")
    assert any(len(row.shape) == 3 and ".conv1d." in row.name for row in base.tensors())
    whole, found = base.parallel(dp=4).largest, base.parallel(dp=4, ep=4).largest
    assert whole.elements - found.elements == whole.expert - found.expert == whole.expert * 3 // 4


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"tp": 3}, "tp: 3 does not divide the model's 4 attention heads"),
        ({"tp": 0}, "tp: expected a whole number from 1 to 999,999,999, found 0"),
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
        ({"batch": 0}, "batch: expected a whole number from 1 to 999,999,999, found 0"),
    ],
)
def test_what_does_not_go_together_is_said(given: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(LLAMA, "LlamaForCausalLM").parallel(**given)
    assert str(caught.value) == text


def test_states_of_experts_are_cut_among_the_devices_that_hold_them_alike() -> None:
    """Of eight devices four share the experts, so each expert's states are cut in two and all others in eight."""
    base = model(MOE, "MixtralForCausalLM")
    whole, found = base.parallel(dp=8, ep=4).largest, base.parallel(dp=8, ep=4, zero=1).largest
    each = whole.optimizer // whole.elements
    assert found.optimizer == each * (flat_piece(whole.elements - whole.expert, 8) + flat_piece(whole.expert, 2))


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


def test_a_key_value_head_is_kept_whole_by_several_devices() -> None:
    found = model(
        {"model_type": "mistral", **{key: value for key, value in LLAMA.items() if key != "model_type"}, "num_key_value_heads": 2}
    )
    assert found.parallel(tp=4, seq=64).largest.cache == found.cache(seq=64).bytes // 2


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
    ("optimizer", "dtype", "each"),
    [
        ("adamw", "float32", 8),
        ("adamw", "bfloat16", 12),
        ("momentum", "float32", 4),
        ("sgd", "float32", 0),
        ("sgd", "float16", 4),
        ("lion", "bfloat16", 8),
    ],
)
def test_states_and_master_weights(optimizer: str, dtype: str, each: int) -> None:
    """Four bytes for each state, and for a master weight beside 16 bits (ZeRO, arXiv 1910.02054, section 3.1: 12 bytes of Adam)."""
    base = model(LLAMA, "LlamaForCausalLM")
    assert base.parallel(optimizer=optimizer, dtype=dtype).largest.optimizer == each * base.count().unique


NLLB = {
    "model_type": "nllb-moe",
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "vocab_size": 50,
    "num_experts": 4,
    "encoder_sparse_step": 2,
    "decoder_sparse_step": 2,
}


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
    "how",
    [
        {"tp": 2},
        {"tp": 4, "dp": 2},
        {"dp": 3, "fsdp": True},
        {"dp": 7, "fsdp": True},
        {"tp": 2, "dp": 3, "fsdp": True},
        {"pp": 2, "dp": 5, "fsdp": True},
        {"pp": 5, "tp": 2},
    ],
)
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
    split = Cut(Row("layer.z.weight", (2, 2), "weight", None, None, False), "column", 0)
    for count, ending in ((8, "g, h."), (9, "g, h, ….")):
        first = next(_notes(Part("", ()), [split, *(Cut(row, "whole", None) for row in rows[:count])], Layout(tp=2), None, None))
        assert first.endswith(ending)


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
