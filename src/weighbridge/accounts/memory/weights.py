"""Bytes of a model's tensors, by type or by quantization scheme, with the scales, zeros and indices that a scheme keeps beside them.

A file says itself what each of its tensors takes. For a config, a scheme packs the matrices of linear maps and of experts
inside the layers; embeddings, heads, norms, biases and routers stay as they are.
"""

from __future__ import annotations

from weighbridge.accounts.memory.values import elements
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.fold import pieces
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.core.sizes import Size
    from weighbridge.value import ModelValue

DTYPES = {
    "float64": 64,
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "float8": 8,
    "int8": 8,
    "float4": 4,
    "int4": 4,
}
"""Bits of an element."""

SHORT = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp8": "float8", "fp4": "float4"}
SHORT |= {"double": "float64", "f32": "float32", "f16": "float16", "float": "float32", "float8_e4m3fn": "float8", "float8_e5m2": "float8"}
"""What else people call them."""

STORED = {
    "F64": (1, 8),
    "I64": (1, 8),
    "U64": (1, 8),
    "F32": (1, 4),
    "I32": (1, 4),
    "U32": (1, 4),
    "F16": (1, 2),
    "BF16": (1, 2),
    "I16": (1, 2),
    "U16": (1, 2),
    "F8_E4M3": (1, 1),
    "F8_E5M2": (1, 1),
    "I8": (1, 1),
    "U8": (1, 1),
    "BOOL": (1, 1),
    "F4": (2, 1),
    "I4": (2, 1),
    "U4": (2, 1),
    "NF4": (2, 1),
    "FP4": (2, 1),
}
"""Elements and bytes of a unit of each type that files name."""

GGUF = {
    "Q4_0": (32, 18),
    "Q4_1": (32, 20),
    "Q5_0": (32, 22),
    "Q5_1": (32, 24),
    "Q8_0": (32, 34),
    "Q2_K": (256, 84),
    "Q3_K": (256, 110),
    "Q4_K": (256, 144),
    "Q5_K": (256, 176),
    "Q6_K": (256, 210),
    "Q8_K": (256, 292),
    "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74),
    "IQ3_XXS": (256, 98),
    "IQ1_S": (256, 50),
    "IQ4_NL": (32, 18),
    "IQ3_S": (256, 110),
    "IQ2_S": (256, 82),
    "IQ4_XS": (256, 136),
    "IQ1_M": (256, 56),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
    "MXFP4": (32, 17),
    "NVFP4": (64, 36),
}
"""The same of GGUF's blocks (ggml-common.h); a test holds them to the reader's table."""


class OwnedTensor(NamedTuple):
    """A tensor that owns its storage, in how many copies, and where it stands.

    Attributes:
        tensor: The tensor.
        copies: How many layers hold one.
        part: The part it stands in.
        inside: Whether it is part of a repeated layer.
    """

    tensor: Tensor
    copies: int
    part: Part
    inside: bool
    numbered: bool = False


def owned_tensors(part: Part, copies: int = 1, inside: bool = False) -> Iterator[OwnedTensor]:
    """Yield every tensor that owns its storage, repeats folded; where sizes are columns, so are the copies."""
    waiting: list[tuple[Part | Tensor, int, bool, bool, Part]] = [(part, copies, inside, inside, part)]
    while waiting:
        node, copies, inside, numbered, around = waiting.pop()
        if type(node) is Tensor:
            yield OwnedTensor(node, copies, around, inside, numbered)
            continue
        assert isinstance(node, Part)
        if node.repeat is not None:
            copies, inside = copies * node.repeat, True  # type: ignore[assignment]
        numbered = numbered or inside or node.name.rpartition(".")[2].isdecimal()
        children = node.children
        if len(children) == 1 and type(children[0]) is Tensor:  # most modules of a large file: nothing to wait for
            if children[0].tied_to is None:
                yield OwnedTensor(children[0], copies, node, inside, numbered)
            continue
        waiting += [
            (child, copies, inside, numbered, node)
            for child in reversed(children)
            if type(child) is Part or (type(child) is Tensor and child.tied_to is None)
        ]


def dtype_name(dtype: object, known: Iterable[str] = DTYPES) -> str:
    """Return the name of an element type, given by name or as torch or NumPy have it.

    Args:
        dtype: Such as ``bfloat16``, ``torch.bfloat16`` or ``numpy.dtype("float32")``.
        known: What may be asked for.

    Raises:
        UsageError: A type that is not among them.

    >>> dtype_name("torch.bfloat16")
    'bfloat16'
    """
    name = dtype if isinstance(dtype, str) else str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype)
    name = name.removeprefix("torch.")
    known = tuple(known)
    if name in known:
        return name
    meant = SHORT.get(name.lower(), name.lower())
    if meant in known:
        raise UsageError(Text("dtype: {dtype} is called {name} here", dtype=name, name=meant))
    raise UsageError(Text("dtype: expected one of {dtypes}, found {dtype!r:.40}", dtypes=", ".join(known), dtype=dtype))


