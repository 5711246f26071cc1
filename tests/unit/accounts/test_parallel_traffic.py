"""What devices send to each other."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.parallel.traffic import message

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


def test_what_is_sent() -> None:
    found = model(LLAMA, "LlamaForCausalLM").parallel(tp=2, pp=5, dp=3, micro_batches=4, batch=2, seq=16)
    block = 2 * 16 * 24 * 2
    sent = {entry.what: entry.sent for entry in found.messages}
    assert (
        sent["activations of attention and MLP, forward and backward"] == 4 * 4 * block
    )  # one layer a stage, 4 micro-batches, 2 * (2 - 1)/2
    assert sent["activations forward, gradients backward"] == 2 * 4 * block
    assert sent["gradients"] == 2 * 2 * found.largest.parameters // 3


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
