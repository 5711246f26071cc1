"""Orthogonal methods: OFT, BOFT, HRA and RoAd.

Source: huggingface/peft 0.21.2, tuners/{oft,boft,hra,road}/layer.py; Qiu et al. 2023 (arXiv:2306.07280), Liu et al. 2023
(arXiv:2311.06243), Yuan et al. 2024 (arXiv:2405.17484), Petrushkov 2024 (arXiv:2409.00119)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.lora import rank
from weighbridge.accounts.adapters.sites import AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Config = Mapping[str, Any]


def oft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield rotations in blocks along the inputs, each by the strict triangle of a skew-symmetric matrix."""
    blocks, size = config["r"], config["oft_block_size"]
    if bool(blocks) == bool(size):
        raise ConfigError("expected one of r and oft_block_size, the other 0", key="oft_block_size", value=size)
    width = site.outputs if site.kind == "embedding" else _flat_inputs(site)
    if size:
        size = _divisor(width, size) if width % size or size > width else size
        blocks = width // size
    else:
        blocks = _divisor(width, blocks) if width % blocks or blocks > width else blocks
        size = width // blocks
    name = "oft_embedding_R" if site.kind == "embedding" else "oft_R"
    yield AddedTensor(f"{site.path}.{name}.weight", (1 if config["block_share"] else blocks, size * (size - 1) // 2))


def _flat_inputs(site: Site) -> int:
    """Return the inputs of a convolution's matrix; the library takes every kernel for a square."""
    return site.inputs * (site.shape[2] ** 2 if site.kind == "convolution" else 1)


def _divisor(width: int, wanted: int) -> int:
    """Return the divisor of *width* that is nearest to *wanted*, the smaller of two.

    >>> _divisor(768, 100), _divisor(12, 32)
    (96, 12)
    """
    if wanted >= width:
        return width
    higher = lower = wanted
    while width % higher:
        higher += 1
    while width % lower:
        lower -= 1
    return lower if wanted - lower <= higher - wanted else higher


def boft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the blocks of one butterfly factor and a scale for every output.

    More factors need the library's CUDA extension; without it, it goes on with one.
    """
    size, number, width = config["boft_block_size"], config["boft_block_num"], _flat_inputs(site)
    if bool(size) == bool(number):
        raise ConfigError("expected one of boft_block_size and boft_block_num, the other 0", key="boft_block_size", value=size)
    given = size or number
    if width % given:
        raise UsageError(
            Text("{path}: {width} inputs cannot be cut by {given} without remainder", path=site.path, width=width, given=given)
        )
    size, number = (size, width // size) if size else (width // number, number)
    yield AddedTensor(f"{site.path}.boft_R", (1, number, size, size))
    yield AddedTensor(f"{site.path}.boft_s", (1, site.outputs) if site.kind == "convolution" else (site.outputs, 1))


def hra(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield *r* Householder vectors over the inputs."""
    yield AddedTensor(f"{site.path}.hra_u", (_flat_inputs(site), rank(config, site.path)))


def road(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield angles and scales of rotations of pairs of outputs."""
    shares = {"road_1": (1, 2), "road_2": (1, 1), "road_4": (2, 1)}
    if config["variant"] not in shares:
        raise ConfigError(Text("expected one of {shares}", shares=", ".join(shares)), key="variant", value=config["variant"])
    if site.outputs % config["group_size"]:
        raise UsageError(
            Text(
                "{path}: {outputs} outputs cannot be cut into groups of {config}",
                path=site.path,
                outputs=site.outputs,
                config=config["group_size"],
            )
        )
    times, over = shares[config["variant"]]
    for name in ("road_theta", "road_alpha"):
        yield AddedTensor(f"{site.path}.{name}", (site.outputs * times // over,))
