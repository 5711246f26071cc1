"""What the safetensors library writes, the reader lists: every name, type and shape, and every byte accounted for."""

from __future__ import annotations

from io import BytesIO

import numpy
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from tests.property.strategies import any_names, any_shapes
from weighbridge.readers import safetensors

DTYPES = {
    "F64": "f8",
    "F32": "f4",
    "F16": "f2",
    "I64": "i8",
    "I32": "i4",
    "I16": "i2",
    "I8": "i1",
    "U64": "u8",
    "U32": "u4",
    "U16": "u2",
    "U8": "u1",
    "BOOL": "?",
    "C64": "c8",
}


@given(
    st.dictionaries(any_names, st.tuples(st.sampled_from(sorted(DTYPES)), any_shapes), max_size=8),
    st.dictionaries(st.text(), st.text(), max_size=2),
)
def test_written_by_the_library_and_read_here(tensors: dict[str, tuple[str, tuple[int, ...]]], metadata: dict[str, str]) -> None:
    content = save({name: numpy.zeros(shape, DTYPES[dtype]) for name, (dtype, shape) in tensors.items()}, metadata or None)
    listing = safetensors.read(BytesIO(content))
    assert {tensor.name: (tensor.dtype, tensor.shape) for tensor in listing.tensors} == tensors
    assert listing.metadata == metadata
    assert listing.size_bytes == len(content) - 8 - int.from_bytes(content[:8], "little")
