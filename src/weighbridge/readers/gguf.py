"""GGUF versions 2 and 3: metadata, then a table of tensors, then their data, which is not read.

Source: github.com/ggml-org/ggml, docs/gguf.md; block sizes: ggml/src/ggml-common.h, where QK_K is 256.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from struct import Struct
from typing import Any, BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text, mark
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.gguf_table import BORROWED, KNOWN, UNJUDGED, explain_no_description
from weighbridge.readers.listing import LONGEST, MOST_TENSORS, Listing, StoredTensor

MAGIC = b"GGUF"
MOST_KEYS = 1 << 16
MOST_STRINGS = 1 << 21
"""The most keys of metadata, and strings in their arrays (a tokenizer has one per token), that a file may have."""
KEPT_ARRAY = 1024
"""Arrays of numbers up to this length are kept (one per layer, say); longer ones, and texts, are passed over."""

TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    31: ("Q4_0_4_4", 32, 18),
    32: ("Q4_0_4_8", 32, 18),
    33: ("Q4_0_8_8", 32, 18),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
}
"""By the number of each ggml type: its name, the elements of a block, and the bytes of a block."""

UNDEFINED = mark("which ggml does not define")
GONE = {
    4: mark("Q4_2, which was dropped in 2023"),
    5: mark("Q4_3, which was dropped in 2023"),
    9: mark("Q8_1, which is for results in between and has had two sizes"),
    36: mark("IQ4_NL_4_4 to one program and I2_S to another"),
    37: mark("IQ4_NL_4_8, which is not for files"),
    38: mark("IQ4_NL_8_8, which is not for files"),
}
"""Numbers of types that ggml has dropped, or whose size is not certain; what they were, for the message."""

BUFFERS = re.compile(r"(.*\.)?(rope_freqs|rope_factors_long|rope_factors_short|attn_rot_embd)(\.weight)?|.*\.exp_probs_b(\.bias)?")
"""Tensors that are saved but not learned: rotary frequencies and their factors, and the routers' load-balancing bias (gguf-py, constants.py)."""

HEADLESS = frozenset(
    "bert nomic-bert nomic-bert-moe jina-bert-v2 jina-bert-v3 modern-bert neo-bert eurobert t5encoder clip gemma-embedding llama-embed".split()
)
"""Architectures without an output matrix; in the others, if ``output.weight`` is missing, it is tied to the embeddings."""

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
"""Numbers of the types of metadata values: with the :mod:`struct` code of each scalar, then of strings and of arrays."""


