"""Methods whose modules share something: random projections, a bank of vectors, a few numbers for all.

Source: huggingface/peft 0.21.2, tuners/{vera,pvera,randlora,vblora,tinylora,unilora,frod,lily}/model.py and layer.py
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.lora import rank
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Config = Mapping[str, Any]


def vera(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield a scale for each output and for each of the *r* random directions."""
    yield AddedTensor(f"{site.path}.vera_lambda_b", (site.outputs,))
    yield AddedTensor(f"{site.path}.vera_lambda_d", (rank(config, site.path),))


def vera_projections(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the two random matrices that all modules share, saved once."""
    outputs, inputs = _largest_shape(sites)
    yield _buffer("vera_A", (config["r"], inputs), config["save_projection"])
    yield _buffer("vera_B", (outputs, config["r"]), config["save_projection"])


def pvera(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield a scale for each output, and a mean and a variance for each random direction."""
    yield AddedTensor(f"{site.path}.pvera_lambda_b", (site.outputs,))
    yield AddedTensor(f"{site.path}.pvera_lambda_d", (2 * rank(config, site.path),))


def pvera_projections(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the two random matrices that all modules share, saved once."""
    outputs, inputs = _largest_shape(sites)
    yield _buffer("pvera_A", (2 * config["r"], inputs), config["save_projection"])
    yield _buffer("pvera_B", (outputs, config["r"]), config["save_projection"])


def randlora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the scales of as many random bases as make up full rank."""
    r, least = rank(config, site.path), min(site.inputs, site.outputs)
    bases = -(-least // r)
    yield AddedTensor(f"{site.path}.randlora_lambda", (r, bases))
    yield AddedTensor(f"{site.path}.randlora_gamma", (bases, least))


def randlora_projections(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the random bases; the library saves them once for itself and once more for every module."""
    r, (outputs, inputs) = config["r"], _largest_shape(sites)
    least, most = min(outputs, inputs), max(outputs, inputs)
    for path in ("", *(f"{site.path}." for site in sites)):
        yield _buffer(f"{path}randlora_A", (r, 1, least), config["save_projection"])
        yield _buffer(f"{path}randlora_B", (most, -(-least // r), r), config["save_projection"])


def vblora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the logits by which each piece of A and B chooses among the shared vectors."""
    r, length, number = rank(config, site.path), config["vector_length"], config["num_vectors"]
    for name, size in (("inputs", site.inputs), ("outputs", site.outputs)):
        if size % length:
            raise UsageError(
                Text("{path}: {size} {name} cannot be cut into vectors of {length}", path=site.path, size=size, name=name, length=length)
            )
    whole = not config["save_only_topk_weights"]
    shapes = {"A": (r, site.inputs // length), "B": (site.outputs // length, r)}
    for side, shape in shapes.items():
        name = f"{site.path}.vblora_logits_{side}"
        yield AddedTensor(name, (*shape, number), saved=whole)
        if not whole:
            chosen = config["topk"]
            yield _buffer(f"{name}_topk_indices", (*shape, chosen), True, _index_type(number))
            yield _buffer(f"{name}_topk_weights", (*shape, chosen - 1), True)


def _index_type(number: int) -> str:
    return "uint8" if number < 2**8 else "int16" if number < 2**15 else "int32" if number < 2**31 else "int64"


def vblora_bank(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the vectors that all modules share."""
    yield AddedTensor("vblora_vector_bank", (config["num_vectors"], config["vector_length"]))


def tinylora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield what is saved of a module: its largest directions and a random projection; nothing of it is trained."""
    r = min(rank(config, site.path), site.inputs, site.outputs)
    yield _buffer(f"{site.path}.tinylora_A", (r, site.inputs), True)
    yield _buffer(f"{site.path}.tinylora_B", (site.outputs, r), True)
    yield _buffer(f"{site.path}.tinylora_P", (config["u"], r, r), config["save_projection"])


def tinylora_vectors(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the vectors of *u* numbers, one for each group of modules."""
    groups = max(1, round(len(sites) * (1.0 - config["weight_tying"])))
    size = max(1, len(sites) // groups)
    for index in sorted({min(place // size, groups - 1) for place in range(len(sites))}):
        yield AddedTensor(f"tinylora_v.{index}", (config["u"],))


def unilora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield where each element of A and B is taken from, saved only where asked for; nothing of it is trained."""
    r, saved = rank(config, site.path), bool(config["save_indices"])
    for name, shape in (("A", (r, site.inputs)), ("B", (site.outputs, r))):
        yield _buffer(f"{site.path}.unilora_indices_{name}", shape, saved, "int64")
        yield _buffer(f"{site.path}.unilora_scales_{name}", shape, saved)


def unilora_vector(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the one vector that all modules are made of."""
    yield AddedTensor("unilora_theta_d", (config["theta_d_length"],))


def frod(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the strengths of a module's directions and the sparse mixing of them."""
    yield AddedTensor(f"{site.path}.frod_lambda_l", (site.inputs,))
    yield AddedTensor(f"{site.path}.frod_lambda_s_values", (_sparse_elements(site.inputs, config),))


def _sparse_elements(inputs: int, config: Config) -> int:
    rate = config["sparse_rate"]
    others = inputs * inputs - inputs
    number = min(int(inputs * inputs * rate), others)
    return max(1, number) if rate > 0 and others > 0 else number


def frod_projections(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the directions that modules of one name share, and where they are mixed."""
    widths: dict[str, int] = {}
    for site in sites:
        widths.setdefault(_category(site.path), site.inputs)
    for name, width in widths.items():
        saved = config["save_projection"]
        yield _buffer(f"frod_V.{name}", (width, width), saved, BASE)
        yield _buffer(f"frod_s_indices.{name}", (2, _sparse_elements(width, config)), saved, "int64")
        yield _buffer(f"frod_s_size.{name}", (2,), saved, "int64")


def _category(path: str) -> str:
    parts = path.split(".")
    if len(parts) == 1:
        return parts[0]
    if parts[-2].isdigit():
        return parts[-1]
    name = f"{parts[-2]}_{parts[-1]}"
    return "attention_output" if name == "output_dense" and parts[-3:-2] == ["attention"] else name


def lily(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield a module's own router over the shared B's."""
    yield AddedTensor(f"{site.path}.lily_router.weight", (config["num_B"], rank(config, site.path)))


def lily_matrices(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield the A of each stride of layers and the B's of each kind of module; every module saves them again."""
    r, stride, number = config["r"], config["stride_A"], config["num_B"]
    if not isinstance(stride, int) or isinstance(stride, bool) or stride < 1:
        raise ConfigError("expected a whole number from 1 up", key="stride_A", value=stride)
    groups: dict[object, list[Site]] = {}
    targets = config["target_modules"]
    for site in sites:
        if isinstance(targets, str):
            key: object = targets
        else:
            endings = [name for name in targets if site.path.endswith(name)]
            if len(endings) > 1:
                raise UsageError(
                    Text(
                        "{path}: ends with {endings}, and which modules share depends on their order",
                        path=site.path,
                        endings=" and ".join(sorted(endings)),
                    )
                )
            key = endings[0] if endings else site.path
        groups.setdefault((key, site.shape), []).append(site)
    for members in groups.values():
        for index, site in enumerate(members):
            yield AddedTensor(f"{site.path}.lily_A.weight", (r, site.inputs), parameter=index % stride == 0)
            yield AddedTensor(f"{site.path}.lily_B.weight", (number * r, site.outputs), parameter=index == 0)


def _largest_shape(sites: list[Site]) -> tuple[int, int]:
    return max(site.outputs for site in sites), max(site.inputs for site in sites)


def _buffer(name: str, shape: tuple[int, ...], saved: object, dtype: str | None = None) -> AddedTensor:
    return AddedTensor(name, shape, parameter=False, saved=bool(saved), dtype=dtype)
