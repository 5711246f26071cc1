"""The role of a constant in an ONNX graph, from the operators that use it.

Source: onnx, docs/Operators.md; onnxruntime, docs/ContribOperators.md and python/tools/quantization (its names)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import NamedTuple

from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.roles import role_of


class Use(NamedTuple):
    """One use of a tensor: the operator, which of its inputs, its integer attributes, and its name."""

    kind: str
    position: int
    numbers: dict[str, int]
    node: str = ""


MODULES = "modules"
"""Under this the metadata says of which module a tensor with a made-up name is the matrix."""

SCALE, ZERO, OTHER = "scale of packed weights", "zero of packed weights", "a constant of the graph"

QUANTIZED: dict[str, dict[int, str]] = {
    "DequantizeLinear": {1: SCALE, 2: ZERO},
    "QuantizeLinear": {1: SCALE, 2: ZERO},
    "QLinearMatMul": {1: SCALE, 2: ZERO, 4: SCALE, 5: ZERO, 6: SCALE, 7: ZERO},
    "QLinearConv": {1: SCALE, 2: ZERO, 4: SCALE, 5: ZERO, 6: SCALE, 7: ZERO},
    "QGemm": {1: SCALE, 2: ZERO, 4: SCALE, 5: ZERO, 7: SCALE, 8: ZERO},
    "MatMulInteger": {2: ZERO, 3: ZERO},
    "ConvInteger": {2: ZERO, 3: ZERO},
    "MatMulIntegerToFloat": {2: SCALE, 3: SCALE, 4: ZERO, 5: ZERO},
    "DynamicQuantizeMatMul": {2: SCALE, 3: ZERO},
    "DynamicQuantizeLSTM": {8: SCALE, 9: ZERO, 10: SCALE, 11: ZERO},
    "QAttention": {3: SCALE, 4: SCALE, 6: ZERO, 7: ZERO},
    "QEmbedLayerNormalization": {8: SCALE, 9: SCALE, 10: SCALE, 11: SCALE, 12: SCALE, 13: ZERO, 14: ZERO, 15: ZERO, 16: ZERO, 17: ZERO},
    "QLinearAdd": {1: SCALE, 2: ZERO, 4: SCALE, 5: ZERO, 6: SCALE, 7: ZERO},
    "QLinearMul": {1: SCALE, 2: ZERO, 4: SCALE, 5: ZERO, 6: SCALE, 7: ZERO},
    "QLinearSigmoid": {1: SCALE, 2: ZERO, 3: SCALE, 4: ZERO},
    "QLinearSoftmax": {1: SCALE, 2: ZERO, 3: SCALE, 4: ZERO},
    "QLinearLeakyRelu": {1: SCALE, 2: ZERO, 3: SCALE, 4: ZERO},
    "QLinearAveragePool": {1: SCALE, 2: ZERO, 3: SCALE, 4: ZERO},
    "QLinearGlobalAveragePool": {1: SCALE, 2: ZERO, 3: SCALE, 4: ZERO},
    "MatMulNBits": {2: SCALE, 3: ZERO, 4: "order of packed weights"},
    "MatMulBnb4": {2: SCALE},
    "GatherBlockQuantized": {2: SCALE, 3: ZERO},
}
"""Inputs of quantized operators that are no parameters, by position."""

BIASES = {("DequantizeLinear", 0), ("QLinearConv", 8), ("QGemm", 6), ("QAttention", 2)}
"""Inputs at which 32-bit or 16-bit whole numbers are parameters."""

PLAIN: dict[tuple[str, int], str] = {
    ("Gather", 0): "embedding",
    ("LayerNormalization", 1): "gain",
    ("LayerNormalization", 2): "shift",
    ("RMSNormalization", 1): "gain",
    ("SimplifiedLayerNormalization", 1): "gain",
    ("SkipLayerNormalization", 2): "gain",
    ("SkipLayerNormalization", 3): "shift",
    ("SkipLayerNormalization", 4): "bias",
    ("SkipSimplifiedLayerNormalization", 2): "gain",
    ("SkipSimplifiedLayerNormalization", 3): "bias",
    ("BatchNormalization", 1): "gain",
    ("BatchNormalization", 2): "shift",
    ("BatchNormalization", 3): "buffer",
    ("BatchNormalization", 4): "buffer",
    ("Gemm", 2): "bias",
    ("Conv", 2): "bias",
    ("Add", 0): "bias",
    ("Add", 1): "bias",
    ("Mul", 0): "gain",
    ("Mul", 1): "gain",
}
"""Roles of floating-point inputs, where the name tells nothing."""

ELEMENTWISE = ("Add", "Mul", "Gather")
"""Operators that take constants as gladly as parameters."""

SMALL = frozenset("I8 U8 I4 U4 I2 U2".split())
FLOATS = ("F", "BF")


def with_role(tensor: StoredTensor, uses: list[Use], names: Collection[str]) -> StoredTensor:
    """Give a tensor its role, from the operators that use it."""
    overhead = next((kind for use in uses if (kind := QUANTIZED.get(use.kind, {}).get(use.position))), None)
    if overhead is None and _is_scale_name(tensor.name, names):
        overhead = ZERO if tensor.name.endswith("_zero_point") else SCALE
    if overhead is not None:
        return tensor._replace(role="buffer", note=overhead)
    packed = next((answer for use in uses if (answer := _packed_matrix(tensor, use))), None)
    if packed is not None:
        return packed
    if tensor.dtype.startswith(FLOATS):
        return _float_role(tensor, uses)
    taken = any((use.kind, use.position) in BIASES for use in uses)
    if taken or (tensor.dtype in SMALL and prod(tensor.shape) > 1):
        embedding = any((use.kind, use.position) == ("Gather", 0) for use in uses)
        shape = len(tensor.shape)
        return tensor._replace(role="embedding" if embedding else "weight" if shape > 1 else "bias", note="")
    return tensor._replace(role="buffer", note=OTHER)


def _is_scale_name(name: str, names: Collection[str]) -> bool:
    """Tell a scale by the names that onnxruntime's quantization gives: W_quantized, W_scale, W_zero_point."""
    for ending in ("_scale", "_zero_point"):
        if name.endswith(ending):
            return name.removesuffix(ending) + "_quantized" in names
    return False


