"""Files of older decoders hold a mask in every layer: the totals that the Hub shows for them, each explained."""

from __future__ import annotations

import pytest

from weighbridge import model

SHOWN = {
    "gpt2": 137_022_720,
    "gpt2-medium": 379_988_992,
    "gpt2-large": 811_778_816,
    "gpt2-xl": 1_607_942_848,
    "distilgpt2": 88_204_032,
    "openai-gpt": 119_680_512,
    "gpt-neo-125m": 150_364_416,
    "gpt-neo-1.3b": 1_365_907_456,
    "gpt-neo-2.7b": 2_718_416_384,
    "gpt-j-6b": 6_168_323_296,
    "japanese-gpt2-medium": 361_293_824,
}
WITH_FREQUENCIES = {
    "pythia-70m": 95_592_496,
    "pythia-160m": 212_654_688,
    "pythia-410m": 505_997_504,
    "pythia-1b": 1_078_891_008,
    "pythia-1.4b": 1_515_311_488,
    "pythia-2.8b": 2_909_427_008,
    "pythia-6.9b": 6_991_520_256,
    "pythia-12b": 11_997_067_840,
    "gpt-neox-20b": 20_739_117_584,
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_masks_of_a_file(name: str) -> None:
    found = model(name).reconcile(SHOWN[name]).matches[0]
    assert (found.how, [piece.what for piece in found.adds]) == ("exact", ["causal masks of the layers"])


@pytest.mark.parametrize("name", WITH_FREQUENCIES)
def test_masks_and_rotary_frequencies(name: str) -> None:
    found = model(name).reconcile(WITH_FREQUENCIES[name]).matches[0]
    assert (found.how, [piece.what for piece in found.adds]) == (
        "exact",
        ["causal masks of the layers", "rotary frequencies of every layer"],
    )


def test_a_file_with_a_head_of_its_own() -> None:
    """DialoGPT-small's holds masks and an untied head."""
    found = model("gpt2").reconcile(175_620_096).matches[0]
    assert [piece.what for piece in found.adds] == ["causal masks of the layers", "a head of its own"]


def test_another_model_has_no_masks() -> None:
    assert not [one for one in model("llama-3.2-1b").reconcile(1_235_814_400 + 16 * 2048 * 2048).matches if one.how == "exact"]