def bits(dtype: str) -> int:
    """Return the bits of an element.

    Raises:
        UsageError: A type that is not known.

    >>> bits("bfloat16")
    16
    """
    return DTYPES[dtype_name(dtype)]


def element_bytes(dtype: str) -> int:
    """Return the bytes of an element of a type in which a model computes.

    >>> element_bytes("float32")
    4
    """
    found = bits(dtype)
    if found < 16:
        raise UsageError(Text("dtype: a model does not compute in {dtype}; expected float32, bfloat16 or float16", dtype=dtype))
    return found // 8


class Scheme(NamedTuple):
    """How a scheme packs a matrix.

    Attributes:
        meaning: In words.
        packed: Bytes of one ``[outputs, inputs]`` matrix with everything beside it; None for a type alone.
        source: Where the layout is defined.
    """

    meaning: str
    packed: Callable[[int, int], int]
    source: str


def blocks_of(value: int, by: int) -> int:
    """Return how many blocks of *by* hold *value* elements, the last of which may not be full."""
    return (value + by - 1) // by


def _bnb4(outputs: int, inputs: int, nested: bool) -> int:
    count = outputs * inputs
    blocks = blocks_of(count, 64)
    scales = blocks + 4 * blocks_of(blocks, 256) + 4 * 256 + 4 if nested else 4 * blocks
    return blocks_of(count, 2) + scales + 4 * 16


def _group_bytes(outputs: int, inputs: int, width: int, group: int, *, ordered: bool) -> int:
    groups = blocks_of(inputs, group)
    zeros = groups * blocks_of(outputs * width, 32) * 4
    return blocks_of(inputs * width, 32) * 4 * outputs + zeros + groups * outputs * 2 + (4 * inputs if ordered else 0)


def _w4a16(outputs: int, inputs: int, group: int) -> int:
    return 4 * blocks_of(4 * inputs, 32) * outputs + 2 * outputs * blocks_of(inputs, group) + 16


def _hqq(outputs: int, inputs: int, width: int, group: int) -> int:
    """Return the bytes of a matrix whose groups run over its rows: values of a width, a scale and a zero of 16 bits for each group."""
    count, groups = outputs * inputs, blocks_of(outputs * inputs, group)
    if width == 3:  # ten values in 32 bits
        return 4 * group * blocks_of(groups, 10) + 4 * groups
    if width == 1:  # eight groups side by side; what is left over is not kept
        return group * (groups // 8) + 4 * groups
    return blocks_of(count * width, 8) + 4 * groups


SCHEMES: dict[str, Scheme] = {
    "bnb-8bit": Scheme("int8, one float32 scale for each output", lambda o, i: o * i + 4 * o, "bitsandbytes 0.49, nn/modules.py, Int8Params"),
    "bnb-4bit": Scheme("4 bits, a float32 scale for 64 values, a table of 16", lambda o, i: _bnb4(o, i, False), "bitsandbytes 0.49, functional.py, quantize_4bit"),
    "bnb-4bit-double": Scheme("the same with its scales in 8 bits, 256 to a float32", lambda o, i: _bnb4(o, i, True), "bitsandbytes 0.49, functional.py, quantize_4bit(compress_statistics=True); arXiv 2305.14314, section 3"),
    "gptq-4bit": Scheme("4 bits in groups of 128: float16 scales, packed zeros, an index", lambda o, i: _group_bytes(o, i, 4, 128, ordered=True), "AutoGPTQ, nn_modules/qlinear"),
    "gptq-8bit": Scheme("8 bits in groups of 128: float16 scales, packed zeros, an index", lambda o, i: _group_bytes(o, i, 8, 128, ordered=True), "AutoGPTQ, nn_modules/qlinear"),
    "awq-4bit": Scheme("4 bits in groups of 128: float16 scales and packed zeros", lambda o, i: _group_bytes(o, i, 4, 128, ordered=False), "AutoAWQ, modules/linear/gemm.py"),
    "w4a16": Scheme("4 bits in groups of 128, bfloat16 scales", lambda o, i: _w4a16(o, i, 128), "compressed-tensors, compressors/pack_quantized"),
    "w8a8": Scheme("int8, a bfloat16 scale for each output", lambda o, i: o * i + 2 * o, "compressed-tensors, compressors/int_quantized.py"),
    "fp8-channel": Scheme("8-bit floats, a bfloat16 scale for each output", lambda o, i: o * i + 2 * o, "compressed-tensors, compressors/naive_quantized"),
    "fp8": Scheme("8-bit floats, one float32 scale for a matrix", lambda o, i: o * i + 4, "compressed-tensors, compressors/float_quantized.py"),
    "fp8-block": Scheme("8-bit floats, a float32 scale for each block of 128 x 128", lambda o, i: o * i + 4 * blocks_of(o, 128) * blocks_of(i, 128), "arXiv 2412.19437, section 3.3; weight_scale_inv in DeepSeek-V3's files"),
    "mxfp4": Scheme("4-bit floats, an 8-bit exponent for 32 values", lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 32), "OCP Microscaling Formats 1.0, section 5.2"),
    "mxfp4-experts": Scheme("the same for experts alone, as gpt-oss is published", lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 32), "arXiv 2508.10925, section 2.1"),
    "nvfp4": Scheme("4-bit floats, an 8-bit float for 16 values and a float32 for a matrix", lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 16) + 4, "NVIDIA ModelOpt, quantization/qtensor/nvfp4_tensor.py"),
    "nvfp4-w4a4": Scheme("the same with a float32 for what goes in", lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 16) + 8, "compressed-tensors, compressors/nvfp4"),
}  # fmt: skip
"""What each scheme keeps for one matrix."""