def _packed_matrix(tensor: StoredTensor, use: Use) -> StoredTensor | None:
    """Return the matrix that MatMulNBits or MatMulBnb4 take packed, whose sizes are attributes."""
    if use.kind not in ("MatMulNBits", "MatMulBnb4") or use.position != 1:
        return None
    outputs, inputs, bits = use.numbers.get("N", 0), use.numbers.get("K", 0), use.numbers.get("bits", 4)
    if not 0 < outputs * inputs < 1 << 62 or outputs * inputs * bits > 8 * tensor.size_bytes or not 0 < bits <= 8:
        return tensor._replace(role="buffer", note="packed in a way that is not clear: its operator's N and K do not fit it")
    note, dtype = f"packed by {use.kind}", f"I{bits}" if use.kind == "MatMulNBits" else "F4"
    return tensor._replace(shape=(outputs, inputs), dtype=dtype, role="weight", elements=prod(tensor.shape), note=note)


def _float_role(tensor: StoredTensor, uses: list[Use]) -> StoredTensor:
    """Tell parameters from constants that an exporter folded in, such as an epsilon or the root of the head size."""
    last = tensor.name.rpartition(".")[2]
    made = tensor.note == "a constant" or any(sign in tensor.name for sign in ("Constant", "::", "/")) or tensor.name.isdecimal()
    if made and prod(tensor.shape) == 1 and not any((use.kind, use.position) in PLAIN and use.kind not in ELEMENTWISE for use in uses):
        return tensor._replace(role="buffer", note=OTHER)
    if role_of(tensor.name, tensor.shape, tensor.dtype) == "buffer":
        return tensor._replace(role="buffer", note="")
    roles = [PLAIN[use.kind, use.position] for use in uses if (use.kind, use.position) in PLAIN]
    role = roles[0] if roles and (last not in ("weight", "bias", "gamma", "beta") or roles[0] in ("embedding", "buffer", "shift")) else None
    if role in ("bias", "gain") and len(tensor.shape) > 1:
        role = "weight"
    if role == "embedding" and len(tensor.shape) < 2:
        role = None
    return tensor._replace(role=role, note="")


def module_of(uses: Sequence[Use]) -> str:
    """Return the module whose matrix a tensor is, by the name of the one operator that takes it, or the empty string.

    torch's exporter puts a matrix that it transposed under a number (``onnx::MatMul_123``), and the module into the operator's name.

    >>> module_of([Use("MatMul", 1, {}, "/encoder/layer.0/attention/self/query/MatMul")])
    'encoder.layer.0.attention.self.query'
    """
    takes = {use.node for use in uses if "MatMul" in use.kind or "Gemm" in use.kind or use.kind == "DequantizeLinear"}
    node = takes.pop() if len(takes) == 1 else ""
    path = node.rpartition("/")[0]
    return path.removeprefix("/").replace("/", ".") if path.startswith("/") else ""


def modules_in(listing: Listing) -> dict[str, str]:
    """Return the modules that a listing's metadata names, by tensor."""
    found = listing.metadata.get(MODULES)
    return found if isinstance(found, dict) else {}
