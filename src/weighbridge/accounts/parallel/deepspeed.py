"""DeepSpeed's own estimates of what ZeRO needs, beside ours.

They count 18 bytes for a parameter under Adam (gradients once more in float32), the largest module gathered whole, and on the
host half as much again.

Source: deepspeedai/DeepSpeed 0.19.8, docs/code-docs/source/memory.rst; runtime/zero/stage_1_and_2.py and stage3.py
(estimate_zero2_model_states_mem_needs, estimate_zero3_model_states_mem_needs)
"""

from __future__ import annotations

from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import product
from weighbridge.core.tree import Part, list_rows


class Estimate(NamedTuple):
    """Bytes that DeepSpeed estimates.

    Attributes:
        device: Of each device.
        host: Of each machine.
        formula: Of *device*, with P parameters and L in the largest module.
        documented: Of each device as the documentation's tables have it, which an older release made: of ZeRO-2 without offload another number.
    """

    device: int
    host: int
    formula: str
    documented: int


def largest_module(tree: Part) -> int:
    """Return the parameters of the module that has most of its own, tied ones in it counted again.

    >>> from weighbridge.core.parts import linear
    >>> largest_module(Part("", (linear("a", 4, 8), linear("b", 2, 2))))
    40
    """
    own: dict[str, int] = {}
    for row in list_rows(tree):
        if row.role != "buffer":
            holder, size = row.name.rpartition(".")[0], product(row.shape)
            assert isinstance(size, int)
            own[holder] = own.get(holder, 0) + size
    return max(own.values(), default=0)


def estimate(
    parameters: int, largest: int, zero: int, devices: int, nodes: int = 1, *, offload: str = "none", zero_init: bool = True
) -> Estimate:
    """Return what DeepSpeed estimates for ZeRO-2 or ZeRO-3.

    Args:
        parameters: Of the model.
        largest: Of its largest module.
        zero: 2 or 3.
        devices: On each node.
        nodes: How many.
        offload: To the host: ``none``, ``optimizer`` or ``both`` (parameters too, with ZeRO-3).
        zero_init: Whether the model is made in pieces (ZeRO-3).

    >>> estimate(2851 * 10**6, 32 * 10**6, 3, 8).device
    6542750000
    """
    if zero not in (2, 3) or offload not in ("none", "optimizer", "both") or (zero == 2 and offload == "both"):
        raise UsageError(Text("zero: no estimate for stage {zero} with offload {offload}", zero=zero, offload=offload))
    whole = devices * nodes
    device, host, formula = (
        _zero2(parameters, devices, whole, offload) if zero == 2 else _zero3(parameters, largest, devices, nodes, offload, zero_init)
    )
    documented = 4 * parameters + 16 * parameters // whole if zero == 2 and offload == "none" else device
    return Estimate(device, host, formula, documented)


def _zero2(parameters: int, devices: int, whole: int, offload: str) -> tuple[int, int, str]:
    if offload == "none":
        return 2 * parameters + 18 * parameters // whole, parameters * 4 * devices * 3 // 2, "2*P + 18*P/n"
    return 2 * parameters, parameters * max(4 * whole, 16) * 3 // 2, "2*P"


def _zero3(parameters: int, largest: int, devices: int, nodes: int, offload: str, zero_init: bool) -> tuple[int, int, str]:
    gathered = 4 * largest
    if offload == "none":
        host = (largest if zero_init else parameters) * 4 * devices * 3 // 2
        return gathered + 18 * parameters // (devices * nodes), host, "4*L + 18*P/n"
    each = 18 if offload == "both" else 16
    host = parameters * each * 3 // (2 * nodes)
    host = host if zero_init else max(parameters * 4 * devices * 3 // 2, host)
    if offload == "both":
        return gathered, host, "4*L"
    return gathered + 2 * parameters // (devices * nodes), host, "4*L + 2*P/n"
