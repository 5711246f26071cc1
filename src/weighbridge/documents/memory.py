"""The bytes of a model at work as a report and as JSON."""

from __future__ import annotations

from weighbridge.accounts.memory.account import memory_of
from weighbridge.accounts.memory.peak import unreached_elements
from weighbridge.accounts.memory.quantization import quantization_of
from weighbridge.accounts.memory.weights import file_type, is_unpacked
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Block, Column, Document, Row, Table, notes
from weighbridge.documents.element_types import OF_FILE, TRAINED, default_type_lines, stated_type
from weighbridge.documents.given import beyond_positions, describe_inputs
from weighbridge.documents.headline import headline
from weighbridge.documents.human import certainty, memory_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from weighbridge.accounts.inputs import Inputs
    from weighbridge.accounts.memory.account import Memory, Settings
    from weighbridge.accounts.memory.tape import Row as Activation
    from weighbridge.value import ModelValue

if TYPE_CHECKING:
    Derive: TypeAlias = Callable[[ModelValue, Inputs, Settings, Memory, Say], Iterator[Block]]

PARTS = (mark("weights"), mark("buffers"), mark("gradients"), mark("master"), mark("optimizer"), mark("activations"))
"""What memory is for, in the order in which it is shown."""

MORE = (mark("peak"),)
"""What is shown beside it."""


def as_json(
    model: ModelValue, given: Inputs, how: Settings, *, training: bool = False, assumed: bool = False, explain: bool = False
) -> dict[str, Any]:
    """Return the answer of ``weigh memory --json``; *assumed* if nobody named the type.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> from weighbridge.accounts.memory.account import settings
    >>> as_json(model("bert-base-uncased"), Inputs(), settings(dtype="float16"))["weights"]
    218964480
    """
    found = memory_of(model, given, how, training=training)
    asked = {"training": training, "batch": given.batch, "seq": given.seq, "decoder_seq": given.decoder_seq, "settings": how._asdict()}
    types = {"dtype_from": _type_from(model, how, training) if assumed else "option", "config_dtype": stated_type(model)}
    answer: dict[str, Any] = {"source": model.source, "class": model.class_name or None, **asked, **types}
    answer |= {name: getattr(found, name) for name in PARTS} | {"total": found.total, "peak": found.peak, "trust": found.trust}
    stated = quantization_of(model)
    if stated is not None:
        taken = stated.scheme is not None and (how.quantization, how.dtype) == (stated.scheme, stated.dtype)
        answer["published"] = {"method": stated.method, "quantization": stated.scheme, "dtype": stated.dtype, "taken": taken}
    if found.refused:
        answer["refused"] = found.refused
    if found.kept is not None:
        answer["kept"] = [_activation_json(row) for row in found.kept.rows] if explain else by_call(found.kept.rows)
    return answer


def _activation_json(row: Activation) -> dict[str, Any]:
    return {"module": row.module, "call": row.call, "shape": list(row.shape), "bytes": row.bytes, "times": row.times}


def by_call(rows: tuple[Activation, ...]) -> dict[str, int]:
    """Add up what is kept by the call that keeps it, the most first."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.call] = sums.get(row.call, 0) + row.bytes * row.times
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


KEPT = mark("Loaded in {dtype} by the reference library, some parameters of this class stay in float32: the weights are a lower bound.")
"""What is said of classes that are not loaded whole in 16 bits."""


def document(
    model: ModelValue,
    given: Inputs,
    how: Settings,
    *,
    training: bool = False,
    assumed: bool = False,
    derive: Derive | None = None,
    lang: str = "en",
) -> Document:
    """Return the document of ``weigh memory``: what memory is for, and, with *derive*, the derivation of every byte; *assumed* if nobody named the type."""
    say = translator(lang)
    found = memory_of(model, given, how, training=training)
    blocks: list[Block] = [_parts(found, say)]
    if derive is not None:
        blocks += derive(model, given, how, found, say)
    if found.total is None:
        figure = say("at least {total} bytes").format(total=f"{sum(getattr(found, name) or 0 for name in PARTS):,}")
    else:
        figure = say("{total} bytes").format(total=f"{found.total:,}")
    remarks = [
        *_remarks(model, given, how, found, _weights_dtype(model, how, training, say), say),
        *(_type_lines(model, how, training, say) if assumed else ()),
        *((*_unreached_lines(model, given, say), *beyond_positions(model, given, say)) if training else ()),
        *([say(KEPT).format(dtype=how.dtype)] if found.trust["weights"] == "bound" else []),
        *_quantization_lines(model, how, say),
    ]
    return Document(headline(model, say), figure, (*blocks, *notes(remarks)), lang)


def _type_from(model: ModelValue, how: Settings, training: bool) -> str:
    """Return where an assumed dtype comes from: ``file``, ``quantization_config`` or ``default``."""
    stated = quantization_of(model)
    if stated is not None and how.quantization is not None and (how.quantization, how.dtype) == (stated.scheme, stated.dtype):
        return "quantization_config"
    return "file" if model.kind == "checkpoint" and how.quantization is None and (not training or file_type(model.tree)) else "default"


def _weights_dtype(model: ModelValue, how: Settings, training: bool, say: Say) -> str:
    """Return the dtype of the weights: the one asked for, or a file's own."""
    as_stored = model.kind == "checkpoint" and how.quantization is None and not (training and is_unpacked(model.tree))
    return (file_type(model.tree) or say("the types of the file")) if as_stored else how.dtype


