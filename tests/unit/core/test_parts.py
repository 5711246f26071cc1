"""Parts are made by position, for speed: every attribute is where the named tuple has it."""

from __future__ import annotations

import pytest

from weighbridge.core.length import evaluate
from weighbridge.core.parts import (
    attend,
    batch_norm,
    conv1d,
    conv2d,
    conv_output_length,
    depthwise,
    embedding,
    fairseq_attention,
    fused_experts,
    gated_mlp,
    layer_norm,
    linear,
    part,
    plain_mlp,
    replace,
    rms_norm,
    split_mlp,
    stack,
)
from weighbridge.core.tree import Every, Part, Tensor, flatten

WEIGHT = Tensor(name="weight", shape=(3, 2), role="weight", tied_to="a.weight", dtype=None, frozen=False)
BIAS = Tensor(name="bias", shape=(3,), role="bias", tied_to=None, dtype=None, frozen=False)


def test_every_keyword_reaches_its_attribute() -> None:
    places = {
        "kind": "k",
        "repeat": 2,
        "executions": 3,
        "indices": Every(1),
        "experts": 4,
        "active": 1,
        "stream": "one",
        "requires": "images",
    }
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


def shapes(*made: Part) -> dict[str, tuple[object, ...]]:
    return {row.name: row.shape for row in flatten(Part("", made))}


def test_networks_map_there_and_back() -> None:
    assert shapes(gated_mlp("m", 4, 6)) == {"m.gate_proj.weight": (6, 4), "m.up_proj.weight": (6, 4), "m.down_proj.weight": (4, 6)}
    assert shapes(plain_mlp("m", 4, 6, ("fc1", "fc2"), bias=True)) == {
        "m.fc1.weight": (6, 4),
        "m.fc1.bias": (6,),
        "m.fc2.weight": (4, 6),
        "m.fc2.bias": (4,),
    }
    assert shapes(plain_mlp("m", 4, 6)) == {"m.up_proj.weight": (6, 4), "m.down_proj.weight": (4, 6)}
    assert shapes(*split_mlp(4, 6)) == {
        "intermediate.dense.weight": (6, 4),
        "intermediate.dense.bias": (6,),
        "output.dense.weight": (4, 6),
        "output.dense.bias": (4,),
    }


def test_experts_that_are_held_together() -> None:
    """Mixtral holds [E, 2 I, H] and [E, H, I], gpt-oss [E, H, 2 I] and [E, I, H]."""
    assert shapes(fused_experts(3, 2, 4, 6)) == {"experts.gate_up_proj": (3, 12, 4), "experts.down_proj": (3, 4, 6)}
    assert shapes(fused_experts(3, 2, 4, 6, inputs_first=True)) == {"experts.gate_up_proj": (3, 4, 12), "experts.down_proj": (3, 6, 4)}
    known, unknown = fused_experts(3, 2, 4, 6), fused_experts(3, None, 4, 6)
    assert (known.experts, known.active, unknown.experts, unknown.active) == (3, 2, None, None)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("a", [("a", 1, None)]),
        ("aaa", [("a", 3, None)]),
        ("ab", [("a", 1, Every(0, 1)), ("b", 1, Every(1, 1))]),
        ("abab", [("a", 2, Every(0, 2)), ("b", 2, Every(1, 2))]),
        ("abb", [("a", 1, Every(0, 1)), ("b", 2, Every(1, 1))]),
        ("abbab", [("a", 2, Every(0, 3)), ("b", 3, (1, 2, 4))]),
        ("abcabc", [("a", 2, Every(0, 3)), ("b", 2, Every(1, 3)), ("c", 2, Every(2, 3))]),
    ],
)
def test_layers_of_several_kinds_stand_where_they_stand(kinds: str, expected: list[tuple[str, int, object]]) -> None:
    made = stack("h", kinds, len(kinds), lambda kind: (Tensor(kind, (1,)),))
    assert [(one.children[0].name, one.repeat, one.indices) for one in made] == expected
    assert "".join(row.name[-1] for row in flatten(Part("", made))) == kinds


@pytest.mark.parametrize("seq", range(7, 13))
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"), [(3, 1, 0, 1), (3, 2, 1, 1), (1, 1, 0, 1), (3, 1, 2, 2), (2, 3, 1, 3)]
)
def test_a_convolution_puts_out_what_fits(seq: int, kernel: int, stride: int, padding: int, dilation: int) -> None:
    """Counted by laying the kernel on the padded input, as often as all of it lies inside."""
    starts = [at for at in range(0, seq + 2 * padding, stride) if at + dilation * (kernel - 1) < seq + 2 * padding]
    found = conv_output_length("seq", kernel, stride=stride, padding=padding, dilation=dilation)
    assert evaluate(found, {"seq": seq}) == len(starts)
    made = conv1d("c", 2, 5, kernel, stride=stride, padding=padding, dilation=dilation)
    assert made.stream == found
    assert shapes(made) == {"c.weight": (5, 2, kernel), "c.bias": (5,)}


def test_convolutions_of_images() -> None:
    assert shapes(conv2d("c", 6, 8, 3, groups=2)) == {"c.weight": (8, 3, 3, 3), "c.bias": (8,)}
    assert shapes(conv2d("c", 6, 8, (3, 5), bias=False)) == {"c.weight": (8, 6, 3, 5)}
    assert shapes(depthwise("c", 6, 4, bias=False, filled=False)) == {"c.weight": (6, 1, 4)}
    assert [node.name for node in depthwise("c", 6, 4).children] == ["weight", "bias", "conv_state"]
    assert depthwise("c", 6, 4).children[-1].size == 6 * 4  # type: ignore[union-attr]
    assert shapes(batch_norm("b", 6)) == {
        "b.weight": (6,),
        "b.bias": (6,),
        "b.running_mean": (6,),
        "b.running_var": (6,),
        "b.num_batches_tracked": (),
    }


def test_attention_of_fairseq() -> None:
    made = fairseq_attention("a", 8, 2, 4, key_bias=False, causal=True)
    assert [name for name in shapes(made) if name.endswith("bias")] == ["a.v_proj.bias", "a.q_proj.bias", "a.out_proj.bias"]
    assert not [name for name in shapes(fairseq_attention("a", 8, 2, 4, bias=False)) if name.endswith("bias")]
    op = made.children[-1]
    assert op == attend(heads=2, head_dim=4, kv_heads=2, value_dim=4, causal=True)
    crossed = fairseq_attention("a", 8, 2, 4, keys="encoder")
    assert (made.kind, crossed.kind) == ("self_attention", "cross_attention")
    assert [one.stream for one in crossed.children[:4]] == ["encoder", "encoder", None, None]  # type: ignore[union-attr]