class SkippedValue(NamedTuple):
    """A long string or array that was skipped, not kept: of what it consists (``character``, ``text`` or ``number``), and of how many."""

    kind: str
    length: int


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as GGUF does.

    >>> sniff(b"GGUF\\x03\\x00\\x00\\x00")
    True
    """
    return head[:4] == MAGIC


def read(file: BinaryIO) -> Listing:
    """List the tensors of a GGUF file; a file that is cut off after its table of tensors is read too.

    Texts and arrays too long to be kept stand in the metadata as :class:`SkippedValue`.

    Raises:
        ReadError: Not GGUF 2 or 3, damaged, or cut off before the table's end.
    """
    cursor = Cursor(file)
    if cursor.take(4, "magic number") != MAGIC:
        cursor.fail("no GGUF file: it does not begin with GGUF", 0)
    order = _byte_order(cursor)
    counts = cursor.unpack(Struct(order + "2Q"), "number of tensors and keys")
    if counts[0] > MOST_TENSORS or counts[1] > MOST_KEYS:
        cursor.fail(
            Text(
                "{tensors:,} tensors and {keys:,} keys; at most {most_tensors:,} and {most_keys:,} are accepted",
                tensors=counts[0],
                keys=counts[1],
                most_tensors=MOST_TENSORS,
                most_keys=MOST_KEYS,
            ),
            8,
        )
    metadata = _metadata(cursor, order, counts[1])
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or not 0 < alignment <= 1 << 20 or alignment & (alignment - 1):
        cursor.fail(Text("general.alignment is {alignment!r:.40}, expected a power of two", alignment=alignment))
    tensors, length = _table(cursor, order, counts[0], alignment)
    data = _skip_padding(cursor, alignment) if tensors else cursor.at
    missing = _missing_bytes(cursor, data + length, alignment)
    return Listing("gguf", tuple(tensors), metadata, tuple(_notes(metadata, tensors, missing)))


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return by name where each tensor's bytes begin, how many they are, and their type; an empty dict for a file that is cut off."""
    file.seek(0)
    listing = read(file)
    alignment = listing.metadata.get("general.alignment", 32)
    assert isinstance(alignment, int)
    found, end = {}, 0
    for tensor in listing.tensors:
        begin = -(-end // alignment) * alignment
        found[tensor.name] = (begin, tensor.size_bytes, tensor.dtype)
        end = begin + tensor.size_bytes
    data = (file.seek(0, 2) - end) // alignment * alignment
    return {name: (data + begin, size, dtype) for name, (begin, size, dtype) in found.items()} if data > 0 else {}


def check_whole(listing: Listing) -> Listing:
    """Return the listing of a split file, whose parts have been put together, with the notes that hold only for the whole.

    Raises:
        ReadError: They are not as many tensors as the first part says.
    """
    stated = listing.metadata.get("split.tensors.count")
    if type(stated) is int and stated != len(listing.tensors):
        raise ReadError(Text("the parts hold {count:,} tensors; the first says {stated:,}", count=len(listing.tensors), stated=stated))
    return listing._replace(notes=(*listing.notes, *_model_notes(listing.metadata, listing.tensors)))


def _notes(metadata: dict[str, Any], tensors: list[StoredTensor], missing: int) -> Iterator[str]:
    """Yield notes: truncated files, missing parts, ties."""
    parts, part = metadata.get("split.count", 1), metadata.get("split.no", 0)
    if missing:
        yield Text("the file ends {missing:,} bytes before its tensors do; its table is whole", missing=missing)
    if type(parts) is int and type(part) is int and parts > 1:
        yield Text(
            "one part of several: number {part:,} of {parts:,}; the others' tensors are not in this file", part=part + 1, parts=parts
        )
    else:
        yield from _model_notes(metadata, tensors)


def _model_notes(metadata: Mapping[str, object], tensors: Iterable[StoredTensor]) -> Iterator[str]:
    """Say what kind of file it is, and whether the output matrix is tied."""
    named = {tensor.name: tensor for tensor in tensors}
    kind = metadata.get("general.type", "model")
    if kind == "adapter" and metadata.get("adapter.type") == "lora":
        yield _lora(metadata, named)
    elif kind != "model":
        yield Text("the file says that it is of type {kind!r:.40}, not a whole model", kind=kind)
    else:
        yield from _architecture_notes(metadata.get("general.architecture"))
    table = named.get("token_embd.weight")
    if table is None:
        return
    if "output.weight" not in named and metadata.get("general.architecture") not in HEADLESS:
        yield Text("no output.weight: token_embd.weight serves as the output matrix too (tied)")
    tokens = metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, SkippedValue) and len(table.shape) == 2 and table.shape[0] != tokens.length:
        yield Text("token_embd.weight has {rows:,} rows for {tokens:,} tokens", rows=table.shape[0], tokens=tokens.length)


def _architecture_notes(architecture: object) -> Iterator[str]:
    """Say if no blueprint describes an architecture, or one of another family with the same tensors."""
    if not isinstance(architecture, str):
        return
    if architecture in UNJUDGED:
        yield explain_no_description(architecture)
    elif architecture not in KNOWN or " " in architecture:
        yield Text("the architecture {name!r:.60} is not described: its tensors are counted as they are", name=architecture)
    elif architecture in BORROWED:
        yield Text(
            "the architecture {name!r} is described by {class_name}, whose tensors are the same",
            name=architecture,
            class_name=KNOWN[architecture].class_name,
        )


