"""Step 5b: what was predicted beside what is measured. Measured is what torch itself says, never a formula of ours."""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from examples.sentiment.plan import training, weigh
from examples.sentiment.vocabulary import Batch


class Row(NamedTuple):
    """One quantity: predicted, measured, and how far apart the two may be (0: equal; None: the prediction is a lower bound)."""

    name: str
    predicted: float
    measured: float
    within: float | None

    @property
    def holds(self) -> bool:
        """Whether the measurement is as near as it should be."""
        if self.within is None:
            return self.measured >= self.predicted
        return abs(self.measured - self.predicted) <= self.within * self.predicted


def compare(model: nn.Module, config: dict[str, Any], batch: Batch, file: Path) -> Iterator[Row]:
    """Hold the predictions for one full batch to the model as it runs, and the count to the file as it lies there."""
    examples, tokens = batch.input_ids.shape
    weighing = weigh(config, type(model).__name__)
    memory, flops = training(config, examples, tokens, type(model).__name__), weighing.flops(batch=examples, seq=tokens)
    yield Row("parameters", weighing.count().unique, sum(parameter.numel() for parameter in model.parameters()), 0)
    yield Row("bytes of the saved weights", memory.weights, tensor_bytes(file), 0)
    yield Row("bytes kept for backward", memory.activations, kept_bytes(model, batch), 0)
    forward, both = counted_flops(model, batch)
    yield Row("FLOPs of a forward pass", flops.forward_matmul, forward, 0)
    yield Row("FLOPs of a backward pass", flops.backward, both - forward, 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.0)  # the weights stay as they are
    step(model, batch, optimizer)
    states = (value for kept in optimizer.state.values() for value in kept.values())
    yield Row("bytes of the optimizer's states", memory.optimizer, sum(value.nbytes for value in states), 0)
    yield Row("peak bytes of a training step", memory.total, peak_bytes(model, batch, optimizer), 0.05)


def step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> None:
    """Take one step of training."""
    model.train()
    model(batch.input_ids, batch.attention_mask, labels=batch.labels)[1].backward()
    optimizer.step()
    optimizer.zero_grad()


def tensor_bytes(file: Path) -> int:
    """Return the bytes of the tensors in a safetensors file: all that follows its header."""
    with file.open("rb") as opened:
        (header,) = struct.unpack("<Q", opened.read(8))
        offsets = [one["data_offsets"] for name, one in json.loads(opened.read(header)).items() if name != "__metadata__"]
    return max(end for _, end in offsets)


def kept_bytes(model: nn.Module, batch: Batch) -> int:
    """Return what autograd keeps of a forward pass (``saved_tensors_hooks``): every storage once, without those that are held anyway."""
    model.train()
    held = {address(tensor) for tensor in (*model.parameters(), *model.buffers(), *batch)}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        if address(tensor) not in held:
            kept[address(tensor)] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(batch.input_ids, batch.attention_mask, labels=batch.labels)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def address(tensor: Tensor) -> int:
    """Return where a tensor's storage lies."""
    return tensor.untyped_storage().data_ptr()


def counted_flops(model: nn.Module, batch: Batch) -> tuple[int, int]:
    """Return what torch's FlopCounterMode counts in a forward pass, and in a forward and its backward."""
    model.train()
    with FlopCounterMode(display=False) as counter:
        loss = model(batch.input_ids, batch.attention_mask, labels=batch.labels)[1]
        forward = counter.get_total_flops()
        loss.backward()
    model.zero_grad()
    return forward, counter.get_total_flops()


def peak_bytes(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> int:
    """Return the most bytes that lived at once in a step, by torch's MemTracker, which sees every storage come and go.

    It is no sum of ours: the gradients grow while the activations shrink, and what kernels need in between is in it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.distributed._tools.mem_tracker import MemTracker

        tracker = MemTracker()
        tracker.track_external(model, optimizer, *batch)
        with tracker:
            step(model, batch, optimizer)
    (device,) = tracker.get_tracker_snapshot("peak").values()
    return int(device["Total"])
