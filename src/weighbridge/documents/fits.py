"""Whether a model fits as a document and as JSON."""

from __future__ import annotations

from weighbridge.accounts.fits.accelerators import GIB
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Block, Column, Document, Row, Table, notes
from weighbridge.documents.given import describe_lengths
from weighbridge.documents.headline import headline
from weighbridge.documents.human import CERTAINTY, duration, gibibytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from weighbridge.accounts.fits.accelerators import Accelerator
    from weighbridge.accounts.fits.account import Fit, Setup
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, found: Fit, device: Accelerator | None = None, *, explain: bool = False) -> dict[str, Any]:
    """Return the answer of ``weigh fits --json``; to *explain* it, with what each way holds.

    >>> from weighbridge import model
    >>> llama = model("llama-3.2-1b")
    >>> as_json(llama, llama.fits(gib=4))["chosen"]["measure"]
    'weights in 16 bits'
    """
    return {
        "source": model.source,
        "class": model.class_name or None,
        "for": found.purpose,
        "device": {
            "name": device.name,
            "bandwidth": device.bandwidth,
            "peaks": device.peaks,
            "source": device.source,
            "confirmed": device.confirmed or None,
        }
        if device
        else None,
        "memory": found.memory,
        "overhead": found.overhead,
        "batch": found.batch,
        "seq": found.seq,
        "fits": found.chosen is not None,
        "chosen": _way_json(found.chosen, explain) if found.chosen else None,
        "ways": [_way_json(way, explain) for way in found.ways],
        "bounds": [bound._asdict() for bound in found.bounds],
        "notes": list(found.notes),
    }


def _way_json(way: Setup, explain: bool) -> dict[str, Any]:
    terms = [{"what": term.what, "bytes": term.bytes, "whole": term.whole, "devices": term.devices} for term in way.terms]
    plain = {name: value for name, value in way._asdict().items() if name != "terms"}
    return plain | ({"terms": terms} if explain else {})


def document(
    model: ModelValue,
    found: Fit,
    device: Accelerator | None = None,
    lang: str = "en",
    derive: Callable[[Fit, Say], Iterator[Block]] | None = None,
) -> Document:
    """Return the document of ``weigh fits``: ways to run it, cheapest first, with *derive* what each holds, and how fast it can be at best."""
    say = translator(lang)
    if found.chosen is None:
        figure = say("does not fit {gib} GiB").format(gib=f"{found.memory / GIB:g}")
    else:
        figure = say("fits {gib} GiB: {measure}").format(gib=f"{found.memory / GIB:g}", measure=say(found.chosen.measure))
    tables: list[Block] = [_remedies_table(found, say), *(derive(found, say) if derive is not None else ())]
    if found.bounds:
        tables.append(_bounds(found, say))
    return Document(headline(model, say), figure, (*tables, *notes(_remarks(model, found, device, say))), lang)


def _remedies_table(found: Fit, say: Say) -> Table:
    columns = (
        Column(say("what makes it fit")),
        Column(say("bytes"), "integer"),
        Column(say("GiB"), "integer"),
        Column(say("fits")),
        Column(say("largest batch"), "integer"),
        Column(say("longest context"), "integer"),
        Column(say("certainty")),
    )
    rows = tuple(
        Row(
            (
                say(way.measure),
                way.bytes,
                gibibytes(way.bytes),
                say("yes") if way.fits else say("no"),
                way.batch,
                way.seq,
                say(CERTAINTY[way.trust]),
            )
        )
        for way in found.ways
    )
    return Table(columns, rows)


def _bounds(found: Fit, say: Say) -> Table:
    columns = (Column(say("step")), Column(say("at least"), "integer"), Column(say("formula")))
    rows = tuple(Row((say(bound.what), duration(bound.microseconds), bound.formula)) for bound in found.bounds)
    return Table(columns, rows, say("How fast it can be at best (roofline)"))


RESERVED = (
    mark("For a batch of {batch}; {overhead} GiB of memory is reserved for the engine."),
    mark("For {inputs}; {overhead} GiB of memory is reserved for the engine."),
)
"""What the figures hold for, where they do not depend on the number of tokens, and where they do."""


def _remarks(model: ModelValue, found: Fit, device: Accelerator | None, say: Say) -> list[str]:
    kept = say(RESERVED[any(way.seq is not None for way in found.ways)])
    inputs = describe_lengths(model, found.batch, found.seq, say)
    lines = [kept.format(batch=f"{found.batch:,}", inputs=inputs, overhead=f"{found.overhead / GIB:g}")]
    if device is not None:
        lines.append(say("{name}: {source}.").format(name=device.name, source=device.source))
        lines.append(
            say("Confirmed by {table}.").format(table=device.confirmed) if device.confirmed else say("Not confirmed by a second source.")
        )
    lines += [say(note) for note in found.notes]
    if found.purpose == "serving" and not found.ways[0].fits:
        lines.append(say("To split it over several devices: weigh parallel {source} --tp 2").format(source=model.source))
    return lines