def _type_lines(model: ModelValue, how: Settings, training: bool, say: Say) -> list[str]:
    """Say which dtype the weights are counted in where none was given."""
    where = _type_from(model, how, training)
    if where == "default":
        return default_type_lines(model, how.dtype, "mixed" if training and how.precision in ("mixed", "megatron") else "weights", say)
    if where == "file":
        return [say(TRAINED).format(dtype=how.dtype) if training else say(OF_FILE)]
    return []  # the line on the config's quantization says it


def _parts(found: Memory, say: Say) -> Table:
    columns = (Column(say("for")), Column(say("bytes"), "integer"), Column(say("certainty")))
    named = [name for name in (*PARTS, *MORE) if getattr(found, name)]
    return Table(
        columns, tuple(Row((say(name), getattr(found, name), say(certainty(name, found.trust.get(name, "exact"))))) for name in named)
    )


def _remarks(model: ModelValue, given: Inputs, how: Settings, found: Memory, types: str, say: Say) -> list[str]:
    bound = (
        say("The total is a lower bound: kernel workspaces and memory that the allocator holds unused are not included.")
        if found.peak is None
        else say(
            "The total adds everything up; the peak is the most that a step holds at once: activations are freed while gradients are made, and what"
            " backward and the optimizer make for a moment is on top."
            " Kernel workspaces and memory that the allocator holds unused are not included in either."
        )
    )
    first = say("{one} {other}").format(one=_whole_line(model, given, how, found, types, say), other=bound)
    rough = say("With checkpointing the peak was mostly within 5% of torch's tracker; for encoder-decoders it was up to 13% off.")
    lines = [first, rough] if found.peak is not None and how.checkpointing != "none" else [first]
    if not found.refused:
        return lines
    return [*lines, no_activations(found.refused, say)]


def no_activations(why: str, say: Say) -> str:
    """Say that activations are not counted, for the reason for which they were refused."""
    reason = say(why).removeprefix("activations: ").removeprefix("activations：")
    return say("Activations are not counted: {why}.").format(why=reason)


def _whole_line(model: ModelValue, given: Inputs, how: Settings, found: Memory, types: str, say: Say) -> str:
    """Say the total in GB and GiB, and for which inputs and settings it holds."""
    whole = memory_size(sum(getattr(found, name) or 0 for name in PARTS), say)
    if not found.gradients:
        return say("{size} in {dtype}.").format(size=whole, dtype=types)
    words = say("{given}, {optimizer}, {precision} precision, {attention} attention, {dtype}").format(
        given=describe_inputs(model, given, say),
        optimizer=how.optimizer,
        precision=how.precision,
        attention=how.attention,
        dtype=types,
    )
    if found.peak is None:
        return say("At least {size} for {given}.").format(size=whole, given=words)
    return say("{size}, at the peak {peak}, for {given}.").format(size=whole, peak=memory_size(found.peak, say), given=words)


def _unreached_lines(model: ModelValue, given: Inputs, say: Say) -> list[str]:
    """Say how many parameters get no gradient because their input is not given."""
    count = unreached_elements(model.tree, given.lengths())
    if not count:
        return []
    line = say(
        "{count} of the parameters take no part in a forward pass: torch allocates neither gradients nor optimizer states for them. Gradients"
        " and optimizer above still count them; the peak does not."
    )
    return [line.format(count=f"{count:,}")]


def _quantization_lines(model: ModelValue, how: Settings, say: Say) -> list[str]:
    """Say what the config says of the published file's quantization, and whether these bytes are that file's."""
    stated = quantization_of(model)
    if stated is None:
        return []
    method, scheme = say(stated.method), stated.scheme
    if scheme is not None and (how.quantization, how.dtype) == (scheme, stated.dtype):
        taken = say("Weights as the config's quantization_config has them ({method}): --quantization {scheme}, the rest in {dtype}.")
        return [taken.format(method=method, scheme=scheme, dtype=how.dtype)]
    if how.quantization is not None:
        return []
    other = say("The published file is quantized ({method}); these bytes are those of {dtype}: --quantization {scheme} packs the weights.")
    return [other.format(method=method, dtype=how.dtype, scheme=scheme or "NAME")]
