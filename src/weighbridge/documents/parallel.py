"""One model on many devices as a document and as JSON."""

from __future__ import annotations

from weighbridge.accounts.parallel.account import Device, Parallel, by_class
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.headline import headline
from weighbridge.documents.human import memory_size

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.accounts.parallel.traffic import Bubble
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, found: Parallel) -> dict[str, Any]:
    """Return the answer of ``weigh parallel --json``.

    >>> from weighbridge import model
    >>> llama = model("llama-3-8b")
    >>> as_json(llama, llama.parallel(tp=8))["largest"]["parameters"]
    2008031232
    """
    layout = found.layout
    return {
        "source": model.source,
        "class": model.class_name or None,
        "layout": {**layout._asdict(), "devices": layout.devices},
        "layers": list(found.layers),
        "largest": _state(found.largest),
        "fullest": _state(found.fullest),
        "devices": [_device(device) for device in found.devices],
        "messages": [message._asdict() for message in found.messages],
        "bubble": _bubble(found.bubble) if found.bubble else None,
        "notes": list(found.notes),
        "under_way": [f"{times}/{of}" for times, of in found.under_way],
        "megatron": found.megatron._asdict() if found.megatron else None,
        "deepspeed": found.deepspeed._asdict() if found.deepspeed else None,
    }


def _state(state: Any) -> dict[str, Any]:
    parts = {
        name: getattr(state, name)
        for name in ("elements", "parameters", "gradients", "optimizer", "activations", "cache", "total", "training")
    }
    return parts | {"held": dict(by_class(state))}


def _device(device: Device) -> dict[str, Any]:
    return {"pp": device.pp, "tp": device.tp, "dp": device.dp, "alike": device.alike, **_state(device.state)}


def _bubble(bubble: Bubble) -> dict[str, Any]:
    idle, whole = bubble.share
    return {**bubble._asdict(), "share": f"{idle}/{whole}"}


def document(model: ModelValue, found: Parallel, lang: str = "en", *, explain: bool = False) -> Document:
    """Return the document of ``weigh parallel``: what each device holds, what is sent, how long a pipeline stands idle."""
    say = translator(lang)
    tables = [_devices(found, say)]
    if found.messages:
        tables.append(_traffic(found, say, explain))
    figure = say("{total} bytes on the largest of {devices} devices").format(
        total=f"{found.fullest.training:,}", devices=f"{found.layout.devices:,}"
    )
    return Document(headline(model, say), figure, (*tables, *notes(_remarks(found, say, explain))), lang)


def _devices(found: Parallel, say: Say) -> Table:
    titles = [say("layers"), say("devices"), say("weights"), say("gradients"), say("optimizer")]
    shown = [name for name in ("activations", "cache") if any(getattr(device.state, name) is not None for device in found.devices)]
    titles += [{"activations": say("activations"), "cache": say("cache (serving)")}[name] for name in shown]
    columns = (Column(say("stage")), *(Column(title, "integer") for title in (*titles, say("together"))))
    alike: dict[tuple[int, ...], int] = {}
    for device in found.devices:
        state = device.state
        more = (getattr(state, name) for name in shown)
        cells = (device.pp, state.parameters, state.gradients, state.optimizer, *more, state.training)
        alike[cells] = alike.get(cells, 0) + device.alike
    rows = tuple(Row((f"pp {stage}", found.layers[stage], many, *cells)) for (stage, *cells), many in alike.items())
    return Table(columns, rows, say("Bytes of each device"))


def _traffic(found: Parallel, say: Say, explain: bool) -> Table:
    columns = [
        Column(say("what is sent")),
        Column(say("how")),
        Column(say("among"), "integer"),
        Column(say("bytes sent in a step"), "integer"),
    ]
    if explain:
        columns += [Column(say("formula")), Column(say("source"))]
    rows = tuple(
        Row((say(entry.what), entry.operation, entry.group, entry.sent, *((entry.formula, entry.source) if explain else ())))
        for entry in found.messages
    )
    return Table(tuple(columns), rows, say("What one device sends"))


def _remarks(found: Parallel, say: Say, explain: bool) -> list[str]:
    state = found.fullest
    held = (
        say(
            "Of the {elements} parameters that the largest device computes with, {sharded} are sharded, {replicated} are replicated, and {expert} belong to experts."
        )
        if state.expert
        else say(
            "Of the {elements} parameters that the largest device computes with, {sharded} are sharded and {replicated} are replicated."
        )
    )
    lines = [
        say("The largest device holds {whole} in training; its weights alone, as in serving, are {weights}.").format(
            whole=memory_size(state.training, say), weights=memory_size(state.parameters, say)
        ),
        held.format(
            elements=f"{state.elements:,}", sharded=f"{state.sharded:,}", replicated=f"{state.replicated:,}", expert=f"{state.expert:,}"
        ),
    ]
    if found.bubble:
        idle, whole = found.bubble.share
        share = (idle * 2000 + whole) // (2 * whole)
        lines.append(say("The pipeline is idle for {share}% of a step.").format(share=f"{share // 10}.{share % 10}"))
        if explain:
            lines.append(f"{found.bubble.formula} = {found.bubble.idle}/{found.bubble.work}; {found.bubble.source}")
    if found.deepspeed is not None:
        its = say(
            "DeepSpeed estimates {device} bytes of states for each device: 18 a parameter where ours has 16 (its gradients are kept in float32 too), and"
            " under ZeRO-3 the largest module gathered whole ({formula})."
        )
        lines.append(its.format(device=f"{found.deepspeed.device:,}", formula=found.deepspeed.formula))
        if found.deepspeed.documented != found.deepspeed.device:
            older = say("Its documentation says {documented} bytes, which is what an older release took (4*P + 16*P/n).")
            lines.append(older.format(documented=f"{found.deepspeed.documented:,}"))
    if found.megatron is not None:
        beside = say(
            "Megatron's authors estimate {activations} bytes of activations and {states} of states for that device: in 16 bits with dropout, attention"
            " in eager mode and plain MLPs, and gradients added up in float32."
        )
        lines.append(beside.format(activations=f"{found.megatron.activations:,}", states=f"{found.megatron.states:,}"))
        if explain:
            lines.append(f"{found.megatron.formula}; Korthikanti et al. 2022 (arXiv:2205.05198), Megatron-LM theoretical_memory_usage.py")
    return [*lines, *(say(note) for note in found.notes)]
