"""Live PyTorch modules, duck-typed: names, shapes and ties, with ties found by identity.

Nothing of torch is imported, no values are read, and ``data_ptr`` is never asked: on the meta device it is
0 for every tensor. A module whose parameters are not what they look like (sharded away, packed into bytes,
not yet initialized) is read by its own record of the true shapes, or refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.core.errors import ReadError
from weighbridge.core.fold import fold
from weighbridge.core.messages import Text
from weighbridge.core.tree import Row
from weighbridge.readers.roles import norms, role_of
from weighbridge.value import ModelValue

DTYPES = {
    "float32": "F32",
    "float64": "F64",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "bool": "BOOL",
    "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
    "float4_e2m1fn_x2": "F4",
}
"""torch's names of element types, as safetensors spells them."""

PACKED = frozenset(("qweight", "weight_packed", "W_q", "_packed_params", "weight_blocks"))
"""Attributes that only quantized modules have, in place of a weight."""


def read_module(module: Any) -> ModelValue:
    """Read a live module's parameters and persistent buffers; the class is the module's own.

    Args:
        module: Anything with ``named_parameters`` and ``named_modules`` as ``torch.nn.Module`` has them.

    Raises:
        ReadError: Parameters are sharded, packed or not initialized, and do not tell their true shape.
    """
    notes: list[str] = []
    found = [*_parameters(module, notes), *_buffers(module)]
    gains = norms([(name, shape) for name, shape, _, _, _, _ in found])
    kinds = {path: type(inner).__name__ for path, inner in module.named_modules(remove_duplicate=False)}
    rows = [
        Row(name, shape, role or _role(name, shape, kinds, gains), tied_to, dtype, frozen)
        for name, shape, role, tied_to, dtype, frozen in found
    ]
    class_name = type(module).__name__
    return ModelValue(class_name, "module", fold(rows), class_name=class_name, notes=tuple(dict.fromkeys(notes)))


_Found = tuple[str, tuple[int, ...], str | None, str | None, str, bool]


def _parameters(module: Any, notes: list[str]) -> Iterator[_Found]:
    """Yield every parameter under every name; the first name of an object owns it."""
    owners: dict[int, str] = {}
    kept: list[Any] = []
    for name, parameter in module.named_parameters(remove_duplicate=False):
        owner = owners.setdefault(id(parameter), name)
        kept.append(parameter)
        shape = _shape(name, parameter, notes)
        frozen = not getattr(parameter, "requires_grad", True)
        yield name, shape, None, None if owner == name else owner, _dtype(parameter), frozen


def _buffers(module: Any) -> Iterator[_Found]:
    """Yield the buffers that ``state_dict`` would hold."""
    owners: dict[int, str] = {}
    for path, inner in module.named_modules(remove_duplicate=False):
        packed = PACKED & {*vars(inner), *getattr(inner, "_buffers", {})}
        if packed:
            where = f"{path}: " if path else ""
            raise ReadError(
                Text(
                    "{where}{name} holds packed weights ({packed}), whose elements are not parameters; weigh the config or the checkpoint instead",
                    where=where,
                    name=type(inner).__name__,
                    packed=", ".join(sorted(packed)),
                )
            )
        hidden = getattr(inner, "_non_persistent_buffers_set", ())
        for name, buffer in getattr(inner, "_buffers", {}).items():
            if buffer is not None and name not in hidden:
                full = f"{path}.{name}" if path else name
                owner = owners.setdefault(id(buffer), full)
                yield full, tuple(map(int, buffer.shape)), "buffer", None if owner == full else owner, _dtype(buffer), False


def _shape(name: str, parameter: Any, notes: list[str]) -> tuple[int, ...]:
    """Return the true shape of a parameter, also where the object in hand is a shard or a pack of it."""
    kind = type(parameter).__name__
    if hasattr(parameter, "ds_shape"):
        notes.append(Text("sharded by DeepSpeed: shapes are those it recorded (ds_shape)"))
        return tuple(map(int, parameter.ds_shape))
    if getattr(parameter, "_is_flat_param", False) or kind == "FlatParameter" or name.rpartition(".")[2] == "_flat_param":
        raise ReadError(
            Text("{name} is a flat shard of FSDP, which does not show its tensors; weigh the module before it is wrapped", name=name)
        )
    if kind.startswith("Uninitialized"):
        raise ReadError(Text("{name} has no shape yet; run the lazy module once, or weigh its config", name=name))
    state = getattr(parameter, "quant_state", None)
    if state is not None and getattr(state, "shape", None) is not None:
        notes.append(Text("packed by bitsandbytes: shapes are those it recorded (quant_state)"))
        return tuple(map(int, state.shape))
    if getattr(parameter, "bnb_quantized", False):
        raise ReadError(
            Text(
                "{name} is packed ({kind}) and does not record its shape; weigh the config or the checkpoint instead", name=name, kind=kind
            )
        )
    return tuple(map(int, parameter.shape))


def _dtype(tensor: Any) -> str:
    name = str(getattr(tensor, "dtype", "")).removeprefix("torch.")
    return DTYPES.get(name, name)


def _role(name: str, shape: tuple[int, ...], kinds: dict[str, str], gains: frozenset[str]) -> str:
    """Tell a role by the class of the module that holds the tensor, else by its name."""
    parent, _, last = name.rpartition(".")
    kind = kinds.get(parent, "")
    if kind.endswith(("Embedding", "EmbeddingBag")) and last == "weight":
        return "embedding"
    if "Norm" in kind and len(shape) == 1 and last in ("weight", "bias"):
        return "gain" if last == "weight" else "shift"
    role = role_of(name, shape, "", gains)
    return "weight" if role == "buffer" else role
