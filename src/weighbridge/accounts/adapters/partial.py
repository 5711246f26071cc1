"""Tuning a part of a model, and bottlenecks between its layers: BitFit, frozen modules, Houlsby's adapters.

None of them is a method of the PEFT library: what is trained is what the papers say, what is saved is what is trained.

Source: Ben Zaken et al. 2021 (BitFit, arXiv:2106.10199); Houlsby et al. 2019 (arXiv:1902.00751, section 2.1)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.checkpoint import owner
from weighbridge.accounts.adapters.matching import ends_with
from weighbridge.accounts.adapters.prompts import LAYERS, WIDTHS, fact
from weighbridge.accounts.adapters.sites import AddedTensor
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Config = Mapping[str, Any]


class Partial(NamedTuple):
    """One way to train a part.

    Attributes:
        train: Which of the base's tensors are trained.
        add: What is added to the base.
        formula: What that comes to.
    """

    train: Callable[[Base, Config], Iterable[Row]]
    add: Callable[[Base, Config], Iterable[AddedTensor]]
    formula: str


def _no_parameters(base: Base, config: Config) -> Iterable[AddedTensor]:
    return ()


def biases(base: Base, config: Config) -> Iterable[Row]:
    """Return every bias and every shift of a norm."""
    return [row for row in base.rows if row.role in ("bias", "shift")]


def rows_to_train(base: Base, config: Config) -> Iterable[Row]:
    """Return the tensors of the modules that *train* names, or those outside the modules that *freeze* names."""
    train, freeze = config.get("train"), config.get("freeze")
    if (train is None) == (freeze is None):
        raise ConfigError("expected one of train and freeze, a list of modules", key="train", value=train)
    names = train if train is not None else freeze
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError("expected a list of modules", key="train" if train is not None else "freeze", value=names)
    inside = [path for path in base.modules if ends_with(path, set(names))]
    missing = [name for name in names if not any(ends_with(path, {name}) for path in inside)]
    if missing:
        raise UsageError(Text("no module of the base model is named {missing}", missing=", ".join(missing)))
    held = {owner(row) for path in inside for row in base.within(path)}
    if train is not None:
        return [row for row in base.rows if row.role != "buffer" and owner(row) in held]
    # a tensor that is shared is frozen under all of its names; what the reference freezes stays frozen
    return [row for row in base.rows if row.role != "buffer" and owner(row) not in held and not row.frozen]


def norms(base: Base, config: Config) -> Iterable[Row]:
    """Return the gains and shifts of norms, which are trained with Houlsby's adapters."""
    return [row for row in base.rows if row.role in ("gain", "shift")] if config.get("norms", True) else []


def bottlenecks(base: Base, config: Config) -> Iterable[AddedTensor]:
    """Yield two bottlenecks of a layer: down, up, and their biases, after its attention and after its feed-forward."""
    width, layers = fact(base.config, WIDTHS, "hidden_size"), fact(base.config, LAYERS, "num_layers")
    inner = config.get("bottleneck", 64)
    if not isinstance(inner, int) or isinstance(inner, bool) or inner < 1:
        raise ConfigError("expected a whole number from 1 up", key="bottleneck", value=inner)
    for layer in range(layers):
        for place in ("attention", "output"):
            name = f"layer.{layer}.{place}.adapter"
            yield AddedTensor(f"{name}.down.weight", (inner, width))
            yield AddedTensor(f"{name}.down.bias", (inner,))
            yield AddedTensor(f"{name}.up.weight", (width, inner))
            yield AddedTensor(f"{name}.up.bias", (width,))


PARTIAL = {
    "BITFIT": Partial(biases, _no_parameters, mark("every bias, and every shift of a norm")),
    "FREEZE": Partial(rows_to_train, _no_parameters, mark("the modules named by train, or all but those named by freeze")),
    "HOULSBY": Partial(norms, bottlenecks, "2*(2*hidden*bottleneck + hidden + bottleneck) for each layer, and the norms"),
}
"""By name, as ``peft_type`` and on the command line."""
