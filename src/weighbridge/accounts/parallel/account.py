"""Bytes per device by class of state, communication per step, and idle time, of one model on many devices.

Source: Rajbhandari et al. 2019 (ZeRO, arXiv:1910.02054), Narayanan et al. 2021 (arXiv:2104.04473); torch 2.13.0,
distributed/fsdp/_fully_shard/_fsdp_param.py (every parameter is cut along its first dimension by ``torch.chunk``)
"""

from __future__ import annotations

from itertools import pairwise

from weighbridge.accounts.adapters.base import Base, base, facts_of
from weighbridge.accounts.inputs import positive_int
from weighbridge.accounts.memory.account import settings
from weighbridge.accounts.parallel import deepspeed, megatron
from weighbridge.accounts.parallel.layout import Layout, check_layout
from weighbridge.accounts.parallel.shards import Cut, chunk, cuts, flat_piece, hand_out
from weighbridge.accounts.parallel.stages import layer_names, share_layers, stage_of
from weighbridge.accounts.parallel.traffic import Bubble, Message, bubble, of_data, of_experts, of_layers, of_stages
from weighbridge.accounts.parallel.working_memory import WorkingMemory, working_memory_of
from weighbridge.accounts.parameters import unique_of
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Part, attentions, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from weighbridge.value import ModelValue


class State(NamedTuple):
    """What one device holds, in bytes, and how many parameters that are.

    Attributes:
        elements: Parameters that this device computes with, whole or its pieces of them.
        parameters, gradients, optimizer: Bytes of each.
        sharded, replicated, expert: Of the elements, those cut among tensor-parallel devices, held whole by each of them, or an
            expert's.
        activations: Bytes of activations of the micro-batches under way; None where no length was said or they are not described.
        cache: Bytes of the cache of one replica's batch, in serving; it is no part of the total.
    """

    elements: int
    parameters: int
    gradients: int
    optimizer: int
    sharded: int
    replicated: int
    expert: int
    activations: int | None = None
    cache: int | None = None

    @property
    def total(self) -> int:
        """All states: parameters, gradients and the optimizer's."""
        return self.parameters + self.gradients + self.optimizer

    @property
    def training(self) -> int:
        """States and activations: all of training that is counted. The cache is of serving."""
        return self.total + (self.activations or 0)


class Device(NamedTuple):
    """One device, by its place in each group; *alike* devices hold as much."""

    pp: int
    tp: int
    dp: int
    state: State
    alike: int


class Parallel(NamedTuple):
    """One model on many devices.

    Attributes:
        layout: How they are laid out.
        layers: Layers of each pipeline stage.
        devices: The devices, those that hold as much on the same stage together.
        largest: The state of the device whose states are largest.
        messages: What they send each other in a step.
        bubble: How long a pipeline stands idle, or None without one.
        notes: What a reader should know.
        under_way: Of how many micro-batches each stage keeps activations, as a fraction; empty where these are not counted.
        megatron: What Megatron's authors estimate for the device that holds most, or None.
        deepspeed: What DeepSpeed estimates for each device, for ZeRO-2 and 3 alone, or None.
    """

    layout: Layout
    layers: tuple[int, ...]
    devices: tuple[Device, ...]
    largest: State
    messages: tuple[Message, ...]
    bubble: Bubble | None
    notes: tuple[str, ...]
    under_way: tuple[tuple[int, int], ...]
    megatron: megatron.Estimate | None
    deepspeed: deepspeed.Estimate | None

    @property
    def fullest(self) -> State:
        """The device that holds most of all: its states and activations."""
        return max((device.state for device in self.devices), key=lambda state: state.training)


