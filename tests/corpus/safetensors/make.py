"""Write this corpus: ``python tests/corpus/safetensors/make.py``. Each file is small and shows one thing.

``valid`` must list; ``invalid`` must be refused with the message that stands in ``messages.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent


def frame(header: bytes, data: int = 0, length: int | None = None) -> bytes:
    """Put the length in front of a header and zeros behind it."""
    return (len(header) if length is None else length).to_bytes(8, "little") + header + bytes(data)


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, object]:
    """Return one tensor's entry."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def text(**entries: object) -> bytes:
    """Return a header as compact JSON."""
    return json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()


W = b'"w":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}'
W_HEADER = b"{" + W + b"}"
VALID = {
    "empty": frame(b"{}"),
    "matrix": frame(W_HEADER, 48),
    "padded": frame(W_HEADER + b"   ", 48),
    "metadata": frame(b'{"__metadata__":{"format":"pt"},' + W + b"}", 48),
    "scalar": frame(text(s=entry("F64", [], 0, 8)), 8),
    "zero_size": frame(text(z=entry("F32", [0, 768], 0, 0), w=entry("F32", [2], 0, 8)), 8),
    "sub_byte": frame(text(a=entry("F4", [2, 3], 0, 3), b=entry("F6_E2M3", [4], 3, 6), c=entry("F6_E3M2", [8], 6, 12)), 12),
    "eights": frame(
        text(**{kind: entry(kind, [2], 2 * n, 2 * n + 2) for n, kind in enumerate(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"))}),
        12,
    ),
    "unicode": frame(text(**{"слой.权重": entry("BF16", [5], 0, 10)}), 10),
    "unordered": frame(text(b=entry("I16", [2], 4, 8), a=entry("U16", [2], 0, 4)), 8),
    "no_module": frame(text(**{"": entry("I8", [1], 0, 1), "a..b": entry("I8", [1], 1, 2), ".": entry("I8", [1], 2, 3)}), 3),
    "traversal": frame(text(**{"../../etc/passwd": entry("I8", [1], 0, 1)}), 1),
    "leaf_and_module": frame(text(**{"a": entry("F16", [1], 0, 2), "a.b": entry("F16", [1], 2, 4)}), 4),
}
INVALID = {
    "nothing": (b"", "the file is empty"),
    "short": (b"\x02\0\0", "3 bytes are too short for safetensors, which begins with a length of 8 bytes (at byte 0)"),
    "length_2_63": (frame(b"{}", length=1 << 63), "a header of 9,223,372,036,854,775,808 bytes is above the format's limit of 100,000,000 (at byte 0)"),
    "length_above_cap": (frame(b"{}", length=100_000_001), "a header of 100,000,001 bytes is above the format's limit of 100,000,000 (at byte 0)"),
    "cut_header": (frame(W_HEADER)[:30], "the header should have 57 bytes, the file has 22 after the length; it is cut off (at byte 8)"),
    "cut_data": (frame(W_HEADER, 47), "the tensors take 48 bytes and 47 follow the header; the file is cut off (at byte 65)"),
    "extra_data": (frame(W_HEADER, 49), "the tensors take 48 bytes and 49 follow the header; the file has bytes that no tensor owns (at byte 65)"),
    "no_brace": (frame(b" {}"), "the header must begin with a brace (at byte 8)"),
    "length_zero": (frame(b""), "the header must begin with a brace (at byte 8)"),
    "not_json": (frame(b"{]"), "the header is not JSON: Expecting property name enclosed in double quotes (at byte 9)"),
    "not_utf8": (frame(b'{"\xff":1}'), "the header is not UTF-8 (at byte 10)"),
    "trailing": (frame(b"{}x"), "the header is not JSON: Extra data (at byte 10)"),
    "nested": (frame(b'{"a":' * 20_000 + b"1" + b"}" * 20_000), "the header is nested too deep (at byte 8)"),
    "duplicate": (frame(b"{" + W + b"," + W + b"}", 48), "the header has the key 'w' twice"),
    "duplicate_inside": (
        frame(b'{"w":{"dtype":"F32","dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}', 48), "the header has the key 'dtype' twice",
    ),
    "not_a_number": (frame(b'{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', 4), "the header holds NaN, which is not JSON"),
    "digits": (frame(b'{"w":' + b"9" * 5000 + b"}"), "the header holds a number of thousands of digits (at byte 8)"),
    "no_entry": (frame(b'{"w":1}'), "w: expected an object with dtype, shape and data_offsets"),
    "no_dtype": (frame(b'{"w":{"shape":[3,4],"data_offsets":[0,48]}}', 48), "w: expected an object with dtype, shape and data_offsets"),
    "one_entry": (frame(b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}', 4),
                  "the header is not an object with an entry for each name (at byte 8)"),
    "unknown_dtype": (frame(text(w=entry("F33", [1], 0, 4)), 4), "w: the format has no dtype 'F33'"),
    "dtype_lie": (frame(text(w=entry("F16", [3, 4], 0, 48)), 48), "w: F16 [3, 4] takes 24 bytes; its offsets hold 48 bytes"),
    "shape_lie": (frame(text(w=entry("F32", [3, 5], 0, 48)), 48), "w: F32 [3, 5] takes 60 bytes; its offsets hold 48 bytes"),
    "half_byte": (frame(text(w=entry("F4", [3], 0, 2)), 2), "w: F4 [3] takes 12 bits, which are no whole bytes; its offsets hold 2 bytes"),
    "negative": (frame(text(w=entry("F32", [-1], 0, 4)), 4), "w: shape must be a list of whole numbers from 0 up to 2^63"),
    "bool_shape": (frame(b'{"w":{"dtype":"F32","shape":[true],"data_offsets":[0,4]}}', 4), "w: shape must be a list of whole numbers from 0 up to 2^63"),
    "float_shape": (frame(b'{"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', 4), "w: shape must be a list of whole numbers from 0 up to 2^63"),
    "text_shape": (frame(b'{"w":{"dtype":"F32","shape":"1","data_offsets":[0,4]}}', 4), "w: shape must be a list of whole numbers from 0 up to 2^63"),
    "backwards": (frame(text(w=entry("F32", [1], 4, 0)), 4), "w: data_offsets must be a begin and an end, found [4, 0]"),
    "three_offsets": (frame(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}', 4), "w: data_offsets must be a begin and an end, found [0, 4, 8]"),
    "overlap": (frame(text(a=entry("F32", [2], 0, 8), b=entry("F32", [2], 4, 12)), 12),
                "b: its bytes begin at 4 where 8 is due; tensors must not overlap"),
    "hole": (frame(text(a=entry("F32", [2], 0, 8), b=entry("F32", [2], 12, 20)), 20),
             "b: its bytes begin at 12 where 8 is due; tensors must not leave a hole"),
    "late_start": (frame(text(a=entry("F32", [2], 4, 12)), 12), "a: its bytes begin at 4 where 0 is due; tensors must not leave a hole"),
    "metadata_list": (frame(b'{"__metadata__":[]}'), "__metadata__ must be an object whose values are strings"),
    "metadata_number": (frame(b'{"__metadata__":{"n":1}}'), "__metadata__ must be an object whose values are strings"),
    "surrogate": (frame(b'{"\\ud800":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}', 1), "\\ud800: the name is not text"),
    "dimensions": (frame(text(w=entry("I8", [1] * 65, 0, 1)), 1), "w: a tensor of 65 dimensions"),
}  # fmt: skip


def main() -> None:
    """Write every file and the messages."""
    for folder in ("valid", "invalid"):
        (HERE / folder).mkdir(exist_ok=True)
    for name, content in VALID.items():
        (HERE / "valid" / f"{name}.safetensors").write_bytes(content)
    for name, (content, _) in INVALID.items():
        (HERE / "invalid" / f"{name}.safetensors").write_bytes(content)
    messages = {name: message for name, (_, message) in INVALID.items()}
    (HERE / "messages.json").write_text(json.dumps(messages, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
