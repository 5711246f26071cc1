"""What fits a device: the largest sizes are the largest, measures only help, bounds are bounds."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge import model
from weighbridge.accounts.adapters.activations import adapter_activations
from weighbridge.accounts.adapters.source import adapter_config
from weighbridge.accounts.fits.accelerators import GIB
from weighbridge.accounts.fits.account import PURPOSES, _largest_size, fits_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import settings
from weighbridge.core.errors import UsageError
from weighbridge.documents.fits import document
from weighbridge.documents.fits_derivation import derivation
from weighbridge.documents.renderers import render

SMALL = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "vocab_size": 500,
}


@pytest.mark.parametrize("limit", [0, 3, 99, 10**4, 123_456_789])
@pytest.mark.parametrize("need", [lambda n: 5 + 3 * n, lambda n: n * n, lambda n: -(-n // 16) * 16 * 7, lambda n: n if n < 900 else None])
def test_the_largest_is_the_largest(need: Any, limit: int) -> None:
    found = _largest_size(need, limit, 10**4)
    fitting = [size for size in range(1, 10**4) if (value := need(size)) is not None and value <= limit]
    assert found == max(fitting, default=0)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(0, 300), st.data())
def test_the_largest_of_any_needs_that_never_fall(steps: list[int], limit: int, data: st.DataObject) -> None:
    needs = list(accumulate(steps))
    start = data.draw(st.integers(1, len(needs) - 1))
    assert _largest_size(lambda size: needs[size - 1], limit, len(needs), start) == max(
        (n for n in range(1, len(needs)) if needs[n - 1] <= limit), default=0
    )


def test_what_grows_evenly_is_asked_for_two_sizes_more_than_are_known_already() -> None:
    asked: list[int] = []

    def need(size: int) -> int:
        asked.append(size)
        return 7 + 3 * size

    assert _largest_size(need, 3_000, 1 << 20, 2048) == 997
    assert set(asked) == {1, 2048, 997, 998}
    asked.clear()
    assert _largest_size(need, 30_000, 1 << 20, 2048) == 9997
    assert set(asked) == {2048, 2049, 9997, 9998}


@pytest.mark.parametrize("purpose", PURPOSES)
def test_one_more_does_not_fit(purpose: str) -> None:
    base = model(SMALL, "LlamaForCausalLM")
    found = base.fits(gib=1.5, purpose=purpose, seq=64)
    assert found.chosen is found.ways[0]
    way = found.ways[0]
    assert way.batch
    assert way.seq
    assert base.fits(gib=1.5, purpose=purpose, batch=way.batch, seq=64).ways[0].fits
    assert not base.fits(gib=1.5, purpose=purpose, batch=way.batch + 1, seq=64).ways[0].fits
    assert base.fits(gib=1.5, purpose=purpose, seq=way.seq).ways[0].fits
    assert not base.fits(gib=1.5, purpose=purpose, seq=way.seq + 1).ways[0].fits


@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_a_way_holds_adds_up_to_what_it_needs(purpose: str) -> None:
    base = model(SMALL, "LlamaForCausalLM")
    found = base.fits(gib=1.5, purpose=purpose, seq=64)
    for way in found.ways:
        assert sum(term.bytes for term in way.terms) == way.bytes
        assert way.terms[-1].bytes == found.overhead
    derived = render(document(base, found, derive=derivation), "text")
    assert all(f"{term.bytes:,}" in derived for way in found.ways for term in way.terms)
    assert derived.count("it fits.") == sum(way.fits for way in found.ways)


def test_measures_help() -> None:
    ways = model("llama-3-8b").fits("a100-80g", purpose="training").ways
    assert not ways[0].fits
    needs = [way.bytes for way in ways]
    assert needs[:6] == sorted(needs[:6], reverse=True)
    lora = model("llama-3-8b").fits("a100-80g", purpose="lora")
    assert lora.chosen is lora.ways[0]


def test_serving_is_weights_and_cache_and_what_is_kept_back() -> None:
    base = model("llama-3.2-1b")
    way = base.fits(gib=24, batch=3, seq=1000).ways[0]
    assert (
        way.bytes
        == base.memory(dtype="bfloat16").weights + base.memory(dtype="bfloat16").buffers + base.cache(batch=3, seq=1000).bytes + GIB
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"device": "a1000"}, "device: no 'a1000'"),
        ({}, "device: say one of --device and --gib"),
        ({"device": "t4", "gib": 3}, "device: say one of --device and --gib"),
        ({"gib": 24, "purpose": "quizzes"}, "for: expected one of serving, training, lora, found 'quizzes'"),
        ({"gib": 24, "batch": 0}, "batch: expected a whole number from 1 to 999,999,999, found 0"),
        ({"gib": 24, "dtype": "int3"}, "dtype: expected one of float32, float16, bfloat16, found 'int3'"),
        ({"gib": 0.5}, "gib: 0.5 GiB leave nothing beside the 1 GiB that are reserved for the engine"),
        ({"gib": 0.001}, "gib: 0.001 GiB leave nothing beside the 1 GiB that are reserved for the engine"),
        ({"gib": -1}, "gib: expected a number of GiB from 0 to 1,048,575, found -1"),
        ({"gib": True}, "gib: expected a number of GiB from 0 to 1,048,575, found True"),
        ({"gib": 24, "overhead": None}, "overhead: expected a number of GiB from 0 to 1,048,575, found None"),
        ({"device": 3}, "device: expected a name, such as a100-80g, found 3"),
    ],
)
def test_what_cannot_be_meant_is_said(given: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(SMALL, "LlamaForCausalLM").fits(**given)
    assert text in str(caught.value)


def test_longer_than_its_positions_is_refused() -> None:
    with pytest.raises(UsageError, match="takes no 600 tokens"):
        model("bert-base-uncased").fits(gib=24, seq=600)


def test_each_way_to_train_saves_what_it_says() -> None:
    """Of P parameters in 16 bits AdamW's states and master weights are 12 P bytes, gradients and weights 2 P each; ZeRO cuts one after the other."""
    base = model("llama-3-8b")
    unique = base.count().unique
    assert isinstance(unique, int)
    found = {way.measure: way.bytes for way in base.fits("a100-80g", purpose="training").ways}
    plain, full, eight, first, second, third, host = found.values()
    steps = 8192  # a counter of each tensor, which stays where its states are
    assert 0 <= full - first - 12 * unique * 7 // 8 + steps < 2 * steps
    assert first - second == second - third == 2 * unique * 7 // 8
    assert 0 <= full - host - 12 * unique + steps < 2 * steps
    assert 5 * unique < full - eight < 6 * unique
    assert plain > full


