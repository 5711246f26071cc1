"""Training checkpoints: everything that torch finds in a file is listed, and of its tensors the model's are the parameters."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.readers import as_model, read_listing
from weighbridge.readers.packing import unpack
from weighbridge.readers.pickle_values import Global, Stub
from weighbridge.readers.roles import mark_buffers_beside
from weighbridge.readers.torch_names import listing_of
from weighbridge.readers.torch_storages import MAKERS, Storage, View

CHECKPOINTS = Path(__file__).parents[2] / "corpus" / "torch" / "checkpoints"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CHECKPOINTS / "expected.json").read_text("utf-8"))["files"]
assert sorted(EXPECTED) == sorted(path.stem for path in CHECKPOINTS.glob("*.pt"))
assert sum(name.startswith("training") for name in EXPECTED) > 10


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_all_that_torch_loads_is_listed(name: str) -> None:
    listing = read_listing(CHECKPOINTS / f"{name}.pt")
    said = EXPECTED[name]
    assert Counter((tensor.shape, tensor.dtype) for tensor in listing.tensors) == {
        (tuple(shape), dtype): times for shape, dtype, times in said["tensors"]
    }
    if said["parameters"] is not None:
        assert tally_of(as_model(listing, name)).unique == said["parameters"]


def tensor(*shape: int, key: str = "", stride: tuple[int, ...] | None = None, offset: int = 0) -> View:
    """Return a tensor with a storage of its own, or a view of a shared one."""
    strides = stride or tuple(range(1, len(shape) + 1))
    return View(Storage(key or f"{shape}", "F32", 1 << 20), "F32", offset, shape, strides if stride else _rows(shape))


def _rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


STATE = {"0.weight": tensor(8, 8), "0.bias": tensor(8)}
OPTIMIZER = {"state": {0: {"exp_avg": tensor(8, 8, key="e"), "step": tensor(key="s")}}, "param_groups": [{"params": [0, 1]}]}
BESIDE = {key: tensor(key=key) for key in ("loss", "best_acc1", "step", "rng_state", "train_loss", "best_model_score", "lr")}


@pytest.mark.parametrize(
    ("root", "parameters", "model"),
    [
        ({"model_state_dict": STATE, "optimizer_state_dict": OPTIMIZER, "loss": BESIDE["loss"]}, 72, "model_state_dict"),
        ({"net": STATE, "opt_of_mine": OPTIMIZER, **BESIDE}, 72, "net"),
        ({"anything": STATE, "o": OPTIMIZER, **BESIDE}, 72, "anything"),
        ({**STATE, "optimizer": OPTIMIZER, **BESIDE}, 72, ""),
        ({**STATE, **BESIDE}, 72, ""),
        ({"state": {"model": STATE, "optimizers": {"Adam": OPTIMIZER}}, "rng": [tensor(5056)]}, 72, "state.model"),
        ({"model": {"encoder.weight": tensor(3), "model.weight": tensor(4)}, "optim": [OPTIMIZER]}, 7, "model"),
        ((STATE, OPTIMIZER, 3), 72, ""),
        (OPTIMIZER, 0, ""),
    ],
)
def test_what_is_taken_for_the_model_is_told(root: object, parameters: int, model: str) -> None:
    listing = listing_of(root, {})
    assert tally_of(as_model(listing, "x")).unique == parameters
    first = listing.notes[0]
    if not parameters:
        assert first == "the file holds state of a training and no model"
    elif model:
        assert first == f"taken for the model: what is under {model}, where a training checkpoint keeps it"
    else:
        assert first == "taken for the model: all that is not known to be state of the training"
    assert sum(tensor.stored for tensor in listing.tensors) >= parameters


@pytest.mark.parametrize(
    "root",
    [
        {"semantic": {"weight": tensor(3)}, "upsampler": {"weight": tensor(4)}},
        {"loss_head.weight": tensor(3), "steps.0.weight": tensor(4)},
        {"swagger": {"weight": tensor(3)}, "example": {"weight": tensor(4)}},
    ],
)
def test_words_within_words_say_nothing(root: object) -> None:
    listing = listing_of(root, {})
    assert tally_of(as_model(listing, "x")).unique == 7
    assert listing.notes == ()


def test_what_lies_beside_a_model_is_named() -> None:
    listing = listing_of({"model": STATE, "projector": {"weight": tensor(5)}}, {})
    assert listing.notes == (
        "taken for the model: what is under model, where a training checkpoint keeps it",
        "projector: 5 elements in 1 tensors lie beside the model and are not counted",
    )


def test_a_parameter_is_never_tied_to_state_of_the_training() -> None:
    flat = tensor(72, key="flat")
    views = {"weight": tensor(8, 8, key="flat"), "bias": tensor(8, key="flat", offset=64)}
    listing = listing_of({"model": views, "optimizer": {"fp32_flat": flat}}, {})
    assert [(one.name, one.tied_to) for one in listing.tensors[:2]] == [("weight", None), ("bias", None)]
    assert tally_of(as_model(listing, "x")).unique == 72


def test_a_view_within_the_gaps_of_another_is_its_own() -> None:
    table = {"left": tensor(4, 3, key="w", stride=(8, 1)), "gap": tensor(2, 3, key="w", stride=(8, 1), offset=12)}
    assert [one.tied_to for one in listing_of(table, {}).tensors] == [None, None]
    same = {"one": tensor(4, 3, key="w", stride=(8, 1)), "two": tensor(4, 3, key="w", stride=(8, 1))}
    assert [one.tied_to for one in listing_of(same, {}).tensors] == [None, "one"]


def test_one_object_without_elements_is_one_tensor() -> None:
    meta = View(None, "F32", 0, (7, 4), (4, 1), parameter=True)
    listing = listing_of({"embed.weight": meta, "head.weight": meta, "other.weight": meta._replace(dtype="F32")}, {})
    assert [one.tied_to for one in listing.tensors] == [None, "embed.weight", None]


def test_the_mesh_of_a_group_is_stored_once() -> None:
    mesh = View(Storage("mesh", "I32", 256), "I32", 0, (64,), (1,))
    table = {name: View(None, "F32", 0, (4, 6), (6, 1), inner=(tensor(4, 6, key=name), mesh)) for name in ("a", "b", "c")}
    listing = listing_of(table, {})
    assert [one.stored for one in listing.tensors] == [24 + 64, 24, 24]


CHANGED: dict[str, tuple[dict[str, tuple[int, ...]], int]] = {
    "spectral norm": (
        {
            "bias": (3,),
            "parametrizations.weight.original": (3, 3),
            "parametrizations.weight.0._u": (3,),
            "parametrizations.weight.0._v": (3,),
        },
        12,
    ),
    "orthogonal": ({"fc.bias": (3,), "fc.parametrizations.weight.original": (3, 3), "fc.parametrizations.weight.0.base": (3, 3)}, 12),
    "weight norm": ({"bias": (3,), "parametrizations.weight.original0": (3, 1), "parametrizations.weight.original1": (3, 3)}, 15),
    "older weight norm": ({"bias": (3,), "weight_g": (3, 1), "weight_v": (3, 3)}, 15),
    "older spectral norm": ({"fc.bias": (3,), "fc.weight_orig": (3, 3), "fc.weight_u": (3,), "fc.weight_v": (3,)}, 12),
    "pruning": ({"fc.bias": (3,), "fc.weight_orig": (3, 3), "fc.weight_mask": (3, 3)}, 12),
    "observers": ({"0.weight": (3, 3), "0.activation_post_process.histogram": (2048,), "0.activation_post_process.min_val": ()}, 9),
    "quantization in training": (
        {"0.weight": (3, 3), "0.weight_fake_quant.scale": (3,), "0.weight_fake_quant.activation_post_process.eps": (1,)},
        9,
    ),
    "quantized": ({"0.weight": (3, 3), "0.scale": (), "0.zero_point": ()}, 9),
}


@pytest.mark.parametrize("change", CHANGED)
def test_what_torch_keeps_beside_a_changed_layer_is_no_parameter(change: str) -> None:
    shapes, parameters = CHANGED[change]
    listing = mark_buffers_beside(listing_of({name: tensor(*shape, key=name) for name, shape in shapes.items()}, {}))
    assert tally_of(as_model(listing, "x")).unique == parameters


def test_a_quantized_tensor_is_the_weight_it_stands_for() -> None:
    load = MAKERS[Global("torch._utils", "_rebuild_qtensor")]
    weight = load(Storage("w", "I8", 12), 0, (3, 4), (4, 1), (Global("torch", "per_tensor_affine"), 0.1, 0))
    listing = unpack(listing_of({"0._packed_params._packed_params": (weight, tensor(3))}, {}))
    assert tally_of(as_model(listing, "x")).unique == 15
    assert listing.notes == ("quantized weights (torch) are listed as the matrices they stand for, their scales as buffers",)


@pytest.mark.parametrize("outer", [None, "state_dict"])
def test_a_tensor_with_tables_of_scales_keeps_its_name_where_it_is_alone(outer: str | None) -> None:
    quantized = tensor(3, 2)._replace(attributes={"scales": tensor(3, key="s"), "zeros": tensor(3, key="z")})
    held = {"fc.weight": quantized}
    listing = listing_of(held if outer is None else {outer: held, "epoch": 1}, {})
    assert [tensor.name for tensor in listing.tensors] == ["fc.weight", "fc.weight.scales", "fc.weight.zeros"]
    assert tally_of(as_model(listing, "x")).unique == 6


def test_what_a_tuple_of_a_class_holds_is_numbered_once() -> None:
    pair = (tensor(2), tensor(3, key="b"))
    listing = listing_of({"a": Stub(Global("mine", "Pair"), (pair,)), "n": Stub(Global("mine", "Named"), pair)}, {})
    assert [tensor.name for tensor in listing.tensors] == ["a.0", "a.1", "n.0", "n.1"]


def test_what_a_class_is_made_from_by_keywords_is_listed() -> None:
    """Protocol 2 calls a function that holds class and keywords; later protocols have an operation for it."""
    new = Stub(Global("functools", "partial"), (Global("mine", "New"),))
    new.state = (Global("mine", "New"), (), {"w": tensor(2)}, None)
    listing = listing_of({"a": Stub(new, ()), "b": tensor(3, key="b")}, {})
    assert [tensor.name for tensor in listing.tensors] == ["a.state.2.w", "b"]


def test_a_config_object_of_omegaconf_beside_the_model_is_no_reason_to_refuse() -> None:
    """As in pesto's checkpoint: objects of a library that is not there, each of which knows its parent."""
    config, inner = (Stub(Global("omegaconf.dictconfig", "DictConfig"), ()) for _ in range(2))
    number = Stub(Global("omegaconf.nodes", "AnyNode"), ())
    any_type = Global("typing", "Any")
    number.state = {"_metadata": {"ref_type": any_type, "key": "dim"}, "_parent": inner, "_val": 4}
    inner.state = {"_metadata": {"ref_type": any_type, "key": "model"}, "_parent": config, "_content": {"dim": number}}
    config.state = {"_metadata": {"ref_type": any_type, "key": None}, "_parent": None, "_content": {"model": inner}}
    listing = listing_of({"hparams": config, "hcqt_params": inner, "state_dict": STATE}, {})
    assert [tensor.name for tensor in listing.tensors] == ["0.weight", "0.bias"]
    assert tally_of(as_model(listing, "x")).unique == 72


