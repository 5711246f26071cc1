"""How devices are laid out: how many ways each kind of parallelism goes, and what may be combined."""

from __future__ import annotations

from weighbridge.accounts.inputs import plain_int, positive_int, truth_value
from weighbridge.accounts.memory.weights import dtype_name
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

SCHEDULES = ("1f1b", "interleaved", "zero-bubble")
ZERO_STAGES = (0, 1, 2, 3)
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}

OPTIMIZERS = {"adamw": 2, "adam": 2, "momentum": 1, "lion": 1, "sgd": 0}
"""States of float32 that an optimizer keeps for each element.

Source: torch.optim 2.13.0 (exp_avg, exp_avg_sq; momentum_buffer); Chen et al. 2023 (Lion, arXiv:2302.06675)
"""


class Layout(NamedTuple):
    """How devices are laid out; there are ``tp * pp * dp`` of them.

    Attributes:
        tp, pp, dp, ep: Ways of tensor, pipeline, data and expert parallelism; experts are spread over the data-parallel devices.
        zero: Stage of ZeRO: 1 shards optimizer states, 2 gradients too, 3 parameters too.
        fsdp: Shard every tensor along its first dimension, as FSDP2 does, in place of ZeRO.
        sequence_parallel: Whether norms and dropout are cut along the sequence among the tensor-parallel devices.
        micro_batches: Into how many a step is cut.
        schedule: One of :data:`SCHEDULES`.
        chunks: Pieces of the model that each pipeline stage holds, for ``interleaved``.
        dtype: Of parameters and gradients; 16 bits keep master weights in float32 beside them.
        optimizer: One of :data:`OPTIMIZERS`.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    zero: int = 0
    fsdp: bool = False
    sequence_parallel: bool = False
    micro_batches: int = 1
    schedule: str = "1f1b"
    chunks: int = 1
    dtype: str = "bfloat16"
    optimizer: str = "adamw"

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return self.tp * self.pp * self.dp

    @property
    def parameter_bytes(self) -> int:
        """Bytes of one parameter, and of one gradient."""
        return BYTES[self.dtype]

    @property
    def optimizer_bytes(self) -> int:
        """Bytes that the optimizer keeps for one parameter: its states, and master weights where parameters have 16 bits."""
        return 4 * OPTIMIZERS[self.optimizer] + (4 if self.parameter_bytes < 4 else 0)


def check_layout(layout: Layout) -> Layout:
    """Return the layout, its numbers as plain ints, if they go together.

    Raises:
        UsageError: They do not.

    >>> check_layout(Layout(tp=8, dp=2)).devices
    16
    """
    numbers = {name: positive_int(getattr(layout, name), name) for name in ("tp", "pp", "dp", "ep", "micro_batches", "chunks")}
    switches = {name: truth_value(getattr(layout, name), name) for name in ("fsdp", "sequence_parallel")}
    layout = layout._replace(**numbers, **switches, dtype=dtype_name(layout.dtype, BYTES), zero=plain_int(layout.zero))  # type: ignore[arg-type]
    for name, known in (("schedule", SCHEDULES), ("optimizer", tuple(OPTIMIZERS)), ("zero", ZERO_STAGES)):
        if type(getattr(layout, name)) not in (str, int) or getattr(layout, name) not in known:
            raise UsageError(
                Text(
                    "{name}: expected one of {known}, found {getattr!r}",
                    name=name,
                    known=", ".join(map(str, known)),
                    getattr=getattr(layout, name),
                )
            )
    if layout.fsdp and layout.zero:
        raise UsageError("zero: FSDP shards everything already; leave one of --zero and --fsdp out")
    if layout.dp % layout.ep:
        raise UsageError(
            Text("ep: experts are spread over the data-parallel devices, and {ep} does not divide dp = {dp}", ep=layout.ep, dp=layout.dp)
        )
    if layout.sequence_parallel and layout.tp == 1:
        raise UsageError("sequence_parallel: needs tensor parallelism, tp of 2 or more")
    if layout.pp == 1 and (layout.chunks > 1 or layout.schedule != "1f1b"):
        raise UsageError(Text("schedule: {schedule} needs pipeline parallelism, pp of 2 or more", schedule=layout.schedule))
    if (layout.schedule == "interleaved") != (layout.chunks > 1):
        raise UsageError("chunks: the interleaved schedule has 2 or more on each stage, any other has 1")
    if layout.schedule == "interleaved" and layout.micro_batches % layout.pp:
        raise UsageError(
            Text(
                "micro_batches: interleaved needs a multiple of pp = {pp}, found {micro_batches}",
                pp=layout.pp,
                micro_batches=layout.micro_batches,
            )
        )
    return layout
