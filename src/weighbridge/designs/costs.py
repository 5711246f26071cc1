"""What a design costs beside its parameters: arithmetic, cache, bytes, each by the account of the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.suggestions import did_you_mean
from weighbridge.value import ModelValue

BITS = {"float32": 32, "float16": 16, "bfloat16": 16, "float8": 8, "int8": 8, "int4": 4}
"""Bits of one element of a weight."""


class Workload(NamedTuple):
    """What the costs of a design are computed for.

    Attributes:
        batch: Examples.
        seq: Tokens of each; None is 2,048, or as many as the model has learned positions for.
        dtype: Of the weights and the cache.
        training: Whether memory is that of training.
    """

    batch: int = 1
    seq: int | None = None
    dtype: str = "bfloat16"
    training: bool = False


LENGTHS = (2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)


def inputs_of(model: ModelValue, workload: Workload) -> Inputs:
    """Return what a model is costed on: the length asked for, or the longest of the usual ones that it can take.

    >>> from weighbridge import model
    >>> inputs_of(model("bert-base-uncased"), Workload()).seq
    512
    """
    if workload.seq is not None:
        return Inputs(batch=workload.batch, seq=workload.seq)
    for length in LENGTHS[:-1]:
        with suppress(UsageError):
            flops_of(model, Inputs(seq=length))
            return Inputs(batch=workload.batch, seq=length)
    return Inputs(batch=workload.batch, seq=1)


def _flops(model: ModelValue, workload: Workload) -> int:
    return as_int(flops_of(model, inputs_of(model, workload)).forward_matmul)


def _bytes(model: ModelValue, workload: Workload) -> int:
    if workload.dtype not in BITS:
        raise UsageError(
            Text(
                "dtype: {dtype!r} is unknown; {did_you_mean}",
                dtype=workload.dtype,
                did_you_mean=did_you_mean(workload.dtype, BITS) or Text("known: {names}", names=", ".join(BITS)),
            )
        )
    return -(-as_int(tally_of(model).unique) * BITS[workload.dtype] // 8)


def _memory(model: ModelValue, workload: Workload) -> int:
    found = memory_of(model, inputs_of(model, workload), settings(dtype=workload.dtype), training=workload.training)
    if found.total is None:
        raise UsageError(Text("memory: {refused}", refused=found.refused or "not described for this model"))
    return found.total


def _cache(model: ModelValue, workload: Workload) -> int:
    return cache_of(model, inputs_of(model, workload), workload.dtype).per_token


COSTS: dict[str, Callable[[ModelValue, Workload], int]] = {
    "active": lambda model, workload: as_int(tally_of(model).active),
    "non_embedding": lambda model, workload: as_int(tally_of(model).non_embedding),
    "flops": _flops,
    "bytes": _bytes,
    "memory": _memory,
    "cache": _cache,
}
"""From a measure's name to what it takes of a model."""
ALWAYS = ("active", "non_embedding", "flops", "bytes")
"""Measures of every design."""


def costs_of(model: ModelValue, workload: Workload, names: Iterable[str]) -> dict[str, int]:
    """Measure a model in *names*, and always in its active parameters and its forward arithmetic.

    Raises:
        UsageError: A measure that nobody knows.

    >>> from weighbridge import model
    >>> costs_of(model("bert-base-uncased"), Workload(seq=128), ())["flops"]
    22348431360
    """
    wanted = list(dict.fromkeys((*ALWAYS, *names)))
    for name in wanted:
        if name not in COSTS:
            raise UsageError(
                Text(
                    "no measure {name!r}; {did_you_mean}",
                    name=name,
                    did_you_mean=did_you_mean(name, COSTS) or Text("known: {names}", names=", ".join(COSTS)),
                )
            )
    return {name: COSTS[name](model, workload) for name in wanted}
