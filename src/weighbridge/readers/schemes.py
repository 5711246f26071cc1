"""How each scheme packs a weight: from the arrays of one module to the matrix that was packed.

A scheme is asked with the arrays that stand together under one module's name. It answers with the
matrix and what each of the others is, or with the reason why it cannot tell. Nothing is guessed:
every shape follows from two arrays that agree, or from one and the config.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

from weighbridge.readers.listing import StoredTensor

Arrays: TypeAlias = Mapping[str, StoredTensor]
Shape: TypeAlias = tuple[int, ...]


class Settings(NamedTuple):
    """What a config says of the packing; 0 where it says nothing.

    Attributes:
        method: Its name, such as ``gptq``.
        bits: Bits per value.
        group_size: Values that share a scale.
    """

    method: str = ""
    bits: int = 0
    group_size: int = 0


class Matrix(NamedTuple):
    """A weight that was packed.

    Attributes:
        array: The last piece of the name of the array that holds it.
        name: The last piece of the name it had.
        dtype: The type of one value.
        shape: Its shape; a single size where only the number of values is known.
        scheme: What packed it, for people.
    """

    array: str
    name: str
    dtype: str
    shape: Shape
    scheme: str


class UnclearPacking(NamedTuple):
    """An array that is packed in a way that its neighbours do not settle."""

    array: str
    reason: str


Answer: TypeAlias = "Matrix | UnclearPacking | None"


def gptq_or_awq(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve ``qweight``, ``qzeros``, ``scales`` and perhaps ``g_idx``.

    GPTQ packs down the inputs, ``[in * bits / 32, out]``; AWQ packs along the outputs, ``[in, out * bits / 32]``.

    Source: AutoGPTQ, nn_modules/qlinear; AutoAWQ, modules/linear/{gemm,gemv,gemv_fast}.py
    """
    packed, scales, zeros = (arrays.get(name) for name in ("qweight", "scales", "qzeros"))
    if packed is None or len(packed.shape) != 2:
        return None
    if scales is None or len(scales.shape) != 2:
        return UnclearPacking("qweight", "no scales stand beside it")
    if packed.dtype == "I16":
        return _awq_fast(packed.shape, scales.shape)
    if packed.dtype not in ("I32", "U32"):
        return UnclearPacking("qweight", f"its type is {packed.dtype}, expected I32")
    if packed.shape[1] == scales.shape[1]:
        return _gptq(arrays, settings, packed.shape, scales.shape)
    if zeros is not None and zeros.shape == (scales.shape[0], packed.shape[1]):
        bits = _ratio(32 * packed.shape[1], scales.shape[1])
        return _packed_array("qweight", (scales.shape[1], packed.shape[0]), bits, "AWQ")
    if zeros is not None and len(zeros.shape) == 2 and zeros.shape[0] == packed.shape[0] == scales.shape[0]:
        bits = _ratio(32 * zeros.shape[1], scales.shape[1])
        return _packed_array("qweight", (packed.shape[0], _ratio(32 * packed.shape[1], bits)), bits, "AWQ")
    return UnclearPacking("qweight", "its scales and zeros have shapes of neither GPTQ nor AWQ")