def test_no_batch_beyond_a_million_is_looked_for() -> None:
    """Fewer than 1,048,576 examples; of tokens 64 times as many, unless the model's positions end before."""
    way = model({**SMALL, "max_position_embeddings": 10**12}, "LlamaForCausalLM").fits(gib=10**5, seq=1).ways[0]
    assert (way.batch, way.seq) == (2**20 - 1, 2**26 - 1)
    assert model({**SMALL, "max_position_embeddings": 2048}, "LlamaForCausalLM").fits(gib=10**5, seq=1).ways[0].seq == 2048


@pytest.mark.parametrize(("purpose", "word"), [("serving", "workspaces"), ("training", ""), ("lora", "")])
def test_notes_are_of_their_purpose(purpose: str, word: str) -> None:
    notes = model({**SMALL, "max_position_embeddings": 2048}, "LlamaForCausalLM").fits(gib=24, purpose=purpose).notes
    assert len(notes) == bool(word)
    assert all(word in note for note in notes)


def test_what_fits_to_the_byte_fits_and_with_one_less_it_does_not() -> None:
    base = model(SMALL, "LlamaForCausalLM")
    for purpose in PURPOSES:
        for index, way in enumerate(base.fits(gib=8, purpose=purpose, seq=64).ways):
            assert fits_of(base, way.bytes, purpose, seq=64).ways[index].fits, way
            assert not fits_of(base, way.bytes - 1, purpose, seq=64).ways[index].fits, way


