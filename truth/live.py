"""Live classes of the reference library, built on the meta device: the other side of every comparison."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from copy import deepcopy
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from truth.listing import Line, Listing


class RefusedError(Exception):
    """The reference library does not build this class from this config, or does not run it."""


def build(model_type: str, class_name: str, raw: Mapping[str, Any], device: str = "meta") -> Any:
    """Build the live class on the meta device, without weights (or on another, for a forward that needs values).

    Keys of *raw* that are arguments of the class and no fields of its config, such as
    ``add_pooling_layer``, are passed to the class.

    Raises:
        RefusedError: The class or its config refuses these values.
    """
    torch, _ = _libraries()
    safe = import_module("transformers.initialization").meta_device_safe_creation_ops() if device == "meta" else nullcontext()
    cls, config_cls = live_class(model_type, class_name), config_class(model_type)
    arguments = _arguments(cls) - set(config_cls.sub_configs) - set(getattr(config_cls, "__dataclass_fields__", ()))
    keywords = {key: value for key, value in raw.items() if key in arguments and not isinstance(value, Mapping)}
    # A config class writes into what it is given, such as a set of rotary parameters.
    fields = {key: deepcopy(value) for key, value in raw.items() if key not in keywords and key != "model_type"}
    with torch.device(device), safe, torch.no_grad():
        try:
            return cls(config_cls(**fields), **keywords).eval()
        except TimeoutError:  # of ``hurry``: that nobody waited is no refusal
            raise
        except Exception as error:  # whatever a config may provoke in there
            raise RefusedError(_summary(error)) from error


def listing(model: Any) -> Listing:
    """List a live model's parameters and persistent buffers, ties found by identity."""
    first: dict[int, str] = {}
    parameters = [_line(name, tensor, first) for name, tensor in model.named_parameters(remove_duplicate=False)]
    names = {line.name for line in parameters}
    buffers = [_line(name, tensor, first) for name, tensor in model.state_dict(keep_vars=True).items() if name not in names]
    return Listing(tuple(parameters), tuple(line._replace(frozen=False) for line in buffers))


def config_class(model_type: str) -> Any:
    """Return the config class of a model type.

    Raises:
        RefusedError: The library has none.
    """
    _libraries()
    mapping = import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    try:
        return mapping[model_type]
    except KeyError:
        raise RefusedError(f"no model type {model_type!r}") from None


def live_class(model_type: str, class_name: str) -> Any:
    """Return a class of a model type by its name.

    Raises:
        RefusedError: None of the type's modules has it.
    """
    for module in (*modules(model_type), import_module("transformers")):  # some types are built by the classes of another
        found = getattr(module, class_name, None)
        if found is not None:
            return found
    found = getattr(_libraries()[1], class_name, None)  # a class of another type that the auto mappings lend
    if found is not None:
        return found
    raise RefusedError(f"{model_type} has no class {class_name!r}")


def general_keys() -> set[str]:
    """Return the keys that every config of the library has."""
    _libraries()
    return set(import_module("transformers").PreTrainedConfig.__dataclass_fields__)


def value(config: Any, key: str) -> Any:
    """Return what a live config says under a key, or None if it has none, or one for each layer."""
    try:
        return getattr(config, key, None)
    except Exception:  # a config whose layers differ refuses to give one value
        return None


@cache
def modules(model_type: str) -> list[Any]:
    """Return the modules in which a model type's classes may stand."""
    package = import_module(config_class(model_type).__module__.rpartition(".")[0])
    names = [entry.name for entry in iter_modules(package.__path__) if entry.name.startswith("modeling_")]
    found = []
    for name in names:
        try:
            found.append(import_module(f"{package.__name__}.{name}"))
        except ImportError:  # an extra that is not installed
            continue
    for module in found:
        if "requires_backends" in vars(module):
            vars(module)["requires_backends"] = _without_extras(vars(module)["requires_backends"])
    return found


def _without_extras(check: Any) -> Any:
    """Return the check that a class's extras are installed, but for those that no tensor needs: scipy for losses, natten for attention."""

    def require(asking: Any, backends: Any) -> None:
        if backends not in (["scipy"], "scipy", ["natten"]):
            check(asking, backends)

    return require


def versions() -> dict[str, str]:
    """Return the versions of the reference."""
    torch, transformers = _libraries()
    return {"torch": torch.__version__.partition("+")[0], "transformers": transformers.__version__}


def _libraries() -> tuple[Any, Any]:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch, transformers = import_module("torch"), import_module("transformers")
    transformers.logging.set_verbosity(50)
    torch.set_num_threads(1)  # small matrices, and several processes beside each other
    return torch, transformers


def _arguments(cls: Any) -> set[str]:
    return {name for name in inspect.signature(cls.__init__).parameters if name not in ("self", "config", "args", "kwargs")}


def _line(name: str, tensor: Any, first: dict[int, str]) -> Line:
    owner = first.setdefault(id(tensor), name)
    return Line(name, tuple(tensor.shape), None if owner == name else owner, not tensor.requires_grad)


def _summary(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}"