def test_equal_names_are_told_apart() -> None:
    assert [one.name for one in listing_of({"a.b": tensor(1), "a": {"b": tensor(2)}, 1: tensor(3), "1": tensor(4)}, {}).tensors] == [
        "a.b",
        "a.b (2)",
        "1",
        "1 (2)",
    ]


def test_a_storage_that_nothing_listed_looks_into_is_an_error() -> None:
    with pytest.raises(ReadError) as caught:
        listing_of({"w": tensor(2, key="0")}, {}, {"0", "1"})
    assert str(caught.value) == (
        "1 storages, 1 among them, are in objects that cannot be listed; load the file with torch and save a state dict"
    )


def test_a_flat_shard_of_fsdp_is_refused() -> None:
    with pytest.raises(ReadError) as caught:
        listing_of({"model": {"_fsdp_wrapped_module._flat_param": tensor(9)}}, {})
    assert str(caught.value) == (
        "model._fsdp_wrapped_module._flat_param is a flat shard of FSDP, which does not show its tensors; save a full or a sharded state dict"
    )


def test_a_parameter_without_a_shape_is_refused() -> None:
    with pytest.raises(ReadError) as caught:
        listing_of({"w": Stub(Global("torch.nn.parameter", "UninitializedParameter"), (True,))}, {})
    assert str(caught.value) == "a parameter of a lazy module, which has no shape yet; run the module once and save it again"


