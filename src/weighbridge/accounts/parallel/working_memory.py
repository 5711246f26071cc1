"""What a device holds beside the states of training: activations of the micro-batches in flight and, in serving, its share of the cache.

Attention and the MLP's inner width are cut among tensor-parallel devices; what stands between them is whole on each, unless it is
cut along the sequence. A stage keeps the activations of as many micro-batches as its schedule has under way.

Source: Korthikanti et al. 2022 (Megatron-3, arXiv:2205.05198, sections 4.1 to 4.3 and equation 5); Narayanan et al. 2021 (Megatron-2,
arXiv:2104.04473, section 2.2); Qi et al. 2023 (arXiv:2401.10241, table 2)
"""

from __future__ import annotations

from weighbridge.accounts.cache import UNKNOWN, list_caches
from weighbridge.accounts.cache_engines import ENGINES, ElementType
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import forward_activations, settings
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.accounts.parallel.shards import style
from weighbridge.accounts.parallel.stages import share_layers
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.tree import Attend, Part, Tensor, copy_name, positions, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.accounts.memory.tape import Row
    from weighbridge.value import ModelValue

HEADED = ("sdpa", "matmul", "softmax", "bmm", "baddbmm", "dropout")
"""Calls of attention, whose values have a dimension of heads."""


class WorkingMemory(NamedTuple):
    """What each pipeline stage holds, in bytes, on its largest tensor-parallel device.

    Attributes:
        activations: Of all micro-batches under way, by stage; None where the model's forward is not described.
        under_way: Micro-batches of which a stage keeps activations, by stage, as a fraction (interleaved schedules keep parts).
        cache: Of one replica's share of a batch, by stage; None where the model's cache is not described.
        why: Why there are no activations.
        estimated: Whether layers of several kinds were spread evenly over the stages of the cache.
    """

    activations: tuple[int, ...] | None
    under_way: tuple[tuple[int, int], ...]
    cache: tuple[int, ...] | None
    why: str
    estimated: bool


