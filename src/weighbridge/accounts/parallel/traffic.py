"""What devices send each other in one step, and the share of it that a pipeline stands idle.

Source: Rajbhandari et al. 2019 (ZeRO, arXiv:1910.02054, section 7); Narayanan et al. 2021 (Megatron-2, arXiv:2104.04473,
sections 2.2 and 3); Korthikanti et al. 2022 (Megatron-3, arXiv:2205.05198, section 4); Qi et al. 2023 (zero bubble,
arXiv:2401.10241, table 2); Chowdhery et al. 2022 (PaLM, arXiv:2204.02311); rings: Patarasuk and Yuan 2009
"""

from __future__ import annotations

from weighbridge.accounts.parallel.layout import Layout
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from collections.abc import Iterator


class Message(NamedTuple):
    """One kind of communication.

    Attributes:
        what: What is sent, and when.
        operation: ``all-reduce``, ``all-gather``, ``reduce-scatter``, ``all-to-all`` or ``send``.
        group: Among how many devices.
        times: How often in a step, for one device.
        payload: Bytes of the tensor each time.
        sent: Bytes that one device sends in a step.
        formula: How *sent* comes about.
        source: Where the formula is from.
    """

    what: str
    operation: str
    group: int
    times: int
    payload: int
    sent: int
    formula: str
    source: str


RING = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}
"""How often a ring sends ``(n - 1) / n`` of the tensor."""


def message(what: str, operation: str, group: int, times: int, payload: int, source: str) -> Message:
    """Return one kind of communication, with what a device sends of it.

    >>> message("gradients", "all-reduce", 4, 1, 1000, "").sent
    1500
    """
    if operation == "send":
        return Message(what, operation, group, times, payload, times * payload, f"{times} * {payload}", source)
    factor = RING[operation]
    sent = times * (factor * (group - 1) * payload // group)
    return Message(what, operation, group, times, payload, sent, f"{times} * {factor} * ({group} - 1)/{group} * {payload}", source)


ZERO = "ZeRO (arXiv:1910.02054), section 7"


def of_data(layout: Layout, gradients: int, parameters: int) -> Iterator[Message]:
    """Yield what data-parallel devices send: gradients, and with ZeRO parameters too."""
    if layout.dp == 1:
        return
    if layout.fsdp or layout.zero == 3:
        yield message(mark("parameters, forward and backward"), "all-gather", layout.dp, 2, parameters, ZERO)
        yield message(mark("gradients"), "reduce-scatter", layout.dp, 1, gradients, ZERO)
    elif layout.zero:
        yield message(mark("gradients"), "reduce-scatter", layout.dp, 1, gradients, ZERO)
        yield message(mark("parameters after the step"), "all-gather", layout.dp, 1, parameters, ZERO)
    else:
        yield message(mark("gradients"), "all-reduce", layout.dp, 1, gradients, ZERO)


def of_layers(layout: Layout, layers: int, block: int) -> Iterator[Message]:
    """Yield what tensor-parallel devices send: twice forward and twice backward for each layer and micro-batch."""
    if layout.tp == 1 or not block:
        return
    times = 2 * layers * layout.micro_batches
    if layout.sequence_parallel:
        source = "Megatron-3 (arXiv:2205.05198), section 4.2.2"
        yield message(mark("activations along the sequence, forward and backward"), "all-gather", layout.tp, 2 * times, block, source)
        yield message(mark("activations along the sequence, forward and backward"), "reduce-scatter", layout.tp, 2 * times, block, source)
    else:
        source = "Megatron (arXiv:1909.08053), section 3"
        yield message(mark("activations of attention and MLP, forward and backward"), "all-reduce", layout.tp, 2 * times, block, source)


def of_stages(layout: Layout, block: int) -> Iterator[Message]:
    """Yield what a stage in the middle sends to its neighbours."""
    if layout.pp == 1 or not block:
        return
    each = block // layout.tp if layout.sequence_parallel else block
    times = 2 * layout.micro_batches * layout.chunks
    yield message(mark("activations forward, gradients backward"), "send", 2, times, each, "Megatron-2 (arXiv:2104.04473), section 3.2")


def of_experts(layout: Layout, layers: int, block: int, active: int) -> Iterator[Message]:
    """Yield what expert-parallel devices send: tokens to their experts and back, forward and backward."""
    if layout.ep == 1 or not block or not layers:
        return
    times = 4 * layers * layout.micro_batches
    yield message(
        mark("tokens to their experts and back, forward and backward"),
        "all-to-all",
        layout.ep,
        times,
        block * active,
        "GShard (arXiv:2006.16668), section 3",
    )


class Bubble(NamedTuple):
    """How long a pipeline stands idle.

    Attributes:
        idle, work: Of one stage, in units of a micro-batch's forward (or backward, or weight gradient) on a stage.
        formula: Idle over work.
        source: Where it is from.
    """

    idle: int
    work: int
    formula: str
    source: str

    @property
    def share(self) -> tuple[int, int]:
        """Idle time of the whole step, as a fraction."""
        return self.idle, self.idle + self.work


def bubble(layout: Layout) -> Bubble:
    """Return how long a pipeline stands idle, if a forward, a backward and a weight gradient take equal time.

    >>> bubble(Layout(pp=4, micro_batches=8)).share
    (9, 33)
    """
    p, m, v = layout.pp, layout.micro_batches, layout.chunks
    if layout.schedule == "zero-bubble":
        return Bubble(
            p - 1, 3 * m, "(p - 1)*(F + B - W) / (m*(F + B + W)), with F = B = W (ZB-H1)", "Qi et al. 2023 (arXiv:2401.10241), table 2"
        )
    if layout.schedule == "interleaved":
        return Bubble(3 * (p - 1), 3 * m * v, "(p - 1) / (v*m)", "Megatron-2 (arXiv:2104.04473), section 2.2.2")
    return Bubble(3 * (p - 1), 3 * m, "(p - 1) / m", "Megatron-2 (arXiv:2104.04473), section 2.2.1")
