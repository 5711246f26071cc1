"""What activations come to as a polynomial is what the forward itself gives, for every type whose forward is described."""

from __future__ import annotations

import random
from itertools import product

import pytest

from weighbridge import Model, model
from weighbridge.accounts.adapters.activations import TrainedPlaces, trained_places
from weighbridge.accounts.adapters.source import adapter_config, adapters_of
from weighbridge.accounts.fits.growth import Growth, Polynomial, polynomial
from weighbridge.accounts.fits.plans import LORA
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import forward_activations, settings
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.core.errors import WeighbridgeError

WAYS = list(product(("eager", "sdpa", "flash"), ("none", "full", "selective"), ("cpu", "cuda")))
WINDOWS: tuple[dict[str, object], ...] = ({}, {"sliding_window": 37, "use_sliding_window": True, "max_window_layers": 1})
"""Windows that some of the lengths fill and others do not."""


@pytest.mark.parametrize("model_type", sorted(STYLES))
def test_a_polynomial_is_what_the_forward_gives(model_type: str) -> None:
    draw = random.Random(model_type)
    for overrides in WINDOWS:
        weighed = _small(model_type, overrides)
        if weighed is None:
            continue
        for attention, checkpointing, device in draw.sample(WAYS, 4):
            how: dict[str, object] = {
                "attention": attention,
                "device": device,
                "dtype": draw.choice(("bfloat16", "float32")) if attention != "flash" else "bfloat16",  # its kernels take 16 bits
                "dropout": draw.random() < 0.5,
            }
            batch, seq = draw.randint(1, 3), draw.choice((1, 2, 17, 60))
            how["loss"] = draw.random() < 0.5
            grown = Growth(weighed, how, batch, seq, 1 << 20, None)
            for asked in ((batch, draw.randint(1, 36)), (batch, draw.randint(37, 90)), (draw.randint(1, 9), seq), (1, seq), (batch, 1)):
                said = settings(**how | {"checkpointing": checkpointing})
                found = forward_activations(weighed, Inputs(batch=asked[0], seq=asked[1]), said)[0]
                assert found is not None
                assert grown.bytes(checkpointing, *asked) == found.bytes, (how, checkpointing, asked)


def test_with_an_adapter_too() -> None:
    weighed = model({"model_type": "mistral", "num_hidden_layers": 3, "sliding_window": 50})
    where = trained_places(weighed, adapter_config(LORA), adapters_of(weighed, LORA), dropout=True)
    assert isinstance(where, TrainedPlaces)
    grown = Growth(weighed, {"attention": "sdpa"}, 1, 20, 1 << 20, where)
    for batch, seq in ((1, 20), (1, 49), (1, 50), (1, 3000), (7, 20), (64, 20)):
        given, how = Inputs(batch=batch, seq=seq), settings(attention="sdpa")
        found = forward_activations(weighed, given, how, trained=where.trained, adapted=where.adapted)[0]
        assert found is not None
        assert grown.bytes("none", batch, seq) == found.bytes


def test_longer_than_it_takes_is_nothing() -> None:
    grown = Growth(model("gpt2"), {}, 1, 128, 1024, None)
    assert grown.bytes("none", 1, 1025) is None
    assert grown.bytes("none", 1, 1024) is not None


@pytest.mark.parametrize("coefficients", [(), (3,), (0, 0, 5), (-1, 2), (7, -(2**70), 2**90)])
def test_the_digits_are_the_coefficients(coefficients: tuple[int, ...]) -> None:
    assert polynomial(Polynomial(coefficients).at) == Polynomial(coefficients)


def _small(model_type: str, overrides: dict[str, object]) -> Model | None:
    longer: dict[str, object] = (
        {"max_position_embeddings": 128} if model_type.endswith("text_model") else {}
    )  # CLIP's default takes 77 tokens
    if STYLES[model_type].forward == "pair":
        longer = {"text_config": {"max_position_embeddings": 128}}
    try:
        return model({"model_type": model_type, **longer, **overrides})
    except WeighbridgeError:
        return None
