"""Times that no device can be under: what must be read and computed, at its peaks. Bounds, not estimates: what is measured takes longer."""

from __future__ import annotations

from weighbridge.accounts.adapters.base import base, facts_of
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.fits.accelerators import Accelerator
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.quantization import published_bits
from weighbridge.accounts.parameters import tally_of
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.value import ModelValue


BITS = {"float32": 32, "float16": 16, "bfloat16": 16, "int8": 8, "int4": 4}


class Bound(NamedTuple):
    """A time that cannot be beaten: *microseconds*, rounded down, and what it is the time of."""

    what: str
    microseconds: int
    formula: str


def keeps_cache(model: ModelValue) -> bool:
    """Tell whether a model keeps a cache that is described."""
    try:
        return cache_of(model, Inputs(batch=1, seq=1)).bytes > 0
    except UsageError:
        return False


def roofline_bounds(model: ModelValue, device: Accelerator, batch: int, seq: int, dtype: str, purpose: str) -> Iterator[Bound]:
    """Yield times that no engine can beat: arithmetic at the peak, or weights and cache read once.

    Weights that are published in fewer bits may be read and multiplied in as few.
    """
    bits = min(BITS[dtype], published_bits(model)) if purpose == "serving" else BITS[dtype]
    peak = device.peaks.get(dtype, 0)
    if bits < BITS[dtype]:  # integers and floats of 8 bits go twice as fast as 16, of 4 bits four times
        peak = max(peak * BITS[dtype] // bits, device.peaks.get("fp8", 0) * 8 // bits)
    least = least_arithmetic(model, batch, seq, purpose)
    if peak and least:
        what = {
            "serving": mark("prompt: its products with weights in {bits} bits"),
            "training": mark("training step: its products with weights in {bits} bits"),
            "lora": mark("adapter's training step: its products with weights in {bits} bits"),
        }[purpose]
        yield Bound(Text(what, bits=bits), least * 10**6 // peak, f"{least:,} FLOPs / {peak:,}/s")
    if purpose != "serving" or not keeps_cache(model):
        return
    read = read_for_a_token(model) * bits // 8
    try:
        read += cache_of(model, Inputs(batch=batch, seq=seq), dtype).bytes
    except UsageError:
        return
    yield Bound(
        Text("each further token: weights in {bits} bits and the cache, read once", bits=bits),
        read * 10**6 // device.bandwidth,
        f"{read:,} bytes / {device.bandwidth:,}/s",
    )


def read_for_a_token(model: ModelValue) -> int:
    """Return the weights that work on every token: tables are looked up, unless one is the head as well."""
    counts, below = tally_of(model), base(model.tree, model.model_type or "", facts_of(model))
    read = counts.active - counts.embedding
    head = below.modules[below.output_embedding].weight if below.output_embedding else None
    if head is not None and head.tied_to is not None:
        read = read + head.count
    assert isinstance(read, int)
    return read


PASSES = {"serving": 1, "training": 3, "lora": 2}
"""Passes over the weights: forward, and backward for inputs and for weights, which an adapter's training leaves out."""


def least_arithmetic(model: ModelValue, batch: int, seq: int, purpose: str) -> int:
    """Return FLOPs that no engine can leave out: two for each weight in a matrix and token; attention and, serving, the head are left out.

    Of models that do not read tokens, or read them in an encoder first, it is not known: 0.
    """
    below = base(model.tree, model.model_type or "", facts_of(model))
    if below.input_embedding is None or any(path.rpartition(".")[2] == "decoder" for path in below.modules):
        return 0
    counts = tally_of(model)
    others = (counts.embedding, counts.bias, counts.gain, counts.shift)
    matrices = counts.active
    for other in others:
        matrices = matrices - other
    head = below.modules[below.output_embedding].weight if below.output_embedding else None
    if head is not None and head.tied_to is None and head.role == "weight" and purpose == "serving":
        matrices = matrices - head.count
    assert isinstance(matrices, int)
    return max(0, 2 * PASSES[purpose] * matrices * batch * seq)