def parallel_of(
    model: ModelValue, layout: Layout, batch: int = 1, seq: int | None = None, *, attention: str = "sdpa", checkpointing: str = "none"
) -> Parallel:
    """Lay a model out on devices.

    Args:
        model: The model.
        layout: How the devices are laid out.
        batch: Examples of one micro-batch.
        seq: Tokens of each; without it, activations, the cache and what the layers send are not counted.
        attention, checkpointing: How activations come about, as for :meth:`weighbridge.Model.memory`.

    Raises:
        UsageError: The numbers do not go together, or do not divide what must be divided.
    """
    batch, seq = positive_int(batch, "batch"), None if seq is None else positive_int(seq, "seq")
    layout = check_layout(layout)
    settings(attention=attention, checkpointing=checkpointing)  # refuses words that are not known, whether they count here or not
    below = base(model.tree if model.listed is None else model.listed, model.model_type or "", facts_of(model))
    heads = _attentions(model.tree)
    _check_heads(heads, layout)
    kept = min((kept for _, kept in heads), default=None)
    found = list(cuts(below))
    _check_experts(found, model.tree, layout)
    layers = layer_names(model.tree)
    shared = tuple(share_layers(len(layers), layout.pp * layout.chunks)) if layout.pp > 1 else (len(layers),)
    placed = _stages(found, model.tree, layout)
    devices = tuple(_devices(placed, layout, kept))
    working = None
    if seq is not None:
        working = working_memory_of(model, layout, layers, batch, seq, attention=attention, checkpointing=checkpointing)
        devices = tuple(device._replace(state=_add_working_memory(device, working)) for device in devices)
    largest = max((device.state for device in devices), key=lambda state: state.total)
    messages = tuple(_messages(model.tree, below, layout, largest, len(layers), batch, seq))
    return Parallel(
        layout,
        tuple(sum(shared[stage :: layout.pp]) for stage in range(layout.pp)),
        devices,
        largest,
        messages,
        bubble(layout) if layout.pp > 1 else None,
        tuple(_notes(model.tree, found, layout, kept, working)),
        working.under_way if working is not None and working.activations is not None else (),
        _of_megatron(below, layout, largest, len(layers), batch, seq, checkpointing),
        _deepspeed_estimate(model, layout),
    )


def _deepspeed_estimate(model: ModelValue, layout: Layout) -> deepspeed.Estimate | None:
    """Return DeepSpeed's own estimate, which it has for ZeRO-2 and 3 without other parallelism."""
    if layout.zero not in (2, 3) or layout.tp * layout.pp * layout.ep > 1:
        return None
    return deepspeed.estimate(unique_of(model), deepspeed.largest_module(model.tree), layout.zero, layout.dp)


def _add_working_memory(device: Device, working: WorkingMemory) -> State:
    activations = working.activations[device.pp] if working.activations is not None else None
    return device.state._replace(activations=activations, cache=working.cache[device.pp] if working.cache is not None else None)


def _of_megatron(
    below: Base, layout: Layout, largest: State, layers: int, batch: int, seq: int | None, checkpointing: str
) -> megatron.Estimate | None:
    """Return Megatron's own estimate, for a model whose config has a hidden size and heads; it knows no sharded parameters."""
    facts = below.config
    hidden = next((facts[key] for key in ("hidden_size", "d_model", "n_embd") if type(facts.get(key)) is int), None)
    heads = next((facts[key] for key in ("num_attention_heads", "n_head", "num_heads") if type(facts.get(key)) is int), None)
    if seq is None or hidden is None or heads is None or layout.fsdp or layout.zero > 1:
        return None
    return megatron.estimate(
        layout, parameters=largest.elements, layers=layers, hidden=hidden, heads=heads, batch=batch, seq=seq, checkpointing=checkpointing
    )


def _attentions(tree: Part) -> set[tuple[int, int]]:
    """Return the query heads and key-value heads that attentions have."""
    return {(found.heads, found.kv_heads) for found in attentions(tree) if isinstance(found.heads, int) and isinstance(found.kv_heads, int)}


def _check_heads(found: Iterable[tuple[int, int]], layout: Layout) -> None:
    for heads, kept in sorted(found):
        if heads % layout.tp:
            raise UsageError(Text("tp: {tp} does not divide the model's {heads} attention heads", tp=layout.tp, heads=heads))
        if kept % layout.tp and layout.tp % kept:
            raise UsageError(
                Text("tp: {tp} neither divides nor is a multiple of the model's {kept} key-value heads", tp=layout.tp, kept=kept)
            )


def _check_experts(found: Iterable[Cut], tree: Part, layout: Layout) -> None:
    fused = {cut.row.shape[0] for cut in found if cut.expert and len(cut.row.shape) == 3}
    fused |= {part.experts for _, part in walk(tree) if type(part.experts) is int}
    if layout.ep > 1 and not any(cut.expert for cut in found):
        raise UsageError("ep: this model has no experts")
    for experts in fused:
        if isinstance(experts, int) and experts % layout.ep:
            raise UsageError(Text("ep: {ep} does not divide the model's {experts} experts", ep=layout.ep, experts=experts))


