"""What a live class keeps between tokens: every tensor in the cache that a forward returns, to the byte."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from truth.forward import Pass, inputs
from truth.live import RefusedError

RETURNED = ("past_key_values", "cache_params", "state", "past_buckets_states", "mems")
"""The fields of an output that hold a cache."""


class Kept(NamedTuple):
    """One tensor in a cache: where it stands, its shape and its type."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


def cached_tensors(model: Any, lengths: Pass) -> list[Kept]:
    """Run a prompt through a live model with values and list the tensors in the cache that it returns.

    Raises:
        RefusedError: The forward does not run, or returns no cache.
    """
    made = inputs(model, lengths)
    if "use_cache" in inspect.signature(model.forward).parameters:
        made["use_cache"] = True
    output = _run(model, made)
    for name in RETURNED:
        found = getattr(output, name, None)
        if found is not None:
            return list(dict.fromkeys(_tensors(found, name, set())))
    held = list(_module_states(model))
    if not held:
        raise RefusedError("it returns no cache")
    # RecurrentGemma fills a cache, does not return it, and holds its states itself
    handed = import_module("transformers").DynamicCache(config=model.config)
    _run(model, {**made, "past_key_values": handed})
    return [*_tensors(handed, "past_key_values", set()), *_module_states(model)]


def _run(model: Any, made: dict[str, Any]) -> Any:
    try:
        with import_module("torch").no_grad():
            return model(**made)
    except RefusedError:
        raise
    except Exception as error:  # whatever a forward may meet
        raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error


def _module_states(model: Any) -> Iterator[Kept]:
    """Yield the states that modules hold as attributes."""
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if name.endswith(("_state", "_states")):
                yield from _tensors(value, f"{path}.{name}", set())


def _tensors(value: Any, path: str, seen: set[int]) -> Iterator[Kept]:
    """Yield the tensors inside a cache, each once; what only keeps the books (lengths, windows) is left out."""
    torch = import_module("torch")
    if isinstance(value, torch.Tensor):
        if id(value) not in seen:
            seen.add(id(value))
            yield Kept(path, tuple(value.shape), str(value.dtype).removeprefix("torch."), value.numel() * value.element_size())
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _tensors(inner, f"{path}.{key}", seen)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _tensors(inner, f"{path}.{index}", seen)
    elif hasattr(value, "__dict__") and type(value).__module__.startswith("transformers") and id(value) not in seen:
        seen.add(id(value))
        for key, inner in vars(value).items():
            if not key.startswith("_") and key not in ("cumulative_length", "config", "seqlen_offset"):
                yield from _tensors(inner, f"{path}.{key}", seen)
