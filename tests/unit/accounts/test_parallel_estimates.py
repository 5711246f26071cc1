"""Published estimates of many devices: DeepSpeed's, Megatron's, and how they stand beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.memory.tape import Row
from weighbridge.accounts.parallel.deepspeed import estimate, largest_module
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.megatron import estimate as of_megatron
from weighbridge.accounts.parallel.working_memory import Widths, _is_cut

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared" / "measured.jsonl"


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


@pytest.mark.parametrize(
    ("module", "call", "cut"),
    [
        ("model.layers.0.self_attn.q_proj", "linear", False),
        ("model.layers.0.self_attn.o_proj", "linear", True),
        ("model.layers.0.self_attn.o_proj", "add", False),
        ("encoder.layer.3.output.dense", "linear", True),
        ("pooler.dense", "linear", False),
        ("", "cross_entropy", True),
    ],
)
def test_what_a_row_parallel_layer_keeps_is_cut_among_the_devices(module: str, call: str, cut: bool) -> None:
    """Its input comes from a column-parallel layer; that of a column-parallel one is whole on each."""
    row = Row(module, call, (2, 16, 64), 8192, 8192)
    assert _is_cut(row, Widths(frozenset({256}), frozenset())) is cut


@pytest.mark.parametrize(("name", "estimated"), [("llama-3.2-1b", False), ("gemma-3-1b", True)])
def test_a_cache_is_an_estimate_only_where_layers_have_windows_and_stand_nowhere(name: str, estimated: bool) -> None:
    notes = model(name).parallel(pp=2, batch=1, seq=64).notes
    assert any(str(note).startswith("Of the cache, the layers with a window are taken to be spread evenly") for note in notes) is estimated
