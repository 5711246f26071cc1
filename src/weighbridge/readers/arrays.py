"""NumPy's arrays in a pickle: their shape and type, held against the bytes that the pickle gives them.

Source: numpy/_core/src/multiarray/methods.c (``array_reduce``: a call, then the state version, shape, type, order, bytes),
numpy/_core/numeric.py (``_frombuffer``, protocol 5), numpy/ma/core.py (``_mareconstruct``).
"""

from __future__ import annotations

import re
from math import prod

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import DEEPEST, LONGEST
from weighbridge.readers.pickle_values import Global, LongText, Raw, Stub
from weighbridge.readers.torch_storages import Storage, View

_TYPE = re.compile(r"([biufcVSUOmM])(\d{1,6})")
_LETTERS = {"b": "BOOL", "i": "I", "u": "U", "f": "F", "c": "C", "V": "V"}
_ITEMS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16), "c": (8, 16, 32)}
_BYTES = (Global("_codecs", "encode"), Global("__builtin__", "bytes"), Global("builtins", "bytearray"), Global("__builtin__", "bytearray"))
"""Calls by which protocols before 3, and 5, write bytes."""

_NAMED = {
    "bfloat16": ("BF16", 2),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", 1),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 1),
    "float8_e8m0fnu": ("F8_E8M0", 1),
}
"""Types of the package ml_dtypes, which are written by name."""


def array_of(node: Stub) -> View | list[object] | None:
    """Return the array that a call in a pickle makes; of an array of objects what it holds; None if it makes something else.

    Raises:
        ReadError: Its bytes do not fit its shape and type.
    """
    maker = node.maker
    if not isinstance(maker, Global) or not maker.module.startswith("numpy"):
        return None
    if maker.name in ("_reconstruct", "_mareconstruct"):
        state = node.state if isinstance(node.state, tuple) else ()
        parts = state[1:5] if len(state) in (5, 7) else state
        if len(parts) != 4:
            raise ReadError("a NumPy array in the pickle is damaged")
        shape, dtype, _, data = parts
    elif maker.name == "_frombuffer" and isinstance(node.args, tuple) and len(node.args) == 4:
        data, dtype, shape, _ = node.args
    else:
        return None
    if isinstance(data, list):
        return data
    return _view(f"array {id(node)}", shape, *_type(dtype), _length(data))


def _view(key: str, shape: object, dtype: str, item: int, length: int | None) -> View:
    if not isinstance(shape, tuple) or len(shape) > DEEPEST or not all(type(size) is int and 0 <= size < LONGEST for size in shape):
        raise ReadError("a NumPy array in the pickle has no shape")
    if length is None or length != prod(shape) * item:
        raise ReadError(
            Text("a NumPy array {shape!r:.80} of {dtype} in the pickle has {length} bytes", shape=list(shape), dtype=dtype, length=length)
        )
    stride = tuple(prod(shape[place + 1 :]) for place in range(len(shape)))
    return View(Storage(key, dtype, length), dtype, 0, shape, stride, other_bytes=item)


def _type(dtype: object) -> tuple[str, int]:
    """Return the name of a type, as safetensors spells it, and the bytes of an element."""
    args = dtype.args if isinstance(dtype, Stub) and isinstance(dtype.args, tuple) else ()
    word = args[0] if args else None
    if isinstance(word, Global):
        word = word.name
    if word in _NAMED:
        return _NAMED[word]
    known = _TYPE.fullmatch(word) if isinstance(word, str) else None
    size = int(known[2]) if known else 0
    if known is None or size not in _ITEMS.get(known[1], (size,)):
        raise ReadError(Text("a NumPy array in the pickle is of the type {word!r:.60}, which is not known", word=word))
    if known[1] == "b":
        return "BOOL", 1
    if known[1] in "SU":
        return "STRING", size * (4 if known[1] == "U" else 1)
    return (f"{_LETTERS.get(known[1], 'TIME')}{8 * size if known[1] != 'V' else size}"), size


def _length(data: object) -> int | None:
    """Return the number of bytes of an array's data: a bytes object, or the text that protocols before 3 write instead."""
    if isinstance(data, Stub) and isinstance(data.args, tuple) and data.maker in _BYTES:
        data = data.args[0] if data.args else b""
    if isinstance(data, LongText):
        return data.letters
    if isinstance(data, Raw):
        return data.length
    return len(data) if isinstance(data, bytes | str) else None