def working_memory_of(
    model: ModelValue, layout: Layout, layers: list[str], batch: int, seq: int, *, attention: str = "sdpa", checkpointing: str = "none"
) -> WorkingMemory:
    """Return what stages hold beside their states.

    Args:
        model: The model.
        layout: How the devices are laid out.
        layers: Its layers, in their order.
        batch, seq: Examples of one micro-batch, and tokens of each.
        attention, checkpointing: As for :meth:`weighbridge.Model.memory`.

    Raises:
        UsageError: A word that is not known, or more tokens than the model takes.
    """
    how = settings(dtype=layout.dtype, device="cuda", attention=attention, checkpointing=checkpointing, loss=True, dropout=True)
    kept, why = forward_activations(model, Inputs(batch=batch, seq=seq), how)
    stages = micro_batches_in_flight(layout)
    activations = None
    if kept is not None:
        on_stage, widths = [0] * layout.pp, widths_of(model.tree)
        for stage, row in _by_stage(kept.rows, layers, layout):
            on_stage[stage] += _on_one_device(row, widths, layout, batch, seq) * row.times
        activations = tuple(held * times // of for held, (times, of) in zip(on_stage, stages, strict=True))
    cache, estimated = _cache(model, layout, layers, batch, seq)
    return WorkingMemory(activations, stages, cache, why, estimated)


def micro_batches_in_flight(layout: Layout) -> tuple[tuple[int, int], ...]:
    """Return of how many micro-batches each stage keeps activations, as a fraction.

    The first stage of 1F1B has as many under way as there are stages; interleaved, each piece adds what its neighbours wait for.

    >>> micro_batches_in_flight(Layout(pp=4, micro_batches=8)), micro_batches_in_flight(Layout(pp=2, micro_batches=1))
    (((4, 1), (3, 1), (2, 1), (1, 1)), ((1, 1), (1, 1)))
    >>> micro_batches_in_flight(Layout(pp=4, micro_batches=8, schedule="interleaved", chunks=2))[0]
    (11, 2)
    """
    p, m, v = layout.pp, layout.micro_batches, layout.chunks
    if layout.schedule == "interleaved":  # warm-up of Megatron-2: 2 (p - s - 1) + (v - 1) p pieces, and one more; a piece is 1/v of a stage
        return tuple((min(m * v, 2 * (p - stage - 1) + (v - 1) * p + 1), v) for stage in range(p))
    return tuple((min(m, p - stage), 1) for stage in range(p))


def _by_stage(rows: Iterable[Row], layers: list[str], layout: Layout) -> Iterator[tuple[int, Row]]:
    """Yield each kept row on its stage: rows of alike layers are cut where a stage ends; what stands before the layers is on the first."""
    places = _stages_of_layers(len(layers), layout)
    reached, stack, last, size, seen = False, "", -1, 0, 0
    for row in rows:
        index = _layer_index(row.module)
        if index is None:
            yield (layout.pp - 1 if reached else 0), row
            continue
        prefix = row.module.partition(str(index))[0]
        if reached and (index < last or prefix != stack):  # a second stack, such as a decoder's, is numbered from 0 again
            seen, size = seen + size, 0
        reached, stack, last, size = True, prefix, index, max(size, index + row.times)
        first, end = seen + index, seen + index + row.times
        own = places[first:end] + places[-1:] * (end - max(first, len(places)))
        for stage in sorted(set(own)):
            cut = type(row)(row.module, row.call, row.shape, row.bytes, row.seen)
            cut.times = own.count(stage)
            yield stage, cut


def _stages_of_layers(layers: int, layout: Layout) -> list[int]:
    pieces = share_layers(layers, layout.pp * layout.chunks) if layout.pp > 1 else [layers]
    return [piece % layout.pp for piece, count in enumerate(pieces) for _ in range(count)]


def _layer_index(module: str) -> int | None:
    return next((int(word) for word in module.split(".") if word.isdigit()), None)


class Widths(NamedTuple):
    """What tells whether a kept value is cut among tensor-parallel devices.

    Attributes:
        inner: Widths inside MLPs: what a row-parallel layer reads that is no hidden size.
        kv_heads: Numbers of key-value heads that are fewer than query heads.
    """

    inner: frozenset[int]
    kv_heads: frozenset[int]


def widths_of(tree: Part) -> Widths:
    """Look for the widths of a model.

    >>> from weighbridge import model
    >>> widths_of(model("llama-3.2-1b").tree)
    Widths(inner=frozenset({8192}), kv_heads=frozenset({8}))
    """
    inner: set[object] = set()
    hidden: set[object] = set()
    fewer: set[int] = set()
    for path, part in walk(tree):
        for child in part.children:
            if isinstance(child, Attend) and child.kv_heads != child.heads and isinstance(child.kv_heads, int):
                fewer.add(child.kv_heads)
            shape = child.shape if isinstance(child, Tensor) else ()
            if len(shape) == 1:
                hidden.add(shape[0])
            elif len(shape) == 3 and part.kind == "experts":
                inner.update(shape[1:])
            elif len(shape) == 2 and style(path) == "row":
                inner.add(shape[1])
    return Widths(frozenset(width for width in inner - hidden if isinstance(width, int)), frozenset(fewer))


def _on_one_device(row: Row, widths: Widths, layout: Layout, batch: int, seq: int) -> int:
    """Return the bytes that one tensor-parallel device keeps of a row."""
    if layout.tp == 1:
        return row.bytes
    if _is_cut(row, widths):
        fewer = len(row.shape) == 4 and row.call in HEADED and row.shape[1] in widths.kv_heads
        return -(-row.bytes // (min(layout.tp, row.shape[1]) if fewer else layout.tp))
    return -(-row.bytes // layout.tp) if layout.sequence_parallel and _has_tokens(row, batch, seq) else row.bytes


def _is_cut(row: Row, widths: Widths) -> bool:
    """Tell whether a kept value lies between a column-parallel and a row-parallel layer, or is one of the logits."""
    if row.call in ("log_softmax", "nll_loss", "cross_entropy"):
        return len(row.shape) > 1
    if row.call == "linear" and (style(row.module) == "row" or (row.module.endswith(".dense") and _layer_index(row.module) is not None)):
        return True
    if row.call in HEADED and len(row.shape) > 2:
        return True
    return bool(row.shape) and row.shape[-1] in widths.inner


def _has_tokens(row: Row, batch: int, seq: int) -> bool:
    return seq in row.shape or batch * seq in row.shape


def _cache(model: ModelValue, layout: Layout, layers: list[str], batch: int, seq: int) -> tuple[tuple[int, ...] | None, bool]:
    """Return the cache of each stage; layers whose kinds the tree does not number are spread evenly."""
    if model.description is None or (model.model_type or "") in UNKNOWN:
        return None, False
    places = _stages_of_layers(len(layers), layout)
    types = (ElementType(layout.parameter_bytes),) * 2
    per_layer, estimated = {}, False
    alike: dict[int, tuple[Part, int]] = {}
    for name, part in _layer_parts(model.tree):
        if id(part) not in alike:  # layers of one kind are one part, which this holds on to
            kept = list_caches(part, Inputs(batch=batch, seq=seq), types, ENGINES["reference"])
            alike[id(part)] = part, sum(_bytes_on_one_device(entry.bytes, part, layout, entry.kind) for entry in kept)
            estimated = estimated or any(
                isinstance(child, Attend) and child.windowed is not None for _, inner in walk(part) for child in inner.children
            )
        per_layer[name] = alike[id(part)][1]
    if estimated:
        whole = list_caches(model.tree, Inputs(batch=batch, seq=seq), types, ENGINES["reference"])
        total = sum(_bytes_on_one_device(entry.bytes, model.tree, layout, entry.kind) for entry in whole)
        return tuple(total * places.count(stage) // len(places) for stage in range(layout.pp)), True
    stages = [0] * layout.pp
    for name, stage in zip(layers, places, strict=True):
        stages[stage] += per_layer.get(name, 0)
    return tuple(stages), False


def _layer_parts(part: Part, prefix: str = "") -> Iterator[tuple[str, Part]]:
    """Yield each layer by its name, alone."""
    for child in part.children:
        if isinstance(child, Part) and child.repeat is None:
            yield from _layer_parts(child, f"{prefix}{child.name}." if child.name else prefix)
        elif isinstance(child, Part):
            alone = Part("", (child._replace(repeat=1, indices=None),))
            for index in positions(child):
                yield prefix + copy_name(child.name, index), alone


def _bytes_on_one_device(amount: int, tree: Part, layout: Layout, kind: str) -> int:
    """Return what one tensor-parallel device keeps: its heads' keys and values; what attention compresses is whole on each."""
    if layout.tp == 1 or not amount:
        return amount
    attends = [child for _, part in walk(tree) for child in part.children if isinstance(child, Attend)]
    if kind != "state" and any(attend.cache is not None for attend in attends):
        return amount
    heads = min((attend.kv_heads for attend in attends if isinstance(attend.kv_heads, int)), default=layout.tp)
    return -(-amount // (layout.tp if kind == "state" else min(layout.tp, heads)))
