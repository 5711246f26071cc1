"""Unpack the listing of quantized weights: the matrix that was packed, its scales as buffers.

Stored elements are not parameters: eight 4-bit weights stand in one 32-bit word. Each scheme in
``readers.schemes`` says what a module's arrays stand for. An array of whole numbers that none can resolve
is never counted by guess: it is listed as a buffer, and a note of the listing says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.files import read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.listing import PACKED, Listing, StoredTensor
from weighbridge.readers.roles import role_of
from weighbridge.readers.schemes import KINDS, SCHEMES, Arrays, Matrix, Settings, UnclearPacking, bitsandbytes4, blocks, is_low
from weighbridge.readers.text import parse_object

WORDS = frozenset("I8 U8 I16 U16 I32 U32".split())
"""Types of whole numbers that values are packed in; 64 bits are for indices."""

STATED = frozenset(("gguf", "onnx", "tensorflow"))
"""Formats that state the shape of what they pack."""

_STATE = re.compile(r"(.+?)(\.(?:absmax|quant_map|nested_absmax|nested_quant_map|quant_state\.bitsandbytes__\w+))")
_SCALE = re.compile(r"(.+?)(?:_(?:weight|input|activation|output))?_scales?(?:_inv|_2)?")


class Weight(NamedTuple):
    """What the packed weights of a listing amount to.

    Attributes:
        logical: Parameters that were packed.
        stored_elements: Elements of the arrays that hold them.
        stored_bytes: Bytes of these arrays.
        overhead_elements: Elements of the scales, zeros, indices and tables beside them.
        overhead_bytes: Bytes of these.
        unclear_elements: Elements of arrays that could not be resolved; they are in none of the above.
    """

    logical: int
    stored_elements: int
    stored_bytes: int
    overhead_elements: int
    overhead_bytes: int
    unclear_elements: int

    @property
    def bits_per_weight(self) -> Fraction:
        """Bits that a packed parameter takes, its share of the overhead included; 0 if nothing is packed."""
        return Fraction(8 * (self.stored_bytes + self.overhead_bytes), self.logical) if self.logical else Fraction(0)


def unpack(listing: Listing, config: Mapping[str, Any] | None = None) -> Listing:
    """Replace packed arrays by the weights they hold; what stands beside them becomes a buffer with a note.

    Args:
        listing: Of any format; one without packed weights comes back as it is.
        config: The model's config, whose ``quantization_config`` settles what shapes leave open.

    >>> words = StoredTensor("q.qweight", "I32", (512, 4096), 8 << 20), StoredTensor("q.scales", "F16", (32, 4096), 1 << 18)
    >>> unpack(Listing("safetensors", (*words, StoredTensor("q.g_idx", "I32", (4096,), 1 << 14)))).tensors[0].shape
    (4096, 4096)
    """
    if not is_packed(listing):
        return listing
    found: dict[str, StoredTensor] = {}
    for module, arrays in _modules(listing).items():
        found |= _resolve(arrays, settings(config, module))
    if found:
        found |= {tensor.name: _as_buffer(tensor, "scale of activations") for tensor in listing.tensors if _is_activation(tensor)}
    taken = {tensor.name for tensor in listing.tensors}
    tensors = []
    for tensor in listing.tensors:
        stored = found.get(tensor.name, tensor)
        tensors.append(stored._replace(name=tensor.name) if stored.name != tensor.name and stored.name in taken else stored)
    return listing._replace(tensors=tuple(tensors), notes=(*listing.notes, *_notes(tensors)))


def is_packed(listing: Listing) -> bool:
    """Tell whether some tensors may hold packed weights, so that it is worth reading the config beside them.

    >>> is_packed(Listing("safetensors", (StoredTensor("w", "F16", (4, 4), 32),)))
    False
    """
    return listing.format not in STATED and any(_may_be_packed(tensor) for tensor in listing.tensors)


def config_beside(path: Path) -> dict[str, Any] | None:
    """Return the config that lies with the weights at *path*, a file or a directory; None if there is none to read."""
    place = (path if path.is_dir() else path.parent) / "config.json"
    try:
        return parse_object(read_whole(place), "the config")
    except (FileNotFoundError, NotADirectoryError, ReadError):
        return None
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror), path=str(place)) from None


def weight(listing: Listing) -> Weight:
    """Add up the packed weights of an unpacked listing.

    >>> packed = StoredTensor("q.weight", "I4", (64, 64), 2048, "weight", elements=512, note=PACKED + "GPTQ")
    >>> weight(Listing("safetensors", (packed, StoredTensor("q.scales", "F16", (64,), 128, "buffer", note="scale of packed weights"))))
    Weight(logical=4096, stored_elements=512, stored_bytes=2048, overhead_elements=64, overhead_bytes=128, unclear_elements=0)
    """
    packed = [tensor for tensor in listing.tensors if tensor.note.startswith(PACKED)]
    beside = [tensor for tensor in listing.tensors if tensor.note in OVERHEAD]
    return Weight(
        sum(prod(tensor.shape) for tensor in packed),
        sum(tensor.stored for tensor in packed),
        sum(tensor.size_bytes for tensor in packed),
        sum(tensor.stored for tensor in beside),
        sum(tensor.size_bytes for tensor in beside),
        sum(tensor.stored for tensor in listing.tensors if tensor.note.startswith(UNCLEAR)),
    )


def settings(config: Mapping[str, Any] | None, module: str = "") -> Settings:
    """Return what a config says of the packing of a module.

    >>> settings({"quantization": {"bits": 4, "group_size": 64, "lm_head": {"bits": 8}}}, "lm_head")
    Settings(method='', bits=8, group_size=64)
    """
    stated = next((found for key in KEYS for found in [(config or {}).get(key)] if isinstance(found, Mapping)), {})
    method = stated.get("quant_method", "")
    groups = stated.get("config_groups")
    if isinstance(groups, Mapping) and len(groups) == 1:
        (group,) = groups.values()
        inner = group.get("weights") if isinstance(group, Mapping) else None
        stated = {**stated, **inner} if isinstance(inner, Mapping) else stated
    own = stated.get(module)
    if isinstance(own, Mapping):
        stated = {**stated, **own}
    inner = (stated.get("quant_config") or {}).get("weight_quant_params") if isinstance(stated.get("quant_config"), Mapping) else None
    stated = {**stated, **inner} if isinstance(inner, Mapping) else stated
    bits = _first_positive(stated, "bits", "num_bits", "w_bit", "nbits")
    return Settings(method if isinstance(method, str) else "", bits, _first_positive(stated, "group_size", "q_group_size"))


KEYS = ("quantization_config", "quantization", "compression_config")
"""Where a config keeps it: transformers, MLX, and early compressed-tensors."""

UNCLEAR = "packed in a way that is not clear: "
OVERHEAD = frozenset(KINDS.values())


def _first_positive(stated: Mapping[str, Any], *keys: str) -> int:
    return next((value for key in keys if type(value := stated.get(key)) is int and 0 < value < 1 << 32), 0)


def _may_be_packed(tensor: StoredTensor) -> bool:
    return tensor.role is None and (tensor.dtype in WORDS or is_low(tensor.dtype))


def _modules(listing: Listing) -> dict[str, dict[str, StoredTensor]]:
    """Group arrays by module, keyed by the last piece of their names."""
    modules: dict[str, dict[str, StoredTensor]] = {}
    for tensor in listing.tensors:
        state = _STATE.fullmatch(tensor.name)
        module, _, last = (state[1] if state else tensor.name).rpartition(".")
        modules.setdefault(module, {})[last + (state[2] if state else "")] = tensor
    return {module: arrays for module, arrays in modules.items() if any(_may_be_packed(tensor) for tensor in arrays.values())}


def _resolve(arrays: Arrays, said: Settings) -> dict[str, StoredTensor]:
    """Return what a module's arrays are, by their names in the file, where that is not what they seem."""
    answers = bitsandbytes4(arrays) | blocks(arrays)
    if not answers:
        answer = next((answer for scheme in SCHEMES if (answer := scheme(arrays, said))), None)
        answers = {answer.array: answer} if answer else {}
    found = {arrays[last].name: _matrix_or_note(arrays[last], last, answer) for last, answer in answers.items() if answer}
    low = {last for last, tensor in arrays.items() if last in answers or (is_low(tensor.dtype) and last.rpartition(".")[2] not in KINDS)}
    for last, tensor in arrays.items():
        kind = _overhead(last, low) if last not in answers else None
        if kind:
            found[tensor.name] = _as_buffer(tensor, kind)
    return found | _plain_or_unclear(arrays, found)


