"""Formats that are recognized but not read: each is refused with its name and a way forward.

Source: llama.cpp before GGUF, llama.h (LLAMA_FILE_MAGIC_*);
onnxruntime, core/flatbuffers; Git LFS, docs/spec.md
"""

from __future__ import annotations

import re
from typing import BinaryIO, NoReturn

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text, mark

_CONVERT = mark("convert it to GGUF (llama.cpp's convert_llama_ggml_to_gguf.py did that until 2024), or take the model it was made from")
_UNPACK = mark("unpack it and name what is inside")
_FETCH = mark("fetch the file itself")

MAGICS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), message)
    for pattern, message in (
        (rb"lmgg", Text("a GGML file, from before GGUF; its tensors have no table: {way}", way=_CONVERT)),
        (rb"fmgg", Text("a GGMF file, from before GGUF; its tensors have no table: {way}", way=_CONVERT)),
        (rb"tjgg", Text("a GGJT file, from before GGUF; its tensors have no table: {way}", way=_CONVERT)),
        (rb"algg", mark("a GGLA file, llama.cpp's old format of adapters: take the adapter it was made from")),
        (rb"....ORTM", mark("an ONNX Runtime model (.ort): weigh the .onnx file that it was converted from")),
        (rb"ftrt", mark("a TensorRT engine, which is made for one device: weigh the model that it was built from")),
        (rb"MZqFpD", mark("a llamafile, a program with a GGUF file inside: unzip it and name that")),
        (
            rb"\x08\x01\x12",
            mark("a saved_model.pb, the graph of a SavedModel: its variables stand in variables/variables.index; name that"),
        ),
        (
            rb"\n.{1,3}\n.[\x20-\x7e]{1,200}\x12.(Placeholder|Const|Identity|VariableV2|NoOp)[\x12\x1a\x22*]",
            mark(
                "a graph of TensorFlow (GraphDef), whose weights are constants in it: weigh the checkpoint that it was frozen from, or convert it to ONNX"
            ),
        ),
        (rb"\xba\x16\x4f\x2f", mark("a fastText model, which is not read; it prints its sizes itself (fasttext dump MODEL args)")),
        (rb"\x12\x01\0\0\0\0\0\0", mark("an MXNet file of parameters: export the model to ONNX")),
        (rb"7767517\n", mark("an ncnn file of parameters: weigh the model that it was converted from")),
        (rb"version https://git-lfs", mark("a pointer of Git LFS, in place of the file; git lfs pull will fetch the file itself")),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<(?i:!doctype html|html|head|body)\b", Text("a web page, in place of a file; {way}", way=_FETCH)),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<Error>", Text("an object store's error message, in place of a file; {way}", way=_FETCH)),
        (
            rb"\s*(?:<\?xml[^>]*>\s*)?<opencv_storage>",
            mark("a file of OpenCV (a cascade, a classifier, matrices), which holds no neural network's tensors"),
        ),
        (rb"\s*<(?:!DOCTYPE|\?xml(?!.{0,200}<net[\s>]))", mark("an XML file that is no network of OpenVINO")),
        (rb"\x1f\x8b", Text("a gzip archive; {way}", way=_UNPACK)),
        (rb"\x28\xb5\x2f\xfd", Text("a Zstandard archive; {way}", way=_UNPACK)),
        (rb"\x04\x22\x4d\x18", Text("an LZ4 archive, as joblib writes too; {way}", way=_UNPACK)),
        (rb"BZh[1-9]1AY", Text("a bzip2 archive; {way}", way=_UNPACK)),
        (rb"\xfd7zXZ\0", Text("an xz archive; {way}", way=_UNPACK)),
        (rb"7z\xbc\xaf\x27\x1c", Text("a 7z archive; {way}", way=_UNPACK)),
        (rb"Rar!\x1a\x07", Text("a RAR archive; {way}", way=_UNPACK)),
        (rb"PAR1", mark("a Parquet file, which holds tables and no model")),
    )
)
"""How each begins, and what to say."""


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as one of those that are not read.

    >>> sniff(b"tjgg\\x03\\x00\\x00\\x00")
    True
    """
    return any(pattern.match(head) for pattern, _ in MAGICS)


def read(file: BinaryIO) -> NoReturn:
    """Refuse the file.

    Raises:
        ReadError: Always: what it is, and what to do.
    """
    file.seek(0)
    head = file.read(256)
    message = next((message for pattern, message in MAGICS if pattern.match(head)), mark("a format that is not read"))
    raise ReadError(message, offset=0)
