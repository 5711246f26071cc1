from __future__ import annotations

import io

import pytest

from weighbridge.core.errors import ReadError
from weighbridge.readers import FORMATS, legacy, list_open


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"lmgg\x00", "a GGML file, from before GGUF"),
        (b"fmgg\x01", "a GGMF file, from before GGUF"),
        (b"tjgg\x03", "a GGJT file, from before GGUF"),
        (b"algg\x01", "a GGLA file, llama.cpp's old format of adapters"),
        (b"\x1c\x00\x00\x00ORTM", "an ONNX Runtime model"),
        (b"\x08\x01\x12\x90\x01", "a saved_model.pb, the graph of a SavedModel"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS, in place of the file"),
        (b"<!DOCTYPE html><html>", "a web page, in place of a file"),
        (b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', "a web page, in place of a file"),
        (b'<?xml version="1.0"?>\n<opencv_storage>\n<cascade>', "a file of OpenCV"),
        (
            b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code>',
            "an object store's error message, in place of a file",
        ),
        (b'<?xml version="1.0"?><PMML version="4.4">', "an XML file that is no network of OpenVINO"),
        (b"\n4\n\x0bPlaceholder\x12\x0bPlaceholder*\n\n\x05shape\x12\x02:\x00", "a graph of TensorFlow"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "a fastText model"),
        (b"\x1f\x8b\x08", "a gzip archive; unpack it"),
        (b"\x04\x22\x4d\x18\x40\x40\xc0", "an LZ4 archive, as joblib writes too; unpack it"),
    ],
)
@pytest.mark.parametrize("name", ["model.bin", "model.safetensors", "model"])
def test_what_is_not_read_says_what_it_is(head: bytes, message: str, name: str) -> None:
    with pytest.raises(ReadError, match=message):
        list_open(io.BytesIO(head + bytes(100)), name)


def test_what_others_read_is_left_to_them() -> None:
    heads = [
        b"GGUF\x03\0\0\0",
        b"PK\x03\x04",
        b"\x80\x02}",
        b"\x08\x08\x12\x07pytorch",
        b"\x89HDF\r\n\x1a\n",
        b"\x40\0\0\0\0\0\0\0{",
        b"\0\0\x06\x08\x01\x1a\x02\x08\x01",
    ]
    assert not any(legacy.sniff(head) for head in heads)
    assert FORMATS[0].module == "legacy"
