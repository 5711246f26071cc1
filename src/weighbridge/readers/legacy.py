"""Files that are recognised and not read: each is refused with what it is and a way forward.

Source: llama.cpp before GGUF, llama.h (LLAMA_FILE_MAGIC_*);
onnxruntime, core/flatbuffers; Git LFS, docs/spec.md
"""

from __future__ import annotations

import re
from typing import BinaryIO, NoReturn

from weighbridge.core.errors import ReadError

_CONVERT = "convert it to GGUF (llama.cpp's convert_llama_ggml_to_gguf.py did that until 2024), or take the model it was made from"
_UNPACK = "unpack it and name what is inside"
_FETCH = "fetch the file itself"

MAGICS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), message)
    for pattern, message in (
        (rb"lmgg", f"a GGML file, from before GGUF; its tensors have no table: {_CONVERT}"),
        (rb"fmgg", f"a GGMF file, from before GGUF; its tensors have no table: {_CONVERT}"),
        (rb"tjgg", f"a GGJT file, from before GGUF; its tensors have no table: {_CONVERT}"),
        (rb"algg", "a GGLA file, llama.cpp's old format of adapters: take the adapter it was made from"),
        (rb"....ORTM", "an ONNX Runtime model (.ort): weigh the .onnx file that it was converted from"),
        (rb"ftrt", "a TensorRT engine, which is made for one device: weigh the model that it was built from"),
        (rb"MZqFpD", "a llamafile, a program with a GGUF file inside: unzip it and name that"),
        (rb"\x08\x01\x12", "a saved_model.pb, the graph of a SavedModel: its variables stand in variables/variables.index; name that"),
        (
            rb"\n.{1,3}\n.[\x20-\x7e]{1,200}\x12.(Placeholder|Const|Identity|VariableV2|NoOp)[\x12\x1a\x22*]",
            "a graph of TensorFlow (GraphDef), whose weights are constants in it: weigh the checkpoint that it was frozen from, or convert it to ONNX",
        ),
        (rb"\xba\x16\x4f\x2f", "a model of fastText, which is not read: it states its sizes itself (fasttext dump MODEL args)"),
        (rb"\x12\x01\0\0\0\0\0\0", "an MXNet file of parameters: export the model to ONNX"),
        (rb"7767517\n", "an ncnn file of parameters: weigh the model that it was converted from"),
        (rb"version https://git-lfs", f"a pointer of Git LFS, in place of the file; git lfs pull will {_FETCH}"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<(?i:!doctype html|html|head|body)\b", f"a web page, in place of a file; {_FETCH}"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<Error>", f"an object store's word of an error, in place of a file; {_FETCH}"),
        (
            rb"\s*(?:<\?xml[^>]*>\s*)?<opencv_storage>",
            "a file of OpenCV (a cascade, a classifier, matrices), which holds no neural network's tensors",
        ),
        (rb"\s*<(?:!DOCTYPE|\?xml(?!.{0,200}<net[\s>]))", "an XML file that is no network of OpenVINO"),
        (rb"\x1f\x8b", f"a gzip archive; {_UNPACK}"),
        (rb"\x28\xb5\x2f\xfd", f"a Zstandard archive; {_UNPACK}"),
        (rb"BZh[1-9]1AY", f"a bzip2 archive; {_UNPACK}"),
        (rb"\xfd7zXZ\0", f"an xz archive; {_UNPACK}"),
        (rb"7z\xbc\xaf\x27\x1c", f"a 7z archive; {_UNPACK}"),
        (rb"Rar!\x1a\x07", f"a RAR archive; {_UNPACK}"),
        (rb"PAR1", "a Parquet file, which holds tables and no model"),
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
    message = next((message for pattern, message in MAGICS if pattern.match(head)), "a format that is not read")
    raise ReadError(message, offset=0)
