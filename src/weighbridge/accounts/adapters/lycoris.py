"""Hadamard and Kronecker products of thin matrices: LoHa and LoKr.

Source: huggingface/peft 0.21.2, tuners/loha/layer.py and tuners/lokr/layer.py; Hyeon-Woo et al. 2021 (FedPara,
arXiv:2108.06098), Yeh et al. 2023 (LyCORIS, arXiv:2309.14859)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.lora import rank
from weighbridge.accounts.adapters.sites import AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Config = Mapping[str, Any]


def loha(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield two pairs of matrices whose products are multiplied element by element, and their cores over a kernel."""
    r, kernel = rank(config, site.path), _kernel(site)
    cores = bool(config["use_effective_conv2d"]) and site.kernel > 1
    inputs = site.inputs if cores else site.inputs * site.kernel
    for index in (1, 2):
        if cores:
            yield AddedTensor(f"{site.path}.hada_t{index}", (r, r, *(kernel if len(kernel) == 2 else (*kernel, 1))))
        yield AddedTensor(f"{site.path}.hada_w{index}_a", (r, site.outputs) if cores else (site.outputs, r))
        yield AddedTensor(f"{site.path}.hada_w{index}_b", (r, inputs))


def lokr(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the two factors of a Kronecker product, each whole or as a product of thin matrices."""
    r, factor, kernel = rank(config, site.path), config["decompose_factor"], _kernel(site)
    (out_l, out_k), (in_m, in_n) = factors(site.outputs, factor), factors(site.inputs, factor)
    if config["decompose_both"] and 2 * r < max(out_l, in_m):
        yield AddedTensor(f"{site.path}.lokr_w1_a", (out_l, r))
        yield AddedTensor(f"{site.path}.lokr_w1_b", (r, in_m))
    else:
        yield AddedTensor(f"{site.path}.lokr_w1", (out_l, in_m))
    if 2 * r >= max(out_k, in_n):
        yield AddedTensor(f"{site.path}.lokr_w2", (out_k, in_n, *kernel))
    elif config["use_effective_conv2d"] and site.kernel > 1:
        yield AddedTensor(f"{site.path}.lokr_t2", (r, r, *(kernel if len(kernel) == 2 else (*kernel, 1))))
        yield AddedTensor(f"{site.path}.lokr_w2_a", (r, out_k))
        yield AddedTensor(f"{site.path}.lokr_w2_b", (r, in_n))
    else:
        yield AddedTensor(f"{site.path}.lokr_w2_a", (out_k, r))
        yield AddedTensor(f"{site.path}.lokr_w2_b", (r, in_n * site.kernel))


def factors(size: int, most: int = -1) -> tuple[int, int]:
    """Split *size* into two factors that are as near to each other as *most* allows.

    >>> factors(127), factors(128), factors(250), factors(512, 4)
    ((1, 127), (8, 16), (10, 25), (4, 128))
    """
    if most > 0 and size % most == 0:
        return most, size // most
    limit = size if most == -1 else most
    small, large = 1, size
    while small < large:
        step = small + 1
        while size % step:
            step += 1
        if step + size // step > small + large or step > limit:
            break
        small, large = step, size // step
    return (large, small) if small > large else (small, large)


def _kernel(site: Site) -> tuple[int, ...]:
    kernel = site.shape[2:]
    if len(kernel) > 2:
        raise UsageError(Text("{path}: a convolution over three axes is not adapted by this method", path=site.path))
    return kernel
