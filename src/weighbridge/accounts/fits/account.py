"""The largest batch, the longest context, the measure that makes a model fit, and bounds of its speed.

Source: Williams et al. 2009 (roofline model, CACM 52(4)); Dettmers et al. 2023 (QLoRA, arXiv:2305.14314); Rajbhandari et al. 2019
(ZeRO, arXiv:1910.02054)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from weighbridge.accounts.adapters.activations import TrainedPlaces, trained_places
from weighbridge.accounts.adapters.base import facts_of
from weighbridge.accounts.adapters.costs import trained_bytes
from weighbridge.accounts.adapters.source import adapter_config, adapters_of
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.fits.accelerators import GIB, Accelerator, accelerator
from weighbridge.accounts.fits.growth import Growth
from weighbridge.accounts.fits.roofline import Bound, keeps_cache, roofline_bounds
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings, training_states
from weighbridge.accounts.memory.quantization import quantization_of
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.accounts.possible import places
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

PURPOSES = ("serving", "training", "lora")
OVERHEAD = GIB
"""Bytes reserved for the engine: its context, its workspaces. A constant, stated with every answer, and never part of a count."""

LORA = "lora:r=16,target_modules=all-linear"
"""The adapter that ``lora`` is answered for."""

MOST = 1 << 20
"""Larger batches than those below it are not looked for, nor contexts of 64 times as many tokens."""

SEQ = 2048
"""Tokens of each example where nobody says how many, and the model takes as many."""

POSITIONS = ("max_position_embeddings", "n_positions", "max_target_positions", "max_source_positions", "seq_length")
"""Fields of configs that say how many tokens a model takes."""

LORA_OVER = {
    **dict.fromkeys(("weights in 32 bits", "weights in 16 bits"), mark("LoRA r=16 on all linear layers")),
    "weights in 8 bits": mark("LoRA r=16, the model in 8 bits"),
    "weights in 4 bits": mark("LoRA r=16, the model in 4 bits (QLoRA)"),
}
"""How an adapter's training is called by how the model below it is held."""


Need = Callable[[int, int], "int | None"]
"""Bytes for a batch and a length; None where they cannot be."""


class Term(NamedTuple):
    """What some of the memory is for.

    Attributes:
        what: Such as weights, the optimizer's states, activations.
        whole: Its bytes on one device.
        devices: Among how many devices it is cut.
    """

    what: str
    whole: int
    devices: int = 1

    @property
    def bytes(self) -> int:
        """Bytes on each device."""
        return -(-self.whole // self.devices)


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


class Plan(NamedTuple):
    """One way to run the model, before it is held to a device.

    Attributes:
        measure, trust: As of a :class:`Setup`.
        fixed: What no batch and no length changes.
        grown: What grows with them.
        growth: Its bytes for a batch and a length; None where they cannot be.
    """

    measure: str
    trust: str
    fixed: tuple[Term, ...]
    grown: str
    growth: Need

    def bytes_needed(self, batch: int, seq: int) -> int | None:
        """Return the bytes for a batch and a length, without the overhead."""
        found = self.growth(batch, seq)
        return None if found is None else sum(term.bytes for term in self.fixed) + found


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
    if dtype not in ("float32", "float16", "bfloat16"):
        raise UsageError(Text("dtype: expected float32, float16 or bfloat16, found {dtype!r:.40}", dtype=dtype))
    seq = min(SEQ, _positions(model)) if seq is None else seq
    for name, value in (("batch", batch), ("seq", seq)):
        if type(value) is not int or value < 1:
            raise UsageError(Text("{name}: expected a whole number from 1 up, found {value!r}", name=name, value=value))
    if memory <= overhead:
        raise UsageError(
            Text(
                "gib: {value:g} GiB leave nothing beside the {value2:g} GiB that are reserved for the engine",
                value=memory / GIB,
                value2=overhead / GIB,
            )
        )
    made = {"serving": _ways_to_serve, "training": _ways_to_train, "lora": _lora}[purpose](model, dtype, batch, seq)
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
    for name, value in (("gib", gib), ("overhead", overhead)):
        if value is not None and not (isinstance(value, (int, float)) and 0 <= value < 1 << 20):
            raise UsageError(Text("{name}: expected a number of GiB, found {value!r}", name=name, value=value))
    found = accelerator(device) if device is not None else None
    return found, found.memory if found else int((gib or 0) * GIB), int(overhead * GIB)


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
        _largest(lambda size: need(size, seq), room, MOST, batch) if need(batch + 1, seq) != total else None,
        _largest(lambda size: need(batch, size), room, MOST << 6, seq)
        if any(need(batch, size) not in (total, None) for size in near)
        else None,
        plan.trust,
        (*terms, Term(RESERVE, overhead)),
    )


