"""X-LoRA: LoRA adapters that are trained already, and a classifier that mixes them token by token.

Source: huggingface/peft 0.21.2, tuners/xlora/model.py, classifier.py; utils/save_and_load.py (_filter_state_dict_for_adapter_name)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.account import WIDENED, AdapterCount, count_adapter
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.checkpoint import BYTES
from weighbridge.accounts.adapters.sites import AddedTensor
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Config = Mapping[str, Any]

DEFAULTS: dict[str, Any] = {"hidden_size": 4096, "xlora_depth": 1, "xlora_size": 2048, "xlora_dropout_p": 0.2}
MIXED = ("linear", "conv1d", "embedding")
"""Kinds of adapted modules that get a scale of their own where *layerwise_scalings* asks for it; convolutions over two axes too."""


def count_mixture(base: Base, raw: Config, experts: Sequence[Mapping[str, Any]], *, autocast: bool = True) -> AdapterCount:
    """Count a base with several LoRAs and the classifier that mixes them.

    Args:
        base: The model below.
        raw: The config of the mixture; what its ``adapters`` name is given in *experts*, in the same order.
        experts: The configs of the adapters.
        autocast: Whether adapters are kept in float32 beside a base in 16 bits.

    Raises:
        ConfigError: The config is wrong.
        UsageError: An adapter that is no LoRA, or saves modules whole.
    """
    config = {**DEFAULTS, **{key: value for key, value in raw.items() if value is not None}}
    if not experts:
        raise ConfigError("expected the names of adapters and where each one lies", key="adapters", value=raw.get("adapters"))
    for expert in experts:
        if str(expert.get("peft_type", "LORA")).upper() != "LORA" or expert.get("modules_to_save"):
            raise UsageError("XLORA: mixes only LoRA adapters, and none that saves whole modules")
    found = [count_adapter(base, {**expert, "bias": "none"}, autocast=autocast) for expert in experts]
    places = {site.path: site for one in found for site, _ in one.sites}
    outside = next((path for path in places if not path.startswith("model.")), None)
    if outside is not None:
        raise UsageError(Text("XLORA: {path} is adapted, and the library loads adapters into modules inside of model alone", path=outside))
    layers = sum(site.kind in MIXED or (site.kind == "convolution" and len(site.shape) == 4) for site in places.values())
    classifier = tuple(_classifier(config, len(experts), layers))
    own = "float32" if autocast and base.dtype in WIDENED else base.dtype
    named = list(raw.get("adapters") or ())
    thawed = [str(index) in named and bool(config.get("use_trainable_adapters")) for index in range(len(experts))]
    # two adapters may name the same module, which then holds the tensors of both
    sites = tuple((site, _of_all(path, found, thawed)) for path, site in places.items())
    added = [tensor for _, tensors in sites for tensor in tensors]
    saved = sum(tensor.count for tensor in classifier if tensor.saved)
    trained = [tensor for tensor in (*added, *classifier) if tensor.parameter and tensor.trainable]
    kept = [(tensor.count, base.dtype if tensor in classifier else own) for tensor in (*added, *classifier) if tensor.parameter]
    return AdapterCount(
        "XLORA",
        sum(tensor.count for tensor in trained),
        # each was counted with the base below it, which is there once
        sum(one.total for one in found) - (len(found) - 1) * _total(base) + sum(tensor.count for tensor in classifier),
        saved,
        saved * BYTES[base.dtype],
        sites,
        classifier,
        (),
        0,
        "hidden*size + size*(adapters*layers), the classifier's",
        (),
        ((BYTES[base.dtype], saved),) if saved else (),
        tuple(kept),
        tuple((tensor.shape, base.dtype if tensor in classifier else own) for tensor in trained),
    )


def _total(base: Base) -> int:
    return sum(row.count for row in base.rows if row.role != "buffer" and row.tied_to is None)  # type: ignore[misc]


def _of_all(path: str, found: Sequence[AdapterCount], thawed: Sequence[bool]) -> tuple[AddedTensor, ...]:
    """Return what all adapters bring to one module, named by their number; none of it is saved with the classifier."""
    return tuple(
        tensor._replace(name=f"{tensor.name}.{index}", saved=False, trainable=thawed[index] and tensor.trainable)
        for index, one in enumerate(found)
        for site, tensors in one.sites
        if site.path == path
        for tensor in tensors
    )


def _classifier(config: Config, experts: int, layers: int) -> Iterator[AddedTensor]:
    """Yield the classifier's layers.

    The adapters are called 0, 1 and so on inside the library, and what it saves leaves out whatever has another adapter's name: a layer of the
    classifier that stands at such a place is not saved.
    """
    for key in DEFAULTS:
        value = config[key]
        if key != "xlora_dropout_p" and (type(value) is not int or value < 1):
            raise ConfigError("expected a whole number from 1 up", key=key, value=value)
    depth, inner, scales = config["xlora_depth"], config["xlora_size"], experts * (layers if config.get("layerwise_scalings") else 1)
    widths = [config["hidden_size"], *[inner] * (depth - 1), scales]
    step = 3 if config["xlora_dropout_p"] else 2
    for index in range(depth):
        place = index * step
        name, saved = f"internal_xlora_classifier.layers.{place}", place >= experts
        yield AddedTensor(f"{name}.weight", (widths[index + 1], widths[index]), saved=saved)
        yield AddedTensor(f"{name}.bias", (widths[index + 1],), saved=saved)