def _stages(found: list[Cut], tree: Part, layout: Layout) -> list[list[tuple[Cut, int]]]:
    """Return the tensors of each pipeline stage, of those that are cut alike one and how many they are; a tied one stands on every stage that uses it."""
    stages: list[dict[tuple[object, ...], tuple[Cut, int]]] = [{} for _ in range(layout.pp)]
    place = {cut.row.name: 0 for cut in found}
    if layout.pp > 1:
        place = stage_of([cut.row.name for cut in found], layer_names(tree), layout.pp, layout.chunks)
    held: set[tuple[int, str]] = set()
    for cut in found:
        row, _, dim, expert, makes_keys = cut
        stage = place[row.name]
        key = (stage, row.tied_to or row.name)
        if key not in held:
            held.add(key)
            alike = (row.shape, dim, expert, makes_keys)
            first, many = stages[stage].get(alike, (cut, 0))
            stages[stage][alike] = first, many + 1
    return [list(stage.values()) for stage in stages]


def _devices(placed: list[list[tuple[Cut, int]]], layout: Layout, kept: int | None) -> Iterator[Device]:
    """Yield the devices of every stage, those that hold as much together."""
    for stage, found in enumerate(placed):
        alike: dict[State, tuple[int, int, int]] = {}
        for tp, tp_times in _tensor_ranks(found, layout):
            pieces = [(_piece(cut, layout, tp, kept), cut, many) for cut, many in found]
            for dp, dp_times in _data_ranks(pieces, layout):
                state = _state(pieces, layout, dp)
                first = alike.get(state, (tp, dp, 0))
                alike[state] = (*first[:2], first[2] + tp_times * dp_times)
        for state, (tp, dp, times) in alike.items():
            yield Device(stage, tp, dp, state, times)


def _tensor_ranks(found: list[tuple[Cut, int]], layout: Layout) -> list[tuple[int, int]]:
    """Return the tensor-parallel devices that may differ, each with how many are like it: one for all where every cut is even."""
    sizes = {cut.row.shape[cut.dim] for cut, _ in found if cut.dim is not None}
    uneven = any(isinstance(size, int) and size % layout.tp for size in sizes)
    return [(tp, 1) for tp in range(layout.tp)] if uneven else [(0, layout.tp)]


def _data_ranks(pieces: list[tuple[tuple[int, ...], Cut, int]], layout: Layout) -> list[tuple[int, int]]:
    """Return the data-parallel devices that may differ, each with how many follow that are like it.

    FSDP gives the first devices full pieces of a tensor, one what is left, and the others none.
    """
    if not layout.fsdp:
        return [(0, layout.dp)]
    same = layout.dp // layout.ep  # devices that hold the same experts
    spread = _starts({shape[0] for shape, cut, _ in pieces if cut.expert and shape and shape[0]}, same)
    starts = _starts({shape[0] for shape, cut, _ in pieces if not cut.expert and shape and shape[0]}, layout.dp)
    starts |= {group * same + start for group in range(layout.ep) for start in spread}
    return [(start, end - start) for start, end in pairwise([*sorted(starts), layout.dp])]