def _plain_or_unclear(arrays: Arrays, found: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
    """Return the 8-bit weights that have a scale, one to a byte, and the whole numbers that no scheme explains."""
    scaled = any(other.note == KINDS["weight_scale"] for other in found.values())
    told: dict[str, StoredTensor] = {}
    for name, tensor in ((tensor.name, tensor) for tensor in arrays.values() if tensor.name not in found and tensor.role is None):
        role = role_of(name, tensor.shape, tensor.dtype)
        if role == BUFFER:
            continue
        if tensor.note.startswith(PACKED):
            told[name] = tensor._replace(role=role)
            continue
        if scaled and (tensor.dtype == "I8" or tensor.dtype.startswith("F8_")):
            told[name] = tensor._replace(note=PACKED + ("INT8" if tensor.dtype == "I8" else "FP8"))
        elif tensor.dtype in WORDS:
            told[name] = tensor._replace(role=BUFFER, note=UNCLEAR + "whole numbers without the scales of a known scheme")
    return told


BUFFER = "buffer"


def _overhead(last: str, low: set[str]) -> str | None:
    """Return what an array is beside packed weights: by its own name, or by a weight's name with ``_scale`` after it."""
    if not low:
        return None
    if ".quant_state." in last:
        return KINDS["weight_shape"]
    piece = last.rpartition(".")[2]
    if piece in KINDS:
        return KINDS[piece]
    base = _SCALE.fullmatch(last)
    if base and (base[1] in low or f"{base[1]}_blocks" in low):
        return KINDS["input_scale" if "input" in last or "activation" in last or "output" in last else "weight_scale"]
    return None


def _matrix_or_note(tensor: StoredTensor, last: str, answer: Matrix | UnclearPacking) -> StoredTensor:
    """Return the matrix that an array stands for, or say why it is not known."""
    if isinstance(answer, UnclearPacking):
        return tensor._replace(role=BUFFER, note=UNCLEAR + answer.reason)
    name = tensor.name[: len(tensor.name) - len(last)] + answer.name
    role = role_of(name, answer.shape if len(answer.shape) > 1 else (1, 1))
    elements = prod(tensor.shape) if tensor.elements is None else tensor.elements
    return tensor._replace(name=name, dtype=answer.dtype, shape=answer.shape, role=role, elements=elements, note=PACKED + answer.scheme)


def _as_buffer(tensor: StoredTensor, kind: str) -> StoredTensor:
    return tensor._replace(role=BUFFER, note=kind)


def _is_activation(tensor: StoredTensor) -> bool:
    """Tell whether this is a scale of activations or of the cache: a scalar, or one per head."""
    last = tensor.name.rpartition(".")[2]
    return KINDS.get(last) == "scale of activations" and len(tensor.shape) <= 1 and tensor.role is None


def _notes(tensors: list[StoredTensor]) -> Iterator[str]:
    """Say which schemes were unpacked, and which arrays are packed in a way that is not clear."""
    schemes = sorted({tensor.note.removeprefix(PACKED) for tensor in tensors if tensor.note.startswith(PACKED)})
    if schemes:
        flat = sum(len(tensor.shape) == 1 for tensor in tensors if tensor.note.startswith(PACKED))
        lost = Text("; the file's header does not give the shape of {flat:,} of them, only the count", flat=flat) if flat else ""
        yield Text(
            "quantized weights ({schemes}) are listed as the matrices they stand for, their scales as buffers{lost}",
            schemes=", ".join(schemes),
            lost=lost,
        )
    unclear = [tensor for tensor in tensors if tensor.note.startswith(UNCLEAR)]
    if unclear:
        yield Text(
            "{count:,} arrays with {elements:,} elements are packed in a way that is not clear and are not counted as parameters; "
            "the first is {name} ({why})",
            count=len(unclear),
            elements=sum(tensor.stored for tensor in unclear),
            name=unclear[0].name,
            why=unclear[0].note.removeprefix(UNCLEAR),
        )
