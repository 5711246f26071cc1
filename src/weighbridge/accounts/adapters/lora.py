"""LoRA and its variants: two thin matrices beside a layer.

Source: huggingface/peft 0.21.2, tuners/lora/layer.py, variants.py and dora.py; Hu et al. 2021 (arXiv:2106.09685),
Liu et al. 2024 (DoRA, arXiv:2402.09353)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weighbridge.accounts.adapters.matching import by_pattern
from weighbridge.accounts.adapters.sites import Added, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

VARIANTS = ("use_dora", "velora_config", "alora_invocation_tokens", "monteclora_config", "use_bdlora", "arrow_config", "kasa_config")
"""Switches of which one at most may be on."""

WITHOUT_EFFECT = frozenset(("alora_invocation_tokens", "arrow_config"))
"""Variants that add no parameters."""


FROM_THE_WEIGHT = ("olora", "pissa")
"""Ways to start that take A and B out of the weight itself, which has no more directions than its shorter side."""


def rank(config: Mapping[str, Any], path: str, key: str = "r") -> int:
    """Return the rank of one module: of the first of the rank patterns that its name matches, else the config's own."""
    found = by_pattern(config.get("rank_pattern"), path, config[key])
    if type(found) is not int or found < 1:
        raise ConfigError("expected a whole number from 1 up", key=key, value=found)
    return found


def lora(site: Site, config: Mapping[str, Any]) -> Iterator[Added]:
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
    narrow = site.shape[2:] if site.kind == "convolution" else ()
    frozen_b = variant == "mica"
    yield Added(f"{path}.lora_A.weight", (r, site.inputs, *narrow))
    yield Added(f"{path}.lora_B.weight", (site.outputs, r, *(1 for _ in narrow)), trainable=not frozen_b)
    if config.get("lora_bias"):
        yield Added(f"{path}.lora_B.bias", (site.outputs,))
    if variant == "use_dora":
        yield Added(f"{path}.lora_magnitude_vector", (site.outputs,))
    elif variant == "kasa_config":
        yield Added(f"{path}.lora_diag", (r,))
    if site.kind == "multihead_attention":
        out = f"{path}.out_proj"
        yield Added(f"{out}.lora_A.weight", (r, site.inputs))
        yield Added(f"{out}.lora_B.weight", (site.inputs, r))


def _variant(site: Site, config: Mapping[str, Any]) -> str:
    found = [name for name in VARIANTS if config.get(name) and name not in WITHOUT_EFFECT]
    if config.get("init_lora_weights") == "mica":
        found.append("mica")
    if len(found) > 1:
        raise UsageError(Text("{found} cannot be combined in one LoRA", found=" and ".join(found)))
    name = found[0] if found else ""
    if name not in ("", "use_dora", "kasa_config", "mica"):
        raise UsageError(Text("{name}: this variant of LoRA is not counted; what it adds depends on more than the shapes", name=name))
    if name == "use_dora" and site.kind in ("parameter", "multihead_attention"):
        raise UsageError(Text("{path}: DoRA does not adapt a {replace}", path=site.path, replace=site.kind.replace("_", " ")))
    if name == "kasa_config" and site.kind != "linear":
        raise UsageError(Text("{path}: KaSA adapts linear layers stored as [outputs, inputs] alone", path=site.path))
    return name


def _on_table(site: Site, r: int, config: Mapping[str, Any], variant: str) -> Iterator[Added]:
    if config.get("lora_bias"):
        raise UsageError(Text("{path}: lora_bias is not for tables that are looked up", path=site.path))
    yield Added(f"{site.path}.lora_embedding_A", (r, site.inputs))
    yield Added(f"{site.path}.lora_embedding_B", (site.outputs, r), trainable=variant != "mica")
    if variant == "use_dora":
        yield Added(f"{site.path}.lora_magnitude_vector", (site.outputs,))


def _on_parameter(site: Site, r: int, config: Mapping[str, Any], variant: str) -> Iterator[Added]:
    """Yield the matrices of a bare parameter; one of three dimensions holds experts, each with its own rank."""
    for key in ("lora_dropout", "fan_in_fan_out", "lora_bias"):
        if config.get(key):
            raise UsageError(Text("{key}: cannot be combined with target_parameters ({path})", key=key, path=site.path))
    if variant:
        raise UsageError(Text("{variant}: cannot be combined with target_parameters ({path})", variant=variant, path=site.path))
    experts, inputs, outputs = site.shape if len(site.shape) == 3 else (1, site.shape[1], site.shape[0])
    if len(site.shape) == 3:  # [experts, outputs, inputs], unless the class says that it is transposed: the sum is the same
        inputs, outputs = outputs, inputs
    yield Added(f"{site.path}.lora_A.weight", (r * experts, inputs))
    yield Added(f"{site.path}.lora_B.weight", (outputs, r * experts))
