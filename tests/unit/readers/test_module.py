"""Live modules, by the few things of torch that are asked of them; torch itself is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weighbridge
from weighbridge.core.errors import ReadError


class Array:
    """What is asked of a parameter or a buffer; ``data_ptr`` is as on the meta device."""

    def __init__(self, *shape: int, requires_grad: bool = True, **others: Any) -> None:
        self.shape, self.requires_grad, self.dtype = shape, requires_grad, "torch.float32"
        vars(self).update(others)

    def data_ptr(self) -> int:
        return 0


class Module:
    """What is asked of a module."""

    def __init__(self, **members: Any) -> None:
        self._parameters = {name: value for name, value in members.items() if isinstance(value, Array)}
        self._modules = {name: value for name, value in members.items() if isinstance(value, Module)}
        self._buffers: dict[str, Array | None] = {}
        self._non_persistent_buffers_set: set[str] = set()

    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Array]]:
        for path, module in self.named_modules():
            for name, value in module._parameters.items():
                yield f"{path}.{name}" if path else name, value


class Embedding(Module):
    """Named as torch's."""


class LayerNorm(Module):
    """Named as torch's."""


class Tiny(Module):
    """A model with a tied head."""


class UninitializedParameter(Array):
    """Named as torch's."""


def tiny() -> Tiny:
    table = Array(10, 4)
    layers = Module(
        **{str(n): Module(fc=Module(weight=Array(4, 4), bias=Array(4)), ln=LayerNorm(weight=Array(4), bias=Array(4))) for n in (0, 1)}
    )
    return Tiny(tok=Embedding(weight=table), layers=layers, head=Module(weight=table))


def test_ties_are_found_by_identity() -> None:
    model = weighbridge.model(tiny())
    counts = model.count()
    assert (counts.unique, counts.duplicated, counts.embedding) == (40 + 2 * 28, 40 + 2 * 28 + 40, 40)
    assert [(row.name, row.tied_to) for row in model.tensors() if row.tied_to] == [("head.weight", "tok.weight")]
    assert (model.kind, model.class_name) == ("module", "Tiny")


def test_roles_come_from_the_modules() -> None:
    assert [row.role for row in weighbridge.model(tiny()).tensors()][:5] == ["embedding", "weight", "bias", "gain", "shift"]


def test_frozen_parameters_are_not_trainable() -> None:
    counts = weighbridge.count(Module(a=Array(3), b=Array(4, requires_grad=False)))
    assert (counts.unique, counts.trainable) == (7, 3)


def test_persistent_buffers_are_apart() -> None:
    module = Module(weight=Array(3))
    module._buffers = {"running_mean": Array(3), "cache": Array(9), "none": None}
    module._non_persistent_buffers_set = {"cache"}
    counts = weighbridge.count(module)
    assert (counts.unique, counts.buffers, counts.stored, counts.trainable) == (3, 3, 6, 3)


def test_sharded_and_packed_parameters_tell_their_shape() -> None:
    state = Module()
    state.shape = (64, 64)  # type: ignore[attr-defined]
    model = weighbridge.model(Module(a=Array(0, ds_shape=(5, 5)), b=Array(2048, 1, quant_state=state, bnb_quantized=True)))
    assert model.count().unique == 25 + 4096
    assert model.notes == (
        "sharded by DeepSpeed: shapes are those it recorded (ds_shape)",
        "packed by bitsandbytes: shapes are those it recorded (quant_state)",
    )


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            Module(_flat_param=Array(9)),
            "_flat_param is a flat shard of FSDP, which does not show its tensors; weigh the module before it is wrapped",
        ),
        (Module(w=UninitializedParameter(0)), "w has no shape yet; run the lazy module once, or weigh its config"),
        (
            Module(w=Array(8, 1, bnb_quantized=True)),
            "w is packed (Array) and does not record its shape; weigh the config or the checkpoint instead",
        ),
    ],
)
def test_what_does_not_tell_its_shape_is_refused(module: Module, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        weighbridge.model(module)
    assert str(caught.value) == message


def test_modules_of_packed_words_are_refused() -> None:
    module = Module(proj=Module())
    module._modules["proj"]._buffers = {"qweight": Array(8)}
    with pytest.raises(ReadError, match=r"proj: Module holds packed weights \(qweight\), whose elements are not parameters"):
        weighbridge.model(module)
