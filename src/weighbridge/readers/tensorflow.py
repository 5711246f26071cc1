"""The index of a TensorFlow V2 checkpoint (``model.ckpt.index``, ``variables/variables.index``); the data shards stay shut.

The index is a sorted table of blocks, each with its checksum, from a tensor's name to its type, shape
and place. Optimizer slots and counters are told apart from the model's variables by their names, and names are
given with dots for slashes, those of Google's BERT release with the names that the reference library gives them.

Source: tensorflow/core/lib/io/table_format.txt, core/lib/io/format.cc, core/protobuf/tensor_bundle.proto, core/framework/types.proto;
names: tensorflow/python/checkpoint/util.py; google-research/bert; transformers, models/bert/convert_bert_original_tf_checkpoint_to_pytorch.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from math import prod
from struct import unpack_from
from typing import BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import DEEPEST, LONGEST, LONGEST_PATH, Listing, StoredTensor
from weighbridge.readers.protobuf import Budget, Field, fields
from weighbridge.readers.variables import OPTIMIZER_NOTE

MAGIC = bytes.fromhex("57fb808b247547db")
LARGEST = 1 << 22
"""Bytes of an index that are read at most; that of BERT has 20,000."""

MOST_VARIABLES = 60_000

TYPES = {
    1: ("F32", 32),
    2: ("F64", 64),
    3: ("I32", 32),
    4: ("U8", 8),
    5: ("I16", 16),
    6: ("I8", 8),
    7: ("STRING", 0),
    8: ("C64", 64),
    9: ("I64", 64),
    10: ("BOOL", 8),
    11: ("I8", 8),
    12: ("U8", 8),
    13: ("I32", 32),
    14: ("BF16", 16),
    15: ("I16", 16),
    16: ("U16", 16),
    17: ("U16", 16),
    18: ("C128", 128),
    19: ("F16", 16),
    21: ("VARIANT", 0),
    22: ("U32", 32),
    23: ("U64", 64),
    24: ("F8_E5M2", 8),
    25: ("F8_E4M3", 8),
}
"""Number of each type, DataType in types.proto: our name, and its bits; those without are of any length."""

OPTIMIZER = re.compile(
    r"""(.*/)?(adam_[mv]|lamb_[mv]|Adam(_1)?|Momentum|RMSProp(_1)?|Adagrad|Ftrl(_1)?|AdamWeightDecay(_1)?|LAMB(_1)?|v[rc])
    |.*/\.OPTIMIZER_SLOT/.*|(.*/)?_?optimizer/.*|(beta[12]_power|global_step|iter)(_\d+)?|(save_counter|optimizer_step)(/.*)?""",
    re.VERBOSE,
)
"""Names of what an optimizer keeps."""

COUNTERS = re.compile(
    r"keras_api/metrics/.*|(.*/)?(total|count|true_positives|false_positives)/\.ATTRIBUTES/.*|_CHECKPOINTABLE_OBJECT_GRAPH"
)
STATISTICS = re.compile(r"(.*/)?(moving_mean|moving_variance|moving_var)(/\.ATTRIBUTES/VARIABLE_VALUE)?")
AVERAGES = re.compile(r".*/ExponentialMovingAverage")
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"

ROLES = {"kernel": "weight", "embeddings": "embedding", "gamma": "gain", "beta": "shift", "bias": "bias"}


class Entry(NamedTuple):
    """What the table says of one tensor: its type, shape, bytes, whether it was cut into slices, and where in which shard it begins."""

    kind: int
    shape: tuple[int, ...]
    size_bytes: int
    sliced: bool
    shard: int = 0
    begin: int = 0


def sniff(head: bytes) -> bool:
    """Tell whether a table begins as an index does: the empty key first, with the header as its value.

    >>> sniff(bytes([0, 0, 6]) + bytes([8, 1, 26, 2, 8, 1]))
    True
    """
    return len(head) > 6 and head[:2] == b"\0\0" and 2 <= head[2] < 16 and head[3:4] == b"\x08" and b"\x1a\x02\x08\x01" in head[3:19]


def read(file: BinaryIO) -> Listing:
    """List the tensors that an index names.

    Raises:
        ReadError: No index, a checksum that does not fit, or shapes that do not fit their bytes.
    """
    entries, shards = _entries(file)
    return _listing([_tensor_of(name, entry) for name, entry in entries.items()], shards)


def extents(file: BinaryIO) -> dict[str, tuple[str, int, int, str]]:
    """Return in which data shard each tensor lies (how its file's name ends), where it begins, its bytes, and its type."""
    entries, shards = _entries(file)
    named = _listing([_tensor_of(name, entry) for name, entry in entries.items()], shards).tensors
    return {
        tensor.name: (f".data-{entry.shard:05}-of-{shards:05}", entry.begin, entry.size_bytes, tensor.dtype)
        for tensor, entry in zip(named, entries.values(), strict=True)
        if not entry.sliced and entry.shard < shards
    }


def _entries(file: BinaryIO) -> tuple[dict[str, Entry], int]:
    """Return what the table says of each tensor, and the number of data shards."""
    cursor = Cursor(file)
    if not 48 <= cursor.size <= LARGEST:
        cursor.fail(
            Text("a file of {size:,} bytes is no index of a checkpoint; its index is the file that ends in .index", size=cursor.size), 0
        )
    data = cursor.take(cursor.size)
    if data[-8:] != MAGIC:
        cursor.fail("it does not end as the index of a checkpoint does; it may be cut off, or a data shard", cursor.size - 8)
    budget = Budget()
    entries: dict[str, Entry] = {}
    slices = 0
    shards = 0
    for number, (key, value) in enumerate(_table(data)):
        if not key:
            shards = _shards(value, budget)
        elif key[0] == 0:
            slices += _entry(key[1:].decode("utf-8", "replace"), value, budget).size_bytes
        else:
            entries[_name(key)] = _entry(_name(key), value, budget)
        if number > MOST_VARIABLES:
            raise ReadError(Text("more than {most_variables:,} tensors", most_variables=MOST_VARIABLES))
    if not shards:
        raise ReadError("the index has no header")
    sliced = sum(entry.size_bytes for entry in entries.values() if entry.sliced)
    if sliced != slices:
        raise ReadError(Text("the tensors that were cut take {sliced:,} bytes, and their slices {slices:,}", sliced=sliced, slices=slices))
    return entries, shards


def _listing(tensors: list[StoredTensor], shards: int) -> Listing:
    """Give the variables the names of the reference library where they are Google's BERT, and say what lies beside the parameters."""
    google = any(tensor.name == "bert/embeddings/word_embeddings" for tensor in tensors)
    named = tuple(_rename(tensor, google) for tensor in tensors)
    if len({tensor.name for tensor in named}) != len(named):
        raise ReadError("two variables have the same name once slashes are written as dots")
    one = Text("the values lie in 1 data shard beside the index, not opened")
    notes = [one if shards == 1 else Text("the values lie in {shards:,} data shards beside the index, not opened", shards=shards)]
    if google:
        notes.append(Text("the names are those of Google's BERT release, given as the reference library names them"))
    apart = [tensor for tensor in named if tensor.note == OPTIMIZER_NOTE]
    if apart:
        notes.append(
            Text(
                "{count:,} tensors with {elements:,} elements belong to the optimizer, not to the model",
                count=len(apart),
                elements=sum(tensor.stored for tensor in apart),
            )
        )
    return Listing("tensorflow", named, {"shards": shards}, tuple(notes), ordered=False)


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of all blocks, by the block of blocks at the end."""
    footer = Cursor(BytesIO(data[-48:-8]))
    footer.varint(), footer.varint()
    last, end = b"", 0
    for _, handle in _block(data, footer.varint(), footer.varint()):
        place = Cursor(BytesIO(handle))
        start, size = place.varint(), place.varint()
        if start < end:
            raise ReadError(Text("a block begins at {start:,}, where the one before it has not ended", start=start), offset=start)
        end = start + size + 5
        for key, value in _block(data, start, size):
            if key <= last and last:
                raise ReadError(Text("the index is not sorted at {key!r:.80}", key=key))
            last = key
            yield key, value


def _block(data: bytes, start: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Check a block's checksum and yield its entries, whose keys share beginnings."""
    if size < 4 or start + size + 5 > len(data) - 48:
        raise ReadError(Text("a block of {size:,} bytes reaches beyond the table", size=size), offset=start)
    kind, checksum = unpack_from("<BI", data, start + size)
    if kind:
        raise ReadError("a compressed block, which TensorFlow does not write into checkpoints", offset=start + size)
    if _mask(crc32c(data[start : start + size + 1])) != checksum:
        raise ReadError("a block does not fit its checksum", offset=start)
    (restarts,) = unpack_from("<I", data, start + size - 4)
    if 4 * restarts + 4 > size:
        raise ReadError("a block with more restarts than bytes", offset=start)
    cursor = Cursor(BytesIO(data[start : start + size - 4 * restarts - 4]))
    key = b""
    while cursor.at < cursor.size:
        shared, fresh, length = cursor.varint(), cursor.varint(), cursor.varint()
        if shared > len(key):
            raise ReadError("a key shares more than there is", offset=start)
        if shared + fresh > LONGEST_PATH:
            raise ReadError(
                Text("a key of {value:,} bytes, the longest accepted is {longest_path:,}", value=shared + fresh, longest_path=LONGEST_PATH),
                offset=start,
            )
        key = key[:shared] + cursor.take(fresh, "key")
        yield key, cursor.take(length, "entry")


def _shards(value: bytes, budget: Budget) -> int:
    cursor = Cursor(BytesIO(value))
    found = {field.number: field.value for field in fields(cursor, cursor.size, budget)}
    if found.get(2):
        raise ReadError("a big-endian checkpoint, which is not read")
    shards = found.get(1, 0)
    if not 0 < shards < 100_000:
        raise ReadError(Text("the index mentions {shards:,} shards", shards=shards))
    return shards


def _entry(name: str, value: bytes, budget: Budget) -> Entry:
    """Read a variable of the index (``BundleEntryProto``): its type and shape must need as many bytes as the index gives it."""
    cursor = Cursor(BytesIO(value))
    kind = size_bytes = shard = begin = 0
    shape: tuple[int, ...] = ()
    sliced = False
    for field in fields(cursor, cursor.size, budget, frozenset(range(1, 8))):
        if field.number == 1:
            kind = field.value
        elif field.number == 2:
            shape = _shape(cursor, field, budget, name)
        elif field.number == 3:
            shard = field.value
        elif field.number == 4:
            begin = field.value
        elif field.number == 5:
            size_bytes = field.value
        sliced = sliced or field.number == 7
    if kind not in TYPES:
        raise ReadError(Text("{name!r:.80} is of type {kind:,}, which cannot be stored", name=name, kind=kind))
    bits = TYPES[kind][1]
    due = prod(shape) * bits // 8
    if bits and size_bytes != (0 if sliced else due):
        raise ReadError(
            Text(
                "{name!r:.80} of shape {shape} and type {types} takes {due:,} bytes; the index gives {size_bytes:,}",
                name=name,
                shape=list(shape),
                types=TYPES[kind][0],
                due=due,
                size_bytes=size_bytes,
            )
        )
    return Entry(kind, shape, due if bits else size_bytes, sliced, shard, begin)


def _shape(cursor: Cursor, field: Field, budget: Budget, name: str) -> tuple[int, ...]:
    """Read a ``TensorShapeProto``; a size that is not known is refused."""
    sizes: list[int] = []
    cursor.at = field.start
    for dimension in fields(cursor, field.end, budget):
        if dimension.number == 3 and dimension.value:
            raise ReadError(Text("{name!r:.80} has no known shape", name=name))
        if dimension.number == 2:
            cursor.at = dimension.start
            sizes.append(next((size.value for size in fields(cursor, dimension.end, budget) if size.number == 1), 0))
    if len(sizes) > DEEPEST or not all(size < LONGEST for size in sizes):
        raise ReadError(Text("{name!r:.80} has the shape {sizes!r:.100}, which is impossible", name=name, sizes=sizes))
    return tuple(sizes)


def _name(key: bytes) -> str:
    try:
        return key.decode("utf-8")
    except UnicodeDecodeError:
        raise ReadError(Text("the name {key!r:.80} is not UTF-8", key=key)) from None


def _tensor_of(name: str, entry: Entry) -> StoredTensor:
    """Say what a variable is, by its name and type."""
    dtype, bits = TYPES[entry.kind]
    role, note = None, ""
    if OPTIMIZER.fullmatch(name):
        role, note = "buffer", OPTIMIZER_NOTE
    elif COUNTERS.fullmatch(name) or not dtype.startswith(("F", "BF")):
        role, note = "buffer", "a counter or table, no parameter"
    elif AVERAGES.fullmatch(name):
        role, note = "buffer", "a moving average of a parameter"
    elif STATISTICS.fullmatch(name):
        role = "buffer"
    elements = None if bits else prod(entry.shape)
    return StoredTensor(name, dtype, entry.shape, entry.size_bytes, role, None, elements, note)


GOOGLE = (
    (re.compile(r"layer_(\d+)/"), r"layer.\1."),
    (re.compile(r"(LayerNorm|layer_norm)/gamma$"), r"\1.weight"),
    (re.compile(r"(LayerNorm|layer_norm)/beta$"), r"\1.bias"),
    (re.compile(r"cls/predictions/output_bias$"), "cls.predictions.bias"),
    (re.compile(r"cls/seq_relationship/output_weights$"), "cls.seq_relationship.weight"),
    (re.compile(r"cls/seq_relationship/output_bias$"), "cls.seq_relationship.bias"),
    (re.compile(r"cls/squad/output_weights$"), "qa_outputs.weight"),
    (re.compile(r"cls/squad/output_bias$"), "qa_outputs.bias"),
    (re.compile(r"^output_weights$"), "classifier.weight"),
    (re.compile(r"^output_bias$"), "classifier.bias"),
    (re.compile(r"/kernel$"), ".weight"),
    (re.compile(r"_embeddings$"), "_embeddings.weight"),
)
"""From Google's names to the reference library's."""


def _rename(tensor: StoredTensor, google: bool) -> StoredTensor:
    """Give a variable its name with dots, and the role that its last piece tells."""
    name = tensor.name.removesuffix(SUFFIX)
    last = name.rpartition("/")[2]
    shape, role = tensor.shape, tensor.role
    if role is None:
        role = ROLES.get(last, "embedding" if google and last.endswith("_embeddings") else None)
        if role == "weight" and len(shape) < 2:
            role = None
    if google and tensor.role is None:
        shape = shape[::-1] if last == "kernel" else shape
        for pattern, replacement in GOOGLE:
            name = pattern.sub(replacement, name)
    return tensor._replace(name=re.sub(r"layer_(\d+)/", r"layer.\1/", name).replace("/.", "/").replace("/", "."), shape=shape, role=role)


def _mask(checksum: int) -> int:
    """Mask a checksum as core/lib/hash/crc32c.h does, since checksums of checksums are weak."""
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Compute the Castagnoli checksum (RFC 3720, appendix B.4).

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    table = _castagnoli()
    value = 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


@cache
def _castagnoli() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)