@pytest.mark.parametrize(("dtype", "bits"), [("float32", 32), ("float16", 16), ("bfloat16", 16)])
def test_ways_to_serve_say_what_they_are_and_halve_what_they_say(dtype: str, bits: int) -> None:
    base = model("llama-3.2-1b")
    plain, eight, four, both = base.fits(gib=24, dtype=dtype, seq=1000).ways
    assert [way.measure for way in (plain, eight, four, both)] == [
        f"weights in {bits} bits",
        "weights in 8 bits",
        "weights in 4 bits",
        "weights in 4 bits, cache in 8 bits",
    ]
    assert [way.trust for way in (plain, eight, four, both)] == ["bound", "estimate", "estimate", "estimate"]
    cache = base.cache(seq=1000, dtype=dtype).bytes
    for way, scheme in ((plain, None), (eight, "bnb-8bit"), (four, "bnb-4bit")):
        held = base.memory(dtype=dtype, quantization=scheme)
        assert way.bytes == held.weights + held.buffers + cache + GIB
    assert four.bytes - both.bytes == cache - base.cache(seq=1000).bytes // 2


PUBLISHED_SCHEMES = (
    ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "bnb-4bit-double", 4),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bnb-8bit", 8),
    ({"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}, "fp8-block", 8),
    ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "gptq-4bit", 4),
)
PUBLISHED_BASE = {**SMALL, "hidden_size": 256, "intermediate_size": 512, "dtype": "bfloat16"}


