"""The bytes of all storages that are alive while a step of training runs: what torch's MemTracker counts, on real tensors, which every class takes."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from weakref import finalize


def peak(model: Any, made: dict[str, Any], stepper: Any) -> int:
    """Run two steps of training and return the most bytes that the second holds at once.

    Args:
        model: A live model with values, in training.
        made: Its inputs and labels.
        stepper: The optimizer, which has its states after the first step.
    """
    dispatch, torch = import_module("torch.utils._python_dispatch"), import_module("torch")
    leaves = import_module("torch.utils._pytree").tree_leaves

    class Storages(dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        """Sees each storage that an operation returns, and its end."""

        def __init__(self) -> None:
            super().__init__()
            self.alive: set[int] = set()
            self.bytes = self.most = 0

        def see(self, tensor: Any) -> None:
            storage = tensor.untyped_storage()
            name, size = id(storage), storage.nbytes()
            if name in self.alive:
                return
            self.alive.add(name)
            self.bytes += size
            self.most = max(self.most, self.bytes)
            finalize(storage, self.forget, name, size)

        def forget(self, name: int, size: int) -> None:
            self.alive.discard(name)
            self.bytes -= size

        def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = operation(*args, **(kwargs or {}))
            for tensor in leaves(result):
                if isinstance(tensor, torch.Tensor):
                    self.see(tensor)
            return result

    def step() -> None:
        model(**made).loss.backward()
        stepper.step()
        stepper.zero_grad()

    step()
    storages = Storages()
    states = [value for state in stepper.state.values() for value in state.values()]
    for tensor in (*model.parameters(), *model.buffers(), *made.values(), *states):
        if isinstance(tensor, torch.Tensor):
            storages.see(tensor)
    with storages:
        step()
    return storages.most
