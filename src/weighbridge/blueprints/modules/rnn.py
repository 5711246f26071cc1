"""Recurrent layers, as PyTorch holds them."""

from __future__ import annotations

from weighbridge.core.parts import part
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part, Tensor


def lstm(name: str, width: Size, depth: int) -> Part:
    """Describe a stack of LSTM layers: for each, the maps of input and state to four gates, and two biases.

    >>> [tensor.name for tensor in lstm("lstm", 8, 1).children]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """
    tensors: list[Tensor] = []
    for index in layer_range(depth):
        tensors += [Tensor(f"weight_{gate}_l{index}", (4 * width, width), "weight") for gate in ("ih", "hh")]
        tensors += [Tensor(f"bias_{gate}_l{index}", (4 * width,), "bias") for gate in ("ih", "hh")]
    return part(name, *tensors, kind="recurrent")
