"""The largest batch, the longest context, the measure that makes a model fit, and bounds of its speed.

``plans.py`` has the ways to run a model, ``growth.py`` what grows, ``roofline.py`` the bounds, ``accelerators.py`` the devices.
"""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import refuse_uneven_heads
from weighbridge.accounts.fits.accelerators import GIB, Accelerator, accelerator
from weighbridge.accounts.fits.plans import (
    ACTIVATIONS,
    MOST,
    RESERVE,
    Plan,
    Term,
    longest_context,
    stated_positions,
    ways_to_serve,
    ways_to_train,
    ways_to_train_lora,
)
from weighbridge.accounts.fits.roofline import Bound, keeps_cache, roofline_bounds
from weighbridge.accounts.inputs import plain_int, positive_int
from weighbridge.accounts.memory.quantization import quantization_of
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.accounts.memory.weights import dtype_name
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.presets.windows import published_lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.value import ModelValue

PURPOSES = ("serving", "training", "lora")
OVERHEAD = GIB
"""Bytes reserved for the engine: its context, its workspaces. A constant, stated with every answer, and never part of a count."""


SEQ = 2048
"""Tokens of each example where nobody says how many, and the model takes as many."""


class Setup(NamedTuple):
    """One way to run the model.

    Attributes:
        measure: What is done, beside what was done before it.
        bytes: What it needs with the batch and length that were asked for, the overhead included.
        fits: Whether that fits.
        batch: The largest batch at that length, 0 if not even one; None where nothing grows with it, or that is not described.
        seq: The longest context at that batch, in the same way.
        trust: ``bound`` or ``estimate``.
        terms: What these bytes are for, the overhead last.
    """

    measure: str
    bytes: int
    fits: bool
    batch: int | None
    seq: int | None
    trust: str
    terms: tuple[Term, ...]


class Fit(NamedTuple):
    """Whether a model fits.

    Attributes:
        purpose: One of :data:`PURPOSES`.
        memory: Bytes of the device.
        overhead: Of these, bytes reserved for the engine.
        batch, seq: What was asked for.
        ways: Ways to run it, cheapest first.
        chosen: The first of them that fits, or None.
        bounds: Times that cannot be beaten, where the device is known.
        notes: What a reader should know.
    """

    purpose: str
    memory: int
    overhead: int
    batch: int
    seq: int
    ways: tuple[Setup, ...]
    chosen: Setup | None
    bounds: tuple[Bound, ...]
    notes: tuple[str, ...]


def fits_of(
    model: ModelValue,
    memory: int,
    purpose: str = "serving",
    *,
    batch: int = 1,
    seq: int | None = None,
    dtype: str = "bfloat16",
    overhead: int = OVERHEAD,
    device: Accelerator | None = None,
) -> Fit:
    """Tell whether a model fits *memory* bytes, and what makes it fit.

    Raises:
        UsageError: An invalid number or an unknown word.
    """
    if purpose not in PURPOSES:
        raise UsageError(Text("for: expected one of {purposes}, found {purpose!r:.40}", purposes=", ".join(PURPOSES), purpose=purpose))
    dtype = dtype_name(dtype, ("float32", "float16", "bfloat16"))
    refuse_uneven_heads(model)
    batch = positive_int(batch, "batch")
    seq = min(SEQ, longest_context(model)) if seq is None else positive_int(seq, "seq")
    if memory <= overhead:
        raise UsageError(
            Text(
                "gib: {value:.4g} GiB leave nothing beside the {value2:.4g} GiB that are reserved for the engine",
                value=memory / GIB,
                value2=overhead / GIB,
            )
        )
    made = {"serving": ways_to_serve, "training": ways_to_train, "lora": ways_to_train_lora}[purpose](model, dtype, batch, seq)
    ways = tuple(_remedy(plan, memory, overhead, batch, seq) for plan in made)
    return Fit(
        purpose,
        memory,
        overhead,
        batch,
        seq,
        ways,
        next((way for way in ways if way.fits), None),
        tuple(roofline_bounds(model, device, batch, seq, dtype, purpose)) if device is not None else (),
        tuple(_notes(model, purpose, ways)),
    )


def device_memory(device: str | None, gib: float | None, overhead: float = 1) -> tuple[Accelerator | None, int, int]:
    """Return the device that is named, its bytes (or those of *gib*), and the bytes that are kept back.

    Raises:
        UsageError: Neither is given, or both, or a device that nobody knows.

    >>> device_memory(None, 24)[1:]
    (25769803776, 1073741824)
    """
    if (device is None) == (gib is None):
        raise UsageError("device: say one of --device and --gib, such as --device a100-80g or --gib 24")
    kept = _gib_bytes(overhead, "overhead")
    if device is None:
        return None, _gib_bytes(gib, "gib"), kept
    found = accelerator(device)
    return found, found.memory, kept