GROUPS = (32, 64)
"""Other sizes of groups than 128 that files are packed in."""


def _scheme_in_groups(name: str, group: int) -> Scheme:
    """Return a scheme in groups of another size than 128."""
    base = SCHEMES[name]
    meaning = base.meaning.replace("groups of 128", f"groups of {group}")
    if name == "w4a16":
        return base._replace(meaning=meaning, packed=lambda o, i: _w4a16(o, i, group))
    width, ordered = 8 if "8bit" in name else 4, name.startswith("gptq")
    return base._replace(meaning=meaning, packed=lambda o, i: _group_bytes(o, i, width, group, ordered=ordered))


SCHEMES |= {
    f"{name}-g{group}": _scheme_in_groups(name, group) for name in ("gptq-4bit", "gptq-8bit", "awq-4bit", "w4a16") for group in GROUPS
}


def _scheme_of_hqq(width: int, group: int) -> Scheme:
    """Return HQQ's scheme of a width, in groups of a size."""
    meaning = f"{width} bits in groups of {group}: scales and zeros of 16 bits"
    return Scheme(meaning, lambda o, i: _hqq(o, i, width, group), "hqq 0.2.8, core/quantize.py and core/bitpack.py")


HQQ = (*((width, 64) for width in (8, 4, 3, 2, 1)), *((width, group) for width in (4, 3, 2) for group in (16, 32, 128)))
"""The widths and groups of HQQ that have a scheme."""
SCHEMES |= {f"hqq-{width}bit{'' if group == 64 else f'-g{group}'}": _scheme_of_hqq(width, group) for width, group in HQQ}