@pytest.mark.parametrize(("said", "scheme", "bits"), PUBLISHED_SCHEMES, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("purpose", ["serving", "lora"])
def test_weights_as_published_come_first(said: dict[str, Any], scheme: str, bits: int, purpose: str) -> None:
    base = model({**PUBLISHED_BASE, "quantization_config": said}, "LlamaForCausalLM")
    way = base.fits(gib=4, purpose=purpose, seq=64).ways[0]
    assert "weights as published (" in way.measure
    packed = base.memory(dtype="bfloat16", quantization=scheme)
    rest = way.bytes - GIB - packed.weights - packed.buffers
    if purpose == "serving":
        assert rest == base.cache(seq=64).bytes
        needs = [other.bytes for other in base.fits(gib=4, seq=64).ways]
        assert needs == sorted(needs, reverse=True), "what needs no less than the way before it is no measure"
        read = base.fits("a100-80g", seq=64).bounds[-1].formula
        whole = model(PUBLISHED_BASE, "LlamaForCausalLM").fits("a100-80g", seq=64).bounds[-1].formula
        cache = base.cache(seq=64).bytes
        assert (int(whole.partition(" ")[0].replace(",", "")) - cache) * bits == (int(read.partition(" ")[0].replace(",", "")) - cache) * 16


def test_a_quantization_without_a_scheme_is_told() -> None:
    base = model({**PUBLISHED_BASE, "quantization_config": {"quant_method": "gptq", "bits": 3, "group_size": 64}}, "LlamaForCausalLM")
    found = base.fits(gib=4, seq=64)
    assert found.ways[0].measure == "weights in 16 bits"
    assert found.notes[0] == "The published file is quantized (gptq, 3 bits, groups of 64); how many bytes it has is not worked out here."


def test_where_activations_of_an_adapter_are_not_worked_out_those_of_full_training_are_taken() -> None:
    """ALBERT runs one layer many times."""
    base = model("albert-base-v2")
    found = base.fits(gib=16, purpose="lora", seq=128)
    how: dict[str, Any] = {"dtype": "bfloat16", "device": "cuda", "attention": "sdpa", "loss": True, "dropout": True}
    whole = base.memory(training=True, seq=128, **how).activations
    assert next(term.whole for term in found.ways[0].terms if term.what == "activations") == whole
    assert any("as in full training" in note for note in found.notes)


def states_of(base: Any, purpose: str, index: int, seq: int) -> Any:
    """Return what a way needs for a batch and a length, added up from the public answers."""
    if purpose == "serving":
        schemes = (None, "bnb-8bit", "bnb-4bit", "bnb-4bit")
        held = base.memory(dtype="bfloat16", quantization=schemes[index])
        return lambda batch, seq: held.weights + held.buffers + (base.cache(batch=batch, seq=seq).bytes // (2 if index == 3 else 1))
    if purpose == "lora":
        held = base.memory(dtype="bfloat16", quantization=(None, "bnb-8bit", "bnb-4bit")[index // 2])
        costs = base.adapter_costs("lora:r=16,target_modules=all-linear", dtype="bfloat16")
        fixed = held.weights + held.buffers + costs.adapter + costs.gradients + costs.optimizer
        checkpointing = ("none", "full")[index % 2]
        run = settings(dtype="bfloat16", device="cuda", attention="sdpa", loss=True, dropout=True, checkpointing=checkpointing)
        config = adapter_config("lora:r=16,target_modules=all-linear")
        adapter = base.adapters(config, dtype="bfloat16")

        def keep(batch: int, seq: int) -> int:
            kept = adapter_activations(base, config, adapter, Inputs(batch=batch, seq=seq), run)[0]
            assert kept is not None
            return int(fixed + kept.bytes)

        return keep
    how = {"precision": "mixed", "checkpointing": "none" if index == 0 else "full", "optimizer": "adam8bit" if index == 2 else "adamw"}

    def need(batch: int, seq: int) -> int:
        found = base.memory(training=True, batch=batch, seq=seq, dtype="bfloat16", device="cuda", attention="sdpa", loss=True, **how)
        return int(found.weights + found.buffers + found.gradients + found.master + found.optimizer + found.activations)

    return need


@pytest.mark.parametrize(("purpose", "indices"), [("serving", range(4)), ("training", range(3)), ("lora", range(6))])
@pytest.mark.parametrize("seed", range(2))
def test_the_largest_batch_and_the_longest_context_by_trying_all(purpose: str, indices: range, seed: int) -> None:
    """Every size from 1 up is asked for until one does not fit; the first way that fits is the one that is chosen."""
    rng = random.Random(f"{purpose} {seed}")
    heads = rng.choice((2, 4))
    base = model(
        {
            **SMALL,
            "num_attention_heads": heads,
            "num_key_value_heads": rng.choice((1, heads)),
            "hidden_size": heads * 16,
            "max_position_embeddings": 90,
        },
        "LlamaForCausalLM",
    )
    batch, seq = rng.randint(1, 3), rng.randint(5, 40)
    first = states_of(base, purpose, 0, seq)
    room = int(first(batch, seq) * rng.uniform(0.8, 1.4))
    found = fits_of(base, room + GIB, purpose, batch=batch, seq=seq)
    for index in indices:
        way, need = found.ways[index], states_of(base, purpose, index, seq)
        assert way.bytes == need(batch, seq) + GIB, way
        assert way.fits == (need(batch, seq) <= room)
        assert way.batch == next(size for size in range(10**5) if need(size + 1, seq) > room), way
        assert way.seq == next(size for size in range(91) if size == 90 or need(batch, size + 1) > room), way
    assert found.chosen == next((way for way in found.ways if way.fits), None)


def test_the_most_that_is_tried_is_no_limit_of_the_memory() -> None:
    tried = "No context beyond 67,108,863 tokens is tried: longer ones may fit too."
    assert tried in map(str, fits_of(model("mistral-7b-v0.1"), 24 * GIB).notes)
    assert tried not in map(str, fits_of(model("llama-3-8b"), 24 * GIB).notes)


def test_a_context_that_no_positions_bound_is_called_so() -> None:
    free, bounded = model(SMALL, "LlamaForCausalLM"), model({**SMALL, "max_position_embeddings": 10**12}, "LlamaForCausalLM")
    said = "The config states no number of positions: the longest context is what memory allows."
    assert said in free.fits(gib=24).notes
    assert said not in bounded.fits(gib=24).notes
    released = "The longest context is what memory allows; the published config of llama-3-8b states 8,192 positions."
    assert released in model("llama-3-8b").fits(gib=24).notes