def _lora(metadata: Mapping[str, object], named: Mapping[str, StoredTensor]) -> str:
    """Describe a LoRA file: base architecture, pairs of matrices, ranks, and unpaired matrices."""
    halves = [{name.removesuffix(end) for name in named if name.endswith(end)} for end in (".lora_a", ".lora_b")]
    pairs, alone = halves[0] & halves[1], halves[0] ^ halves[1]
    ranks = sorted({named[f"{name}.lora_a"].shape[0] for name in pairs if named[f"{name}.lora_a"].shape})
    shown = ", ".join(map(str, ranks[:4])) + (", ..." if len(ranks) > 4 else "")
    lacking = Text("; {count:,} halves lack their other half", count=len(alone)) if alone else ""
    return Text(
        "a LoRA for the architecture {name!r:.40}: {pairs:,} pairs of rank {ranks}{lacking}",
        name=metadata.get("general.architecture"),
        pairs=len(pairs),
        ranks=shown or Text("unknown"),
        lacking=lacking,
    )


def _byte_order(cursor: Cursor) -> str:
    """Read the version, and return the byte order in which it is 2 or 3."""
    raw = cursor.take(4, "version")
    order = "<" if int.from_bytes(raw[:2], "little") else ">"
    version = int.from_bytes(raw, "little" if order == "<" else "big")
    if version == 1:
        cursor.fail("GGUF version 1, of August 2023, is not read; convert it with llama.cpp's quantize tool", 4)
    if version not in (2, 3):
        cursor.fail(Text("GGUF version {version:,}; versions 2 and 3 are read", version=version), 4)
    return order


def _metadata(cursor: Cursor, order: str, count: int) -> dict[str, Any]:
    """Read *count* keys and their values."""
    length, kind = Struct(order + "Q"), Struct(order + "I")
    layouts = {number: Struct(order + code) for number, code in SCALARS.items()}
    metadata: dict[str, Any] = {}
    strings = MOST_STRINGS
    for _ in range(count):
        start = cursor.at
        key = cursor.text(cursor.number(length, "length of a key"), "key")
        if key in metadata:
            cursor.fail(Text("the key {key!r:.60} occurs twice", key=key), start)
        number = cursor.number(kind, "type")
        if number == ARRAY:
            metadata[key] = _array(cursor, layouts, strings)
            strings -= metadata[key].length if isinstance(metadata[key], SkippedValue) and metadata[key].kind == "text" else 0
        elif number == STRING:
            metadata[key] = _text(cursor, cursor.number(length, "length of a text"))
        else:
            metadata[key] = _scalar(cursor, layouts, number)
    return metadata


def _text(cursor: Cursor, size: int) -> object:
    """Read a text, or pass over one as long as a chat template or a serialized tokenizer."""
    if size <= 1 << 10:
        return cursor.text(size, "text")
    cursor.skip(size, "text")
    return SkippedValue("character", size)


def _scalar(cursor: Cursor, layouts: dict[int, Struct], number: int) -> Any:
    if number not in layouts:
        cursor.fail(Text("{number:,} is no type of a value", number=number))
    layout = layouts[number]
    raw = cursor.take(layout.size)
    if number == 7 and raw > b"\1":
        cursor.fail(Text("a bool of {raw}, expected 0 or 1", raw=raw[0]), cursor.at - 1)
    return layout.unpack(raw)[0]


def _array(cursor: Cursor, layouts: dict[int, Struct], strings: int) -> Any:
    """Read an array of metadata; a long one, and one of texts, is skipped, and only its length is kept."""
    number = cursor.number(layouts[4], "type")
    length = cursor.number(layouts[10], "length of an array")
    if number == STRING:
        if length > strings:
            cursor.fail(Text("an array of {length:,} texts; at most {strings:,} more are accepted", length=length, strings=strings))
        for _ in range(length):
            cursor.skip(cursor.number(layouts[10], "length of a text"), "text")
        return SkippedValue("text", length)
    if number not in layouts:
        cursor.fail(Text("{number:,} is no type of an array's values", number=number))
    layout = layouts[number]
    if length > KEPT_ARRAY:
        cursor.skip(length * layout.size, "array")
        return SkippedValue("number", length)
    return tuple(_scalar(cursor, layouts, number) for _ in range(length))