WEIGHTS, RESERVE = mark("weights and buffers"), mark("reserved for the engine")
CACHE, GRADIENTS, STATES = mark("cache"), mark("gradients"), mark("optimizer states and master weights")
ADAPTER, ACTIVATIONS = mark("the adapter with its gradients and states"), mark("activations")
"""What memory is for."""


def _largest(need: Callable[[int], int | None], room: int, most: int, start: int = 1) -> int:
    """Return the largest size that needs no more than *room*, 0 if none does; a larger size never needs less.

    The search begins at a size whose need is known already. The next one to try is where a straight line through the ends would meet
    *room*: what grows evenly is found at once.

    >>> _largest(lambda size: size * size, 50, 1000), _largest(lambda size: size * size, 50, 1000, 20)
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


class WeightFormat(NamedTuple):
    """Weights as they may be held: how it is called, its bytes, and how surely they are known."""

    name: str
    bytes: int
    trust: str


def _weight_formats(model: ModelValue, dtype: str) -> Iterator[WeightFormat]:
    """Yield how the weights may be held, the least done to them first: as published, in the type asked for, in 8 and in 4 bits.

    A file of weights, or a config that says how its own are packed, comes before anything that would have to be unpacked first; what needs no less
    than the way before it is left out.
    """
    stated = quantization_of(model)
    ways: list[tuple[str, str | None, str]] = []
    if stated is not None and stated.scheme is not None and stated.dtype is not None:
        ways.append((Text("weights as published ({method})", method=stated.method), stated.scheme, stated.dtype))
    elif model.kind == "checkpoint":
        ways.append((mark("weights as the file has them"), None, dtype))
    else:
        ways.append((mark("weights in 32 bits") if dtype == "float32" else mark("weights in 16 bits"), None, dtype))
    ways += [(mark("weights in 8 bits"), "bnb-8bit", dtype), (mark("weights in 4 bits"), "bnb-4bit", dtype)]
    least = None
    for name, scheme, kind in ways:
        found = memory_of(model, Inputs(), settings(dtype=kind, quantization=scheme))
        needed = found.weights + found.buffers
        if least is None or needed < least:
            yield WeightFormat(name, needed, "bound" if scheme is None else "estimate")
            least = needed


def _ways_to_serve(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to serve: weights in fewer and fewer bits, then, with the fewest, the cache."""
    fixed: tuple[Term, ...] = ()
    weights = ""
    grown = CACHE if keeps_cache(model) else ""
    for held in _weight_formats(model, dtype):
        fixed, weights = (Term(WEIGHTS, held.bytes),), held.name
        yield Plan(held.name, held.trust, fixed, grown, _cache_bytes(model, dtype))
    if grown:
        yield Plan(Text("{weights}, cache in 8 bits", weights=weights), "estimate", fixed, grown, _cache_bytes(model, "int8"))


def _cache_bytes(model: ModelValue, dtype: str) -> Need:
    most, keeps = _positions(model), keeps_cache(model)

    def cache_bytes(batch: int, seq: int) -> int | None:
        if seq > most:
            return None
        if not keeps:
            return 0
        if dtype == "int8":  # scales are left out
            return cache_of(model, Inputs(batch=batch, seq=seq), "bfloat16").bytes // 2
        return cache_of(model, Inputs(batch=batch, seq=seq), dtype).bytes

    return cache_bytes


def _positions(model: ModelValue) -> int:
    """Return how many tokens the config says a model takes."""
    facts = facts_of(model)
    nested = facts.get("text_config")
    facts = nested if isinstance(nested, dict) else facts
    found: list[int] = [facts[key] for key in POSITIONS if type(facts.get(key)) is int]
    return min((MOST << 6, *found, *places(model).values()))


