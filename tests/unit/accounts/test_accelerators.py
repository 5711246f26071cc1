"""Accelerators by name, and times that cannot be beaten on them."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.accounts.fits.accelerators import ACCELERATORS, GIB, accelerator
from weighbridge.accounts.fits.account import device_memory
from weighbridge.accounts.fits.roofline import roofline_bounds
from weighbridge.core.errors import UsageError


def test_every_accelerator_has_memory_bandwidth_a_peak_and_a_source() -> None:
    assert len(ACCELERATORS) >= 40
    for device in ACCELERATORS.values():
        assert device.memory >= 8 * GIB
        assert 10**11 < device.bandwidth < 10**13
        assert device.peaks["bfloat16"] > 10**13
        assert device.source
        peaks = [device.peaks[name] for name in ("float32", "bfloat16", "fp8") if name in device.peaks]
        assert peaks == sorted(peaks), device.name


def test_bounds_are_below_what_is_published() -> None:
    """An A100 decodes Llama-3-8B in 16 bits at no more than its bandwidth allows; the step's arithmetic at its peak."""
    found = model("llama-3-8b").fits("a100-80g", seq=128)
    times = {bound.what: bound.microseconds for bound in found.bounds}
    assert times["each further token: weights in 16 bits and the cache, read once"] == (
        2 * (8_030_261_248 - 128_256 * 4096) + 128 * 131_072
    ) * 10**6 // (2039 * 10**9)
    assert all(bound.microseconds > 0 for bound in found.bounds)


def test_a_device_by_name() -> None:
    assert device_memory("A100-80G", None)[1] == accelerator("a100-80g").memory == 80 * GIB


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("a100-80gb", "a100-80g"),
        ("A100 80GB", "a100-80g"),
        ("NVIDIA A100-SXM4-80GB", "a100-80g"),
        ("a100_80_gib", "a100-80g"),
        ("NVIDIA A100 80GB PCIe", "a100-80g-pcie"),
        ("H100-80GB-SXM", "h100-80g"),
        ("NVIDIA H100 80GB HBM3", "h100-80g"),
        ("Tesla V100-SXM2-32GB", "v100-32g"),
        ("Tesla T4", "t4"),
        ("L4 24GB", "l4"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("AMD Instinct MI300X", "mi300x"),
        ("TPU v5e", "tpu-v5e"),
        ("NVIDIA GB200", "gb200"),
    ],
)
def test_a_device_as_drivers_and_people_spell_it(name: str, meant: str) -> None:
    assert accelerator(name).name == meant


def test_every_device_is_known_by_its_name_in_other_letters() -> None:
    for name in ACCELERATORS:
        assert accelerator(name.upper().replace("-", " ")).name == accelerator(name.replace("-", "_")).name == name


@pytest.mark.parametrize(
    "name", ["", " ", "80GB", "gb", "a100", "h100", "a10-80gb", "L40 SXM", "L4 80GB", "a100-40gb-80gb", "a100" * 1000, "a100-80gb-turbo"]
)
def test_what_means_no_device_or_several_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="device: no "):
        accelerator(name)


PUBLISHED = """
a30 24 933 165 aiconfigurator-core
a100-80g 80 2039 312 aiconfigurator-core
a100-80g-pcie 80 1935 312 aiconfigurator-core
l4 24 300 121 aiconfigurator-core
l40s 45 864 362.05 aiconfigurator-core
h100-80g 80 3350 989 aiconfigurator-core
h100-80g-pcie 80 2000 756.5 aiconfigurator-core
h200 141 4800 989 aiconfigurator-core
b200 180 7700 2250 aiconfigurator-core
b300 268 7750 2250 aiconfigurator-core
gb200 185 8000 2500 aiconfigurator-core
gb300 277 8000 2500 aiconfigurator-core
arc-pro-b60 24 456 98.304 aiconfigurator-core
v100-32g 32 900 125 llm-analysis
rtx-a6000 48 768 154.8 llm-analysis
a100-40g 40 1555 312 llm-analysis
mi100 32 1228.8 184.6 llm-analysis
mi210 64 1638 181 llm-analysis
mi250 128 3200 362.1 llm-analysis
mi250x 128 3200 383 llm-analysis
gh200-144g 144 4900 989.5 genz-llm
mi300x 192 5300 1307 genz-llm
mi325x 256 6000 1307 genz-llm
tpu-v4 32 1228 275 genz-llm
tpu-v5p 95 2765 459 genz-llm
gaudi3 128 3675 1835 genz-llm
a40 45 696 150 vidur
l40 48 864 181 vidur
tpu-v5e 16 819 197 Google
tpu-v6e 32 1640 918 Google
"""
"""GiB, GB/s and TFLOPS in 16 bits as those tables print them, whole (GenZ prints the sparse peak of GH200, halved here; of A40 vidur prints what a driver shows)."""