def _table(cursor: Cursor, order: str, count: int, alignment: int) -> tuple[list[StoredTensor], int]:
    """Read the table of tensors; return them, and how many bytes their data should have."""
    word, long = Struct(order + "I"), Struct(order + "Q")
    shapes = [Struct(f"{order}{n}QIQ") for n in range(5)]
    tensors: list[StoredTensor] = []
    names: set[str] = set()
    end = 0
    for _ in range(count):
        at = cursor.at
        name = cursor.text(cursor.number(long, "length of a name"), "tensor's name", 1 << 12)
        rank = cursor.number(word, "number of dimensions")
        if rank > 4:
            cursor.fail(Text("{name!r:.80} has {rank:,} dimensions, at most 4 are possible", name=name, rank=rank), at)
        *sizes, kind, start = cursor.unpack(shapes[rank], "shape")
        if name in names:
            cursor.fail(Text("the tensor {name!r:.80} occurs twice", name=name), at)
        names.add(name)
        dtype, stored_bytes = _measure(cursor, name, tuple(sizes), kind, at)
        due = -(-end // alignment) * alignment  # rounded up to the alignment
        if start != due:
            cursor.fail(
                Text(
                    "the data of {name!r:.80} begins at {start:,}, expected {due:,}, where the one before it ends",
                    name=name,
                    start=start,
                    due=due,
                ),
                at,
            )
        buffer = "buffer" if BUFFERS.fullmatch(name) else None
        tensors.append(StoredTensor(name, dtype, tuple(reversed(sizes)), stored_bytes, buffer))
        end = start + stored_bytes
    return tensors, end


def _measure(cursor: Cursor, name: str, sizes: tuple[int, ...], kind: int, at: int) -> tuple[str, int]:
    """Return a tensor's type and how many bytes it takes."""
    if kind not in TYPES:
        cursor.fail(
            Text(
                "{name!r:.80} is of type {kind:,}, {why}",
                name=name,
                kind=kind,
                why=Text(GONE.get(kind, UNDEFINED)),
            ),
            at,
        )
    dtype, block, block_bytes = TYPES[kind]
    elements = 1
    for size in sizes:
        elements *= size
    if elements // block * block_bytes >= LONGEST or any(size >= LONGEST for size in sizes):
        cursor.fail(Text("{name!r:.80} has the sizes {sizes}, which no memory holds", name=name, sizes=list(reversed(sizes))), at)
    if (sizes[0] if sizes else 1) % block:
        cursor.fail(
            Text(
                "{name!r:.80} has rows of {value:,}, but {dtype} packs {block} at a time",
                name=name,
                value=sizes[0] if sizes else 1,
                dtype=dtype,
                block=block,
            ),
            at,
        )
    return dtype, elements // block * block_bytes


def _skip_padding(cursor: Cursor, alignment: int) -> int:
    """Pass over the zeros between the table and the data: anything else there is a table cut short."""
    length = -cursor.at % alignment
    present = min(length, cursor.size - cursor.at)
    data = cursor.at + length
    while present:
        zeros = cursor.take(min(present, 1 << 16), "padding")
        if zeros.strip(b"\0"):
            cursor.fail("the padding before the data is not zero: the table holds more tensors than it says", cursor.at - len(zeros))
        present -= len(zeros)
    return data


def _missing_bytes(cursor: Cursor, end: int, alignment: int) -> int:
    """Return how many bytes a cut-off file lacks; bytes beyond the last tensor and its padding belong to none."""
    if cursor.size > -(-end // alignment) * alignment:
        cursor.fail(Text("{number:,} bytes after the last tensor's data belong to no tensor", number=cursor.size - end), end)
    return max(end - cursor.size, 0)
