"""Ways to run a model, cheapest first: serving, training all of it, training an adapter; what each holds, and what grows with batch and length.

Source: Dettmers et al. 2023 (QLoRA, arXiv:2305.14314); Rajbhandari et al. 2019 (ZeRO, arXiv:1910.02054)
"""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import places
from weighbridge.accounts.adapters.activations import TrainedPlaces, trained_places
from weighbridge.accounts.adapters.base import facts_of
from weighbridge.accounts.adapters.costs import trained_bytes
from weighbridge.accounts.adapters.source import adapter_config, adapters_of
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.fits.growth import Growth
from weighbridge.accounts.fits.roofline import keeps_cache
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings, training_states
from weighbridge.accounts.memory.quantization import quantization_of
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.interfaces import Callable
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weighbridge.value import ModelValue


LORA = "lora:r=16,target_modules=all-linear"
"""The adapter that ``lora`` is answered for."""


MOST = 1 << 20
"""Larger batches than those below it are not looked for, nor contexts of 64 times as many tokens."""


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


WEIGHTS, RESERVE = mark("weights and buffers"), mark("reserved for the engine")


CACHE, GRADIENTS, STATES = mark("cache"), mark("gradients"), mark("optimizer states and master weights")


ADAPTER, ACTIVATIONS = mark("the adapter with its gradients and states"), mark("activations")
"""What memory is for."""


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


def ways_to_serve(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to serve: weights in fewer and fewer bits, then, with the fewest, the cache."""
    fixed: tuple[Term, ...] = ()
    weights = ""
    grown = CACHE if keeps_cache(model) else ""
    in_full = _cache_bytes(model, dtype)
    for held in _weight_formats(model, dtype):
        fixed, weights = (Term(WEIGHTS, held.bytes),), held.name
        yield Plan(held.name, held.trust, fixed, grown, in_full)
    if grown:
        yield Plan(Text("{weights}, cache in 8 bits", weights=weights), "estimate", fixed, grown, _cache_bytes(model, "int8"))


def _cache_bytes(model: ModelValue, dtype: str) -> Need:
    most, keeps = longest_context(model), keeps_cache(model)
    of_one: dict[int, int] = {}

    def cache_bytes(batch: int, seq: int) -> int | None:
        if seq > most:
            return None
        if not keeps:
            return 0
        if seq not in of_one:  # every example keeps as much
            of_one[seq] = cache_of(model, Inputs(batch=1, seq=seq), "bfloat16" if dtype == "int8" else dtype).bytes
        return batch * of_one[seq] // (2 if dtype == "int8" else 1)  # scales are left out

    return cache_bytes


def longest_context(model: ModelValue) -> int:
    """Return how many tokens the config says a model takes; if it says none, as many as are looked for."""
    return min((MOST << 6, *stated_positions(model)))


def stated_positions(model: ModelValue) -> list[int]:
    """List the numbers of positions that the config states, and those of learned tables.

    >>> from weighbridge import model
    >>> stated_positions(model("gpt2"))[0], stated_positions(model("t5-small"))
    (1024, [])
    """
    facts = facts_of(model)
    nested = facts.get("text_config")
    facts = nested if isinstance(nested, dict) else facts
    return [*(facts[key] for key in POSITIONS if type(facts.get(key)) is int), *places(model).values()]


def ways_to_train(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to train all parameters: fewer activations, smaller states, states on other devices and on the host."""
    how: dict[str, object] = {
        "dtype": dtype,
        "precision": "pure" if dtype == "float32" else "mixed",
        "device": "cuda",
        "attention": "sdpa",
        "loss": True,
        "dropout": True,  # where the config says so, as `weigh memory --training` has it
    }
    kept = Growth(model, dict(how), batch, seq, longest_context(model), None).bytes

    def plan(measure: str, stage: int = 0, *, offload: bool = False) -> Plan:
        checkpointing = str(how.get("checkpointing", "none"))
        return Plan(measure, "estimate", _states(model, how, stage, offload=offload), ACTIVATIONS, _grow(kept, checkpointing))

    yield plan(mark("AdamW, everything in float32") if dtype == "float32" else mark("AdamW, 16 bits, master weights in float32"))
    how["checkpointing"] = "full"
    yield plan(mark("activations recomputed (full checkpointing)"))
    how["optimizer"] = "adam8bit"
    yield plan(mark("activations recomputed, Adam's states in 8 bits"))
    del how["optimizer"]
    for stage in (1, 2, 3):
        yield plan(Text("checkpointing and ZeRO-{stage} among 8 devices", stage=stage), stage)
    yield plan(mark("checkpointing, optimizer states and master weights on the host"), offload=True)


def _grow(kept: Callable[[str, int, int], int | None], checkpointing: str) -> Need:
    """Return what activations take by batch and length (``functools`` is a tenth of a count to import)."""
    return lambda batch, seq: kept(checkpointing, batch, seq)


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


def ways_to_train_lora(model: ModelValue, dtype: str, batch: int, seq: int) -> Iterator[Plan]:
    """Yield ways to train an adapter: over the model as it is, over one in 8 and in 4 bits, with activations computed again."""
    adapter = adapters_of(model, LORA, dtype=dtype)
    states = sum(trained_bytes(adapter))
    where = trained_places(model, adapter_config(LORA), adapter, dropout=True) if model.description is not None else None
    how = {"dtype": dtype, "device": "cuda", "attention": "sdpa", "loss": True, "dropout": True}
    kept = Growth(model, how, batch, seq, longest_context(model), where if isinstance(where, TrainedPlaces) else None).bytes
    for held in _weight_formats(model, dtype):
        name = LORA_OVER.get(held.name, Text("LoRA r=16 on all linear layers, {held}", held=held.name))
        for checkpointing in ("none", "full"):
            measure = name if checkpointing == "none" else Text("{way}; activations recomputed", way=name)
            fixed = (Term(WEIGHTS, held.bytes), Term(ADAPTER, states))
            yield Plan(measure, "estimate", fixed, ACTIVATIONS, _grow(kept, checkpointing))
