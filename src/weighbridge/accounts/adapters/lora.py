"""LoRA and its variants: two thin matrices beside a layer.

Source: huggingface/peft 0.21.2, tuners/lora/layer.py, variants.py and dora.py; Hu et al. 2021 (arXiv:2106.09685),
Liu et al. 2024 (DoRA, arXiv:2402.09353)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.matching import by_pattern
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VARIANTS = ("use_dora", "velora_config", "alora_invocation_tokens", "monteclora_config", "use_bdlora", "arrow_config", "kasa_config")
"""Switches of which one at most may be on; those that hold a config of their own are on with an empty one too."""

ON_LINEAR_ALONE = frozenset(VARIANTS) - {"use_dora"}


FROM_THE_WEIGHT = ("olora", "pissa")
"""Ways to start that take A and B out of the weight itself, which has no more directions than its shorter side."""


def rank(config: Mapping[str, Any], path: str, key: str = "r") -> int:
    """Return the rank of one module: of the first of the rank patterns that its name matches, else the config's own."""
    found, patterns = config[key], config.get("rank_pattern")
    if patterns:
        found = by_pattern(patterns, path, found)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ConfigError("expected a whole number from 1 up", key=key, value=found)
    return found


def lora(site: Site, config: Mapping[str, Any]) -> Iterator[AddedTensor]:
    """Yield the matrices A ``[r, inputs]`` and B ``[outputs, r]`` of one module, and what its variant adds.

    >>> from weighbridge.accounts.adapters.modules import Module
    >>> place = Site("q_proj", "linear", 64, 32, (32, 64), False, Module("q_proj", "linear", ()))
    >>> [(added.name, added.shape) for added in lora(place, {"r": 8})]
    [('q_proj.lora_A.weight', (8, 64)), ('q_proj.lora_B.weight', (32, 8))]
    """
    r, path = rank(config, site.path), site.path
    variant = _variant(site, config)
    if site.kind == "parameter":
        yield from _on_parameter(site, r, config, variant)
        return
    if site.kind == "embedding":
        yield from _on_table(site, r, config, variant)
        return
    if str(config.get("init_lora_weights")).lower() in FROM_THE_WEIGHT:
        r = min(r, site.inputs, site.outputs)
    narrow = site.shape[2:]
    shape_a, shape_b = (r, site.inputs, *narrow), (site.outputs, r, *(1,) * len(narrow))
    whole_b = True
    if variant == "use_bdlora":
        shape_a, shape_b = _in_blocks(site, config["use_bdlora"], shape_a, shape_b)
        whole_b = shape_b == (site.outputs, r)
    yield _make(AddedTensor, (f"{path}.lora_A.weight", shape_a, True, True, True, None))
    yield _make(AddedTensor, (f"{path}.lora_B.weight", shape_b, variant != "mica", True, True, None))
    if config.get("lora_bias") and whole_b:
        yield AddedTensor(f"{path}.lora_B.bias", (site.outputs,))
    yield from _of_variant(site, r, config, variant)
    if site.kind == "multihead_attention":
        out = f"{path}.out_proj"
        yield AddedTensor(f"{out}.lora_A.weight", (r, site.inputs))
        yield AddedTensor(f"{out}.lora_B.weight", (site.inputs, r))


_make = tuple.__new__
"""What a named tuple's constructor ends in: of a large file there are a hundred thousand sites."""


