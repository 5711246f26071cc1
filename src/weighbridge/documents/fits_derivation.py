"""The derivation of ``weigh fits --explain``: what each way holds, term by term, and how much of the device that takes, from the account itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weighbridge.core.formula import Floor, Number, Sum
from weighbridge.documents.cost_lines import sum_line
from weighbridge.documents.document import Block, Equation, Heading, Paragraph
from weighbridge.documents.human import CERTAINTY

if TYPE_CHECKING:
    from weighbridge.accounts.fits.account import Fit, Setup
    from weighbridge.accounts.fits.plans import Term
    from weighbridge.core.messages import Say


def derivation(found: Fit, say: Say) -> Iterator[Block]:
    """Yield for each way what it holds, the sum, and what is left of the device or lacks."""
    yield Paragraph(
        1,
        say(
            "`weigh memory` and `weigh cache` derive these terms, tensor by tensor and layer by layer, with --explain. Shares of"
            " several devices are rounded up."
        ),
    )
    for number, way in enumerate(found.ways, start=1):
        yield Heading(
            1, str(number), say("{title} ({shape})").format(title=say(way.measure), shape=say(CERTAINTY[way.trust])), f"{way.bytes:,}"
        )
        for term in way.terms:
            yield Equation(2, _steps(term), say("{label}: ").format(label=say(term.what)))
        yield from sum_line([term.bytes for term in way.terms], 2, say("{label}: ").format(label=say("sum")))
        yield Paragraph(2, _verdict(way, found.memory, say))
        for line in _limits(way, found, say):
            yield Paragraph(2, line)


def _steps(term: Term) -> tuple[Floor | Number, ...]:
    if term.devices == 1:
        return (Number(term.bytes),)
    return Floor(Sum((Number(term.whole), Number(term.devices - 1))), Number(term.devices)), Number(term.bytes)


def _verdict(way: Setup, memory: int, say: Say) -> str:
    rest = memory - way.bytes
    if rest >= 0:
        return say("{rest} of {memory} bytes are left: it fits.").format(memory=f"{memory:,}", rest=f"{rest:,}")
    return say("That is {rest} bytes more than the {memory} there are: it does not fit.").format(memory=f"{memory:,}", rest=f"{-rest:,}")


def _limits(way: Setup, found: Fit, say: Say) -> Iterator[str]:
    """Say how much more of each would fit: of a batch of none, nothing does."""
    if way.batch:
        line = say("The largest batch of {seq} tokens each is {batch}: one more would not fit, or lies beyond the range searched.")
        yield line.format(seq=f"{found.seq:,}", batch=f"{way.batch:,}")
    if way.seq:
        line = say("The longest context of a batch of {batch} is {seq} tokens: one more would not fit, or exceeds the model's positions.")
        yield line.format(seq=f"{way.seq:,}", batch=f"{found.batch:,}")