@pytest.mark.parametrize("kind", ["object", "dict", "list"])
def test_objects_that_hold_each_other_are_walked_in_time(kind: str) -> None:
    count = 300
    nodes: list[Any] = [Stub(Global("user", "Node"), ()) if kind == "object" else {} if kind == "dict" else [] for _ in range(count)]
    for number, node in enumerate(nodes):
        held = {"w": tensor(1, key=str(number)), **{f"to {other}": nodes[other] for other in range(count)}}
        if kind == "object":
            node.state = held
        elif kind == "dict":
            node |= held
        else:
            node += held.values()
    if kind == "object":
        assert len(listing_of({"nodes": nodes}, {}).tensors) == count
    else:
        with pytest.raises(ReadError, match=r"refers to its own parts without end|a name of"):
            listing_of({"nodes": nodes}, {})


@pytest.mark.parametrize("levels", [100, 5000])
def test_a_tensor_in_tuples_that_double_is_refused_in_time(levels: int) -> None:
    """Each level holds the one below twice: what is walked is bounded, and so are the paths, which deep down are long."""
    root: Any = tensor(1)
    for _ in range(levels):
        root = (root, root)
    before = time.process_time()
    with pytest.raises(ReadError, match="the pickle refers to its own parts without end"):
        listing_of({"w": root}, {})
    assert time.process_time() - before < 8  # 60 s without a bound on the paths
