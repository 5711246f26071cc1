"""What a live forward saves for backward: every storage that autograd holds on to, to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from truth.forward import Pass, inputs
from truth.live import RefusedError


class Saved(NamedTuple):
    """One storage that autograd keeps: the module and the call in which it was first saved, the shape of the view, its bytes."""

    module: str
    call: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


def saved_storages(model: Any, lengths: Pass, *, made: dict[str, Any] | None = None) -> list[Saved]:
    """List the storages that a forward saves, each once; parameters, buffers and the inputs are left out.

    Args:
        model: A live model with values.
        lengths: Of the pass.
        made: The inputs, if others than the usual are wanted.

    Raises:
        RefusedError: The forward does not run.
    """
    torch = import_module("torch")
    made = inputs(model, lengths) if made is None else made
    known = {_storage(tensor) for tensor in (*model.parameters(), *model.buffers(), *made.values()) if isinstance(tensor, torch.Tensor)}
    found: dict[int, Saved] = {}
    kept = []  # a storage that is freed may come again at the same address

    def pack(tensor: Any) -> Any:
        address = _storage(tensor)
        if address not in known and address not in found:
            kept.append(tensor)
            size = tensor.untyped_storage().nbytes()
            found[address] = Saved(place[-1], call[-1], tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), size)
        return tensor

    place, call = [""], [""]
    with _name_modules(model, place), _name_calls(call), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        try:
            result = model(**made)
        except RefusedError:
            raise
        except Exception as error:  # whatever a forward may meet
            raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
    del result
    return list(found.values())


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


@contextmanager
def _name_modules(model: Any, place: list[str]) -> Iterator[None]:
    """Keep the name of the module that is running at the end of *place*."""
    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: place.append(name)))
        handles.append(module.register_forward_hook(lambda *_: place.pop() and None, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _name_calls(call: list[str]) -> Iterator[None]:
    """Keep the name of the call that is running at the end of *call*."""
    overrides = import_module("torch.overrides")

    class Calls(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            call.append(getattr(function, "__name__", str(function)))
            try:
                return function(*args, **(kwargs or {}))
            finally:
                call.pop()

    with Calls():
        yield
