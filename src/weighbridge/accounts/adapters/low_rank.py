"""Methods that put two thin matrices, or a decomposition, beside a layer: LoRA's relatives.

Source: huggingface/peft 0.21.2, tuners/{adalora,adamss,hira,delora,gralora,poly,deft,peanut,glora,osf,psoft,supertuning}/layer.py,
tuners/adalora/model.py (resize_state_dict_by_rank_pattern)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.lora import rank
from weighbridge.accounts.adapters.matching import pattern
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site
from weighbridge.config.bind import LARGEST
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Config = Mapping[str, Any]


def adalora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield P ``[init_r, inputs]``, the singular values and Q; the rank that is left is a parameter too, and not saved.

    It is frozen, but beside a base in other than float32: being cast, it is made anew and trained. A ``rank_pattern`` is what a
    training left behind: of each of its modules only the directions that it kept are saved.
    """
    r, path = rank({**config, "rank_pattern": None}, site.path, "init_r"), site.path
    left = _directions_left(config, path, r)
    for name, shape, saved in (
        ("lora_A", (r, site.inputs * site.kernel), (left, site.inputs * site.kernel)),
        ("lora_E", (r, 1), (left, 1)),
        ("lora_B", (site.outputs, r), (site.outputs, left)),
    ):
        yield AddedTensor(f"{path}.{name}", shape, saved=left == r)
        if left != r:
            yield AddedTensor(f"{path}.{name}.saved", saved, parameter=False)
    yield AddedTensor(f"{path}.ranknum", (1,), trainable=config.get("base_dtype", "float32") != "float32", saved=False)


def _directions_left(config: Config, path: str, r: int) -> int:
    """Return how many of a module's directions AdaLoRA's own ``rank_pattern`` keeps: all where it does not name the module."""
    for name, kept in (config.get("rank_pattern") or {}).items():
        if not isinstance(kept, list) or not all(isinstance(entry, bool) for entry in kept):
            raise ConfigError("expected a list of true and false for each module, as AdaLoRA writes it", key="rank_pattern", value=kept)
        if name.replace(".default", "").rpartition(".")[0] == path:
            if len(kept) != r:
                raise ConfigError(
                    Text("expected {r} entries for {name}, one for each of init_r", r=r, name=name), key="rank_pattern", value=kept
                )
            return sum(kept)
    return r


