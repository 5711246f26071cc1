"""What a pickle of torch is made of: storages, tensors that look into them, and the functions that it may call.

Source: torch 2.13.0, torch/serialization.py (``persistent_id``), torch/_utils.py (``_rebuild_*``).
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import DEEPEST, LONGEST
from weighbridge.readers.pickles import Global, Makers
from weighbridge.readers.text import shown

LARGEST_PICKLE = 32_000_000

DTYPES = {
    "Double": "F64", "Float": "F32", "Half": "F16", "BFloat16": "BF16", "Long": "I64", "Int": "I32", "Short": "I16", "Char": "I8",
    "Byte": "U8", "Bool": "BOOL", "ComplexDouble": "C128", "ComplexFloat": "C64", "QInt8": "I8", "QUInt8": "U8", "QInt32": "I32",
    "Float8_e4m3fn": "F8_E4M3", "Float8_e5m2": "F8_E5M2",
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex128": "C128", "complex64": "C64", "complex32": "C32", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn_x2": "F4_X2", "qint8": "I8", "quint8": "U8", "qint32": "I32",
}  # fmt: skip
"""torch's storage classes (without ``Storage``) and dtypes, as safetensors spells them where it has them."""

BYTES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1, "C128": 16, "C64": 8, "C32": 4,
    "U16": 2, "U32": 4, "U64": 8, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1, "F8_E8M0": 1, "F4_X2": 1,
}  # fmt: skip


class Storage(NamedTuple):
    """A run of bytes that tensors look into.

    Attributes:
        key: Its name among the storages.
        dtype: Its element type, or the empty string if it is bytes and the tensors say what they hold.
        size_bytes: Its bytes.
        begin: Where in the stored run it begins, for views of old files.
    """

    key: str
    dtype: str
    size_bytes: int
    begin: int = 0


class View(NamedTuple):
    """A tensor: a look into a storage, in elements."""

    storage: Storage | None
    dtype: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    parameter: bool | None = None

    @property
    def extent(self) -> int:
        """Elements from the first to the last that it reaches."""
        return 1 + sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True)) if prod(self.shape) else 0


def storage_of(identity: object) -> Storage:
    """Read a persistent id: ``("storage", class, key, location, elements)``, and a view of it in old files."""
    if not isinstance(identity, tuple) or len(identity) not in (5, 6) or identity[0] != "storage":
        raise ReadError("the pickle refers to something that is no storage")
    _, kind, key, _, count = identity[:5]
    if not isinstance(kind, Global) or not isinstance(key, str) or type(count) is not int or not 0 <= count < LONGEST:
        raise ReadError("a storage in the pickle is damaged")
    if kind.name == "UntypedStorage":
        return Storage(key, "", count)
    dtype = DTYPES.get(kind.name.removesuffix("Storage"))
    if dtype is None or not kind.module.startswith("torch"):
        raise ReadError(
            Text("a storage of a kind that torch does not have: {shown}.{shown2}", shown=shown(kind.module), shown2=shown(kind.name))
        )
    begin = 0
    if len(identity) == 6 and identity[5] is not None:
        _, begin, count = identity[5]
        if type(begin) is not int or type(count) is not int or not 0 <= begin <= begin + count < LONGEST:
            raise ReadError("a view of a storage in the pickle is damaged")
    return Storage(key, dtype, count * BYTES[dtype], begin * BYTES[dtype])


def _view(storage: object, offset: object, shape: object, stride: object, dtype: str = "") -> View:
    """Check a tensor against its storage: it must not reach beyond."""
    if not isinstance(storage, Storage):
        raise ReadError("a tensor in the pickle has no storage")
    dtype = dtype or storage.dtype
    if dtype not in BYTES:
        raise ReadError("a tensor in the pickle does not say its element type")
    view = View(storage, dtype, _naturals((offset,))[0], _naturals(shape), _naturals(stride))
    if len(view.shape) != len(view.stride):
        raise ReadError("a tensor in the pickle is damaged")
    if (view.offset + view.extent) * BYTES[dtype] > storage.size_bytes and view.extent:
        raise ReadError(
            Text(
                "a tensor {shape!r:.80} reaches beyond its storage {shown} of {size_bytes:,} bytes",
                shape=list(view.shape),
                shown=shown(storage.key),
                size_bytes=storage.size_bytes,
            )
        )
    return view


def _naturals(values: object) -> tuple[int, ...]:
    if not isinstance(values, tuple) or len(values) > DEEPEST or not all(type(value) is int and 0 <= value < LONGEST for value in values):
        raise ReadError("a shape or a stride in the pickle is no list of whole numbers from 0 up")
    return values


def _tensor(storage: object, offset: object, shape: object, stride: object, *_: object) -> View:
    return _view(storage, offset, shape, stride)


def _tensor_of_type(
    storage: object, offset: object, shape: object, stride: object, _grad: object, _hooks: object, dtype: object, *_: object
) -> View:
    if not isinstance(dtype, Global) or dtype.name not in DTYPES:
        raise ReadError("a tensor in the pickle is of a type that torch does not have")
    return _view(storage, offset, shape, stride, DTYPES[dtype.name])


def _parameter(data: object, *_: object) -> object:
    return data._replace(parameter=True) if isinstance(data, View) else data


def _meta(dtype: object, shape: object, stride: object, *_: object) -> View:
    if not isinstance(dtype, Global) or dtype.name not in DTYPES:
        raise ReadError("a tensor in the pickle is of a type that torch does not have")
    return View(None, DTYPES[dtype.name], 0, _naturals(shape), _naturals(stride))


def _from_type(maker: object, _type: object, args: object, _state: object = None) -> object:
    known = MAKERS.get(maker) if isinstance(maker, Global) else None
    if known is None or not isinstance(args, tuple):
        raise ReadError("a tensor of a class of its own, which cannot be read without its code")
    return known(*args)


def _dict(items: object = (), *_: object) -> object:
    """An ordered or default dict: of pairs, or empty and filled afterwards."""
    if not isinstance(items, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in items
    ):
        return {}
    return {pair[0]: pair[1] for pair in items}


def _refused(*_: object) -> object:
    raise ReadError("a sparse, nested or wrapped tensor, whose elements are not its shape's; save it dense")


MAKERS: Makers = {
    Global("collections", "OrderedDict"): _dict,
    Global("torch._utils", "_rebuild_tensor"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v3"): _tensor_of_type,
    Global("torch._utils", "_rebuild_qtensor"): _tensor,
    Global("torch._utils", "_rebuild_parameter"): _parameter,
    Global("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    Global("torch._utils", "_rebuild_meta_tensor_no_storage"): _meta,
    Global("torch._utils", "_rebuild_sparse_tensor"): _refused,
    Global("torch._utils", "_rebuild_sparse_csr_tensor"): _refused,
    Global("torch._utils", "_rebuild_nested_tensor"): _refused,
    Global("torch._utils", "_rebuild_wrapper_subclass"): _refused,
    Global("torch._tensor", "_rebuild_from_type_v2"): _from_type,
    Global("torch", "Size"): lambda items=(): tuple(items),
}
"""What the pickle may call: functions of ours that make a tensor's description, and nothing else."""