def _ways_to_train(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to train all parameters: fewer activations, smaller states, states on other devices and on the host."""
    how: dict[str, object] = {
        "dtype": dtype,
        "precision": "pure" if dtype == "float32" else "mixed",
        "device": "cuda",
        "attention": "sdpa",
        "loss": True,
        "dropout": True,  # where the config says so, as `weigh memory --training` has it
    }
    kept = Growth(model, dict(how), batch, seq, _positions(model), None).bytes

    def plan(measure: str, stage: int = 0, *, offload: bool = False) -> Plan:
        checkpointing = str(how.get("checkpointing", "none"))
        return Plan(measure, "estimate", _states(model, how, stage, offload=offload), ACTIVATIONS, partial(kept, checkpointing))

    yield plan(mark("AdamW, everything in float32") if dtype == "float32" else mark("AdamW, 16 bits, master weights in float32"))
    how["checkpointing"] = "full"
    yield plan(mark("activations recomputed (full checkpointing)"))
    how["optimizer"] = "adam8bit"
    yield plan(mark("activations recomputed, Adam's states in 8 bits"))
    del how["optimizer"]
    for stage in (1, 2, 3):
        yield plan(Text("checkpointing and ZeRO-{stage} among 8 devices", stage=stage), stage)
    yield plan(mark("checkpointing, optimizer states and master weights on the host"), offload=True)


def _states(model: ModelValue, how: Mapping[str, object], stage: int = 0, *, offload: bool = False, devices: int = 8) -> tuple[Term, ...]:
    """Return what training holds whatever its batch; *stage* of ZeRO cuts states among *devices*, *offload* puts them on the host."""
    said = settings(**how)
    found = memory_of(model, Inputs(), said)
    gradients, master, states = training_states(model.tree, said)
    held = [
        Term(WEIGHTS, found.weights + found.buffers, devices if stage == 3 else 1),
        Term(GRADIENTS, gradients, devices if stage >= 2 else 1),
    ]
    return (*held, *(() if offload else (Term(STATES, master + states, devices if stage else 1),)))


def _lora(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to train an adapter: over the model as it is, over one in 8 and in 4 bits, with activations computed again."""
    adapter = adapters_of(model, LORA, dtype=dtype)
    states = sum(trained_bytes(adapter))
    where = trained_places(model, adapter_config(LORA), adapter, dropout=True) if model.description is not None else None
    how = {"dtype": dtype, "device": "cuda", "attention": "sdpa", "loss": True, "dropout": True}
    kept = Growth(model, how, batch, seq, _positions(model), where if isinstance(where, TrainedPlaces) else None).bytes
    for held in _weight_formats(model, dtype):
        name = LORA_OVER.get(held.name, Text("LoRA r=16 on all linear layers, {held}", held=held.name))
        for checkpointing in ("none", "full"):
            measure = name if checkpointing == "none" else Text("{way}; activations recomputed", way=name)
            fixed = (Term(WEIGHTS, held.bytes), Term(ADAPTER, states))
            yield Plan(measure, "estimate", fixed, ACTIVATIONS, partial(kept, checkpointing))


def _notes(model: ModelValue, purpose: str, ways: tuple[Setup, ...]) -> Iterator[str]:
    if any(way.seq == (MOST << 6) - 1 for way in ways):  # a window bounds the cache, or the memory is larger than any need
        yield Text("No context beyond {most} tokens is tried: longer ones may fit too.", most=f"{(MOST << 6) - 1:,}")
    if any(way.batch == MOST - 1 for way in ways):
        yield Text("No batch beyond {most} is tried: larger ones may fit too.", most=f"{MOST - 1:,}")
    stated = quantization_of(model)
    if stated is not None and stated.scheme is None:
        yield Text("The published file is quantised ({method}); how many bytes it has is not worked out here.", method=stated.method)
    elif stated is not None and purpose == "training":
        yield Text("The published file is quantised ({method}); its weights are unpacked to be trained.", method=stated.method)
    if purpose == "serving":
        yield mark("Activations of the prompt and kernel workspaces have to fit into what is reserved for the engine.")
        if not keeps_cache(model):
            yield mark("This model keeps no cache: what batch and length cost is activations, which are not counted here.")
        return
    if not any(term.whole for way in ways for term in way.terms if term.what == ACTIVATIONS):
        yield mark("The activations of this model are not described, and are left out.")
    if purpose == "lora":
        style = STYLES.get(model.model_type or "")
        if style is not None and style.shared:
            yield mark("Activations are counted as in full training: what this model keeps with an adapter is not worked out.")