def weight_bytes(tree: Part, dtype: str, scheme: str | None = None) -> int:
    """Add up the bytes of all parameters: in one type, or with the matrices of layers packed by a scheme.

    Raises:
        UsageError: A type or scheme that is not known.

    >>> from weighbridge.core.parts import linear
    >>> weight_bytes(Part("", (Part("h", (linear("q", 64, 64),), repeat=2),)), "bfloat16")
    16640
    """
    width = bits(dtype)
    near = did_you_mean(scheme, SCHEMES) if scheme is not None and scheme not in SCHEMES else ""
    if near and scheme is not None:
        raise UsageError(Text("{name}: no {value!r}; {hint}", name="quantization", value=scheme[:40], hint=near))
    if scheme is not None and scheme not in SCHEMES:
        raise UsageError(Text("quantization: expected one of {schemes}, found {scheme!r:.40}", schemes=", ".join(SCHEMES), scheme=scheme))
    plain = packed = 0
    for entry in owned_tensors(tree):
        tensor = entry.tensor
        if tensor.role == "buffer":
            continue
        if scheme is not None and is_packed(entry, scheme):
            packed += entry.copies * packed_bytes(tensor.shape, scheme)
        else:
            plain += entry.copies * elements(tensor.shape)
    return packed + (plain * (width // 8) if width % 8 == 0 else (plain * width + 7) // 8)


def packed_bytes(shape: tuple[Size, ...], scheme: str) -> int:
    """Return the bytes of a matrix, or of the matrices of several experts, packed by a scheme.

    >>> packed_bytes((8, 256, 128), "fp8")
    262176
    """
    *many, outputs, inputs = shape  # whole columns too: every scheme only adds, multiplies and divides
    return elements(many) * SCHEMES[scheme].packed(outputs, inputs)  # type: ignore[arg-type]


def is_packed(entry: OwnedTensor, scheme: str) -> bool:
    """Say whether a scheme packs a tensor: a matrix of a linear map or of experts inside the layers, but for routers."""
    tensor = entry.tensor
    kinds = ("experts",) if scheme == "mxfp4-experts" else ("linear", "experts")
    routed = entry.part.name in ("gate", "router")
    return entry.inside and tensor.role == "weight" and len(tensor.shape) >= 2 and entry.part.kind in kinds and not routed


def file_bytes(tree: Part) -> int | None:
    """Add up the bytes of a file's parameters, each in its own type; None where a type's size is not known."""
    blocks = STORED | GGUF
    total = 0
    for entry in owned_tensors(tree):
        if entry.tensor.role == "buffer":
            continue
        if entry.tensor.dtype not in blocks:
            return None
        unit, size = blocks[entry.tensor.dtype]
        total += entry.copies * blocks_of(elements(entry.tensor.shape), unit) * size
    return total


FLOATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
"""What files call the types in which models are trained, and what they are called here."""


def file_type(tree: Part) -> str | None:
    """Return the type of a file's parameters, where all have one in which a model can be trained."""
    found = {entry.tensor.dtype for entry in owned_tensors(tree) if entry.tensor.role != "buffer"}
    return FLOATS.get(found.pop() or "") if len(found) == 1 else None


def is_unpacked(tree: Part) -> bool:
    """Tell whether all of a file's parameters are floats that a model can be trained with."""
    return all(entry.tensor.dtype in FLOATS for entry in owned_tensors(tree) if entry.tensor.role != "buffer")


def listed_bytes(model: ModelValue) -> tuple[int | None, int]:
    """Return :func:`file_bytes` and :func:`buffer_bytes` of a checkpoint; of one that its reader listed, no tree is made for it."""
    if model.listed is None:
        return file_bytes(model.tree), buffer_bytes(model.tree)
    many: dict[tuple[str, tuple[Size, ...], str, str | None], int] = {}  # of a hundred thousand tensors few differ
    for name, shape, role, tied_to, dtype, _ in model.listed:
        if tied_to is None:
            kind = "" if dtype else pieces(name)[-1], shape, "buffer" if role == "buffer" else "weight", dtype
            many[kind] = many.get(kind, 0) + 1
    tensors = ((copies, Tensor(name, shape, role, None, dtype)) for (name, shape, role, dtype), copies in many.items())
    part = Part("", tuple(Part("", (tensor,), repeat=copies) for copies, tensor in tensors))
    return file_bytes(part), buffer_bytes(part)


_IN_BOTH = """bailing_hybrid beam deepseek_v4 ernie4_5_moe ernie4_5_vl_moe ernie4_5_vl_moe_text esmfold2 flint glm5_next glm5_next_text granite_speech5_ctc
granite_speech5_encoder hy_v4 inkling2 inkling2_text inkling_mm_model inkling_text kyutai_speech_to_text mistral_large4 mistral_large4_text muse_spark
muse_spark_text nemo_speechlm openai_privacy_filter slanext voxtral"""
_IN_HALF = """afmoe axk2 blip-2 deepseek_v32 glm_moe_dsa gpt_oss instructblip instructblipvideo longcat_flash mt5 musicgen musicgen_melody pop2piano
rwkv t5 udop umt5"""
PARTLY_IN_FLOAT32 = {"bfloat16": frozenset(_IN_BOTH.split()), "float16": frozenset((*_IN_BOTH.split(), *_IN_HALF.split()))}
"""Model types of which the reference keeps some parameters in float32 when it loads them in 16 bits, such as T5's ``wo``.

Source: transformers 5.23.0, ``_keep_in_fp32_modules`` and ``_keep_in_fp32_modules_strict`` of each class (modeling_utils.py, ``_get_dtype_plan``)
"""

COUNTERS = frozenset(("num_batches_tracked",))
"""Buffers of whole numbers, which torch keeps in 64 bits: how many batches a batch norm has seen."""


def buffer_bytes(tree: Part) -> int:
    """Add up the bytes of saved buffers, taken as float32 (counters as int64) where their type is not known."""
    total = 0
    for entry in owned_tensors(tree):
        if entry.tensor.role == "buffer":
            usual = "I64" if entry.tensor.name in COUNTERS else "F32"
            unit, size = STORED.get(entry.tensor.dtype or usual, (1, 4))
            total += entry.copies * blocks_of(elements(entry.tensor.shape), unit) * size
    return total