def _gptq(arrays: Arrays, settings: Settings, packed: Shape, scales: Shape) -> Answer:
    """Resolve ``qweight`` of GPTQ: ``g_idx`` tells the inputs, ``qzeros`` the bits, or else the config and the groups of the scales do."""
    order, zeros = arrays.get("g_idx"), arrays.get("qzeros")
    outputs = packed[1]
    bits = _ratio(32 * zeros.shape[1], outputs) if zeros is not None and len(zeros.shape) == 2 else settings.bits
    if order is not None and len(order.shape) == 1 and order.shape[0]:
        inputs = order.shape[0]
        if not bits:
            bits = _ratio(32 * packed[0], inputs)
        if not bits or (-(-inputs // 32) * bits != packed[0] and -(-inputs * bits // 32) != packed[0]):
            return UnclearPacking("qweight", f"{inputs:,} inputs by g_idx do not fill {packed[0]:,} rows")
        return _packed_array("qweight", (outputs, inputs), bits, "GPTQ")
    if not bits:
        return UnclearPacking("qweight", "neither g_idx, nor qzeros, nor a config says how many bits a value has")
    inputs = _ratio(32 * packed[0], bits)
    groups = scales[0]
    if groups > 1 and inputs and (inputs % groups if not settings.group_size else -(-inputs // settings.group_size) != groups):
        return UnclearPacking("qweight", f"{inputs:,} inputs do not make {groups:,} groups; g_idx is missing")
    return _packed_array("qweight", (outputs, inputs), bits, "GPTQ")


def _awq_fast(packed: Shape, scales: Shape) -> Answer:
    outputs, inputs = 4 * packed[0], packed[1]
    if scales[1] != outputs:
        return UnclearPacking("qweight", f"its scales are for {scales[1]:,} outputs, its rows for {outputs:,}")
    return _packed_array("qweight", (outputs, inputs), 4, "AWQ")


def marlin(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve Marlin's ``B``, 4-bit tiles of 16 by 64 in ``[in / 16, out * 2]``, by the scales ``s``.

    Source: IST-DASLab/marlin, marlin/__init__.py
    """
    packed, scales = arrays.get("B"), arrays.get("s")
    if packed is None or scales is None or packed.dtype != "I32" or len(packed.shape) != 2 or len(scales.shape) != 2:
        return None
    if packed.shape[1] != 2 * scales.shape[1]:
        return UnclearPacking("B", "it is not twice as wide as its scales")
    return _packed_array("B", (scales.shape[1], 16 * packed.shape[0]), 4, "Marlin")


def compressed_tensors(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve ``weight_packed``: words of whole values, or two 4-bit floats in a byte.

    Source: compressed-tensors, compressors/pack_quantized, compressors/nvfp4_quantized, compressors/mxfp4
    """
    packed, scales = arrays.get("weight_packed"), arrays.get("weight_scale")
    if packed is None or not packed.shape:
        return None
    if packed.dtype == "U8":
        return _float4("weight_packed", packed, scales) or UnclearPacking("weight_packed", "its scales are not one for 16 or 32 values")
    order, zeros = arrays.get("weight_g_idx"), arrays.get("weight_zero_point")
    words, bits = packed.shape[-1], settings.bits
    if not bits and zeros is not None and zeros.dtype == "I32" and len(zeros.shape) == 2 == len(packed.shape):
        bits = _ratio(32 * zeros.shape[0], packed.shape[0])
    if packed.dtype != "I32" or not bits or bits > 8:
        return UnclearPacking("weight_packed", "no config says how many bits a value has")
    each = 32 // bits
    if order is not None and len(order.shape) == 1 and -(-order.shape[0] // each) == words:
        inputs = order.shape[0]
    else:
        groups = scales.shape[-1] if scales is not None and scales.shape else 1
        inputs = groups * settings.group_size if groups > 1 and settings.group_size else words * each
        if -(-inputs // each) != words:
            return UnclearPacking("weight_packed", f"{groups:,} groups of {settings.group_size:,} do not fill {words:,} words")
    return _packed_array("weight_packed", (*packed.shape[:-1], inputs), bits, "compressed-tensors")


def float4(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve a ``weight`` of bytes with two 4-bit floats each: NVFP4 has a scale for 16, MXFP4 for 32.

    Source: NVIDIA Model Optimizer, torch/quantization/qtensor/{nvfp4,mxfp4}_tensor.py
    """
    packed = arrays.get("weight")
    if packed is None or packed.dtype not in ("U8", "I8"):
        return None
    scales = (arrays.get(name) for name in ("weight_scale", "weight_scale_inv", "scale"))
    return next((answer for found in scales if (answer := _float4("weight", packed, found))), None)


def _float4(name: str, packed: StoredTensor, scales: StoredTensor | None) -> Answer:
    if scales is None or not packed.shape or not scales.shape or scales.shape[:-1] != packed.shape[:-1]:
        return None
    group = {"F8_E4M3": 16, "U8": 32, "F8_E8M0": 32}.get(scales.dtype)
    if group is None or scales.shape[-1] * group != 2 * packed.shape[-1]:
        return None
    return Matrix(name, "weight", "F4", (*packed.shape[:-1], 2 * packed.shape[-1]), "NVFP4" if group == 16 else "MXFP4")


def bitnet(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve four ternary values in a byte, packed down the rows, where a config says so.

    Source: transformers 5.23.0, integrations/bitnet.py, pack_weights
    """
    packed, scales = arrays.get("weight"), arrays.get("weight_scale")
    if settings.method != "bitnet" or packed is None or packed.dtype != "U8" or scales is None or len(packed.shape) != 2:
        return None
    return Matrix("weight", "weight", "I2", (4 * packed.shape[0], packed.shape[1]), "BitNet")


def mlx(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve a ``weight`` of 32-bit words with ``scales``: the groups tell the inputs, and so the bits.

    Source: ml-explore/mlx, python/mlx/nn/layers/quantized.py; mlx.core.quantize
    """
    packed, scales = arrays.get("weight"), arrays.get("scales")
    if packed is None or packed.dtype != "U32" or scales is None or not packed.shape or not scales.shape:
        return None
    if packed.shape[:-1] != scales.shape[:-1]:
        return None
    groups, words = scales.shape[-1], packed.shape[-1]
    inputs = groups * settings.group_size if settings.group_size else _ratio(32 * words, settings.bits)
    bits = _ratio(32 * words, inputs)
    if bits not in (2, 3, 4, 5, 6, 8) or not groups or inputs % groups:
        return UnclearPacking("weight", "no config says how many values share a scale, and more than one number is possible")
    return _packed_array("weight", (*packed.shape[:-1], inputs), bits, "MLX")


def hqq(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve ``W_q`` by its scales, one for each group: a count, since the shape stands in the metadata.

    Source: mobiusml/hqq, hqq/core/quantize.py, Quantizer.quantize and hqq/core/bitpack.py
    """
    packed, scales = arrays.get("W_q"), arrays.get("scale")
    if packed is None or len(packed.shape) != 2 or scales is None or len(scales.shape) != 2:
        return UnclearPacking("W_q", "no scales stand beside it") if packed is not None else None
    if scales.shape[1] == 1 and scales.shape[0] > 1:
        group = packed.shape[1]
    elif scales.shape[0] == 1 and settings.group_size:
        group = settings.group_size
    else:
        return UnclearPacking("W_q", "no config says how many values share a scale")
    count = group * max(scales.shape)
    bits = settings.bits or _ratio(8 * packed.size_bytes, count)
    room = packed.size_bytes * 8 // bits if bits else 0
    if not bits or room < count or settings.group_size not in (0, group):
        return UnclearPacking("W_q", f"{count:,} values by its scales do not fit its {packed.size_bytes:,} bytes")
    return Matrix("W_q", "weight", f"I{bits}", _with_bias(count, arrays), "HQQ")


def torchao(arrays: Arrays, settings: Settings) -> Answer:
    """Resolve ``_weight_qdata`` of 8 bits with ``_weight_scale``: a value in each byte, also where fewer bits of it are used.

    Source: pytorch/ao 0.18, prototype/safetensors/safetensors_support.py, flatten_tensor_state_dict
    """
    packed, scales = arrays.get("_weight_qdata"), arrays.get("_weight_scale")
    if packed is None:
        return None
    if scales is None or len(scales.shape) != len(packed.shape) or packed.dtype not in ("I8", "F8_E4M3", "F8_E5M2"):
        return UnclearPacking("_weight_qdata", "how many values a byte holds is said only in the file's metadata")
    return Matrix("_weight_qdata", "weight", packed.dtype, packed.shape, "torchao")


def bitsandbytes4(arrays: Arrays) -> dict[str, Answer]:
    """Resolve columns of bytes with two 4-bit values each: counts, since the shape stands in the quantization's state.

    An odd number of values would leave half a byte empty; no layer of odd width and odd height is known.

    Source: bitsandbytes, functional.py, quantize_4bit and QuantState.as_dict(packed=True)
    """
    answers: dict[str, Answer] = {}
    for last, _, kind in (key.partition(".quant_state.bitsandbytes__") for key in arrays):
        packed, blocks = arrays.get(last), arrays.get(f"{last}.absmax")
        if not kind or packed is None:
            continue
        count = 2 * prod(packed.shape) * _BYTES.get(packed.dtype, 0)
        if blocks is not None and count and _fits(count, prod(blocks.shape)):
            answers[last] = Matrix(last, last, kind.upper(), _with_bias(count, arrays), "bitsandbytes")
        else:
            answers[last] = UnclearPacking(last, "its absmax does not stand for blocks of 32 to 4,096 values")
    return answers


_BYTES = {"U8": 1, "I8": 1, "F16": 2, "BF16": 2, "F32": 4}


def _fits(count: int, blocks: int) -> bool:
    return any(-(-count // size) == blocks for size in (32, 64, 128, 256, 512, 1024, 2048, 4096))


def _with_bias(count: int, arrays: Arrays) -> Shape:
    """Give a count its two sizes where a bias says how many outputs there are."""
    bias = arrays.get("bias")
    if bias is not None and len(bias.shape) == 1 and bias.shape[0] and count % bias.shape[0] == 0:
        return (bias.shape[0], count // bias.shape[0])
    return (count,)


def _ratio(above: int, below: int) -> int:
    """Divide exactly; 0 where that cannot be."""
    return above // below if below and above % below == 0 else 0


def _packed_array(array: str, shape: Shape, bits: int, scheme: str) -> Answer:
    if bits not in (1, 2, 3, 4, 5, 6, 7, 8) or not all(shape):
        return UnclearPacking(array, "its scales do not divide it into values of 1 to 8 bits")
    return Matrix(array, "weight", f"I{bits}", shape, scheme)


SCHEMES = (gptq_or_awq, marlin, compressed_tensors, float4, bitnet, mlx, hqq, torchao)
"""Asked in this order, until one answers."""

BLOCKS = re.compile(r"(.+)_blocks")


def blocks(arrays: Arrays) -> dict[str, Answer]:
    """Resolve gpt-oss's ``*_blocks``, 32 values of 4 bits in 16 bytes, each with its scale in ``*_scales``.

    Source: transformers 5.23.0, integrations/mxfp4.py; OCP Microscaling Formats 1.0, section 5.2
    """
    answers: dict[str, Answer] = {}
    for last, packed in arrays.items():
        found = BLOCKS.fullmatch(last)
        scales = arrays.get(f"{found[1]}_scales") if found else None
        if found and packed.dtype == "U8" and scales is not None:
            if packed.shape == (*scales.shape, 16):
                shape = (*scales.shape[:-1], 32 * scales.shape[-1])
                answers[last] = Matrix(last, found[1], "F4", shape, "MXFP4")
            else:
                answers[last] = UnclearPacking(last, "there is not one scale for each 16 bytes")
    return answers


def is_low(dtype: str) -> bool:
    """Tell whether a weight of this type needs scales: 8-bit numbers, one to a byte."""
    return dtype in ("I8", "U8") or dtype.startswith(("F8_", "F6_", "F4"))


OVERHEAD: dict[str, Any] = {
    "scale of packed weights": """scales scale weight_scale weight_scale_inv weight_scale_2 weight_global_scale SCB absmax nested_absmax s
        scale_inv weight_scales qscales w_scale _scale _weight_scale""".split(),
    "zero of packed weights": "qzeros zeros zero weight_zero_point biases qbiases scaled_zeros _shift _weight_zero_point".split(),
    "order of packed weights": "g_idx weight_g_idx perm".split(),
    "table of packed weights": "quant_map nested_quant_map tables tables2".split(),
    "shape or state of packed weights": """weight_shape weight_format shape nbits group_size axis packing compute_dtype view_as_float
        quant_scale quant_zero unpack_view_dtype offload_meta channel_wise optimize quantizer round_zero encoded_state_dict
        stores_quant_config workspace""".split(),
    "scale of activations": """input_scale input_global_scale input_zero_point activation_scale act_scale output_scale output_zero_point
        k_scale v_scale q_scale k_zero_point v_zero_point input_scale_ub pre_quant_scale""".split(),
}
"""What stands beside a packed weight and is no parameter, by the last piece of its name."""

KINDS = {last: kind for kind, names in OVERHEAD.items() for last in names}