def _gib_bytes(value: object, name: str) -> int:
    """Read an amount of memory in GiB, as bytes.

    Raises:
        UsageError: No number of GiB.
    """
    number = plain_int(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < 1 << 20:
        raise UsageError(Text("{name}: expected a number of GiB from 0 to 1,048,575, found {value!r}", name=name, value=value))
    return int(number * GIB)


def _remedy(plan: Plan, memory: int, overhead: int, batch: int, seq: int) -> Setup:
    grown = plan.growth(batch, seq)
    if grown is None:
        raise UsageError(Text("seq: the model takes no {seq:,} tokens at once", seq=seq))

    need, room, near = plan.bytes_needed, memory - overhead, (seq + 1, max(seq - 1, 1))
    terms = (*plan.fixed, *((Term(plan.grown, grown),) if plan.grown else ()))
    total = sum(term.bytes for term in terms)
    return Setup(
        plan.measure,
        total + overhead,
        total <= room,
        _largest_size(lambda size: need(size, seq), room, MOST, batch) if need(batch + 1, seq) != total else None,
        _largest_size(lambda size: need(batch, size), room, MOST << 6, seq)
        if any(need(batch, size) not in (total, None) for size in near)
        else None,
        plan.trust,
        (*terms, Term(RESERVE, overhead)),
    )


def _largest_size(need: Callable[[int], int | None], room: int, most: int, start: int = 1) -> int:
    """Return the largest size that needs no more than *room*, 0 if none does; a larger size never needs less.

    The search begins at a size whose need is known already. The next one to try is where a straight line through the ends would meet
    *room*: what grows evenly is found at once.

    >>> _largest_size(lambda size: size * size, 50, 1000), _largest_size(lambda size: size * size, 50, 1000, 20)
    (7, 7)
    """

    def at(size: int) -> int:
        found = need(size)
        return room + most if found is None else found

    low, high, first, last = start, most, at(start), None
    if first > room:
        low, high, first, last = 1, start, at(1), first
    if first > room:
        return 0
    tried = 0
    while high - low > 1:
        slope = (at(low + 1) - first) if last is None else None
        if slope is not None:
            guess = low + (room - first) // slope if slope else high - 1
        elif tried % 3 == 2:
            guess = (low + high) // 2
        else:
            guess = low + (room - first) * (high - low) // max(last - first, 1)  # type: ignore[operator]
        guess = min(max(guess, low + 1), high - 1)
        size = at(guess)
        low, first, high, last = (guess, size, high, last) if size <= room else (low, first, guess, size)
        if size <= room and guess + 1 < high and at(guess + 1) > room:
            return guess
        tried += 1
    return low


def _notes(model: ModelValue, purpose: str, ways: tuple[Setup, ...]) -> Iterator[str]:
    if any(way.seq == (MOST << 6) - 1 for way in ways):  # a window bounds the cache, or the memory is larger than any need
        yield Text("No context beyond {most} tokens is tried: longer ones may fit too.", most=f"{(MOST << 6) - 1:,}")
    if any(way.batch == MOST - 1 for way in ways):
        yield Text("No batch beyond {most} is tried: larger ones may fit too.", most=f"{MOST - 1:,}")
    stated = quantization_of(model)
    if stated is not None and stated.scheme is None:
        yield Text("The published file is quantized ({method}); how many bytes it has is not worked out here.", method=stated.method)
    elif stated is not None and purpose == "training":
        yield Text("The published file is quantized ({method}); its weights are unpacked to be trained.", method=stated.method)
    if purpose == "serving":
        if not keeps_cache(model):
            yield mark("Activations and kernel workspaces have to fit into what is reserved for the engine.")
            yield mark("This model keeps no cache: what batch and length cost is activations, which are not counted here.")
            return
        yield mark("Activations of the prompt and kernel workspaces have to fit into what is reserved for the engine.")
        if any(way.seq for way in ways) and not stated_positions(model):
            yield _context_note(model)
        return
    if not any(term.whole for way in ways for term in way.terms if term.what == ACTIVATIONS):
        yield mark("The activations of this model are not described, and are left out.")
    if purpose == "lora":
        style = STYLES.get(model.model_type or "")
        if style is not None and style.shared:
            yield mark("Activations are counted as in full training: what this model keeps with an adapter is not worked out.")


def _context_note(model: ModelValue) -> str:
    """Say that memory alone bounds the context, and which length the release states, where that is known."""
    lengths = published_lengths(model.source)
    if lengths:
        return Text(
            "The longest context is what memory allows; the published config of {name} states {most:,} positions.",
            name=model.source,
            most=lengths[0],
        )
    return mark("The config states no number of positions: the longest context is what memory allows.")
