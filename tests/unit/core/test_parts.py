"""Parts are made by position, for speed: every attribute is where the named tuple has it."""

from __future__ import annotations

import pytest

from weighbridge.core.length import evaluate
from weighbridge.core.parts import depthwise, embedding, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.tree import Every, Part, Tensor

WEIGHT = Tensor(name="weight", shape=(3, 2), role="weight", tied_to="a.weight", dtype=None, frozen=False)
BIAS = Tensor(name="bias", shape=(3,), role="bias", tied_to=None, dtype=None, frozen=False)


def test_every_keyword_reaches_its_attribute() -> None:
    places = {
        "kind": "k", "repeat": 2, "executions": 3, "indices": Every(1), "experts": 4, "active": 1, "stream": "one", "requires": "images",
    }  # fmt: skip
    made = part("name", BIAS, **places)  # type: ignore[arg-type]
    assert isinstance(made, Part)
    assert made._asdict() == {"name": "name", "children": (BIAS,), **places}
    assert set(made._asdict()) == set(Part._fields)


def test_linear_and_norms_are_what_their_attributes_say() -> None:
    assert linear("a", 2, 3, tied_to="a.weight") == Part(name="a", children=(WEIGHT, BIAS), kind="linear")
    assert linear("a", 2, 3, bias=False, tied_to="a.weight", stream="one", repeat=8) == Part(
        name="a", children=(WEIGHT,), kind="linear", repeat=8, stream="one"
    )
    gain, shift = Tensor(name="weight", shape=(2,), role="gain"), Tensor(name="bias", shape=(2,), role="shift")
    assert layer_norm("n", 2) == Part(name="n", children=(gain, shift), kind="layer_norm")
    assert layer_norm("n", 2, bias=False) == replace(rms_norm("n", 2), kind="layer_norm")
    assert embedding("e", 4, 2).children == (Tensor(name="weight", shape=(4, 2), role="embedding"),)


@pytest.mark.parametrize(("tokens", "kernel", "seen"), [(10, 3, 12), (10, 1, 10), (2, 4, 7), (4, 4, 7)])
def test_a_depthwise_convolution_runs_over_its_padding_too(tokens: int, kernel: int, seen: int) -> None:
    """As many positions less one as the kernel is wide come out beyond the tokens; of fewer tokens than that the state is filled up first."""
    stream = depthwise("conv1d", 6, kernel).stream
    assert stream is not None
    assert evaluate(stream, {"seq": tokens}) == seen