def _of_variant(site: Site, r: int, config: Mapping[str, Any], variant: str) -> Iterator[AddedTensor]:
    """Yield what a variant has beside A and B."""
    path = site.path
    if variant == "use_dora":
        ones = tuple(1 for _ in site.shape[2:])
        yield AddedTensor(f"{path}.lora_magnitude_vector", (1, site.outputs, *ones) if ones else (site.outputs,))
    elif variant == "kasa_config":
        yield AddedTensor(f"{path}.lora_diag", (r,))
    elif variant == "velora_config":
        groups = _positive_int(config["velora_config"], "num_groups", 64, "velora_config")
        yield AddedTensor(f"{path}.lora_velora_embed", (-(-site.inputs // groups),), parameter=False)
    elif variant == "monteclora_config":
        samples, sampler = (
            _positive_int(config["monteclora_config"], "num_samples", 8, "monteclora_config"),
            f"{path}.lora_monteclora_sampler",
        )
        yield AddedTensor(f"{sampler}.std_prior", (r,))
        yield AddedTensor(f"{sampler}.expert_weights_prior", (samples,))
        yield AddedTensor(f"{sampler}.gaussian_var_prior", (r, r), parameter=False, dtype=BASE)
        yield AddedTensor(f"{sampler}.expert_weights", (samples,), parameter=False, dtype=BASE)


def _positive_int(config: Mapping[str, Any], key: str, default: int, holder: str) -> int:
    found = config.get(key, default)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ConfigError("expected a whole number from 1 up", key=f"{holder}.{key}", value=found)
    return found


def _in_blocks(
    site: Site, config: Mapping[str, Any], shape_a: tuple[int, ...], shape_b: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of A and B where one of the two has blocks on its diagonal alone."""
    blocks = _positive_int(config, "nblocks", 1, "use_bdlora")
    in_a, in_b = (any(name in site.path for name in config.get(f"target_modules_bd_{side}") or ()) for side in "ab")
    if in_a and in_b:
        raise UsageError(Text("{path}: named by both target_modules_bd_a and target_modules_bd_b", path=site.path))
    if not in_a and not in_b:
        if config.get("match_strict", True):
            raise UsageError(
                Text("{path}: named by neither target_modules_bd_a nor target_modules_bd_b; match_strict=false allows that", path=site.path)
            )
        return shape_a, shape_b
    cut = shape_a if in_a else shape_b
    if any(size % blocks for size in cut):
        raise UsageError(
            Text("{path}: {shape} cannot be cut into nblocks = {blocks} blocks", path=site.path, shape=list(cut), blocks=blocks)
        )
    thin = (cut[0], cut[1] // blocks)
    return (thin, shape_b) if in_a else (shape_a, thin)


def _variant(site: Site, config: Mapping[str, Any]) -> str:
    found = [name for name in VARIANTS if (value := config.get(name)) is not None and (value or isinstance(value, Mapping))]
    if config.get("init_lora_weights") == "mica":
        found.append("mica")
    if not found:
        return ""
    if len(found) > 1:
        raise UsageError(Text("{found} cannot be combined in one LoRA", found=" and ".join(found)))
    name = found[0] if found else ""
    if name == "use_dora" and site.kind in ("parameter", "multihead_attention"):
        raise UsageError(Text("{path}: DoRA does not adapt a {replace}", path=site.path, replace=site.kind.replace("_", " ")))
    if name in ON_LINEAR_ALONE and site.kind not in ("linear", "conv1d"):
        raise UsageError(Text("{path}: {name} adapts linear layers alone", path=site.path, name=name))
    if name == "kasa_config" and site.kind != "linear":
        raise UsageError(Text("{path}: KaSA adapts linear layers stored as [outputs, inputs] alone", path=site.path))
    if name == "use_bdlora" and not isinstance(config[name], Mapping):
        raise ConfigError("expected a mapping, with nblocks and the target modules of each side", key=name, value=config[name])
    return name


def _on_table(site: Site, r: int, config: Mapping[str, Any], variant: str) -> Iterator[AddedTensor]:
    if config.get("lora_bias"):
        raise UsageError(Text("{path}: lora_bias is not for tables that are looked up", path=site.path))
    yield AddedTensor(f"{site.path}.lora_embedding_A", (r, site.inputs))
    yield AddedTensor(f"{site.path}.lora_embedding_B", (site.outputs, r), trainable=variant != "mica")
    if variant == "use_dora":
        yield AddedTensor(f"{site.path}.lora_magnitude_vector", (site.outputs,))


def _on_parameter(site: Site, r: int, config: Mapping[str, Any], variant: str) -> Iterator[AddedTensor]:
    """Yield the matrices of a bare parameter; one of three dimensions holds experts, each with its own rank."""
    for key in ("lora_dropout", "fan_in_fan_out", "lora_bias"):
        if config.get(key):
            raise UsageError(Text("{key}: cannot be combined with target_parameters ({path})", key=key, path=site.path))
    if variant:
        raise UsageError(Text("{variant}: cannot be combined with target_parameters ({path})", variant=variant, path=site.path))
    experts, inputs, outputs = site.shape if len(site.shape) == 3 else (1, site.shape[1], site.shape[0])
    if len(site.shape) == 3:  # [experts, outputs, inputs], unless the class says that it is transposed: the sum is the same
        inputs, outputs = outputs, inputs
    yield AddedTensor(f"{site.path}.lora_A.weight", (r * experts, inputs))
    yield AddedTensor(f"{site.path}.lora_B.weight", (outputs, r * experts))
