"""``weigh parallel SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh parallel llama-3-8b --tp 8 --dp 4 --zero 1
  weigh parallel llama-3-70b --tp 8 --pp 4 --dp 16 --micro-batches 32 --batch 1 --seq 4096
  weigh parallel mixtral-8x7b --dp 8 --ep 8 --fsdp --json
"""
WAYS = (
    Option("tp", mark("tensor-parallel degree (default 1)"), "N", kind="whole", default=1),
    Option("pp", mark("pipeline stages (default 1)"), "N", kind="whole", default=1),
    Option("dp", mark("data-parallel degree (default 1)"), "N", kind="whole", default=1),
    Option("ep", mark("expert-parallel degree, among the data-parallel devices (default 1)"), "N", kind="whole", default=1),
    Option("micro_batches", mark("micro-batches of a step (default 1)"), "N", kind="whole", default=1),
    Option("chunks", mark("pieces of the model on each stage, for the interleaved schedule (default 1)"), "N", kind="whole", default=1),
    Option("batch", mark("examples of one micro-batch (default 1)"), "N", kind="whole", default=1),
    Option("seq", mark("tokens of each, for activations, caches and what layers and stages send"), "N", kind="whole", default=None),
)
OPTIONS = (
    *SOURCE,
    *WAYS,
    Option("zero", mark("ZeRO stage: 0, 1, 2 or 3 (default 0)"), "N", default="0", choices=("0", "1", "2", "3")),
    Option("fsdp", mark("split every tensor along its first dimension, as FSDP2 does"), kind="switch"),
    Option("sequence_parallel", mark("split norms and dropout along the sequence too"), kind="switch"),
    Option("schedule", mark("pipeline schedule: 1f1b, interleaved or zero-bubble (default 1f1b)"), "WORD", default="1f1b"),
    Option("dtype", mark("type of parameters and gradients: bfloat16, float16 or float32 (default bfloat16)"), "WORD", default="bfloat16"),
    Option("optimizer", mark("adamw, adam, momentum, lion or sgd (default adamw)"), "WORD", default="adamw"),
    Option("attention", mark("attention implementation: eager, sdpa or flash (default sdpa)"), "WORD", default="sdpa"),
    Option("checkpointing", mark("activations to recompute: none, selective or full (default none)"), "WORD", default="none"),
    Option("explain", mark("formulas and their sources"), kind="switch"),
    *OUTPUT,
)
NAMES = ("tp", "pp", "dp", "ep", "fsdp", "sequence_parallel", "micro_batches", "schedule", "chunks", "dtype", "optimizer")


def answer(arguments: Arguments) -> Answer:
    """Lay the model out on devices."""
    return with_idle(_answer, arguments, [option for option in OPTIONS if option.name not in ("tp", "pp", "dp")])


def _answer(arguments: Arguments) -> Answer:
    from weighbridge.accounts.parallel.account import parallel_of
    from weighbridge.accounts.parallel.layout import Layout
    from weighbridge.documents import parallel

    model = arguments.model()
    layout = Layout(**{name: getattr(arguments, name) for name in NAMES}, zero=int(arguments.zero))
    found = parallel_of(model, layout, arguments.batch, arguments.seq, attention=arguments.attention, checkpointing=arguments.checkpointing)
    return Answer(
        lambda: parallel.as_json(model, found), lambda: parallel.document(model, found, arguments.lang, explain=arguments.explain)
    )
