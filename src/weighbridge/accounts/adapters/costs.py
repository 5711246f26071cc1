"""What a model with an adapter takes: bytes of weights, gradients and states, QLoRA's packed base among them, and its arithmetic.

Held to the PEFT library 0.21.2: bytes of parameters and gradients, states of AdamW after a step, and what ``FlopCounterMode`` counts of a
forward with LoRA over linear layers.
"""

from __future__ import annotations

from math import gcd, prod

from weighbridge.accounts.adapters.account import AdapterCount
from weighbridge.accounts.adapters.activations import adapter_activations
from weighbridge.accounts.adapters.checkpoint import BYTES, count_equal
from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.memory.account import settings
from weighbridge.accounts.memory.optimizers import OPTIMIZERS, optimizer_bytes, shared_bytes
from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import buffer_bytes, listed_bytes, weight_bytes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Part, Tensor, copy_name, positions
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WITHOUT_PRODUCTS = frozenset(("BEFT", "BITFIT", "FREEZE", "IA3", "LN_TUNING", "TRAINABLE_TOKENS"))
"""Methods that multiply no matrices of their own in a forward pass."""

PLAIN_LORA = mark("FLOPs are counted for LoRA on linear layers and for methods without matrix products of their own")


class AdapterCosts(NamedTuple):
    """What a model with an adapter takes to be trained.

    Attributes:
        weights: Bytes of the base's parameters, packed where a scheme is given; buffers too.
        adapter: Bytes of the parameters that the adapter adds, copies of whole modules among them.
        gradients: Bytes of gradients, of what is trained alone.
        optimizer: Bytes of the optimizer's states.
        total: All of them; activations are not in it, so it is a lower bound.
        activations: Bytes that autograd keeps of a forward with the loss, in SDPA and without dropout; None where that is not known.
        unknown: Why the activations are not known.
        forward_matmul: FLOPs of one forward pass in products of matrices, as ``FlopCounterMode`` counts them; None where it is not known.
        added_matmul: Of these, the adapter's own.
        refused: Why the arithmetic is not known.
        trust: How surely each is known, by name.
    """

    weights: int
    adapter: int
    gradients: int
    optimizer: int
    total: int
    activations: int | None
    unknown: str | Text
    forward_matmul: int | None
    added_matmul: int | None
    refused: str | Text
    trust: dict[str, str]


def costs_of(
    model: ModelValue,
    config: Mapping[str, object],
    found: AdapterCount,
    given: Inputs,
    *,
    dtype: str = "float32",
    quantization: str | None = None,
    optimizer: str = "adamw",
) -> AdapterCosts:
    """Add up what a model takes with an adapter that is counted already.

    Args:
        model: The base.
        config: The adapter's config.
        found: The adapter, counted.
        given: What is put in, on which the arithmetic depends.
        dtype, quantization: The base's element type, and the scheme that packs its matrices.
        optimizer: Whose states are kept.

    Raises:
        UsageError: A type, scheme or optimizer that is not known.
    """
    optimizer_bytes(Part("", ()), optimizer, 4)  # refuses one that is not known
    weights = base_bytes(model, dtype, quantization)
    added, gradients, states = trained_bytes(found, optimizer)
    trust = {"weights": "exact" if quantization is None else "estimate", "adapter": found.trust, "gradients": found.trust}
    trust |= {"optimizer": found.trust if optimizer != "muon" else "estimate", "total": "bound"}
    forward, more, refused = _arithmetic(model, config, found, given)
    kept, unknown = adapter_activations(model, config, found, given, settings(dtype=dtype, loss=True))
    trust |= {} if kept is None else {"activations": kept.trust if quantization is None else "estimate"}
    total = weights + added + gradients + states
    held = None if kept is None else kept.bytes
    return AdapterCosts(weights, added, gradients, states, total, held, unknown, forward, more, refused, trust)


def base_bytes(model: ModelValue, dtype: str, quantization: str | None) -> int:
    """Return the bytes of the base, its buffers among them."""
    stored, buffers = listed_bytes(model) if model.kind == "checkpoint" else (None, buffer_bytes(model.tree))
    if stored is None or quantization is not None:
        stored = weight_bytes(model.tree, dtype, quantization)
    return stored + buffers


def trained_bytes(found: AdapterCount, optimizer: str = "adamw") -> tuple[int, int, int]:
    """Return the bytes of what an adapter adds, of the gradients of what is trained, and of the optimizer's states of it."""
    gradients, states, kinds = 0, 0, count_equal(found.learned)  # of a hundred thousand tensors few differ
    for (shape, own), many in kinds.items():
        gradients += many * elements(shape) * BYTES[own]
        states += many * OPTIMIZERS[optimizer].kept(shape, BYTES[own])
    states += shared_bytes(optimizer, (elements(shape) for shape, _ in kinds))
    return sum(count * BYTES[own] for count, own in found.added_sizes), gradients, states


def _arithmetic(
    model: ModelValue, config: Mapping[str, object], found: AdapterCount, given: Inputs
) -> tuple[int | None, int | None, str | Text]:
    """Return the FLOPs of a forward pass, the adapter's own among them, and why they are not known."""
    try:
        base = flops_of(model, given)
    except UsageError as error:
        return None, None, error.args[0]
    if found.method in WITHOUT_PRODUCTS:
        return int(base.forward_matmul), 0, ""  # type: ignore[arg-type]
    variants = ("use_dora", "kasa_config", "velora_config", "monteclora_config", "use_bdlora", "arrow_config", "layer_replication")
    if found.method != "LORA" or any(config.get(name) for name in variants) or any(site.kind not in LINEAR for site, _ in found.sites):
        return None, None, PLAIN_LORA
    worked = dict(_by_module(base.ledger, "", (1, 1)))
    added: dict[int, int] = {}  # FLOPs by the divisor that is theirs: of hundreds of modules few differ
    for site, tensors in found.sites:
        thin = sum(prod(tensor.shape) for tensor in tensors if len(tensor.shape) == 2 and "lora_" in tensor.name)
        flops, shares = worked.get(site.path, (0, 1))
        parts = shares * site.inputs * site.outputs
        added[parts] = added.get(parts, 0) + flops * thin
    over, under = 0, 1
    for parts, flops in added.items():
        over, under = over * parts + flops * under, under * parts
        divisor = gcd(over, under)
        over, under = over // divisor, under // divisor
    if under != 1:  # layers that share their weights unevenly, and are adapted unevenly
        return None, None, PLAIN_LORA
    return int(base.forward_matmul + over), over, ""  # type: ignore[arg-type]


LINEAR = ("linear", "conv1d")


def _by_module(entry: Entry, prefix: str, share: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what each module's weight works, repeats unrolled, as a fraction; *share* is how often the module runs, chosen experts' share."""
    for child in entry.children:
        if not child.each:
            continue
        part = child.part
        names = [prefix + part.name] if part.repeat is None else [prefix + copy_name(part.name, index) for index in positions(part)]
        over, under = share[0] * int(child.amount), share[1] * int(child.each) * len(names)  # type: ignore[arg-type]
        for name in names:
            for line in child.lines:
                if isinstance(line.node, Tensor) and line.node.name == "weight":
                    yield name, (int(line.amount) * over, under)  # type: ignore[arg-type]
            yield from _by_module(child, f"{name}." if name else "", (over, under))