def test_devices_are_those_of_the_tables_that_are_said_to_confirm_them() -> None:
    rows = [line.split(None, 4) for line in PUBLISHED.strip().splitlines()]
    assert {row[0] for row in rows} == {name for name, device in ACCELERATORS.items() if device.confirmed}
    for name, memory, bandwidth, peak, table in rows:
        device = ACCELERATORS[name]
        assert device.confirmed.startswith(table)
        assert float(memory) <= device.memory / GIB <= float(memory) * 1.07
        assert float(bandwidth) * 0.999 <= device.bandwidth / 1e9 <= float(bandwidth) * 1.05
        assert abs(device.peaks["bfloat16"] / 1e12 - float(peak)) <= 0.005 * float(peak)


@pytest.mark.parametrize(
    ("name", "purpose", "flops"),
    [
        # two for each element of a matrix: serving leaves a head of its own out, training takes three passes, an adapter's two
        ("llama-3-8b", "serving", 2 * (8_030_261_248 - 2 * 128_256 * 4096 - 65 * 4096)),
        ("llama-3-8b", "training", 3 * 2 * (8_030_261_248 - 128_256 * 4096 - 65 * 4096)),
        ("llama-3-8b", "lora", 2 * 2 * (8_030_261_248 - 128_256 * 4096 - 65 * 4096)),
        ("llama-3.2-1b", "serving", 2 * (1_235_814_400 - 128_256 * 2048 - 33 * 2048)),
    ],
)
def test_the_least_arithmetic_is_that_of_the_matrices(name: str, purpose: str, flops: int) -> None:
    device = accelerator("a100-80g")
    (bound, *_) = model(name).fits("a100-80g", purpose=purpose, batch=2, seq=64).bounds
    assert bound.formula == f"{flops * 2 * 64:,} FLOPs / {device.peaks['bfloat16']:,}/s"
    assert bound.microseconds == flops * 2 * 64 * 10**6 // device.peaks["bfloat16"]


def test_packed_weights_may_be_multiplied_faster_by_as_much_as_they_are_narrower() -> None:
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100}
    packed = {**config, "quantization_config": {"quant_method": "gptq", "bits": 4}}
    plain, faster = (model(each, "LlamaForCausalLM").fits("a100-80g", batch=2, seq=64).bounds[0] for each in (config, packed))
    assert plain.formula.endswith(f" / {312 * 10**12:,}/s")
    assert faster.formula.endswith(f" / {4 * 312 * 10**12:,}/s"), "an A100 has no peak of its own for 4 bits"


def test_a_tied_table_is_read_for_every_token_as_it_is_the_head() -> None:
    found = model("llama-3.2-1b").fits("a100-80g", seq=128)
    assert found.bounds[-1].formula.startswith(f"{2 * 1_235_814_400 + 128 * 32_768:,} bytes / ")


def test_models_without_tokens_have_no_such_bounds() -> None:
    assert model("resnet-50").fits("a100-80g").bounds == ()
    assert len(model("t5-small").fits("a100-80g", seq=64).bounds) == 1, "what it reads for a token, but not the prompt's arithmetic"


def test_a_device_that_nobody_knows_is_answered_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="did you mean a100-80g"):
        accelerator("a100-80")
    with pytest.raises(UsageError, match="did you mean v100-16g or v100-32g"):
        accelerator("Tesla V100")
    with pytest.raises(UsageError, match=r"known: .*a100-80g, .*h100-80g"):
        accelerator("xyzzy")
    assert device_memory(None, 1.5, 0.25)[1:] == (3 * GIB // 2, GIB // 4)


def test_weights_and_a_cache_of_eight_bits_are_a_byte_each() -> None:
    bounds = roofline_bounds(model("llama-3-8b"), accelerator("a100-80g"), 1, 128, "int8", "serving")
    read = 8_030_261_248 - 128_256 * 4096 + 128 * 65_536
    assert [bound.formula for bound in bounds] == [f"{read:,} bytes / {2039 * 10**9:,}/s"]
