"""What an optimizer keeps for each parameter, as its states stand after the first step."""

from __future__ import annotations

from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import OwnedTensor, owned_tensors
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

STEP = 4
"""Bytes of a step counter: torch keeps it as a float32 tensor for each parameter (``_get_scalar_dtype`` in optim/optimizer.py)."""


class Optimizer(NamedTuple):
    """An optimizer.

    Attributes:
        kept: Bytes kept for a parameter of a shape, with elements of a number of bytes.
        source: Where that is defined.
        shared: Bytes of tables that all parameters of :data:`BYTEWISE` elements or more share.
    """

    kept: Callable[[tuple[int, ...], int], int]
    source: str
    shared: int = 0


BYTEWISE = 4096
"""From how many elements on a parameter has its moments in 8 bits (bitsandbytes, ``min_8bit_size``)."""


def _moments(count: int, counters: int = 1) -> Callable[[tuple[int, ...], int], int]:
    return lambda shape, size: count * size * elements(shape) + counters * STEP


def _asgd(shape: tuple[int, ...], size: int) -> int:
    return size * elements(shape) + 3 * STEP


def _adafactor(shape: tuple[int, ...], size: int) -> int:
    if len(shape) < 2:
        return size * elements(shape) + STEP
    outer = elements(shape[:-2])
    return size * outer * (shape[-2] + shape[-1]) + STEP


def _eight_bits(count: int) -> Callable[[tuple[int, ...], int], int]:
    """Keep moments of a byte, and a float32 for each 256 of them; of small parameters float32s."""

    def state_bytes(shape: tuple[int, ...], size: int) -> int:
        many = elements(shape)
        return 4 * count * many if many < BYTEWISE else count * (many + 4 * -(-many // 256))

    return state_bytes


def _muon(shape: tuple[int, ...], size: int) -> int:
    return size * elements(shape)


OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": Optimizer(lambda shape, size: 0, "torch.optim.SGD"),
    "momentum": Optimizer(_moments(1, 0), "torch.optim.SGD(momentum=...)"),
    "adam": Optimizer(_moments(2), "torch.optim.Adam"),
    "adamw": Optimizer(_moments(2), "torch.optim.AdamW"),
    "amsgrad": Optimizer(_moments(3), "torch.optim.AdamW(amsgrad=True)"),
    "adamax": Optimizer(_moments(2), "torch.optim.Adamax"),
    "nadam": Optimizer(_moments(2, 2), "torch.optim.NAdam"),
    "radam": Optimizer(_moments(2), "torch.optim.RAdam"),
    "rmsprop": Optimizer(_moments(1), "torch.optim.RMSprop"),
    "adagrad": Optimizer(_moments(1), "torch.optim.Adagrad"),
    "adadelta": Optimizer(_moments(2), "torch.optim.Adadelta"),
    "asgd": Optimizer(_asgd, "torch.optim.ASGD: an average, and three numbers"),
    "rprop": Optimizer(_moments(2), "torch.optim.Rprop: the last gradient and the step sizes"),
    "adafactor": Optimizer(_adafactor, "torch.optim.Adafactor; arXiv 1804.04235, section 3"),
    "adam8bit": Optimizer(
        _eight_bits(2),
        "bitsandbytes 0.50, optim/optimizer.py: below 4,096 elements float32, else bytes, a float32 for 256, two tables",
        2 * 4 * 256,
    ),
    "adamw8bit": Optimizer(_eight_bits(2), "bitsandbytes 0.50, optim/optimizer.py, as adam8bit", 2 * 4 * 256),
    "lion8bit": Optimizer(_eight_bits(1), "bitsandbytes 0.50, optim/lion.py: one momentum in bytes, one table", 4 * 256),
    "lion": Optimizer(_moments(1, 0), "arXiv 2302.06675, algorithm 2: one momentum"),
    "muon": Optimizer(_muon, "torch.optim.Muon: one momentum for a matrix inside the layers; embeddings, heads and vectors by AdamW"),
}

LIBRARIES = ("torch.optim", "bitsandbytes", "lion-pytorch")
"""The libraries whose states, of small live models after a step, ours are equal to, to the byte."""


def optimizer_bytes(tree: Part, optimizer: str, size: int) -> int:
    """Add up what an optimizer keeps for all trainable parameters.

    Args:
        tree: A model, its sizes ints, or columns where the optimizer treats all sizes alike.
        optimizer: One of :data:`OPTIMIZERS`.
        size: Bytes of an element of its states.

    Raises:
        UsageError: An optimizer that is not known; Shampoo and its kin are refused, as what they keep depends on their settings.

    >>> from weighbridge.core.parts import linear
    >>> optimizer_bytes(Part("", (linear("dense", 8, 8),)), "adamw", 4)
    584
    """
    check_optimizer(optimizer)
    total = 0
    learned = [entry for entry in owned_tensors(tree) if entry.tensor.role != "buffer" and not entry.tensor.frozen]
    for entry in learned:
        total += entry.copies * state_bytes(entry, optimizer, size)
    return total + shared_bytes(optimizer, (elements(entry.tensor.shape) for entry in learned))


def shared_bytes(optimizer: str, counts: Iterable[int]) -> int:
    """Return the bytes of the tables that all parameters share, if one of these *counts* of elements is looked up in them.

    >>> shared_bytes("adam8bit", (64, 5000)), shared_bytes("adam8bit", (64,)), shared_bytes("adamw", (5000,))
    (2048, 0, 0)
    """
    shared = OPTIMIZERS[optimizer].shared
    return shared if shared and any(count >= BYTEWISE for count in counts) else 0


def check_optimizer(optimizer: str) -> None:
    """Refuse an optimizer that is not known.

    Raises:
        UsageError: It is not one of :data:`OPTIMIZERS`.
    """
    if optimizer in ("shampoo", "soap"):
        raise UsageError(
            Text(
                "optimizer: {optimizer} is not counted, since its own settings decide in which blocks it keeps its states; take adamw or adafactor for a comparison",
                optimizer=optimizer,
            )
        )
    near = did_you_mean(optimizer, OPTIMIZERS) if optimizer not in OPTIMIZERS else ""
    if near:
        raise UsageError(Text("{name}: no {value!r}; {hint}", name="optimizer", value=optimizer[:40], hint=near))
    if optimizer not in OPTIMIZERS:
        raise UsageError(
            Text("optimizer: expected one of {optimizers}, found {optimizer!r:.40}", optimizers=", ".join(OPTIMIZERS), optimizer=optimizer)
        )


def state_bytes(entry: OwnedTensor, optimizer: str, size: int) -> int:
    """Return what an optimizer that is known keeps for one tensor: Muon leaves to AdamW what is no matrix inside a layer."""
    shape: Any = entry.tensor.shape
    by = "adamw" if optimizer == "muon" and not _is_muon_matrix(entry) else optimizer
    return OPTIMIZERS[by].kept(shape, size)


def _is_muon_matrix(entry: OwnedTensor) -> bool:
    return entry.numbered and entry.tensor.role == "weight" and len(entry.tensor.shape) == 2


def count_trainable(tree: Part) -> int:
    """Count the elements that get gradients."""
    learned = (entry for entry in owned_tensors(tree) if entry.tensor.role != "buffer" and not entry.tensor.frozen)
    return sum(entry.copies * elements(entry.tensor.shape) for entry in learned)
