"""What a variable is by its name, as TensorFlow, Keras and Flax name them: kernels, gammas, moving means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from weighbridge.core.messages import Text
from weighbridge.readers.listing import StoredTensor

ROLES = {"kernel": "weight", "embeddings": "embedding", "embedding": "embedding", "gamma": "gain", "beta": "shift", "bias": "bias"}
STATISTICS = frozenset("moving_mean moving_variance moving_var".split())

OPTIMIZER_NOTE = "optimizer state"
STATISTICS_NOTE = "statistics of a norm"
TABLE_NOTE = "a counter or table, no parameter"


def optimizer_notes(tensors: Iterable[StoredTensor]) -> tuple[str, ...]:
    """Say how many arrays are the optimizer's, if any are.

    >>> optimizer_notes([StoredTensor("step", "I64", (), 8, "buffer", note=OPTIMIZER_NOTE)])
    ("1 arrays with 1 elements are the optimizer's, no parameters",)
    """
    apart = [tensor for tensor in tensors if tensor.note == OPTIMIZER_NOTE]
    count = sum(tensor.stored for tensor in apart)
    words = "{count:,} arrays with {elements:,} elements are the optimizer's, no parameters"
    return (Text(words, count=len(apart), elements=count),) if apart else ()


def role_of_variable(name: str, shape: tuple[int, ...], names: Collection[str] = ()) -> str | None:
    """Tell a variable's role from the last piece of its dotted name; None where that tells nothing.

    Args:
        names: All names of the file: a bias beside a ``scale`` is a norm's shift.

    >>> role_of_variable("dense.kernel", (3, 4)), role_of_variable("ln.bias", (4,), {"ln.scale"})
    ('weight', 'shift')
    """
    parent, _, last = name.rpartition(".")
    if last in STATISTICS:
        return "buffer"
    if last == "scale" and len(shape) == 1:
        return "gain"
    if last == "bias" and f"{parent}.scale" in names:
        return "shift"
    role = ROLES.get(last)
    return None if role == "weight" and len(shape) < 2 else role


def with_dots(name: str) -> str:
    """Write a path with dots, layers' numbers as pieces of their own.

    >>> with_dots("encoder/layer_0/kernel"), with_dots("bert/encoder/layer_._11/attention/kernel:0")
    ('encoder.layer.0.kernel', 'bert.encoder.layer.11.attention.kernel')
    """
    name = re.sub(r":\d+$", "", name)
    return re.sub(r"\b(layer|layers|encoderblock|h|block)_(?:\._)?(\d+)(?=/)", r"\1.\2", name).replace("/.", "/").replace("/", ".")