def _starts(sizes: set[int], ways: int) -> set[int]:
    """Return the devices from which on pieces of tensors of these *sizes* are others than on the device before."""
    full = {size // -(-size // ways) for size in sizes}
    return {start for start in {0, 1, *full, *(device + 1 for device in full)} if start < ways}


def _piece(cut: Cut, layout: Layout, tp: int, kept: int | None) -> tuple[int, ...]:
    """Return the shape of what one tensor-parallel device has of a tensor, its experts spread."""
    shape = [size for size in cut.row.shape if isinstance(size, int)]
    assert len(shape) == len(cut.row.shape)
    if cut.expert and len(shape) == 3:
        shape[0] = shape[0] // layout.ep
    if cut.dim is not None and cut.key and kept is not None and kept < layout.tp:
        shape[cut.dim] //= kept  # each device keeps one whole head, several keep the same
    elif cut.dim is not None:
        shape[cut.dim] = chunk(shape[cut.dim], layout.tp, tp)
    return tuple(shape)


def _state(pieces: list[tuple[tuple[int, ...], Cut, int]], layout: Layout, dp: int) -> State:
    """Add up what one device holds."""
    elements = held = states = sharded = replicated = expert = 0
    for shape, cut, many in pieces:
        count = _count(shape)
        if cut.expert and len(shape) != 3:
            count = count // layout.ep
        elements += many * count
        if cut.expert:
            expert += many * count
        elif cut.dim is None:
            replicated += many * count
        else:
            sharded += many * count
        ways = layout.dp // layout.ep if cut.expert else layout.dp
        if layout.fsdp:
            mine = count // shape[0] * chunk(shape[0], ways, dp % ways) if shape and shape[0] else count if dp % ways == 0 else 0
            held += many * mine
            states += many * mine
        else:
            held += many * (-(-count // ways) if layout.zero == 3 else count)
            states += many * (-(-count // ways) if layout.zero == 3 else count)
    if layout.zero in (1, 2):
        spread = expert if layout.ep > 1 else 0
        buffers = ((elements - spread, layout.dp), (spread, layout.dp // layout.ep))
        states = sum(flat_piece(count, ways) for count, ways in buffers)
        held = sum(flat_piece(count, ways) * ways for count, ways in buffers)
    gradients = states if layout.zero >= 2 or layout.fsdp else held
    size = layout.parameter_bytes
    return State(elements, held * size, gradients * size, states * layout.optimizer_bytes, sharded, replicated, expert)


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _messages(tree: Part, below: Base, layout: Layout, largest: State, layers: int, batch: int, seq: int | None) -> Iterator[Message]:
    size, facts = layout.parameter_bytes, below.config
    yield from of_data(layout, largest.elements * size, largest.elements * size)
    hidden = next((facts[key] for key in ("hidden_size", "d_model", "n_embd") if type(facts.get(key)) is int), None)
    if seq is None or hidden is None:
        return
    block, stage = batch * seq * hidden * size, -(-layers // layout.pp)
    yield from of_layers(layout, stage, block)
    yield from of_stages(layout, block)
    experts = [part for _, part in walk(tree) if type(part.active) is int]
    if experts:
        sparse = sum(1 for module in below.modules.values() if module.path.rpartition(".")[2] == "experts")
        active = experts[0].active
        assert isinstance(active, int)
        yield from of_experts(layout, -(-sparse // layout.pp), block, active)


def _short_name(name: str) -> str:
    """Return the last name of a tensor's module, with the one before it where that is only a number.

    >>> _short_name("model.embed_tokens.weight"), _short_name("bbox_predictor.layers.0.weight")
    ('embed_tokens', 'layers.0')
    """
    pieces = name.split(".")[:-1] or [name]
    return ".".join(pieces[-2:]) if pieces[-1].isdigit() else pieces[-1]


def _notes(tree: Part, found: list[Cut], layout: Layout, kept: int | None, working: WorkingMemory | None) -> Iterator[str]:
    if kept is not None and kept < layout.tp:
        yield Text("{number} devices keep the same key-value head, whole", number=layout.tp // kept)
    if layout.tp > 1 and all(dim is None for _, _, dim, _, _ in found):
        yield mark("Tensor parallelism splits no module of this model: every device holds all of it.")
    elif layout.tp > 1:
        whole = sorted({_short_name(row.name) for row, _, dim, _, _ in found if dim is None and len(row.shape) > 1})
        if whole:
            shown = ", ".join(whole[:8]) + (", …" if len(whole) > 8 else "")
            yield Text("Held whole by every tensor-parallel device, beside norms: {names}.", names=shown)
    if layout.zero in (1, 2):
        yield mark("ZeRO splits one flat list of all elements, padded so that each device has an even number of them, as DeepSpeed does.")
    if layout.zero == 1 and layout.tp * layout.pp * layout.ep == 1:
        fullest = max(hand_out(tree, layout.dp, 1))
        yield Text(
            "torch's ZeroRedundancyOptimizer hands out whole tensors in place of that: the fullest device holds the states of {fullest} elements.",
            fullest=f"{fullest:,}",
        )
    if layout.zero == 3:
        yield mark(
            "ZeRO-3 splits each tensor flat, padded to a multiple of the devices. By default DeepSpeed keeps tensors of up to 100,000 elements"
            " whole besides (stage3_param_persistence_threshold); that is not counted."
        )
    if layout.pp > 1:
        yield mark(
            "Layers are spread evenly, and earlier stages take the remainder; tied embeddings are on both the first and the last stage."
        )
    if working is None:
        yield mark("Activations and communication buffers are not counted; --seq N counts activations and caches for N tokens.")
        return
    if working.activations is None:
        yield working.why
    else:
        yield mark(
            "Activations are an estimate: what autograd keeps on one device, with the parts that tensor parallelism splits divided by its degree."
        )
    if working.estimated:
        yield mark("Of the cache, the layers with a window are taken to be spread evenly over the stages.")
    yield mark("The cache is that of one replica in serving and is not in the sum; communication buffers are not counted.")


def by_class(state: State) -> Mapping[str, int]:
    """Return the elements of a device by how they are held."""
    return {"sharded": state.sharded, "replicated": state.replicated, "expert": state.expert}