def adamss(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield, for each cluster of the weight's rows, A ``[rank, r]`` and B ``[rows, rank]``, and the directions that all clusters share.

    The rows fall into clusters by their values. Whatever these are, every row stands in one cluster, so that the sums need no more than
    their number; a cluster of fewer rows than the rank would have less.
    """
    wide = site.inputs + site.biased
    r = min(_positive_int(config, "r"), site.outputs, wide)
    clusters = min(_positive_int(config, "num_subspaces"), site.outputs)
    thin = min(_positive_int(config, "subspace_rank"), site.outputs - clusters + 1)  # the others have one row at least
    yield AddedTensor(f"{site.path}.adamss_A", (clusters, min(thin, r), r))
    yield AddedTensor(f"{site.path}.adamss_B", (site.outputs, thin))
    yield AddedTensor(f"{site.path}.adamss_newB", (r, wide), parameter=False)


def adamss_at_most(sites: list[Site], config: Config) -> str:
    """Return why the figures are the most there can be, where the sizes of the clusters matter; one cluster holds every row."""
    thin, clusters = _positive_int(config, "subspace_rank"), _positive_int(config, "num_subspaces")
    if thin == 1 or clusters == 1 or all(clusters >= site.outputs for site in sites):
        return ""
    return mark("At most: a cluster with fewer rows than subspace_rank learns less, and which rows it has depends on the weights' values.")


def _positive_int(config: Config, key: str) -> int:
    value = config[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError("expected a whole number from 1 up", key=key, value=value)
    return value


def hira(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield A ``[r, inputs]`` and B ``[outputs, r]``, whose product is taken element by element with the weight.

    The library reads ``rank_pattern``, and builds every module with the config's own rank all the same.
    """
    r = rank({**config, "rank_pattern": None}, site.path)
    if site.kind == "embedding":
        yield AddedTensor(f"{site.path}.hira_embedding_A", (r, site.inputs))
        yield AddedTensor(f"{site.path}.hira_embedding_B", (site.outputs, r))
        return
    narrow = site.shape[2:]
    yield AddedTensor(f"{site.path}.hira_A", (r, site.inputs, *narrow))
    yield AddedTensor(f"{site.path}.hira_B", (site.outputs, r, *(1 for _ in narrow)))


def delora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield A, B and one strength; the norms of the weight's columns are saved with them."""
    r = rank(config, site.path)
    yield AddedTensor(f"{site.path}.delora_A", (r, site.inputs))
    yield AddedTensor(f"{site.path}.delora_B", (site.outputs, r))
    yield AddedTensor(f"{site.path}.delora_lambda", (1,))
    norms = f"{site.path}.delora_w_norm"
    yield AddedTensor(norms, (site.inputs,), parameter=False)
    if any(norms.endswith(name) for name in config.get("modules_to_save") or ()):
        # the library takes what holds the norms for a module of that name, and saves it twice more
        yield AddedTensor(f"{norms}.original_module", (site.inputs,), parameter=False)
        yield AddedTensor(f"{norms}.modules_to_save", (site.inputs,), parameter=False)


def gralora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield *k* small LoRAs, each over a k-th of inputs and outputs, and where asked for one over all of them."""
    r, blocks, hybrid = rank(config, site.path), config["gralora_k"], config["hybrid_r"]
    for name, size in (("inputs", site.inputs), ("outputs", site.outputs)):
        if size % blocks:
            raise UsageError(
                Text(
                    "{path}: {size} {name} cannot be cut into gralora_k = {blocks} blocks",
                    path=site.path,
                    size=size,
                    name=name,
                    blocks=blocks,
                )
            )
    yield AddedTensor(f"{site.path}.gralora_A", (blocks, site.inputs // blocks, r))
    yield AddedTensor(f"{site.path}.gralora_B", (blocks, r, site.outputs // blocks))
    if hybrid:
        yield AddedTensor(f"{site.path}.gralora_A_general.weight", (hybrid, site.inputs))
        yield AddedTensor(f"{site.path}.gralora_B_general.weight", (site.outputs, hybrid))


def poly(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield an inventory of LoRAs, one for each skill and split, and each task's choice among them."""
    r, splits, skills = rank(config, site.path), config["n_splits"], config["n_skills"]
    yield AddedTensor(f"{site.path}.poly_lora_A", (splits, skills, site.inputs // splits, r))
    yield AddedTensor(f"{site.path}.poly_lora_B", (splits, skills, r, site.outputs // splits))
    yield AddedTensor(f"{site.path}.poly_router.module_logits", (config["n_tasks"], splits * skills))


def deft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the projection ``[outputs, r]`` and, unless *para*, what is put in its place."""
    r = min(rank(config, site.path), site.outputs)
    yield AddedTensor(f"{site.path}.deft_P", (site.outputs, r))
    if not config["para"]:
        yield AddedTensor(f"{site.path}.deft_R", (r, site.inputs))


def peanut(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield a small network over the weight: down, *depth* layers twice, up."""
    r, depth = rank(config, site.path), config["depth"]
    yield AddedTensor(f"{site.path}.peanut_A.weight", (r, site.outputs))
    for half in ("encoders", "decoders"):
        for index in range(depth):
            yield AddedTensor(f"{site.path}.peanut_{half}.{index}.weight", (r, r))
    yield AddedTensor(f"{site.path}.peanut_B.weight", (site.outputs, r))


def glora(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield five paths, A to E; an empty one is saved as zeros."""
    r, path = rank(config, site.path), site.path
    ways = {"config_A_B": GLORA_WAYS, "config_C": ("lora", "vector", "none"), "config_D_E": ("vector", "constant", "none")}
    for key, known in ways.items():
        if config[key] not in known:
            raise ConfigError(Text("expected one of {value}", value=", ".join(known)), key=key, value=config[key])
    for letter in "AB":
        yield from _glora_path(f"{path}.glora_{letter}", config["config_A_B"], (site.outputs, site.inputs), r, (site.outputs, 1))
    yield from _glora_path(f"{path}.glora_C", config["config_C"] if site.biased else "none", (site.inputs, 1), r, (site.inputs, 1))
    for letter in "DE":
        yield from _glora_path(
            f"{path}.glora_{letter}", config["config_D_E"] if site.biased else "none", (site.outputs,), r, (site.outputs,)
        )


GLORA_WAYS = ("lora", "vector", "constant", "none")


def _glora_path(name: str, kind: str, shape: tuple[int, ...], r: int, vector: tuple[int, ...]) -> Iterator[AddedTensor]:
    if kind == "lora":
        yield AddedTensor(f"{name}.Xd", (shape[0], r))
        yield AddedTensor(f"{name}.Xu", (r, shape[1]))
    elif kind == "vector":
        yield AddedTensor(f"{name}.X", vector)
    elif kind == "constant":
        yield AddedTensor(f"{name}.X", (1,))
    else:
        yield AddedTensor(f"{name}.zeros", shape, parameter=False, dtype=BASE)


def osf(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the part of the weight's singular value decomposition that is left to learn; what is no linear layer is passed over."""
    if site.kind != "linear":
        return
    least = min(site.shape)
    rank = config.get("effective_rank")
    for key, value in (config.get("rank_pattern") or {}).items():
        if pattern(key, "rank_pattern").search(site.path):
            rank = value
            break
    kept = max(min(least, least // 2 if rank is None else int(least * rank) if isinstance(rank, float) and 0 < rank <= 1 else int(rank)), 0)
    if kept < 1:
        raise UsageError(Text("{path}: effective_rank {rank} keeps none of its {least} directions", path=site.path, rank=rank, least=least))
    low = least - kept
    yield AddedTensor(f"{site.path}.osf_svd_params.U_low", (site.shape[0], low))
    yield AddedTensor(f"{site.path}.osf_svd_params.S_low", (low,))
    yield AddedTensor(f"{site.path}.osf_svd_params.V_low", (low, site.shape[1]))


def psoft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield one rotation of *r* principal directions, and a scale on both of its sides."""
    r = rank({**config, "rank_pattern": None}, site.path)
    if r > min(site.inputs, site.outputs):
        raise UsageError(
            Text("{path}: r = {r} is more than its {outputs} directions", path=site.path, r=r, outputs=min(site.inputs, site.outputs))
        )
    yield AddedTensor(f"{site.path}.psoft_R.weight", (r * (r - 1) // 2,) if config["psoft_orth"] else (r, r))
    for switch, name in (("psoft_mag_b", "vector_b"), ("psoft_mag_a", "vector_a")):
        if config[switch]:
            yield AddedTensor(f"{site.path}.psoft_R.{name}", (r,))


def supertuning(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the chosen share of a weight's elements, where they stand, and a LoRA beside them where asked for."""
    elements = site.inputs * site.outputs
    sparsity = config["sparsity"]
    if not isinstance(sparsity, (int, float)) or not abs(sparsity) <= LARGEST:
        raise ConfigError("expected a share between 0 and 1", key="sparsity", value=sparsity)
    chosen = int(elements * (1 - sparsity))
    if chosen < 1:
        raise UsageError(
            Text(
                "{path}: sparsity {sparsity} leaves none of its {elements:,} elements", path=site.path, sparsity=sparsity, elements=elements
            )
        )
    saved = bool(config["save_precomputed_indices"])
    yield AddedTensor(f"{site.path}.supertuning_values", (chosen,))
    yield AddedTensor(f"{site.path}.supertuning_indices", (chosen,), parameter=False, saved=saved, dtype="int32")
    if config.get("r") is not None:
        yield AddedTensor(f"{site.path}.supertuning_lora_A.weight", (config["r"], site.inputs))
        yield AddedTensor(f"{site.path}.supertuning_lora_B.weight", (site.outputs, config["r"]))
