"""What a torch pickle consists of: storages, tensors that are views of them, and the functions it may call.

Source: torch 2.13.0, torch/serialization.py (``persistent_id``), torch/_utils.py (``_rebuild_*``).
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import DEEPEST, LONGEST, PACKED
from weighbridge.readers.pickle_values import AttributedDict, Global, Makers, Stub
from weighbridge.readers.pickles import safe_key
from weighbridge.readers.text import make_printable

LARGEST_PICKLE = 32_000_000
QUANTIZED = f"{PACKED}torch"
"""What is said of a quantized tensor of torch's own: its type says that its whole numbers stand for real ones."""

MOST_PARTS = 10_000
"""Objects within the state of one tensor."""

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
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "C128": 16,
    "C64": 8,
    "C32": 4,
    "U16": 2,
    "U32": 4,
    "U64": 8,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "F8_E4M3FNUZ": 1,
    "F8_E5M2FNUZ": 1,
    "F8_E8M0": 1,
    "F4_X2": 1,
}


class Storage(NamedTuple):
    """A run of bytes that tensors are views of.

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
    """A tensor: a view of a storage, in elements.

    Attributes:
        storage: What it looks into; None if it has none (on the meta device), or if other tensors hold its elements.
        dtype, offset, shape, stride: As torch has them.
        parameter: Whether the file says that it is a parameter.
        inner: The tensors that hold its elements: those of a sparse one, of a shard, of a class of its own.
        attributes: What else was saved with it: Python attributes, the scales of a quantized tensor.
        note: What is unusual about it, in a few words.
        other_bytes: Bytes of an element, of a type that torch does not have.
    """

    storage: Storage | None
    dtype: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    parameter: bool | None = None
    inner: tuple[View, ...] = ()
    attributes: object = None
    note: str = ""
    other_bytes: int = 0

    @property
    def item_bytes(self) -> int:
        """Bytes of an element."""
        return BYTES.get(self.dtype, self.other_bytes)

    @property
    def extent(self) -> int:
        """Elements from the first to the last that it reaches."""
        return 1 + sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True)) if prod(self.shape) else 0

    @property
    def dense(self) -> bool:
        """Whether it reaches every element from its first to its last."""
        reach = 1
        for step, size in sorted((step, size) for size, step in zip(self.shape, self.stride, strict=True) if size > 1):
            if step > reach:
                return False
            reach += (size - 1) * step
        return True


def rows_first(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor.

    >>> rows_first((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(prod(shape[place + 1 :]) for place in range(len(shape)))


def storage_of(identity: object) -> Storage:
    """Read a persistent id: ``("storage", class, key, location, elements)``, and a view of it in old files."""
    if not isinstance(identity, tuple) or len(identity) not in (5, 6) or identity[0] != "storage":
        raise ReadError("the pickle refers to something that is not a storage")
    _, kind, key, _, count = identity[:5]
    if not isinstance(kind, Global) or not isinstance(key, str) or type(count) is not int or not 0 <= count < LONGEST:
        raise ReadError("a storage in the pickle is damaged")
    if kind.name == "UntypedStorage":
        return Storage(key, "", count)
    dtype = DTYPES.get(kind.name.removesuffix("Storage"))
    if dtype is None or not kind.module.startswith("torch"):
        raise ReadError(
            Text(
                "a storage of a kind that torch does not have: {shown}.{shown2}",
                shown=make_printable(kind.module),
                shown2=make_printable(kind.name),
            )
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
    view = View(storage, dtype, shape_of((offset,))[0], shape_of(shape), shape_of(stride))
    if len(view.shape) != len(view.stride):
        raise ReadError("a tensor in the pickle is damaged")
    if (view.offset + view.extent) * BYTES[dtype] > storage.size_bytes and view.extent:
        raise ReadError(
            Text(
                "a tensor {shape!r:.80} reaches beyond its storage {shown} of {size_bytes:,} bytes",
                shape=list(view.shape),
                shown=make_printable(storage.key),
                size_bytes=storage.size_bytes,
            )
        )
    return view


def shape_of(values: object) -> tuple[int, ...]:
    """Return a shape, or strides, that a pickle states."""
    if not isinstance(values, tuple) or len(values) > DEEPEST or not all(type(value) is int and 0 <= value < LONGEST for value in values):
        raise ReadError("a shape or a stride in the pickle is not a list of whole numbers from 0 up")
    return values


def _tensor(storage: object, offset: object, shape: object, stride: object, *_: object) -> View:
    return _view(storage, offset, shape, stride)


def _tensor_of_type(
    storage: object, offset: object, shape: object, stride: object, _grad: object, _hooks: object, dtype: object, *_: object
) -> View:
    if not isinstance(dtype, Global) or dtype.name not in DTYPES:
        raise ReadError("a tensor in the pickle is of a type that torch does not have")
    return _view(storage, offset, shape, stride, DTYPES[dtype.name])


def _quantized_view(storage: object, offset: object, shape: object, stride: object, quantizer: object = None, *_: object) -> View:
    held = quantizer if isinstance(quantizer, tuple) and any(isinstance(value, View) for value in quantizer) else None
    return _view(storage, offset, shape, stride)._replace(
        attributes=held and dict(zip(("scheme", "scales", "zeros", "axis"), held, strict=False)), note=QUANTIZED
    )


def _parameter(data: object, *rest: object) -> object:
    state = rest[2] if len(rest) > 2 else None
    return data._replace(parameter=True, attributes=data.attributes or state) if isinstance(data, View) else data


def _meta(dtype: object, shape: object, stride: object, *_: object) -> View:
    return View(None, _dtype(dtype), 0, shape_of(shape), shape_of(stride))


def _dtype(dtype: object) -> str:
    if not isinstance(dtype, Global) or dtype.name not in DTYPES:
        raise ReadError("a tensor in the pickle is of a type that torch does not have")
    return DTYPES[dtype.name]


def _from_type(maker: object, kind: object, args: object, state: object = None) -> object:
    """Rebuild a tensor of a class of its own: the elements of a wrapper are in the tensors of its state."""
    known = MAKERS.get(maker) if isinstance(maker, Global) else None
    if known in (None, _from_type) or not isinstance(args, tuple):
        raise ReadError("a tensor of a class of its own, which cannot be read without its code")
    assert known is not None
    made = known(*args)
    if not isinstance(made, View):
        return made
    if maker != _WRAPPER:
        return made._replace(attributes=state or made.attributes)
    name = kind.name if isinstance(kind, Global) else "a class of its own"
    return made._replace(inner=views_in(state), note=f"a {make_printable(name)}, whose elements are in tensors of its own")


def _wrapper(_kind: object, dtype: object, shape: object, stride: object, *_: object) -> View:
    return View(None, _dtype(dtype), 0, shape_of(shape), shape_of(stride))


def _rebuild_sparse(layout: object, parts: object) -> View:
    """Rebuild a sparse tensor, of which the file holds indices and values: two or three tensors, then the shape."""
    inner = views_in(parts)
    shape = (
        next((part for part in parts if isinstance(part, tuple) and not isinstance(part, View)), None) if isinstance(parts, tuple) else None
    )
    if len(inner) not in (2, 3) or shape is None:
        raise ReadError("a sparse tensor in the pickle is damaged")
    shape = shape_of(shape)
    return View(
        None, inner[-1].dtype, 0, shape, (0,) * len(shape), inner=inner, note=f"sparse: {prod(inner[-1].shape):,} values are stored"
    )


def views_in(root: object) -> tuple[View, ...]:
    """Return the tensors within the state of another, each once."""
    pending, seen, found = [root], set[int](), list[View]()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if len(seen) > MOST_PARTS:
            raise ReadError(Text("a tensor of more than {most_parts:,} parts", most_parts=MOST_PARTS))
        if isinstance(node, View):
            found.append(node)
        elif isinstance(node, Stub):
            pending += (node.state, node.items, node.args)
        elif isinstance(node, dict):
            pending += reversed(node.values())
        elif isinstance(node, list | tuple):
            pending += reversed(node)
    return tuple(found)


def _dict(items: object = (), *_: object) -> object:
    """An ordered dict: of pairs, or empty and filled afterwards."""
    if isinstance(items, dict):
        return AttributedDict(items)
    if not isinstance(items, list | tuple) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in items):
        raise ReadError("a dict in the pickle is damaged")
    return AttributedDict({safe_key(key): value for key, value in items})


def _sequence(items: object = (), *_: object) -> object:
    """A tuple, a set or a queue, read for its contents."""
    return list(items.values() if isinstance(items, dict) else items) if isinstance(items, list | tuple | dict) else [items]


def _refuse_nested(*_: object) -> object:
    raise ReadError("a nested tensor, whose shape is a list of shapes; save what is in it")


_WRAPPER = Global("torch._utils", "_rebuild_wrapper_subclass")
_BUILTINS = ("builtins", "__builtin__")

MAKERS: Makers = {
    Global("collections", "OrderedDict"): _dict,
    Global("torch._utils", "_rebuild_tensor"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v3"): _tensor_of_type,
    Global("torch._utils", "_rebuild_qtensor"): _quantized_view,
    Global("torch._utils", "_rebuild_parameter"): _parameter,
    Global("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    Global("torch._utils", "_rebuild_meta_tensor_no_storage"): _meta,
    Global("torch._utils", "_rebuild_sparse_tensor"): _rebuild_sparse,
    Global("torch._utils", "_rebuild_sparse_csr_tensor"): _rebuild_sparse,
    Global("torch._utils", "_rebuild_nested_tensor"): _refuse_nested,
    Global("torch._utils", "_rebuild_device_tensor_from_numpy"): lambda data, *_: data,
    Global("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"): lambda data, *_: data,
    _WRAPPER: _wrapper,
    Global("torch._tensor", "_rebuild_from_type_v2"): _from_type,
    Global("torch", "Size"): lambda items=(): tuple(items),
    **{Global(module, name): _sequence for module in _BUILTINS for name in ("set", "frozenset", "list", "tuple")},
    Global("collections", "deque"): _sequence,
    Global("collections", "defaultdict"): lambda factory=None, *items: _dict(*items),
    Global("collections", "Counter"): _dict,
}
"""What the pickle may call: functions of ours that make a tensor's description, and nothing else."""
