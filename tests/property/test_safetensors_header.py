"""The quick way through a safetensors header and the JSON parser agree: a header that the quick way takes reads the same by the other."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge.core.errors import ReadError
from weighbridge.readers import safetensors
from weighbridge.readers.listing import Listing

NAMES = ("w", "a.weight", "__metadata__", "词", 'q"x', "back\\slash", "tab\t", "é", "\u2028", "{", "}: {", "", "x,y", "\x7f", "😀", "dtype")
NUMBERS = ("0", "4", "8", "04", "1e3", "4.0", "-0", "-4", " 4", "4 ", "99999999999999999999", "true", "null", '"4"', "٤")
DTYPES = ("F32", "I8", "F16", "F4", "NOPE", "f32", "F３２")
METADATA = (
    '{"format": "pt"}',
    "{}",
    "null",
    '{"a": "b", "a": "c"}',
    '{"a": 1}',
    '{"a": {"dtype":"F32","shape":[],"data_offsets":[0,4]}}',
    '{"a": "}"}',
    '{"a": "{"}',
    '{"a": "\\"w\\":{\\"dtype\\":\\"F32\\",\\"shape\\":[1],\\"data_offsets\\":[0,4]}"}',
    "[]",
    '{"a":"\\u0041"}',
    '{"total": "4"} ',
)
BLANKS = st.sampled_from(("", "", "", " ", "  ", "\n", "\t"))
NUMBER = st.one_of(st.sampled_from(NUMBERS), st.integers(0, 64).map(str))


@st.composite
def entries(draw: st.DrawFn) -> str:
    """Write one tensor's entry, mostly as the library does, sometimes otherwise."""
    name, blank = draw(st.sampled_from(NAMES)), draw(BLANKS)
    quoted = json.dumps(name, ensure_ascii=draw(st.booleans())) if draw(st.integers(0, 9)) else f'"{name}"'
    begin, size = draw(st.integers(0, 16)) * 4, draw(st.integers(0, 4))
    shape = draw(st.one_of(st.just(str(size)), st.lists(NUMBER, max_size=3).map(", ".join)))
    offsets = f"{begin}, {begin + 4 * size}" if draw(st.integers(0, 4)) else ",".join(draw(st.lists(NUMBER, max_size=3)))
    fields = [f'"dtype":{blank}"{draw(st.sampled_from(DTYPES))}"', f'"shape":{blank}[{shape}]', f'"data_offsets": [{offsets}]']
    if not draw(st.integers(0, 6)):
        fields = draw(st.permutations(fields))
    if not draw(st.integers(0, 9)):
        fields.append(draw(st.sampled_from(('"more": 1', fields[0], '"shape": []'))))
    return f"{quoted}:{blank}{{{', '.join(fields)}}}"


@st.composite
def headers(draw: st.DrawFn) -> bytes:
    """Write a header of a few tensors, with metadata anywhere, blanks, commas too many, and twice the same."""
    pieces = draw(st.lists(entries(), max_size=4))
    if pieces and not draw(st.integers(0, 3)):
        pieces.append(draw(st.sampled_from(pieces)))
    for text in draw(st.lists(st.sampled_from(METADATA), max_size=2)):
        pieces.insert(draw(st.integers(0, 1)) * len(pieces), f'"__metadata__":{draw(BLANKS)}{text}')
    separator = draw(st.sampled_from((",", ", ", " ,", ",,")))
    end = draw(st.sampled_from(("", "", "   ", "\n", "}", " x")))
    return (draw(BLANKS) + "{" + separator.join(pieces) + "}" + end).encode("utf-8", "surrogatepass")


def read(header: bytes) -> Listing | str:
    """Read a file of this header and of as many bytes as its tensors take; what is refused gives the reason."""
    data = len(header).to_bytes(8, "little") + header
    for room in (0, 4, 8, 16, 64):
        try:
            return safetensors.read(io.BytesIO(data + bytes(room)))
        except ReadError as error:
            why = str(error)
    return why


@settings(max_examples=600, deadline=None)
@given(headers())
def test_the_quick_way_never_differs(header: bytes) -> None:
    usual = safetensors._read_usual_form
    try:
        found = usual(header)
    except ReadError:  # metadata that is refused: the other way must refuse the file too
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(safetensors, "_read_usual_form", lambda header: None)
            assert isinstance(read(header), str)
        return
    if found is None:
        return
    quick = read(header)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(safetensors, "_read_usual_form", lambda header: None)
        assert quick == read(header)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=8), st.integers(0, 4)), max_size=5, unique_by=lambda pair: pair[0]), st.booleans())
def test_what_json_writes_is_read_either_way(tensors: list[tuple[str, int]], ascii: bool) -> None:
    table, at = {}, 0
    for name, size in tensors:
        table[name] = {"dtype": "F32", "shape": [size], "data_offsets": [at, at := at + 4 * size]}
    header = json.dumps(table, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        quick = read(header)
        patch.setattr(safetensors, "_read_usual_form", lambda header: None)
        assert quick == read(header)
